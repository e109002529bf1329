"""Celery that survives its workers, as its manual has it: late acknowledgement and a visibility timeout.

`celery -A bench.late worker`. The timeout is our lease, and expired messages are looked for every second, which is the
best that can be set; by default a lost task comes back after a minute and a half, however short the timeout is.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from bench import raw

app = raw.make("late")
app.conf.update(
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    broker_transport_options={
        **app.conf.broker_transport_options,
        "visibility_timeout": raw.FOUND.lease_seconds,
        "unacked_restore_interval": 1,
        "unacked_restore_throttle": 1,
    },
)


@app.task(name="late.work")  # type: ignore[untyped-decorator]
def work(witness: str) -> None:
    """Say that it started, and in which process, then sleep."""
    with Path(witness).open("a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(raw.WAIT_SECONDS)
