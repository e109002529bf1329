"""Flow tasks: what one is given, its steps and their failures, the ledger; the status tables as triggers."""

from pathlib import Path

from alembic import op

from orchestrator.store import transitions

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

FOLDER = Path(__file__).with_suffix("")
FILES = ("task", "step", "effect")


def upgrade() -> None:
    """New columns are nullable or have a constant default: no table is rewritten."""
    driver = op.get_bind().connection.driver_connection
    assert driver is not None  # noqa: S101 -- Alembic runs us on an open connection
    for name in FILES:
        driver.execute((FOLDER / f"{name}.sql").read_text(encoding="utf-8"))
    driver.execute(transitions.guards())
