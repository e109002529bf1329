"""Hooks as real processes: the environment of agents, an end with all that they started, and what is kept of them."""

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator import hooks
from orchestrator.domain.turn import StopReason
from orchestrator.domain.workflow import Hook
from orchestrator.ports.hooks import HookOrder
from orchestrator.supervisor.trust import Config
from tests.supervisor import station

INHERITED = {"PATH": "/usr/bin:/bin", "HOME": "/nowhere", "DATABASE_URL": "postgres://secret", "TOKEN": "t"}


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A station that all tests of this file share."""
    folder = tmp_path_factory.mktemp("station").resolve()
    config = Config("hooks", "here", lease_seconds=10, grace_seconds=1, renewal_seconds=0.2, kill_grace_seconds=0.5)
    open_station = station.Station(folder, config).open()
    yield open_station
    open_station.close()


@pytest.fixture
def order(here, tmp_path):
    """A hook of a turn that this worker runs, with a workspace of its own."""
    ref, workspace = here.adopt(fence=3), tmp_path.resolve() / "workspace"
    workspace.mkdir()
    return HookOrder(
        hook=Hook.BEFORE_RUN,
        command="true",
        turn_id=ref.turn_id,
        fence=ref.fence,
        issue_id="10",
        identifier="BACK-10",
        attempt=2,
        workspace=workspace,
        output=tmp_path / "hook.log",
        timeout_seconds=30,
    )


@pytest.fixture
def run(here, order):
    """Run a command as the hook; `changes` are the order's."""

    def begin(command, **changes):
        return hooks.SupervisedHooks(INHERITED).run(replace(order, command=command, **changes), here.client)

    return begin


@pytest.mark.proves("HK-07")
def test_a_hook_sees_the_allow_list_and_what_it_is_passed_on(run, order):
    """The facts of its turn and the names that the workflow gives; no address and no secret beside them."""
    end = run("env; pwd", env={"KEY": "$TOKEN"})
    told = dict(line.split("=", 1) for line in order.output.read_text().splitlines() if "=" in line)
    assert (end.stop, told["STATIONKEEPER_ATTEMPT"], told["SORTIE_ISSUE_ID"], told["KEY"]) == (None, "2", "10", "t")
    assert end.tail.endswith(str(order.workspace))
    assert "DATABASE_URL" not in told


@pytest.mark.proves("HK-07")
def test_a_peers_variable_is_passed_to_the_hook_that_names_it_and_to_no_other(here, order):
    """What a peer gives to every hook is here for the asking, and the facts of the turn are not to be overruled."""
    theirs = {"SORTIE_REPO_URL": "$HOME/x", "SORTIE_TOKEN": "s3cret", "SORTIE_KIND": "bare", "SORTIE_ISSUE_ID": "99"}
    with_theirs = hooks.SupervisedHooks({**INHERITED, **theirs})
    words = "$SORTIE_REPO_URL ${SORTIE_NOT_SET:-none} ${SORTIE_KIND:=plain} $SORTIE_ISSUE_ID"
    named = replace(order, command=f'echo "{words}"; env | grep -c TOKEN')
    assert with_theirs.run(named, here.client).tail == "$HOME/x none bare 10\n0"


def test_a_variable_that_is_not_there_names_its_key(run):
    """The hook does not start, and the reason says what to set where."""
    end = run("true", env={"KEY": "$NOT_THERE"})
    assert (end.stop, "hooks.env.KEY: $NOT_THERE is not set" in end.how) == (StopReason.HOOK_FAILED, True)


@pytest.mark.proves("HK-02", "HK-08")
def test_what_a_hook_said_is_kept_up_to_a_limit(run, order):
    """A failed one tells its code and its last words; a flood is cut in the file and goes on in the process."""
    end = run("head -c 400000 /dev/zero | tr '\\0' x; echo; echo no such branch >&2; exit 3")
    assert (end.stop, end.how) == (StopReason.HOOK_FAILED, "exited with 3")
    assert order.output.stat().st_size <= hooks.LONGEST_OUTPUT_BYTES
    assert "cut" in end.tail
    assert run("echo all is well", output=order.output.with_name("second.log")).tail == "all is well"


@pytest.mark.proves("HK-05", "HK-06")
def test_a_hook_that_hangs_is_ended_with_all_that_it_started(run, order):
    """Its child holds the pipe still, in a session of its own; the reader does not wait for it."""
    end = run("setsid sleep 600 & echo $! > child; sleep 600", timeout_seconds=0.5)
    assert (end.stop, end.how) == (StopReason.HOOK_FAILED, "ran longer than 0.5 s (hooks.timeout_ms)")
    assert not Path("/proc", (order.workspace / "child").read_text().strip()).exists()


@pytest.mark.proves("HK-09")
def test_the_farewell_runs_after_a_cancel_and_no_other_hook_does(here, run):
    """The turn is cancelled while the first hook runs: that one dies, the one that tidies up does its work."""
    here.say("cancel")
    try:
        assert run("sleep 600").stop is StopReason.MOVED_AWAY
        assert run("echo tidy", hook=Hook.AFTER_RUN).tail == "tidy"
    finally:
        here.say("ours")


@pytest.mark.proves("HK-09", "SR-06")
def test_a_farewell_is_short_while_the_worker_is_being_stopped(tmp_path, order):
    """It is said, but whoever stops the worker waits no minute for it."""
    folder = tmp_path.resolve() / "other"
    folder.mkdir()
    config = Config("hooks", "here", lease_seconds=10, grace_seconds=1, renewal_seconds=0.2, farewell_seconds=0.5)
    stopping = station.Station(folder, config).open()
    try:
        ref = stopping.adopt(fence=3)
        stopping.client.stop_all()
        theirs = replace(order, turn_id=ref.turn_id, hook=Hook.AFTER_RUN)
        runner = hooks.SupervisedHooks(INHERITED)
        assert runner.run(replace(theirs, command="echo tidy"), stopping.client).tail == "tidy"
        end = runner.run(replace(theirs, command="sleep 600"), stopping.client)
        assert (end.stop, end.how.startswith("ran longer than")) == (StopReason.HOOK_FAILED, True)
    finally:
        stopping.close()


@pytest.mark.proves("HK-09", "H5")
def test_nothing_tidies_up_for_a_turn_that_is_lost(here, run):
    """Somebody else may be at work in the folder: the farewell of the old owner dies as its agent does."""
    here.say("lost")
    try:
        assert run("touch began; sleep 600", hook=Hook.AFTER_RUN).stop is StopReason.LOST_WORKER
    finally:
        here.say("ours")


def test_an_errand_needs_no_turn(here, run, order):
    """A removal comes long after the last turn: its hook runs under the supervisor all the same."""
    here.client.release(order.turn_id)
    assert run("echo bye", hook=Hook.BEFORE_REMOVE).tail == "bye"
    assert run("true").stop is StopReason.HOOK_FAILED
