"""A workflow as typed values: what WORKFLOW.md means once it has been read and judged.

The text of the file stays beside them, because the row in force is stored as written: `$VAR` is resolved where it is
used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from orchestrator.domain.contract import StateContract
from orchestrator.domain.select import Limits
from orchestrator.domain.turn import TurnLimits


@dataclass(frozen=True, slots=True)
class TrackerSettings:
    """Which board: the adapter's kind and its own options, as written in the file."""

    kind: str
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WorkspaceSettings:
    """Where the work happens. Without `repository` a workspace is an empty directory; with it, a git worktree of it.

    `board` is the scope of the cards that are worked on: cards of two boards may bear one key, and share nothing.
    `remote` is where the engine pushes branches: an address, an absolute path, or `$NAME` of the worker's environment.
    `shared` says that every host sees the root: work in it is bound to none.
    `keep_ignored` are patterns, as git writes them, of files that git ignores and that are kept with unfinished work.
    """

    root: str
    repository: str | None = None
    base: str | None = None
    branch: str = "stationkeeper/{key}"
    board: str = ""
    remote: str | None = None
    shared: bool = False
    keep_ignored: tuple[str, ...] = ()


class Evidence(Enum):
    """What a hand-off rests on (TW-14)."""

    REPORT = "report"  # the agent's word; only one that says nothing must have changed something
    CHANGE = "change"  # a commit or a changed tree since the task began, or the agent's word that nothing was to do


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """Which agent program, and its clocks (milliseconds, as in the file; 0 or less switches the stall clock off).

    `max_repeated_calls` is how often it may make the same few calls with nothing new in between; 0: as it likes.
    """

    kind: str = "command"
    command: str = ""
    prompt: str = "stdin"
    evidence: Evidence = Evidence.REPORT
    turn_timeout_ms: int = 3_600_000
    stall_timeout_ms: int = 300_000
    read_timeout_ms: int = 5_000
    max_repeated_calls: int = 50
    env: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)


class Hook(Enum):
    """When a command of the workflow runs beside the agent."""

    AFTER_CREATE = "after_create"  # once, in a workspace that was made just now; its failure undoes the making
    BEFORE_RUN = "before_run"  # before each attempt; its failure fails the attempt
    AFTER_RUN = "after_run"  # after each attempt, whatever happened; its failure is told and ignored
    BEFORE_REMOVE = "before_remove"  # before a workspace is removed; its failure is told and ignored


@dataclass(frozen=True, slots=True)
class HookSettings:
    """The commands by their moment, how long each may take, and what they see beside the allow-list."""

    commands: Mapping[Hook, str] = field(default_factory=dict)
    timeout_ms: int = 60_000
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Workflow:
    """One workflow, whole. `prompt` is the Liquid body; `scope` names the board over all workflows that share it."""

    name: str
    tracker: TrackerSettings
    contract: StateContract
    limits: Limits
    turn_limits: TurnLimits
    workspace: WorkspaceSettings
    agent: AgentSettings
    prompt: str
    interval_ms: int = 30_000
    whole_board_ms: int = 600_000
    scope: str = ""
    hooks: HookSettings = HookSettings()
    warnings: tuple[str, ...] = ()
