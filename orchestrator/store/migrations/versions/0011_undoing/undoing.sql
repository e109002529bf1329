-- The step that takes an effect back once it is committed and its task fails; null: nothing does. Written with the intent, so
-- that whoever ends the task knows it, without the flow at hand.
alter table effect
    add column undone_by text,
    add constraint an_effect_is_not_undone_by_itself check (undone_by <> node);

create index effect_undoable on effect (task_id) where undone_by is not null;

-- Whether something of a task is committed, has a compensation, and that is not settled. Volatile, for the same reason as
-- `stationkeeper_unsettled`: called after a lock was waited for, it reads what was committed meanwhile.
create function stationkeeper_undoable(of_task uuid) returns boolean language plpgsql volatile as $$
begin
    return exists (
        select from effect done
        where done.task_id = of_task and done.undone_by is not null and done.status = 'committed' and not exists (
            select from effect back
            where back.task_id = of_task and back.node = done.undone_by and back.status in ('committed', 'refused')));
end
$$;

-- The status of a task after a turn that ended as `wanted` for the reason `stop`, and was flagged (or null) meanwhile. Called
-- under the locks of workflow and item, so that what it reads is the last word. A task that is done is done. What may have
-- happened comes before everything else, then what has to be taken back.
create function stationkeeper_task_after(of_task uuid, wanted text, stop text, flagged text)
returns text language plpgsql volatile as $$
declare
    was text;
    ended text;
begin
    if wanted = 'succeeded' then
        return wanted;
    end if;
    select status into was from task where id = of_task;
    if was = 'compensating' then
        return case when wanted = 'failed' and not stationkeeper_unsettled(of_task) and not stationkeeper_undoable(of_task)
            then 'failed' else 'compensating' end;
    end if;
    if stationkeeper_unsettled(of_task) then
        return 'unknown';
    end if;
    ended := case when flagged is null then wanted when flagged = 'expired' then 'failed' else 'cancelled' end;
    if (ended = 'failed' or (ended = 'cancelled' and coalesce(flagged, stop) = 'taken_back'))
        and stationkeeper_undoable(of_task) then
        -- A turn that was lost before it had begun left its task where it was: the next one finds the flag.
        return case when was = 'running' then 'compensating' else 'running' end;
    end if;
    return ended;
end
$$;
