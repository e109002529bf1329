-- What stands in the way of an item's next turn, and the open task that the turn would go on with (null for none). Not
-- SQL and volatile: called after the locks were waited for, it reads what was committed meanwhile. The turns of a state
-- are counted only where they are capped.
create function stationkeeper_standing(of_item bigint, of_workflow text, of_state text, state_cap int)
    returns table (running boolean, unsent_move boolean, held text, state_full boolean, task_id uuid)
    language plpgsql volatile as $$
begin
    return query
    with own as (
        select task.id, task.workflow from task
        where task.item_key = of_item and task.status not in ('succeeded', 'failed', 'cancelled')
    )
    select
        exists (select from turn where turn.item_key = of_item and turn.status in ('queued', 'running'))
            or exists (select from own where own.workflow <> of_workflow),
        exists (
            select from outbox
            where outbox.item_key = of_item and outbox.act = 'move'
                and outbox.status in ('pending', 'claimed', 'unknown')),
        stationkeeper_held(of_item, of_workflow),
        state_cap is not null and state_cap <= (
            select count(*) from turn
            where turn.workflow = of_workflow and turn.status in ('queued', 'running')
                and turn.state_folded = of_state),
        (select own.id from own limit 1);
end
$$;
