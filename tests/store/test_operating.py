"""A person's commands in the store: each one commit, under the lock of what it is about, and never lost."""

import pytest

from orchestrator.domain.hold import HoldKind, HoldScope
from orchestrator.domain.select import NotDispatched
from orchestrator.domain.turn import Handoff, Parked, StopReason, TurnStatus
from orchestrator.domain.writeback import Move
from orchestrator.ports.store import Hand, Place, Refused, Settlement
from tests.store.scene import Scene, handoff_move, together

HAND = Hand("robin", "why")
FLEET = Place(HoldScope.FLEET, "the fleet")
DEAD = Parked(HoldKind.DEAD_LETTER, TurnStatus.FAILED, StopReason.ATTEMPTS_SPENT, "spent")


def place(scene: Scene, item_id: str = "X-1") -> Place:
    """The item as a command names it."""
    [found] = scene.store.operators.places(item_id)
    return found


@pytest.mark.proves("CL-09")
def test_of_two_holds_at_once_one_is_placed(scene: Scene):
    """The second person is told that one stands."""
    scene.open()
    where, operators = place(scene), scene.store.operators
    answers = together(*[lambda: operators.hold(where, HAND, seconds=None)] * 4)
    assert sorted(answers) == [False, False, False, True]
    assert scene.one("select count(*) from hold") == 1


@pytest.mark.proves("RT-10", "H16")
@pytest.mark.parametrize("scope", list(HoldScope))
def test_hold_and_release_at_once_leave_one_of_the_two(scene: Scene, scope: HoldScope):
    """In whatever order they come: a release that was answered has lifted, and what stands was placed after it."""
    scene.open()
    operators = scene.store.operators
    where = {HoldScope.ITEM: place(scene), HoldScope.WORKFLOW: operators.workflow("demo"), HoldScope.FLEET: FLEET}[
        scope
    ]
    assert where is not None
    operators.hold(where, HAND, seconds=None)
    for _ in range(5):
        held, released = together(
            lambda: operators.hold(where, HAND, seconds=None), lambda: list(operators.release(where, HAND))
        )
        assert released == [HoldKind.OPERATOR]
        stands = scene.one("select count(*) from hold where lifted_at is null")
        assert stands == (1 if held else 0)
        if not held:
            operators.hold(where, HAND, seconds=None)


@pytest.mark.proves("CL-07")
def test_a_held_queued_turn_gives_its_slot_back_once(scene: Scene):
    """The cap's counter, the turn and the task agree: the task stays open, and its next turn is due."""
    scene.open()
    scene.store.operators.hold(place(scene), HAND, seconds=None)
    assert scene.all("select status, stop_reason from turn") == [("cancelled", "cancelled")]
    assert scene.one("select open_turns from workflow") == 0
    assert scene.one("select count(*) from task where ended_at is null and due_at is not null") == 1


@pytest.mark.proves("DE-04")
def test_every_command_raises_the_version_of_its_item(scene: Scene):
    """What a tick planned before is refused after it."""
    scene.conclude(scene.run().ref, DEAD)
    operators, seen = scene.store.operators, [scene.record().version]
    for act in (
        lambda: operators.hold(place(scene), HAND, seconds=None),
        lambda: operators.release(place(scene), HAND),
        lambda: operators.resume(place(scene), HAND),
    ):
        act()
        seen.append(scene.record().version)
    assert seen == sorted(set(seen))


@pytest.mark.proves("DE-11")
def test_a_dead_letter_is_answered_once(scene: Scene):
    """Of a resume and a discard at once, one finds it."""
    scene.conclude(scene.run().ref, DEAD)
    where, operators = place(scene), scene.store.operators
    answers = together(lambda: operators.resume(where, HAND), lambda: operators.discard(where, HAND))
    assert sorted(answers) == [False, True]
    status, kinds = scene.one("select status from task"), scene.all("select kind from hold where lifted_at is null")
    assert (status, kinds) in [("running", []), ("failed", [("discarded",)])]


def park(scene: Scene) -> None:
    """The tracker refuses the item's move; comments before it are posted."""
    outbox = scene.store.outbox
    while (claimed := outbox.claim(seconds=10)) is not None:
        if isinstance(claimed.write.act, Move):
            outbox.settle(claimed, Settlement.PARKED, detail="forbidden")
            return
        outbox.settle(claimed, Settlement.SENT)


@pytest.mark.proves("H17", "H14")
def test_a_released_parked_move_is_tried_again_and_nothing_starts_meanwhile(scene: Scene):
    """The finished card is handed off, and its work does not begin once more."""
    scene.conclude(scene.run().ref, Handoff(StopReason.DONE), handoff_move())
    for _ in range(2):
        park(scene)
        assert scene.store.operators.release(place(scene), HAND) == [HoldKind.PARKED_MOVE]
        refused = scene.refused(scene.opening(seen=scene.record().version))
        assert refused == Refused(NotDispatched.UNSENT_MOVE)
    numbers = scene.all("select seq, status from outbox where act = 'move' order by seq")
    assert [status for _, status in numbers] == ["parked", "parked", "pending"]
    assert len({seq for seq, _ in numbers}) == 3


def test_a_parked_move_that_a_later_one_followed_stays_where_it_is(scene: Scene):
    """What was decided since stands: a release brings no old move back."""
    scene.conclude(scene.run().ref, Handoff(StopReason.DONE), handoff_move())
    park(scene)
    scene.change(
        "insert into outbox (item_key, seq, turn_id, workflow, workflow_version, kind, act, role, only_from, status)"
        " select item_key, seq + 10, turn_id, workflow, workflow_version, kind, act, role, only_from, 'sent'"
        " from outbox where act = 'move'"
    )
    scene.store.operators.release(place(scene), HAND)
    assert scene.one("select count(*) from outbox where act = 'move' and status = 'pending'") == 0


def test_a_card_that_was_only_left_out_can_be_held(scene: Scene):
    """It gets its row with the command, and an unknown key gets none."""
    scene.change(
        "insert into wait (workflow, item_id, identifier, reason) values ('demo', 'X-9', 'X-9', 'no_slot_total')"
    )
    assert scene.store.operators.hold(place(scene, "x-9"), HAND, seconds=None)
    assert scene.record("X-9").held == "operator: why"
    assert list(scene.store.operators.places("nobody")) == []
