-- The durable business of one item. `running` means open: in backoff or waiting for a slot a task is still running.
create table task (
    id               uuid primary key default gen_random_uuid(),
    item_key         bigint not null references item,
    workflow         text not null,
    workflow_version integer not null,
    status           text not null default 'accepted',
    due_at           timestamptz,        -- when it wants its next turn; null while one is open or a hold stands
    stop_reason      text,
    opened_at        timestamptz not null default stationkeeper_clock(),
    ended_at         timestamptz,
    foreign key (workflow, workflow_version) references workflow_version,
    constraint a_task_has_one_of_nine_statuses check (status in (
        'accepted', 'running', 'waiting_input', 'waiting_approval', 'compensating', 'unknown',
        'succeeded', 'failed', 'cancelled')),
    constraint an_ended_task_says_why check (status not in ('succeeded', 'failed', 'cancelled') or stop_reason is not null)
) with (fillfactor = 70);

-- At most one live task an item, over all workflows.
create unique index at_most_one_live_task_an_item on task (item_key)
    where status not in ('succeeded', 'failed', 'cancelled');
create index task_due on task (workflow, due_at) where due_at is not null;
create index task_of_item on task (item_key);
