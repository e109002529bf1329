"""The outbox: order for each item, exclusivity for each row, and nothing forgotten when a relay ends without a word."""

import random

import pytest

from orchestrator.domain.hold import HoldKind
from orchestrator.domain.turn import Handoff, Parked, StopReason, TurnStatus
from orchestrator.ports.store import Settlement
from tests.store.scene import comment, handoff_move, item, started_move, together
from tests.waiting import until


def claim(scene, seconds=60.0):
    """What one relay gets."""
    return scene.store.outbox.claim(seconds=seconds)


def settle(scene, claimed, settlement, **said):
    """What that relay says of it."""
    return scene.store.outbox.settle(claimed, settlement, **said)


def test_writes_of_one_item_are_claimed_in_order(scene):
    """The second write is offered when the first one is settled, not before."""
    scene.step(scene.run().ref, 1, started_move(), comment())
    first = claim(scene)
    assert (first.write, claim(scene)) == (started_move(), None)
    assert settle(scene, first, Settlement.SENT, state="In Progress")
    assert claim(scene).write == comment()


@pytest.mark.proves("H18")
def test_a_stuck_item_holds_up_no_other(scene):
    """A deferred head waits for its time, and keeps back its own item only."""
    scene.step(scene.run("X-1").ref, 1, started_move(), comment())
    scene.step(scene.run("X-2").ref, 1, started_move())
    assert settle(scene, claim(scene), Settlement.DEFERRED, detail="not readable", pause_seconds=60)
    other = claim(scene)
    assert (other.identifier, claim(scene)) == ("X-2", None)
    scene.store.set_offset(61)
    again = claim(scene)
    assert (again.identifier, again.tries, again.uncertain) == ("X-1", 1, False)


@pytest.mark.proves("H17")
def test_the_order_of_numbers_is_the_order_of_commits(scene):
    """A second writer of an item waits for the first one's commit before it gets its number."""
    ref = scene.run().ref
    with scene.client() as first:
        first.execute("update item set outbox_seq = outbox_seq + 1")
        waiting = scene.later(lambda: scene.step(ref, 1, comment()))
        until(lambda: scene.blocked_by(first))
        first.commit()
        assert waiting.result()
    assert scene.all("select seq from outbox") == [(2,)]


@pytest.mark.proves("H17", "H18")
def test_four_relays_with_failures_keep_the_order_of_every_item(scene):
    """Four relays that fail at random post every write of twenty items once, each item's in order, none held twice."""
    posted: dict[str, list[str]] = {}
    for number in range(20):
        ref = scene.run(f"X-{number}").ref
        writes = [comment(str(word), key=f"k:{word}") for word in range(5)]
        assert scene.step(ref, 1, *writes)

    def relay(seed: int) -> None:
        chance = random.Random(seed)
        while unsettled(scene):
            claimed = claim(scene)
            if claimed is None:
                continue
            if chance.random() < 0.3:
                settle(scene, claimed, Settlement.DEFERRED)
                continue
            posted.setdefault(claimed.identifier, []).append(claimed.write.act.body)
            assert settle(scene, claimed, Settlement.SENT)

    together(*(lambda seed=seed: relay(seed) for seed in range(4)))
    assert posted == {f"X-{number}": ["0", "1", "2", "3", "4"] for number in range(20)}


def test_ten_relays_get_one_row_between_them(scene):
    """A claimed row is nobody else's until its claim ends."""
    scene.step(scene.run().ref, 1, started_move())
    claims = together(*[lambda: claim(scene)] * 10)
    assert sum(claimed is not None for claimed in claims) == 1


@pytest.mark.proves("H10")
def test_a_claim_that_ended_without_a_word_is_offered_as_uncertain(scene):
    """It may have been sent: whoever gets it next looks it up first, and the first relay's word comes too late."""
    scene.step(scene.run().ref, 1, started_move())
    lost = claim(scene, seconds=10)
    assert claim(scene) is None
    scene.store.set_offset(11)
    again = claim(scene)
    assert (again.id, again.uncertain, again.tries) == (lost.id, True, 1)
    assert not settle(scene, lost, Settlement.SENT, state="In Progress")
    assert settle(scene, again, Settlement.DEFERRED, detail="not readable")
    assert scene.one("select status from outbox") == "unknown"
    assert claim(scene).uncertain


@pytest.mark.proves("H14")
@pytest.mark.parametrize("settlement", [Settlement.SENT, Settlement.SUPPRESSED])
def test_a_settled_move_frees_its_item(scene, settlement):
    """Sent and suppressed both count: the version is raised and the moment kept, and no echo is waited for."""
    scene.conclude(scene.run().ref, Handoff(StopReason.DONE), handoff_move())
    before = scene.record()
    settle(scene, claim(scene), settlement, state="In Review" if settlement is Settlement.SENT else None)
    after = scene.record()
    assert (before.unsent_move, before.moved_at, after.unsent_move) == (True, None, False)
    assert after.version > before.version
    assert after.moved_at is not None


