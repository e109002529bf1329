"""The worker's side of the pipe: `ports.supervisor.Supervisor` over a supervisor process that is replaced when it dies.

One thread reads what the supervisor says and hands it to whom it concerns. When the pipe ends, it starts the next
supervisor, which sweeps before it listens; only then are the programs of the last one reported ended. Turns that are
adopted stay adopted. `_lock` guards everything that more than one thread changes; it is held for a send, which ends
unless the supervisor is frozen, and never for a wait.
"""

import contextlib
import itertools
import socket
import subprocess
import threading
from collections.abc import Callable
from uuid import UUID

from orchestrator import telemetry
from orchestrator.domain.turn import StopReason
from orchestrator.ports.store import StoreUnavailable, TurnRef
from orchestrator.ports.supervisor import ProcessOrder, Refusal, SpawnFailed
from orchestrator.supervisor import host, marker, wire
from orchestrator.supervisor.clock import boot_seconds
from orchestrator.supervisor.program import SWEPT, RunningProgram
from orchestrator.supervisor.trust import GAP_SECONDS

# Starts a process that calls `service.serve` on its copy of the socket.
Launch = Callable[[socket.socket], "subprocess.Popen[bytes]"]

# A supervisor is ready within a second; it may have to sweep first, ten at most. Past this the machine is in trouble.
READY_SECONDS = 30.0

# A supervisor that cannot start is tried again at this pace, for as long as the worker lives.
RELAUNCH_SECONDS = 1.0

# What a supervisor may need to kill what is left and to tell a slow database; past it, the lease tells the same.
FAREWELL_SECONDS = 40.0

# Beats without an answer after which a supervisor counts as frozen: at one a second, within a lease of 30 s.
UNANSWERED_BEATS = 25

RECEIVE_BYTES = 1 << 18


