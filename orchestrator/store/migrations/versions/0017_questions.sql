-- What a flow asks of a person. The answer itself is the step's output; a row stays as long as its task.
create table question (
    task_id     uuid not null references task,
    step        text not null,
    ordinal     integer not null,
    turn_id     uuid not null references turn,   -- which turn came to it last
    words       text not null,
    owner       text not null,                   -- who is asked
    asked_at    timestamptz not null default stationkeeper_clock(),
    expires_at  timestamptz,                     -- after it nobody's answer counts; null: as long as the task may last
    answered_at timestamptz,
    answered_by text,
    constraint a_step_asks_once primary key (task_id, step),
    constraint an_answered_question_says_by_whom check ((answered_at is null) = (answered_by is null)),
    constraint a_question_has_words_and_an_owner check (words <> '' and owner <> '')
);

create unique index a_task_asks_one_thing_at_a_time on question (task_id) where answered_at is null;

-- Pruning deletes items, tasks and turns. Each row that goes is looked for in every table that refers to it: without these, by
-- reading that table from end to end, so that deleting 500 tasks of 20,000 took 8 s, and of a million longer than it may.
create index effect_of_turn on effect (turn_id);
create index step_failure_of_turn on step_failure (turn_id);
create index question_of_turn on question (turn_id);
create index outbox_of_turn on outbox (turn_id) where turn_id is not null;
create index workspace_of_turn on workspace (turn_id);
create index hold_of_item_ever on hold (item_key) where item_key is not null;
create index task_of_card on task (card_key) where card_key is not null;

-- By block, not by row: tasks that ended long ago lie together, and a task's end pays nothing for it.
create index task_over on task using brin (ended_at) with (pages_per_range = 16, autosummarize = on);
