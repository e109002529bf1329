-- Why each candidate that was left out did not start: one reason, and since when.
create table wait (
    workflow   text not null references workflow,
    item_id    text not null,
    identifier text not null,
    reason     text not null,
    detail     text not null default '',
    since      timestamptz not null default stationkeeper_clock(),
    constraint one_reason_a_candidate primary key (workflow, item_id)
) with (fillfactor = 70);

create index wait_identifier on wait (lower(identifier));
-- Looked at with every worker's beat; most waits are for something else.
create index wait_for_worker on wait (workflow) where reason = 'no_worker_slot';

-- What happened, for people. Nothing decides by it.
create table history (
    id       bigint generated always as identity primary key,
    item_key bigint references item,
    workflow text,
    at       timestamptz not null default stationkeeper_clock(),
    kind     text not null,
    detail   jsonb not null default '{}'
);

create index history_of_item on history (item_key, id);
