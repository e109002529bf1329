"""An audit row for each write: what the card bore before, what it bears after, and what became of the attempt."""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_TABLE = """
    create table write_audit (
        id        bigint generated always as identity primary key,
        at        timestamptz not null default stationkeeper_clock(),
        outbox_id bigint not null,  -- no reference: the audit outlives the rows that it tells of
        item_key  bigint not null references item,
        turn_id   uuid,
        fence     bigint,
        kind      text not null,    -- the observed fact that was reported
        act       text not null,
        key       text not null,    -- derived: a comment's hidden key, or the turn and role of a move
        before    text,             -- the state that a move began from, or the text that a comment replaced
        after     text,             -- where the card stands for us now, or what the comment says; null: not written
        outcome   text not null,
        detail    text,
        constraint an_audited_write_has_one_of_four_outcomes check (
            outcome in ('sent', 'suppressed', 'unknown', 'parked'))
    )
"""


def upgrade() -> None:
    """A nullable column takes no rewrite."""
    op.execute("alter table outbox add column stood text")
    op.execute(_TABLE)
    op.execute("create index write_audit_of_item on write_audit (item_key, id)")
