"""What a person types: the commands that change something, as the command line hands them to the store."""

from __future__ import annotations

from typing import Any

from orchestrator.domain.hold import HoldScope
from orchestrator.ports.store import Hand, OperatorStore, Place


def give(operators: OperatorStore, about: str | None, verb: str, *, reason: str, **more: Any) -> Any:
    """Carry out a command about a card, the workflow ("world") or the fleet (None); gives the store's answer."""
    if about is None:
        place = Place(HoldScope.FLEET, "the fleet")
    elif about == "world":
        place = operators.workflow(about) or Place(HoldScope.WORKFLOW, "gone")
    else:
        [place] = operators.places(about)
    if verb == "hold":
        more = {"seconds": None, **more}
    return getattr(operators, verb)(place, Hand("robin", reason), **more)
