"""A statement that knows its turn reads that turn, however many others run and however little the planner knows."""

import json

import pytest
from psycopg.types.json import Jsonb

from orchestrator.domain import flow
from orchestrator.store import checkpointing, renewing, rules, turns
from orchestrator.store.flows import concluding, ledger, recording
from orchestrator.store.flows.concluding import Concluded
from tests.store.flow_scene import FlowScene

STATEMENTS = {
    "a flow's checkpoint": recording._FACT,
    "a decision's checkpoint": recording._DECISION,
    "what a flow's turn loads": recording._LOAD,
    "checkpoints of several flows' turns": recording._TOGETHER,
    "a flow's conclusion": concluding._CONCLUDE_OURS,
    "conclusions of several flows' turns": concluding._CONCLUDE_TOGETHER,
    "the lock of a conclusion": concluding._LOCK,
    "an intent": ledger._INTEND,
    "a settlement": ledger._SETTLE,
    "a turn's checkpoint": checkpointing._CHECKPOINT,
    "a turn's conclusion": turns._LOCK_OURS,
    "a renewal": renewing._RENEW,
    "a look for lost turns": renewing._LOST,
}


def values(ref, name):
    """What any of them is told, and more."""
    one = {"turn_id": ref.turn_id, "fence": ref.fence, "token": ref.token, "lease_seconds": 30.0}
    many = {"ids": [ref.turn_id], "fences": [ref.fence], "tokens": [ref.token]}
    step = {"ordinal": 1, "name": "s", "output": json.dumps(1), "ends": None, "transcript": None}
    effect = {"key": "k", "node": "n", "parameters": Jsonb({}), "undone_by": None, "act_seconds": 1.0}
    settled = {"safe_seconds": 1.0, "margin": 1.0, "status": "absent", "reason": "r", "sources": ["intended"]}
    several = {"turn_ids": [ref.turn_id], "lease_seconds": [30.0], "ordinals": [1], "names": ["s"], "outputs": ["1"]}
    asked = {"ends": [None], "decisions": [False]}
    ended = concluding._columns([Concluded(ref.turn_id, flow.succeeded(), ref.fence, ref.token)])
    if "several" in name:
        return {**many, **several, **asked, **ended}
    return {**one, **many, **several, **step, **effect, **settled, **ended, "lease_seconds": 30.0}


@pytest.mark.proves("DE-06")
@pytest.mark.parametrize("name", STATEMENTS)
def test_a_turn_is_found_by_its_id(scene, name):
    """No index of running turns is read, though the tables were never analysed."""
    flows = FlowScene(scene)
    ref = flows.run()
    sql = rules.statement(STATEMENTS[name], frozenset())
    with scene.client() as client:
        plan = client.execute(f"explain {sql}", values(ref, name)).fetchall()
    told = "\n".join(line for (line,) in plan)
    assert "using turn_pkey on turn" in told
    assert "turn_running_on" not in told
    assert "turn_open" not in told
