"""The line of history that the database is on, how a change of it holds the fleet, and where fences begin after one."""

from pathlib import Path

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """New columns are nullable or have a constant default: no table is rewritten."""
    driver = op.get_bind().connection.driver_connection
    assert driver is not None  # noqa: S101 -- Alembic runs us on an open connection
    driver.execute(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))
