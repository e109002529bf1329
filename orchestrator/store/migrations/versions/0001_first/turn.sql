-- One leased stretch of work. Everything that a fenced statement checks is a column of this row, since only the row that a
-- statement updates is read again after a wait.
create table turn (
    id               uuid primary key,
    task_id          uuid not null references task,
    item_key         bigint not null references item,
    workflow         text not null,
    workflow_version integer not null,
    ordinal          integer not null,   -- its number on the item, for people
    fence            bigint not null,
    status           text not null default 'queued',
    state            text not null,      -- where the item stands; its cap slot is counted there
    state_folded     text not null,
    cancel           text,               -- the stop reason that it is to end with
    deadline_at      timestamptz,
    step_deadline_at timestamptz,
    allowance        bigint,             -- what it may still spend; null: no budget
    lease_until      timestamptz,
    opened_at        timestamptz not null default stationkeeper_clock(),
    enqueued_at      timestamptz,
    admitted_at      timestamptz,
    ended_at         timestamptz,
    host             text,
    boot_id          text,
    pid              integer,
    worker_id        uuid,
    token            uuid,               -- of this admission; a second delivery has another
    attempt          integer,            -- which one of its item, as admitted
    retry_kind       text,
    session          text,
    transcript       text,
    usage            jsonb,
    stop_reason      text,
    summary          text,
    death            text,               -- how its worker's death was learnt; the lease, or the supervisor's word
    foreign key (workflow, workflow_version) references workflow_version,
    constraint a_fence_is_given_once unique (item_key, fence),
    constraint a_turn_has_one_of_six_statuses check (status in (
        'queued', 'running', 'succeeded', 'failed', 'cancelled', 'lost')),
    constraint a_running_turn_has_a_lease_and_an_owner check (
        status <> 'running' or (lease_until is not null and token is not null and host is not null and pid is not null)),
    constraint an_ended_turn_says_why check (
        status in ('queued', 'running') or (stop_reason is not null and ended_at is not null))
) with (fillfactor = 50);

-- At most one open turn an item.
create unique index at_most_one_open_turn_an_item on turn (item_key) where status in ('queued', 'running');
-- The live set is small. `lease_until` is in no index: renewals stay in their page.
create index turn_open on turn (workflow) where status in ('queued', 'running');
create index turn_running_on on turn (host, boot_id) where status = 'running';
create index turn_of_task on turn (task_id);

-- The durable record after a step. A row with the turn's id is the proof that its checkpoint was committed.
create table step (
    turn_id uuid not null references turn,
    ordinal integer not null,
    name    text not null,
    output  jsonb not null,
    at      timestamptz not null default stationkeeper_clock(),
    constraint a_step_is_recorded_once primary key (turn_id, ordinal)
);
