"""The promises of a tracker whose whole listing costs: it can be walked over, and no card is passed over."""

import pytest

from orchestrator.ports.tracker import Stretch, Walked
from orchestrator.trackers import memory, roundup
from tests.doors.tracker_benches import Bench

SIZE = 3


@pytest.fixture(autouse=True)
def short_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a handful of cards takes several."""
    monkeypatch.setattr(memory, "PAGE_SIZE", SIZE)
    monkeypatch.setattr(roundup, "STRETCH_SIZE", SIZE)


def test_a_tracker_that_is_not_listed_whole_can_be_walked(bench: Bench):
    """Otherwise cards outside of the listed columns would have no answer."""
    door = bench.connect()
    assert door.profile.whole_board or isinstance(door, Walked)


def walked(bench: Bench) -> Walked:
    """The door of a tracker that can be walked; the others have nothing to prove here."""
    door = bench.connect()
    if not isinstance(door, Walked):
        pytest.skip("any listing of this tracker shows its whole board")
    return door


def test_a_round_meets_every_card_once(bench: Bench):
    """Whatever their states, a bounded stretch at a time, each begun by what the one before it said."""
    door = walked(bench)
    added = {
        bench.add(f"Card {number}", state): state for number, state in enumerate(["Done", "To Do", "In Review"] * 3)
    }
    stretches = [door.walk(None, ())]
    while stretches[-1].behind is not None:
        stretches.append(door.walk(stretches[-1].behind, ()))
    assert max(len(stretch.cards) for stretch in stretches) <= SIZE
    met = [(card.id, card.state) for stretch in stretches for card in stretch.cards]
    assert met == list(added.items())
    assert {card.identifier for stretch in stretches for card in stretch.cards} == set(added)


def test_an_empty_board_is_one_stretch(bench: Bench):
    """And everything that was ever known is gone."""
    assert walked(bench).walk(None, ["FOO-1"]) == Stretch((), gone=frozenset({"FOO-1"}))


def test_cards_that_go_or_come_in_mid_round_hide_no_other(bench: Bench):
    """Each card that is there from the beginning to the end is met, and one that went is told where it should come."""
    door = walked(bench)
    cards = [bench.add(f"Card {number}", "Done") for number in range(11)]
    known = [*cards, "elsewhere"]
    went, met, gone, behind = [], [], set(), None
    for victims in ([0, 1], [2, 6], [], [3, 4, 5], []):
        stretch = door.walk(behind, known)
        met += [card.id for card in stretch.cards]
        gone |= stretch.gone
        behind = stretch.behind
        if behind is None:
            break
        for victim in victims:
            bench.delete(cards[victim])
            went.append(cards[victim])
        bench.add("A late one", "Done")
    else:
        while behind is not None:
            stretch = door.walk(behind, known)
            met += [card.id for card in stretch.cards]
            gone |= stretch.gone
            behind = stretch.behind
    assert set(cards) - set(went) <= set(met)
    assert gone - {"elsewhere"} <= set(went)
    assert {cards[6], "elsewhere"} <= gone
    assert len(met) == len(set(met))


def test_a_record_that_cannot_be_read_is_told_and_not_taken_for_gone(bench: Bench):
    """Beside the others of its stretch."""
    door = walked(bench)
    torn, whole = bench.add("Torn", "Done"), bench.add("Whole", "Done")
    bench.spoil(torn)
    stretch = door.walk(None, [torn, whole])
    assert [bad.id for bad in stretch.malformed] == [torn]
    assert ([card.id for card in stretch.cards], stretch.gone) == ([whole], frozenset())
