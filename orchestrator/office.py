"""What one worker process is: its doors, slots, supervisor and pulse; made at first use, ended with the worker.

The Celery tasks reach for `context()`; the worker's signals call `begin`, `hand_back` and `end`.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache
from uuid import uuid4

from orchestrator import clock, queue, settings, wiring
from orchestrator.engine import hint
from orchestrator.engine.flows import manifest
from orchestrator.engine.publish import Publisher
from orchestrator.engine.worker import Identity, Slots, Worker, calm_lane, turn_slots
from orchestrator.ports import Ports
from orchestrator.ports.store import WorkerRow
from orchestrator.pulse import Pulse, Round, reap_orphans
from orchestrator.supervisor import client

# Ticks and write-backs of one worker at a time; two, so that a slow board does not keep a healthy one waiting.
CONTROL_SLOTS = RELAY_SLOTS = 2
# An archive of a large workspace keeps the disk busy for minutes; the next one can wait.
TIDY_SLOTS = 1
# A supervisor that leaves so many beats unanswered is frozen, however short the lease: one lost beat is a busy machine.
FEWEST_BEATS = 3


@dataclass(frozen=True, slots=True)
class Context:
    """One process of ours. `supervisor`, `pulse` and `watch` start with the worker; `only` is the one card to start.

    `serves` are the queues of this worker, once they are known.
    """

    ports: Ports
    worker: Worker
    publisher: Publisher
    control: Slots
    relay: Slots
    tidy: Slots
    supervisor: client.SupervisorClient
    pulse: Pulse
    watch: Round
    serves: set[str] = field(default_factory=set)
    only: str | None = None


@cache
def host_name() -> str:
    """The name of this process's host; the same for a worker, its supervisor and its queue."""
    found = settings.load()
    return clock.host_name(found.state_dir, found.host)


@cache
def context() -> Context:
    """This process, opened. A process that is asked for it twice at once opens it once: Celery's signals come first."""
    found = settings.load()
    silence = int((found.lease_seconds - found.grace_seconds) / found.beat_seconds)
    supervisor = client.SupervisorClient(_launch_supervisor, unanswered_beats=max(silence, FEWEST_BEATS))
    ports = wiring.open_ports(found, supervisor=supervisor)
    identity = Identity(host_name(), clock.boot_id(), os.getpid(), uuid4())
    serves: set[str] = set()
    worker = Worker(identity, Slots(0), found.state_dir, found.lease_seconds, calm_lane())
    return Context(
        ports=ports,
        worker=worker,
        publisher=Publisher(ports),
        control=Slots(CONTROL_SLOTS),
        relay=Slots(RELAY_SLOTS),
        tidy=Slots(TIDY_SLOTS),
        supervisor=supervisor,
        pulse=Pulse(
            seconds=found.beat_seconds,
            supervisor=supervisor.beat,
            row=_row_of(ports, worker, serves),
            heartbeat=found.heartbeat_file,
        ),
        watch=Round("watch", hint.Watch(ports).look, seconds=found.beat_seconds),
        serves=serves,
        only=found.only,
    )


def prepare() -> None:
    """Start the supervisor of a worker that is to take turns: it comes up while the worker itself does."""
    context().supervisor.start()


def begin(queues: frozenset[str], *, threads: int) -> None:
    """Start work on these queues: slots where turns are taken, a tick where ticks run, the pulse anywhere.

    A worker takes no turn before its supervisor listens: one beside it that is ready has the agent at work by then.
    """
    here, found = context(), settings.load()
    here.serves.update(queues)
    if queue.TURNS in queues:
        here.supervisor.await_ready()
        shared = bool(queues & {queue.CONTROL, queue.RELAY})
        here.worker.turns.open(turn_slots(found.turn_slots, threads=threads, shared=shared))
    here.pulse.start()
    reap_orphans()
    if queue.CONTROL in queues:
        queue.trim(found.redis_url, queue.CONTROL)
        here.publisher.look()
        here.watch.start()  # its first look comes before the listing, so that nothing happens between the two
        manifest.put_in_force(here.ports.store, here.ports.flows)
        here.ports.store.reconciler.request(None, listing=True)
        here.ports.queue.ring()


def hand_back() -> None:
    """Take no more turns, and end the running ones with their sessions kept; they conclude as `deploy`."""
    here = context()
    here.worker.turns.close()
    here.tidy.close()
    here.supervisor.stop_all()


def end() -> None:
    """The pulse stops, the row goes, the pipe closes and with it the supervisor ends."""
    here = context()
    here.pulse.stop()
    here.watch.stop()
    here.ports.store.workers.leave(here.worker.identity.id)
    here.supervisor.close()


@cache
def _installation() -> str:
    """Read once: a supervisor that is replaced while Postgres is silent must sweep all the same."""
    return context().ports.store.installation


def _launch_supervisor(theirs: socket.socket) -> subprocess.Popen[bytes]:
    """The supervisor's process, with its end of the pipe as descriptor."""
    command = [sys.executable, "-m", "orchestrator.cli.supervise", str(theirs.fileno()), _installation()]
    return subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)


def _row_of(ports: Ports, worker: Worker, serves: AbstractSet[str]) -> Callable[[], None]:
    who = worker.identity

    def tell() -> None:
        slots, busy = worker.turns.offered, worker.turns.busy
        row = WorkerRow(who.id, who.host, who.boot_id, who.pid, slots, busy, tuple(sorted(serves)))
        is_draining = ports.store.workers.beat(row)
        if is_draining and slots:
            hand_back()

    return tell
