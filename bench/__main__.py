"""Runs the named benchmarks, or all of them, one after another; `--quick` does each once in a tiny size."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from bench import ground, measure
from orchestrator import telemetry

NAMES = ("plan", "tick", "files", "dispatch", "writeback", "recovery", "cancel", "memory", "flows")
QUICK = "--quick"


def main(words: Sequence[str]) -> int:
    """Run each and print its table; 2 for a word that means nothing here."""
    names = [word for word in words if word != QUICK]
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        print(f"no benchmark is called {unknown[0]!r}; there are: {', '.join(NAMES)}, and {QUICK}", file=sys.stderr)
        return 2
    with ground.standing() as standing, Path(os.devnull).open("w") as nowhere:
        telemetry.configure(telemetry.Style.JSON, stream=nowhere)  # written as ever, read by nobody
        for name in names or NAMES:
            benchmark = importlib.import_module(f"bench.{name}")
            size = benchmark.QUICK if QUICK in words else benchmark.FULL
            measure.report(benchmark.TITLE, benchmark.run(size, standing))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
