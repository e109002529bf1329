"""The marker: it finds what is ours and what nobody guards, and never a stranger."""

import os
import signal
import subprocess
from dataclasses import replace
from uuid import uuid4

import pytest

from orchestrator.supervisor import host, marker
from orchestrator.supervisor.marker import Marker
from tests.waiting import until

MYSELF = host.look(os.getpid()).identity
NOBODY = host.Identity(MYSELF.pid, MYSELF.start - 1)  # who had our pid before us


def mark(**changes):
    """A marker of this process."""
    return replace(Marker("here", host.boot_id(), MYSELF, uuid4(), 3, 1), **changes)


@pytest.fixture
def marked_process():
    """Start a process that bears a marker; ended with the test."""
    started = []

    def start(bearing):
        environment = {"PATH": os.environ["PATH"], host.MARKER_VARIABLE: str(bearing)}
        process = subprocess.Popen(["sleep", "300"], env=environment)
        started.append(process)
        until(lambda: host.look(process.pid).marker)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_a_marker_is_read_as_it_was_written():
    """What is written into an environment is read back whole."""
    one = mark()
    assert Marker.parse(str(one)) == one


@pytest.mark.parametrize("text", ["", "a:b", "here:boot:1-2:no-uuid:1:1", "x" * 10_000, "here:boot:1:2:3:4"])
def test_what_anybody_may_have_written_is_no_marker(text):
    """The variable is anybody's to set: what is no marker is ignored."""
    assert Marker.parse(text) is None


def test_only_what_lost_its_supervisor_is_an_orphan(marked_process):
    """Left alone is what has a living supervisor, and what is another installation's or another boot's."""
    guarded = marked_process(mark())
    foreign = marked_process(mark(supervisor=NOBODY, installation="elsewhere"))
    older = marked_process(mark(supervisor=NOBODY, boot_id="another"))
    orphan = marked_process(mark(supervisor=NOBODY))
    found = {identity.pid for identity in marker.orphans(host.table(), installation="here", boot_id=host.boot_id())}
    assert found & {guarded.pid, foreign.pid, older.pid, orphan.pid} == {orphan.pid}


def test_a_sweep_kills_orphans_until_none_is_left(marked_process):
    """After a sweep no orphan lives, and what is guarded does."""
    guarded, orphan = marked_process(mark()), marked_process(mark(supervisor=NOBODY))
    assert marker.sweep(installation="here", boot_id=host.boot_id()) == 1
    assert (orphan.wait(), guarded.poll()) == (-signal.SIGKILL, None)


def test_a_pid_that_was_given_away_again_is_never_hit(marked_process):
    """A process is its pid and its start: a signal for who had the pid before reaches nobody."""
    process = marked_process(mark())
    living = host.look(process.pid).identity
    assert not host.send(replace(living, start=living.start - 1), signal.SIGKILL)
    assert process.poll() is None
    assert host.send(living, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


def test_a_signal_for_the_dead_reaches_nobody(marked_process):
    """Who has ended and was reaped is gone."""
    process = marked_process(mark())
    living = host.look(process.pid).identity
    process.kill()
    process.wait()
    assert not host.send(living, signal.SIGKILL)
    assert not host.is_alive(living, host.table())


def test_the_table_knows_names_with_spaces_and_brackets(tmp_path):
    """A program's name cannot be mistaken for the fields that follow it."""
    odd = tmp_path / "a) T 1 (b"
    odd.symlink_to("/bin/sleep")
    process = subprocess.Popen([odd, "300"])
    try:
        found = until(lambda: host.look(process.pid))
        assert (found.parent, found.is_alive) == (os.getpid(), True)
    finally:
        process.kill()
        process.wait()


def test_a_boot_has_one_name():
    """The boot's id is the same for whoever asks, and fits between two colons."""
    assert host.boot_id() == host.boot_id()
    assert not set(host.boot_id()) & {":", " ", "\n"}
