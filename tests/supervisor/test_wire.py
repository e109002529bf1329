"""The wire: whatever is said arrives as it was said, however it is cut into pieces."""

from pathlib import Path
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.domain.turn import StopReason
from orchestrator.ports.store import TurnRef
from orchestrator.ports.supervisor import EndedBy, Exit, ProcessOrder, Refusal
from orchestrator.supervisor import wire

REF = TurnRef(uuid4(), 7, uuid4())
ORDER = ProcessOrder(
    turn_id=REF.turn_id,
    fence=7,
    argv=["sh", "-c", "true\n"],
    cwd=Path("/somewhere/ä"),
    environment={"A": "ü\n"},
    stdin=bytes(range(256)),
    transcript=Path("/t"),
    timeout_seconds=1.5,
    stall_seconds=None,
    lock_path=Path("/lock"),
)
REQUESTS = [
    wire.Beat(),
    wire.Adopt(REF, None, 1.25, None),
    wire.BeginStep(REF.turn_id, 3.0),
    wire.Release(REF.turn_id),
    wire.Spawn(1, ORDER),
    wire.Stop(1),
    wire.Stop(None),
]
REPORTS = [
    wire.Beat(),
    wire.Ready(),
    wire.Started(1, 2),
    wire.Refused(1, Refusal.WORKSPACE_BUSY, "a\nb"),
    wire.Line(1, bytes(range(256))),
    wire.Ended(1, Exit(None, 9, EndedBy.STALLED)),
    wire.TurnStops(REF, StopReason.MOVED_AWAY),
]


@given(st.lists(st.sampled_from(REQUESTS)), st.integers(min_value=1, max_value=50))
def test_requests_survive_any_cut(messages, size):
    """Every message arrives equal and in order, whatever the pieces."""
    sent, lines = b"".join(map(wire.pack_request, messages)), wire.Lines()
    pieces = [sent[start : start + size] for start in range(0, len(sent), size)]
    assert [wire.read_request(line) for piece in pieces for line in lines.feed(piece)] == messages


def test_reports_are_read_as_they_were_said():
    """Every kind of report survives the wire."""
    assert [wire.read_report(wire.pack_report(report)) for report in REPORTS] == REPORTS


@given(st.binary(), st.integers(min_value=1, max_value=9), st.integers(min_value=0, max_value=9))
def test_a_line_is_whole_or_left_out(said, size, longest):
    """Lines come as they were written; one that is too long is missing, and takes no other with it."""
    lines = wire.Lines(longest)
    pieces = [said[start : start + size] for start in range(0, len(said), size)]
    found = [line for piece in pieces for line in lines.feed(piece)]
    assert found == [line for line in said.split(b"\n")[:-1] if len(line) <= longest]
