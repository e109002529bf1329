"""absurd as its documentation has it: tasks of ten steps, claimed in batches. Runs in the peers' environment."""

import json
import sys
import time

import psycopg
from absurd_sdk import Absurd
from absurdctl import BUNDLED_SCHEMA_SQL

BATCH = 5
url, number = sys.argv[4], sys.argv[3]


def set_up() -> None:
    """The schema of this release, and a queue."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(BUNDLED_SCHEMA_SQL)
    Absurd(url).create_queue("default")


if number == "set_up":
    set_up()
    sys.exit()

absurd = Absurd(url)
done = 0


@absurd.register_task(name="ten_steps")
def ten_steps(_params: object, context: object) -> None:
    """Ten times nothing."""
    global done  # noqa: PLW0603 -- a task's function gets nothing of ours but its parameters
    for step in range(10):
        context.step(f"s{step}", lambda: 1)  # type: ignore[attr-defined]
        done += 1


time.sleep(max(0.0, float(sys.argv[1]) - time.time()))
began = time.perf_counter()
ends = began + float(sys.argv[2])
while time.perf_counter() < ends:
    for _ in range(BATCH):
        absurd.spawn("ten_steps", {})
    absurd.work_batch(worker_id=f"worker-{number}", batch_size=BATCH)
print(json.dumps({"steps": done, "seconds": time.perf_counter() - began}))
