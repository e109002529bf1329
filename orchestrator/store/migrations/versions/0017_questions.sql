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
