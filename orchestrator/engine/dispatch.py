"""Begins turns: re-read, lease, open and fence, publish; whichever says no gives the card its reason.

Cards go through together, a few dozen at a time: one round trip to Redis, one commit, one to the broker for all of
them. Each has its own re-read, version and verdict all the same, and a refusal of one is nothing to the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import uuid4

from orchestrator import telemetry
from orchestrator.domain import contract, keys, select
from orchestrator.domain.item import Item
from orchestrator.domain.reconcile import Dispatch
from orchestrator.domain.select import NotDispatched, Wait
from orchestrator.domain.sighting import Sighting
from orchestrator.engine import blockers, looking, serving
from orchestrator.engine.run import Run
from orchestrator.ports.leases import Claim, LeasesUnavailable
from orchestrator.ports.queue import PublishFailed
from orchestrator.ports.store import Offer, Opened, Opening, Refused
from orchestrator.ports.tracker import TrackerError

# So many are opened in one commit, which holds the workflow's row for some milliseconds. A tick that dies before it
# has published offers them again, and admission takes one.
_TOGETHER = 25
# A board that answers slowly gets smaller groups: a re-read must not be old when its turn is opened.
_FRESH_SECONDS = 0.5
# A queued turn holds its Redis lease for as long as an admitted one; the supervisor sets it again after that.
_LEASE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A card that is to begin, re-read; the claim bears the fence that its turn will have if it is opened."""

    opening: Opening
    claim: Claim


@dataclass(slots=True)
class Group:
    """The cards of one plan that go through together next; `read_at` is when the first of them was read."""

    run: Run
    candidates: list[Candidate] = field(default_factory=list)
    again: list[Offer] = field(default_factory=list)
    read_at: float = 0.0

    def add(self, action: Dispatch) -> None:
        """Re-read the card; all that have come together go when there are enough, or the first is getting old."""
        now = self.run.ports.clock.boot_seconds()
        if self.candidates and now - self.read_at > _FRESH_SECONDS:
            self.go()
        fresh = _reread(self.run, action) if self.run.publishing else Wait(NotDispatched.PUBLISH_FAILED)
        if isinstance(fresh, Wait):
            _leave_out(self.run, action.item, fresh)
            return
        if not self.candidates:
            self.read_at = now
        self.candidates.append(_candidate(self.run, action, fresh))
        if len(self.candidates) == _TOGETHER:
            self.go()

    def add_again(self, offer: Offer) -> None:
        """A turn that is queued already; its message is missing or old."""
        self.again.append(offer)
        if len(self.again) == _TOGETHER:
            self.go()

    def go(self) -> None:
        """Lease, open and publish what has come together."""
        (candidates, again), self.candidates, self.again = (self.candidates, self.again), [], []
        if candidates:
            _begin(self.run, candidates)
        if again and self.run.publishing:
            _publish(self.run, again)


def _reread(run: Run, action: Dispatch) -> Item | Wait:
    """The card by id, right before the spawn, through the same gate (CS-14); never older than what the plan saw."""
    try:
        tracker = run.ports.tracker(run.workflow)
        fresh = looking.at_start(lambda: looking.by_id(tracker, action.item.id), Sighting.of(action.item))
        if fresh is None:
            return Wait(NotDispatched.CHANGED_ON_REREAD, "gone")
        fresh = blockers.of(tracker, fresh)
        unwanted = None if fresh == action.item else select.wants(fresh, run.workflow.contract, run.workflow.limits)
        return unwanted or serving.elsewhere(run, tracker, fresh) or fresh
    except TrackerError as error:
        return Wait(NotDispatched.READ_FAILED, str(error))


def _candidate(run: Run, action: Dispatch, fresh: Item) -> Candidate:
    limits, turn_id = run.workflow.limits, uuid4()
    opening = Opening(
        item=fresh,
        seen_version=action.version,
        turn_id=turn_id,
        workflow=run.row,
        max_concurrent=limits.max_concurrent,
        max_in_state=limits.max_concurrent_by_state.get(contract.fold(fresh.state)),
        host=action.host,
    )
    fence = (action.record.fence if action.record else 0) + 1
    return Candidate(opening, Claim(keys.lease_key(run.row.scope, fresh.id), turn_id, fence))


def _begin(run: Run, candidates: Sequence[Candidate]) -> None:
    free = _leased(run, candidates)
    if not free:
        return
    answers = run.ports.store.items.open_turns([candidate.opening for candidate in free])
    offers: dict[str, Offer] = {}
    for candidate, answer in zip(free, answers, strict=True):
        item = candidate.opening.item
        if isinstance(answer, Refused):
            _give_back(run, candidate.claim)
            run.refused.add(item.id)
            _leave_out(run, item, Wait(answer.reason))
        else:
            offers[item.id] = _offer(candidate.opening, answer)
    fault = _publish(run, list(offers.values())) if offers else None
    for candidate in free if fault is not None else ():
        if candidate.opening.item.id in offers:
            _leave_out(run, candidate.opening.item, Wait(NotDispatched.PUBLISH_FAILED, fault or ""))


def _leased(run: Run, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Those whose Redis lease is to be had; the others wait for the next tick."""
    try:
        taken = run.ports.leases.take([candidate.claim for candidate in candidates], seconds=_LEASE_SECONDS)
    except LeasesUnavailable as error:
        run.publishing = False
        for candidate in candidates:
            _leave_out(run, candidate.opening.item, Wait(NotDispatched.PUBLISH_FAILED, str(error)))
        return ()
    for candidate, is_ours in zip(candidates, taken, strict=True):
        if not is_ours:
            _leave_out(run, candidate.opening.item, Wait(NotDispatched.REDIS_LEASE_TAKEN))
    return [candidate for candidate, is_ours in zip(candidates, taken, strict=True) if is_ours]


def _give_back(run: Run, claim: Claim) -> None:
    try:
        run.ports.leases.release(claim.key, claim.turn_id, claim.fence)
    except LeasesUnavailable as error:
        telemetry.service_failed("redis", error=error)  # the lease runs out by itself


def _publish(run: Run, offers: Sequence[Offer]) -> str | None:
    """Give turns to the broker; says what was in the way.

    They stay queued then, and a later tick enqueues the same ones again.
    """
    try:
        run.ports.queue.turns(offers)
    except PublishFailed as error:
        run.publishing = False
        return str(error)
    # Remembered, so that they are not offered again before their messages are stale.
    run.ports.store.items.mark_enqueued([offer.turn_id for offer in offers])
    return None


def _offer(opening: Opening, opened: Opened) -> Offer:
    identifier = opening.item.identifier
    telemetry.dispatched(identifier, turn_id=opened.turn_id, fence=opened.fence, ordinal=opened.ordinal)
    label = f"{identifier} turn {opened.ordinal} fence {opened.fence}"
    return Offer(opened.turn_id, opened.fence, label, opening.host)


def _leave_out(run: Run, item: Item, wait: Wait) -> None:
    run.waits[item.id] = wait
    telemetry.refused(item.identifier, reason=wait.reason, detail=wait.detail)
