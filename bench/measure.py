"""Takes times and says them: medians of interleaved pairs, the ratio of the two, and whether a bound was held."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

# Odd, so that the median is a run that happened; five pairs are what two shared cores need to agree with themselves.
PAIRS = 5

# Below this a duration is shown in milliseconds.
_SHOWN_IN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a report: what was measured, what was found, what stands beside it, and the bound it is held to.

    `is_held` is None where there is no bound.
    """

    name: str
    ours: str
    beside: str = ""
    ratio: str = ""
    bound: str = ""
    is_held: bool | None = None


@dataclass(frozen=True, slots=True)
class Medians:
    """The medians of a pair, seconds."""

    ours: float
    theirs: float


def seconds(work: Callable[[], object]) -> float:
    """How long one call takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def interleaved(ours: Callable[[], float], theirs: Callable[[], float], *, pairs: int) -> Medians:
    """The medians of both, measured turn about, so that whatever else the machine does meets both alike."""
    found = [(ours(), theirs()) for _ in range(pairs)]
    return Medians(middle(mine for mine, _ in found), middle(other for _, other in found))


def middle(values: Iterable[float]) -> float:
    """The median, always one of the values."""
    return statistics.median_low(list(values))


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest value that at least `percent` per cent of them do not exceed."""
    return sorted(values)[max(-(-len(values) * percent // 100) - 1, 0)]


def duration(name: str, found: Medians, *, bound_seconds: float) -> Line:
    """A row about two durations; the bound is on ours."""
    return Line(
        name,
        shown(found.ours),
        beside=shown(found.theirs),
        ratio=f"{found.ours / found.theirs:.2f}",
        bound=f"< {shown(bound_seconds)}",
        is_held=found.ours < bound_seconds,
    )


def shown(duration_seconds: float) -> str:
    """A duration for people."""
    if duration_seconds < _SHOWN_IN_SECONDS:
        return f"{duration_seconds * 1000:.0f} ms"
    return f"{duration_seconds:.2f} s"


def report(title: str, lines: Sequence[Line]) -> None:
    """Print one benchmark's rows."""
    table = Table(title=title, title_justify="left")
    for heading in ("measured", "ours", "beside it", "ratio", "bound", "held"):
        table.add_column(heading)
    for line in lines:
        held = {None: "", True: "yes", False: "MISSED"}[line.is_held]
        table.add_row(line.name, line.ours, line.beside, line.ratio, line.bound, held)
    Console(width=140).print(table)
