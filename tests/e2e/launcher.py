"""A launcher for a test: `orchestrator up` as a process in a folder of its own, with the demo's scene in it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from orchestrator import settings
from orchestrator.cli.demo import evidence, scene
from orchestrator.cli.demo.scene import Board, Scene
from tests.waiting import until

ORCHESTRATOR = [sys.executable, "-c", "from orchestrator.cli import main; main()"]
CELERY = [sys.executable, "-m", "celery", "-A", "orchestrator"]

# A worker boots in four seconds on an idle machine; tests share theirs.
BOOT_SECONDS = 60

# A supervisor whose launcher was killed tries for one lease to tell Postgres of its turns, which is gone as well; its
# agents are dead by then. Short, so that tests do not wait for it.
LEASE_SECONDS = 12


class Launcher:
    """The folder, and the launcher when it runs. The test's own environment tells the commands nothing.

    Without a `board` of somebody else it has a sample one of its own.
    """

    def __init__(self, folder: Path, *, cards: int = 4, board: Board | None = None, **variables: str) -> None:
        folder.mkdir()
        self.folder = folder
        self.stage: Scene = scene.set_up(folder, board or scene.sample_board(folder / "backlog", cards))
        bare = {name: value for name, value in os.environ.items() if name not in _ours()}
        self.environment = {**bare, "PYTHONPATH": str(Path(__file__).parents[2]), **variables}
        self.environment["STATIONKEEPER_LEASE_SECONDS"] = str(LEASE_SECONDS)
        self.output = folder / "up.log"
        self.process: subprocess.Popen[bytes] | None = None

    def up(self, *words: str) -> None:
        """Start the launcher and wait until it has introduced the system."""
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [*ORCHESTRATOR, "up", *words], cwd=self.folder, env=self.environment, stdout=output, stderr=output
            )
        until(lambda: "Flower:" in self.said(), timeout_seconds=BOOT_SECONDS, what="the introduction")

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the folder to its end."""
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=60, check=False
        )

    def orchestrator(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run one of our commands in the folder."""
        return self.run(*ORCHESTRATOR, *words)

    def said(self) -> str:
        """What the launcher printed so far."""
        return self.output.read_text()

    def flower(self) -> tuple[str, str, str]:
        """Flower's address, user and password, as the launcher told a person."""
        found = re.search(r"Flower: (\S+) \(user (\S+), password (\S+)\)", self.said())
        assert found
        return found[1], found[2], found[3]

    def await_agents(self) -> None:
        """Wait until an agent has begun to work on the board, by the agents' own log."""
        until(lambda: self.stage.witness.stat().st_size, timeout_seconds=BOOT_SECONDS, what="an agent at work")

    def left(self) -> Sequence[str]:
        """Every process that names the folder."""
        return evidence.processes(self.folder)

    def await_end(self) -> None:
        """Wait until no process names the folder."""
        until(lambda: not self.left(), timeout_seconds=3 * LEASE_SECONDS, what="the end of every process")

    def send(self, number: int) -> None:
        """Send the launcher a signal."""
        assert self.process
        self.process.send_signal(number)


def _ours() -> set[str]:
    return {*settings.VARIABLES.values(), settings.STATE_VARIABLE}
