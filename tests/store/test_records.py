"""The snapshot: what a tick compares the board with."""

import dataclasses
from uuid import uuid4

import pytest

from orchestrator.domain.hold import Hold, HoldKind, HoldScope, Lift
from orchestrator.domain.turn import StopReason
from orchestrator.ports.store import WorkerRow


def worker(**changed):
    """A worker's beat."""
    return dataclasses.replace(WorkerRow(uuid4(), "host-b", "boot-1", 1, slots=3, busy=0, queues=("turns",)), **changed)


@pytest.mark.proves("H3")
def test_free_slots_are_those_of_live_workers(scene):
    """Slots less running turns, or less what the worker says is busy; one that is silent for ten seconds has none."""
    assert scene.records().free_slots == 10
    helper = worker(busy=1)
    scene.store.workers.beat(helper)
    assert scene.records().free_slots == 12
    scene.store.workers.leave(helper.id)
    assert scene.records().free_slots == 10
    scene.store.set_offset(11)
    assert scene.records().free_slots == 0


def test_queued_turns_of_other_workflows_take_slots(scene):
    """A plan counts its own queued turns itself; it cannot know the others'."""
    other = dataclasses.replace(scene.workflow, name="other", version=0, scope="board-2")
    published = scene.store.workflows.publish(other, interval_ms=30_000)
    scene.open("X-1")
    scene.store.items.open_turns([dataclasses.replace(scene.opening(), workflow=published)])[0]
    assert scene.records().free_slots == 9


def test_a_running_turn_takes_its_workers_slot(scene):
    """It is counted from the turn's row, also before the worker's next beat."""
    admitting = worker(slots=1)
    scene.store.workers.beat(admitting)
    opened = scene.open()
    scene.change("update worker set slots = 0 where id <> %s", admitting.id)
    assert scene.records().free_slots == 1
    scene.admit(opened)
    scene.change("update turn set worker_id = %s", admitting.id)
    assert scene.records().free_slots == 0


def test_holds_problem_and_brake_are_told(scene):
    """What keeps the whole workflow from dispatching, in words."""
    for kind in (HoldKind.OPERATOR, HoldKind.MASS_CANCEL):
        scene.store.items.hold_workflow("demo", Hold(HoldScope.WORKFLOW, kind, Lift.PERSON, "stop"), kind)
    scene.hold(HoldScope.FLEET)
    assert scene.store.workflows.set_problem("demo", "no column Review", version=1)
    assert not scene.store.workflows.set_problem("demo", "no column Review", version=1)
    found = scene.records()
    assert (found.held_workflow, found.held_fleet) == ("operator: stop", "operator: stop")
    assert (found.braked, found.contract_broken) == (True, True)
    scene.store.items.hold_workflow("demo", None, HoldKind.MASS_CANCEL)
    assert not scene.records().braked


def test_a_hold_until_a_time_ends_with_it(scene):
    """Nobody has to lift it."""
    until = scene.later_than_now(60)
    hold = Hold(HoldScope.WORKFLOW, HoldKind.OPERATOR, Lift.TIME, "quota", until=until)
    scene.store.items.hold_workflow("demo", hold, HoldKind.OPERATOR)
    assert scene.records().held_workflow is not None
    scene.store.set_offset(61)
    assert scene.records().held_workflow is None


@pytest.mark.proves("H1", "H12")
def test_records_are_of_one_moment(scene):
    """A conclusion that commits while they are read is in all of them or in none."""
    scene.run()
    with scene.store.slow.snapshot() as snapshot:
        before = snapshot.row("select (select version from item) as version, (select count(*) from task) as tasks")
        scene.store.items.cancel(scene.record(), StopReason.MOVED_AWAY, workflow="demo")
        again = snapshot.row("select (select version from item) as version, (select count(*) from task) as tasks")
    assert before == again
