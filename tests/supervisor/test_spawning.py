"""What is not started, and why: the message names the place, code reads the refusal."""

import fcntl

import pytest

from orchestrator.ports.supervisor import Refusal, SpawnFailed
from tests.waiting import until


def refusal(shared, ref, **changes):
    """Why the supervisor does not start this."""
    with pytest.raises(SpawnFailed) as refused:
        shared.client.spawn(shared.order(ref, "true", **changes))
    return refused.value.refusal


@pytest.mark.proves("WS-06")
def test_only_the_workspace_itself_is_a_place_to_work(shared, tmp_path):
    """A folder that is missing, a file, a relative path or one that a link leads to is refused."""
    (tmp_path / "link").symlink_to(shared.workspace)
    (tmp_path / "file").touch()
    wrong = [tmp_path / "missing", tmp_path / "file", tmp_path / "link", shared.workspace / ".." / "workspace"]
    ref = shared.adopt()
    assert {refusal(shared, ref, cwd=path) for path in wrong} == {Refusal.INVALID_WORKSPACE_CWD}


@pytest.mark.proves("AE-01")
def test_a_program_that_is_not_there_is_named(shared):
    """The message of a missing program says its name."""
    with pytest.raises(SpawnFailed, match="agent_not_found: no-such-program"):
        shared.client.spawn(shared.order(shared.adopt(), "", argv=("no-such-program",)))


@pytest.mark.proves("FS-16")
def test_only_an_adopted_turn_starts_programs(shared):
    """A turn that was released, or another fence of one that is adopted, has nothing to start."""
    ref = shared.adopt(fence=2)
    older = refusal(shared, ref, fence=1)
    shared.client.release(ref.turn_id)
    assert (older, refusal(shared, ref)) == (Refusal.NOT_ADOPTED, Refusal.NOT_ADOPTED)


@pytest.mark.proves("WS-13")
def test_a_workspace_has_one_program_at_a_time(shared, tmp_path):
    """The lock lives as long as anything of the program: a second one is refused until the first is gone."""
    lock = tmp_path / "lock"
    first = shared.run("setsid sleep 300 & sleep 300", lock_path=lock)
    second = shared.adopt()
    assert refusal(shared, second, lock_path=lock) is Refusal.WORKSPACE_BUSY
    first.stop()
    first.wait()
    assert shared.client.spawn(shared.order(second, "exit 2", lock_path=lock)).wait().code == 2


@pytest.mark.proves("WS-13")
def test_the_lock_outlives_the_supervisor_with_the_program(shared, tmp_path):
    """The program holds the lock itself: it is free only when program and supervisor are gone."""
    lock = tmp_path / "lock"
    program = shared.run("ls -l /proc/self/fd; sleep 300", lock_path=lock)
    until(lambda: str(lock) in shared.said())
    with lock.open() as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    program.stop()
    program.wait()
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@pytest.mark.proves("HK-07")
def test_a_program_sees_its_own_environment_only(shared):
    """Nothing of the worker's or the supervisor's environment reaches a program, but for the marker."""
    shared.run("env", environment={"PATH": "/usr/bin:/bin", "MINE": "1"}).wait()
    names = {line.partition("=")[0] for line in shared.said().splitlines()}
    assert names - {"PWD", "OLDPWD", "SHLVL", "_"} == {"PATH", "MINE", "STATIONKEEPER_RUN"}
