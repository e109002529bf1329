"""Takes times and says them: medians of interleaved pairs, ratios, a table."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

# Odd, so that the median is a run that happened; five pairs are what two shared cores need to agree with themselves.
PAIRS = 5


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a report: what was measured, what was found, what it is compared with, and the bound it is held to."""

    name: str
    found: str
    beside: str = ""
    bound: str = ""


def seconds(work: Callable[[], object]) -> float:
    """How long one call takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def interleaved(ours: Callable[[], float], theirs: Callable[[], float], pairs: int = PAIRS) -> tuple[float, float]:
    """The medians of both, measured turn about, so that whatever else the machine does meets both alike."""
    found = [(ours(), theirs()) for _ in range(pairs)]
    return statistics.median(mine for mine, _ in found), statistics.median(other for _, other in found)


def percentile(values: Sequence[float], percent: int) -> float:
    """The value below which `percent` of them lie."""
    return sorted(values)[min(len(values) * percent // 100, len(values) - 1)]


def report(title: str, lines: Sequence[Line]) -> None:
    """Print one benchmark's rows."""
    table = Table(title=title, title_justify="left")
    for heading in ("measured", "found", "beside it", "bound"):
        table.add_column(heading)
    for line in lines:
        table.add_row(line.name, line.found, line.beside, line.bound)
    Console(width=140).print(table)
