"""Any program as an agent: `sh -c` of the workflow's command, the prompt on its standard input.

It may report in the file that `$STATIONKEEPER_RESULT` names, or as a line of standard output with `"type": "result"`,
of which the last counts; the file is stronger. Lines of type message, usage, session and tool (a call
with its `name` and `arguments`) are events; all else is log.
Its exit code alone is never success: without a report there must be evidence in the workspace.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pydantic_core

from orchestrator import environment
from orchestrator.agents import report
from orchestrator.domain.turn import Ending, Outcome, StopReason
from orchestrator.domain.workflow import AgentSettings
from orchestrator.ports.agent import AgentEvent, AgentMisconfigured, AgentTurn
from orchestrator.ports.supervisor import EndedBy, Exit, ProcessOrder, Running, Supervisor
from orchestrator.ports.workspaces import WorkspaceFailed

EVENT_TYPES = frozenset({"message", "usage", "session", "tool"})

_STOPPED = {
    EndedBy.STALLED: StopReason.STALLED,
    EndedBy.TIMED_OUT: StopReason.TIMED_OUT,
    EndedBy.FENCE_LOST: StopReason.LOST_WORKER,
    EndedBy.FREEZE_LIMIT: StopReason.LOST_WORKER,
    EndedBy.SUPERVISOR_LOST: StopReason.LOST_WORKER,
    EndedBy.SHUTDOWN: StopReason.DEPLOY,
}

_MEANS = {
    Outcome.DONE: StopReason.DONE,
    Outcome.CONTINUE: StopReason.DONE,
    Outcome.NO_CHANGE: StopReason.NO_CHANGE,
    Outcome.BLOCKED: StopReason.BLOCKED,
    Outcome.FAILED: StopReason.AGENT_FAILED,
}

# What a program may say of its turn although it exited with an error: that something is wrong.
_HOLDS_DESPITE_ERROR = frozenset({Outcome.BLOCKED, Outcome.FAILED})

# The shell's own words for a command that it could not run.
_SHELL = {126: "agent_not_found: the command may not be run", 127: "agent_not_found: there is no such command"}


def connect(settings: AgentSettings, inherited: Mapping[str, str]) -> "CommandAgent":
    """The agent of a workflow; `inherited` is the worker's environment, of which it sees an allow-list.

    Raises:
        AgentMisconfigured: there is no command, or no such way to take the prompt.
    """
    if not settings.command.strip():
        raise AgentMisconfigured("agent.command: empty; expected a shell command that works on the item in its folder")
    if settings.prompt not in {"stdin", "file"}:
        raise AgentMisconfigured(f"agent.prompt: found {settings.prompt!r}; expected stdin or file")
    return CommandAgent(settings, dict(inherited))


@dataclass(frozen=True, slots=True)
class CommandAgent:
    """Fits `ports.agent.Agent`."""

    settings: AgentSettings
    inherited: Mapping[str, str]

    def start(self, turn: AgentTurn, supervisor: Supervisor) -> "CommandSession":
        """Start the command; raises supervisor.SpawnFailed."""
        turn.scratch.mkdir(parents=True, exist_ok=True, mode=0o700)
        result = turn.scratch / "result.json"
        result.unlink(missing_ok=True)  # an earlier try's word must not count for this one
        variables = environment.build(turn, self.settings.env, self.inherited)
        variables["STATIONKEEPER_RESULT"] = str(result)
        prompt = turn.prompt.encode(errors="replace")
        if self.settings.prompt == "file":
            variables["STATIONKEEPER_PROMPT"] = str(_written(turn.scratch / "prompt.md", prompt))
            prompt = b""
        order = ProcessOrder(
            turn_id=turn.turn_id,
            fence=turn.fence,
            argv=("sh", "-c", self.settings.command),
            cwd=turn.workspace,
            environment=variables,
            stdin=prompt,
            transcript=turn.transcript,
            timeout_seconds=turn.timeout_seconds,
            stall_seconds=turn.stall_seconds,
            lock_path=turn.lock_path,
        )
        return CommandSession(turn, supervisor, running=supervisor.spawn(order), result=result)


def as_reported(said: report.Report) -> Ending:
    """What a report that counts means."""
    return Ending(
        said.outcome,
        _MEANS[said.outcome],
        summary=said.summary,
        reason=said.reason,
        session=said.session,
        retry_after_seconds=said.retry_after_seconds,
    )


class CommandSession:
    """Fits `ports.agent.AgentSession`; `reading` says what a report that counts means for this kind of agent."""

    def __init__(
        self,
        turn: AgentTurn,
        supervisor: Supervisor,
        *,
        running: Running,
        result: Path,
        reading: Callable[[report.Report], Ending] = as_reported,
    ) -> None:
        self._turn, self._supervisor, self._running, self._result = turn, supervisor, running, result
        self._reading = reading
        self._last_word: bytes | None = None
        self._session = turn.session

    def events(self) -> Iterator[AgentEvent]:
        """What the program says, as it says it; ends with it."""
        for line in self._running.lines():
            said = _object(line)
            kind = said.pop("type", None)
            if kind == "result":
                self._last_word = line
            elif kind in EVENT_TYPES:
                if kind == "session" and isinstance(said.get("session"), str):
                    self._session = str(said["session"])
                yield AgentEvent(str(kind), said)
        usage = self._reported_usage()
        if usage:
            yield AgentEvent("usage", usage)

    def ending(self) -> Ending:
        """How the turn ended; blocks until nothing of the program is left."""
        for _ in self.events():
            pass
        ending = self._judged(self._running.wait())
        return replace(ending, session=ending.session or self._session)

    def cancel(self) -> None:
        """Ask for the end; does not wait."""
        self._running.stop()

    def _judged(self, exit_: Exit) -> Ending:
        """The ladder: what stopped it from outside, its own word, its exit code, the evidence."""
        if stopped := self._stopped_by(exit_.ended_by):
            return Ending(Outcome.FAILED, stopped, reason=self._why_stopped(exit_.ended_by))
        try:
            said, wrong = self._report(), ""
        except report.BadReport as bad:
            said, wrong = None, str(bad)
        if said and (exit_.code == 0 or said.outcome in _HOLDS_DESPITE_ERROR):
            return self._reading(said)
        if exit_.code != 0:
            return Ending(Outcome.FAILED, StopReason.AGENT_FAILED, reason=_how_it_failed(exit_, said))
        if wrong:
            return Ending(Outcome.FAILED, StopReason.BAD_REPORT, reason=wrong)
        return self._by_evidence()

    def _stopped_by(self, ended_by: EndedBy) -> StopReason | None:
        if ended_by is EndedBy.CANCELLED:
            return self._supervisor.cancelled(self._turn.turn_id) or StopReason.CANCELLED
        return _STOPPED.get(ended_by)

    def _why_stopped(self, ended_by: EndedBy) -> str:
        match ended_by:
            case EndedBy.STALLED:
                return f"said nothing for {self._turn.stall_seconds:g} s"
            case EndedBy.TIMED_OUT:
                return f"ran longer than {self._turn.timeout_seconds:g} s"
            case _:
                return f"stopped: {ended_by.value}"

    def _report(self) -> report.Report | None:
        filed = report.read(self._result)
        if filed or self._last_word is None:
            return filed
        return report.parse(self._last_word, place="the last line of type result")

    def _reported_usage(self) -> Mapping[str, object]:
        try:
            said = self._report()
        except report.BadReport:
            return {}
        return dict(said.usage) if said else {}

    def _by_evidence(self) -> Ending:
        """A program that ended well without a word did its work only if there is work to see."""
        try:
            if self._turn.evidence():
                return Ending(Outcome.DONE, StopReason.DONE, summary="no report; the workspace has changed")
            reason = "exited 0 without a report, and neither HEAD moved nor the tree changed"
        except WorkspaceFailed as error:
            reason = f"exited 0 without a report, and the workspace cannot be read: {error}"
        return Ending(Outcome.FAILED, StopReason.NO_EVIDENCE, reason=reason)


def _how_it_failed(exit_: Exit, said: report.Report | None) -> str:
    how = f"ended by signal {exit_.signal}" if exit_.code is None else f"exited with {exit_.code}"
    what = _SHELL.get(exit_.code or 0, "")
    despite = f"though it reported {said.outcome.value}" if said else ""
    return ", ".join(part for part in (how, what, despite) if part)


def _object(line: bytes) -> dict[str, object]:
    """The object that a line spells; empty for anything else, which is log."""
    try:
        said = pydantic_core.from_json(line)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _written(path: Path, text: bytes) -> Path:
    path.write_bytes(text)
    return path
