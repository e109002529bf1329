"""The whole matrix: `python -m tests.faults [PAIRS] [SEED]` runs every fault at every call of every story, then pairs.

A report line a kind and story, each wrong run named so that it can be told again; exits 1 if there was one.
"""

import logging
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import psycopg
import stamina
from rich.console import Console

from orchestrator import telemetry
from orchestrator.embedded import Embedded
from orchestrator.store import migrate
from tests.faults import faults, runs
from tests.faults.stories import STORIES
from tests.stage import Stage

say = Console().print


def singles(stage: Stage) -> Iterator[tuple[str, int, list[str]]]:
    """Every kind of fault at every call of every story, told of in both ways where somebody dies."""
    for story in STORIES:
        calls = runs.golden(stage, story)
        for kind, fault in faults.ALL.items():
            wrong = []
            words = (False, True) if fault in faults.DEATHS else (False,)
            for word in words:
                for number, name in enumerate(calls):
                    found = runs.play(stage, story, {number: fault}, word=word)
                    wrong += [f"{number} {name} (word: {word}): {what}" for what in found]
            yield f"{story}: {kind}", len(calls) * len(words), wrong


def pairs(stage: Stage, count: int, seed: int) -> Iterator[tuple[str, int, list[str]]]:
    """Pairs of faults from `seed` on."""
    for number in range(seed, seed + count):
        chosen = runs.pair(number)
        yield f"{chosen}", 1, runs.play_pair(stage, chosen)


def main() -> int:
    """Run it all and say what was found."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(10**9)
    telemetry.configure(telemetry.Style.JSON, level=logging.CRITICAL)
    stamina.set_testing(True, attempts=99)
    began, total, bad = monotonic(), 0, 0
    with tempfile.TemporaryDirectory(prefix="stationkeeper-faults-") as folder:
        state = Path(folder)
        state.chmod(0o755)
        with Embedded(state, durable=False) as servers:
            stage = _stage(servers, state)
            say(f"pairs from seed {seed}")
            for source in (singles(stage), pairs(stage, count, seed)):
                for what, runs_made, wrong in source:
                    total, bad = total + runs_made, bad + len(wrong)
                    if runs_made > 1 or wrong:
                        say(f"{what}: {runs_made} runs, {len(wrong)} wrong", *wrong, sep="\n    ")
            stage.close()
    say(f"{total} runs, {bad} wrong, {monotonic() - began:.0f} s")
    return 1 if bad else 0


def _stage(servers: Embedded, state: Path) -> Stage:
    address = servers.database_url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("create database faults")
    url = f"{servers.database_url.rpartition('/')[0]}/faults"
    migrate.upgrade(url)
    return Stage(url, state)


if __name__ == "__main__":
    raise SystemExit(main())
