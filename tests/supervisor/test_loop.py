"""Freezing: while nobody can say whose the turn is, its agent neither writes nor dies."""

import signal

import pytest

from orchestrator.domain.turn import StopReason
from orchestrator.ports.supervisor import EndedBy
from tests.supervisor.station import all_in_state, marked, writer
from tests.waiting import until


def is_writing(path):
    """Whether the file grows, seen from now."""
    before = path.stat().st_size if path.exists() else 0
    return lambda: path.exists() and path.stat().st_size > before


def is_frozen(turn):
    """Whether every process of the turn is stopped, in two looks in a row."""
    return all_in_state(turn, "T") and all_in_state(turn, "T")


@pytest.fixture
def lines(tmp_path):
    """The file that a program writes to for as long as it runs."""
    return tmp_path / "lines"


@pytest.mark.proves("H25")
@pytest.mark.parametrize("answer", ["silent", "down"])
def test_a_silent_database_freezes_and_loses_nothing(here, lines, answer):
    """While Postgres is silent or down the agent is frozen, past the lease; when it answers, the agent goes on."""
    ref = here.adopt()
    program = here.client.spawn(here.order(ref, f"setsid sh -c '{writer(lines)}' & {writer(lines)}"))
    until(is_writing(lines))
    here.say(answer)
    until(lambda: is_frozen(ref))
    size = lines.stat().st_size
    asked = len(here.asked("renew"))
    here.say("down")
    until(lambda: len(here.asked("renew")) > asked + 5)
    assert lines.stat().st_size == size
    here.say("ours")
    until(is_writing(lines))
    program.stop()
    assert program.wait().ended_by is EndedBy.CANCELLED


@pytest.mark.proves("H5", "H25")
def test_a_frozen_worker_freezes_its_agent(make_station, lines):
    """A worker under SIGSTOP past its lease, agent alive: no line after the deadline, and on it goes after the thaw."""
    here = make_station(opened_by_a_worker=True)
    with here.worker(f"setsid sh -c '{writer(lines)}' & {writer(lines)}") as worker:
        until(is_writing(lines))
        worker.process.send_signal(signal.SIGSTOP)
        until(lambda: is_frozen(worker.turn_id))
        size, asked, swept = lines.stat().st_size, len(here.asked("renew")), len(here.asked("orphans"))
        until(lambda: len(here.asked("orphans")) > swept + 3)
        assert (lines.stat().st_size, len(here.asked("renew"))) == (size, asked)
        worker.process.send_signal(signal.SIGCONT)
        until(is_writing(lines))


@pytest.mark.proves("H5")
def test_a_thawed_worker_without_its_fence_has_no_agent(make_station, lines):
    """A worker that wakes after somebody else took its turn: the frozen agent is killed and writes no line more."""
    here = make_station(opened_by_a_worker=True)
    with here.worker(writer(lines)) as worker:
        until(is_writing(lines))
        worker.process.send_signal(signal.SIGSTOP)
        until(lambda: is_frozen(worker.turn_id))
        size = lines.stat().st_size
        here.say("lost")
        worker.process.send_signal(signal.SIGCONT)
        until(lambda: not marked(worker.turn_id))
        assert lines.stat().st_size == size


@pytest.mark.proves("H5", "WS-13")
def test_a_lost_agent_dies_while_its_worker_sleeps(make_station, lines):
    """The next owner does not wait for a frozen worker: the agent is killed, and the workspace is free."""
    here = make_station(opened_by_a_worker=True)
    with here.worker(writer(lines)) as worker:
        until(is_writing(lines))
        worker.process.send_signal(signal.SIGSTOP)
        until(lambda: is_frozen(worker.turn_id))
        here.say("lost")
        until(lambda: not marked(worker.turn_id))


@pytest.mark.proves("H5")
def test_a_confirmation_from_before_the_silence_does_not_count(make_station, lines):
    """A renewal that was sent before the worker fell silent, and answered after, thaws nothing."""
    here = make_station(opened_by_a_worker=True)
    with here.worker(writer(lines)) as worker:
        until(is_writing(lines))
        here.say("silent")
        asked = len(here.asked("renew"))
        until(lambda: len(here.asked("renew")) > asked)
        worker.process.send_signal(signal.SIGSTOP)
        until(lambda: "worker silent" in here.log() and is_frozen(worker.turn_id))
        size, swept = lines.stat().st_size, len(here.asked("orphans"))
        here.say("ours")
        until(lambda: len(here.asked("orphans")) > swept + 2)
        assert lines.stat().st_size == size


def test_a_lost_fence_kills_at_once(make_station, lines):
    """A turn that is somebody else's has no farewell: an agent deaf to SIGTERM is gone, and the worker knows."""
    here = make_station(kill_grace_seconds=600)
    ref = here.adopt()
    program = here.client.spawn(here.order(ref, f"trap '' INT TERM; {writer(lines)}"))
    until(is_writing(lines))
    here.say("lost")
    assert program.wait().ended_by is EndedBy.FENCE_LOST
    assert here.client.cancelled(ref.turn_id) is StopReason.LOST_WORKER


@pytest.mark.proves("RT-13")
def test_a_cancel_flag_ends_the_agent(here):
    """The flag that a person's move set reaches the agent with the next renewal, and the worker learns why."""
    ref = here.adopt()
    program = here.client.spawn(here.order(ref, "sleep 300"))
    here.say("cancel")
    assert program.wait().ended_by is EndedBy.CANCELLED
    assert here.client.cancelled(ref.turn_id) is StopReason.MOVED_AWAY


def test_a_freeze_has_its_limit(make_station, lines):
    """An agent that nobody confirmed for the freeze limit is killed."""
    here = make_station(freeze_limit_seconds=0.5)
    program = here.run(writer(lines))
    until(is_writing(lines))
    here.say("down")
    assert program.wait().ended_by is EndedBy.FREEZE_LIMIT


@pytest.mark.proves("H26")
def test_a_step_past_its_time_is_not_renewed(here):
    """No progress, no lease: a turn whose step's time is over is renewed no more; a new step is renewed again."""
    ref = here.adopt(step_seconds=1)
    until(lambda: here.asked("renew"))
    seen = until(lambda: _silence(here))
    here.client.begin_step(ref.turn_id, 600)
    until(lambda: len(here.asked("renew")) > seen)


def _silence(here):
    """The number of renewals once no more are sent while the sweeps go on."""
    renewals, sweeps = len(here.asked("renew")), len(here.asked("orphans"))
    until(lambda: len(here.asked("orphans")) > sweeps + 2)
    return renewals if len(here.asked("renew")) == renewals else 0


@pytest.mark.proves("H2")
def test_the_redis_lease_is_set_with_each_renewal(here):
    """A Redis that lost everything gets the item's lease again, with turn and fence, within a renewal."""
    ref = here.adopt(fence=4)
    leases = here.folder / "leases"
    until(lambda: leases.exists() and len(leases.read_text().splitlines()) > 2)
    assert f'"turn": "{ref.turn_id}", "fence": 4' in leases.read_text()
