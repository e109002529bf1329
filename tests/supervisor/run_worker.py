"""A worker in a process of its own: `python -m tests.supervisor.run_worker FOLDER CONFIG SCRIPT`.

It runs the script for one turn, tells the folder who it is, and beats from its main thread until it is killed.
"""

import json
import os
import sys
import threading
from pathlib import Path

from orchestrator.supervisor.trust import Config
from tests.supervisor.station import BEAT_SECONDS, Station

if __name__ == "__main__":
    here = Station(Path(sys.argv[1]), Config(**json.loads(sys.argv[2])))
    here.client.start()
    ref = here.adopt()
    here.client.spawn(here.order(ref, sys.argv[3]))
    told = {"turn": str(ref.turn_id), "supervisor": here.supervisors[-1]}
    draft = here.folder / "worker.draft"
    draft.write_text(json.dumps(told))
    draft.replace(here.folder / f"worker-{os.getpid()}")
    while not threading.Event().wait(BEAT_SECONDS):
        here.client.beat()
