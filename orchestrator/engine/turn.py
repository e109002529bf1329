"""One turn: admission, the agent's work, the conclusion. Each durable write is one call of the store.

A turn decides nothing that it can lose: when a checkpoint or the conclusion is refused, the turn is not ours any more,
and everything after that is somebody else's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from orchestrator import telemetry
from orchestrator.domain import flow, keys, turn
from orchestrator.domain.item import Item
from orchestrator.domain.sighting import Sighting
from orchestrator.domain.step import is_flow
from orchestrator.domain.turn import Conclusion, Ending, Outcome, StopReason
from orchestrator.domain.workflow import Workflow
from orchestrator.engine import desk, looking, patience, refused, renamed, report, work
from orchestrator.engine.flows import turn as flows
from orchestrator.engine.worker import Worker
from orchestrator.ports import Ports
from orchestrator.ports.leases import LeasesUnavailable
from orchestrator.ports.queue import PublishFailed
from orchestrator.ports.store import Admitted, StepRecord
from orchestrator.ports.tracker import TrackerError


@dataclass(frozen=True, slots=True)
class Stage:
    """A turn under way, for every step of it; `sent_at` is the boot clock's reading when its admission was sent."""

    ports: Ports
    worker: Worker
    admitted: Admitted
    workflow: Workflow
    sent_at: float

    def now(self) -> datetime:
        """The database's time, reckoned from the admission: due times must not depend on this host's wall clock."""
        return self.admitted.admitted_at + timedelta(seconds=self.ports.clock.boot_seconds() - self.sent_at)


def take_turn(ports: Ports, worker: Worker, *, turn_id: UUID, fence: int) -> Conclusion | flow.Ending | None:
    """Run a queued turn if a slot is free and it is admitted; None otherwise, or when it was lost on the way.

    A message that finds no slot is simply dropped: the row stays queued and the tick enqueues it again.
    """
    with worker.turns.slot() as free:
        if not free:
            return None
        worker.starting.notice()
        sent_at = ports.clock.boot_seconds()
        admitted = ports.store.turns.admit(turn_id, fence, worker.owner(), lease_seconds=worker.lease_seconds)
        if admitted is None:
            telemetry.turn_refused(turn_id, fence=fence)
            return None
        return _run_admitted(ports, worker, admitted=admitted, sent_at=sent_at)


def _run_admitted(
    ports: Ports, worker: Worker, *, admitted: Admitted, sent_at: float
) -> Conclusion | flow.Ending | None:
    telemetry.turn_started(
        admitted.identifier,
        turn_id=admitted.ref.turn_id,
        fence=admitted.ref.fence,
        attempt=admitted.counters.attempt,
    )
    lease = None if is_flow(admitted.workflow.name) else keys.lease_key(admitted.workflow.scope, admitted.item_id)
    supervisor = ports.supervisor()
    supervisor.adopt(admitted.ref, lease_key=lease, sent_at=sent_at)
    try:
        if is_flow(admitted.workflow.name):
            return flows.run(ports, worker, admitted=admitted, sent_at=sent_at)
        workflow = ports.workflows.parse(admitted.workflow.body, path=admitted.workflow.source())
        return _run(Stage(ports, worker, admitted, workflow, sent_at))
    finally:
        supervisor.release(admitted.ref.turn_id)
        _let_go(ports, lease, admitted)


def _run(stage: Stage) -> Conclusion | None:
    with stage.worker.starting.entered():
        stage, begun = _begin(stage)
    ending = work.run(begun) if isinstance(begun, work.Ready) else begun
    return _conclude(stage, ending) if ending is not None else None


def _begin(stage: Stage) -> tuple[Stage, work.Ready | Ending | None]:
    """From the admission to where the agent can start; or how the turn ended before, None when it was lost."""
    item, ending = _wanted(stage)
    if ending is not None or item is None:
        return stage, ending
    stage = _begun_in(stage, item)
    if not _start(stage, item):
        return stage, refused.why(stage.ports, stage.admitted, lease_seconds=stage.worker.lease_seconds)
    return stage, work.prepare(desk.Desk(stage.ports, stage.admitted, stage.workflow, item, stage.worker))


def _wanted(stage: Stage) -> tuple[Item | None, Ending | None]:
    """The card, re-read by id; it may have been closed while the turn waited for its slot."""
    try:
        item = looking.at_start(lambda: _reread(stage), stage.admitted.sighting)
    except TrackerError as error:
        return None, Ending(Outcome.FAILED, StopReason.READ_FAILED, reason=str(error))
    if item is None:
        return None, Ending(Outcome.FAILED, StopReason.READ_FAILED, reason="the card is not on the board")
    if stage.workflow.contract.is_terminal(item.state):
        return item, Ending(Outcome.FAILED, StopReason.TERMINAL_SEEN)
    if not stage.workflow.contract.is_active(item.state):
        return item, _elsewhere(stage, item)
    return item, None


