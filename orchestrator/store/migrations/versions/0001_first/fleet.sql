-- The one row of this installation. The id is in our hidden keys on cards.
create table installation (
    one        boolean primary key default true,
    id         text not null default substr(md5(gen_random_uuid()::text), 1, 8),
    slow_role  text,                     -- who ticks and relays log in as, when the role could be made
    constraint there_is_one_installation check (one)
);
insert into installation default values;

-- The one row by which a blind spell is noticed: real time, never a test's.
create table pulse (
    one           boolean primary key default true,
    rung_at       timestamptz,
    server_start  timestamptz,
    blind_until   timestamptz,
    constraint there_is_one_pulse check (one)
) with (fillfactor = 10);
insert into pulse default values;

-- The workers as they tell of themselves each second.
create table worker (
    id         uuid primary key,
    host       text not null,
    boot_id    text not null,
    pid        integer not null,
    slots      integer not null,
    busy       integer not null,
    queues     text[] not null,
    started_at timestamptz not null default stationkeeper_clock(),
    seen_at    timestamptz not null
) with (fillfactor = 50);
