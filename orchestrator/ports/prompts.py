"""Prompts: the workflow's Liquid body, rendered strictly for one turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from orchestrator.domain.item import Item


class PromptFailed(Exception):
    """The prompt could not be rendered; the message names the line and the variable or filter."""


class Prompts(Protocol):
    """Renders; knows no tracker and no agent."""

    def render(
        self, template: str, item: Item, *, attempt: int | None, run: Mapping[str, object], retry_kind: str | None
    ) -> str:
        """The prompt of a turn. `attempt` is None on the first one (PT-04). Raises PromptFailed."""
        ...

    def guidance(self, item: Item, *, attempt: int | None, run: Mapping[str, object], retry_kind: str | None) -> str:
        """What a kept session, which had the whole prompt, is told at a later turn (PT-05). Raises PromptFailed."""
        ...
