"""A fleet of real processes for a test: Celery workers and beats, a Backlog.md board, a git repository, shell agents.

Agents write what they do to a log of their own (`witness`), which with the board's files and git is all that a test
looks at. The clocks are short, so that a frozen worker outlives its lease within seconds.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from tests.waiting import until

# Short enough for a test to outlive a lease, long enough for two shared cores to renew it in time.
CLOCKS = {
    "STATIONKEEPER_LEASE_SECONDS": "6",
    "STATIONKEEPER_RENEWAL_SECONDS": "0.5",
    "STATIONKEEPER_GRACE_SECONDS": "1",
    "STATIONKEEPER_FREEZE_LIMIT_SECONDS": "30",
    "STATIONKEEPER_REQUEUE_SECONDS": "3",
}

# Starts, works in steps of a tenth of a second until the number of steps is reached, commits, ends. `$1` is the
# witness.
AGENT = r"""
say() { printf '{"item":"%s","turn":"%s","fence":%s,"pid":%s,"event":"%s"}\n' "$STATIONKEEPER_ISSUE_IDENTIFIER" \
    "$STATIONKEEPER_TURN" "$STATIONKEEPER_FENCE" "$$" "$1" >> "$WITNESS"; }
cat > /dev/null
say start
step=0
while [ "$step" -lt "$STEPS" ]; do sleep 0.1; step=$((step + 1)); say step; done
echo "$STATIONKEEPER_ISSUE_IDENTIFIER" > work.txt
git add -A && git commit -q -m "work on $STATIONKEEPER_ISSUE_IDENTIFIER" || true
say end
echo '{"type":"result","outcome":"done","summary":"worked"}'
"""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the witness log."""

    item: str
    turn: str
    fence: int
    pid: int
    event: str


