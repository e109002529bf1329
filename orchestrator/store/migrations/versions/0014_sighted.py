"""A move carries the last look at its card before it was written: by it a later look is known (0039)."""

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nullable columns take no rewrite; a move that was written before has no sighting, and is judged by two looks."""
    op.execute("""
        alter table outbox
            add column sighted text,               -- a move's: where the card stood before it was written
            add column sighted_stamp timestamptz   -- the tracker's stamp of that look, null where it has none
    """)
    # A hand-off asks what became of the move before it, at each claim; an item has thousands of rows in the end.
    op.execute("create index outbox_moves_of_a_turn on outbox (turn_id, seq) where act = 'move'")
