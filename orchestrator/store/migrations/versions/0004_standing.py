"""What may stand in the way of an item's next turn, in one call that is made after the locks were had."""

from pathlib import Path

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the function; a statement that calls it reads what was committed while it waited for its locks."""
    driver = op.get_bind().connection.driver_connection
    assert driver is not None  # noqa: S101 -- Alembic runs us on an open connection
    driver.execute(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))
