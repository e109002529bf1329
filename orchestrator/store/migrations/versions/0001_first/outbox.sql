-- Where a write waits. Its number comes from the item's row under its lock, so that order is commit order; a bigserial is not.
create table outbox (
    id               bigint generated always as identity primary key,
    item_key         bigint not null references item,
    seq              bigint not null,
    turn_id          uuid references turn,
    fence            bigint,
    workflow         text not null,
    workflow_version integer not null,
    kind             text not null,
    act              text not null,
    role             text,               -- a move's: resolved by the contract in force when it is sent
    only_from        text[],             -- a move's: the states that it may leave
    key              text,               -- a comment's hidden key
    body             text,
    status           text not null default 'pending',
    uncertain        boolean not null default false,  -- an earlier claim ended without a word
    seen             text,               -- what the card bore right before a move was sent: its revision, or its state
    claim_token      uuid,
    claim_until      timestamptz,
    tries            integer not null default 0,
    due_at           timestamptz,
    state            text,               -- where a sent move put the card
    detail           text,
    written_at       timestamptz not null default stationkeeper_clock(),
    settled_at       timestamptz,
    foreign key (workflow, workflow_version) references workflow_version,
    constraint a_write_has_one_number_of_its_item unique (item_key, seq),
    constraint a_write_is_a_move_or_a_comment check (
        (act = 'move' and role is not null and only_from is not null and key is null)
        or (act = 'comment' and key is not null and body is not null and role is null)),
    constraint a_write_has_one_of_eight_statuses check (status in (
        'pending', 'claimed', 'unknown', 'sent', 'suppressed', 'superseded', 'withdrawn', 'parked')),
    constraint a_claim_has_an_owner_and_an_end check (
        status <> 'claimed' or (claim_token is not null and claim_until is not null))
) with (fillfactor = 70);

-- What is in the order of its item still. Parked, withdrawn and superseded rows have left it.
create index outbox_unsettled on outbox (item_key, seq) where status in ('pending', 'claimed', 'unknown');
