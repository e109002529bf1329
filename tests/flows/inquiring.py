"""Flows that ask a person: where to send a parcel, after a fee is paid that can be given back."""

from __future__ import annotations

import os

from pydantic import BaseModel

from orchestrator.flows import Effect, Flow, Question
from tests.flows.refund import Receipt, find_refund, say


class Parcel(BaseModel):
    """What is to be sent."""

    parcel: str


class Address(BaseModel):
    """Where to."""

    city: str


def which_address(input: Parcel) -> str:  # noqa: A002 -- the flow's own word
    """What the person reads."""
    if os.environ.get("WORDS") == "none":
        raise ConnectionError("no words come")
    say(asks=input.parcel)
    return f"Where does {input.parcel} go?"


def known_city(proposal: Address, input: Parcel) -> str | None:  # noqa: A002 -- the flow's own word
    """No parcel goes to the moon."""
    return f"{input.parcel} cannot go to the moon" if proposal.city == "moon" else None


def pay_fee(key: str) -> Receipt:
    """Paid before anybody is asked."""
    say(paid=key, amount=1)
    return Receipt(id=key, amount=1)


def give_back(key: str, fee: Receipt) -> Receipt:
    """The fee, back."""
    say(paid=key, amount=-fee.amount)
    return Receipt(id=key, amount=-fee.amount)


def send(key: str, address: Address) -> Receipt:
    """The parcel goes."""
    say(paid=key, amount=3, city=address.city)
    return Receipt(id=key, amount=3)


def keyed(word):
    """A key of the task, that begins with a word."""
    return lambda s: f"{word}:{s.task}"


ADDRESS = Question("address", which_address, accept=Address, policy=known_city, owner="support")
SEND = Effect("send", send, key=keyed("send"), lookup=find_refund, timeout_seconds=5)

FLOW = Flow("northstar.parcel", version=1, steps=[ADDRESS, SEND])

HURRIED = Flow(
    "northstar.hurried",
    version=1,
    steps=[
        Effect(
            "fee",
            pay_fee,
            key=keyed("fee"),
            lookup=find_refund,
            timeout_seconds=5,
            compensation=Effect("fee_back", give_back, key=keyed("back"), lookup=find_refund, timeout_seconds=5),
        ),
        Question("address", which_address, accept=Address, expires_seconds=600.0),
        SEND,
    ],
)

PLAIN = Flow(
    "northstar.plain",
    version=1,
    steps=[
        Question(
            "address",
            "Where does it go?",
            accept=Address,
            ends_when=lambda answer: "it stays here" if answer.city == "here" else None,
        ),
        SEND,
    ],
)
NAMES = ("FLOW", "HURRIED", "PLAIN")
