"""The least that a fenced step can cost: bare SQL, prepared, in autocommit, with everything left out that can be.

A task is inserted, each step is one statement that checks and extends the task's own row and inserts the step's, and
the task is marked as done. Nobody admits, plans, cancels, holds, counts or tells a history here.
"""

import json
import sys
import time
import uuid

import psycopg

SCHEMA = """
    create table if not exists limit_task (
        id uuid primary key, state text, fence int, steps int, cancel boolean default false, lease_until timestamptz
    ) with (fillfactor = 70);
    create table if not exists limit_step (task uuid, seq int, name text, output jsonb, primary key (task, seq));
"""
STEP = """
    with mine as (
        update limit_task set steps = steps + 1, lease_until = clock_timestamp() + interval '30 s'
        where id = %s and fence = %s and steps = %s and not cancel returning id
    )
    insert into limit_step select id, %s, 's', %s::jsonb from mine returning 1
"""
STEPS = 10


def main(url: str, start_at: float, seconds: float) -> None:
    """Work until the time is up."""
    done = 0
    with psycopg.connect(url, autocommit=True) as connection:
        time.sleep(max(0.0, start_at - time.time()))
        began = time.perf_counter()
        ends = began + seconds
        while time.perf_counter() < ends:
            task = uuid.uuid4()
            connection.execute("insert into limit_task values (%s, 'running', 1, 0, false, now())", [task])
            for step in range(STEPS):
                assert connection.execute(STEP, [task, 1, step, step, '{"x": 1}'], prepare=True).fetchone()
                done += 1
            connection.execute("update limit_task set state = 'succeeded' where id = %s and fence = 1", [task])
    print(json.dumps({"steps": done, "seconds": time.perf_counter() - began}))


if __name__ == "__main__":
    main(sys.argv[4], float(sys.argv[1]), float(sys.argv[2]))
