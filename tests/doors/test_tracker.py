"""What every tracker adapter promises, tried on each one in the package; a new adapter needs a bench and no test."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest

from orchestrator.domain.item import Item
from orchestrator.ports.tracker import Moved, NotMoved, Tracker, TrackerError, TrackerFault
from tests.doors.conftest import ADAPTERS, PEERS
from tests.doors.tracker_benches import BENCHES, STATES, Bench

STATUS_KEY, HOLD_KEY = "inst-1:status", "inst-1:hold:7"


@pytest.fixture
def tracker(bench: Bench) -> Tracker:
    """The door to the bench's board."""
    return bench.connect()


def listed(tracker: Tracker, *states: str) -> list[Item]:
    """All pages of a listing as one."""
    return [item for page in tracker.list_items(states) for item in page.items]


def state_of(tracker: Tracker, item_id: str) -> str:
    """Where a card stands now."""
    return tracker.get_items([item_id])[item_id].state


def bodies(tracker: Tracker, item_id: str, *, key: str | None) -> list[str]:
    """What the comments under a key say; under None, those of people."""
    return [comment.body for comment in tracker.comments(item_id) if comment.key == key]


def test_every_adapter_in_the_package_has_a_bench():
    """An adapter that is in the package but not in this suite would promise nothing."""
    assert set(ADAPTERS) == {*BENCHES, *PEERS}


@pytest.mark.proves("TE-10")
def test_two_doors_to_one_board_have_one_scope(bench: Bench):
    """The scope names the board, so that two workflows on it share its items; the profile is complete."""
    one, other = bench.connect().profile, bench.connect().profile
    assert one.scope == other.scope
    assert one.kind in ADAPTERS
    assert one.conditional_moves


def test_the_states_come_in_the_order_of_the_board(tracker: Tracker):
    """Spelling and order are the board's own."""
    assert tracker.states() == STATES


@pytest.mark.proves("TE-01")
def test_asking_for_nothing_gives_nothing(bench: Bench, tracker: Tracker):
    """No states: no page. No ids: no item."""
    bench.add("Mend the pump", "To Do")
    assert list(tracker.list_items([])) == []
    assert tracker.get_items([]) == {}


@pytest.mark.proves("TE-01", "TE-04")
def test_a_long_listing_gives_each_card_once(bench: Bench, tracker: Tracker):
    """Several pages, one order, no card twice and none left out."""
    ids = [bench.add(f"Card {number}", "To Do") for number in range(120)]
    pages = list(tracker.list_items(["To Do"]))
    assert len(pages) > 1
    assert [item.id for page in pages for item in page.items] == ids
    assert [item.id for item in listed(tracker, "To Do")] == ids


@pytest.mark.proves("TE-06")
def test_states_are_compared_folded_and_kept_as_spelled(bench: Bench, tracker: Tracker):
    """A workflow may write ` to do `; the card still stands in the board's `To Do`."""
    wanted = bench.add("Mend the pump", "To Do")
    bench.add("Paint the hull", "Done")
    assert [(item.id, item.state) for item in listed(tracker, "  tO dO ")] == [(wanted, "To Do")]


@pytest.mark.proves("TE-02")
def test_an_id_that_is_not_there_is_absent_from_the_answer(bench: Bench, tracker: Tracker):
    """Absent, not an error: that is how a card is known to be gone."""
    there, gone = bench.add("Mend the pump", "To Do"), bench.add("Paint the hull", "To Do")
    bench.delete(gone)
    assert set(tracker.get_items([there, gone, "TASK-999"])) == {there}


def test_a_snapshot_by_id_is_what_a_listing_shows(bench: Bench, tracker: Tracker):
    """Both reads give the same full item."""
    bench.add("Paint the hull", "Done")
    item_id = bench.add("Mend the pump", "To Do", labels=("hull",), blocked_by=("TASK-1",))
    (item,) = listed(tracker, "To Do")
    assert tracker.get_items([item_id]) == {item_id: item}
    assert (item.title, item.identifier, item.dispatchable) == ("Mend the pump", item_id, True)


@pytest.mark.proves("TE-02")
def test_a_malformed_card_in_a_listing_hides_no_other(bench: Bench, tracker: Tracker):
    """It is on its page by name with the reason; the others come as ever."""
    broken, sound = bench.add("Mend the pump", "To Do"), bench.add("Paint the hull", "To Do")
    bench.spoil(broken)
    pages = list(tracker.list_items(["To Do"]))
    assert [item.id for page in pages for item in page.items] == [sound]
    assert [(bad.id, bool(bad.reason)) for page in pages for bad in page.malformed] == [(broken, True)]


