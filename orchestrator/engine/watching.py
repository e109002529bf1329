"""An agent at work, watched from its first word to its end: a turn that only repeats itself is ended (FS-58)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace

from orchestrator.domain.repetition import Calls
from orchestrator.domain.turn import Ending, Outcome, StopReason
from orchestrator.ports.agent import AgentEvent, AgentSession

_LONGEST_NAME = 100


def heard(
    session: AgentSession,
    record: Callable[[AgentEvent], None],
    *,
    most_repeats: int,
    flagged: Callable[[], StopReason | None],
) -> Ending:
    """Hear the agent out, each event to `record`; how it ended. `most_repeats` 0: it may repeat itself as it likes.

    `flagged` tells whether somebody else asked for the turn's end, whose reason then counts.

    What is counted is of this turn alone: another try, which does the same again, begins at nothing.
    """
    calls, circle = Calls(), ""
    for event in session.events():
        record(event)
        if event.type != "tool" or circle or not most_repeats:
            continue
        calls = calls.heard(_call(event))
        if calls.repeated >= most_repeats:
            circle = f"repeated the same few calls {calls.repeated} times, the last of {_tool(event)}"
            session.cancel()
    ending = session.ending()
    # It may have ended by itself meanwhile, or been stopped for another reason.
    if circle and ending.stop is StopReason.CANCELLED and flagged() is None:
        return replace(ending, outcome=Outcome.FAILED, stop=StopReason.REPEATED, reason=circle)
    return ending


def _call(event: AgentEvent) -> str:
    arguments = json.dumps(event.data.get("arguments"), sort_keys=True, default=str)
    return f"{_tool(event)} {hashlib.sha256(arguments.encode()).hexdigest()}"


def _tool(event: AgentEvent) -> str:
    return str(event.data.get("name") or "a tool without a name")[:_LONGEST_NAME]
