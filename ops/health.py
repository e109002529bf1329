#!/usr/bin/env python3
"""Whether the process beside this check lives: its pulse touched the heartbeat file a moment ago.

Nothing else is asked: no broker, no database, no `inspect ping` (three seconds of imports for an answer that a busy
worker does not give). While Redis or Postgres is away a worker can do nothing, and starting it again would not help: it
is not ready, but it lives. A process that hangs or was stopped is what a restart mends.

Usage: health.py FILE, the file that STATIONKEEPER_HEARTBEAT_FILE names to the process. Exit code 0: it lives; 1: it
does not; 2: no file was named. Standard library only, so that it costs a few hundredths of a second.
"""

import sys
import time
from pathlib import Path

# The file is touched each second. A dozen missed beats in a row are no longer a slow disk, a loaded machine or a long
# garbage collection; the turns themselves are guarded by their leases, not by this.
OLDEST_SECONDS = 15


def verdict(file: Path, *, now: float) -> str | None:
    """Why the process does not live, None when it does; `now` in seconds since the epoch, as the file's own time."""
    try:
        age_seconds = now - file.stat().st_mtime
    except OSError as error:
        return f"{file}: {error.strerror}; expected the heartbeat of a running process"
    if age_seconds >= OLDEST_SECONDS:
        return f"{file}: last beat {age_seconds:.0f} s ago, expected less than {OLDEST_SECONDS}; the process hangs"
    return None


def main(arguments: list[str]) -> int:
    """Judge the file that is named; say on standard error what is wrong with it; return the exit code."""
    if len(arguments) != 1:
        sys.stderr.write("usage: health.py FILE, the heartbeat file of the process\n")
        return 2
    why = verdict(Path(arguments[0]), now=time.time())
    if why is not None:
        sys.stderr.write(why + "\n")
    return int(why is not None)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
