"""Runs the named benchmarks, or all of them, one after another."""

from __future__ import annotations

import importlib
import sys

NAMES = ("plan", "tick", "dispatch", "recovery", "cancel", "memory")


def main(names: tuple[str, ...]) -> int:
    """Run each; 2 for a name that there is none of."""
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        print(f"no benchmark is called {unknown[0]!r}; there are: {', '.join(NAMES)}", file=sys.stderr)
        return 2
    for name in names or NAMES:
        importlib.import_module(f"bench.{name}").run()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(tuple(sys.argv[1:])))
