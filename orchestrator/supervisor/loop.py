"""The heart of the supervisor: one thread that waits on pipes, judges every program, and never waits for anything else.

Order within a round: what the worker and the programs said, what the renewals found, then the verdicts. So a beat or a
confirmation that has arrived always counts before a freeze.
"""

import math
import os
import select
import signal
import socket
from collections.abc import Callable
from functools import partial
from typing import IO
from uuid import UUID

from orchestrator import telemetry
from orchestrator.ports.store import TurnRef
from orchestrator.ports.supervisor import Duty, EndedBy, ProcessOrder, Refusal, SpawnFailed
from orchestrator.supervisor import trust, wire
from orchestrator.supervisor.child import Child
from orchestrator.supervisor.clock import boot_seconds
from orchestrator.supervisor.link import Link
from orchestrator.supervisor.lookout import Lookout
from orchestrator.supervisor.marker import Marker
from orchestrator.supervisor.renewal import Doors, Renewer
from orchestrator.supervisor.trust import Config, Term

# How old what the renewals are told may be: far below their interval. A turn that ended meanwhile is renewed in vain.
_PLAN_SECONDS = 0.05


class Loop:
    """Everything that one supervisor knows: the turns that it renews and the programs that it started."""

    def __init__(self, worker: socket.socket, doors: Doors, config: Config) -> None:
        self._link, self._config = Link(worker), config
        self._terms: dict[UUID, Term] = {}
        self._children: dict[int, Child] = {}
        self._heard_at = boot_seconds()
        self._is_silent = self._is_stopping = self._renew_soon = False
        self._planned_at, self._is_planned = -math.inf, True
        self._worker_pid = os.getppid()
        self._lookout = Lookout(config, self._heard_at)
        self._ear, self._bell = socket.socketpair()  # rung by signals and by the renewals
        self._ear.settimeout(0)
        self._bell.settimeout(0)
        self._renewer = Renewer(doors, config, self._ring)

    def run(self) -> list[TurnRef]:
        """Serve until the worker is dead and nothing of it is left; returns the turns that died with it."""
        signal.set_wakeup_fd(self._bell.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # only so that it rings
        self._renewer.start()
        self._link.say(wire.Ready())
        while self._link.is_open or self._children or self._lookout.kill_strays():
            self._round()
        return [term.ref for term in self._terms.values() if not term.lost]

    def _round(self) -> None:
        for serve in self._wait():
            serve()
        now = boot_seconds()
        self._notice_silence(now)
        self._take_answers()
        self._look(now)
        for child in tuple(self._children.values()):
            self._judge(child, now)
        self._plan_renewals(now)

    # --- waiting -----------------------------------------------------------------------------------------------------

    def _wait(self) -> list[Callable[[], None]]:
        """Wait until something can be served or the next moment has come; returns what to call."""
        waiting = {self._ear.fileno(): self._hear_bell}
        poll = select.poll()
        poll.register(self._ear, select.POLLIN)
        if self._link.is_open:
            poll.register(self._link, self._link.events)
            waiting[self._link.fileno()] = self._obey
        for child in self._children.values():
            for pipe, events in self._open_pipes(child):
                poll.register(pipe, events)
                waiting[pipe.fileno()] = partial(self._serve, child, pipe)
        return [waiting[handle] for handle, _ in poll.poll(self._pause_seconds() * 1000)]

    def _open_pipes(self, child: Child) -> list[tuple[IO[bytes], int]]:
        pipes = [] if self._link.is_congested else [(pipe, select.POLLIN) for pipe in child.pipes.outputs]
        return pipes + ([(child.pipes.stdin, select.POLLOUT)] if child.pipes.stdin else [])

    def _pause_seconds(self) -> float:
        """How long nothing needs to be done, unless something happens."""
        now = boot_seconds()
        moments = [self._lookout.due_at(self._children.values())]
        for child in self._children.values():
            term = self._term_of(child.order)
            if term and not child.is_ending:
                moments.append(trust.wakes_at(term, child.span, self._config))
        if not self._is_planned:
            moments.append(self._planned_at + _PLAN_SECONDS)
        if self._terms and not self._is_silent:
            moments.append(self._heard_at + self._config.silence_seconds)
        return max(min(moments) - now, 0.001)  # a moment is judged once it has passed, not at it

    def _ring(self) -> None:
        """Wake the loop; also called from the renewal thread."""
        try:
            self._bell.send(b"!")
        except BlockingIOError:
            return  # it is ringing already

    def _hear_bell(self) -> None:
        self._ear.recv(4096)
        self._lookout.want()

    # --- the worker --------------------------------------------------------------------------------------------------

    def _obey(self) -> None:
        for request in self._link.serve():
            self._carry_out(request)
        if not self._link.is_open:
            telemetry.worker_lost(self._worker_pid, turns=len(self._terms))
            self._renewer.stop()
            for child in self._children.values():
                child.kill(boot_seconds())

    def _carry_out(self, request: wire.Request) -> None:
        now = boot_seconds()
        match request:
            case wire.Beat():
                self._renew_soon |= self._is_silent
                self._heard_at = now
                self._link.say(wire.Beat())
            case wire.Adopt(ref, lease_key, sent_at, step_seconds):
                step_until = sent_at + (step_seconds or trust.GAP_SECONDS)
                self._terms[ref.turn_id] = term = Term(ref, lease_key, sent_at, step_until)
                self._renew_soon |= term.trusted_until(self._config) <= now
            case wire.BeginStep(turn_id, seconds):
                self._step(turn_id, now, seconds)
            case wire.Release(turn_id):
                self._terms.pop(turn_id, None)
            case wire.Spawn():
                self._spawn(request, now)
            case wire.Stop(number):
                self._is_stopping |= number is None
                for child in self._children.values():
                    if number == child.number:
                        child.asked = child.asked or EndedBy.CANCELLED
                    elif number is None:
                        self._stop(child, now)

    def _notice_silence(self, now: float) -> None:
        """A silent worker is as good as dead: nothing counts that was confirmed before it speaks again."""
        is_silent = now > self._heard_at + self._config.silence_seconds
        if is_silent != self._is_silent:
            self._planned_at = -math.inf
        if is_silent and not self._is_silent:
            telemetry.worker_silent(self._worker_pid, turns=len(self._terms))
            self._terms = {id_: term.distrust(now) for id_, term in self._terms.items()}
        self._is_silent = is_silent

    def _plan_renewals(self, now: float) -> None:
        self._is_planned = not self._link.is_open or self._renew_soon or now >= self._planned_at + _PLAN_SECONDS
        if not self._is_planned:
            return  # with hundreds of turns, to look at each at every word of the worker costs more than the word
        self._planned_at = now
        trusted = () if self._is_silent or not self._link.is_open else self._terms.values()
        doubtful = self._terms.values() if self._is_silent and self._link.is_open else ()
        self._renewer.watch([term for term in trusted if term.renewable(now, self._config)], doubtful=tuple(doubtful))
        if self._renew_soon and trusted:
            self._renewer.soon()
            self._renew_soon = False

    def _take_answers(self) -> None:
        while not self._renewer.answers.empty():
            answer = self._renewer.answers.get()
            for ref in answer.sent_for:
                term, renewal = self._terms.get(ref.turn_id), answer.found.get(ref.turn_id)
                if term is None or renewal is None or term.ref != ref:
                    continue
                self._terms[ref.turn_id] = learned = term.learn(renewal, answer.sent_at)
                if learned.stop and not term.stop:
                    self._link.say(wire.TurnStops(ref, learned.stop))

    # --- the programs ------------------------------------------------------------------------------------------------

    def _spawn(self, request: wire.Spawn, now: float) -> None:
        number, order, term = request.number, request.order, self._term_of(request.order)
        if term is None or term.ref.fence != order.fence:
            detail = f"turn {order.turn_id} with fence {order.fence} is not one that this worker runs"
            self._link.say(wire.Refused(number, Refusal.NOT_ADOPTED, detail))
            return
        here = self._lookout
        name = Marker(self._config.installation, here.boot_id, here.myself, order.turn_id, order.fence, number)
        try:
            child = Child(number, order, marker=name, now=now)
        except SpawnFailed as refused:
            self._link.say(wire.Refused(number, refused.refusal, refused.detail))
            return
        if self._is_stopping:
            self._stop(child, now)
        self._children[number] = child
        # Its own end may take an interrupt, a request and a kill; past that it is no step but a hang.
        self._step(order.turn_id, now, order.timeout_seconds + 3 * self._config.kill_grace_seconds)
        self._link.say(wire.Started(number, child.pid))

    def _stop(self, child: Child, now: float) -> None:
        """The worker is being stopped: its programs end, and what tidies up behind them hurries."""
        if child.order.duty is Duty.FAREWELL:
            child.hurry(now, self._config.farewell_seconds)
        else:
            child.asked = child.asked or EndedBy.SHUTDOWN

    def _term_of(self, order: ProcessOrder) -> Term | None:
        return trust.errand(order) if order.duty is Duty.ERRAND else self._terms.get(order.turn_id)

    def _step(self, turn_id: UUID, now: float, seconds: float) -> None:
        if term := self._terms.get(turn_id):
            self._terms[turn_id] = term.step(now, seconds)

    def _serve(self, child: Child, pipe: IO[bytes]) -> None:
        if pipe is child.pipes.stdin:
            child.pipes.write()
        else:
            self._link.say(*(wire.Line(child.number, line) for line in child.pipes.read(pipe, boot_seconds())))

    def _look(self, now: float) -> None:
        """Look at the process table, when it is time."""
        children = self._children.values()
        if now >= self._lookout.due_at(children):
            self._lookout.look(children, now)
            self._lookout.tidy(children, now)

    def _judge(self, child: Child, now: float) -> None:
        if child.is_gone:
            self._bury(child, now)
            return
        term = self._term_of(child.order)
        verdict = trust.judge(term, child.span, now=now, config=self._config) if term else EndedBy.CANCELLED
        if verdict is not trust.Hold.RUN and not (child.is_ending or child.is_frozen):
            self._lookout.look(self._children.values(), now)  # its newest children, before a signal parts them from it
        match verdict:
            case EndedBy():
                self._end(child, verdict, now)
            case trust.Hold.FREEZE if child.is_ending:
                child.kill(now)  # there is no time left for a farewell
            case trust.Hold.FREEZE:
                self._freeze(child, now)
            case trust.Hold.RUN if child.is_frozen and not child.is_ending:
                telemetry.agent_thawed(child.order.turn_id, processes=child.size)
                child.thaw(now)
        if child.is_ending:
            child.press(now, self._config.kill_grace_seconds)

    def _freeze(self, child: Child, now: float) -> None:
        if not child.is_frozen:
            telemetry.agent_frozen(child.order.turn_id, processes=child.size)
            self._lookout.want()
        child.freeze(now, self._lookout.among)

    def _end(self, child: Child, reason: EndedBy, now: float) -> None:
        if not child.is_ending:
            telemetry.agent_killed(child.order.turn_id, ended_by=reason, processes=child.size)
        child.end(reason, now)

    def _bury(self, child: Child, now: float) -> None:
        """Report a program that is gone, after its last lines and once its lock is free."""
        last_lines = [wire.Line(child.number, line) for line in child.pipes.finish(now)]
        child.close()
        del self._children[child.number]
        self._link.say(*last_lines, wire.Ended(child.number, child.exit))
        if all(other.order.turn_id != child.order.turn_id for other in self._children.values()):
            self._step(child.order.turn_id, now, trust.GAP_SECONDS)
