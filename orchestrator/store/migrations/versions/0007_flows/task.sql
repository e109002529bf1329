-- Who a task is for, who asked for it and what it was given. A ticket's task has its card for all of that.
alter table task
    add column tenant      text not null default 'default',
    add column subject     text,             -- what it is about; by default the key that it was started with
    add column actor       text,             -- who started it
    add column goal        text,
    add column input       jsonb,            -- a flow's input, as its type has it
    add column authority   text[] not null default '{}',
    add column deadline_at timestamptz,      -- after which nothing more is begun
    add column cancel      text,             -- the stop reason that it ends with once nothing is open
    add column reason      text;             -- the stored words beside the stop reason
