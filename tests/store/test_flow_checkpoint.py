"""The checkpoint of a flow and its ledger: what a statement lets through, what it refuses, and what is a fact."""

import pytest

from orchestrator.domain.turn import StopReason
from orchestrator.store.exchange import Exchange
from tests.store.flow_scene import FlowScene
from tests.store.scene import Scene, started_move
from tests.waiting import until


@pytest.fixture
def flows(scene: Scene) -> FlowScene:
    """A flow in force."""
    return FlowScene(scene)


@pytest.mark.proves("DE-04", "DE-06")
def test_a_checkpoint_is_one_statement_and_one_commit(flows, monkeypatch):
    """Step, lease and answer come from one execution of one prepared statement, in autocommit."""
    flows.run()
    seen = []
    ask = Exchange._ask
    monkeypatch.setattr(Exchange, "_ask", lambda self, sql, values: seen.append(sql) or ask(self, sql, values))
    before = flows.scene.one("select lease_until from turn where id = %s", flows.ref.turn_id)
    kept = flows.step()
    assert (kept.ours, kept.kept, len(seen)) == (True, True, 1)
    assert flows.scene.one("select lease_until from turn where id = %s", flows.ref.turn_id) > before


@pytest.mark.proves("H11")
def test_a_finished_step_is_recorded_whoever_brings_it(flows):
    """A worker that lost its turn read something: that is a fact, and the next turn does not read it again."""
    flows.run()
    zombie = flows.take_over()
    ours, flows.ref = flows.ref, zombie
    late = flows.step()
    assert (late.ours, late.kept) == (False, True)
    flows.ref = ours
    assert (flows.step().ours, flows.step().kept) == (True, False)  # the first record counts
    assert flows.flows.load(ours).steps["read"].output == {"of": str(zombie.turn_id)}


@pytest.mark.proves("H11")
def test_a_decision_counts_only_while_the_turn_is_ours(flows):
    """What somebody who lost the turn decided is not recorded."""
    flows.run()
    zombie = flows.take_over()
    flows.ref = zombie
    assert flows.step(is_decision=True).kept is False
    assert flows.scene.all("select 1 from step where name = 'read'") == []


@pytest.mark.proves("H11", "DE-08")
def test_a_committed_effect_is_recorded_whoever_brings_it(flows):
    """The refund happened; its owner's lease ran out during the call; its transaction id is not lost."""
    flows.run()
    assert flows.intend()
    zombie = flows.take_over()
    flows.ref = zombie
    assert flows.commit().kept is True
    assert flows.statuses()[:3] == ("unknown", "running", "pay committed")


@pytest.mark.proves("H11")
def test_refused_and_absent_need_the_fence(flows):
    """Both let somebody act again: a late word must not."""
    flows.run()
    flows.intend()
    zombie = flows.take_over()
    assert flows.flows.absent(zombie, f"key:{flows.task}", "said late") is False
    assert flows.flows.refuse(zombie, f"key:{flows.task}", "said late") is False
    assert flows.statuses()[2] == "pay unknown"


@pytest.mark.proves("H11", "DE-13")
@pytest.mark.parametrize("stopped_by", ["cancel", "deadline"])
def test_cancel_and_deadline_decide_what_may_start_and_refuse_no_fact(flows, stopped_by):
    """The step that was under way is recorded; nothing is intended after it."""
    flows.run()
    if stopped_by == "cancel":
        flows.flows.cancel(flows.task, StopReason.CANCELLED)
    else:
        flows.scene.change("update turn set deadline_at = stationkeeper_clock() - interval '1 s'")
    kept = flows.step()
    assert (kept.ours, kept.kept) == (False, True)
    assert flows.intend() is False


@pytest.mark.proves("H12", "DE-13")
def test_a_checkpoint_that_waited_sees_the_cancel(flows):
    """The flag is a column of the row that the statement updates: after the wait it is read again."""
    flows.run()
    with flows.scene.client() as client:
        client.execute("update turn set cancel = 'cancelled' where id = %s", [flows.ref.turn_id])
        waiting = flows.scene.later(lambda: flows.step(is_decision=True))
        until(lambda: flows.scene.blocked_by(client), what="the checkpoint waits for the row")
        client.commit()
        kept = waiting.result(10)
    assert (kept.ours, kept.kept) == (False, False)


@pytest.mark.proves("DE-08", "H24")
def test_a_key_is_in_the_ledger_once(flows):
    """The same key from another task is not done; from the same turn again it is the same intent."""
    flows.run(key="first")
    assert flows.intend("refund:A7") is True
    assert flows.intend("refund:A7") is True  # asked again after an unknown first
    flows.run(key="second")
    assert flows.intend("refund:A7") is False
    assert flows.scene.all("select sends from effect") == [(1,)]


@pytest.mark.proves("DE-08", "H10")
def test_an_intent_is_written_again_only_after_absent(flows):
    """Neither an open nor a committed effect is sent a second time; parameters never change."""
    flows.run()
    flows.intend()
    flows.take_over()
    assert flows.intend() is False  # its first act may still be under way
    assert flows.flows.absent(flows.ref, f"key:{flows.task}", "looked up") is True
    assert flows.intend() is True
    assert flows.commit().kept is True
    assert flows.intend() is False


@pytest.mark.proves("DE-08", "TW-01")
def test_effects_and_write_backs_are_rows_of_one_ledger(flows):
    """Whatever was to be done outside is in one list, a card's move as well as a refund."""
    admitted = flows.scene.run()
    flows.scene.step(admitted.ref, 1, started_move())
    flows.run()
    flows.intend()
    assert flows.scene.all("select what, status from ledger order by what") == [
        ("pay", "intended"),
        ("started move", "absent"),
    ]
