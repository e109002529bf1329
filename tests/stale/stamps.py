"""Boards that say less: stamps by the hour only, or none, or that their moves compare nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from orchestrator.domain.item import Item

Show = Callable[[Item], Item]


def exact(item: Item) -> Item:
    """As the board has it."""
    return item


def coarse(item: Item) -> Item:
    """All that happens within the hour bears one stamp."""
    return replace(item, updated_at=item.updated_at and item.updated_at.replace(minute=0, second=0, microsecond=0))


def absent(item: Item) -> Item:
    """The tracker has none."""
    return replace(item, updated_at=None)


@dataclass(frozen=True, slots=True)
class Shown:
    """A tracker whose cards are shown that way; everything else is as behind it."""

    behind: Any
    show: Show
    compares: bool = True

    @property
    def profile(self) -> Any:
        """What is behind it, unless its moves are best effort and read back."""
        said = self.behind.profile
        return said if self.compares else replace(said, conditional_moves=False)

    def list_items(self, states: Sequence[str]) -> Iterator[Any]:
        """The pages, each card as it is shown."""
        for page in self.behind.list_items(states):
            yield replace(page, items=tuple(map(self.show, page.items)))

    def get_items(self, ids: Sequence[str]) -> Mapping[str, Item]:
        """The cards as they are shown."""
        return {item_id: self.show(item) for item_id, item in self.behind.get_items(ids).items()}

    def __getattr__(self, name: str) -> Any:
        """Whatever shows no card."""
        return getattr(self.behind, name)
