"""Whether a workspace may be removed: only behind a closed card, and only after a death that somebody confirmed."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.domain.contract import StateContract
from orchestrator.domain.item import Item
from orchestrator.domain.turn import TurnStatus

# How a lost turn's end was learnt when nobody saw it: its processes may run still.
BY_LEASE = "its lease ran out"


@dataclass(frozen=True, slots=True)
class Standing:
    """What our records say of a workspace: what goes on with its item, and how the last turn in it ended.

    That turn ran on `host`, whose boot was `boot_id`; `death` is how its worker's end was learnt, if it was lost.
    """

    is_busy: bool
    is_held: bool
    status: TurnStatus
    death: str | None
    boot_id: str | None
    host: str | None = None


def why_kept(
    standing: Standing, item: Item | None, contract: StateContract, *, boot_id: str, has_processes: bool
) -> str | None:
    """Why the workspace stays, None when it may go. `boot_id` is the host's now."""
    if item is None:
        return "the card could not be seen"
    if not contract.is_terminal(item.state):
        return f"the card is not closed ({item.state})"
    if standing.is_busy or standing.is_held:
        return "something of ours is going on with the card"
    if not _is_dead(standing, boot_id, has_processes=has_processes):
        return "nobody has confirmed that the last turn's processes are dead"
    return None


def _is_dead(standing: Standing, boot_id: str, *, has_processes: bool) -> bool:
    """An owner that concluded saw the end; a lost turn's is its supervisor's word, another boot, or nothing to be seen.

    The caller holds the workspace's lock, which a process of the turn would hold.
    """
    if standing.status is not TurnStatus.LOST or standing.death != BY_LEASE:
        return True
    return standing.boot_id != boot_id or not has_processes
