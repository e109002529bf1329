"""What to make of a refused checkpoint: one diagnostic read tells a cancel, which is concluded, from a lost fence."""

from __future__ import annotations

from orchestrator import telemetry
from orchestrator.domain.turn import Ending, Outcome
from orchestrator.engine import patience
from orchestrator.ports import Ports
from orchestrator.ports.store import Admitted


def why(ports: Ports, admitted: Admitted, *, lease_seconds: float) -> Ending | None:
    """The ending that a cancel asks for; None when the turn is not ours any more, and we have nothing more to say."""
    ref = admitted.ref
    found = patience.persist(lambda: ports.store.turns.renew([ref], lease_seconds=lease_seconds)).get(ref.turn_id)
    if found is None or not found.ours or found.cancel is None:
        telemetry.write_refused(ref.turn_id, fence=ref.fence, what="checkpoint")
        return None
    return Ending(Outcome.FAILED, found.cancel)
