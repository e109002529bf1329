"""One tick: what the board wants against what our records say, and the gap closed. The only place that opens turns.

The order is the law: the contract against the live states, our records in one snapshot, the board last. The other order
starts finished work a second time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from orchestrator import telemetry
from orchestrator.domain import contract as contracts
from orchestrator.domain import reconcile
from orchestrator.domain.hold import Hold, HoldKind, HoldScope, Lift
from orchestrator.domain.item import Item
from orchestrator.domain.reconcile import Plan
from orchestrator.domain.records import Board, Malformed, Records
from orchestrator.domain.select import NotDispatched
from orchestrator.domain.step import is_flow
from orchestrator.domain.walk import Walk
from orchestrator.domain.workflow import Workflow
from orchestrator.engine import apply, blockers, tidy, walk
from orchestrator.engine.flows import tick as flows
from orchestrator.engine.run import TickLost, keep
from orchestrator.ports import Ports
from orchestrator.ports.store import TickGrant, WorkflowRow
from orchestrator.ports.tracker import Tracker, TrackerError
from orchestrator.ports.workflows import WorkflowInvalid


@dataclass(frozen=True, slots=True)
class Report:
    """What one tick did: counts of actions and reasons, and what kept it from reading the board, if anything did."""

    workflow: str
    listing: bool
    counts: Mapping[str, int]
    fault: str | None = None
    blockers_read_to: str | None = None
    walk: Walk | None = None

    def as_row(self) -> dict[str, object]:
        """As it is kept on the reconciler row."""
        read_to = {} if self.blockers_read_to is None else {"blockers_read_to": self.blockers_read_to}
        came = {} if self.walk is None else {"walk": self.walk.as_row()}
        return {"listing": self.listing, "counts": dict(self.counts), "fault": self.fault, **read_to, **came}


def ring(ports: Ports, workflow: str | None = None, *, full: bool, only: str | None = None) -> Report | None:
    """Begin a tick if one is due, and ring again while another is; None when none was due.

    `full` asks for a listing first, so that a call by hand always leads to one full tick that began after it. `only`
    names the one card that may start.
    """
    if full:
        ports.store.reconciler.request(workflow, listing=True)
    grant = ports.store.reconciler.begin(workflow)
    if grant is None:
        return None
    report = _guarded(ports, grant, only)
    if ports.store.reconciler.finish(grant, report.as_row()):
        ports.queue.ring()
    return report


def _guarded(ports: Ports, grant: TickGrant, only: str | None) -> Report:
    """A tick that cannot go on says so in its report; the next one starts from scratch."""
    if is_flow(grant.workflow):
        return Report(grant.workflow, grant.listing, *flows.tick(ports, grant))
    try:
        return _tick(ports, grant, only)
    except (TickLost, WorkflowInvalid) as fault:
        telemetry.tick_failed(grant.workflow, error=fault)
        return Report(grant.workflow, grant.listing, {}, str(fault))


def _tick(ports: Ports, grant: TickGrant, only: str | None) -> Report:
    row = ports.store.workflows.current(grant.workflow)
    assert row is not None  # noqa: S101 -- the reconciler row refers to it
    workflow = ports.workflows.parse(row.body, path=row.source())
    states, fault = _check_contract(ports, grant, row=row, workflow=workflow)
    records = ports.store.items.records(grant)
    read_to = None
    try:
        board = read_board(ports, grant, workflow=workflow, records=records, states=states)
        board, read_to = blockers.on_board(ports.tracker(workflow), board, records, workflow=workflow, grant=grant)
    except TrackerError as error:
        board, fault = Board({}, grant.began_at, whole=False), str(error)
    limits = replace(workflow.limits, only=only)
    plan = reconcile.plan(board, records, workflow.contract, limits=limits, now=grant.began_at)
    _brake(ports, grant, records=records, plan=plan)
    _say_malformed(board, records)
    waits = apply.carry_out(ports, grant, plan, row=row, workflow=workflow)
    known = walk.told_anew(ports.tracker(workflow), grant, workflow=workflow, board=board, records=records)
    written = ports.store.items.save_waits(
        grant.workflow, waits, identifiers=_identifiers(board), whole=board.whole or row.retired, known=known
    )
    came = walk.look(ports, grant, workflow=workflow, board=board, records=records)
    if grant.listing:
        tidy.look(ports, grant, workflow=workflow, board=board)
    for other in plan.yields_to:
        ports.store.reconciler.request(other, listing=True)
    report = Report(grant.workflow, grant.listing, plan.counts(), fault, read_to, came)
    said = {"counts": dict(report.counts), "fault": fault, "waits_written": written}
    telemetry.tick(grant.workflow, listing=grant.listing, report=said)
    return report


def _check_contract(
    ports: Ports, grant: TickGrant, *, row: WorkflowRow, workflow: Workflow
) -> tuple[tuple[str, ...], str | None]:
    """Compare the contract with the live states at each listing; what is wrong stops dispatch only (SC-17).

    Returns the states to list, and what kept the live ones from being read, if anything did.
    """
    if not grant.listing:
        return (), None
    try:
        tracker = ports.tracker(workflow)
        live = tracker.states()
    except TrackerError as error:
        return workflow.contract.active, str(error)
    lacking = "; ".join(f"{problem.key}: {problem.message}" for problem in contracts.missing(workflow.contract, live))
    if ports.store.workflows.set_problem(row.name, lacking or None, version=row.version):
        if lacking:
            telemetry.contract_broken(row.name, problem=lacking)
        else:
            telemetry.contract_healed(row.name)
    return states_to_list(workflow, tracker, live), None


def states_to_list(workflow: Workflow, tracker: Tracker, live: Sequence[str]) -> tuple[str, ...]:
    """The states to list: the active ones, or every one where that costs nothing more (CS-17).

    A state that only the contract has, since somebody renamed it on the board, may still stand on cards.
    """
    if not tracker.profile.whole_board:
        return workflow.contract.active
    return tuple(dict.fromkeys((*live, *(state for _, state in workflow.contract.roles()))))


def read_board(ports: Ports, grant: TickGrant, *, workflow: Workflow, records: Records, states: Sequence[str]) -> Board:
    """The board, last. A listing reads every item in `states`, and by id those of ours that it did not show."""
    tracker = ports.tracker(workflow)
    listed, malformed = _list(ports, grant, tracker=tracker, states=states) if grant.listing else ({}, ())
    asked = _ours(records) if grant.listing else ports.store.items.due_ids(records, grant.began_at)
    missing = [item_id for item_id in asked if item_id not in listed]
    found = tracker.get_items(missing)
    gone = frozenset(item_id for item_id in missing if item_id not in found)
    return Board({**listed, **found}, grant.began_at, gone, malformed, whole=grant.listing)


def _ours(records: Records) -> tuple[str, ...]:
    return tuple(record.id for record in records.live())


def _list(
    ports: Ports, grant: TickGrant, *, tracker: Tracker, states: Sequence[str]
) -> tuple[dict[str, Item], tuple[Malformed, ...]]:
    items: dict[str, Item] = {}
    malformed: list[Malformed] = []
    extended_at = -math.inf  # reading our records may have taken long
    for page in tracker.list_items(states):
        items.update((item.id, item) for item in page.items)
        malformed.extend(page.malformed)
        extended_at = keep(ports, grant, extended_at)
    return items, tuple(malformed)


def _say_malformed(board: Board, records: Records) -> None:
    """A record that cannot be read is logged when it comes up, not at each look (CS-01)."""
    for bad in board.malformed:
        if not records.waits.get(bad.id, "").startswith(NotDispatched.MALFORMED.value):
            telemetry.refused(bad.id, reason=NotDispatched.MALFORMED, detail=bad.reason)


def _brake(ports: Ports, grant: TickGrant, *, records: Records, plan: Plan) -> None:
    """Hold the workflow when a plan would stop most of the fleet; lift it when a later read contradicts."""
    if plan.mass_cancel == records.braked:
        return
    if plan.mass_cancel:
        reason = "a tick would have cancelled more than half of the running items"
        hold = Hold(HoldScope.WORKFLOW, HoldKind.MASS_CANCEL, Lift.CONDITION, reason)
        ports.store.items.hold_workflow(grant.workflow, hold, HoldKind.MASS_CANCEL, seen_at=grant.began_at)
        telemetry.held(grant.workflow, kind=HoldKind.MASS_CANCEL, reason=reason)
    else:
        ports.store.items.hold_workflow(grant.workflow, None, HoldKind.MASS_CANCEL, seen_at=grant.began_at)


def _identifiers(board: Board) -> dict[str, str]:
    return {item.id: item.identifier for item in board.items.values()} | {bad.id: bad.id for bad in board.malformed}