def _elsewhere(stage: Stage, item: Item) -> Ending:
    """A person took the card away; or renamed its column, which is for the next tick to say."""
    try:
        doubt = renamed.doubt(stage.ports.tracker(stage.workflow), item.state, stage.workflow.contract)
    except TrackerError as error:
        doubt = str(error)
    if doubt is not None:
        return Ending(Outcome.FAILED, StopReason.READ_FAILED, reason=doubt)
    return Ending(Outcome.FAILED, StopReason.MOVED_AWAY)


def _begun_in(stage: Stage, item: Item) -> Stage:
    """The run starts from where the card stands now: what a person did to it in the queue is no move during the run."""
    return replace(stage, admitted=replace(stage.admitted, sighting=Sighting.of(item)))


def _start(stage: Stage, item: Item) -> bool:
    """The first checkpoint: the turn has started, and the card is to say so."""
    writes = report.started(stage.ports.store.installation, stage.admitted, workflow=stage.workflow, item=item)
    step = StepRecord(1, "started", {"state": item.state, "attempt": stage.admitted.counters.attempt})
    kept = patience.persist(
        lambda: stage.ports.store.turns.checkpoint(
            stage.admitted.ref, step, writes=writes, lease_seconds=stage.worker.lease_seconds
        )
    )
    if kept and writes:
        _hint_relay(stage.ports)
    return kept


def _conclude(stage: Stage, ending: Ending) -> Conclusion | None:
    """Re-read the card, decide what the end means, and write it all in one transaction."""
    item = _trusted(stage, _reread_or_none(stage))
    conclusion = turn.conclude(
        ending,
        item,
        stage.workflow.contract,
        counters=replace(stage.admitted.counters, has_waited=stage.admitted.retry_kind == StopReason.QUOTA.value),
        limits=stage.workflow.turn_limits,
        now=stage.now(),
    )
    seen = looking.last(stage.admitted.sighting, item, stage.workflow.contract)
    writes = report.ended(
        stage.ports.store.installation,
        stage.admitted,
        workflow=stage.workflow,
        conclusion=conclusion,
        ending=ending,
    )
    ours = patience.persist(
        lambda: stage.ports.store.turns.conclude(
            stage.admitted.ref, conclusion, summary=ending.summary or ending.reason, writes=report.after(writes, seen)
        )
    )
    if not ours:
        telemetry.write_refused(stage.admitted.ref.turn_id, fence=stage.admitted.ref.fence, what="conclusion")
        return None
    telemetry.turn_ended(
        stage.admitted.identifier,
        turn_id=stage.admitted.ref.turn_id,
        fence=stage.admitted.ref.fence,
        stop=ending.stop,
        session=ending.session,
    )
    if writes:
        _hint_relay(stage.ports)
    return conclusion


def _trusted(stage: Stage, item: Item | None) -> Item | None:
    """The card, unless the contract is broken: a renamed column is nobody's move, only a terminal state is a word."""
    if item is None or stage.workflow.contract.is_terminal(item.state):
        return item
    if not stage.workflow.contract.is_active(item.state) and _elsewhere(stage, item).stop is not StopReason.MOVED_AWAY:
        return None
    row = patience.persist(lambda: stage.ports.store.workflows.current(stage.admitted.workflow.name))
    return None if row is not None and row.problem is not None else item


def _reread(stage: Stage) -> Item | None:
    return stage.ports.tracker(stage.workflow).get_items([stage.admitted.item_id]).get(stage.admitted.item_id)


def _reread_or_none(stage: Stage) -> Item | None:
    try:
        return looking.at_end(lambda: _reread(stage), stage.admitted.sighting, stage.workflow.contract)
    except TrackerError as error:
        telemetry.service_failed("tracker", error=error)
        return None


def _let_go(ports: Ports, lease: str | None, admitted: Admitted) -> None:
    """Hints only: a lease that stays runs out by itself, and a tick that is not rung comes by itself."""
    try:
        if lease is not None:
            ports.leases.release(lease, admitted.ref.turn_id, admitted.ref.fence)
        ports.queue.ring(admitted.workflow.name)
    except (LeasesUnavailable, PublishFailed) as error:
        telemetry.service_failed("redis", error=error)


def _hint_relay(ports: Ports) -> None:
    try:
        ports.queue.relay()
    except PublishFailed as error:
        telemetry.service_failed("redis", error=error)
