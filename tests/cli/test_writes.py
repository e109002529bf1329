"""The writes on a card, as a person reads them."""

from orchestrator.cli import writes
from orchestrator.store.views import AuditView
from tests.cli import views

MOVE = AuditView(
    views.before(20), "demo", "BACK-7", "turn_ended", "move", "turn:handoff", 3, "In Progress", "In Review", "sent", ""
)
COMMENT = AuditView(
    views.before(10), "demo", "BACK-7", "turn_ended", "comment", "inst:status", 3, None, "word " * 40, "sent", None
)


def test_a_write_is_one_line_with_its_reason_and_outcome():
    """States of a move are whole; a long text shows its first words."""
    first, second = writes.rows([MOVE, COMMENT]).rows
    assert first[1:7] == ("BACK-7", "turn_ended", "move", "In Progress", "In Review", "sent")
    assert second[4] == ""
    assert len(str(second[5])) == 61
