"""When a person let a workflow go (its turns and versions refer to its row), and how far blockers were read."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nullable columns take no rewrite."""
    op.execute("alter table workflow add column retired_at timestamptz")
    op.execute("alter table reconciler add column blockers_read_to text")
