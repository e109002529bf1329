"""The broker behind Celery: publishes hints, briefly and without a retry. Ids and a fence, never a payload."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import redis
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from orchestrator.ports.queue import PublishFailed
from orchestrator.ports.store import Offer

# One queue a class of work, so that a flood of one never starves another.
CONTROL, TURNS, RELAY = "control", "turns", "relay"

Send = Callable[..., object]
# A kombu Producer for the length of a block, from the application's pool.
Producers = Callable[[], AbstractContextManager[Any]]


def turns_of(host: str | None) -> str:
    """The queue of turns for the workers of one host, or for any. Each worker that takes turns consumes both."""
    return TURNS if host is None else f"{TURNS}.{host}"


# So many rings at the most are worth keeping when a control worker starts: all of them say the same.
_RINGS_KEPT = 4
_TRIM_TIMEOUT_SECONDS = 2.0


def trim(redis_url: str, name: str) -> None:
    """Drop all but the newest few messages of a queue of hints: after a night without workers there are thousands.

    A Redis that does not answer is left alone: the rings are served one by one, and find nothing due.
    """
    timeout = _TRIM_TIMEOUT_SECONDS
    client = redis.Redis.from_url(redis_url, socket_timeout=timeout, socket_connect_timeout=timeout)
    with contextlib.suppress(RedisError), contextlib.closing(client):
        client.ltrim(name, 0, _RINGS_KEPT - 1)


# A drain posts until nothing is due, so the hints of a burst are one; what comes in right after it, beat's ring finds.
_RELAY_GAP_SECONDS = 0.1


class CeleryQueue:
    """Sends by name, so that it needs no import of the Celery tasks themselves."""

    def __init__(self, send: Send, producers: Producers) -> None:
        """`send` is the Celery application's `send_task`; `producers` acquires one of its `producer_pool`."""
        self._send, self._producers = send, producers
        self._relayed_at = -math.inf

    def ring(self, workflow: str | None = None, *, full: bool = False) -> None:
        """Bring a tick forward."""
        label = workflow or "any workflow"
        self._publish("tasks.reconcile", CONTROL, {"workflow": workflow, "full": full}, label=label)

    def turns(self, offers: Sequence[Offer]) -> None:
        """Offer queued turns to the workers, or to those of one host; all in one round trip."""
        with _translated("tasks.turn"), self._producers() as producer, producer.batch(max_size=len(offers)):
            for offer in offers:
                wanted = {"turn_id": str(offer.turn_id), "fence": offer.fence}
                self._publish("tasks.turn", turns_of(offer.host), wanted, label=offer.label, producer=producer)

    def tidy(self, host: str | None = None) -> None:
        """Say that there are workspaces that may go, on one host or anywhere."""
        self._publish("tasks.tidy", turns_of(host), {}, label="workspaces")

    def relay(self) -> None:
        """Say that the outbox has something to post, unless this process said so a moment ago."""
        now = time.monotonic()
        if now - self._relayed_at < _RELAY_GAP_SECONDS:
            return
        self._relayed_at = now
        self._publish("tasks.relay", RELAY, {}, label="outbox")

    def _publish(self, name: str, queue: str, kwargs: dict[str, object], *, label: str, **more: object) -> None:
        with _translated(name):
            self._send(
                name,
                kwargs=kwargs,
                queue=queue,
                retry=False,
                ignore_result=True,
                argsrepr=label,
                kwargsrepr="",
                **more,
            )


@contextlib.contextmanager
def _translated(name: str) -> Iterator[None]:
    try:
        yield
    except (KombuError, RedisError, OSError) as error:
        raise PublishFailed(f"the broker did not take {name}: {error}") from error
