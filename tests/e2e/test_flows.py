"""Flow tasks on real workers: functions that hang and die, workers that are killed, messages that lie."""

from uuid import UUID, uuid4

import pytest

from orchestrator.flows.loading import FlowFiles
from orchestrator.ports.store import Recorded
from orchestrator.store.flows import showing
from tests.flows import asking, inquiring, misbehaving, refund
from tests.flows.fleet import FlowFleet, Point
from tests.waiting import until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(420)]

BAD = [f"{misbehaving.__file__}:{name}" for name in misbehaving.NAMES]
REFERENCES = ",".join(
    [
        f"{refund.__file__}:FLOW",
        f"{inquiring.__file__}:FLOW",
        *BAD,
        *(f"{asking.__file__}:{name}" for name in asking.NAMES),
    ]
)


# What is wrong with each for good, and the reason that is stored.
WRONG = {
    "mumbles": "s: schema: Invalid JSON",
    "misfits": "s: schema: amount: Field required",
    "reaches": "s: authority: it needs 'vault:open'; the task was given nothing",
    "lies": "s: it did not return what it declared: Input should be a valid integer",
    "throws": "s: RuntimeError: the shelf fell down",
}


@pytest.fixture
def fleet(tmp_path, database_url, redis_url):
    """Two workers, two that tick, and an outside."""
    fleet = FlowFleet(tmp_path, database_url, redis_url, reference=REFERENCES)
    try:
        fleet.start()
        yield fleet
    finally:
        fleet.stop()


@pytest.mark.proves("DE-06", "DE-08", "DE-17", "DE-18")
def test_a_worker_killed_round_the_act_pays_once(fleet):
    """Killed before the act and after it, and its answer lost: one payment each, by the outside's own log."""
    wrong = {
        str(point): found
        for point in (
            Point("steps.perform", 4, "before"),
            Point("steps.perform", 4, "after"),
            Point("flows.committed", 1, "lost"),
        )
        if (found := fleet.suffer(point))
    }
    assert wrong == {}
    assert fleet.killed == 2


@pytest.mark.proves("DE-07", "DE-08", "DE-11")
def test_functions_that_misbehave_leave_a_stored_reason_and_their_worker_alive(fleet):
    """It hangs, dies, raises, lies, proposes no JSON, a misfit, too much, 50 MB, or pays and is not heard of again."""
    names = FlowFiles(tuple(BAD)).names()
    tasks = {name: fleet.task(str(uuid4()), name=name) for name in names}
    stories = {name.removeprefix("bad."): fleet.wait(task, 180) for name, task in tasks.items()}
    said = {name: (story.line.status.value, story.line.reason or "") for name, story in stories.items()}
    assert said["hangs"] == ("running", "s: 1 attempts failed; the last: it ran longer than 1 s")
    assert said["dies"][0] == "running"
    assert "2 attempts failed; the last: its process ended with signal 9" in said["dies"][1]
    assert said["babbles"] == ("succeeded", "")
    assert stories["babbles"].steps[0].output == 1
    assert said["rants"][0] == "failed"
    assert "schema: ValueError: 50000012 characters" in said["rants"][1]
    for name, reason in WRONG.items():
        assert (said[name][0], said[name][1].startswith(reason)) == ("failed", True), said[name]
        assert [(row.step, row.attempt) for row in stories[name].failures] == [("s", 1)]
        assert stories[name].steps == []
    for name in ("pays_and_hangs", "pays_and_dies"):
        assert said[name][0] == "unknown"
        assert stories[name].line.waits_for.startswith("a person: ")
    assert fleet.killed == 0
    assert sum("paid" in line for line in fleet.outside.read_text().splitlines()) == 2


@pytest.mark.proves("DE-07", "DE-11", "RT-12")
def test_agents_of_decisions_are_real_programs_and_only_propose(fleet):
    """One leaves a file, one speaks, one is not there, one is of no kind, one hangs, one leaves 50 MB."""
    flows = FlowFiles(tuple(f"{asking.__file__}:{name}" for name in asking.NAMES))
    tasks = {name: fleet.task(str(uuid4()), name=name, order="A7") for name in flows.names()}
    stories = {name.removeprefix("ask."): fleet.wait(task, 120) for name, task in tasks.items()}
    for name in ("writes", "says"):
        story = stories[name]
        assert (story.line.status.value, story.steps[1].output) == ("succeeded", {"amount": 30})
        assert fleet.wrong(story) == []
    assert "there is no agent kind 'nobody'" in stories["unknown"].line.waits_for
    assert "1 attempts failed; the last: exited with 127, agent_not_found" in stories["absent"].line.waits_for
    assert "1 attempts failed; the last: ran longer than 5 s" in stories["hangs"].line.waits_for
    assert stories["rants"].line.status.value == "failed"
    assert "schema: ValueError: 524289 characters" in (stories["rants"].line.reason or "")
    assert fleet.killed == 0
    assert sum("paid" in line for line in fleet.outside.read_text().splitlines()) == 2


@pytest.mark.proves("DE-02", "DE-06")
def test_a_question_waits_without_a_worker_and_its_answer_goes_on(fleet):
    """No turn is open while the task waits, every worker may die meanwhile, and the parcel goes where they said."""
    task = fleet.task("p1", name="northstar.parcel", parcel="P1")
    asked = "support: address: Where does P1 go?"
    until(lambda: showing.story(fleet.store.slow, task).line.waits_for == asked, timeout_seconds=60, what="it asks")
    assert fleet.store.slow.rows("select 1 from turn where status in ('queued', 'running')") == []
    for process in fleet.processes.values():
        process.kill()
        process.wait()
    fleet.revive()
    assert fleet.store.flows.answer(UUID(task), "address", said=Recorded({"city": "Lisbon"}), by="ann")
    fleet.store.reconciler.request("flow:northstar.parcel", listing=False)
    story = fleet.wait(task, 90)
    assert (story.line.status.value, [row.name for row in story.steps]) == ("succeeded", ["address", "send"])
    assert fleet.outside.read_text().count('"city": "Lisbon"') == 1
    assert fleet.outside.read_text().count('"asks"') == 1


@pytest.mark.proves("CL-07", "DE-09")
def test_messages_that_are_wrong_or_doubled_do_nothing(fleet):
    """A turn that does not exist, an older fence, ids that are none, one message a hundred times: nothing twice."""
    task = fleet.task("one", order="A7")
    story = fleet.wait(task)
    turn_id = str(fleet.store.slow.rows("select id from turn")[0].id)
    odd = [(str(uuid4()), 1), ("no id at all", 1), (turn_id, "no fence"), (turn_id, 0), (turn_id, 99), (None, None)]
    before = fleet.taken()
    fleet.messages([*odd, *[(turn_id, 1)] * 100])
    until(lambda: fleet.taken() >= before + len(odd) + 100, timeout_seconds=60, what="workers have dropped them all")
    assert not any("raised unexpected" in fleet.log(name) for name in fleet.processes)
    assert fleet.wait(fleet.task("two", order="A8")).line.status.value == "succeeded"  # the queue has gone by
    assert fleet.wrong(story) == []
    assert len(fleet.store.slow.rows("select 1 from turn")) == 2
