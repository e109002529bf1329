-- One row a ticket and board, and the lock of the ticket: whatever opens, concludes, cancels, holds, or inserts or settles a
-- move takes it before any task or turn and raises the version. Comments do not.
create table item (
    key          bigint generated always as identity primary key,
    scope        text not null,
    item_id      text not null,
    identifier   text not null,
    workflow     text not null references workflow,  -- the one that serves it
    state        text not null,                      -- where the board showed it last
    version      bigint not null default 1,
    fence        bigint not null default 0,          -- the number of its newest turn
    outbox_seq   bigint not null default 0,          -- the number of its newest write
    attempt      integer not null default 0,         -- turns since the last clean end
    turns_in_row integer not null default 0,         -- continuations of one queueing
    sessions     integer not null default 0,         -- conversations since a person's last move
    conversing   boolean not null default false,     -- the next turn goes on with the same conversation
    session      text,
    retry_kind   text,
    absences     integer not null default 0,
    moved_at     timestamptz,                        -- when our last move of it was settled
    listed       boolean not null default true,      -- whether the tick still wants to see the row
    host         text,                               -- where its workspace lives
    workspace    text,
    constraint one_row_an_item_and_board unique (scope, item_id)
) with (fillfactor = 70);

create index item_listed on item (workflow) where listed;
create index item_identifier on item (lower(identifier));