@dataclass(slots=True)
class Fleet:
    """A folder with a board, a repository and a workflow file, and the processes started in it."""

    folder: Path
    database_url: str
    redis_url: str
    steps: int = 20
    interval_ms: int = 500
    max_agents: int = 4
    hooks: Mapping[str, str] = field(default_factory=dict)
    remote: str | None = None
    shared: bool = False
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def set_up(self, cards: int) -> None:
        """Make board, repository and workflow; the cards are T-1 and so on, all in To Do."""
        (self.folder / "backlog" / "tasks").mkdir(parents=True)
        statuses = ["To Do", "In Progress", "In Review", "Done", "On Hold"]
        (self.folder / "backlog" / "config.yml").write_text(
            yaml.safe_dump({"project_name": "Fleet", "statuses": statuses, "task_prefix": "t"})
        )
        for number in range(1, cards + 1):
            self.add_card(number)
        self._make_repository()
        (self.folder / "agent.sh").write_text(AGENT)
        self.witness.touch()
        (self.folder / "WORKFLOW.md").write_text(self._workflow())

    @property
    def witness(self) -> Path:
        """The agents' own log."""
        return self.folder / "witness.jsonl"

    def add_card(self, number: int, state: str = "To Do") -> None:
        """Put a card on the board, as a person's editor would."""
        front = f"id: t-{number}\ntitle: Card {number}\nstatus: {state}\nassignee: []\nlabels: []\ndependencies: []"
        self._card(number).write_text(f"---\n{front}\n---\n\n## Description\n\nDo {number}\n")

    def drag(self, number: int, state: str) -> None:
        """Move a card by hand."""
        card = self._card(number)
        card.write_text(re.sub(r"(?m)^status: .*$", f"status: {state}", card.read_text(), count=1))

    def state(self, number: int) -> str:
        """Where a card stands, by its file."""
        found = re.search(r"(?m)^status: (.*)$", self._card(number).read_text())
        return found[1].strip("'\" \r") if found else ""

    def card_text(self, number: int) -> str:
        """A card's file, whole."""
        return self._card(number).read_text()

    def comments(self, number: int) -> int:
        """How many comments of ours a card has."""
        return self.card_text(number).count("<!-- stationkeeper ")

    def lines(self, number: int | None = None) -> list[Line]:
        """What the agents wrote, of one card or of all."""
        lines = [Line(**yaml.safe_load(line)) for line in self.witness.read_text().splitlines()]
        return [line for line in lines if number is None or line.item.lower() == f"t-{number}"]

    def count(self, number: int, event: str) -> int:
        """How often an agent of a card wrote this event."""
        return sum(1 for line in self.lines(number) if line.event == event)

    def worker(self, name: str = "w1", *words: str, **env: str) -> subprocess.Popen[bytes]:
        """Start a plain worker (all queues unless `words` say otherwise) and return when it is ready."""
        process = self.start(name, "worker", f"--hostname={name}@%h", "--loglevel=info", *words, **env)
        until(lambda: "ready." in self.log(name), timeout_seconds=40, what=f"{name} is ready")
        return process

    def beat(self, name: str = "beat") -> subprocess.Popen[bytes]:
        """Start a plain beat."""
        return self.start(name, "beat", "--loglevel=info")

    def start(self, name: str, *words: str, **env: str) -> subprocess.Popen[bytes]:
        """Start `celery -A orchestrator …` in the folder."""
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "celery", "-A", "orchestrator", *words],
                cwd=self.folder,
                env=self.environment(env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.processes[name] = process
        return process

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run one command of Celery's to its end."""
        return self.run(sys.executable, "-m", "celery", "-A", "orchestrator", *words)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run any command in the folder to its end."""
        return subprocess.run(
            command, cwd=self.folder, env=self.environment({}), capture_output=True, text=True, timeout=60, check=False
        )

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        """What a process of the fleet sees."""
        ours = {name: value for name, value in os.environ.items() if not name.startswith("STATIONKEEPER_")}
        services = {"DATABASE_URL": self.database_url, "REDIS_URL": self.redis_url}
        return {**ours, **CLOCKS, **services, "PYTHONPATH": str(Path(__file__).parents[2]), **more}

    def log(self, name: str) -> str:
        """What a process has said."""
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def stop(self) -> None:
        """End whatever still runs, frozen or not; agents go with their supervisors."""
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()

    def agents(self, number: int) -> list[int]:
        """The pids of agents of a card that are still there."""
        pids = {line.pid for line in self.lines(number)}
        return [pid for pid in pids if Path(f"/proc/{pid}").exists()]

    def git(self, *words: str) -> str:
        """What git says in the repository."""
        command = ["git", "-C", str(self.folder / "repo"), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()

    def _card(self, number: int) -> Path:
        return self.folder / "backlog" / "tasks" / f"t-{number} - Card-{number}.md"

    def _make_repository(self) -> None:
        repository = self.folder / "repo"
        repository.mkdir()
        (repository / "README.md").write_text("a sample\n")
        git = ["git", "-C", str(repository), "-c", "user.name=T", "-c", "user.email=t@example.com"]
        for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "begin"]):
            subprocess.run([*git, *words], check=True)

    def _workflow(self) -> str:
        front = {
            "name": "fleet",
            "tracker": {
                "kind": "backlog",
                "path": ".",
                "active_states": ["To Do", "In Progress"],
                "terminal_states": ["Done"],
                "in_progress_state": "In Progress",
                "handoff_state": "In Review",
            },
            "polling": {"interval_ms": self.interval_ms},
            "workspace": {"root": "workspaces", "repository": "repo", "remote": self.remote, "shared": self.shared},
            "hooks": dict(self.hooks),
            "agent": {
                "kind": "command",
                "command": f"sh {self.folder}/agent.sh",
                "max_concurrent_agents": self.max_agents,
                "env": {"WITNESS": str(self.witness), "STEPS": str(self.steps)},
            },
        }
        return f"---\n{yaml.safe_dump(front, sort_keys=False)}---\nDo {{{{ issue.identifier }}}}\n"
