"""Flows whose functions misbehave in every way that a process of their own survives."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading

from pydantic import BaseModel

from orchestrator.flows import Decision, Effect, Flow, Step
from tests.flows.refund import Receipt, say


class Nothing(BaseModel):
    """An input that says nothing."""


class Proposal(BaseModel):
    """A proposal."""

    amount: int


def hang(input: Nothing) -> int:  # noqa: A002 -- the flow's own word
    """Waits for ever."""
    assert input
    threading.Event().wait()
    return 1


def kill_itself(input: Nothing) -> int:  # noqa: A002 -- the flow's own word
    """Kills the process that it runs in."""
    assert input
    os.kill(os.getpid(), signal.SIGKILL)
    return 1


def babble(input: Nothing) -> int:  # noqa: A002 -- the flow's own word
    """Prints what could be taken for an answer, and ends well."""
    assert input
    sys.stdout.write(json.dumps({"stationkeeper_step": {"said": "done", "value": 666}}) + "\n")
    return 1


def rant(input: Nothing) -> str:  # noqa: A002 -- the flow's own word
    """Fifty megabytes of JSON."""
    assert input
    return '{"amount": ' + "1" * 50_000_000 + "}"


def mumble(input: Nothing) -> str:  # noqa: A002 -- the flow's own word
    """No JSON."""
    assert input
    return "I would pay it back, I think."


def misfit(input: Nothing) -> str:  # noqa: A002 -- the flow's own word
    """Another schema."""
    assert input
    return json.dumps({"price": 3})


def reach_too_far(input: Nothing) -> str:  # noqa: A002 -- the flow's own word
    """What the task was not given."""
    assert input
    return json.dumps({"amount": 1})


def lie(input: Nothing) -> int:  # noqa: A002 -- the flow's own word
    """Returns what it did not declare."""
    assert input
    return "many"  # type: ignore[return-value]


def throw(input: Nothing) -> int:  # noqa: A002 -- the flow's own word
    """Raises."""
    assert input
    raise RuntimeError("the shelf fell down")


def pay_and_hang(key: str) -> Receipt:
    """The payment is made, and nobody ever hears of it."""
    say(paid=key, amount=1)
    threading.Event().wait()
    return Receipt(id="never", amount=1)


def pay_and_die(key: str) -> Receipt:
    """The payment is made, and its process is gone."""
    say(paid=key, amount=1)
    os.kill(os.getpid(), signal.SIGKILL)
    return Receipt(id="never", amount=1)


def flow(name: str, step: Step | Decision | Effect) -> Flow:
    """A flow of one step."""
    return Flow(f"bad.{name}", version=1, steps=[step])


HANGS = flow("hangs", Step("s", hang, timeout_seconds=1, max_attempts=1))
DIES = flow("dies", Step("s", kill_itself, max_attempts=2))
BABBLES = flow("babbles", Step("s", babble))
MUMBLES = flow("mumbles", Decision("s", mumble, accept=Proposal))
MISFITS = flow("misfits", Decision("s", misfit, accept=Proposal))
REACHES = flow("reaches", Decision("s", reach_too_far, accept=Proposal, needs=lambda _: "vault:open"))
LIES = flow("lies", Step("s", lie))
THROWS = flow("throws", Step("s", throw))
RANTS = flow("rants", Decision("s", rant, accept=Proposal))
PAYS_AND_HANGS = flow("pays_and_hangs", Effect("s", pay_and_hang, key=lambda s: f"h:{s.task}", timeout_seconds=8))
PAYS_AND_DIES = flow("pays_and_dies", Effect("s", pay_and_die, key=lambda s: f"d:{s.task}", timeout_seconds=8))
NAMES = (
    "HANGS",
    "DIES",
    "BABBLES",
    "MUMBLES",
    "MISFITS",
    "REACHES",
    "LIES",
    "THROWS",
    "RANTS",
    "PAYS_AND_HANGS",
    "PAYS_AND_DIES",
)
