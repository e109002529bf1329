"""The workers' room. Decisions need turn, fence, the token of the admission and `running`; facts need nothing."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from uuid import UUID

from orchestrator.domain.turn import Conclusion, StopReason, TurnStatus
from orchestrator.domain.writeback import Write
from orchestrator.ports.store import Admitted, Owner, Renewal, StepRecord, TurnRef
from orchestrator.store import admitting, checkpointing, concluding, losing, renewing
from orchestrator.store.admitting import Candidate
from orchestrator.store.combining import Combiner
from orchestrator.store.concluding import Parting
from orchestrator.store.database import Database, Row, Session
from orchestrator.store.plans import RUNNING

# Workflow, item, turn: the order of locks.
_LOCK_WORKFLOW = """
    select workflow.name from turn join workflow on workflow.name = turn.workflow
    where turn.id = :turn_id
    for no key update of workflow
"""
_LOCK_OURS = f"""
    select turn.id, turn.task_id, turn.item_key, turn.workflow, turn.fence, turn.cancel,
        turn.status in ('queued', 'running') as is_open
    from turn join item on item.key = turn.item_key
    where turn.id = :turn_id
        and turn.fence = :fence and turn.token = :token -- rule: fence
        and {RUNNING} and turn.death is null -- rule: fence
    for no key update of item for no key update of turn
"""
# Our own conclusion, when its answer was lost: nobody else ends a running turn in another way than as lost.
_CONCLUDED_BEFORE = """
    select 1 from turn
    where id = :turn_id and fence = :fence and token = :token and status in ('succeeded', 'failed', 'cancelled')
"""
# Only forwards: of two numbers the larger one is what was spent.
_RECORD_USAGE = """
    update turn set usage = (
        select coalesce(jsonb_object_agg(key, case
            when jsonb_typeof(before.value) = 'number' and jsonb_typeof(told.value) = 'number'
            then to_jsonb(greatest(before.value::numeric, told.value::numeric))
            else coalesce(told.value, before.value) end), '{}')
        from jsonb_each(coalesce(turn.usage, '{}')) before full join jsonb_each(cast(:usage as jsonb)) told using (key))
    where id = :turn_id
"""
# The item goes on with the session of its newest turn, whatever a late one says. Its row is locked before the turn's.
_RECORD_SESSION = """
    with newest as (
        update item set session = :session
        from turn where turn.id = :turn_id and item.key = turn.item_key and item.fence = turn.fence
        returning item.key
    )
    update turn set session = :session
    where id = :turn_id and (select count(*) from newest) >= 0
"""
_RECORD_STEP = """
    insert into step (turn_id, ordinal, name, output) values (:turn_id, :ordinal, :name, cast(:output as jsonb))
    on conflict do nothing
"""
_FIRST_STEP = """
    select step.output
    from turn ours
    join turn of_task on of_task.item_key = ours.item_key and of_task.task_id = ours.task_id
    join step on step.turn_id = of_task.id and step.name = :name
    where ours.id = :turn_id order by of_task.fence limit 1
"""


class Turns:
    """The room of the turns."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._admissions: Combiner[Candidate, Admitted | None] = Combiner(
            functools.partial(admitting.admit, database),
            functools.partial(admitting.admit_together, database),
            key=lambda wanted: wanted.turn_id,
        )

    def admit(self, turn_id: UUID, fence: int, owner: Owner, *, lease_seconds: float) -> Admitted | None:
        """Start a queued turn in one statement; None when it is not queued with this fence, cancelled or held."""
        return self._admissions.ask(Candidate(turn_id, fence, owner, lease_seconds))

    def checkpoint(self, ref: TurnRef, step: StepRecord, *, writes: Sequence[Write] = (), lease_seconds: float) -> bool:
        """Record a step, its outbox rows and a longer lease in one statement; False: not ours, or to stop."""
        return checkpointing.checkpoint(self._database, ref, step, put=writes, lease_seconds=lease_seconds)

    def record_usage(self, ref: TurnRef, usage: Mapping[str, object]) -> None:
        """Record what the agent spent: a fact, taken from whoever brings it, moving no status."""
        self._database.change(_RECORD_USAGE, turn_id=ref.turn_id, usage=json.dumps(dict(usage), default=str))

    def record_session(self, ref: TurnRef, session: str) -> None:
        """Record the agent's session, by which its next turn goes on: a fact."""
        self._database.change(_RECORD_SESSION, turn_id=ref.turn_id, session=session)

    def record_step(self, ref: TurnRef, step: StepRecord) -> None:
        """Record what happened beside the steps: a fact."""
        output = json.dumps(dict(step.output), default=str)
        values = {"turn_id": ref.turn_id, "ordinal": step.ordinal, "name": step.name, "output": output}
        self._database.change(_RECORD_STEP, **values)

    def first_step(self, ref: TurnRef, name: str) -> Mapping[str, object] | None:
        """What the step of that name recorded in the first turn of this turn's task that has one."""
        row = self._database.row(_FIRST_STEP, turn_id=ref.turn_id, name=name)
        return row.output if row is not None else None

    def conclude(self, ref: TurnRef, conclusion: Conclusion, *, summary: str, writes: Sequence[Write]) -> bool:
        """End the turn in one transaction; False: not ours any more, and nothing was written."""
        with self._database.transaction() as session:
            turn = _lock(session, ref)
            if turn is None:
                return _concluded_before(session, ref)
            ended = concluding.Ended(turn.id, turn.task_id, turn.item_key, turn.workflow, turn.fence, turn.is_open)
            parting = Parting(summary, tuple(writes))
            if turn.cancel is not None:
                conclusion = concluding.cancelled(StopReason(turn.cancel), turn=TurnStatus.CANCELLED)
                parting = parting.without_moves()
            concluding.apply(session, ended, conclusion, parting=parting)
        return True

    def renew(self, refs: Sequence[TurnRef], *, lease_seconds: float) -> Mapping[UUID, Renewal]:
        """Extend the leases of a worker's turns in one statement; a turn missing from the answer was locked."""
        return renewing.renew(self._database, refs, lease_seconds=lease_seconds)

    def lost_among(self, refs: Sequence[TurnRef]) -> frozenset[UUID]:
        """Which of these turns are not ours any more; extends nothing."""
        return renewing.lost_among(self._database, refs)

    def lose(self, refs: Sequence[TurnRef], death: str) -> int:
        """End the leases of turns that died by their supervisor's word, for the tick to conclude; returns how many."""
        return losing.declare_dead(self._database, refs, death)

    def orphans(self, host: str, boot_id: str) -> Mapping[UUID, tuple[TurnRef, int]]:
        """The running turns of this host with the pid of the worker that admitted each."""
        return losing.orphans(self._database, host, boot_id)


def _lock(session: Session, ref: TurnRef) -> Row | None:
    """The turn, with workflow and item locked before it; None when it is not ours."""
    session.row(_LOCK_WORKFLOW, turn_id=ref.turn_id)
    return session.row(_LOCK_OURS, turn_id=ref.turn_id, fence=ref.fence, token=ref.token)


def _concluded_before(session: Session, ref: TurnRef) -> bool:
    return session.row(_CONCLUDED_BEFORE, turn_id=ref.turn_id, fence=ref.fence, token=ref.token) is not None
