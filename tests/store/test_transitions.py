"""The status tables and the schema say the same, because the triggers are made from the tables."""

from itertools import product

import psycopg
import pytest

from docs import generate
from orchestrator.domain import effect, task
from orchestrator.domain.task import EDGES, TaskStatus
from orchestrator.store import transitions

MOVES = [pytest.param(*pair, id=f"{pair[0].value} to {pair[1].value}") for pair in product(TaskStatus, repeat=2)]
SET = "update task set status = %s, stop_reason = 'done', ended_at = now()"


def moves(scene, current, following):
    """Whether the schema lets a task go from one status to the other."""
    with scene.client() as client:
        client.execute("alter table task disable trigger a_task_moves_as_its_table_says")
        client.execute(SET, [current.value])
        client.execute("alter table task enable trigger a_task_moves_as_its_table_says")
        return lets(client, following)


def lets(client, following):
    """Whether the client's transaction, which is left open, may set that status now."""
    client.execute("select 1")
    try:
        with client.transaction():
            client.execute(SET, [following.value])
    except psycopg.errors.CheckViolation as refused:
        return refused.diag.constraint_name != "a_task_moves_as_its_table_says"
    return True


@pytest.mark.proves("DE-03", "DE-04")
@pytest.mark.parametrize(("current", "following"), MOVES)
def test_the_schema_refuses_what_the_table_refuses(scene, current, following):
    """Each of the 81 pairs; a status that stays is no move."""
    scene.open()
    allowed = current is following or following in task.TRANSITIONS[current]
    assert moves(scene, current, following) == allowed


@pytest.mark.proves("DE-03")
def test_the_schema_in_force_is_the_one_of_the_tables(scene):
    """A table that was changed without a migration that installs it anew is found here."""
    bodies = scene.all("select prosrc from pg_proc where proname ~ '^stationkeeper_(task|effect)_moves$'")
    wanted = transitions.guards()
    assert len(bodies) == 2
    assert all(body in wanted for (body,) in bodies)


@pytest.mark.proves("DE-03", "DE-04")
def test_an_edge_less_is_one_move_less_in_the_schema_and_on_the_page(scene):
    """Both are printed from the one table: remove an edge, and see both change."""
    fewer = task.table(edge for edge in EDGES if (edge.source, edge.target) != (TaskStatus.RUNNING, TaskStatus.UNKNOWN))
    page, less = (
        generate.task_machine(EDGES),
        generate.task_machine(tuple(edge for edge in EDGES if edge.target is not TaskStatus.UNKNOWN)),
    )
    assert "running --> unknown" in page
    assert "running --> unknown" not in less
    assert "| running | unknown |" in page.replace("`", "")
    assert "| running | unknown |" not in less.replace("`", "")
    scene.run()
    with scene.client() as client:
        assert lets(client, TaskStatus.UNKNOWN)
    with scene.client() as client:
        client.execute(transitions.guard("task", fewer))
        assert not lets(client, TaskStatus.UNKNOWN)
        assert lets(client, TaskStatus.SUCCEEDED)


@pytest.mark.proves("DE-04")
@pytest.mark.parametrize("edge", EDGES, ids=lambda edge: f"{edge.source.value} to {edge.target.value}")
def test_every_edge_says_who_when_what_and_what_then(edge):
    """Actor, precondition, writes, event, timeout and recovery; none is left empty."""
    assert all((edge.actor, edge.precondition, edge.writes, edge.event, edge.timeout, edge.recovery))


def test_no_settled_effect_is_opened_again():
    """Committed and refused are final."""
    assert {status for status, following in effect.TRANSITIONS.items() if not following} == {
        effect.EffectStatus.COMMITTED,
        effect.EffectStatus.REFUSED,
    }