class SupervisorClient:
    """Fits `ports.supervisor.Supervisor`; every method may be called from any thread."""

    def __init__(self, launch: Launch, *, unanswered_beats: int = UNANSWERED_BEATS) -> None:
        """Starts nothing yet: a process that runs no turns needs no supervisor."""
        self._launch, self._unanswered_beats = launch, unanswered_beats
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._closed = threading.Event()
        self._generation = 0
        self._numbers = itertools.count(1)
        self._programs: dict[int, tuple[int, RunningProgram]] = {}  # each with the generation that it was sent to
        self._adopted: dict[UUID, wire.Adopt] = {}
        self._stops: dict[UUID, StopReason] = {}
        self._unanswered = 0
        self._stopping = False
        self._socket = socket.socket()
        self._process: subprocess.Popen[bytes] | None = None
        self._reader = threading.Thread(target=self._run, name="supervisor", daemon=True)

    def start(self) -> None:
        """Start a supervisor, and keep one for as long as this process lives or until `close`."""
        self._reader.start()

    def await_ready(self) -> bool:
        """Wait until a supervisor listens; False when none did in time."""
        return self._ready.wait(READY_SECONDS)

    def close(self) -> None:
        """End the supervisor as the worker's death would, and wait for it."""
        self._closed.set()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        if self._reader.is_alive():
            self._reader.join()

    def adopt(self, ref: TurnRef, *, lease_key: str | None, sent_at: float, step_seconds: float | None = None) -> None:
        """Renew this turn's lease from now on; `sent_at` is the boot clock's when its admission was sent."""
        request = wire.Adopt(ref, lease_key, sent_at, step_seconds)
        with self._lock:
            self._stops.pop(ref.turn_id, None)
            self._adopted[ref.turn_id] = request
            self._tell(request)

    def begin_step(self, turn_id: UUID, seconds: float) -> None:
        """Renew the turn for at most this long unless another step begins or a program of it ends."""
        with self._lock:
            self._tell(wire.BeginStep(turn_id, seconds))

    def release(self, turn_id: UUID) -> None:
        """Renew it no more, and end what it still runs."""
        with self._lock:
            self._adopted.pop(turn_id, None)
            self._stops.pop(turn_id, None)
            self._tell(wire.Release(turn_id))

    def spawn(self, order: ProcessOrder) -> RunningProgram:
        """Start a program of an adopted turn.

        Raises:
            SpawnFailed: it was not started; the message says why.
        """
        if not self.await_ready():
            raise SpawnFailed(
                Refusal.SUPERVISOR_LOST, f"none was ready within {READY_SECONDS:g} s; see the worker's log"
            )
        number = next(self._numbers)
        program = RunningProgram(stop=lambda: self._stop(number))
        with self._lock:
            if not self._ready.is_set():
                raise SpawnFailed(Refusal.SUPERVISOR_LOST, "it is being replaced")
            self._programs[number] = (self._generation, program)
            self._tell(wire.Spawn(number, order))
        try:
            program.await_start()
        except SpawnFailed:
            self._forget(number)
            raise
        return program

    def cancelled(self, turn_id: UUID) -> StopReason | None:
        """Why the turn has to stop, as far as the supervisor saw a reason."""
        return self._stops.get(turn_id)

    def has_processes(self, turn_id: UUID) -> bool:
        """Whether any process of the turn may still run on this host."""
        among = host.table()
        return not among or turn_id in marker.turns_with_processes(among)

    def beat(self) -> None:
        """Say that the main loop turns; a supervisor that answers none of many beats is replaced. Never blocks."""
        if not self._ready.is_set():
            return
        if self._unanswered >= self._unanswered_beats and self._process:
            self._unanswered = 0
            self._process.kill()
        self._unanswered += 1
        if self._lock.acquire(blocking=False):
            try:
                self._socket.send(wire.pack_request(wire.Beat()), socket.MSG_DONTWAIT)
            except OSError:
                return  # full: it has beats enough; or gone: the reader knows
            finally:
                self._lock.release()

    def stop_all(self) -> None:
        """End every program with EndedBy.SHUTDOWN, those started from now on included."""
        self._stopping = True  # a supervisor that is not ready yet is told when it is
        self._stop(None)

    def _stop(self, number: int | None) -> None:
        with self._lock:
            self._tell(wire.Stop(number))

    def _tell(self, request: wire.Request) -> None:
        """Send, with the lock held; when there is no supervisor now, the next one is told of all that is adopted."""
        if self._ready.is_set():
            self._send(request)

    def _send(self, request: wire.Request) -> None:
        with contextlib.suppress(OSError):  # the reader notices, and starts the next one
            self._socket.sendall(wire.pack_request(request))

    def _forget(self, number: int) -> None:
        with self._lock:
            self._programs.pop(number, None)

    # --- the reader --------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._closed.is_set():
            was_ready = False
            if process := self._open():
                was_ready = self._listen()
                self._take_leave(process)
            if not was_ready:
                self._closed.wait(RELAUNCH_SECONDS)
        for number in tuple(self._programs):
            self._hear(wire.Ended(number, SWEPT))

    def _open(self) -> "subprocess.Popen[bytes] | None":
        """Start a supervisor of the next generation; None when it cannot be started."""
        ours, theirs = socket.socketpair()
        with theirs, self._lock:
            self._generation += 1
            self._socket = ours
            try:
                self._process = self._launch(theirs)
            except (OSError, StoreUnavailable) as error:
                telemetry.service_failed("supervisor", error=error)
                return None
        if self._closed.is_set():  # meanwhile: `close` may have met the socket before this one
            ours.shutdown(socket.SHUT_RDWR)
        return self._process

    def _listen(self) -> bool:
        """Hand on what the supervisor says until its end of the pipe closes; returns whether it was ever ready."""
        lines = wire.Lines()
        with self._socket as pipe, contextlib.suppress(ConnectionError):
            while received := pipe.recv(RECEIVE_BYTES):
                for line in lines.feed(received):
                    self._hear(wire.read_report(line))
        with self._lock:
            was_ready = self._ready.is_set()
            self._ready.clear()
        return was_ready

    def _take_leave(self, process: "subprocess.Popen[bytes]") -> None:
        """Wait for its end: one that we closed kills and reports first, one that closed by itself is dead or broken."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            if self._closed.is_set():
                process.wait(FAREWELL_SECONDS)
                return
        telemetry.supervisor_lost(process.pid)
        process.kill()
        process.wait()

    def _hear(self, report: wire.Report) -> None:
        self._unanswered = 0
        match report:
            case wire.Ready():
                self._begin_generation()
            case wire.TurnStops(ref, reason):
                with self._lock:
                    if (adopted := self._adopted.get(ref.turn_id)) and adopted.ref == ref:
                        self._stops[ref.turn_id] = reason
            case wire.Started() | wire.Refused() | wire.Line() | wire.Ended():
                if known := self._programs.get(report.number):
                    known[1].hear(report)
                if isinstance(report, wire.Ended):
                    self._forget(report.number)

    def _begin_generation(self) -> None:
        """Tell the new supervisor of our turns, then report the programs that it swept."""
        with self._lock:
            for adopt in self._adopted.values():
                # Which step was under way is not known here; it gets a gap from now on, as between two steps.
                seconds = boot_seconds() - adopt.sent_at + (adopt.step_seconds or GAP_SECONDS)
                self._send(wire.Adopt(adopt.ref, adopt.lease_key, adopt.sent_at, seconds))
            if self._stopping:
                self._send(wire.Stop(None))
            self._ready.set()
            swept = [number for number, (born, _) in self._programs.items() if born < self._generation]
        for number in swept:
            self._hear(wire.Ended(number, SWEPT))
