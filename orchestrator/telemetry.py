"""What the system says while it works: one function an event, a constant message with fields, one line each on stderr.

A line that cannot be written is dropped and counted: a full disk or a closed pipe must not stop a tick. `about` puts an
item's fields on every event of a thread, so that no call can forget them.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager
from enum import Enum
from pathlib import Path
from typing import TextIO
from uuid import UUID

import structlog


class Style(Enum):
    """How a line looks. Set once, by whoever starts the process."""

    JSON = "json"  # for a collector
    CONSOLE = "console"  # for a person


class _Output:
    """Where lines go. Its stream is looked up late: whoever redirects stderr after import is obeyed."""

    def __init__(self) -> None:
        self.stream: TextIO | None = None
        self.dropped = 0

    def write(self, line: str) -> None:
        """One line, whole in one call, so that threads do not mix."""
        stream = self.stream or sys.stderr
        stream.write(line + "\n")
        stream.flush()


class _Line:
    """The end of structlog's chain: takes a finished line, whatever its level."""

    def msg(self, line: str) -> None:
        """Write it."""
        _output.write(line)

    debug = info = warning = error = critical = msg


_output = _Output()


def configure(style: Style, *, stream: TextIO | None = None, level: int = logging.INFO) -> None:
    """Choose the look, the stream (None: stderr as it is then) and the least level of this process's lines."""
    _output.stream = stream
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer(default=str)
        if style is Style.JSON
        else structlog.dev.ConsoleRenderer(colors=(stream or sys.stderr).isatty())
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *_: _Line(),
        cache_logger_on_first_use=False,
    )


def adopt_library_logs(level: int = logging.INFO) -> None:
    """Let what Celery and other libraries say through `logging` stand beside our lines, one line each, on stderr."""
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s", force=True)


def dropped_lines() -> int:
    """How many lines of this process could not be written."""
    return _output.dropped


def about(
    item: str, *, turn_id: UUID | None = None, fence: int | None = None, session: str | None = None
) -> AbstractContextManager[None]:
    """Within it, every event of this thread bears these fields."""
    known = {"item": item, "turn": turn_id, "fence": fence, "session": session}
    given = {name: value for name, value in known.items() if value is not None}
    return structlog.contextvars.bound_contextvars(**given)


# --- the database -----------------------------------------------------------------------------------------------------


def database_changed() -> None:
    """The database is not the one that was known: the fleet is held until a person says how to go on."""
    _say(logging.ERROR, "the database was restored, moved or failed over; the fleet is held: `orchestrator recover`")


def clock_set_back(*, seconds: float) -> None:
    """The database's clock went back; what waits for a moment waits as long as before."""
    _say(logging.WARNING, "the database's clock was set back", seconds=round(seconds, 1))


# --- the tick ---------------------------------------------------------------------------------------------------------


def tick(workflow: str, *, listing: bool, report: Mapping[str, object]) -> None:
    """A tick has ended: what it did, in counts."""
    _say(logging.INFO, "tick", workflow=workflow, listing=listing, **report)


def hinted(workflow: str, *, item: str) -> None:
    """Somebody says that a board changed; the next ring reads it."""
    _say(logging.INFO, "hinted", workflow=workflow, item=item)


def watch_failed(fault: str) -> None:
    """A board cannot be watched; it is read at its interval."""
    _say(logging.WARNING, "watch failed", fault=fault)


def tick_failed(workflow: str, *, error: Exception) -> None:
    """A tick could not be carried out; the next one starts from nothing again."""
    _say(logging.WARNING, "tick failed", workflow=workflow, error=_text(error))


def dispatched(item: str, *, turn_id: UUID, fence: int, ordinal: int) -> None:
    """A turn was opened."""
    _say(logging.INFO, "dispatched", item=item, turn=turn_id, fence=fence, ordinal=ordinal)


def refused(item: str, *, reason: Enum, detail: str = "") -> None:
    """An action of a plan was not carried out."""
    _say(logging.INFO, "refused", item=item, reason=reason.value, detail=detail)


def acted(item: str, *, action: str) -> None:
    """An action of a plan other than a dispatch was carried out."""
    _say(logging.INFO, "acted", item=item, action=action)


def held(item: str, *, kind: Enum, reason: str) -> None:
    """A brake was put on; somebody has to lift it."""
    _say(logging.WARNING, "held", item=item, kind=kind.value, reason=reason)


# --- the turn ---------------------------------------------------------------------------------------------------------


def turn_started(item: str, *, turn_id: UUID, fence: int, attempt: int) -> None:
    """A turn was admitted."""
    _say(logging.INFO, "turn started", item=item, turn=turn_id, fence=fence, attempt=attempt)


def turn_ended(item: str, *, turn_id: UUID, fence: int, stop: Enum, session: str | None = None) -> None:
    """A turn was concluded."""
    _say(logging.INFO, "turn ended", item=item, turn=turn_id, fence=fence, stop=stop.value, session=session)


def hook_failed(item: str, *, hook: str, how: str, output: Path) -> None:
    """A hook did not end well; the file keeps all that it said."""
    _say(logging.WARNING, "hook failed", item=item, hook=hook, how=how, output=str(output))


