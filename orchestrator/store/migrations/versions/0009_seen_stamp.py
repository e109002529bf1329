"""The tracker's stamp of the card for which a turn was opened: a look at the past is known by it (0029)."""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """A nullable column takes no rewrite; a turn that was opened before has none, and its looks are judged by state."""
    op.execute("alter table turn add column seen_updated_at timestamptz")
