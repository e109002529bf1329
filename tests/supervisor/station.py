"""A station: a folder with a supervisor, the doors that a test answers at, and the programs that it runs for a turn."""

import contextlib
import copy
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from uuid import UUID, uuid4

from orchestrator.ports.store import TurnRef
from orchestrator.ports.supervisor import ProcessOrder
from orchestrator.supervisor import host, marker
from orchestrator.supervisor.client import SupervisorClient
from orchestrator.supervisor.clock import boot_seconds
from orchestrator.supervisor.trust import Config
from tests.waiting import until

ROOT = Path(__file__).parents[2]

# Short enough for a test, and each long enough for this machine to be late by half of it.
LEASE_SECONDS, GRACE_SECONDS, RENEWAL_SECONDS, BEAT_SECONDS = 3.0, 1.0, 0.2, 0.1


@dataclass(frozen=True, slots=True)
class WorkerProcess:
    """A worker that can be frozen and killed: its process, its turn, its supervisor's pid."""

    process: subprocess.Popen
    turn_id: UUID
    supervisor: int


@dataclass
class Station:
    """One worker's surroundings. `client` is the worker's side where the test itself is the worker."""

    folder: Path
    config: Config
    place: Path | None = None

    def __post_init__(self):
        self.workspace.mkdir(exist_ok=True)
        self.say("ours")
        self.client = SupervisorClient(self.launch)
        self.supervisors = []
        self.stopped = threading.Event()

    @property
    def workspace(self) -> Path:
        """Where its programs run."""
        return (self.place or self.folder) / "workspace"

    @property
    def transcript(self) -> Path:
        """What its programs said."""
        return (self.place or self.folder) / "transcript"

    def at(self, place: Path) -> "Station":
        """The same station, with workspace and transcript in another place: for tests that share a supervisor."""
        other = copy.copy(self)
        other.place = place
        other.workspace.mkdir(exist_ok=True)
        return other

    def open(self) -> "Station":
        """Start the supervisor, and beat as a worker's main loop does."""
        self.client.start()
        threading.Thread(target=self._beat, daemon=True).start()
        return self

    def close(self) -> None:
        """End everything; a supervisor that the test froze is let go on first."""
        self.say("ours")
        self.stopped.set()
        for pid in self.supervisors[-1:]:
            kill(pid, signal.SIGCONT)
        self.client.close()

    @contextlib.contextmanager
    def worker(self, script: str) -> Iterator["WorkerProcess"]:
        """A worker in a process of its own that runs the script for one turn; killed at the end."""
        command = [
            sys.executable,
            "-m",
            "tests.supervisor.run_worker",
            str(self.folder),
            json.dumps(asdict(self.config)),
            script,
        ]
        process = subprocess.Popen(command, cwd=ROOT)
        try:
            told = until(lambda: _told(self.folder / f"worker-{process.pid}"))
            yield WorkerProcess(process, UUID(told["turn"]), told["supervisor"])
        finally:
            process.kill()
            process.wait()

    def _beat(self) -> None:
        while not self.stopped.wait(BEAT_SECONDS):
            self.client.beat()

    def launch(self, theirs) -> subprocess.Popen:
        """Start a supervisor's process."""
        config = json.dumps(asdict(self.config))
        command = [
            sys.executable,
            "-m",
            "tests.supervisor.run_supervisor",
            str(theirs.fileno()),
            str(self.folder),
            config,
        ]
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], cwd=ROOT)
        self.supervisors.append(process.pid)
        return process

    # --- the doors ---------------------------------------------------------------------------------------------------

    def say(self, answer: str) -> None:
        """What Postgres says to a renewal from now on, whole at any moment."""
        draft = self.folder / "says.draft"
        draft.write_text(answer)
        draft.replace(self.folder / "says")

    def asked(self, what: str) -> list[dict]:
        """What Postgres was asked so far."""
        path = self.folder / "asked"
        calls = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        return [call for call in calls if call["what"] == what]

    # --- turns and programs ------------------------------------------------------------------------------------------

    def adopt(self, *, fence: int = 1, step_seconds: float = 600) -> TurnRef:
        """A turn of this worker."""
        ref = TurnRef(uuid4(), fence, uuid4())
        self.client.adopt(ref, lease_key="lease", sent_at=boot_seconds(), step_seconds=step_seconds)
        return ref

    def order(self, ref: TurnRef, script: str, **changes) -> ProcessOrder:
        """A shell script as a program of the turn."""
        given = {
            "turn_id": ref.turn_id,
            "fence": ref.fence,
            "argv": ("sh", "-c", script),
            "cwd": self.workspace,
            "environment": {"PATH": os.environ["PATH"]},
            "stdin": b"",
            "transcript": self.transcript,
            "timeout_seconds": 600,
            "stall_seconds": None,
        }
        return ProcessOrder(**given | changes)

    def run(self, script: str, **changes):
        """Run a script for a turn of its own."""
        return self.client.spawn(self.order(self.adopt(), script, **changes))

    def log(self) -> str:
        """What the supervisor told of itself."""
        return (self.folder / "supervisor.log").read_text()

    def said(self) -> str:
        """The transcript so far."""
        return self.transcript.read_text() if self.transcript.exists() else ""


def marked(ref_or_turn) -> dict[int, host.Process]:
    """The living processes that bear a turn's marker."""
    turn_id = getattr(ref_or_turn, "turn_id", ref_or_turn)
    return {
        pid: process
        for pid, process in host.table().items()
        if process.is_alive and (found := marker.Marker.parse(process.marker)) and found.turn_id == turn_id
    }


def all_in_state(ref, state: str) -> bool:
    """Whether the turn has processes and every one is in this state."""
    found = marked(ref)
    return bool(found) and all(process.state == state for process in found.values())


def kill(pid: int, signum: int = signal.SIGKILL) -> None:
    """Signal a process that the test started."""
    os.kill(pid, signum)


def writer(path: Path, *, every_seconds: float = 0.02) -> str:
    """A script that appends a line to a file for ever."""
    return f"while :; do echo x >> {shlex.quote(str(path))}; sleep {every_seconds}; done"


def _told(path: Path) -> dict | None:
    return json.loads(path.read_text()) if path.exists() else None


def running(command: str) -> set[int]:
    """The pids of the living processes that run exactly this command line."""
    wanted = command.encode().replace(b" ", b"\0") + b"\0"
    return {pid for pid, process in host.table().items() if process.is_alive and _command_line(pid) == wanted}


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
