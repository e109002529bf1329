"""The real Codex and Claude Code under our supervisor, with a model on this machine that does as it is told."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.agents import claude_code, codex
from orchestrator.domain.turn import Outcome, StopReason
from orchestrator.domain.workflow import AgentSettings
from tests.agents.conftest import INHERITED, here, turn  # noqa: F401 - fixtures
from tests.peers import model, places
from tests.supervisor.station import marked
from tests.waiting import until

pytestmark = [pytest.mark.peer, pytest.mark.timeout(120)]

CONFIG = """\
model = "told"
model_provider = "here"
[model_providers.here]
name = "here"
base_url = "{address}/v1"
wire_api = "responses"
env_key = "CODEX_API_KEY"
request_max_retries = 0
stream_max_retries = 0
"""
# Nothing leaves the machine: whatever is not meant for our provider meets a closed door.
NOWHERE = {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}
CALM = {"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDE_CODE_MAX_RETRIES": "0"}
# How each is let do everything, which a commit in a worktree needs; and the box in which Codex works by itself.
PROGRAMS = ["codex", "codex in its box", "claude"]
COMMIT = "echo done > did.txt && git add -A && git commit -qm work"


@pytest.fixture
def begin(here, turn, tmp_path):  # noqa: F811 - fixtures
    """Start a real program on a prompt in a git worktree; ends with the provider."""
    with model.at_work() as address:
        yield Bench(here, replace(turn, session=None, workspace=worktree(tmp_path)), tmp_path, address)


def worktree(folder: Path) -> Path:
    """A worktree of a repository with one commit."""
    repository, place = folder.resolve() / "repository", folder.resolve() / "worktree"
    script = f"git init -q {repository} && cd {repository} && git -c user.name=x -c user.email=x@x commit -qm x"
    subprocess.run(["sh", "-c", f"{script} --allow-empty && git worktree add -q {place} -b card"], check=True)
    return place


class Bench:
    """A station, a turn, a home for the program, and the provider's address."""

    def __init__(self, station, order, folder, address):
        self.station, self.turn, self.folder, self.address = station, order, folder, address

    def __call__(self, name, prompt, *, session=None):
        """The turn under way."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        start = self.claude if name == "claude" else self.codex
        agent = start(home, "workspace-write" if "box" in name else "danger-full-access")
        return agent.start(replace(self.turn, prompt=prompt, session=session), self.station.client)

    def codex(self, home, box):
        """Codex, whose configuration and account are in the home that the worker has for it."""
        (home / "config.toml").write_text(CONFIG.format(address=self.address))
        account = {"CODEX_HOME": str(home), "CODEX_API_KEY": "ours"}
        settings = AgentSettings(
            command=f"{places.codex()} app-server",
            options={"thread_sandbox": box},
            env={"HOME": str(home), **NOWHERE},
            read_timeout_ms=30_000,
        )
        return codex.connect(settings, {**INHERITED, **account})

    def claude(self, home, _):
        """Claude Code, whose provider and account the worker's environment names."""
        account = {"ANTHROPIC_BASE_URL": self.address, "ANTHROPIC_API_KEY": "ours", "IS_SANDBOX": "1"}
        settings = AgentSettings(command=str(places.claude()), env={"HOME": str(home), **NOWHERE, **CALM})
        return claude_code.connect(settings, {**INHERITED, **account})

    def commits(self):
        """The subjects of the branch."""
        log = subprocess.run(
            ["git", "-C", self.turn.workspace, "log", "--format=%s"], capture_output=True, text=True, check=True
        )
        return log.stdout.split()


def spent(session) -> Iterator[tuple[object, object]]:
    """Input and output of each usage that was told."""
    for event in session.events():
        if event.type == "usage":
            yield event.data["input_tokens"], event.data["output_tokens"]


@pytest.mark.proves("AE-06")
@pytest.mark.parametrize("name", ["codex", "claude"])
def test_a_turn_commits_in_its_worktree_and_the_next_goes_on_in_its_session(begin, name):
    """Two requests each, one session, one commit a turn; the second turn's usage is its own."""
    first = begin(name, f"Please RUN[{COMMIT}] now.")
    assert list(spent(first))[-1] == (2 * model.INPUT, 2 * model.OUTPUT)
    ending = first.ending()
    assert (ending.outcome, ending.stop, ending.summary) == (Outcome.DONE, StopReason.DONE, model.DONE)
    assert begin.commits() == ["work", "x"]
    second = begin(name, f"Once more RUN[{COMMIT.replace('done', 'again')}] now.", session=ending.session)
    assert list(spent(second))[-1] == (2 * model.INPUT, 2 * model.OUTPUT)
    assert second.ending().session == ending.session
    assert begin.commits() == ["work", "work", "x"]


def test_codex_in_its_box_leaves_the_work_uncommitted(begin):
    """What the page says of the box: the folder can be written, the repository cannot."""
    assert begin("codex in its box", f"Please RUN[{COMMIT}] now.").ending().outcome is Outcome.DONE
    assert begin.commits() == ["x"]
    assert (begin.turn.workspace / "did.txt").exists()


@pytest.mark.proves("RT-13", "FS-16")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_cancel_in_the_middle_of_a_command_leaves_no_process(begin, name):
    """The program, its shell, and what the shell runs are gone when the turn has ended."""
    session = begin(name, "Please RUN[tail -f /dev/null & tail -f /dev/null] now.")
    until(lambda: any("tail" in line for line in commands(begin.turn)), what="the command")
    session.cancel()
    assert session.ending().stop is StopReason.CANCELLED
    assert marked(begin.turn) == {}


def commands(order):
    """The command lines of the turn's processes."""
    found = []
    for pid in marked(order):
        try:
            found.append(Path(f"/proc/{pid}/cmdline").read_text())
        except OSError:
            continue
    return found


@pytest.mark.parametrize("name", ["codex", "claude"])
def test_a_cancel_while_the_model_thinks_leaves_no_process(begin, name):
    """Nobody waits for an answer that does not come."""
    session = begin(name, "HANG")
    next(session.events())
    session.cancel()
    assert session.ending().stop is StopReason.CANCELLED
    assert marked(begin.turn) == {}


@pytest.mark.proves("AE-01", "AE-02")
@pytest.mark.parametrize("name", ["codex", "claude"])
@pytest.mark.parametrize(
    ("status", "means", "reason", "wait"),
    [
        (401, (Outcome.BLOCKED, StopReason.CONTRACT_BROKEN), "auth: ", None),
        (429, (Outcome.FAILED, StopReason.AGENT_FAILED), "rate_limited: ", 60.0),
        (500, (Outcome.FAILED, StopReason.AGENT_FAILED), "turn_failed: ", None),
    ],
)
def test_a_refusal_of_the_provider_is_told_apart(begin, name, status, means, reason, wait):
    """In the programs' own words, which are not ours to choose."""
    ending = begin(name, f"REFUSE[{status}]").ending()
    assert (ending.outcome, ending.stop) == means
    assert ending.reason.startswith(reason)
    assert ending.retry_after_seconds == wait


@pytest.mark.parametrize("name", ["codex", "claude"])
def test_a_session_that_is_gone_is_begun_anew(begin, name):
    """A session lies on a host, and a card may go to another."""
    ending = begin(name, "Hello.", session="01a22b2c-0000-4000-8000-234a9b4e11e0").ending()
    assert (ending.outcome, ending.summary) == (Outcome.DONE, model.DONE)
    assert ending.session != "01a22b2c-0000-4000-8000-234a9b4e11e0"
