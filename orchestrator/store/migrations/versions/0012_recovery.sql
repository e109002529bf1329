-- The line of history as it was known last (cluster, timeline, database), and a moment that only grows, whatever the clock
-- does: a process that saw a later one knows that this is an older copy.
alter table pulse add column lineage text, add column mark timestamptz;
-- Fences and turn numbers of items begin above it; raised past every fence that anybody may hold when history was lost.
alter table installation add column fence_base bigint not null default 0;

-- A promoted replica and a recovery to a point in time begin a new timeline; a dump is loaded into another database.
create function stationkeeper_lineage() returns text language sql volatile as $$
    select (select system_identifier from pg_control_system()) || ':' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
        || ':' || (select oid from pg_database where datname = current_database())
$$;

-- Whether this is the database that was known: on the same line, and not behind a mark that was seen in it.
-- A copy of the files is on the same line, so only what a process remembers tells it. If it is not, the fleet is held,
-- before whoever asks does anything else. Answers 'known', 'held' (just now) or 'standing'.
create function stationkeeper_recognise(of_installation text, seen_at timestamptz) returns text
    language plpgsql volatile as $$
declare
    known pulse%rowtype;
    current_line text;
    behind boolean;
begin
    if pg_is_in_recovery() then
        return 'known';  -- it takes no writes yet
    end if;
    select * into strict known from pulse;
    current_line := stationkeeper_lineage();
    behind := seen_at is not null and coalesce(known.mark < seen_at, true)
        and exists (select from installation where id = of_installation);
    if known.lineage is null and not behind then
        update pulse set lineage = current_line where lineage is null;
        return 'known';
    end if;
    if known.lineage = current_line and not behind then
        return 'known';
    end if;
    insert into hold (scope, kind, lift, reason, owner)
    select 'fleet', 'recovery', 'person', case
        when behind then 'the database is older than what was seen in it (' || to_char(seen_at at time zone 'UTC',
            'YYYY-MM-DD HH24:MI:SS') || ' UTC): a backup was put in its place'
        else 'the database is not on the line of history that was known: it was restored, moved or failed over' end,
        'an operator'
    where not exists (
        select from hold where scope = 'fleet' and kind = 'recovery' and lifted_at is null)
    on conflict do nothing;
    return case when found then 'held' else 'standing' end;
end
$$;
