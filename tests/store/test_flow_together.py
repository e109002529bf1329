"""A statement for several turns says of each, and does to each, what the statement for one does.

Each turn is in company of a sound one, and its twin in the same case is alone: answers and rows are compared.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from orchestrator.domain import flow
from orchestrator.domain.turn import StopReason
from orchestrator.ports.store import FlowStep, FlowTask, TurnRef
from orchestrator.store import admitting
from orchestrator.store.admitting import Candidate
from orchestrator.store.flows import concluding, recording
from orchestrator.store.flows.concluding import Concluded
from orchestrator.store.flows.recording import Checkpoint
from orchestrator.store.open import open_store
from tests.store.flow_scene import ROW, FlowScene
from tests.store.scene import LEASE_SECONDS, owner
from tests.waiting import until

PAST = "stationkeeper_clock() - interval '1 s'"
CASES: dict[str, str] = {
    "sound": "select %s::uuid",
    "flagged": "update turn set cancel = 'cancelled' where id = %s",
    "taken back": "update turn set cancel = 'taken_back' where id = %s",
    "late": f"update turn set deadline_at = {PAST} where id = %s",
    "silent": f"update turn set lease_until = {PAST} where id = %s",
    "known to be dead": "update turn set death = 'its worker died' where id = %s",
    "another's": "update turn set token = gen_random_uuid() where id = %s",
    "of an older fence": "update turn set fence = fence + 1000 where id = %s",
    "over": "update turn set status = 'lost', stop_reason = 'lost', ended_at = now() where id = %s",
    "paused": "update task set status = 'unknown' where id = (select task_id from turn where id = %s)",
    "held": """insert into hold (scope, item_key, kind, lift, reason, owner)
        select 'item', item_key, 'operator', 'person', 'stop', 'me' from turn where id = %s""",
    "of an open effect": "select %s::uuid",
    "of a recorded step": """insert into step (turn_id, task_id, ordinal, name, output)
        select id, task_id, 1, 'read', '1' from turn where id = %s""",
}
ROWS = """
    select turn.status, turn.stop_reason, turn.summary, turn.ended_at is null, turn.death, turn.attempt,
        turn.lease_until > stationkeeper_clock(), turn.host, task.status, task.stop_reason, task.reason,
        task.due_at is null, task.ended_at is null, item.version, item.attempt, item.turns_in_row, item.sessions,
        (select count(*) from hold where item_key = item.key),
        (select jsonb_agg(jsonb_build_array(ordinal, name, output, ends) order by ordinal)
            from step where task_id = task.id),
        (select jsonb_agg(status) from effect where task_id = task.id),
        (select jsonb_agg(kind order by at) from history where item_key = item.key)
    from turn join task on task.id = turn.task_id join item on item.key = turn.item_key where turn.id = %s
