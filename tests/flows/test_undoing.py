"""A task that fails after it has done something takes it back: the last effect first, each once, by the same ledger."""

import pytest

from orchestrator.domain.call import Part
from orchestrator.domain.effect import EffectStatus
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import StopReason
from orchestrator.engine.flows import undoing
from orchestrator.store.flows import showing
from tests.faults import faults
from tests.faults.tripwire import Tripwire
from tests.flows import outcome, trip

REFERENCES = (trip.__file__ + ":FLOW",)
NAME = "northstar.trip"
ALL = frozenset({"bookings:cancel"})
BACK = ["hotel", "flight", "unflight", "unhotel"]

pytestmark = [pytest.mark.timeout(600)]


@pytest.fixture
def world(flow_world, monkeypatch):
    """A world in which the storm is sure to come."""
    monkeypatch.setenv("WEATHER", "storm")
    return flow_world(references=REFERENCES)


def start(world, *, authority=ALL, **more):
    """A trip."""
    return world.start(name=NAME, to="Oslo", authority=authority, **more)


def done(world):
    """What the office was asked for, in its order."""
    return [key.partition(":")[0] for key in world.paid()]


def ended(world):
    """How the task stands, and why."""
    return world.rows("select status, stop_reason from task")[0]


def holds(world):
    """The standing holds: kind, owner and reason."""
    return world.rows("select kind, owner, reason from hold where lifted_at is null")


def finish(world):
    """One tick, and what it opened."""
    world.tick()
    world.deliver()


@pytest.mark.proves("DE-03", "DE-08", "DE-10")
def test_a_failed_task_takes_back_what_it_did_in_reverse_order(world):
    """The step fails for good; the seat goes before the room, and the task keeps the reason for which it failed."""
    start(world)
    finish(world)
    assert ended(world) == ("compensating", "step_failed")
    assert outcome.at_rest(world) == []
    assert done(world) == BACK
    assert ended(world) == ("failed", "step_failed")
    assert world.one("select reason from task").startswith("set_off: RuntimeError: no flight")
    assert world.rows("select distinct status from effect") == [("committed",)]


@pytest.mark.proves("DE-10")
def test_task_show_tells_what_was_undone(world):
    """The ledger has a row for each compensation, and says what it takes back."""
    task = start(world)
    assert outcome.at_rest(world) == []
    told = showing.story(world.store.slow, str(task))
    assert [(row.what, row.undoes, row.status) for row in told.ledger] == [
        ("hotel", None, "committed"),
        ("flight", None, "committed"),
        ("leave_flight", "flight", "committed"),
        ("leave_hotel", "hotel", "committed"),
    ]


@pytest.mark.proves("DE-10")
def test_a_task_that_succeeds_takes_nothing_back(world, monkeypatch):
    """Compensations are for failures."""
    monkeypatch.delenv("WEATHER")
    start(world)
    assert outcome.at_rest(world) == []
    assert (ended(world), done(world)) == (("succeeded", "done"), ["hotel", "flight"])


@pytest.mark.proves("DE-10")
def test_only_what_was_done_is_undone(world, monkeypatch):
    """The office refuses the seat: the room is given back, and no seat is."""
    monkeypatch.setenv("ANSWER_FLIGHT", "refused")
    start(world)
    assert outcome.at_rest(world) == []
    assert done(world) == ["hotel", "unhotel"]


@pytest.mark.proves("DE-08", "DE-10")
def test_an_unknown_compensation_is_looked_up_before_it_is_sent_again(world, monkeypatch):
    """Its answer was lost: the task stays compensating, its ledger row is unknown, and nothing is sent twice."""
    monkeypatch.setenv("ANSWER_UNFLIGHT", "lost")
    start(world)
    finish(world)
    finish(world)
    assert ended(world) == ("compensating", "step_failed")
    assert world.one("select status from effect where node = 'leave_flight'") == "unknown"
    monkeypatch.delenv("ANSWER_UNFLIGHT")
    assert outcome.at_rest(world) == []
    assert (ended(world), done(world)) == (("failed", "step_failed"), BACK)


