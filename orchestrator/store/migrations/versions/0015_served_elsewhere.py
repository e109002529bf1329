"""What other installations say on our cards and since when; which folder a root is that several hosts share."""

from alembic import op

revision = "0015"
down_revision = "0014"
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
_ROOT = """
    create table shared_root (
        path text primary key,
        id   text not null                   -- as the file in it says; a host that finds another sees another folder
    )
"""


def upgrade() -> None:
    """Tables of their own: most cards are served by nobody else, and most roots are one host's."""
    op.execute(_MARK)
    op.execute(_ROOT)
