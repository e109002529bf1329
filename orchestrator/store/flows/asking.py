"""A question to a person: put under the turn's fence, answered under the locks of its task.

An answer is a decision, and a person's: it is taken while the task waits for it, and neither after the question's
expiry nor after a cancel or the deadline. What is answered is the step's output from then on; the next tick opens the
turn that goes on with it.
"""

from __future__ import annotations

import json
from uuid import UUID

from orchestrator.ports.store import Asked, Asking, Recorded, TurnRef
from orchestrator.store.database import Database, Row
from orchestrator.store.flows.recording import MAY_GO_ON, named
from orchestrator.store.flows.starting import lock, tell

# A question that stands is not put again: whoever comes to it anew finds its words and its time.
_ASK = f"""
    with mine as (
        select turn.id, turn.task_id from turn
        where {MAY_GO_ON}
        for no key update
    )
    insert into question (task_id, step, ordinal, turn_id, words, owner, expires_at)
    select mine.task_id, :step, :ordinal, mine.id, :words, :owner,
        stationkeeper_clock() + make_interval(secs => cast(:expires_seconds as float8))
    from mine
    on conflict (task_id, step) do update set turn_id = excluded.turn_id
    returning words, expires_at, answered_at is not null as is_answered
"""
_ASKED = """
    select words, expires_at, answered_at is not null as is_answered from question
    where task_id = :task_id and step = :step
"""
# Called under the locks of workflow, item and task: what it reads is the last word, and so is the clock.
_ANSWER = """
    with answered as (
        update question set answered_at = stationkeeper_clock(), answered_by = :by
        from task
        where question.task_id = :task_id and question.step = :step and question.answered_at is null
            and (question.expires_at is null or question.expires_at > stationkeeper_clock())
            and task.id = question.task_id and task.status = 'waiting_input' and task.cancel is null
            and (task.deadline_at is null or task.deadline_at > stationkeeper_clock())
        returning question.task_id, question.turn_id, question.ordinal
    ), recorded as (
        insert into step (turn_id, task_id, ordinal, name, output, ends)
        select turn_id, task_id, ordinal, :step, cast(:output as jsonb), :ends from answered
    )
    update task set due_at = stationkeeper_clock() from answered where task.id = answered.task_id
    returning task.id
"""


def ask(hot: Database, ref: TurnRef, asking: Asking) -> Asked | None:
    """Put the question, or find the one that stands; None: the turn is not ours any more, or is to stop."""
    row = hot.row(
        _ASK,
        **named(ref),
        step=asking.step,
        ordinal=asking.ordinal,
        words=asking.words,
        owner=asking.owner,
        expires_seconds=asking.expires_seconds,
    )
    return _asked(row) if row is not None else None


def asked(hot: Database, task_id: UUID, step: str) -> Asked | None:
    """The question of a step as it stands."""
    row = hot.row(_ASKED, task_id=task_id, step=step)
    return _asked(row) if row is not None else None


def answer(database: Database, task_id: UUID, step: str, *, said: Recorded, by: str) -> bool:
    """Record the answer and wake the task; False: nobody waits for it (any more)."""
    with database.transaction() as session:
        task = lock(session, task_id)
        told = {"task_id": task_id, "step": step, "output": json.dumps(said.output), "ends": said.ends, "by": by}
        if task is None or session.row(_ANSWER, **told) is None:
            return False
        tell(session, task, kind="input_given", detail={"task": str(task_id), "step": step, "by": by})
    return True


def _asked(row: Row) -> Asked:
    return Asked(row.words, row.expires_at, row.is_answered)
