"""A broker in a list: what was published, in order; whoever delivers decides what is lost, doubled or late."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from orchestrator.ports.queue import PublishFailed
from orchestrator.ports.store import Offer


@dataclass(slots=True)
class MemoryQueue:
    """Messages stand in `waiting`; rings and relay hints are only counted. `down` makes every publish fail.

    `published` remembers every offer of a turn that there ever was, so that a test can deliver an old one again;
    `hosts` says for whose workers each turn was offered last, `tidy_hosts` the same of the hints about workspaces.
    """

    waiting: list[tuple[UUID, int]] = field(default_factory=list)
    hosts: dict[UUID, str | None] = field(default_factory=dict)
    published: list[tuple[UUID, int]] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    rings: int = 0
    relays: int = 0
    tidies: int = 0
    tidy_hosts: list[str | None] = field(default_factory=list)
    down: bool = False

    def ring(self, workflow: str | None = None, *, full: bool = False) -> None:  # noqa: ARG002 -- the door's signature
        """Count a ring."""
        self._refuse_when_down()
        self.rings += 1

    def turns(self, offers: Sequence[Offer]) -> None:
        """Keep offers of turns."""
        self._refuse_when_down()
        for offer in offers:
            self.hosts[offer.turn_id] = offer.host
            self.waiting.append((offer.turn_id, offer.fence))
            self.published.append((offer.turn_id, offer.fence))
            self.labels.append(offer.label)

    def tidy(self, host: str | None = None) -> None:
        """Count a hint, and remember for whom it was."""
        self._refuse_when_down()
        self.tidy_hosts.append(host)
        self.tidies += 1

    def relay(self) -> None:
        """Count a hint."""
        self._refuse_when_down()
        self.relays += 1

    def take(self) -> tuple[UUID, int]:
        """The oldest message, which is then gone: acknowledged early, whatever becomes of its turn."""
        return self.waiting.pop(0)

    def flush(self) -> None:
        """Lose every message, as FLUSHALL does."""
        self.waiting.clear()

    def _refuse_when_down(self) -> None:
        if self.down:
            raise PublishFailed("the broker is down")
