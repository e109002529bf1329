"""A card's turn as the flow that it is: its steps and its write-backs, as data for `flow show` and `task show`.

The loop carries it out (`orchestrator.engine.turn`, `work`, `relay`); nobody starts it but the tick. Its checkpoints
are rows of the same table as a flow's steps, its write-backs rows of the same ledger, in the words of effects. Numbers
are the defaults of a workflow file.
"""

from __future__ import annotations

import hashlib

from orchestrator.domain.select import Limits
from orchestrator.domain.step import FlowContract, NodeKind, SideEffect, StepContract
from orchestrator.domain.turn import TurnLimits
from orchestrator.domain.workflow import AgentSettings

_A_PERSON = "a person"
_ATTEMPTS = TurnLimits().max_attempts
_TURN_SECONDS = AgentSettings().turn_timeout_ms / 1000
# How long one try of a write-back may take; there are tries until it is settled, or parked for a person.
WRITE_SECONDS = 75.0
# What one turn records, in its order; hooks of a workflow record theirs between, as `hook after_create` and so on.
_STEPS = (
    StepContract(
        1, "started", NodeKind.STEP, SideEffect.IDEMPOTENT_WRITE, _A_PERSON, {"item": "Item"}, "state, attempt",
        authority=None, timeout_seconds=60.0, max_attempts=_ATTEMPTS, retryable=("read_failed",),
        ends_when="the card is terminal, moved away or gone",
    ),
    StepContract(
        2, "workspace", NodeKind.STEP, SideEffect.IDEMPOTENT_WRITE, _A_PERSON, {"item": "Item"}, "path, branch, head",
        authority=None, timeout_seconds=600.0, max_attempts=_ATTEMPTS, retryable=("workspace_busy",),
    ),
    StepContract(
        3, "agent", NodeKind.DECISION, SideEffect.READ, _A_PERSON, {"prompt": "str", "workspace": "Workspace"},
        "outcome, stop, summary, reason", authority=None, timeout_seconds=_TURN_SECONDS, max_attempts=_ATTEMPTS,
        retryable=("agent_failed", "stalled", "timed_out"), policy="conclude",
    ),
    StepContract(
        4, "write_back", NodeKind.EFFECT, SideEffect.WRITE, _A_PERSON, {"write": "Move | Comment"}, "state",
        authority=None, timeout_seconds=WRITE_SECONDS, max_attempts=0, retryable=("deferred", "unknown"), looks_up=True,
        policy="permit",
    ),
)  # fmt: skip

TICKET = FlowContract(
    name="ticket",
    version=1,
    owner=_A_PERSON,
    takes="Item",
    steps=_STEPS,
    authority=frozenset(),
    isolated=True,
    deadline_seconds=None,
    quantum_seconds=_TURN_SECONDS,
    max_concurrent=Limits().max_concurrent,
    digest=hashlib.sha256(repr(_STEPS).encode()).hexdigest()[:16],
    body="{}",
    place=__name__,
)
