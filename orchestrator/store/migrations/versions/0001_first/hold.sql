-- A durable stop with a reason, an owner and the one thing that lifts it. It leaves every status alone.
create table hold (
    id         uuid primary key default gen_random_uuid(),
    scope      text not null,
    workflow   text references workflow,
    item_key   bigint references item,
    kind       text not null,
    lift       text not null,
    reason     text not null,
    owner      text not null,
    until      timestamptz,
    state_seen text,                     -- where the card stood then, or where our own write put it since
    placed_at  timestamptz not null default stationkeeper_clock(),
    lifted_at  timestamptz,
    lifted_by  text,
    constraint a_hold_stands_on_one_thing check (
        (scope = 'item' and item_key is not null)
        or (scope = 'workflow' and workflow is not null and item_key is null)
        or (scope = 'fleet' and workflow is null and item_key is null)),
    constraint a_hold_names_what_lifts_it check (
        lift in ('condition', 'person') or (lift = 'time' and until is not null))
);

-- At most one live hold of a kind on one thing.
create unique index at_most_one_live_hold_of_a_kind
    on hold (scope, coalesce(workflow, ''), coalesce(item_key, 0), kind) where lifted_at is null;
create index hold_of_item on hold (item_key) where lifted_at is null;

-- What the strongest standing hold on an item is set on, null for none. Not SQL and volatile: called after a lock was waited
-- for, it reads what was committed meanwhile, which a plain subquery of the same statement does not.
create function stationkeeper_held(of_item bigint, of_workflow text) returns text language plpgsql volatile as $$
begin
    return (
        select hold.scope from hold
        where hold.lifted_at is null and (hold.until is null or hold.until > stationkeeper_clock())
            and (hold.scope = 'fleet'
                or (hold.scope = 'workflow' and hold.workflow = of_workflow)
                or (hold.scope = 'item' and hold.item_key = of_item))
        order by array_position(array['fleet', 'workflow', 'item'], hold.scope)
        limit 1);
end
$$;
