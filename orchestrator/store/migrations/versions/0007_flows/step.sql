-- A flow's steps belong to its task: the next turn finds what an earlier one recorded, and does not run it again. A step's
-- turn, and with it its task, is read from the turn's row by the very statement that inserts the step, and pruning takes
-- steps before turns: checking the reference once more cost a third of that statement, so it is not checked.
alter table step drop constraint step_turn_id_fkey;
alter table step
    add column task_id uuid,
    add column ends    text;                 -- why the flow ended with this step, if it did

create unique index a_step_of_a_task_is_recorded_once on step (task_id, name) where task_id is not null;

-- Each attempt that failed, with its stored reason: what counts a step's attempts, over turns and workers.
create table step_failure (
    task_id uuid not null references task,
    step    text not null,
    attempt integer not null,
    turn_id uuid not null references turn,
    kind    text not null,
    reason  text not null,
    at      timestamptz not null default stationkeeper_clock(),
    constraint an_attempt_fails_once primary key (task_id, step, attempt)
);
