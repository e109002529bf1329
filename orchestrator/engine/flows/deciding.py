"""A decision that asks an agent: what is asked, the agent under the supervisor, and the judgement of what it proposed.

The agent comes through the door that turns of cards use, and proposes; it accepts nothing. The prompt and the judgement
are calls of the flow's functions like any other. A decision that was not recorded is asked for again: asking is a read.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from orchestrator.domain import flow
from orchestrator.domain.call import PROPOSAL_FILE, Answer, Part, Said
from orchestrator.domain.flow import Ending
from orchestrator.domain.step import Proposer, StepContract
from orchestrator.domain.turn import Ending as AgentEnding
from orchestrator.domain.turn import Outcome, StopReason
from orchestrator.engine import patience, watching
from orchestrator.engine.flows.shift import Shift
from orchestrator.ports.agent import AgentEvent, AgentMisconfigured, AgentTurn
from orchestrator.ports.supervisor import Refusal, SpawnFailed

# Ends that are ours and no failure of the agent's: the turn is stopped, and the next one asks again.
_STOPPED = frozenset(
    {
        StopReason.DEPLOY,
        StopReason.LOST_WORKER,
        StopReason.CANCELLED,
        StopReason.EXPIRED,
        StopReason.TAKEN_BACK,
    }
)
_QUOTA, _BLOCKED = StopReason.QUOTA.value, StopReason.BLOCKED.value
# Where a person has to put something right before another try makes sense (AE-02).
_FOR_A_PERSON = frozenset({Refusal.AGENT_NOT_FOUND, Refusal.INVALID_WORKSPACE_CWD, Refusal.MISSING_VARIABLE})


@dataclass(frozen=True, slots=True)
class Words:
    """What the agent leaves: a folder where a proposal may lie, and its own summary."""

    folder: Path
    summary: str


def propose(shift: Shift, step: StepContract, proposer: Proposer) -> Answer | Ending:
    """The judged proposal, or what keeps it from being made."""
    asked = shift.perform(step, Part.PROMPT)
    if asked.said is not Said.DONE:
        return asked
    said = _ask(shift, step, proposer, prompt=str(asked.value))
    if not isinstance(said, Words):
        return said
    return shift.perform(step, Part.JUDGE, told={"folder": str(said.folder), "summary": said.summary})


def _ask(shift: Shift, step: StepContract, proposer: Proposer, *, prompt: str) -> Words | Answer | Ending:
    order = _order(shift, step, proposer, prompt=prompt)
    shift.cover(step.timeout_seconds)
    try:
        session = shift.ports.agent(proposer).start(order, shift.ports.supervisor())
    except AgentMisconfigured as fault:
        return _blocked(shift, step, str(fault))
    except SpawnFailed as fault:
        if fault.refusal in _FOR_A_PERSON:
            return _blocked(shift, step, str(fault))
        return Answer(Said.STOPPED if fault.refusal is Refusal.NOT_ADOPTED else Said.TRY_AGAIN, reason=str(fault))
    ending = watching.heard(
        session,
        lambda event: _record(shift, event),
        most_repeats=proposer.agent.max_repeated_calls,
        flagged=lambda: shift.ports.supervisor().cancelled(order.turn_id),
    )
    shift.uncover()
    return _meant(shift, step, ending, folder=order.workspace)


def _meant(shift: Shift, step: StepContract, ending: AgentEnding, *, folder: Path) -> Words | Answer | Ending:
    """What the agent's end means for the step: only one that ended well has proposed something."""
    words = ending.reason or ending.summary or ending.stop.value
    if ending.stop in _STOPPED:
        return Answer(Said.STOPPED, reason=words)
    if ending.outcome is Outcome.BLOCKED:
        return _blocked(shift, step, words)
    if ending.outcome is not Outcome.FAILED:
        return Words(folder, ending.summary)
    if ending.retry_after_seconds is None:
        return Answer(Said.TRY_AGAIN, reason=words)
    not_before = shift.now() + timedelta(seconds=ending.retry_after_seconds)
    return flow.attempted(step, shift.fail(step, _QUOTA, words), shift.now(), reason=words, not_before=not_before)


def _blocked(shift: Shift, step: StepContract, reason: str) -> Ending:
    shift.fail(step, _BLOCKED, reason)
    return flow.blocked(step, reason)


def _order(shift: Shift, step: StepContract, proposer: Proposer, *, prompt: str) -> AgentTurn:
    """A folder of its own for each turn and step: what an earlier try left there is no proposal of this one."""
    scratch = shift.worker.state_dir / "turns" / str(shift.admitted.ref.turn_id) / step.name
    folder = scratch / "folder"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    found = folder / PROPOSAL_FILE
    found.unlink(missing_ok=True)
    stall = proposer.agent.stall_timeout_ms
    return AgentTurn(
        turn_id=shift.admitted.ref.turn_id,
        fence=shift.admitted.ref.fence,
        issue_id=str(shift.task.task_id),
        identifier=shift.admitted.identifier,
        attempt=shift.task.failures.get(step.name, 0) + 1,
        prompt=prompt,
        workspace=folder.resolve(),
        scratch=scratch,
        transcript=scratch / "transcript.log",
        session=None,
        timeout_seconds=step.timeout_seconds,
        stall_seconds=stall / 1000 if stall > 0 else None,
        evidence=found.is_file,
    )


def _record(shift: Shift, event: AgentEvent) -> None:
    """What it used is a fact."""
    if event.type == "usage":
        turns, ref = shift.ports.store.turns, shift.admitted.ref
        patience.persist(lambda: turns.record_usage(ref, event.data))
