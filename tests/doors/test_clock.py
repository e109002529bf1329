"""The suite of the clock's door, on this host's clocks and on the one in the hand."""

import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from orchestrator import clock
from orchestrator.clock import SystemClock
from tests.memory.clock import HandClock


@pytest.fixture(params=[SystemClock, HandClock])
def any_clock(request):
    """A clock."""
    return request.param()


def test_the_wall_clock_is_aware_and_utc(any_clock):
    """What people read names its zone, and it is the same everywhere."""
    assert any_clock.now().utcoffset() == timedelta(0)


def test_the_boot_clock_never_goes_back(any_clock):
    """A local deadline that has passed stays passed."""
    readings = [any_clock.boot_seconds() for _ in range(1000)]
    assert readings == sorted(readings)


def test_the_wall_clock_is_this_hosts():
    """The system's clock tells the present."""
    before = datetime.now(UTC)
    assert before <= SystemClock().now() <= datetime.now(UTC)


def test_two_processes_read_one_boot_clock_and_one_boot():
    """A worker's deadline can be checked by its supervisor, and both know the same boot."""
    before = SystemClock().boot_seconds()
    script = "from orchestrator import clock; print(clock.SystemClock().boot_seconds(), clock.boot_id())"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert before <= float(said[0]) <= SystemClock().boot_seconds()
    assert said[1] == clock.boot_id()


def test_the_boot_is_told_by_kernel_and_first_process():
    """A restarted container has the host's kernel and a new first process: its boot is another one."""
    kernel, _, start = clock.boot_id().partition(".")
    assert kernel
    assert clock.boot_id() == "unknown" or int(start) >= 0


def test_a_host_keeps_its_name_in_its_state_folder(tmp_path, monkeypatch):
    """A container that is made anew has another machine name and the same disk: it is the same host."""
    monkeypatch.setattr(socket, "gethostname", lambda: "first name")
    assert clock.host_name(tmp_path / "state") == "first-name"
    monkeypatch.setattr(socket, "gethostname", lambda: "second")
    assert clock.host_name(tmp_path / "state") == "first-name"
    assert clock.host_name(tmp_path / "elsewhere") == "second"
    assert clock.host_name(tmp_path / "state", "given") == "given"
    assert [file.name for file in (tmp_path / "state").iterdir()] == ["host"]
