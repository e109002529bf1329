"""Servers that the environment names: judged before anything is started on them, and never by their password."""

from pathlib import Path

import pytest

from orchestrator.cli import servers
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.settings import Launch

DATABASE = "postgresql://a:secret@db.example:5432/x"


def named(redis_url: str) -> Launch:
    """A launcher that was told of two servers."""
    return Launch(Path("state"), DATABASE, redis_url, None, None, given={})


@pytest.mark.parametrize(
    ("redis_url", "code", "sentence"),
    [
        (
            "redis://:secret@127.0.0.1:1/0",
            Exit.UNREACHABLE,
            r"REDIS_URL \(127.0.0.1:1\): expected a Redis that answers",
        ),
        ("http://:secret@127.0.0.1:1", Exit.CONFIGURATION, "REDIS_URL: "),
    ],
    ids=["nobody answers", "no such scheme"],
)
def test_a_redis_that_is_not_there_is_a_sentence(redis_url: str, code: Exit, sentence: str):
    """Place, found, expected; the password is not in it."""
    with pytest.raises(Trouble, match=sentence) as told, servers.running(named(redis_url)):
        pass
    assert told.value.exit_code is code
    assert "secret" not in str(told.value)


def test_named_servers_are_described_without_their_passwords(redis_url: str):
    """What a person reads on the terminal may be read over the shoulder."""
    with servers.running(named(redis_url)) as found:
        assert "db.example:5432" in found.described
        assert "secret" not in found.described
        assert (found.database_url, found.redis_url) == (DATABASE, redis_url)
