"""What a flow asks of a person, and by whom it was answered; and what lets pruning find its rows among a million."""

from pathlib import Path

from alembic import op

revision = "0017"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """A new table, and indexes; a table of a million rows is read once for each of them."""
    driver = op.get_bind().connection.driver_connection
    assert driver is not None  # noqa: S101 -- Alembic runs us on an open connection
    driver.execute(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))
