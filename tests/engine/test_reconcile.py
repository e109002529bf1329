"""One tick: what it reports, what it does when it cannot read, and that looking writes nothing."""

from dataclasses import replace

import pytest

from orchestrator.domain.contract import StateContract
from orchestrator.domain.difference import Change
from orchestrator.domain.reconcile import Dispatch
from orchestrator.engine import preview
from orchestrator.ports.tracker import TrackerError, TrackerFault
from orchestrator.trackers.memory import MemoryTracker


def test_a_preview_says_what_a_tick_would_do_and_writes_nothing(world):
    """The plan has the dispatch; not one row changed."""
    world.add("A-1")
    before = world.fingerprint()
    plan, board, _ = preview.preview(world.process.ports, "world")
    assert [type(action) for action in plan.actions] == [Dispatch]
    assert set(board.items) == {"A-1"}
    assert world.fingerprint() == before


@pytest.mark.proves("SC-18")
def test_comparing_with_another_contract_writes_nothing(world):
    """A card that would start, one that would stop, one that would be cleaned; not one row version has changed."""
    for number, state in enumerate(("Todo", "Backlog", "In Review"), start=1):
        world.add(f"A-{number}", state=state)
    world.tick()
    before = world.fingerprint()
    other = StateContract(("Backlog",), ("Done", "In Review"))
    found = preview.compare(world.process.ports, "world", replace(world.workflow, contract=other))
    assert {each.item: each.change for each in found.differences} == {
        "A-1": Change.STOP,
        "A-2": Change.START,
        "A-3": Change.CLEAN,
    }
    assert world.fingerprint() == before
    with pytest.raises(preview.OtherBoard, match="memory:elsewhere"):
        preview.compare(world.process.ports, "world", replace(world.workflow, scope="memory:elsewhere"))


def test_the_report_of_a_tick_stands_on_its_row(world):
    """Counts of actions and reasons, for whoever asks what the last tick did."""
    world.add("A-1")
    world.add("A-2", state="Backlog")
    assert world.tick().counts == {"dispatch": 1, "not_active": 1}
    assert world.one("select report -> 'counts' ->> 'dispatch' from reconciler") == "1"


@pytest.mark.proves("CS-16", "RC-06")
def test_a_board_that_cannot_be_listed_starts_and_stops_nothing(world, monkeypatch):
    """The tick reports the fault, and the next one tries again."""

    def away(_tracker, _states):
        raise TrackerError(TrackerFault.API, "503")

    world.add("A-1")
    world.tick()
    world.add("A-2")
    monkeypatch.setattr(MemoryTracker, "list_items", away)
    assert world.tick().fault == "503"
    assert world.rows("select identifier from item") == [("A-1",)]
    assert world.rows("select status from turn") == [("queued",)]


@pytest.mark.proves("CS-17")
def test_an_unchanged_board_writes_nothing(world):
    """A second tick over a resting world changes no row version."""
    for number in range(1, 4):
        world.add(f"A-{number}", state="Backlog")
    world.tick()
    before = world.fingerprint()
    world.tick()
    world.tick()
    assert world.fingerprint() == before


@pytest.mark.proves("RC-07")
def test_a_ring_with_nothing_due_asks_the_tracker_nothing(world, monkeypatch):
    """Between two listings, with nothing due, a beat is a single statement."""

    def never(*_):
        raise AssertionError

    world.tick()
    for call in ("states", "list_items", "get_items"):
        monkeypatch.setattr(MemoryTracker, call, never)
    assert world.tick(full=False) is None