"""


@dataclass(frozen=True)
class Kind:
    """A kind of call: for one and for several, and what it is asked of a turn."""

    alone: Callable[..., Any]
    together: Callable[..., Any]
    asks: Callable[[TurnRef], Any]


def checkpoint(**more: Any) -> Kind:
    """A step of that turn."""
    step = FlowStep(1, "read", {"n": 2}, **more)
    return Kind(
        recording.checkpoint,
        recording.checkpoint_together,
        lambda ref: Checkpoint(ref, step, 3 * LEASE_SECONDS),
    )


def conclude(ending: flow.Ending) -> Kind:
    """That end of the turn."""
    return Kind(
        concluding.conclude,
        concluding.conclude_together,
        lambda ref: Concluded(ref.turn_id, ending, ref.fence, ref.token),
    )


KINDS = {
    "a fact": checkpoint(),
    "a decision": checkpoint(is_decision=True),
    "the last step": checkpoint(ends="done"),
    "a load": Kind(recording.load, recording.load_together, lambda ref: ref),
    "its success": conclude(flow.succeeded()),
    "its failure": conclude(flow.failed(StopReason.STEP_FAILED, "no")),
    "an undoing": conclude(flow.undone()),
}


@pytest.fixture
def flows(scene):
    """A flow in force."""
    return FlowScene(scene)


def put(flows: FlowScene, case: str) -> TurnRef:
    """A running turn in that case."""
    ref = flows.run()
    flows.scene.change(CASES[case], ref.turn_id)
    if case == "of an open effect":
        assert flows.intend()
    return ref


def told(answer: Any) -> Any:
    """An answer without what two turns never share."""
    if not isinstance(answer, FlowTask):
        return answer
    effects = [(each.node, each.status, each.sends, each.sender_is_dead) for each in answer.effects.values()]
    kept = (answer.status, answer.input, answer.authority, answer.stopping, answer.steps, answer.failures, answer.card)
    return *kept, effects


def rows(flows: FlowScene, ref: TurnRef) -> list[Any]:
    """What is stored of a turn, its task and its item."""
    return flows.scene.all(ROWS, ref.turn_id)


@pytest.mark.proves("DE-05", "DE-06", "H11", "H12")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES)
def test_in_company_a_turn_gets_what_it_gets_alone(flows, case, kind):
    """Whatever is wrong with it; and the sound one beside it gets its own."""
    hot, one = flows.scene.store.hot, KINDS[kind]
    twin, beside, ours = put(flows, case), put(flows, "sound"), put(flows, case)
    by_itself = one.alone(hot, one.asks(twin))
    first, second = one.together(hot, [one.asks(ours), one.asks(beside)])
    if first is None:  # it is asked alone, as the combiner does
        first = one.alone(hot, one.asks(ours))
    assert told(first) == told(by_itself)
    assert rows(flows, ours) == rows(flows, twin)
    assert second is not None
    assert (flows.scene.one("select open_turns from workflow where name = 'flow:test.flow'")) == flows.scene.one(
        "select count(*) from turn where status in ('queued', 'running')"
        + (" or (status = 'lost' and stop_reason = 'lost')" if case == "over" else "")
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_turn_that_somebody_holds_keeps_nobody_else(flows, kind):
    """It is left out, unless it is only read; the others have their answers while it is still held."""
    one, held, sound = KINDS[kind], flows.run(), flows.run()
    with flows.scene.client() as other:
        other.execute("select 1 from turn where id = %s for update", [held.turn_id])
        first, second = one.together(flows.scene.store.hot, [one.asks(held), one.asks(sound)])
    assert (first is None, second is None) == (kind != "a load", False)


@pytest.mark.proves("CL-02", "H1")
@pytest.mark.parametrize("case", ["sound", "flagged", "late", "held", "of an older fence", "over"])
def test_in_company_a_queued_turn_starts_as_it_does_alone(flows, case):
    """Or is refused as it is alone."""
    hot, found = flows.scene.store.hot, []
    for each in (case, "sound", case):
        flows.start()
        found.append(flows.open())
        flows.scene.change(CASES[each], found[-1][0])
    twin, beside, ours = (Candidate(*row, owner(), LEASE_SECONDS) for row in found)
    by_itself = admitting.admit(hot, twin)
    first, second = admitting.admit_together(hot, [ours, beside])
    assert (first is None) == (by_itself is None)
    assert second is not None
    assert second.ref == TurnRef(beside.turn_id, beside.fence, beside.owner.token)
    refs = [TurnRef(each.turn_id, each.fence, each.owner.token) for each in (twin, ours)]
    assert rows(flows, refs[1]) == rows(flows, refs[0])


@pytest.mark.parametrize("rule", ["fence", "cancel", "deadline"])
def test_a_rule_of_the_statement_for_several_forbids_what_it_says(flows, rule):
    """With the rule a decision in that case is not recorded, and without it it is."""
    case = {"fence": "another's", "cancel": "flagged", "deadline": "late"}[rule]
    one = KINDS["a decision"]
    without = open_store(flows.scene.url, left_out=frozenset({rule}))
    try:
        for hot, is_recorded in ((flows.scene.store.hot, False), (without.hot, True)):
            ours, beside = put(flows, case), put(flows, "sound")
            first, second = one.together(hot, [one.asks(ours), one.asks(beside)])
            assert (first is not None, second is not None) == (is_recorded, True)
    finally:
        without.close()


def test_turns_of_several_threads_go_together_and_each_is_done_once(flows):
    """Thirty turns walk ten steps each beside each other: every step is there, every task is done, no slot is left."""
    refs = [flows.run() for _ in range(30)]

    def walk(ref: TurnRef) -> Any:
        room = flows.flows
        assert room.load(ref) is not None
        for ordinal in range(1, 11):
            assert room.checkpoint(ref, FlowStep(ordinal, f"s{ordinal}", ordinal), lease_seconds=LEASE_SECONDS).kept
        return room.conclude(ref, flow.succeeded()).value

    with ThreadPoolExecutor(30) as threads:
        assert set(threads.map(walk, refs)) == {"succeeded"}
    assert flows.scene.all("select count(*), min(ordinal), max(ordinal) from step group by task_id") == [
        (10, 1, 10) for _ in refs
    ]
    assert flows.scene.one("select open_turns from workflow where name = 'flow:test.flow'") == 0


@pytest.mark.proves("DE-13", "H25")
def test_conclusions_of_one_flow_wait_in_line_and_never_for_each_other(flows):
    """Three wait for the flow's row, which somebody writes and somebody else's new row refers to.

    A lock time-out would be told as an exception.
    """
    refs = [flows.run() for _ in range(3)]
    stores = [open_store(flows.scene.url) for _ in refs]

    def end(store: Any, ref: TurnRef) -> Any:
        return concluding.conclude(store.hot, KINDS["its success"].asks(ref)).value

    try:
        with ThreadPoolExecutor(3) as threads, flows.scene.client() as referrer, flows.scene.client() as writer:
            referrer.execute("select from workflow where name = %s for key share", [ROW])
            writer.execute("update workflow set served_at = now() where name = %s", [ROW])
            ends = []
            for number, (store, ref) in enumerate(zip(stores, refs, strict=True), start=1):
                ends.append(threads.submit(end, store, ref))
                until(lambda number=number: waiting(flows) == number)
            writer.commit()
            assert [each.result() for each in ends] == ["succeeded"] * 3
    finally:
        for store in stores:
            store.close()
    assert flows.scene.one("select open_turns from workflow where name = %s", ROW) == 0


def waiting(flows: FlowScene) -> int:
    """How many statements stand in line for some row."""
    found: int = flows.scene.one(
        "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    )
    return found
