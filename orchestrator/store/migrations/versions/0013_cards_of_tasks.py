"""The card that a flow's task belongs to, where it belongs to one: its effects ask the card first (H22)."""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """A nullable column takes no rewrite; a task without a card has none."""
    op.execute("alter table task add column card_key bigint references item")
