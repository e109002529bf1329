"""The workflow of a world, and the doors by which it is read: no file, no template, the values themselves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.domain.contract import StateContract
from orchestrator.domain.item import Item
from orchestrator.domain.select import Limits
from orchestrator.domain.turn import TurnLimits
from orchestrator.domain.workflow import AgentSettings, HookSettings, TrackerSettings, Workflow, WorkspaceSettings

CONTRACT = StateContract(("Todo", "Rework", "In Progress"), ("Done", "Cancelled"), "In Progress", "In Review")
STATES = ("Backlog", "Todo", "Rework", "In Progress", "In Review", "Cancelled", "Done")


def workflow(
    contract: StateContract = CONTRACT,
    turn_limits: TurnLimits | None = None,
    hooks: HookSettings | None = None,
    **limits: Any,
) -> Workflow:
    """The world's workflow; `limits` are those of select.Limits."""
    return Workflow(
        name="world",
        tracker=TrackerSettings("memory"),
        contract=contract,
        limits=Limits(**limits),
        turn_limits=turn_limits or TurnLimits(max_attempts=3),
        workspace=WorkspaceSettings("memory"),
        agent=AgentSettings(),
        prompt="{{ issue.title }}",
        interval_ms=30_000,
        scope="memory:world",
        hooks=hooks or HookSettings(),
    )


@dataclass(slots=True)
class OneWorkflow:
    """The workflow door of a world: what a body means is looked up in `values`."""

    values: dict[str, Workflow]

    def files(self) -> tuple[Path, ...]:
        """There are no files here."""
        return ()

    def parse(self, body: str, *, path: Path) -> Workflow:  # noqa: ARG002 -- the door's signature
        """The workflow whose body that is."""
        return self.values[body]


class PlainPrompts:
    """The prompt door of a world: an agent that follows a script reads nothing."""

    def render(self, template: str, item: Item, **_: object) -> str:  # noqa: ARG002 -- the door's signature
        """The title."""
        return item.title

    def guidance(self, item: Item, **_: object) -> str:
        """The title, as of a session that knows the rest."""
        return f"go on: {item.title}"
