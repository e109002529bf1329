"""Ten no-op steps a task: fenced steps a second at 1 and 4 processes, beside bare SQL, DBOS and absurd.

All on one Postgres that waits for its disk, turn about; every contender as its documentation has it: ours walks as many
turns at a time as a worker has slots by default, and one at a time besides. The peers stand in
an environment of their own, made from `bench/peers.lock` at the first run.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg

from bench import measure, pages
from bench.ground import Ground, address
from bench.measure import Line

TITLE = "flows: fenced no-op steps a second, ten a task; beside it the same by others on the same Postgres"
LEAST_OF_LIMIT, LEAST_OF_DBOS, LEAST_OF_ABSURD = 0.60, 5.0, 2.0

_BESIDE = (
    ("limit", "bare SQL", LEAST_OF_LIMIT),
    ("dbos", "DBOS", LEAST_OF_DBOS),
    ("absurd", "absurd", LEAST_OF_ABSURD),
)
_HERE = Path(__file__).parent
_PEERS = _HERE.parent / ".tools" / "peers"
_PROGRAMS = {name: _HERE / "steps" / f"{name}.py" for name in ("ours", "limit", "dbos_steps", "absurd_steps")}
# For a process to import what it needs and to warm up, on a busy machine.
_LEAD_SECONDS = 6.0


@dataclass(frozen=True, slots=True)
class Size:
    """How long a run lasts, how many there are of each, at which numbers of processes, and how many finished tasks."""

    seconds: float = 6.0
    pairs: int = measure.PAIRS
    processes: tuple[int, ...] = (1, 4)
    finished: tuple[int, int] = (1_000, 1_000_000)


FULL = Size()
QUICK = Size(seconds=1.0, pairs=1, processes=(1,), finished=(100, 1_000))


@dataclass(frozen=True, slots=True)
class Found:
    """One run: steps a second of all its processes, and the overhead of a step where it was taken, seconds."""

    rate: float
    p50: float = 0.0
    p99: float = 0.0


def run(size: Size, ground: Ground) -> list[Line]:
    """Measure the pairs, and then what a statement touches."""
    python = _peers()
    lines: list[Line] = []
    for count in size.processes:
        lines += _rates(size, ground, count=count, python=python)
    return [*lines, *pages.run(size.finished, ground)]


def _rates(size: Size, ground: Ground, *, count: int, python: Path | None) -> list[Line]:
    """Turn about: limit, ours, and each peer, so that whatever else the machine does meets all alike."""
    ours_url = ground.database_url()
    runs: dict[str, Callable[[], Found]] = {
        "limit": _contender("limit", ground, size, count=count),
        "ours": lambda: _together("ours", [ours_url, ground.redis_url()], size, count=count),
    }
    if count == 1:
        runs["alone"] = lambda: _together("ours", [ours_url, ground.redis_url(), "1"], size, count=count)
    if python is not None:
        runs["dbos"] = _contender("dbos_steps", ground, size, count=count, python=python)
        runs["absurd"] = _contender("absurd_steps", ground, size, count=count, python=python)
    found: dict[str, list[Found]] = {name: [] for name in runs}
    for _ in range(size.pairs):
        for name, once in runs.items():
            found[name].append(once())
    rates = {name: measure.middle(each.rate for each in runs_) for name, runs_ in found.items()}
    many = f"{count} process{'es' if count > 1 else ''}"
    lines = [
        _line(f"{many}, beside {names}", (rates["ours"], rates[name]), least)
        for name, names, least in _BESIDE
        if name in rates
    ]
    if "alone" in rates:
        lines.append(_line("one turn at a time, beside bare SQL", (rates["alone"], rates["limit"]), None))
    return [*lines, *(_overhead(name, found[name], many=many) for name in ("ours", "alone") if name in found)]


def _overhead(name: str, runs: Sequence[Found], *, many: str) -> Line:
    p50, p99 = (measure.middle(getattr(each, part) for each in runs) * 1000 for part in ("p50", "p99"))
    called = f"{many}, a step's overhead" if name == "ours" else "one turn at a time, a step's overhead"
    return Line(called, f"p50 {p50:.2f} ms, p99 {p99:.2f} ms")


def _line(name: str, rates: tuple[float, float], least: float | None) -> Line:
    ours, theirs = rates
    ratio = ours / theirs if theirs else 0.0
    return Line(
        name,
        f"{ours:.0f}/s",
        beside=f"{theirs:.0f}/s",
        ratio=f"{ratio:.2f}",
        bound=f"> {least:g}" if least is not None else "",
        is_held=ratio > least if least is not None else None,
    )


def _contender(name: str, ground: Ground, size: Size, *, count: int, python: Path | None = None) -> Callable[[], Found]:
    """Runs of a program that wants a plain database of its own, set up once."""
    url = address(ground.database_url())
    with psycopg.connect(url, autocommit=True) as connection:
        if name == "limit":
            from bench.steps import limit  # noqa: PLC0415 -- the schema is the program's

            connection.execute(limit.SCHEMA)
    if name == "absurd_steps" and python is not None:
        subprocess.run([python, _PROGRAMS[name], "0", "0", "set_up", url], check=True)
    return lambda: _together(name, [url], size, count=count, python=python)


def _together(name: str, urls: Sequence[str], size: Size, *, count: int, python: Path | None = None) -> Found:
    """So many processes of one program at once, in the tree's root, and what they did together."""
    start_at = time.time() + _LEAD_SECONDS
    processes = [
        subprocess.Popen(
            [
                str(python or sys.executable),
                str(_PROGRAMS[name]),
                str(start_at),
                str(size.seconds),
                str(number),
                *urls,
            ],
            cwd=_HERE.parent,
            env={"PYTHONPATH": str(_HERE.parent), "PATH": "/usr/bin:/bin", "HOME": str(Path.home())},
            stdout=subprocess.PIPE,
        )
        for number in range(1, count + 1)
    ]
    told = [json.loads(process.communicate()[0].splitlines()[-1]) for process in processes]
    return Found(
        rate=sum(each["steps"] / each["seconds"] for each in told),
        p50=max(each.get("p50", 0.0) for each in told),
        p99=max(each.get("p99", 0.0) for each in told),
    )


def _peers() -> Path | None:
    """The peers' Python, its environment made when there is none; None, with a word, where that cannot be done."""
    python, lock = _PEERS / "bin" / "python", _HERE / "peers.lock"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(_PEERS)], check=True)
    uv = _PEERS.parent / "uv" / "bin" / "uv"
    with_uv = [str(uv), "pip", "sync", "-q", "--python", str(python), "--require-hashes", str(lock)]
    with_pip = [str(python), "-m", "pip", "install", "-q", "--no-deps", "--require-hashes", "-r", str(lock)]
    made = subprocess.run(
        with_uv if uv.exists() else with_pip,
        check=False,
        capture_output=True,
        text=True,
    )
    if made.returncode:
        print(f"the peers cannot be installed, so they are left out: {made.stderr.strip()[:300]}", file=sys.stderr)
        return None
    return python
