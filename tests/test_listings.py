"""A walk over numbered pages passes nothing over, whatever goes and comes; an answer that was cut off is not used."""

from collections.abc import Collection, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import listings
from orchestrator.domain.records import Malformed
from orchestrator.ports.tracker import Standing, TrackerError, TrackerFault

SIZE = 3


class Collected:
    """Cards `c1`, `c2`… in numbered pages; before each answer the next of `doings` happens to them.

    A doing is what is made (None) or deleted (its number) at that moment.
    """

    def __init__(self, count: int, doings: Sequence[int | None] = (), unreadable: Collection[int] = ()) -> None:
        self.numbers = list(range(1, count + 1))
        self.ever, self.unreadable = count, unreadable
        self.doings: Iterator[int | None] = iter(doings)

    def numbered(self) -> listings.Numbered:
        """As a walk sees them."""
        return listings.Numbered(SIZE, self.page, self.cards, lambda name: int(name[1:]) if name[0] == "c" else None)

    def page(self, page: int) -> list[int]:
        """One page, as it is now."""
        self._happen()
        return self.numbers[(page - 1) * SIZE : page * SIZE]

    def cards(self, numbers: Sequence[int]) -> tuple[list[Standing], list[Malformed]]:
        """Those that are still there."""
        self._happen()
        there = [number for number in numbers if number in self.numbers]
        readable = [Standing(f"c{number}", f"C{number}", "Done") for number in there if number not in self.unreadable]
        return readable, [Malformed(f"c{number}", "torn") for number in there if number in self.unreadable]

    def _happen(self) -> None:
        match next(self.doings, 0):
            case None:
                self.ever += 1
                self.numbers.append(self.ever)
            case number if number in self.numbers:
                self.numbers.remove(number)


def walked(collected: Collected, known: Collection[str] = ()) -> tuple[list[str], set[str]]:
    """A whole round: the cards met, in the order in which they were, and the ones said to be gone."""
    met, gone, behind, numbered = list[str](), set[str](), None, collected.numbered()
    for _ in range(100):
        stretch = listings.stretch(numbered, behind, known)
        met += [card.id for card in stretch.cards] + [bad.id for bad in stretch.malformed]
        gone |= stretch.gone
        behind = stretch.behind
        if behind is None:
            return met, gone
    raise AssertionError("the round has no end")


@pytest.mark.parametrize("count", range(3 * SIZE + 1))
def test_a_round_over_a_quiet_collection_meets_each_card_once(count: int):
    """Full last pages and empty collections too."""
    assert walked(Collected(count)) == ([f"c{number}" for number in range(1, count + 1)], set())


def test_a_card_that_goes_between_two_looks_at_pages_hides_no_other():
    """The first page was seen; `c1` goes while the second is asked for, and `c4` stands on the first by then."""
    collected = Collected(7, doings=[0, 0, 1, 0])
    assert walked(collected)[0] == [f"c{number}" for number in range(1, 8)]
    late = Collected(7, doings=[0, 0, 0, 1])
    assert walked(late)[0] == [f"c{number}" for number in range(1, 8)]


@given(
    count=st.integers(0, 12),
    doings=st.lists(st.none() | st.integers(0, 14), max_size=20),
    unreadable=st.sets(st.integers(1, 14), max_size=2),
)
def test_a_card_that_stays_is_met_and_one_that_goes_is_told_at_most(
    count: int, doings: list[int | None], unreadable: set[int]
):
    """Whatever is made and deleted at whatever moment, and also where some make no sense."""
    collected = Collected(count, doings, unreadable)
    before = set(collected.numbers)
    known = {f"c{number}" for number in range(1, 15)} | {"foreign"}
    met, gone = walked(collected, known)
    stayed = {f"c{number}" for number in before & set(collected.numbers)}
    assert stayed <= set(met)
    assert len(met) == len(set(met))
    assert "foreign" in gone
    assert not gone & stayed
    assert known - {"foreign"} - gone <= set(met) | {f"c{number}" for number in collected.numbers}


def test_a_place_that_makes_no_sense_is_no_beginning():
    """It was written by another adapter or by hand."""
    with pytest.raises(TrackerError) as failure:
        listings.stretch(Collected(3).numbered(), "somewhere", ())
    assert failure.value.fault is TrackerFault.CONFIG


@pytest.mark.proves("TE-03", "TE-04")
@pytest.mark.parametrize(
    ("found", "expected"),
    [([{"id": 1}], 2), ([{"id": 1}, {"id": 2}], 1), ([{"id": 1}], -1), ([], None), (None, 0), ("x", 1), ([1], 1)],
)
def test_an_answer_that_is_not_whole_is_not_used(found: object, expected: object):
    """Cut off, or not what was asked for: what is missing would be taken for gone."""
    with pytest.raises(TrackerError) as failure:
        listings.whole("issue", found, expected)
    assert failure.value.fault is TrackerFault.PAYLOAD
    assert str(failure.value).startswith("issue: ")


@pytest.mark.parametrize(
    ("total", "page", "left"), [(7, 1, 3), (7, 2, 3), (7, 3, 1), (7, 4, 0), (0, 1, 0), (-1, 1, 0), ("7", 1, None)]
)
def test_a_page_shows_what_the_total_leaves_for_it(total: object, page: int, left: int | None):
    """None, or less than a page, only where the collection ends."""
    assert listings.left(total, page=page, size=SIZE) == left


def test_a_record_that_makes_no_sense_spoils_a_listing_of_itself_alone_and_every_read_by_id():
    """In a listing it is told beside the others; asked for by id it is neither gone nor fine."""
    records = [{"id": "1", "title": "Mend"}, {"id": "2"}]

    def wrong(record: listings.Record) -> Malformed | None:
        return None if "title" in record else Malformed(record["id"], "has no title")

    assert listings.sorted_out(records, wrong) == ([records[0]], (Malformed("2", "has no title"),))
    assert listings.sound(records[:1], wrong) == records[:1]
    with pytest.raises(TrackerError, match="2: has no title") as failure:
        listings.sound(records, wrong)
    assert failure.value.fault is TrackerFault.PAYLOAD


def test_a_fingerprint_tells_of_every_change_and_of_nothing_else():
    """Not of the order in which fields come, nor of the address at which the record was read."""
    record = {"id": "7", "link": "issue/7", "title": "Mend", "labels": ["a", "b"]}
    same = {"labels": ["a", "b"], "title": "Mend"}
    assert listings.fingerprint(record) == listings.fingerprint(same)
    assert listings.fingerprint({**record, "labels": ["b", "a"]}) != listings.fingerprint(record)


def test_a_state_keeps_the_trackers_spelling_and_an_unknown_one_is_named():
    """Compared trimmed and folded; the sentence for a person has every name that would do."""
    assert listings.spelled(" in review ", ["To Do", "In Review"]) == "In Review"
    with pytest.raises(TrackerError, match="no state 'Verify', it has 'To Do', 'In Review'") as failure:
        listings.spelled("Verify", ["To Do", "In Review"])
    assert failure.value.fault is TrackerFault.CONFIG