def workspace_removed(item: str, *, path: Path) -> None:
    """The workspace of a closed card is gone."""
    _say(logging.INFO, "workspace removed", item=item, path=str(path))


def workspace_stays(item: str, *, path: Path, why: str) -> None:
    """A workspace that was to go stays for now."""
    _say(logging.WARNING, "workspace stays", item=item, path=str(path), why=why)


def step_failed(item: str, *, step: str, kind: str, reason: str) -> None:
    """A step of a flow did not give what it should; the reason is stored too."""
    _say(logging.WARNING, "step_failed", item=item, step=step, kind=kind, reason=reason)


def turn_refused(turn_id: UUID, *, fence: int) -> None:
    """A message offered a turn that is not to be had: taken, cancelled, held or over."""
    _say(logging.DEBUG, "turn refused", turn=turn_id, fence=fence)


def write_refused(turn_id: UUID, *, fence: int, what: str) -> None:
    """A late worker's write met a fence that is not its own any more."""
    _say(logging.WARNING, "write refused", turn=turn_id, fence=fence, what=what)


def message_refused(task: str, *, found: str) -> None:
    """A message that names nothing of ours was dropped."""
    _say(logging.WARNING, "message refused", task=task, found=found)


# --- the supervisor ---------------------------------------------------------------------------------------------------


def agent_frozen(turn_id: UUID, *, processes: int) -> None:
    """A turn's fence is in doubt; its processes were stopped until it is confirmed."""
    _say(logging.WARNING, "agent frozen", turn=turn_id, processes=processes)


def agent_thawed(turn_id: UUID, *, processes: int) -> None:
    """The fence was confirmed; the processes go on."""
    _say(logging.INFO, "agent thawed", turn=turn_id, processes=processes)


def agent_killed(turn_id: UUID, *, ended_by: Enum, processes: int) -> None:
    """Every process of a turn was ended."""
    _say(logging.WARNING, "agent killed", turn=turn_id, ended_by=ended_by.value, processes=processes)


def worker_lost(pid: int, *, turns: int) -> None:
    """The worker of this supervisor is gone; its agents are killed and its turns reported."""
    _say(logging.ERROR, "worker lost", pid=pid, turns=turns)


def worker_silent(pid: int, *, turns: int) -> None:
    """The main loop of this supervisor's worker stands still; its agents are frozen until it turns again."""
    _say(logging.ERROR, "worker silent", pid=pid, turns=turns)


def swept(*, processes: int) -> None:
    """Processes whose supervisor is gone were found and killed."""
    _say(logging.WARNING, "swept", processes=processes)


def supervisor_lost(pid: int) -> None:
    """The supervisor of this worker died or did not answer; a new one is started, and sweeps first."""
    _say(logging.ERROR, "supervisor lost", pid=pid)


# --- the relay --------------------------------------------------------------------------------------------------------


def write_settled(item: str, *, write: Enum, outcome: str, detail: str = "") -> None:
    """A write-back was posted, suppressed, deferred or parked."""
    _say(logging.INFO, "write settled", item=item, write=write.value, outcome=outcome, detail=detail)


# --- the surroundings -------------------------------------------------------------------------------------------------


def service_failed(service: str, *, error: Exception) -> None:
    """A service (postgres, redis, broker, a tracker) did not answer; only latency changes."""
    _say(logging.WARNING, "service failed", service=service, error=_text(error))


def workflow_in_force(workflow: str, *, version: int, path: str) -> None:
    """A version of a workflow file took effect."""
    _say(logging.INFO, "workflow in force", workflow=workflow, version=version, path=path)


def workflow_retired(workflow: str, *, replaced_by: str | None = None) -> None:
    """A person let a workflow go, or gave its file another name."""
    _say(logging.INFO, "workflow retired", workflow=workflow, replaced_by=replaced_by)


def workflow_refused(path: str, *, code: str, problem: str) -> None:
    """A workflow file cannot be used; the last good version stays in force."""
    _say(logging.ERROR, "workflow refused", path=path, code=code, problem=problem)


def workflow_mended(path: str) -> None:
    """A workflow file that could not be used is good again."""
    _say(logging.INFO, "workflow mended", path=path)


def workflow_warned(path: str, *, warning: str) -> None:
    """Something in a workflow file is not what its author may believe."""
    _say(logging.WARNING, "workflow warned", path=path, warning=warning)


def contract_broken(workflow: str, *, problem: str) -> None:
    """The board lacks a state that the workflow names; nothing is dispatched until it is back."""
    _say(logging.ERROR, "contract broken", workflow=workflow, problem=problem)


def contract_healed(workflow: str) -> None:
    """The board has every state that the workflow names again; dispatch goes on by itself."""
    _say(logging.INFO, "contract healed", workflow=workflow)


def _say(level: int, event: str, **fields: object) -> None:
    try:
        structlog.get_logger().log(level, event, **{name: value for name, value in fields.items() if value is not None})
    except Exception:  # noqa: BLE001 - a full disk, a closed pipe, a value that no renderer takes: all of them end here
        _output.dropped += 1


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


configure(Style.JSON)
