"""Kombu's Redis transport with one client a channel, where kombu makes one for each message and each event.

Making a client costs more than sending what it is made for: a tenth of a Celery task's processor time. A client keeps
no state but the channel's pool of connections, and may be used by every thread.
"""

from __future__ import annotations

from typing import Any

from kombu.transport import TRANSPORT_ALIASES
from kombu.transport import redis as stock


class Channel(stock.Channel):
    """A channel that keeps the client which it sends by."""

    _kept: Any = None

    def _create_client(self, asynchronous: bool = False) -> Any:  # noqa: ANN401, FBT001, FBT002 -- kombu's signature
        if asynchronous:
            return super()._create_client(asynchronous=True)  # type: ignore[no-untyped-call]
        if self._kept is None or self._kept.connection_pool is not self.pool:
            self._kept = super()._create_client()  # type: ignore[no-untyped-call]
        return self._kept


class Transport(stock.Transport):
    """The same in everything else."""

    Channel = Channel


def install() -> None:
    """Let `redis://` and `rediss://` mean this transport in this process."""
    TRANSPORT_ALIASES.update(dict.fromkeys(("redis", "rediss"), f"{__name__}:Transport"))
