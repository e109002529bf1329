"""How long a turn is trusted, and what becomes of its processes: pure arithmetic on the boot clock's seconds.

`judge` is the priority rule: the strongest reason stands first. Nothing here reads a clock or sends a signal.
"""

from dataclasses import dataclass, replace
from enum import Enum
from math import inf

from orchestrator.domain.turn import StopReason
from orchestrator.ports.store import Renewal, TurnRef
from orchestrator.ports.supervisor import Duty, EndedBy, ProcessOrder

# Between two steps the engine re-reads an item, pushes a branch, writes a few rows: seconds. A minute is a hang, and a
# lease must not be renewed for a hang.
GAP_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Config:
    """The numbers of one supervisor, in seconds, and whose it is.

    `installation` is part of the marker and holds no colon. `kill_grace_seconds` lies between SIGINT, SIGTERM and
    SIGKILL: long enough for an agent program to write its session file, short enough for a person who waits.
    `farewell_seconds` is what a program that tidies up gets of its time once the worker is being stopped: whoever
    stops it kills it soon after.
    """

    installation: str
    host: str
    lease_seconds: float = 30
    renewal_seconds: float = 2
    grace_seconds: float = 5
    freeze_limit_seconds: float = 300
    sweep_seconds: float = 5
    kill_grace_seconds: float = 5
    farewell_seconds: float = 5

    @property
    def silence_seconds(self) -> float:
        """How long a worker may say nothing before it counts as frozen."""
        return self.lease_seconds - self.grace_seconds


@dataclass(frozen=True, slots=True)
class Term:
    """One turn, as far as its owner may be sure of it.

    `confirmed_at` is when the last renewal (or the admission) that succeeded was sent. A confirmation that was sent
    before `distrusted_at` does not count: the worker fell silent after it.
    """

    ref: TurnRef
    lease_key: str | None
    confirmed_at: float
    step_until: float
    distrusted_at: float = -inf
    stop: StopReason | None = None
    lost: bool = False

    def trusted_until(self, config: Config) -> float:
        """The local deadline: past it, somebody else may own the turn before our clock notices."""
        if self.confirmed_at < self.distrusted_at:
            return -inf
        leased_until = self.confirmed_at + config.lease_seconds
        return min(leased_until, self.step_until + config.grace_seconds) - config.grace_seconds

    def renewable(self, now: float, config: Config) -> bool:
        """Whether to ask for more time: no progress, no lease."""
        return not self.lost and now < self.step_until + config.grace_seconds

    def learn(self, renewal: Renewal, sent_at: float) -> "Term":
        """The term after a renewal's answer. A loss is final; a cancel flag is not taken back."""
        if not renewal.ours:
            return replace(self, lost=True, stop=self.stop or StopReason.LOST_WORKER)
        return replace(self, confirmed_at=max(self.confirmed_at, sent_at), stop=self.stop or renewal.cancel)

    def distrust(self, now: float) -> "Term":
        """The term after its worker fell silent: only what is sent from now on confirms it."""
        return replace(self, distrusted_at=now)

    def step(self, now: float, seconds: float) -> "Term":
        """The term with a step that began now."""
        return replace(self, step_until=now + seconds)


@dataclass(frozen=True, slots=True)
class Span:
    """What the clocks of a process say: when it began, last spoke, was frozen; and who asked for its end."""

    began_at: float
    spoke_at: float
    timeout_seconds: float
    stall_seconds: float | None
    frozen_at: float | None = None
    asked: EndedBy | None = None
    duty: Duty = Duty.WORK


class Hold(Enum):
    """The verdicts that are not an end."""

    RUN = "run"  # the fence is ours: go on, thaw if frozen
    FREEZE = "freeze"  # nobody knows: neither write nor lose what was done


def judge(term: Term, span: Span, *, now: float, config: Config) -> Hold | EndedBy:
    """What becomes of a process of the turn now."""
    if term.lost:
        return EndedBy.FENCE_LOST
    if span.frozen_at is not None and now > span.frozen_at + config.freeze_limit_seconds:
        return EndedBy.FREEZE_LIMIT
    if term.stop is not None and span.duty is Duty.WORK:
        return EndedBy.CANCELLED
    if span.asked is not None:
        return span.asked
    if now >= term.trusted_until(config):
        return Hold.FREEZE
    if now > span.began_at + span.timeout_seconds:
        return EndedBy.TIMED_OUT
    if span.stall_seconds is not None and now > span.spoke_at + span.stall_seconds:
        return EndedBy.STALLED
    return Hold.RUN


def errand(order: ProcessOrder) -> Term:
    """The term of what belongs to no turn: nothing that anybody could take over, so there is nothing to confirm."""
    return Term(TurnRef(order.turn_id, order.fence, order.turn_id), None, confirmed_at=inf, step_until=inf)


def wakes_at(term: Term, span: Span, config: Config) -> float:
    """The next moment at which `judge` may say something else of a process, were nothing to happen until then."""
    if span.frozen_at is not None:
        return span.frozen_at + config.freeze_limit_seconds
    stalls_at = inf if span.stall_seconds is None else span.spoke_at + span.stall_seconds
    return min(term.trusted_until(config), span.began_at + span.timeout_seconds, stalls_at)
