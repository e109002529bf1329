"""A flow: find the shipment, let an agent propose a refund, pay it once.

    STATIONKEEPER_FLOWS=docs/examples/refund.py:FLOW orchestrator up            # in one terminal
    orchestrator flow run northstar.refund --input '{"order": "A7", "paid": 30}' --wait 30      # in another

The payment service of this example is a file that only ever grows: `payments.log` in the current folder.
"""

import json
from pathlib import Path

from pydantic import BaseModel

from orchestrator.flows import READ, Decision, Effect, Flow, Step


class Order(BaseModel):
    order: str
    paid: int


class Shipment(BaseModel):
    lost: bool


class RefundProposal(BaseModel):
    amount: int
    why: str


class Receipt(BaseModel):
    transaction: str
    amount: int


PAYMENTS = Path("payments.log")


def find_shipment(input: Order) -> Shipment:
    return Shipment(lost=input.order.startswith("A"))


def ask_agent(input: Order, lookup: Shipment) -> str:  # stands for a model: its words are only a proposal
    return json.dumps({"amount": input.paid if lookup.lost else 0, "why": f"lost: {lookup.lost}"})


def refund_policy(proposal: RefundProposal, input: Order) -> str | None:
    return None if proposal.amount <= input.paid else f"{proposal.amount} is more than the {input.paid} that were paid"


def pay_refund(key: str, assess: RefundProposal) -> Receipt:
    with PAYMENTS.open("a") as log:
        log.write(json.dumps({"key": key, "amount": assess.amount}) + "\n")
    return Receipt(transaction=f"txn-{key}", amount=assess.amount)


def find_refund(key: str) -> Receipt | None:
    lines = PAYMENTS.read_text().splitlines() if PAYMENTS.exists() else []
    paid = [line for line in map(json.loads, lines) if line["key"] == key]
    return Receipt(transaction=f"txn-{key}", amount=paid[0]["amount"]) if paid else None


lookup = Step("lookup", find_shipment, effect=READ, timeout_seconds=10)
assess = Decision("assess", ask_agent, accept=RefundProposal, policy=refund_policy)
refund = Effect(
    "refund",
    pay_refund,
    key=lambda s: f"refund:{s.task}:{s.order}",
    lookup=find_refund,
    authority="refunds:write",
    timeout_seconds=10,
)
FLOW = Flow("northstar.refund", version=1, steps=[lookup, assess, refund])
