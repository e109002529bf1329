"""The schema states the invariants: what no code of ours should do, the database does not let it do."""

import psycopg
import pytest

from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import TurnStatus


def refused(scene, sql, *values):
    """The name of the constraint that refuses a statement."""
    with pytest.raises(psycopg.IntegrityError) as caught:
        scene.change(sql, *values)
    return caught.value.diag.constraint_name


TASK = """
    insert into task (item_key, workflow, workflow_version, status, stop_reason)
    select key, workflow, 1, %s, 'done' from item
"""


@pytest.mark.proves("DE-03")
def test_the_schema_knows_the_nine_statuses_and_no_other(scene):
    """Each of the table's statuses is accepted, and a tenth is not."""
    scene.open()
    scene.change("alter table task disable trigger a_task_moves_as_its_table_says")
    scene.change("update task set status = 'cancelled', stop_reason = 'moved_away'")
    for status in TaskStatus:
        scene.change(TASK, status.value)
        scene.change("update task set status = 'failed'")
    assert refused(scene, TASK, "paused") == "a_task_has_one_of_nine_statuses"
    scene.change("alter table task enable trigger a_task_moves_as_its_table_says")


def test_the_schema_knows_the_six_statuses_of_a_turn(scene):
    """A seventh is refused."""
    scene.run()
    for status in TurnStatus:
        scene.change("update turn set status = %s, stop_reason = 'done', ended_at = now()", status.value)
    assert refused(scene, "update turn set status = 'paused'") == "a_turn_has_one_of_six_statuses"


@pytest.mark.proves("CL-03")
def test_an_item_has_at_most_one_live_task(scene):
    """Over all workflows, and whoever tries."""
    scene.open()
    assert refused(scene, TASK, "accepted") == "at_most_one_live_task_an_item"


@pytest.mark.proves("CL-03")
def test_an_item_has_at_most_one_open_turn(scene):
    """Also when the task has ended."""
    scene.open()
    another = """
        insert into turn (id, task_id, item_key, workflow, workflow_version, ordinal, fence, state, state_folded)
        select gen_random_uuid(), task_id, item_key, workflow, workflow_version, 2, 2, state, state_folded from turn
    """
    assert refused(scene, another) == "at_most_one_open_turn_an_item"


@pytest.mark.parametrize(
    ("sql", "constraint"),
    [
        ("update task set status = 'cancelled'", "an_ended_task_says_why"),
        ("update turn set status = 'lost'", "an_ended_turn_says_why"),
        ("update turn set status = 'running'", "a_running_turn_has_a_lease_and_an_owner"),
        ("update workflow set open_turns = open_turns - 2", "a_cap_slot_is_given_back_once"),
        ("insert into installation default values", "installation_pkey"),
        ("update installation set one = false", "there_is_one_installation"),
        (
            "insert into hold (scope, kind, lift, reason, owner) values ('item', 'operator', 'person', 'x', 'y')",
            "a_hold_stands_on_one_thing",
        ),
        (
            "insert into hold (scope, kind, lift, reason, owner) values ('fleet', 'operator', 'time', 'x', 'y')",
            "a_hold_names_what_lifts_it",
        ),
    ],
)
def test_impossible_rows_are_refused(scene, sql, constraint):
    """By the constraint that is named after the rule."""
    scene.open()
    assert refused(scene, sql) == constraint


@pytest.mark.proves("H23")
def test_a_scan_by_our_clock_uses_an_index(scene):
    """`stationkeeper_now()` is inlined; the volatile clock would read every row."""
    with scene.client() as client:
        client.execute("set local enable_seqscan = off")
        scan = "explain select id from task where workflow = 'demo' and due_at <= stationkeeper_now()"
        plan = " ".join(line for (line,) in client.execute(scan).fetchall())
    assert "Index Cond: ((workflow = 'demo'::text) AND (due_at <=" in plan


_SLOW_TO_DELETE = """
    select distinct refers.conrelid::regclass::text || '.' || refers.conname from pg_constraint refers
    where refers.contype = 'f' and refers.confrelid = any(array['item', 'task', 'turn']::regclass[]) and not exists (
        select from pg_index
        where indrelid = refers.conrelid and indkey[0] = refers.conkey[1] and (
            indpred is null or pg_get_expr(indpred, indrelid) = (
                select '(' || attname || ' IS NOT NULL)' from pg_attribute
                where attrelid = refers.conrelid and attnum = refers.conkey[1])))
"""


@pytest.mark.proves("H35")
def test_a_row_that_pruning_deletes_is_looked_for_by_an_index_wherever_it_is_named(scene):
    """Postgres looks through every table that refers to a deleted row: without an index, from end to end."""
    assert scene.all(_SLOW_TO_DELETE) == []
