"""What other installations say on the cards that we serve too, and since when we have seen it said so."""

from alembic import op

revision = "0015"
down_revision = "0013"
branch_labels = None
depends_on = None

_MARK = """
    create table mark_elsewhere (
        item_key      bigint not null references item on delete cascade,
        installation  text not null,
        said          text not null,         -- the mark as it stood
        first_seen_at timestamptz not null,  -- since when it stands unchanged, by our clock
        released_at   timestamptz,           -- a person said that it does not count
        primary key (item_key, installation)
    )
"""


def upgrade() -> None:
    """A table of its own: most cards are served by nobody else, and have no row."""
    op.execute(_MARK)