@pytest.mark.proves("TE-02")
def test_a_malformed_card_asked_for_by_id_fails_the_call(bench: Bench, tracker: Tracker):
    """It is neither gone nor fine: nothing can be said of it, nor of those asked for with it."""
    broken, sound = bench.add("Mend the pump", "To Do"), bench.add("Paint the hull", "To Do")
    bench.spoil(broken)
    with pytest.raises(TrackerError) as failure:
        tracker.get_items([sound, broken])
    assert failure.value.fault is TrackerFault.PAYLOAD
    assert set(tracker.get_items([sound])) == {sound}


@pytest.mark.proves("TE-05")
def test_labels_are_folded_and_times_are_instants(bench: Bench, tracker: Tracker):
    """Trimmed, folded, without blanks and doubles; times have a zone or are None."""
    item_id = bench.add("Mend the pump", "To Do", labels=(" Hull", "hull", "", "URGENT "))
    item = tracker.get_items([item_id])[item_id]
    assert item.labels == ("hull", "urgent")
    assert isinstance(item.created_at, datetime)
    assert all(at is None or at.tzinfo is not None for at in (item.created_at, item.updated_at))


@pytest.mark.proves("CS-09")
def test_blockers_come_with_their_states(bench: Bench, tracker: Tracker):
    """A blocker that is not there has no state, and so cannot count as terminal."""
    done, gone = bench.add("Paint the hull", "Done"), bench.add("Sink", "Done")
    item_id = bench.add("Mend the pump", "To Do", blocked_by=(done, gone))
    bench.delete(gone)
    item = tracker.get_items([item_id])[item_id]
    assert [(blocker.id, blocker.state) for blocker in item.blocked_by] == [(done, "Done"), (gone, None)]
    assert item.blockers_readable


@pytest.mark.proves("FS-20")
def test_a_move_is_made_in_the_boards_spelling(bench: Bench, tracker: Tracker):
    """Asked for in any case, written as the board writes it."""
    item_id = bench.add("Mend the pump", "To Do")
    assert isinstance(tracker.move(item_id, "in PROGRESS", only_from=["TO DO"], revision=None), Moved)
    assert state_of(tracker, item_id) == "In Progress"


@pytest.mark.proves("TW-04", "H15")
def test_a_move_from_elsewhere_is_refused(bench: Bench, tracker: Tracker):
    """The answer says where the card stood, and it still stands there."""
    item_id = bench.add("Mend the pump", "Done")
    assert tracker.move(item_id, "In Review", only_from=["To Do", "In Progress"], revision=None) == NotMoved("Done")
    assert state_of(tracker, item_id) == "Done"


@pytest.mark.proves("TW-04", "H15")
def test_a_move_of_a_card_that_was_edited_since_is_refused(bench: Bench, tracker: Tracker):
    """The state is the same, the card is not: To Do to Backlog and back cannot be told by the state alone."""
    item_id = bench.add("Mend the pump", "To Do")
    seen = tracker.get_items([item_id])[item_id]
    bench.retitle(item_id, "Mend both pumps")
    assert tracker.move(item_id, "In Progress", only_from=["To Do"], revision=seen.revision) == NotMoved("To Do")
    assert state_of(tracker, item_id) == "To Do"


@pytest.mark.proves("H7", "TW-04")
def test_a_person_who_closes_a_card_before_our_write_wins(bench: Bench, tracker: Tracker):
    """We read, the person decides, we write: the person's word stands."""
    item_id = bench.add("Mend the pump", "In Progress")
    seen = tracker.get_items([item_id])[item_id]
    bench.drag(item_id, "Done")
    assert tracker.move(item_id, "In Review", only_from=["In Progress"], revision=seen.revision) == NotMoved("Done")
    assert state_of(tracker, item_id) == "Done"


def test_a_move_of_a_card_that_is_gone_says_so(bench: Bench, tracker: Tracker):
    """None is the state of what is not there."""
    item_id = bench.add("Mend the pump", "To Do")
    bench.delete(item_id)
    assert tracker.move(item_id, "Done", only_from=["To Do"], revision=None) == NotMoved(None)


@pytest.mark.proves("FS-20")
def test_a_move_to_a_state_that_the_board_has_not_is_a_fault(bench: Bench, tracker: Tracker):
    """A renamed column is for a person to mend; nothing is written."""
    item_id = bench.add("Mend the pump", "To Do")
    with pytest.raises(TrackerError) as failure:
        tracker.move(item_id, "Verified", only_from=["To Do"], revision=None)
    assert failure.value.fault is TrackerFault.CONFIG
    assert state_of(tracker, item_id) == "To Do"


