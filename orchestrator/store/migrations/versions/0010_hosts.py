"""Several hosts: when each was heard of last, which turn is for which, and what of an item's work was pushed."""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_HOST = """
    create table host (
        name    text primary key,
        seen_at timestamptz not null         -- when a worker of it that takes turns told of itself last
    ) with (fillfactor = 50)
"""
# A host that has a workspace and no worker now is not gone yet: the bound counts from here.
_KNOWN = "insert into host (name, seen_at) select distinct host, stationkeeper_clock() from workspace"


def upgrade() -> None:
    """New columns are nullable or have a constant default: no table is rewritten."""
    op.execute(_HOST)
    op.execute(_KNOWN)
    # The only host whose workers may admit it, where its work lies there. Null: any.
    op.execute("alter table turn add column for_host text")
    # The commit of its branch that was pushed last, and the one whose push was meant and not settled yet.
    op.execute("alter table item add column pushed text, add column pushing text")
    # Shared: every host sees it. Settled: the last checkpoint found nothing in it that is not pushed.
    op.execute(
        "alter table workspace add column shared boolean not null default false,"
        " add column settled boolean not null default false"
    )
