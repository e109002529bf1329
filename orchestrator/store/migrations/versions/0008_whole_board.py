"""How far the slow look at the whole board has come, and what is doubtful in the file of the version in force."""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """A nullable column and one with a constant default: no table is rewritten."""
    op.execute("alter table reconciler add column walk jsonb")
    op.execute("alter table workflow add column warnings text[] not null default '{}'")
