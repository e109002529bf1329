"""From shaped values to the domain's Workflow: defaults that depend on the file's place, and rules over several keys.

Paths become absolute here, since the board's scope is made of one; every other `$VAR` stays as written, for whoever
opens the tracker or starts the agent.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from orchestrator.domain import contract as contracts
from orchestrator.domain.contract import Problem, StateContract, fold
from orchestrator.domain.select import Limits
from orchestrator.domain.turn import TurnLimits
from orchestrator.domain.workflow import (
    AgentSettings,
    Evidence,
    Hook,
    HookSettings,
    TrackerSettings,
    Workflow,
    WorkspaceSettings,
)
from orchestrator.workflow import blocks, keys, variables
from orchestrator.workflow.findings import Code, Finding, Rejected
from orchestrator.workflow.front_matter import Document, Key


def workflow_of(
    document: Document, front: blocks.FrontMatter, *, path: Path, environment: Mapping[str, str]
) -> Workflow:
    """What a file means, without its warnings. Raises Rejected."""
    place = _Place(document, folder=path.parent, environment=environment)
    contract = _contract(document, front.tracker, place)
    findings = [*_alone(document, front, place)]
    if findings:
        raise Rejected(Code.PARSE_ERROR, findings)
    tracker = _tracker(front.tracker, place)
    scope = scope_of(tracker, environment)
    return Workflow(
        name=front.name or slug(path.absolute().parent.name),
        tracker=tracker,
        contract=contract,
        limits=_limits(front, place),
        turn_limits=TurnLimits(
            max_attempts=front.agent.max_attempts,
            max_turns=front.agent.max_turns,
            max_sessions=front.agent.max_sessions,
            max_retry_backoff_ms=front.agent.max_retry_backoff_ms,
        ),
        workspace=_workspace(front.workspace, place, board=scope),
        agent=_agent(front.agent, document, place),
        hooks=_hooks(front.hooks),
        prompt=document.body,
        interval_ms=front.polling.interval_ms,
        whole_board_ms=front.polling.whole_board_ms,
        scope=scope,
    )


def scope_of(tracker: TrackerSettings, environment: Mapping[str, str]) -> str:
    """The name of a board over all workflows that share it: of two with one scope, only one works on an item."""
    options = tracker.options
    board = next((options[key] for key in ("path", "board", "project", "endpoint") if options.get(key)), "")
    # What is not set is said when the tracker is opened; until then the name as written is one, too.
    with contextlib.suppress(variables.Unresolved):
        board = variables.resolve(str(board), environment)
    return f"{tracker.kind}:{board}"


def slug(text: str) -> str:
    """A folder's name as a workflow's: lower case, hyphens for what a slug cannot hold."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:_LONGEST_SLUG].strip("-") or "workflow"


def caps_without_state(front: blocks.FrontMatter, document: Document) -> Iterator[Finding]:
    """A warning for each cap of a state that is not active: it limits nothing."""
    active = {fold(state) for state in front.tracker.active_states}
    for state in front.agent.max_concurrent_agents_by_state:
        if fold(state) not in active:
            key = ("agent", "max_concurrent_agents_by_state", state)
            message = f"'{'.'.join(key)}' limits nothing; {state!r} is not in tracker.active_states"
            yield Finding(document.line(key), message)


_LONGEST_SLUG = 63


class _Place:
    """Where the file is: paths in it are seen from its folder, and variables are those of this process."""

    def __init__(self, document: Document, *, folder: Path, environment: Mapping[str, str]) -> None:
        self._document, self._folder, self._environment = document, folder, environment

    def path(self, value: str, block: str, key: str) -> str:
        """The absolute path that a key means. Raises Rejected."""
        try:
            return str(variables.resolve_path(value, self._environment, folder=self._folder))
        except variables.Unresolved as error:
            finding = Finding(self._document.line((block, key)), f"'{block}.{key}': {error}")
            raise Rejected(Code.PARSE_ERROR, [finding]) from error

    def text(self, value: str, key: Key) -> str:
        """The text that a key means. Raises Rejected."""
        try:
            return variables.resolve(value, self._environment)
        except variables.Unresolved as error:
            finding = Finding(self._document.line(key), f"'{'.'.join(map(str, key))}': {error}")
            raise Rejected(Code.PARSE_ERROR, [finding]) from error

    def optional(self, value: str | None, block: str, key: str) -> str | None:
        """The same of a key that may be left out."""
        return None if value is None else self.text(value, (block, key))

    def texts(self, values: Sequence[str], block: str, key: str) -> tuple[str, ...]:
        """The same of each entry of a list, unless the environment has set the list: then it is final."""
        if (block, key) in self._document.origins:
            return tuple(values)
        return tuple(self.text(value, (block, key, index)) for index, value in enumerate(values))


def _contract(document: Document, block: blocks.Tracker, place: _Place) -> StateContract:
    contract = StateContract(
        active=place.texts(block.active_states, "tracker", "active_states"),
        terminal=place.texts(block.terminal_states, "tracker", "terminal_states"),
        in_progress=place.optional(block.in_progress_state, "tracker", "in_progress_state"),
        handoff=place.optional(block.handoff_state, "tracker", "handoff_state"),
    )
    broken = contracts.problems(contract)
    if broken:
        raise Rejected(Code.STATE_CONTRACT, [_broken(problem, document) for problem in broken])
    return contract


def _broken(problem: Problem, document: Document) -> Finding:
    key = tuple(problem.key.split("."))
    remedy = f"{keys.meant(document, key)}{_LINES_TO_ADD.get(problem.key, '')}" if problem.rule == "SC-08" else ""
    origin = f", which {document.origins[key]} sets" if key in document.origins else ""
    return Finding(document.line(key), f"'{problem.key}'{origin}: {problem.message} ({problem.rule}){remedy}")


