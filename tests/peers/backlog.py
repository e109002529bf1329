"""The real Backlog.md program as a person: its commands, and the API that its browser page uses."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.peers import places
from tests.waiting import until

STATUSES = '["To Do", "In Progress", "In Review", "Done"]'
# How often the program may say that somebody else is at the card; our lock is held for milliseconds.
_TRIES = 50


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody at a board with the program; `busy` counts how often it was told to try again."""

    project: Path
    page: httpx.Client
    busy: list[str]

    def run(self, *words: str) -> str:
        """One command; repeated while it says that the card is being changed."""
        for _ in range(_TRIES):
            done = subprocess.run(
                [str(places.backlog()), *words],
                cwd=self.project,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            if done.returncode == 0:
                return done.stdout
            said = done.stdout + done.stderr
            assert "being modified" in said, f"{words}: {said}"
            self.busy.append(words[-1])
        raise AssertionError(f"{words}: always busy")

    def create(self, title: str, *words: str) -> str:
        """A card; gives its id."""
        made = re.search(r"^Task (\S+) - ", self.run("task", "create", title, "--plain", *words), re.MULTILINE)
        assert made
        return made[1]

    def put(self, item_id: str, **changes: Any) -> None:
        """An edit in the browser."""
        self._click("PUT", item_id, changes)

    def complete(self, item_id: str) -> None:
        """A click that puts a card among the completed ones."""
        self._click("POST", f"{item_id}/complete")

    def archive(self, item_id: str) -> None:
        """A click that puts a card away."""
        self._click("DELETE", item_id)

    def _click(self, method: str, place: str, changes: dict[str, Any] | None = None) -> None:
        for _ in range(_TRIES):
            answer = self.page.request(method, f"/api/tasks/{place}", json=changes)
            if answer.is_success:
                return
            told = f"{method} {place} {changes}: {answer.status_code} {answer.text}"
            assert "being modified" in answer.text, told
            self.busy.append(place)
        raise AssertionError(f"{place}: always busy")

    def shown(self, item_id: str) -> dict[str, Any]:
        """The card as the program shows it."""
        answer = self.page.get(f"/api/task/{item_id}")
        assert answer.is_success, answer.text
        return answer.json()


@contextmanager
def at_a_board(project: Path) -> Iterator[Person]:
    """A fresh board and its browser page; skips the test where the program is not installed."""
    program = str(places.backlog())
    project.mkdir()
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    quiet: dict[str, Any] = {"cwd": project, "stdin": subprocess.DEVNULL, "capture_output": True, "timeout": 60}
    subprocess.run([program, "init", "Peers", "--defaults", "--integration-mode", "none"], check=True, **quiet)
    config = project / "backlog" / "config.yml"
    text = re.sub(r"(?m)^statuses: .*$", f"statuses: {STATUSES}", config.read_text())
    config.write_text(text.replace("remote_operations: true", "remote_operations: false"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [program, "browser", "--no-open", "--non-interactive", "-p", str(port)]
    with (
        (project / "browser.log").open("wb") as log,
        # It is a script that starts a program: both are ended as one group.
        subprocess.Popen(
            words, cwd=project, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        ) as process,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30, trust_env=False) as page,
    ):
        try:
            until(lambda: _answers(page), timeout_seconds=90, what="the browser page")
            yield Person(project, page, [])
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def _answers(page: httpx.Client) -> bool:
    with contextlib.suppress(httpx.TransportError):
        return page.get("/api/tasks").is_success
    return False