@pytest.mark.proves("H14")
def test_a_comment_keeps_no_item_from_being_dispatched(scene):
    """Only a move does."""
    scene.conclude(scene.run().ref, Handoff(StopReason.DONE), comment())
    assert not scene.record().unsent_move
    before = scene.record()
    settle(scene, claim(scene), Settlement.SENT)
    assert scene.record() == before


def test_an_unknown_move_keeps_its_item_back(scene):
    """It may be on the card already, and the board may be older than it."""
    scene.conclude(scene.run().ref, Handoff(StopReason.DONE), handoff_move())
    settle(scene, claim(scene), Settlement.UNKNOWN, detail="time-out", pause_seconds=0)
    assert scene.record().unsent_move
    assert claim(scene).uncertain


@pytest.mark.proves("H14", "H17")
def test_a_parked_move_leaves_the_order_and_holds_its_item(scene):
    """What cannot be made is a hold with the reason, and the writes behind it go on."""
    scene.conclude(scene.run().ref, Handoff(StopReason.DONE), handoff_move(), comment())
    settle(scene, claim(scene), Settlement.PARKED, detail="forbidden")
    record = scene.record()
    assert (record.held, record.held_state, record.unsent_move) == ("parked_move: forbidden", "Todo", False)
    assert claim(scene).write == comment()


@pytest.mark.proves("H15", "H17")
def test_only_a_move_that_nobody_has_begun_to_send_is_superseded(scene):
    """Moves collapse to the last one; one that is in flight keeps its place before it."""
    ref = scene.run("X-1").ref
    scene.step(ref, 1, started_move())
    scene.conclude(ref, Handoff(StopReason.DONE), handoff_move())
    in_flight = scene.run("X-2").ref
    scene.step(in_flight, 1, started_move())
    assert [claim(scene).write, claim(scene).write] == [handoff_move(), started_move()]
    scene.conclude(in_flight, Handoff(StopReason.DONE), handoff_move())
    assert claim(scene) is None
    assert scene.all("select status from outbox order by id") == [
        ("superseded",),
        ("claimed",),
        ("claimed",),
        ("pending",),
    ]


def test_our_move_carries_the_open_turn_with_it(scene):
    """The turn's cap slot is counted where the card stands now."""
    scene.step(scene.run().ref, 1, started_move())
    settle(scene, claim(scene), Settlement.SENT, state="In Progress")
    assert scene.record().turn.state == "In Progress"
    openings = [scene.opening(item(f"Y-{number}"), state_cap=1) for number in range(2)]
    answers = [scene.store.items.open_turns([opening])[0] for opening in openings]
    assert [type(answer).__name__ for answer in answers] == ["Opened", "Refused"]


def test_a_write_keeps_the_version_that_its_turn_ran(scene):
    """The relay gets both contracts: the one in force then, whose terminal states still count, and the one now."""
    scene.step(scene.run().ref, 1, started_move())
    scene.publish(body="body two")
    claimed = claim(scene)
    assert (claimed.pinned.body, claimed.workflow.body) == ("body one", "body two")


@pytest.mark.proves("H14", "H16")
def test_an_unsent_move_of_a_blocked_item_is_withdrawn_before_its_comment(scene):
    """Nothing stands between the hold and the word about it."""
    ref = scene.run().ref
    scene.step(ref, 1, started_move())
    scene.conclude(ref, Parked(HoldKind.BLOCKED, TurnStatus.SUCCEEDED, StopReason.BLOCKED, "?"), comment("held"))
    assert claim(scene).write == comment("held")


def unsettled(scene) -> int:
    """How many writes are in the order still."""
    return scene.one("select count(*) from outbox where status in ('pending', 'claimed', 'unknown')")


@pytest.mark.proves("H10")
def test_the_intent_of_a_move_is_kept_while_its_outcome_is_unknown(scene):
    """What the card bore before the send tells the next relay whether the move landed; a lost claim writes none."""
    scene.step(scene.run().ref, 1, started_move())
    first = claim(scene, seconds=10)
    assert scene.store.outbox.begin_move(first, "revision 7", state="Todo")
    scene.store.set_offset(11)
    second = claim(scene)
    assert (second.seen, second.uncertain) == ("revision 7", True)
    assert not scene.store.outbox.begin_move(first, "revision 8", state="Todo")
    settle(scene, second, Settlement.DEFERRED)
    assert claim(scene).seen == "revision 7"
