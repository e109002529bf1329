"""Flows whose decision asks an agent program; what it proposes is paid, when it is accepted."""

from __future__ import annotations

from orchestrator.flows import Agent, Decision, Flow
from tests.flows.refund import FLOW as REFUND
from tests.flows.refund import Order, Proposal, Shipment, refund_policy


def describe(input: Order, lookup: Shipment) -> str:  # noqa: A002 -- the flow's own word
    """What the agent is asked."""
    return f"Order {input.order}, lost: {lookup.lost}. How much of {input.amount} do we pay back?"


def clerk(proposal: Proposal) -> str | None:
    """Whoever pays more than fifty needs a permission for it."""
    return "refunds:large" if proposal.amount > 50 else None


def asking(name: str, agent: Agent | str, **more: object) -> Flow:
    """The refund, with this agent."""
    decision = Decision("assess", agent, accept=Proposal, policy=refund_policy, needs=clerk, owner="clerks", **more)  # type: ignore[arg-type]
    return Flow(name, version=1, steps=[REFUND.steps[0], decision, REFUND.steps[2]])


FLOW = asking("northstar.asking", Agent("command", describe, command="true"), max_attempts=2)
PLAIN = asking("northstar.plain", "command")

# For real workers: a program that leaves a file, one that gives its summary, one that is not there, one that hangs.
WRITES = asking(
    "ask.writes", Agent("command", describe, command="cat > asked; printf '{\"amount\": 30}' > proposal.json")
)
SAYS = asking(
    "ask.says",
    Agent("command", command="""echo '{"type":"result","outcome":"done","summary":"{\\\"amount\\\": 30}"}'"""),
)
UNKNOWN = asking("ask.unknown", "nobody")
ABSENT = asking("ask.absent", Agent("command", command="no-such-program"), max_attempts=1)
HANGS = asking("ask.hangs", Agent("command", command="sleep 600"), timeout_seconds=5.0, max_attempts=1)
RANTS = asking("ask.rants", Agent("command", command="head -c 50000000 /dev/zero > proposal.json"))
NAMES = ("WRITES", "SAYS", "UNKNOWN", "ABSENT", "HANGS", "RANTS")
