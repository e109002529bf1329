"""The shape of the front matter: which keys there are, of which type, and what each is when it is left out.

Types are strict: `"10"` is not ten, and `yes` is no text. A key without a value counts as left out. Numbers that end in
`_ms` are milliseconds. What a key means together with others is judged in `meaning`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

_STRICT = ConfigDict(frozen=True, strict=True, extra="ignore")
# A tracker's own keys are its adapter's to judge: they are kept as they are.
_STRICT_AND_OPEN = ConfigDict(frozen=True, strict=True, extra="allow")

Text = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=1)]


def _passed_on(names: object) -> object:
    """A list of names stands for variables that are handed on as they are."""
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return {name: f"${name}" for name in names}
    return names


Environment = Annotated[dict[str, str], BeforeValidator(_passed_on)]

# It names a folder, a queue and a row: what all of them take without quoting.
Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]


class Tracker(BaseModel):
    """The board, the roles of its states, and who may hand in work."""

    model_config = _STRICT_AND_OPEN

    kind: Text
    active_states: list[str] = []
    terminal_states: list[str] = []
    in_progress_state: str | None = None
    handoff_state: str | None = None
    required_labels: list[Text] = []
    assignee: Text | None = None
    trusted_authors: list[Text] = []


class Polling(BaseModel):
    """How often the board is read, and how often the columns that no listing shows; hints and due work come sooner."""

    model_config = _STRICT

    # A person who drags a card looks again after half a minute; no tracker's quota minds (both peers' default).
    interval_ms: Count = 30_000
    # Who asks why a closed card does not move can wait some minutes for a new answer; a tracker's quota hardly notices.
    whole_board_ms: Count = 600_000


class Workspace(BaseModel):
    """Where agents work; `root` and `repository` are paths, and `remote` may be one."""

    model_config = _STRICT

    root: Text = ".stationkeeper/workspaces"
    repository: Text | None = None
    base: Text | None = None
    branch: Text = "stationkeeper/{key}"
    remote: Text | None = None
    shared: bool = False
    # None: an ignored `.env` holds secrets, of which a second copy that lies about for half a year is worse than none.
    keep_ignored: list[Text] = []


class Hooks(BaseModel):
    """Shell commands around a run, each in the workspace; `env` as for the agent."""

    model_config = _STRICT

    after_create: Text | None = None
    before_run: Text | None = None
    after_run: Text | None = None
    before_remove: Text | None = None
    # Both peers' default: a clone or an install fits, a hang is noticed within a minute.
    timeout_ms: Count = 60_000
    env: Environment = {}


class Agent(BaseModel):
    """The program, how many of it, how long, how often. The defaults are those of both peers where they agree."""

    model_config = _STRICT

    # Left out: codex where the file has that block, as in a peer's file, else command.
    kind: Text | None = None
    command: Text | None = None
    prompt: Literal["stdin", "file"] = "stdin"
    evidence: Literal["report", "change"] = "report"
    env: Environment = {}
    max_concurrent_agents: Count = 10
    max_concurrent_agents_by_state: dict[str, Count] = {}
    max_turns: Count = 20
    max_sessions: Count = 3
    max_attempts: Count = 5
    max_retry_backoff_ms: Count = 300_000
    turn_timeout_ms: Count = 3_600_000
    # 0 or less switches the stall clock off.
    stall_timeout_ms: int = 300_000
    read_timeout_ms: Count = 5_000
    # More than who looks whether a build is through; far below the hundreds that were seen of loops. 0: no limit.
    max_repeated_calls: Annotated[int, Field(ge=0)] = 50


class Codex(BaseModel):
    """Settings of the agent kind `codex`. What depends on Codex's own version is its to judge, and passes as it is.

    The command and the clocks may stand here, as in the peer's file; they beat those of the block `agent`.
    """

    model_config = _STRICT

    command: Text = "codex app-server"
    model: Text | None = None
    effort: Text | None = None
    # Both peers': nobody sits at the terminal, and the program may write in the workspace.
    approval_policy: Text | dict[str, object] = "never"
    thread_sandbox: Text = "workspace-write"
    turn_sandbox_policy: dict[str, object] | None = None
    turn_timeout_ms: Count | None = None
    stall_timeout_ms: int | None = None
    read_timeout_ms: Count | None = None


class ClaudeCode(BaseModel):
    """Settings of the agent kind `claude-code`, each a flag of the program; `mcp_config` is a path."""

    model_config = _STRICT

    permission_mode: Text | None = None
    model: Text | None = None
    fallback_model: Text | None = None
    max_turns: Count | None = None
    max_budget_usd: Annotated[float, Field(gt=0)] | None = None
    effort: Text | None = None
    allowed_tools: Text | None = None
    disallowed_tools: Text | None = None
    system_prompt: Text | None = None
    mcp_config: Text | None = None
    session_persistence: bool | None = None


# The settings of each kind of agent in this tree that has some; the block bears the kind's name.
AGENT_BLOCKS: Mapping[str, type[BaseModel]] = {"codex": Codex, "claude-code": ClaudeCode}


class FrontMatter(BaseModel):
    """The blocks that something reads."""

    model_config = _STRICT

    name: Slug | None = None
    tracker: Tracker
    polling: Polling = Polling()
    workspace: Workspace = Workspace()
    hooks: Hooks = Hooks()
    agent: Agent = Agent()


# Blocks and keys that the format has and nothing here reads so far. Accepted, so that a peer's file loads.
NOT_USED_YET = frozenset(
    {
        "server",
        "logging",
        "db_path",
        "worker",
        "reactions",
        "ci_feedback",
        "self_review",
        "token_rates",
        "observability",
    }
)

# What the trackers in this tree read beside the keys above; another tracker's keys are not ours to know.
TRACKER_OPTIONS: Mapping[str, frozenset[str]] = {
    "backlog": frozenset({"path"}),
    "memory": frozenset({"board"}),
    "roundup": frozenset({"endpoint", "api_key", "blocked_by", "single_threaded"}),
}
EVERY_TRACKER_OPTION = frozenset({"query_filter", "project"}.union(*TRACKER_OPTIONS.values()))
