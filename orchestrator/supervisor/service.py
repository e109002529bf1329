"""The supervisor as a process: it sweeps before it listens, and gives the word on its dead worker before it ends."""

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Sequence

from orchestrator import telemetry
from orchestrator.ports.store import StoreUnavailable, TurnRef
from orchestrator.supervisor import host, marker
from orchestrator.supervisor.clock import boot_seconds
from orchestrator.supervisor.loop import Loop
from orchestrator.supervisor.renewal import Doors
from orchestrator.supervisor.trust import Config

WORKER_DIED = "supervisor: worker died"

# Between two tries to give the word; it is one statement, and nobody waits for it but the turn's next owner.
RETRY_SECONDS = 1.0


def serve(worker: socket.socket, doors: Doors, config: Config) -> None:
    """Supervise the worker at the other end of `worker`; returns when it is dead and nothing of it is left.

    To be called in the main thread of a process of its own, which must hold no other end of that pipe.
    """
    _become_independent()
    host.become_subreaper()
    swept = marker.sweep(installation=config.installation, boot_id=host.boot_id())
    if swept:
        telemetry.swept(processes=swept)
    _give_the_word(Loop(worker, doors, config).run(), doors, config)


def _become_independent() -> None:
    """End by the pipe only: neither with the terminal nor by a signal that was meant for the worker.

    Handled, not ignored: what a process ignores, its children ignore too, and an agent must hear SIGINT.
    """
    with contextlib.suppress(PermissionError):  # it leads a session already
        os.setsid()
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, lambda *_: None)


def _give_the_word(turns: Sequence[TurnRef], doors: Doors, config: Config) -> None:
    """Report the turns lost. When Postgres stays silent for a lease, their lease tells the same."""
    until, pause = boot_seconds() + config.lease_seconds, threading.Event()
    while turns and boot_seconds() < until:
        try:
            doors.turns.lose(turns, WORKER_DIED)
            return
        except StoreUnavailable as error:
            telemetry.service_failed("postgres", error=error)
            pause.wait(RETRY_SECONDS)
