"""A workflow that a person has let go: when. Its row stays, since its turns and versions refer to it."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """A nullable column takes no rewrite."""
    op.execute("alter table workflow add column retired_at timestamptz")
