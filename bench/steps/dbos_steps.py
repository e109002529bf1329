"""DBOS as its documentation has it: a workflow of ten steps, called in this process. Runs in the peers' environment."""

import json
import logging
import os
import sys
import time

os.environ["DBOS__VMID"] = sys.argv[3]

from dbos import DBOS

logging.disable(logging.INFO)
DBOS(
    config={
        "name": "bench",
        "system_database_url": sys.argv[4],
        "run_admin_server": False,
        "log_level": "ERROR",
    }
)


@DBOS.step()
def step(value: int) -> int:
    """Nothing."""
    return value + 1


@DBOS.workflow()
def ten_steps(value: int) -> int:
    """Ten times nothing."""
    for _ in range(10):
        value = step(value)
    return value


DBOS.launch()
ten_steps(0)
time.sleep(max(0.0, float(sys.argv[1]) - time.time()))
began, done = time.perf_counter(), 0
ends = began + float(sys.argv[2])
while time.perf_counter() < ends:
    ten_steps(0)
    done += 10
print(json.dumps({"steps": done, "seconds": time.perf_counter() - began}))
sys.stdout.flush()
os._exit(0)  # its threads need not be waited for
