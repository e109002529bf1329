-- The ledger: what was done outside, or may have been. A row is there before the act; its parameters never change again.
create table effect (
    key            text primary key,         -- derived, the same for every attempt; what the target knows it by
    task_id        uuid not null references task,
    node           text not null,
    turn_id        uuid not null references turn,  -- whose act the last one was
    fence          bigint not null,
    status         text not null default 'intended',
    parameters     jsonb not null,
    sends          integer not null default 1,
    looks          integer not null default 0,     -- look-ups that found out nothing
    outcome        jsonb,                    -- the target's own answer
    reason         text,
    vouched        boolean not null default false, -- a person says that nobody sends it any more
    intended_at    timestamptz not null default stationkeeper_clock(),
    act_until      timestamptz not null,     -- when the last act had to be over
    safe_until     timestamptz not null,     -- until when the target knows the key
    settled_at     timestamptz,
    constraint an_effect_of_a_task_has_one_row unique (task_id, node),
    constraint an_effect_has_one_of_five_statuses check (
        status in ('intended', 'unknown', 'absent', 'committed', 'refused')),
    constraint a_committed_effect_has_an_outcome check (status <> 'committed' or outcome is not null),
    constraint a_settled_effect_says_when check (status not in ('committed', 'refused') or settled_at is not null)
) with (fillfactor = 70);

create index effect_unsettled on effect (task_id) where status in ('intended', 'unknown');

-- Whether it is not known what became of some effect of a task. Not SQL and volatile: called after a lock was waited for,
-- it reads what was committed meanwhile, which a plain subquery of the same statement does not.
create function stationkeeper_unsettled(of_task uuid) returns boolean language plpgsql volatile as $$
begin
    return exists (select from effect where task_id = of_task and status in ('intended', 'unknown'));
end
$$;

-- Everything that was to be done outside, in one list: a flow's effects and the write-backs of the loop.
create view ledger as
    select effect.task_id, effect.key, effect.node as what, effect.status, effect.sends, effect.parameters as told,
        effect.outcome, effect.reason, effect.intended_at, effect.settled_at
    from effect
    union all
    select turn.task_id, coalesce(outbox.key, 'move:' || outbox.item_key || ':' || outbox.seq), outbox.kind || ' ' || outbox.act,
        outbox.status, outbox.tries, jsonb_strip_nulls(jsonb_build_object('role', outbox.role, 'from', outbox.only_from)),
        jsonb_strip_nulls(jsonb_build_object('state', outbox.state)), outbox.detail, outbox.written_at, outbox.settled_at
    from outbox join turn on turn.id = outbox.turn_id;