@pytest.mark.proves("DE-10", "DE-11")
def test_a_compensation_has_its_own_permission(world):
    """The task was not given the authority: the owner of the compensation is asked, and nothing is undone."""
    start(world, authority=frozenset())
    assert outcome.at_rest(world) == []
    assert ended(world) == ("compensating", "step_failed")
    ((kind, owner, reason),) = holds(world)
    assert (kind, owner) == ("dead_letter", "travel desk")
    assert "leave_flight: authority: it needs 'bookings:cancel'" in reason
    assert done(world) == ["hotel", "flight"]


@pytest.mark.proves("DE-10", "DE-11")
def test_a_compensation_has_its_own_failure(world, monkeypatch):
    """The office refuses: a dead letter of its owner. Resumed, that one is passed over, and the others are undone."""
    monkeypatch.setenv("ANSWER_UNFLIGHT", "refused")
    start(world)
    assert outcome.at_rest(world) == []
    ((kind, owner, reason),) = holds(world)
    assert (kind, owner) == ("dead_letter", "travel desk")
    assert "leave_flight: Refused: too late to cancel" in reason
    assert done(world) == ["hotel", "flight"]
    assert world.command(world.one("select item_id from item"), "resume")
    assert outcome.at_rest(world) == []
    assert (ended(world), done(world)) == (("failed", "step_failed"), ["hotel", "flight", "unhotel"])


@pytest.mark.proves("DE-10", "DE-11")
def test_a_person_may_leave_undone_what_cannot_be_undone(world, monkeypatch):
    """Discarded, the task fails; what is committed stays in the ledger."""
    monkeypatch.setenv("ANSWER_UNFLIGHT", "refused")
    start(world)
    assert outcome.at_rest(world) == []
    assert world.command(world.one("select item_id from item"), "discard")
    assert outcome.at_rest(world) == []
    assert (ended(world)[0], done(world)) == ("failed", ["hotel", "flight"])


@pytest.mark.proves("DE-10", "DE-13")
def test_a_cancel_leaves_what_is_committed(world, monkeypatch):
    """A person stops the task between its attempts: what was paid for stays, unless the person says otherwise."""
    monkeypatch.setenv("WEATHER", "fog")
    task = start(world)
    finish(world)
    assert world.store.flows.cancel(task, StopReason.CANCELLED) is TaskStatus.CANCELLED
    assert outcome.at_rest(world) == []
    assert (ended(world), done(world)) == (("cancelled", "cancelled"), ["hotel", "flight"])


@pytest.mark.proves("DE-10", "DE-13")
def test_a_person_may_take_back_what_is_committed(world, monkeypatch):
    """The person says so: the task ends as failed, which is the only way out of undoing, with the person's reason."""
    monkeypatch.setenv("WEATHER", "fog")
    task = start(world)
    finish(world)
    assert world.store.flows.cancel(task, StopReason.TAKEN_BACK) is TaskStatus.RUNNING
    assert outcome.at_rest(world) == []
    assert (ended(world), done(world)) == (("failed", "taken_back"), BACK)


@pytest.mark.proves("DE-10", "DE-13")
@pytest.mark.parametrize("weather", ["storm", "fog", ""])
@pytest.mark.parametrize(
    ("stop", "status", "asked"),
    [(StopReason.CANCELLED, "cancelled", ["hotel", "flight"]), (StopReason.TAKEN_BACK, "failed", BACK)],
)
def test_a_cancel_in_mid_turn_undoes_only_when_a_person_says_so(world, monkeypatch, weather, stop, status, asked):
    """The last step is under way; whatever becomes of it, the turn was told to stop before that was recorded."""
    monkeypatch.setenv("WEATHER", weather)
    task = start(world)

    def cancelled(call):
        assert world.store.flows.cancel(task, stop) is TaskStatus.RUNNING
        return call()

    world.hooks[Part.RUN] = cancelled
    assert outcome.at_rest(world) == []
    assert (ended(world), done(world)) == ((status, stop.value), asked)


@pytest.mark.proves("DE-13")
def test_nothing_to_take_back_is_a_plain_cancel(world):
    """Nothing was begun."""
    task = start(world)
    assert world.store.flows.cancel(task, StopReason.TAKEN_BACK) is TaskStatus.CANCELLED


