"""The image's entry point, run by itself, with a stand-in for `celery` that tells how it was started."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import until

ENTRYPOINT = Path(__file__).parents[2] / "ops" / "entrypoint.sh"

STAND_IN = f"""#!{sys.executable}
import json, os, pathlib, signal, sys
told = pathlib.Path(os.environ["TOLD"])
signal.signal(signal.SIGTERM, lambda *_: sys.exit("warm"))
told.with_suffix(".new").write_text(json.dumps({{"pid": os.getpid(), "argv": sys.argv[1:]}}))
told.with_suffix(".new").rename(told)
signal.pause()
"""


class Container:
    """A started entry point: what its program told of itself, and how it ended."""

    def __init__(self, process: subprocess.Popen[str], told: Path) -> None:
        self.process, self._told = process, told

    def told(self) -> dict[str, object]:
        """What the stand-in saw, once it runs."""
        until(self._told.exists, what="the program behind the entry point")
        found: dict[str, object] = json.loads(self._told.read_text())
        return found


@pytest.fixture
def start(tmp_path: Path) -> Iterator[object]:
    """Start the entry point with the given words; every process of it is gone afterwards."""
    stand_in, told, started = tmp_path / "celery", tmp_path / "told", []
    stand_in.write_text(STAND_IN)
    stand_in.chmod(0o755)

    def _start(*words: str, before: tuple[str, ...] = (), **variables: str) -> Container:
        environment = {"PATH": f"{tmp_path}{os.pathsep}{os.defpath}", "TOLD": str(told), **variables}
        command = [*before, str(ENTRYPOINT), *words]
        started.append(subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True))
        return Container(started[-1], told)

    yield _start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("words", [("worker", "turns"), ("beat",), ("flower",), ("celery", "inspect", "ping")])
def test_the_program_takes_the_place_of_the_shell(start, words):
    """Docker's SIGTERM goes to the process that it started: that process must be the program."""
    container = start(*words, FLOWER_BASIC_AUTH="name:password")
    assert container.told()["pid"] == container.process.pid


def test_a_worker_serves_the_queues_that_it_is_told(start):
    """And no other: ticks must not wait behind turns."""
    argv = start("worker", "control", "relay").told()["argv"]
    assert argv[argv.index("--queues") + 1] == "control,relay"


def test_workers_do_not_chatter_but_tell_flower(start):
    """Gossip and mingle grow with the square of the workers; task events are what Flower shows."""
    argv = start("worker", "turns").told()["argv"]
    assert {"--without-gossip", "--without-mingle", "--task-events"} <= set(argv)


def test_flower_is_read_only_and_its_password_is_no_argument(start):
    """A list of processes shows arguments to everybody."""
    argv = start("flower", FLOWER_BASIC_AUTH="name:password").told()["argv"]
    assert "--read-only" in argv
    assert "password" not in " ".join(argv)


@pytest.mark.parametrize(
    ("words", "expected"),
    [((), "expected worker QUEUE"), (("worker",), "expected the queues"), (("flower",), "FLOWER_BASIC_AUTH")],
)
def test_what_is_missing_is_said_in_one_line(start, words, expected):
    """An entry point that guesses would serve the wrong queues, or show the fleet to everybody."""
    process = start(*words).process
    _, said = process.communicate(timeout=20)
    assert process.returncode != 0
    assert expected in said
    assert len(said.splitlines()) == 1


@pytest.fixture
def pid_namespace() -> tuple[str, ...]:
    """The command before a command that makes it pid 1 of a namespace of its own, as in a container."""
    command = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
    try:
        tried = subprocess.run([*command, "true"], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("no unshare on this machine")
    if tried.returncode != 0:
        pytest.skip("this user may not make a pid namespace")
    return command


def test_as_pid_1_the_program_hears_sigterm(start, pid_namespace):
    """The kernel gives pid 1 no default for a signal: what has no handler of its own never ends at SIGTERM."""
    container = start("worker", "turns", before=pid_namespace)
    assert container.told()["pid"] == 1
    os.kill(_child_of(container.process.pid), signal.SIGTERM)
    _, said = container.process.communicate(timeout=20)
    assert said == "warm\n"


def _child_of(pid: int) -> int:
    """The only child of a process, by its number out here."""
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text())
