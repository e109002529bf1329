"""The Redis lease of an item: who lacks it skips. It saves work, it never stops a turn and never proves death.

The value is `turn:fence`. Each method is one round trip with a time-out and without a second try, since a tick that
waits for a silent Redis would stop every item for a hint.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from orchestrator.ports.leases import Claim, LeasesUnavailable

# As long as a renewal interval: a Redis that needs longer is of no use as a hint.
SOCKET_TIMEOUT_SECONDS = 2.0

# A holder with a smaller fence is over (fences only grow, and our records showed no open turn); a value that is not
# ours in form was put there by hand and binds nobody.
_TAKE = """
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[3]) then return 1 end
local held = redis.call('GET', KEYS[1])
local fence = tonumber(string.match(held, ':(%d+)$'))
if held ~= ARGV[1] and fence and fence >= tonumber(ARGV[2]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return 1
"""

_RENEW = """
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0
"""

_RELEASE = """
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""


class RedisLeases:
    """Leases in the Redis at `redis_url`; safe to share between threads."""

    def __init__(self, redis_url: str) -> None:
        self._redis = redis.Redis.from_url(
            redis_url,
            socket_timeout=SOCKET_TIMEOUT_SECONDS,
            socket_connect_timeout=SOCKET_TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
        self._take: Callable[..., object] = self._redis.register_script(_TAKE)
        self._renew: Callable[..., object] = self._redis.register_script(_RENEW)
        self._release: Callable[..., object] = self._redis.register_script(_RELEASE)

    def take(self, claims: Sequence[Claim], *, seconds: float) -> Sequence[bool]:
        """Take each unless a turn with its fence or a later one has it; taking it twice is taking it once."""
        with _unavailable(), self._redis.pipeline(transaction=False) as pipe:
            for claim in claims:
                value = _value(claim.turn_id, claim.fence)
                self._take(keys=[claim.key], args=[value, claim.fence, _milliseconds(seconds)], client=pipe)
            return [bool(answer) for answer in pipe.execute()]

    def renew(self, key: str, turn_id: UUID, fence: int, *, seconds: float) -> None:
        """Set it again if it is missing, extend it if it is ours, leave it alone otherwise."""
        with _unavailable():
            self._renew(keys=[key], args=[_value(turn_id, fence), _milliseconds(seconds)])

    def release(self, key: str, turn_id: UUID, fence: int) -> None:
        """Delete it if it is still ours."""
        with _unavailable():
            self._release(keys=[key], args=[_value(turn_id, fence)])


def _value(turn_id: UUID, fence: int) -> str:
    return f"{turn_id}:{fence}"


def _milliseconds(seconds: float) -> int:
    """PX takes whole milliseconds, at least one."""
    return max(math.ceil(seconds * 1000), 1)


@contextmanager
def _unavailable() -> Iterator[None]:
    try:
        yield
    except (redis.RedisError, OSError) as error:
        raise LeasesUnavailable(f"Redis did not take the lease: {error}") from error
