"""The fleet in numbers, for Prometheus: counted in the store at the moment of asking, so no process need remember any.

A series is there also while its value is zero, so that an alert on it can tell "none" from "nobody looked".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

import prometheus_client
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from orchestrator.domain import effect, task
from orchestrator.store.health import Health
from orchestrator.store.views import Overview, WorkflowView

_PREFIX = "stationkeeper"
_TURN_STATUSES = ("queued", "running")
_WRITE_STATUSES = ("pending", "claimed", "unknown")

_STATUS = ("workflow", "status")

_NONE: Mapping[str, int] = MappingProxyType({})

Samples = Iterable[tuple[tuple[str, ...], float]]


def exposition(overview: Overview, health: Sequence[Health] = (), *, kept: Mapping[str, int] = _NONE) -> str:
    """The numbers as text, as Prometheus reads it."""
    return prometheus_client.generate_latest(_registry(overview, health, kept)).decode()


def write(overview: Overview, path: Path, *, health: Sequence[Health] = (), kept: Mapping[str, int] = _NONE) -> None:
    """The same into a file for the node exporter's textfile collector, which never meets half of it."""
    prometheus_client.write_to_textfile(str(path), _registry(overview, health, kept))


def _registry(
    overview: Overview, health: Sequence[Health], kept: Mapping[str, int]
) -> prometheus_client.CollectorRegistry:
    registry = prometheus_client.CollectorRegistry()
    registry.register(_Fleet(overview, kept))
    registry.register(_Tasks(health))
    return registry


class _Tasks(Collector):
    """How durable tasks fare."""

    def __init__(self, health: Sequence[Health]) -> None:
        self._health = health

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Counts by status, then one number for each workflow."""
        for name, what, pick, statuses in _BY_STATUS:
            samples = [
                ((each.workflow, status), float(pick(each).get(status, 0)))
                for each in self._health
                for status in statuses
            ]
            yield _gauge(name, what, samples, labels=_STATUS)
        for name, what, value in _OF_TASKS:
            yield _gauge(name, what, [((each.workflow,), float(value(each))) for each in self._health])


class _Fleet(Collector):
    """One look at the fleet."""

    def __init__(self, overview: Overview, kept: Mapping[str, int]) -> None:
        self._overview, self._kept = overview, kept

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Every number, by workflow where it has one."""
        seen = self._overview
        names = [each.name for each in seen.workflows]
        waits = ((key, float(count)) for key, count in seen.waits.items())
        yield _gauge("waiting_items", "Items left out by the last tick.", waits, labels=("workflow", "reason"))
        for name, what, value in _OF_WORKFLOWS:
            yield _gauge(name, what, [((each.name,), value(each, seen.now)) for each in seen.workflows])
        kept = (((name,), float(self._kept.get(name, 0))) for name in names)
        yield _gauge("kept_work", "Workspaces that went, whose unfinished work is kept and not forgotten yet.", kept)
        turns = Counter((turn.workflow, turn.status) for turn in seen.turns)
        yield _gauge("open_turns", "Open turns.", _filled(turns, names, _TURN_STATUSES), labels=_STATUS)
        writes = Counter((write.workflow, write.status) for write in seen.writes)
        yield _gauge("outbox_rows", "Writes not settled yet.", _filled(writes, names, _WRITE_STATUSES), labels=_STATUS)
        oldest = [((name, status), self._oldest(name, status)) for name in names for status in _WRITE_STATUSES]
        yield _gauge("outbox_oldest_age_seconds", "Age of the oldest of them.", oldest, labels=_STATUS)
        for name, what, pick in _OF_CANCELS:
            yield _gauge(name, what, [((), pick(seen.cancels))], labels=())
        holds = Counter((hold.scope, hold.kind) for hold in seen.holds)
        standing = ((key, float(count)) for key, count in holds.items())
        yield _gauge("holds", "Standing holds.", standing, labels=("scope", "kind"))

    def _oldest(self, workflow: str, status: str) -> float:
        written = [
            write.written_at for write in self._overview.writes if write.workflow == workflow and write.status == status
        ]
        return _age(min(written), self._overview.now) if written else 0.0


