"""The broker: it carries hints with ids and a fence, never a payload, and may lose or double any of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from orchestrator.ports.store import Offer


class PublishFailed(Exception):
    """The broker did not take the message in time; nothing is lost, the tick enqueues again."""


class Queue(Protocol):
    """What the engine may ring. Every method raises PublishFailed, within seconds and without a retry."""

    def ring(self, workflow: str | None = None, *, full: bool = False) -> None:
        """Bring a tick forward."""
        ...

    def turns(self, offers: Sequence[Offer]) -> None:
        """Offer queued turns to the workers; after a failure some of them may have been offered."""
        ...

    def tidy(self, host: str | None = None) -> None:
        """Say that there are workspaces that may go, on one host where `host` names it."""
        ...

    def relay(self) -> None:
        """Say that the outbox has something to post."""
        ...
