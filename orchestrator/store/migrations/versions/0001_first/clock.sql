-- The time that leases and deadlines live by. A test moves it with the setting `stationkeeper.clock_offset`, an interval.

-- For scans: the same during a statement, so that an index can be used.
create function stationkeeper_now() returns timestamptz language sql stable parallel safe as $$
    select now() + coalesce(nullif(current_setting('stationkeeper.clock_offset', true), ''), '0')::interval
$$;

-- For decisions: goes on while a statement waits for a lock.
create function stationkeeper_clock() returns timestamptz language sql volatile parallel safe as $$
    select clock_timestamp() + coalesce(nullif(current_setting('stationkeeper.clock_offset', true), ''), '0')::interval
$$;