def _age(at: datetime | None, now: datetime) -> float:
    """By the database's clock, which stamped both."""
    return max((now - at).total_seconds(), 0.0) if at is not None else float("inf")


# From a cancel to the end of its turn's processes: what a person who drags a card waits for, once a tick has seen it.
_OF_CANCELS: tuple[tuple[str, str, Callable[[Sequence[float]], float]], ...] = (
    ("cancels", "Running turns that were cancelled in the last day.", lambda each: float(len(each))),
    ("cancel_longest_seconds", "The longest from a cancel to its turn's end.", lambda each: max(each, default=0.0)),
    ("cancel_last_seconds", "The last of them.", lambda each: each[-1] if each else 0.0),
)

_ENDS = tuple(status.value for status in task.FINAL)

# Success and recovery are shares of these: `succeeded` over all of `tasks_ended`, or of `tasks_recovered`.
_BY_STATUS: tuple[tuple[str, str, Callable[[Health], Mapping[str, int]], Iterable[str]], ...] = (
    ("tasks", "Tasks that are kept.", lambda each: each.standing, [status.value for status in task.TaskStatus]),
    ("tasks_ended", "Tasks that ended in the last day.", lambda each: each.ended, _ENDS),
    ("tasks_recovered", "Those of them that had lost a turn.", lambda each: each.recovered, _ENDS),
    ("effects", "Effects in the ledger.", lambda each: each.effects, [status.value for status in effect.EffectStatus]),
)
_OF_TASKS: tuple[tuple[str, str, Callable[[Health], float]], ...] = (
    ("steps_per_success", "Steps of a task that succeeded in the last day.", lambda each: each.steps),
    ("tokens_per_success", "Tokens, in and out, of a task that succeeded in the last day.", lambda each: each.tokens),
    ("proposals_refused", "Tasks of the last day whose model proposed what it may not.", lambda each: each.refused),
    (
        "tasks_stuck",
        "Tasks that nothing will wake: neither a turn, a time, a hold nor a question.",
        lambda each: each.stuck,
    ),
    ("effects_sent_again", "Effects that were sent more than once, none without a look-up.", lambda each: each.resent),
    ("effect_unknown_oldest_age_seconds", "Age of the oldest unknown effect.", lambda each: each.unknown_age),
)

# What is true of each workflow now.
_OF_WORKFLOWS: tuple[tuple[str, str, Callable[[WorkflowView, datetime], float]], ...] = (
    (
        "contract_broken",
        "1 while the board lacks a state that the workflow names.",
        lambda each, _: float(each.problem is not None),
    ),
    (
        "workflow_file_bad",
        "1 while the file cannot be used and an older version stays.",
        lambda each, _: float(each.file_problem is not None),
    ),
    (
        "workflow_resting",
        "1 while a provider is waited for, and until one card after it ended well.",
        lambda each, _: float(each.rest_until is not None),
    ),
    ("workflow_version", "The version in force.", lambda each, _: float(each.version)),
    (
        "last_tick_age_seconds",
        "Since the last tick began; +Inf: never.",
        lambda each, now: _age(each.ticked_at, now),
    ),
    (
        "last_listing_age_seconds",
        "Since the board was listed last; +Inf: never.",
        lambda each, now: _age(each.listed_at, now),
    ),
    (
        "whole_board_age_seconds",
        "Since a look at the whole board began that came to its end; +Inf: never.",
        lambda each, now: _age(each.whole_at, now),
    ),
)


def _gauge(name: str, what: str, samples: Samples, *, labels: tuple[str, ...] = ("workflow",)) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"{_PREFIX}_{name}", what, labels=labels)
    for values, value in sorted(samples):
        family.add_metric(values, value)
    return family


def _filled(counted: Mapping[tuple[str, str], int], workflows: Iterable[str], statuses: Iterable[str]) -> Samples:
    """The counts, with a zero for each pair that has none."""
    known = tuple(statuses)
    return [((name, status), float(counted.get((name, status), 0))) for name in workflows for status in known]
