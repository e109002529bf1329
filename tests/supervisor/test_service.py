"""Death: of the worker, of the supervisor, of both; nothing of an agent outlives them, and the word is given."""

import json
import os
import signal
import subprocess

import pytest

from orchestrator.ports.supervisor import EndedBy
from orchestrator.supervisor import host
from tests.supervisor.station import kill, marked, writer
from tests.waiting import until


@pytest.fixture
def lines(tmp_path):
    """The file that a program writes to for as long as it runs."""
    return tmp_path / "lines"


@pytest.mark.proves("H5")
def test_a_killed_worker_leaves_nothing(make_station, lines):
    """After SIGKILL of the worker its agents are gone, its turns are reported lost, and the supervisor ends."""
    here = make_station(opened_by_a_worker=True)
    with here.worker(f"trap '' INT TERM; setsid sh -c '{writer(lines)}' & {writer(lines)}") as worker:
        until(lines.exists)
        worker.process.kill()
        lost = until(lambda: here.asked("lose"))
        assert marked(worker.turn_id) == {}
        assert lost[0] | {"death": None} == {"what": "lose", "turns": [str(worker.turn_id)], "death": None}
        assert lost[0]["death"] == "supervisor: worker died"
        until(lambda: host.look(worker.supervisor) is None)


@pytest.mark.proves("H5")
def test_a_killed_worker_that_was_frozen_leaves_nothing(make_station, lines):
    """SIGKILL finds a frozen worker with its frozen agents, and both go."""
    here = make_station(opened_by_a_worker=True)
    with here.worker(writer(lines)) as worker:
        until(lines.exists)
        worker.process.send_signal(signal.SIGSTOP)
        until(lambda: "agent frozen" in here.log())
        worker.process.kill()
        until(lambda: here.asked("lose"))
        assert marked(worker.turn_id) == {}


def test_a_lost_supervisor_is_followed_by_one_that_sweeps(here, lines):
    """The next supervisor kills what the last one left before it listens; the turn stays adopted, and works again."""
    ref = here.adopt()
    program = here.client.spawn(here.order(ref, f"setsid sh -c '{writer(lines)}' & {writer(lines)}"))
    until(lines.exists)
    kill(here.supervisors[0])
    assert program.wait().ended_by is EndedBy.SUPERVISOR_LOST
    assert marked(ref) == {}
    assert here.client.spawn(here.order(ref, "exit 5")).wait().code == 5


def test_a_frozen_supervisor_is_replaced(here):
    """A supervisor that answers no beat is killed by its worker, and its agents by its successor."""
    here.client._unanswered_beats = 10
    ref = here.adopt()
    program = here.client.spawn(here.order(ref, "sleep 300"))
    kill(here.supervisors[0], signal.SIGSTOP)
    assert program.wait().ended_by is EndedBy.SUPERVISOR_LOST
    assert marked(ref) == {}


def test_a_supervisor_that_answers_is_kept(here):
    """Beats are answered: many more than the limit replace nobody."""
    here.client._unanswered_beats = 5
    ref = here.adopt()
    until(lambda: len(here.asked("renew")) > 12)
    here.client.release(ref.turn_id)
    assert len(here.supervisors) == 1


@pytest.mark.proves("FS-16", "FS-64")
def test_when_both_die_any_supervisor_of_the_host_sweeps(here, lines):
    """Worker and supervisor killed at once: another worker's supervisor finds the agents by their marker."""
    with here.worker(writer(lines)) as worker:
        until(lines.exists)
        kill(worker.supervisor)
        worker.process.kill()
        until(lambda: not marked(worker.turn_id))


def test_the_word_is_given_on_turns_that_nobody_runs(here):
    """A running turn of this host whose worker's pid is nobody's, and of which no process is left, is reported lost."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    ref, alive, ours = here.adopt(), "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"
    program = here.client.spawn(here.order(ref, "sleep 300"))
    orphans = {alive: os.getpid(), ours: gone.pid, str(ref.turn_id): gone.pid}
    (here.folder / "orphans").write_text(json.dumps(orphans))
    lost = until(lambda: here.asked("lose"))
    assert lost[0]["turns"] == [ours]
    program.stop()
    program.wait()


def test_signals_do_not_end_the_supervisor(here):
    """Ctrl-C and a stop of the whole group reach the worker; the supervisor ends by its pipe only."""
    assert here.run("exit 3").wait().code == 3
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        kill(here.supervisors[0], signum)
    assert here.run("exit 4").wait().code == 4
    assert len(here.supervisors) == 1
