"""The two servers that everything else needs: the embedded ones, or those that the environment names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import redis

from orchestrator import embedded
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.settings import Launch

# A server on the same machine or in the next rack answers in milliseconds; a person waits no longer than this for "no".
CONNECT_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Servers:
    """Where Postgres and Redis are, with passwords; `described` is for people and has none.

    `own`: they are embedded, so nobody but this launcher's processes reaches them.
    """

    database_url: str
    redis_url: str
    described: str
    own: bool = False


@contextmanager
def running(launch: Launch) -> Iterator[Servers]:
    """The servers for as long as the block lasts; enter it from the main thread. The migrations judge a named Postgres.

    Raises:
        Trouble: a named Redis does not answer.
        embedded.Unavailable: the embedded servers cannot be had.
    """
    if launch.database_url and launch.redis_url:
        _check_redis(launch.redis_url)
        described = f"Postgres at {place(launch.database_url)}, Redis at {place(launch.redis_url)}"
        yield Servers(launch.database_url, launch.redis_url, described)
        return
    chosen = embedded.Programs(launch.postgres_folder, launch.redis_server)
    with embedded.Embedded(launch.state_dir, chosen=chosen) as own:
        yield Servers(own.database_url, own.redis_url, f"Postgres and Redis of its own in {launch.state_dir}", own=True)


def _check_redis(url: str) -> None:
    try:
        with redis.Redis.from_url(
            url, socket_timeout=CONNECT_SECONDS, socket_connect_timeout=CONNECT_SECONDS
        ) as client:
            client.ping()
    except ValueError as error:
        raise Trouble(Exit.CONFIGURATION, f"REDIS_URL: {error}") from error
    except redis.RedisError as error:
        raise Trouble(
            Exit.UNREACHABLE, f"REDIS_URL ({place(url)}): expected a Redis that answers, found: {error}"
        ) from error


def place(url: str) -> str:
    """Host and port of a URL, never its password."""
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2] or parts.path
