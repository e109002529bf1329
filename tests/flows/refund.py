"""The flow that the tests run: a read, a decision, an effect against an outside log that only ever grows."""

from __future__ import annotations

import json
import os
from pathlib import Path

from pydantic import BaseModel

from orchestrator.flows import IDEMPOTENT_WRITE, Decision, Effect, Flow, Step


class Order(BaseModel):
    """What a refund is asked for."""

    order: str
    amount: int = 30


class Shipment(BaseModel):
    """What the carrier says."""

    lost: bool


class Proposal(BaseModel):
    """What the model proposes."""

    amount: int


class Receipt(BaseModel):
    """What the payment service answers."""

    id: str
    amount: int


def outside() -> Path:
    """The outside world's own log."""
    return Path(os.environ["OUTSIDE"])


def say(**told: object) -> None:
    """One line of that log, written by the outside world: whole, or not at all."""
    with outside().open("a", encoding="utf-8") as log:
        log.write(json.dumps(told) + "\n")


def find_shipment(input: Order) -> Shipment:  # noqa: A002 -- the flow's own word
    """A read."""
    say(asked=input.order)
    return Shipment(lost=True)


def assess(input: Order, lookup: Shipment) -> str:  # noqa: A002 -- the flow's own word
    """A plain function that stands for an agent."""
    return json.dumps({"amount": input.amount if lookup.lost else 0})


def refund_policy(proposal: Proposal, input: Order) -> str | None:  # noqa: A002 -- the flow's own word
    """Never more than was paid."""
    return None if proposal.amount <= input.amount else f"{proposal.amount} is more than the {input.amount} paid"


def pay_refund(key: str, assess: Proposal) -> Receipt:
    """The payment service: it checks nothing and pays whatever it is told to, as often as it is told."""
    answer = os.environ.get("PAYMENT_ANSWER")
    if answer == "late":  # the request is on its way for longer than anybody waits
        raise TimeoutError("no answer")
    say(paid=key, amount=assess.amount)
    if answer == "lost":
        raise TimeoutError("no answer")
    return Receipt(id=f"txn-{key}", amount=assess.amount)


def find_refund(key: str) -> Receipt | None:
    """What the payment service knows of the key."""
    lines = [json.loads(line) for line in outside().read_text(encoding="utf-8").splitlines()]
    found = [line for line in lines if line.get("paid") == key]
    return Receipt(id=f"txn-{key}", amount=found[0]["amount"]) if found else None


def tell(input: Order, refund: Receipt) -> bool:  # noqa: A002 -- the flow's own word
    """A letter to the customer, which does no harm twice."""
    say(told=input.order, amount=refund.amount)
    return True


FLOW = Flow(
    "northstar.refund",
    version=1,
    steps=[
        Step("lookup", find_shipment, timeout_seconds=10),
        Decision("assess", assess, accept=Proposal, policy=refund_policy),
        Effect(
            "refund",
            pay_refund,
            key=lambda s: f"refund:{s.task}:{s.order}",
            lookup=find_refund,
            authority="refunds:write",
            timeout_seconds=5,
        ),
    ],
)

KEPT = Flow("northstar.kept", version=1, steps=FLOW.steps, keep_days=None)

NOTIFIED = Flow("northstar.notified", version=1, steps=[*FLOW.steps, Step("notify", tell, effect=IDEMPOTENT_WRITE)])

BLIND = Flow(
    "northstar.blind",
    version=1,
    steps=[
        Step("lookup", find_shipment),
        Decision("assess", assess, accept=Proposal),
        Effect("refund", pay_refund, key=lambda s: f"blind:{s.task}", owner="payments team", timeout_seconds=5),
    ],
)


def overdo(input: Order, lookup: Shipment) -> str:  # noqa: A002 -- the flow's own word
    """An agent that is too kind."""
    return json.dumps({"amount": input.amount * 2 if lookup.lost else 0})


GREEDY = Flow(
    "northstar.greedy",
    version=1,
    steps=[FLOW.steps[0], Decision("assess", overdo, accept=Proposal, policy=refund_policy), FLOW.steps[2]],
)
