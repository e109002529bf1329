"""What takes effects back: who undoes what, what a turn's end makes of its task, and one ledger in one language."""

from pathlib import Path

from alembic import op

from orchestrator.store import transitions

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

FOLDER = Path(__file__).with_suffix("")
FILES = ("undoing", "ledger")


def upgrade() -> None:
    """A new column is nullable; the functions replace one that is not used any more."""
    driver = op.get_bind().connection.driver_connection
    assert driver is not None  # noqa: S101 -- Alembic runs us on an open connection
    driver.execute(transitions.standing())
    for name in FILES:
        driver.execute((FOLDER / f"{name}.sql").read_text(encoding="utf-8"))