_LINES_TO_ADD = {
    "tracker.active_states": "; add below 'tracker:' the states in which work may start, say"
    " 'active_states: [To Do, In Progress]'",
    "tracker.terminal_states": "; add below 'tracker:' the states in which a decision is made, say"
    " 'terminal_states: [Done]'",
}


def _alone(document: Document, front: blocks.FrontMatter, place: _Place) -> Iterator[Finding]:
    """What types cannot say about a single block."""
    if keys.agent_kind(document) == "command" and front.agent.command is None:
        line = document.line(("agent",))
        yield Finding(
            line, "'agent.command' is missing; write the shell command that works on a ticket in the current folder"
        )
    branch, base = place.text(front.workspace.branch, _BRANCH), place.optional(front.workspace.base, *_BASE)
    if front.workspace.repository is not None and "{key}" not in branch:
        message = f"'workspace.branch': found {branch!r}, expected '{{key}}' in it; two tickets need two branches"
        yield Finding(document.line(_BRANCH), message)
    for (_, key), value in ((_BRANCH, branch), (_BASE, base)):
        if value is not None and (value.startswith("-") or not value.isprintable() or " " in value):
            message = f"'workspace.{key}': found {value!r}, expected a name that git takes for a branch or commit"
            yield Finding(document.line(("workspace", key)), message)
    yield from _credentials_shown(front, document)
    if front.workspace.remote is not None and front.workspace.repository is None:
        message = "'workspace.remote': found one, expected a 'workspace.repository' whose branches are pushed there"
        yield Finding(document.line(("workspace", "remote")), message)
    for block, names in (("agent", front.agent.env), ("hooks", front.hooks.env)):
        for name in names:
            if not _VARIABLE.fullmatch(name):
                expected = "expected the name of a variable: letters, digits and underscores"
                message = f"'{block}.env': found {name!r}, {expected}"
                yield Finding(document.line((block, "env", name)), message)


_BRANCH, _BASE = ("workspace", "branch"), ("workspace", "base")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _tracker(block: blocks.Tracker, place: _Place) -> TrackerSettings:
    options = dict(block.model_extra or {})
    if isinstance(options.get("path"), str):
        options["path"] = place.path(str(options["path"]), "tracker", "path")
    return TrackerSettings(kind=block.kind, options=options)


def _limits(front: blocks.FrontMatter, place: _Place) -> Limits:
    return Limits(
        max_concurrent=front.agent.max_concurrent_agents,
        max_concurrent_by_state={fold(state): cap for state, cap in front.agent.max_concurrent_agents_by_state.items()},
        required_labels=tuple(fold(label) for label in front.tracker.required_labels),
        assignee=place.optional(front.tracker.assignee, "tracker", "assignee"),
        trusted_authors=tuple(front.tracker.trusted_authors),
    )


def _workspace(block: blocks.Workspace, place: _Place, *, board: str) -> WorkspaceSettings:
    repository = None if block.repository is None else place.path(block.repository, "workspace", "repository")
    return WorkspaceSettings(
        root=place.path(block.root, "workspace", "root"),
        repository=repository,
        base=place.optional(block.base, "workspace", "base"),
        branch=place.text(block.branch, ("workspace", "branch")),
        board=board,
        remote=None if block.remote is None else _remote(block.remote, place),
        shared=block.shared,
        keep_ignored=tuple(block.keep_ignored),
    )


def _remote(written: str, place: _Place) -> str:
    """As written where it is an address or a whole variable, which the worker looks up when it pushes; else a path."""
    is_address = "://" in written or re.match(r"[^/.~][^/]*:", written) is not None
    return written if is_address or written.startswith("$") else place.path(written, "workspace", "remote")


def _credentials_shown(front: blocks.FrontMatter, document: Document) -> Iterator[Finding]:
    """The remote's variable is for the engine alone."""
    for block, names in (("agent", front.agent.env), ("hooks", front.hooks.env)):
        for name, value in names.items():
            if front.workspace.remote is not None and value == front.workspace.remote:
                message = f"'{block}.env': {value} is workspace.remote, by which only the engine pushes; leave it out"
                yield Finding(document.line((block, "env", name)), message)


def _hooks(block: blocks.Hooks) -> HookSettings:
    given = {hook: getattr(block, hook.value) for hook in Hook}
    commands = {hook: command for hook, command in given.items() if command is not None}
    return HookSettings(commands=commands, timeout_ms=block.timeout_ms, env=block.env)


def _agent(block: blocks.Agent, document: Document, place: _Place) -> AgentSettings:
    """The agent's settings. What its kind's own block says, as in a peer's file, beats the block `agent`."""
    kind = keys.agent_kind(document)
    own = document.values.get(kind)
    options = dict(own) if isinstance(own, Mapping) else {}
    if isinstance(options.get("mcp_config"), str):
        options["mcp_config"] = place.path(str(options["mcp_config"]), kind, "mcp_config")
    said = {name: options[name] for name in _SHARED if name in options and ("agent", name) not in document.origins}
    settings = blocks.Agent.model_validate({**block.model_dump(), **said}) if said else block
    return AgentSettings(
        kind=kind,
        command=settings.command or "",
        prompt=settings.prompt,
        evidence=Evidence(block.evidence),
        turn_timeout_ms=settings.turn_timeout_ms,
        stall_timeout_ms=settings.stall_timeout_ms,
        read_timeout_ms=settings.read_timeout_ms,
        max_repeated_calls=settings.max_repeated_calls,
        env=settings.env,
        options=options,
    )


_SHARED = ("command", "turn_timeout_ms", "stall_timeout_ms", "read_timeout_ms")
