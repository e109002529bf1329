"""What the hot statements touch: pages of the database, with a thousand and with a million finished tasks beside."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import psycopg
from psycopg.rows import TupleRow

from bench.ground import Ground, address
from bench.measure import Line
from orchestrator.domain import flow
from orchestrator.ports.store import NewTask, Owner, TurnRef, WorkflowRow
from orchestrator.store import rules
from orchestrator.store.flows import concluding, ledger, recording
from orchestrator.store.open import PostgresStore, open_store

# A statement that reads a page more of an index that is one level deeper is the same statement.
_MORE_LEVELS = 12
_ROW = "flow:bench.pages"
_FINISH = """
    with items as (
        insert into item (scope, item_id, identifier, workflow, state, listed)
        select %(row)s, 'f' || n, 'f' || n, %(row)s, '', false from generate_series(%(first)s::bigint, %(last)s) n
        returning key
    ), tasks as (
        insert into task (id, item_key, workflow, workflow_version, status, stop_reason, ended_at, input)
        select gen_random_uuid(), key, %(row)s, 1, 'succeeded', 'done', now(), '{}' from items returning id, item_key
    ), turns as (
        insert into turn (id, task_id, item_key, workflow, workflow_version, ordinal, fence, status, state,
            state_folded, stop_reason, ended_at, lease_until, token, host, pid)
        select gen_random_uuid(), id, item_key, %(row)s, 1, 1, 1, 'succeeded', '', '', 'done', now(), now(),
            gen_random_uuid(), 'h', 1
        from tasks returning id, task_id
    ), effects as (
        insert into effect (key, task_id, node, turn_id, fence, status, parameters, outcome, act_until, safe_until,
            settled_at)
        select 'k' || task_id, task_id, 'pay', id, 1, 'committed', '{}', '{}', now(), now(), now() from turns
    )
    insert into step (turn_id, ordinal, name, output, task_id)
    select id, n, 's' || n, '{"x": 1}', task_id from turns, generate_series(1, 3) n
"""
_BATCH = 50_000


def run(finished: tuple[int, int], ground: Ground) -> list[Line]:
    """Pages that each statement touches at both sizes; a line each, and the bytes of a step."""
    url = ground.database_url()
    store = open_store(url)
    store.workflows.publish(WorkflowRow(_ROW, 0, "d", "{}", "bench", _ROW), interval_ms=60_000)
    found = []
    with psycopg.connect(address(url), autocommit=True) as connection:
        there = 0
        for count in finished:
            _finish(connection, there, count)
            there = count
            connection.execute("vacuum analyze")
            found.append(_touched(connection, store))
        size = connection.execute("select pg_total_relation_size('step') / greatest(count(*), 1) from step").fetchone()
    store.close()
    fewer, more = found
    lines = [
        Line(
            f"pages of {name}, {finished[1]:,} finished tasks",
            str(more[name]),
            beside=f"{fewer[name]} with {finished[0]:,}",
            bound=f"+ {_MORE_LEVELS} at most",
            is_held=more[name] <= fewer[name] + _MORE_LEVELS,
        )
        for name in fewer
    ]
    return [*lines, Line("bytes of a step, indexes included", str(size[0]) if size else "")]


def _finish(connection: psycopg.Connection[TupleRow], there: int, wanted: int) -> None:
    for first in range(there + 1, wanted + 1, _BATCH):
        connection.execute(_FINISH, {"row": _ROW, "first": first, "last": min(first + _BATCH - 1, wanted)})


def _touched(connection: psycopg.Connection[TupleRow], store: PostgresStore) -> dict[str, int]:
    """One task's statements, explained while they are carried out."""
    store.flows.start(NewTask(_ROW, 1, "", {}))
    row = connection.execute("select id from task where status = 'accepted'").fetchone()
    assert row is not None
    connection.execute(
        "insert into turn (id, task_id, item_key, workflow, workflow_version, ordinal, fence, state, state_folded)"
        " select gen_random_uuid(), id, item_key, workflow, 1, 1, 1, '', '' from task where id = %s",
        row,
    )
    connection.execute("update workflow set open_turns = 1 where name = %s", [_ROW])
    turn = connection.execute("select id from turn where task_id = %s", row).fetchone()
    assert turn is not None
    admitted = store.turns.admit(turn[0], 1, Owner("h", "b", 1, uuid4(), uuid4()), lease_seconds=30)
    assert admitted is not None
    return {name: _explained(connection, sql, values) for name, (sql, values) in _statements(admitted.ref).items()}


def _statements(ref: TurnRef) -> dict[str, tuple[str, dict[str, Any]]]:
    ours = {**recording.named(ref), "lease_seconds": 30.0}
    step = {"ordinal": 1, "name": "s", "output": "1", "ends": None}
    seconds = {"act_seconds": 5, "safe_seconds": 60, "margin": 2}
    effect = {"key": str(uuid4()), "node": "pay", "parameters": "{}", "undone_by": None, **seconds}
    ended = concluding.Concluded(ref.turn_id, flow.succeeded(), ref.fence, ref.token)
    return {
        "load": (recording._LOAD, recording._columns([ref])),  # noqa: SLF001 -- the very statement
        "checkpoint": (recording._FACT, {**ours, **step}),  # noqa: SLF001
        "intend": (ledger._INTEND, {**ours, **effect}),  # noqa: SLF001
        "settle": (
            ledger._COMMIT,  # noqa: SLF001
            {**ours, **effect, **step, "ordinal": 2, "sources": ["intended"]},
        ),
        "conclude": (concluding._CONCLUDE_OURS, concluding._columns([ended])),  # noqa: SLF001
    }


def _explained(connection: psycopg.Connection[TupleRow], sql: str, values: dict[str, Any]) -> int:
    text = "explain (analyze, buffers, format json) " + rules.statement(sql, frozenset())
    row = connection.execute(text, values).fetchone()
    assert row is not None
    plan = row[0] if isinstance(row[0], list) else json.loads(row[0])
    return int(plan[0]["Plan"]["Shared Hit Blocks"]) + int(plan[0]["Plan"]["Shared Read Blocks"])