@pytest.mark.proves("TW-04")
def test_of_many_who_move_a_card_at_once_one_does(bench: Bench):
    """Compare and move are one step: the others are told where it stands, or that somebody else was writing."""
    item_id = bench.add("Mend the pump", "To Do")

    def try_to_move(tracker: Tracker) -> object:
        try:
            return tracker.move(item_id, "In Progress", only_from=["To Do"], revision=None)
        except TrackerError as error:
            return error.fault

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(try_to_move, [bench.connect() for _ in range(8)]))
    assert sum(isinstance(answer, Moved) for answer in answers) == 1
    assert {answer for answer in answers if not isinstance(answer, Moved)} <= {
        NotMoved("In Progress"),
        TrackerFault.CONFLICT,
    }


def test_every_change_gives_the_card_another_revision(bench: Bench, tracker: Tracker):
    """Ours and a person's alike."""
    item_id = bench.add("Mend the pump", "To Do")
    seen = [tracker.get_items([item_id])[item_id].revision]
    for change in (
        lambda: tracker.move(item_id, "In Progress", only_from=["To Do"], revision=None),
        lambda: bench.retitle(item_id, "Mend both pumps"),
        lambda: bench.drag(item_id, "Done"),
    ):
        change()
        seen.append(tracker.get_items([item_id])[item_id].revision)
    assert len(set(seen)) == len(seen)


@pytest.mark.proves("TW-10")
def test_a_comment_that_is_replayed_is_made_once(bench: Bench, tracker: Tracker):
    """A lost answer makes the relay send it again; the card shows it once."""
    item_id = bench.add("Mend the pump", "To Do")
    for _ in range(3):
        tracker.comment(item_id, STATUS_KEY, "Working on it.")
    assert bodies(tracker, item_id, key=STATUS_KEY) == ["Working on it."]


@pytest.mark.proves("TW-10")
def test_a_comment_is_edited_in_place_under_its_key(bench: Bench, tracker: Tracker):
    """One status comment, whatever it says now; the words of people and other keys stay."""
    item_id = bench.add("Mend the pump", "To Do")
    bench.say(item_id, "Which pump?")
    tracker.comment(item_id, STATUS_KEY, "Working on it.")
    tracker.comment(item_id, HOLD_KEY, "Waiting for a person.")
    tracker.comment(item_id, STATUS_KEY, "Ready for review.\n\nSee the branch.")
    assert [(comment.key, comment.body) for comment in tracker.comments(item_id)] == [
        (None, "Which pump?"),
        (STATUS_KEY, "Ready for review.\n\nSee the branch."),
        (HOLD_KEY, "Waiting for a person."),
    ]


@pytest.mark.proves("TW-10")
def test_the_oldest_of_doubled_comments_is_kept(bench: Bench, tracker: Tracker):
    """Two writers raced once: the next write leaves one of ours, and all that people said."""
    item_id = bench.add("Mend the pump", "To Do")
    bench.say(item_id, "Which pump?")
    tracker.comment(item_id, STATUS_KEY, "Working on it.")
    bench.double_comments(item_id)
    tracker.comment(item_id, STATUS_KEY, "Ready for review.")
    assert bodies(tracker, item_id, key=STATUS_KEY) == ["Ready for review."]
    assert bodies(tracker, item_id, key=None) == ["Which pump?", "Which pump?"]
    assert [comment.key for comment in tracker.comments(item_id)] == [None, STATUS_KEY, None]


def test_a_comment_moves_nothing_and_a_move_says_nothing(bench: Bench, tracker: Tracker):
    """Each write does one thing."""
    item_id = bench.add("Mend the pump", "To Do")
    tracker.comment(item_id, STATUS_KEY, "Working on it.")
    assert state_of(tracker, item_id) == "To Do"
    tracker.move(item_id, "In Progress", only_from=["To Do"], revision=None)
    assert bodies(tracker, item_id, key=STATUS_KEY) == ["Working on it."]


def test_a_card_that_is_gone_has_no_comments(bench: Bench, tracker: Tracker):
    """Neither to read nor to write: the fault says that it is not there."""
    item_id = bench.add("Mend the pump", "To Do")
    bench.delete(item_id)
    attempts: Sequence[object] = (
        lambda: tracker.comments(item_id),
        lambda: tracker.comment(item_id, STATUS_KEY, "Working on it."),
    )
    for attempt in attempts:
        with pytest.raises(TrackerError) as failure:
            attempt()
        assert failure.value.fault is TrackerFault.NOT_FOUND
