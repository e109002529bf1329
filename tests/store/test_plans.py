"""A statement that knows its turn reads that turn, however many others run and however little the planner knows."""

import json

import pytest
from psycopg.types.json import Jsonb

from orchestrator.domain import flow
from orchestrator.store import checkpointing, renewing, rules, turns
from orchestrator.store.flows import concluding, ledger, recording
from tests.store.flow_scene import FlowScene

STATEMENTS = {
    "a flow's checkpoint": recording._FACT,
    "a decision's checkpoint": recording._DECISION,
    "what a flow's turn loads": recording._LOAD,
    "a flow's conclusion": concluding._CONCLUDE_OURS,
    "an intent": ledger._INTEND,
    "a settlement": ledger._SETTLE,
    "a turn's checkpoint": checkpointing._CHECKPOINT,
    "a turn's conclusion": turns._LOCK_OURS,
    "a renewal": renewing._RENEW,
    "a look for lost turns": renewing._LOST,
}


def values(ref):
    """What any of them is told, and more."""
    one = {"turn_id": ref.turn_id, "fence": ref.fence, "token": ref.token, "lease_seconds": 30.0}
    many = {"ids": [ref.turn_id], "fences": [ref.fence], "tokens": [ref.token]}
    step = {"ordinal": 1, "name": "s", "output": json.dumps(1), "ends": None, "transcript": None}
    effect = {"key": "k", "node": "n", "parameters": Jsonb({}), "undone_by": None, "act_seconds": 1.0}
    settled = {"safe_seconds": 1.0, "margin": 1.0, "status": "absent", "reason": "r", "sources": ["intended"]}
    return {**one, **many, **step, **effect, **settled}


@pytest.mark.proves("DE-06")
@pytest.mark.parametrize("name", STATEMENTS)
def test_a_turn_is_found_by_its_id(scene, name):
    """No index of running turns is read, though the tables were never analysed."""
    flows = FlowScene(scene)
    ref = flows.run()
    ending = concluding._values(flow.succeeded()) if "conclusion" in name else {}
    sql = rules.statement(STATEMENTS[name], frozenset())
    with scene.client() as client:
        plan = client.execute(f"explain {sql}", {**values(ref), **ending}).fetchall()
    told = "\n".join(line for (line,) in plan)
    assert "using turn_pkey on turn" in told
    assert "turn_running_on" not in told
    assert "turn_open" not in told
