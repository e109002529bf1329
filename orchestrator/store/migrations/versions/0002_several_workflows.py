"""Several workflows: what is wrong with the file of one now, when one got a slot last, and who waits for a slot."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nullable columns take no rewrite; the index is on the few rows that wait for a worker."""
    op.execute("alter table workflow add column file_problem text, add column served_at timestamptz")
    op.execute("create index wait_for_a_worker on wait (workflow) where reason = 'no_worker_slot'")
