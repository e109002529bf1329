"""`make faults`: real workers, really killed before, after, and after-with-the-answer-lost at every seam of a flow.

A line for each point; exits 1 when an effect was done twice, was lost, or is unknown without an owner.
"""

import sys
import tempfile
from pathlib import Path
from time import monotonic

from rich.console import Console

from orchestrator.embedded import Embedded
from orchestrator.store import migrate
from tests.flows.fleet import FlowFleet
from tests.waiting import NeverCame

say = Console().print


def main() -> int:
    """Every point, every nth, or those whose names begin so (`python -m tests.flows 5`, `… flows.conclude,turns`)."""
    chosen = sys.argv[1] if len(sys.argv) > 1 else "1"
    began, bad = monotonic(), 0
    with tempfile.TemporaryDirectory(prefix="stationkeeper-flows-", ignore_cleanup_errors=True) as folder:
        state = Path(folder)
        state.chmod(0o755)
        with Embedded(state / "servers") as servers:
            migrate.upgrade(servers.database_url)
            fleet = FlowFleet(state, servers.database_url, servers.redis_url)
            try:
                fleet.start()
                points = fleet.golden()
                points = (
                    points[:: int(chosen)]
                    if chosen.isdecimal()
                    else [point for point in points if point.seam.startswith(tuple(chosen.split(",")))]
                )
                say(f"{len(points)} points")
                for point in points:
                    at = monotonic()
                    try:
                        wrong = fleet.suffer(point)
                    except NeverCame as never:
                        wrong = [str(never)]
                    bad += bool(wrong)
                    say(f"{point}: {'; '.join(wrong) or 'once'} ({monotonic() - at:.1f} s)")
                say(f"{len(points)} points, {fleet.killed} processes killed, {bad} wrong, {monotonic() - began:.0f} s")
            finally:
                fleet.stop()
    return 1 if bad or not points else 0


if __name__ == "__main__":
    raise SystemExit(main())
