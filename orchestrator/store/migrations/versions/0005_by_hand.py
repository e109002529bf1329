"""Who placed and lifted a hold, and why; which workspaces stand on a host's disk; when a workflow rests."""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_WORKSPACE = """
    create table workspace (
        id          uuid not null default gen_random_uuid() unique,
        host        text not null,
        path        text not null,               -- as made; a removal goes by this, whatever the workflow says by then
        root        text not null,               -- in force at its making: nothing outside it is ever removed
        item_key    bigint not null references item,
        workflow    text not null references workflow,
        lock_path   text not null,
        repository  text,                        -- of which it is a worktree; null: a plain folder
        branch      text,
        turn_id     uuid not null references turn,   -- that prepared it last
        prepared_at timestamptz not null default stationkeeper_clock(),
        asked_at    timestamptz,                 -- when a worker was asked last to look whether it may go
        may_go      boolean not null default false,  -- the tick saw its card closed; a worker of the host looks again
        kept        text,                        -- where unfinished work was preserved last: a ref, or a bundle's path
        removed_at  timestamptz,
        constraint a_folder_is_one_workspace primary key (host, path)
    )
"""


def upgrade() -> None:
    """Nullable columns take no rewrite."""
    op.execute(
        "alter table hold add column placed_by text, add column lifted_reason text,"
        " add column by_hand boolean not null default false"
    )
    op.execute(
        "alter table workflow add column rest_until timestamptz, add column rest_why text,"
        " add column rests integer not null default 0, add column failing bigint[] not null default '{}',"
        " add column failing_stop text, add column failing_at timestamptz"
    )
    op.execute("alter table worker add column draining_at timestamptz")
    op.execute("alter table turn add column cancel_at timestamptz")
    op.execute("create index turn_cancelled on turn (cancel_at) where cancel_at is not null")
    op.execute(_WORKSPACE)
    op.execute("create index workspace_of_item on workspace (item_key)")
    op.execute("create index workspace_standing on workspace (host) where removed_at is null")
