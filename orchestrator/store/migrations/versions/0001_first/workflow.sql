-- The workflow in force. Its row is the lock of its caps: a slot is taken and given back here and nowhere else.
create table workflow (
    name        text primary key,
    version     integer not null,
    scope       text not null,      -- the board, the same for every workflow that serves it
    interval_ms integer not null,
    open_turns  integer not null default 0,
    problem     text,               -- what the board lacks for the contract now
    constraint a_version_counts_from_one check (version >= 1),
    constraint a_cap_slot_is_given_back_once check (open_turns >= 0)
) with (fillfactor = 50);

-- Every version that was ever in force: a turn keeps the one that it was opened with.
create table workflow_version (
    workflow     text not null references workflow,
    version      integer not null,
    digest       text not null,
    body         text not null,     -- as written; $VAR is resolved where it is used
    path         text not null,
    published_at timestamptz not null default stationkeeper_clock(),
    primary key (workflow, version)
);

-- One row a workflow, so that any number of beats is one tick. Requests are never cleared: they are due while later than the
-- last begin.
create table reconciler (
    workflow          text primary key references workflow,
    list_requested_at timestamptz,
    due_requested_at  timestamptz,
    list_began_at     timestamptz,
    due_began_at      timestamptz,
    run               uuid,
    running_until     timestamptz,
    finished_at       timestamptz,
    report            jsonb
) with (fillfactor = 50);
