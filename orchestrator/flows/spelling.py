"""How a flow is written down: frozen values that hold plain functions. A bad one is refused where it is made."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from orchestrator.domain.step import SideEffect

READ = SideEffect.READ
IDEMPOTENT_WRITE = SideEffect.IDEMPOTENT_WRITE
WRITE = SideEffect.WRITE
IRREVERSIBLE = SideEffect.IRREVERSIBLE

Function = Callable[..., Any]


class BadFlow(ValueError):
    """A definition cannot be used; the message names the place, what was found, and what was expected."""


class Refused(Exception):
    """An act's answer: the target said no, for good, and nothing happened."""


class NotSent(Exception):
    """An act's answer: it failed before anything was sent, so nothing happened and it may be tried again."""


def _place() -> str:
    """The line that makes the value: the first one outside this file and outside dataclasses' own code."""
    frame = sys._getframe(1)  # noqa: SLF001 -- a definition's own line is the place that its author looks for
    while frame.f_back is not None and frame.f_code.co_filename in {__file__, "<string>"}:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


@dataclass(frozen=True, slots=True)
class Step:
    """A plain function that reads, or that may run again without harm.

    Args:
        name: unique in its flow; later steps ask for its output by it.
        run: called with what its parameters name; returns what its annotation declares.
        effect: READ or IDEMPOTENT_WRITE. What changes the world otherwise is an `Effect`.
        owner: who is asked when it fails for good.
        authority: what a task must have been given for it to run, say "orders:read".
        timeout_seconds: how long one attempt may take; past it, it is killed.
        retry_on: exceptions after which another attempt may succeed.
        max_attempts: attempts in all.
        ends_when: called with the output; a sentence ends the flow there, as a success.
    """

    name: str
    run: Function
    _: KW_ONLY
    effect: SideEffect = READ
    owner: str = "a person"
    authority: str | None = None
    timeout_seconds: float = 60.0
    retry_on: tuple[type[BaseException], ...] = (ConnectionError, TimeoutError)
    max_attempts: int = 3
    ends_when: Callable[[Any], str | None] | None = None
    place: str = field(default_factory=_place, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent program that a decision asks, of the same kinds as workflow files have, in an empty folder of its own.

    Its proposal is the JSON that it leaves as `proposal.json` in that folder, or else gives as its summary.

    Args:
        kind: `command`, or another kind that is installed.
        prompt: called with what its parameters name; returns what the agent is asked. None: the input and the earlier
            outputs. Where the proposal goes, and its schema, is told after it.
        command: what the kind starts.
        env: passed on to the program, beside the allow-list.
        options: what a workflow file has under the kind's own name.
        stall_seconds: silence after which it is ended; 0: never.
    """

    kind: str
    prompt: Function | None = None
    _: KW_ONLY
    command: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)
    stall_seconds: float = 300.0


@dataclass(frozen=True, slots=True)
class Decision:
    """A model's output, which is a proposal until schema, policy, authority and current state have passed it.

    Args:
        name: unique in its flow.
        agent: a function, called with what its parameters name, that returns text (JSON) or an object; or an `Agent`,
            or the kind of one.
        accept: the Pydantic model that a proposal must fit.
        policy: called with `proposal` and whatever else it names; a sentence refuses the proposal.
        needs: called with the proposal; names the authority that carrying it out would take.
    """

    name: str
    agent: Function | Agent | str
    _: KW_ONLY
    accept: type[Any]
    policy: Function | None = None
    needs: Callable[[Any], str | None] | None = None
    owner: str = "a person"
    timeout_seconds: float = 600.0
    retry_on: tuple[type[BaseException], ...] = (ConnectionError, TimeoutError)
    max_attempts: int = 3
    ends_when: Callable[[Any], str | None] | None = None
    place: str = field(default_factory=_place, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Effect:
    """Something done outside, once: the intent is written with its key and parameters, then it is done, then settled.

    Args:
        name: unique in its flow.
        act: called with what its parameters name, `key` among them. It may raise `Refused` or `NotSent`; any other
            exception means that nobody knows whether it happened.
        key: called with the state (`s.task`, `s.input`, earlier outputs by name, and the input's own fields); the same
            for every attempt of this effect, different for any other.
        lookup: asks the target by `key`; returns what `act` would have, or None when there is nothing. Raises when the
            target cannot be read. Without one, a person decides about an unknown outcome.
        deduplicates: the target itself takes a key once, so that sending again is harmless.
        safe_seconds: how long the target knows a key; older, nothing is sent again.
        authority: what the task must have been given.
        compensation: an effect of its own that takes this one back when the task fails after it, or a person says so:
            with its own key, look-up, authority, owner and attempts. Its functions may ask for this effect's output.
    """

    name: str
    act: Function
    _: KW_ONLY
    key: Callable[[Any], str]
    lookup: Function | None = None
    deduplicates: bool = False
    effect: SideEffect = WRITE
    authority: str | None = None
    owner: str = "a person"
    timeout_seconds: float = 30.0
    safe_seconds: float = 86_400.0
    max_attempts: int = 3
    compensation: Effect | None = None
    ends_when: Callable[[Any], str | None] | None = None
    place: str = field(default_factory=_place, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Question:
    """What only a person can say. The task waits for the answer without a worker: `orchestrator task answer` gives it.

    Args:
        name: unique in its flow; later steps ask for the answer by it.
        ask: what the person reads: a text, or a function that returns one, called with what its parameters name.
        accept: the Pydantic model that an answer must fit.
        policy: called with `proposal`, the answer, and whatever else it names; a sentence refuses it, and another
            answer may be given.
        owner: who is asked.
        expires_seconds: how long an answer is waited for; then the task fails as expired. None: until its deadline.
        ends_when: called with the answer; a sentence ends the flow there, as a success.
    """

    name: str
    ask: Function | str
    _: KW_ONLY
    accept: type[Any]
    policy: Function | None = None
    owner: str = "a person"
    expires_seconds: float | None = None
    timeout_seconds: float = 60.0
    retry_on: tuple[type[BaseException], ...] = (ConnectionError, TimeoutError)
    max_attempts: int = 3
    ends_when: Callable[[Any], str | None] | None = None
    place: str = field(default_factory=_place, compare=False, repr=False)


Node = Step | Decision | Effect | Question


def program_of(node: Node) -> Agent | None:
    """The agent program that a decision asks, None where a function stands for it, or there is no decision."""
    if not isinstance(node, Decision):
        return None
    return Agent(node.agent) if isinstance(node.agent, str) else node.agent if isinstance(node.agent, Agent) else None


@dataclass(frozen=True, slots=True)
class Flow:
    """Steps in order. Refused where it is made when it cannot be run.

    Args:
        name: dotted words, unique in the installation.
        version: raise it with each change that stored tasks must not meet.
        steps: what is done, in order.
        authority: all that a task of it may be given; what its steps ask for, by default.
        isolated: each step runs in a process of its own, which can be frozen and killed. False is faster by a process
            start a step; then a step that hangs is abandoned, and one that kills its process takes the worker along.
        deadline_seconds: after which nothing more is begun.
        quantum_seconds: how long one turn goes on before another task gets its slot.
        max_concurrent: turns of it at a time.
        keep_days: how long a task is kept after its end, and longer while a target still knows a key of it. None: until
            `orchestrator task prune`.

    Raises:
        BadFlow: a name, a parameter, a type or a limit is wrong.
    """

    name: str
    _: KW_ONLY
    version: int
    steps: tuple[Node, ...] | list[Node]
    owner: str = "a person"
    authority: frozenset[str] | None = None
    isolated: bool = True
    deadline_seconds: float | None = None
    quantum_seconds: float = 60.0
    max_concurrent: int = 100
    keep_days: float | None = 30.0
    place: str = field(default_factory=_place, compare=False, repr=False)
    # What every call asks for, found once.
    takes: Any = field(init=False, compare=False, repr=False)
    nodes: Mapping[str, Node] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse what cannot be run."""
        from orchestrator.flows import checking  # noqa: PLC0415 -- it reads these values

        object.__setattr__(self, "steps", tuple(self.steps))
        checking.check(self)
        object.__setattr__(self, "takes", checking.input_of(self))
        object.__setattr__(self, "nodes", {node.name: node for node in (*self.steps, *self.compensations)})

    @property
    def compensations(self) -> tuple[Effect, ...]:
        """What undoes effects, in the order in which it is done: the last effect is taken back first."""
        effects = (node for node in reversed(self.steps) if isinstance(node, Effect))
        return tuple(node.compensation for node in effects if node.compensation is not None)

    def step(self, name: str) -> Node:
        """The step or compensation of that name. Raises LookupError."""
        node = self.nodes.get(name)
        if node is None:
            raise LookupError(f"{self.name} has no step {name!r}")
        return node
