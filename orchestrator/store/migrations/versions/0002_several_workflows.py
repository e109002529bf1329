"""What is wrong with a workflow's file now, beside the version that stays in force."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """One nullable column: it takes no rewrite and no time."""
    op.execute("alter table workflow add column file_problem text")
