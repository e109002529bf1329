"""A flow that books two things and then fails, or not: what is booked can be taken back, each by an effect of its own.

Outside is one log of lines that only ever grows: what was booked, and what was cancelled, by key.
"""

from __future__ import annotations

import json
import os

from pydantic import BaseModel

from orchestrator.flows import Effect, Flow, Refused, Step
from tests.flows.refund import outside, say


class Trip(BaseModel):
    """Where to."""

    to: str


class Booking(BaseModel):
    """What was booked."""

    id: str


def _known(word: str, key: str) -> Booking | None:
    lines = [json.loads(line) for line in outside().read_text(encoding="utf-8").splitlines()]
    return Booking(id=key) if any(line.get(word) == key for line in lines) else None


def _do(word: str, key: str) -> Booking:
    answer = os.environ.get(f"ANSWER_{key.partition(':')[0].upper()}")
    if answer == "refused":
        raise Refused("too late to cancel")
    if answer == "broken":
        raise ConnectionError("the office is closed")
    say(**{word: key})
    if answer == "lost":
        raise TimeoutError("no answer")
    return Booking(id=key)


def book_hotel(key: str, input: Trip) -> Booking:  # noqa: A002 -- the flow's own word
    """A room."""
    assert input.to
    return _do("paid", key)


def book_flight(key: str, hotel: Booking) -> Booking:
    """A seat."""
    assert hotel.id
    return _do("paid", key)


def find_booking(key: str) -> Booking | None:
    """What the booking office knows of the key."""
    return _known("paid", key)


def cancel_hotel(key: str, hotel: Booking) -> Booking:
    """The room is given back."""
    assert hotel.id
    return _do("paid", key)


def cancel_flight(key: str, flight: Booking) -> Booking:
    """The seat is given back."""
    assert flight.id
    return _do("paid", key)


def set_off(flight: Booking) -> bool:
    """The day has come."""
    if os.environ.get("WEATHER") == "storm":
        raise RuntimeError(f"no flight {flight.id} today")
    if os.environ.get("WEATHER") == "fog":
        raise ConnectionError("nobody can see anything")
    return True


def keyed(word):
    """A key of the task, that begins with a word."""
    return lambda s: f"{word}:{s.task}"


FLOW = Flow(
    "northstar.trip",
    version=1,
    steps=[
        Effect(
            "hotel",
            book_hotel,
            key=keyed("hotel"),
            lookup=find_booking,
            timeout_seconds=5,
            compensation=Effect(
                "leave_hotel",
                cancel_hotel,
                key=keyed("unhotel"),
                lookup=find_booking,
                authority="bookings:cancel",
                owner="travel desk",
                timeout_seconds=5,
            ),
        ),
        Effect(
            "flight",
            book_flight,
            key=keyed("flight"),
            lookup=find_booking,
            timeout_seconds=5,
            compensation=Effect(
                "leave_flight",
                cancel_flight,
                key=keyed("unflight"),
                lookup=find_booking,
                authority="bookings:cancel",
                owner="travel desk",
                timeout_seconds=5,
            ),
        ),
        Step("set_off", set_off, max_attempts=2),
    ],
)
