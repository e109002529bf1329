"""The one thread that talks to Postgres and Redis; however long they are silent, the loop beside it goes on freezing.

It is told what to renew by `watch`, and tells what it learned through a queue; the loop is woken by a byte. It decides
nothing: a renewal that fails is no news, and the local deadline does the rest.
"""

import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from orchestrator import telemetry
from orchestrator.ports.leases import LeasesUnavailable
from orchestrator.ports.store import Renewal, StoreUnavailable, TurnRef
from orchestrator.supervisor import host, marker
from orchestrator.supervisor.clock import boot_seconds
from orchestrator.supervisor.trust import Config, Term

FOUND_DEAD = "supervisor: its worker is gone from this host, and no process of it is left"


class TurnLeases(Protocol):
    """What of `ports.store.TurnStore` the supervisor needs; each call raises StoreUnavailable."""

    def renew(self, refs: Sequence[TurnRef], *, lease_seconds: float) -> Mapping[UUID, Renewal]:
        """Extend the leases of the turns; one that is missing from the answer is unknown."""
        ...

    def lost_among(self, refs: Sequence[TurnRef]) -> frozenset[UUID]:
        """Which of the turns are not ours any more; extends nothing."""
        ...

    def lose(self, refs: Sequence[TurnRef], death: str) -> int:
        """Conclude turns as lost by our word."""
        ...

    def orphans(self, host: str, boot_id: str) -> Mapping[UUID, tuple[TurnRef, int]]:
        """The running turns of this host and boot, each with the pid of its worker."""
        ...


class ItemLeases(Protocol):
    """What of `ports.leases.Leases` the supervisor needs; raises LeasesUnavailable."""

    def renew(self, key: str, turn_id: UUID, fence: int, *, seconds: float) -> None:
        """Set the Redis lease again if it is missing, extend it if it is ours."""
        ...


@dataclass(frozen=True, slots=True)
class Doors:
    """The supervisor's doors, opened in its own process."""

    turns: TurnLeases
    leases: ItemLeases


@dataclass(frozen=True, slots=True)
class Answer:
    """What a renewal found, and when it was sent; the turns that it was sent for."""

    sent_at: float
    sent_for: tuple[TurnRef, ...]
    found: Mapping[UUID, Renewal]


class Renewer:
    """Renews what it was last told to, and reports the turns of workers that died without a supervisor."""

    def __init__(self, doors: Doors, config: Config, wake: Callable[[], None]) -> None:
        self.answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        self._doors, self._config, self._wake = doors, config, wake
        self._terms: tuple[Term, ...] = ()
        self._doubtful: tuple[Term, ...] = ()
        self._due = threading.Event()
        self._stopped = threading.Event()
        self._swept_at = boot_seconds()
        # A daemon: a Postgres that never answers must not keep the process.
        self._thread = threading.Thread(target=self._run, name="renewal", daemon=True)

    def start(self) -> None:
        """Begin to renew."""
        self._thread.start()

    def watch(self, terms: Sequence[Term], *, doubtful: Sequence[Term] = ()) -> None:
        """Renew `terms` from now on, and no others; of the `doubtful` ask only whether they are lost.

        A frozen agent still holds its workspace: the next owner waits until the loss of its fence is known.
        """
        self._terms, self._doubtful = tuple(terms), tuple(doubtful)

    def soon(self) -> None:
        """Renew now rather than in `renewal_seconds`: a thaw waits for it."""
        self._due.set()

    def stop(self) -> None:
        """Send no more renewals; one that is under way is not waited for."""
        self._stopped.set()
        self._terms = self._doubtful = ()
        self._due.set()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._renew(self._terms)
                self._ask_about(self._doubtful)
                self._report_the_dead()
            except Exception as error:  # noqa: BLE001 - a thread that ends would freeze every agent for good
                telemetry.service_failed("renewal", error=error)
            self._due.wait(self._config.renewal_seconds)
            self._due.clear()

    def _renew(self, terms: tuple[Term, ...]) -> None:
        if not terms:
            return
        refs = tuple(sorted((term.ref for term in terms), key=lambda ref: ref.turn_id))
        sent_at = boot_seconds()  # before it is sent: what counts is the earliest moment that the answer can speak of
        try:
            found = self._doors.turns.renew(refs, lease_seconds=self._config.lease_seconds)
        except StoreUnavailable as error:
            telemetry.service_failed("postgres", error=error)
            return
        self.answers.put(Answer(sent_at, refs, found))
        self._wake()
        self._set_item_leases([term for term in terms if term.ref.turn_id in found and found[term.ref.turn_id].ours])

    def _ask_about(self, terms: tuple[Term, ...]) -> None:
        if not terms:
            return
        sent_at, refs = boot_seconds(), tuple(term.ref for term in terms)
        try:
            lost = self._doors.turns.lost_among(refs)
        except StoreUnavailable as error:
            telemetry.service_failed("postgres", error=error)
            return
        if lost:
            self.answers.put(Answer(sent_at, refs, {turn_id: Renewal(ours=False) for turn_id in lost}))
            self._wake()

    def _set_item_leases(self, terms: Sequence[Term]) -> None:
        """Set the Redis leases, until one is not answered: they save work and prove nothing."""
        try:
            for term in terms:
                if term.lease_key and not self._stopped.is_set():
                    seconds = self._config.lease_seconds
                    self._doors.leases.renew(term.lease_key, term.ref.turn_id, term.ref.fence, seconds=seconds)
        except LeasesUnavailable as error:
            telemetry.service_failed("redis", error=error)

    def _report_the_dead(self) -> None:
        """Report turns of this host whose worker is gone and of which no process is left, by anybody's marker."""
        if self._stopped.is_set() or boot_seconds() < self._swept_at + self._config.sweep_seconds or not host.table():
            return
        self._swept_at = boot_seconds()
        # Those of a worker that died together with its supervisor: they hold workspaces that others wait for.
        if swept := marker.sweep_once(host.table(), installation=self._config.installation, boot_id=host.boot_id()):
            telemetry.swept(processes=len(swept))
        try:
            turns = self._doors.turns.orphans(self._config.host, host.boot_id())
            among = host.table()  # after the question: a turn that began meanwhile is not in its answer
            busy = marker.turns_with_processes(among)
            ours = {term.ref.turn_id for term in self._terms}
            lost = [ref for id_, (ref, pid) in turns.items() if not _runs(pid, among) and id_ not in busy | ours]
            if lost:
                self._doors.turns.lose(lost, FOUND_DEAD)
        except StoreUnavailable as error:
            telemetry.service_failed("postgres", error=error)


def _runs(pid: int, among: host.Table) -> bool:
    """Whether any process has the pid. One that was given away again delays the report until the lease is over."""
    return pid in among and among[pid].is_alive
