-- Everything that was to be done outside, in one list and one language: a flow's effects, and the write-backs of the loop with
-- what their own statuses stand for. `act_until` is when the last act had to be over; `safe_until` until when the target knows
-- the key, null for a card, which keeps its hidden keys and its history; `undoes` the node that an effect takes back.
create or replace view ledger as
    select effect.task_id, effect.key, effect.node as what, effect.status, effect.sends, effect.parameters as told,
        effect.outcome, effect.reason, effect.intended_at, effect.settled_at,
        effect.act_until, effect.safe_until, (
            select done.node from effect done where done.task_id = effect.task_id and done.undone_by = effect.node) as undoes
    from effect
    union all
    select turn.task_id, coalesce(outbox.key, 'move:' || outbox.item_key || ':' || outbox.seq), outbox.kind || ' ' || outbox.act,
        stationkeeper_effect_status(outbox.status), outbox.tries,
        jsonb_strip_nulls(jsonb_build_object('role', outbox.role, 'from', outbox.only_from)),
        jsonb_strip_nulls(jsonb_build_object('state', outbox.state)),
        nullif(concat_ws(': ', nullif(outbox.status, 'sent'), nullif(outbox.detail, '')), ''),
        outbox.written_at, outbox.settled_at, outbox.claim_until, null, null
    from outbox join turn on turn.id = outbox.turn_id;
