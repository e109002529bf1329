"""Do these tests bite? One rule is broken at a time, and the same run that was right must be found wrong.

A mutant is a rule of the store left out by its name, or a function of engine or board replaced. Each has one run that
gives it away; the same run with nothing broken is right, so it is the rule that makes the difference.
"""

from dataclasses import dataclass, replace

import pytest

from orchestrator.domain.reconcile import Expire, Requeue
from orchestrator.domain.writeback import Move
from orchestrator.engine import apply, relay, report, turn
from orchestrator.ports.store import Settlement
from orchestrator.trackers.memory import US, MemoryBoard
from tests.faults import faults, runs, stories

NOTHING = frozenset()


@dataclass(frozen=True)
class Place:
    """The `number`th call of a name in a story, and what happens there."""

    name: str
    number: int
    kind: str

    def find(self, calls):
        """Its number among all calls."""
        return [at for at, name in enumerate(calls) if name == self.name][self.number - 1]


def told(stage, story, *places, left_out=NOTHING):
    """What the oracle finds after a story with faults at those places."""
    world, wire = runs.begin(stage, story, {})
    stories.STORIES[story].tell(world)
    at = {place.find(wire.calls): faults.ALL[place.kind] for place in places}
    return runs.play(stage, story, at, left_out=left_out)


# --- rules of the store ----------------------------------------------------------------------------------------------


def an_old_plan_is_carried_out(stage, left_out):
    """A tick decided before another one did everything."""
    return told(stage, "again", Place("leases.take", 2, "another_tick_begins"), left_out=left_out)


def an_old_owner_writes(stage, left_out):
    """A worker thaws after its turn was taken over and finished."""
    return told(stage, "one card", Place("turns.checkpoint", 1, "freezes"), left_out=left_out)


def two_relays_look_for_work(stage, left_out):
    """The second one comes while the first has the only card's row."""
    world, _ = runs.begin(stage, "one card", {}, left_out=left_out)
    world.add("A-1")
    world.tick()
    world.deliver()
    claimed = [world.store.outbox.claim(seconds=60) for _ in range(2)]
    return ["both have it"] if all(claimed) else []


def two_ticks_open_the_last_slot(stage, left_out):
    """Each saw the free slot, and another card."""
    world, wire = runs.begin(stage, "two cards", {}, left_out=left_out)
    world.add("A-1")

    def arrives(call):
        def meanwhile(others):
            before = others.process
            others.add("A-0", priority=1)
            others.jump(faults.TICK_LOST_SECONDS)
            others.hire()
            others.tick()
            others.process = before

        call.meanwhile(meanwhile)
        return call.do()

    wire.at("items.open_turns", arrives)
    world.tick()
    open_turns = world.one("select count(*) from turn where status in ('queued', 'running')")
    return [f"{open_turns} turns under a cap of one"] if open_turns > 1 else []


def a_held_turn_is_delivered(stage, left_out):
    """A person held the fleet while the turn waited for its slot."""
    hold = "insert into hold (scope, kind, lift, reason, owner) values ('fleet', 'operator', 'person', 'stop', 'me')"
    return delivered_after(stage, left_out, hold)


def a_late_turn_is_delivered(stage, left_out):
    """The turn's deadline passed in the queue."""
    return delivered_after(stage, left_out, "update turn set deadline_at = stationkeeper_clock() - interval '1 s'")


def delivered_after(stage, left_out, statement):
    """A turn is queued, something is written, and its message is delivered: no agent may begin."""
    world, _ = runs.begin(stage, "one card", {}, left_out=left_out)
    world.add("A-1")
    world.tick()
    world.store.slow.change(statement)
    world.deliver()
    return [run.event for run in world.agents.log]


def a_flagged_turn_goes_on(stage, left_out):
    """The card is closed after admission, and a tick flags the turn before its agent begins."""
    world, wire = runs.begin(stage, "one card", {}, left_out=left_out)
    world.add("A-1")
    world.tick()

    def closed(call):
        call.meanwhile(lambda others: (others.close("A-1"), others.tick()))
        return call.do()

    wire.at("turns.checkpoint", closed)
    world.deliver()
    return [run.event for run in world.agents.log]