@pytest.mark.proves("DE-05", "DE-10")
def test_a_deadline_that_passes_takes_back_what_is_done(world, monkeypatch):
    """The task expires between its attempts; undoing it is not refused by the deadline."""
    monkeypatch.setenv("WEATHER", "fog")
    start(world, deadline_seconds=5.0)
    finish(world)
    assert outcome.at_rest(world) == []
    assert (ended(world), done(world)) == (("failed", "expired"), BACK)


@pytest.mark.proves("DE-10", "DE-13")
def test_a_cancel_does_not_stop_the_undoing(world):
    """What is being taken back goes on being taken back."""
    task = start(world)
    finish(world)
    assert world.store.flows.cancel(task, StopReason.CANCELLED) is TaskStatus.COMPENSATING
    assert outcome.at_rest(world) == []
    assert (ended(world), done(world)) == (("failed", "step_failed"), BACK)


@pytest.mark.proves("DE-08", "DE-11")
def test_a_discarded_task_settles_what_is_open_and_takes_back_what_is_done(world, monkeypatch):
    """A dead letter with bookings is discarded: it fails, and what it did is taken back first."""
    monkeypatch.setenv("WEATHER", "fog")
    start(world)
    assert outcome.at_rest(world) == []
    assert holds(world)[0][0] == "dead_letter"
    assert world.command(world.one("select item_id from item"), "discard")
    assert outcome.at_rest(world) == []
    assert (ended(world)[0], done(world)) == ("failed", BACK)


@pytest.mark.proves("DE-08", "DE-10")
def test_an_effect_that_a_person_found_committed_is_undone_as_well(world, monkeypatch):
    """Whoever says that it happened, it happened."""
    monkeypatch.setenv("ANSWER_FLIGHT", "lost")
    task = start(world)
    finish(world)
    key = world.one("select key from effect where node = 'flight'")
    assert world.store.flows.decide(task, key, verdict=EffectStatus.COMMITTED, word={"id": key})
    assert outcome.at_rest(world) == []
    assert (ended(world), done(world)) == (("failed", "step_failed"), BACK)


KINDS = [*faults.DEATHS, *faults.OUTAGES, *faults.RIVALS]


def play(flow_world, at, *, word=False):
    """The story of a trip with faults: what is wrong at its end, and the calls that it made."""
    wire = Tripwire(at)
    world = flow_world(references=REFERENCES, wrap=wire.wrap, believes_supervisors=word)
    wire.world = world
    start(world)
    for _ in range(2):
        finish(world)
    calls = tuple(wire.calls)
    wrong = outcome.at_rest(world)
    if not wrong and ended(world)[0] == "failed":
        wrong += [f"{sorted(done(world))} was done"] * (sorted(done(world)) != sorted(BACK))
        wrong += ["it was undone in another order"] * (done(world) != BACK)
    return wrong, calls


@pytest.mark.proves("DE-10", "DE-17")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("word", [False, True], ids=["by the lease", "by the supervisor"])
def test_a_fault_at_any_call_undoes_each_effect_once_or_asks(flow_world, monkeypatch, kind, word):
    """Every third call of the story, each kind of fault at it: everything is taken back once, or a person is asked."""
    monkeypatch.setenv("WEATHER", "storm")
    wrong, calls = play(flow_world, {})
    assert wrong == []
    chosen = range(KINDS.index(kind) % 3, len(calls), 3)
    found = {f"{number} {calls[number]}": play(flow_world, {number: kind}, word=word)[0] for number in chosen}
    assert {place: wrong for place, wrong in found.items() if wrong} == {}


@pytest.mark.proves("DE-10")
def test_an_engine_that_forgets_the_order_or_the_ledger_is_caught(world, monkeypatch):
    """The same story with a broken undoing: what is committed counts as not done, so that nothing is taken back."""
    monkeypatch.setattr(undoing, "_is_due", lambda *_: False)
    start(world)
    world.tick()
    for _ in range(4):
        finish(world)
    assert ended(world) == ("compensating", "step_failed")
    assert done(world) == ["hotel", "flight"]
