"""The full number: `python -m tests.stale [RUNS] [SEED]` plays that many stale and unobserved worlds.

Each wrong run is named by its seed, so that it can be played again; exits 1 if there was one.
"""

import logging
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import monotonic

import stamina
from rich.console import Console

from orchestrator import telemetry
from orchestrator.embedded import Embedded
from orchestrator.store import migrate
from tests.stage import Stage
from tests.stale.runs import Run, play

say = Console().print
# How often a long run says that it lives.
_SAY_EVERY = 1_000


def main() -> int:
    """Play them all and say what was found."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 15_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(10**9)
    telemetry.configure(telemetry.Style.JSON, level=logging.CRITICAL)
    stamina.set_testing(True, attempts=99)
    began, bad, kinds = monotonic(), 0, Counter[str]()
    with tempfile.TemporaryDirectory(prefix="stationkeeper-stale-") as folder:
        state = Path(folder)
        state.chmod(0o755)
        with Embedded(state, durable=False) as servers:
            migrate.upgrade(servers.database_url)
            stage = Stage(servers.database_url, state)
            say(f"{count} worlds from seed {seed}")
            for number in range(seed, seed + count):
                run = Run.of(number)
                kinds.update(run.at.values())
                wrong = play(stage, run)
                bad += bool(wrong)
                if wrong:
                    say(f"{run}:", *wrong, sep="\n    ")
                if (number - seed + 1) % _SAY_EVERY == 0:
                    say(f"{number - seed + 1} played, {bad} wrong, {monotonic() - began:.0f} s")
            stage.close()
    fewest = min(kinds.items(), key=lambda kind: kind[1]) if kinds else ("none", 0)
    say(f"{sum(kinds.values())} mischiefs of {len(kinds)} kinds, the rarest {fewest[1]} times ({fewest[0]})")
    say(f"{count} runs, {bad} wrong, {monotonic() - began:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
