"""The first schema: the item row, nine task statuses, fences, holds, outbox, rings. Its laws stand in the SQL files."""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

FOLDER = Path(__file__).with_suffix("")
# In the order in which the tables refer to each other.
FILES = ("clock", "workflow", "item", "task", "turn", "outbox", "hold", "fleet", "history")


def upgrade() -> None:
    """Make every table; one file may hold many statements, so they go to the driver as they are."""
    driver = op.get_bind().connection.driver_connection
    assert driver is not None  # noqa: S101 -- Alembic runs us on an open connection
    for name in FILES:
        driver.execute((FOLDER / f"{name}.sql").read_text(encoding="utf-8"))
