"""A worker as pid 1: what nobody waits for is reaped, and nobody's exit code is taken."""

import os
import subprocess
import sys

import pytest

from orchestrator.supervisor import host
from orchestrator.supervisor.orphans import LOOKS, Orphans
from tests.waiting import until


@pytest.fixture
def ended():
    """A child that ended with 7, and that its starter has not waited for yet."""
    child = subprocess.Popen([sys.executable, "-c", "raise SystemExit(7)"])

    def is_over() -> bool:
        found = host.look(child.pid)
        return found is not None and not found.is_alive

    until(is_over, what="the child's end")
    return child


@pytest.mark.proves("S3", "H5")
def test_an_orphan_that_ended_is_reaped_in_the_end(ended):
    """Its row leaves the process table."""
    orphans = Orphans()
    for _ in range(LOOKS + 1):
        orphans.look()
    assert host.look(ended.pid) is None
    with pytest.raises(ChildProcessError):
        os.waitpid(ended.pid, os.WNOHANG)


@pytest.mark.proves("H5")
def test_whoever_waits_gets_the_exit_code(ended):
    """For as many looks as no waiter needs, the child is left to it."""
    orphans = Orphans()
    for _ in range(LOOKS):
        orphans.look()
    assert ended.wait() == 7