@pytest.mark.parametrize(
    ("rule", "happens"),
    [
        ("version", an_old_plan_is_carried_out),
        ("fence", an_old_owner_writes),
        ("claim", two_relays_look_for_work),
        ("cap", two_ticks_open_the_last_slot),
        ("hold", a_held_turn_is_delivered),
        ("deadline", a_late_turn_is_delivered),
        ("cancel", a_flagged_turn_goes_on),
    ],
)
def test_a_rule_left_out_of_the_store_is_noticed(stage, rule, happens):
    """With the rule nothing is wrong, and without it something is."""
    assert happens(stage, NOTHING) == []
    assert happens(stage, frozenset({rule})) != []


# --- the engine and the board ----------------------------------------------------------------------------------------


def without_look_up(patch):
    """A move that may have been made is simply made again, and nobody remembers where the one before it went."""
    patch.setattr(relay, "_landed", lambda *_, **__: None)
    without_memory(patch)


def from_any_active_column(patch):
    """The hand-off is made from wherever the card is worked on, whatever became of the move before it."""
    patch.setattr(report, "_only_from", lambda _admitted, flow: flow.contract.active)
    without_memory(patch)


def without_memory(patch):
    """A move knows nothing of its turn's earlier one, nor of where the card was seen."""
    for rule in ("after_sent", "after_refused"):
        patch.setattr(Move, rule, lambda move, _state: move)
    patch.setattr(Move, "is_decided", property(lambda _move: False))


def a_board_that_compares_nothing(patch):
    """A move is made from wherever the card stands."""

    def move(board, item_id, to, **_):
        board._move(item_id, to, US)
        return relay.Moved()

    patch.setattr(MemoryBoard, "compare_and_move", move)


def without(action):
    """The tick's executor forgets one kind of action."""

    def break_it(patch):
        carry_out = apply.carry_out

        def forget(ports, grant, plan, **rest):
            left = tuple(act for act in plan.actions if not isinstance(act, action))
            return carry_out(ports, grant, replace(plan, actions=left), **rest)

        patch.setattr(apply, "carry_out", forget)

    break_it.__name__ = f"without_{action.__name__.lower()}"
    return break_it


def settled_before_it_is_sent(patch):
    """The outbox says sent, and then it is sent."""
    write = relay._write

    def early(ports, tracker, claimed, *, item, state):
        ports.store.outbox.settle(claimed, Settlement.SENT, state=state)
        return write(ports, tracker, claimed, item=item, state=state)

    patch.setattr(relay, "_write", early)


def a_hand_off_without_a_move(patch):
    """The turn's end is told in words only."""
    ended = report.ended
    patch.setattr(report, "ended", lambda *values, **named: ended(*values, **named)[-1:])


def started_without_a_look(patch):
    """The turn believes what was read when it was opened."""

    def trusting(stage):
        return replace(stage.ports.tracker(stage.workflow).board.item(stage.admitted.item_id), state="Todo"), None

    patch.setattr(turn, "_wanted", trusting)


REVIEW, RETRY = Place("tracker.move", 2, "loses_its_answer"), Place("outbox.claim", 5, "a_person_wants_it_done")


@pytest.mark.parametrize(
    ("broken", "places"),
    [
        (without_look_up, [REVIEW, RETRY]),
        (from_any_active_column, [Place("turns.record_usage", 1, "a_person_asks_for_rework")]),
        (a_board_that_compares_nothing, [Place("tracker.move", 2, "a_person_closes")]),
        (without(Expire), [Place("turns.admit", 1, "dies_after")]),
        (without(Requeue), [Place("queue.turns", 1, "dies_before")]),
        (settled_before_it_is_sent, [Place("tracker.move", 2, "dies_before")]),
        (a_hand_off_without_a_move, [Place("tracker.states", 1, "redis_is_flushed")]),
        (started_without_a_look, [Place("turns.admit", 1, "a_person_drags_away")]),
    ],
    ids=lambda value: getattr(value, "__name__", "there"),
)
def test_a_broken_part_of_the_engine_is_noticed(stage, monkeypatch, broken, places):
    """Whole, nothing is wrong; broken, the same run ends in a world that the oracle refuses."""
    world, wire = runs.begin(stage, "one card", {})
    stories.STORIES["one card"].tell(world)
    at = {place.find(wire.calls): faults.ALL[place.kind] for place in places}
    assert runs.play(stage, "one card", at) == []
    with monkeypatch.context() as patch:
        broken(patch)
        assert runs.play(stage, "one card", at) != []
