"""A program under way: the processes that belong to it, and its end, of which no step blocks.

Its *members* are the processes that descend from it: what bears its marker, what is in its session, and the children
of those. The program is reaped by its own pid and no other (whoever reaps *any* child takes another agent's exit code),
and only after a look at the process table: its session can be told from a stranger's while its pid is not free again.
"""

import contextlib
import os
import signal

from orchestrator.ports.supervisor import EndedBy, Exit, ProcessOrder
from orchestrator.supervisor import host, spawning, trust
from orchestrator.supervisor.marker import QUIET_LOOKS, Marker
from orchestrator.supervisor.pipes import Pipes

# What comes after a signal that was not enough.
_HARDER = {None: signal.SIGINT, signal.SIGINT: signal.SIGTERM, signal.SIGTERM: signal.SIGKILL}

# A farewell would be a second agent at work: somebody else may own the turn, or nobody is left to hear it.
_WITHOUT_FAREWELL = frozenset({EndedBy.FENCE_LOST, EndedBy.FREEZE_LIMIT})


class Child:
    """One program of a turn, from its start until nothing of it is left."""

    def __init__(self, number: int, order: ProcessOrder, *, marker: Marker, now: float) -> None:
        """Start the program.

        Raises:
            SpawnFailed: it could not be started.
        """
        program = spawning.spawn(order, marker)
        self.number = number
        self.order = order
        self.asked: EndedBy | None = None  # set by whoever wants its end; `trust.judge` weighs it
        self.pipes = Pipes(program, order.stdin, now=now)
        self._marker = str(marker)
        self._process, self._lock = program.process, program.lock
        self._began_at = now
        self._timeout_seconds = order.timeout_seconds
        self._frozen_at: float | None = None
        self._members: set[host.Identity] = set()
        self._ended_by: EndedBy | None = None  # what began its end; None while it runs
        self._sent: signal.Signals | None = None  # the hardest signal so far
        self._sent_at = now
        self._quiet_looks = 0

    @property
    def pid(self) -> int:
        """The program's process id, which is also its group and session."""
        return self._process.pid

    @property
    def span(self) -> trust.Span:
        """What its clocks say."""
        order = self.order
        return trust.Span(
            self._began_at,
            self.pipes.spoke_at,
            self._timeout_seconds,
            order.stall_seconds,
            self._frozen_at,
            self.asked,
            order.duty,
        )

    @property
    def size(self) -> int:
        """How many processes it had at the last look."""
        return len(self._members)

    @property
    def is_ending(self) -> bool:
        """Whether its end has begun, by itself or by us."""
        return self._ended_by is not None

    @property
    def is_frozen(self) -> bool:
        """Whether it is stopped until the fence is confirmed."""
        return self._frozen_at is not None

    @property
    def is_gone(self) -> bool:
        """Whether neither the program nor anything that it started is left."""
        return self._process.returncode is not None and self._quiet_looks >= QUIET_LOOKS

    @property
    def exit(self) -> Exit:
        """How it ended; only once it is gone."""
        code = self._process.returncode
        return Exit(code if code >= 0 else None, -code if code < 0 else None, self._ended_by or EndedBy.EXITED)

    def owns(self, process: host.Process) -> bool:
        """Whether the process is one of its members, or itself."""
        return process.identity.pid == self.pid or process.identity in self._members

    def look(self, among: host.Table) -> None:
        """Learn from the process table which members live, and reap the program when the table shows it ended."""
        in_session = self._process.returncode is None
        kin = {
            process.identity
            for process in among.values()
            if process.marker == self._marker or (in_session and process.session == self.pid)
        }
        self._members = host.descendants(kin | self._members, among)
        self._quiet_looks = 0 if self._members else self._quiet_looks + 1
        if in_session and (not among or not self._shown_alive(among)):
            self._reap()

    def hurry(self, now: float, seconds: float) -> None:
        """Leave it no more than so many seconds from now."""
        self._timeout_seconds = min(self._timeout_seconds, now - self._began_at + seconds)

    def freeze(self, now: float, among: host.Table) -> None:
        """Stop every member; repeated at each look, so that what was being started meanwhile stops too."""
        if self._frozen_at is None:
            self._frozen_at = now
            self._signal_group(signal.SIGSTOP)
        for identity in self._members:
            if among[identity.pid].state != "T":
                host.send(identity, signal.SIGSTOP)

    def thaw(self, now: float) -> None:
        """Let every member go on; the stall clock starts again, since it could not speak."""
        self._frozen_at = None
        self.pipes.spoke_at = now
        self._signal_all(signal.SIGCONT)

    def end(self, reason: EndedBy, now: float) -> None:
        """Begin its end, for the first reason that comes; what is frozen, or not ours any more, is killed at once."""
        self._ended_by = self._ended_by or reason
        if self.is_frozen or reason in _WITHOUT_FAREWELL:
            self.kill(now)
        elif self._sent is None:
            self._harder(now)

    def kill(self, now: float) -> None:
        """SIGKILL to every member, now and at each look until none is left."""
        self._ended_by = self._ended_by or EndedBy.FENCE_LOST
        self._sent, self._sent_at = signal.SIGKILL, now
        self._signal_all(signal.SIGKILL)

    def press(self, now: float, grace_seconds: float) -> None:
        """Take the next step of its end, when it is time. What the program leaves behind gets no SIGINT."""
        if self._sent is signal.SIGKILL:
            self._signal_all(signal.SIGKILL)
        elif now >= self._sent_at + grace_seconds or self._left_behind():
            self._harder(now)

    def close(self) -> None:
        """Let go of pipes, transcript and lock; only once it is gone."""
        self.pipes.close()
        if self._lock is not None:
            os.close(self._lock)

    def _left_behind(self) -> bool:
        return self._process.returncode is not None and self._sent is not signal.SIGTERM

    def _harder(self, now: float) -> None:
        self._sent, self._sent_at = _HARDER[self._sent], now
        if self._sent is signal.SIGINT:
            self._signal_group(self._sent)
        else:
            self._signal_all(self._sent)

    def _signal_all(self, signum: signal.Signals) -> None:
        self._signal_group(signum)
        for identity in self._members:
            host.send(identity, signum)

    def _signal_group(self, signum: signal.Signals) -> None:
        """Signal the group in one call, forks under way included, while its number cannot mean a stranger's."""
        if self._process.returncode is None:
            with contextlib.suppress(OSError):
                os.killpg(self.pid, signum)

    def _shown_alive(self, among: host.Table) -> bool:
        program = among.get(self.pid)
        return program is not None and program.is_alive

    def _reap(self) -> None:
        """Take the exit code; that somebody else took it is an error, never a 0."""
        reaped, status = os.waitpid(self.pid, os.WNOHANG)
        if not reaped:
            return
        if not host.PROC.is_dir():  # the last moment at which the group is surely ours
            self._signal_group(signal.SIGKILL)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        self._ended_by = self._ended_by or EndedBy.EXITED
