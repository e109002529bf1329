"""A worker's life in Celery's signals: refuse a foreign schema, start the pulse, hand turns back when asked to stop."""

from __future__ import annotations

import sys

from celery import signals
from celery.apps.worker import Worker

from orchestrator import office, settings, telemetry, wiring


@signals.setup_logging.connect
def speak(**_: object) -> None:
    """Our lines and Celery's own go to standard error, one line each."""
    telemetry.configure(telemetry.Style.JSON)
    telemetry.adopt_library_logs()


@signals.worker_init.connect
@signals.beat_init.connect
def refuse_a_foreign_schema(**_: object) -> None:
    """End at once, with one line, when the database is behind or ahead of this program."""
    complaint = wiring.schema_complaint(settings.load())
    if complaint is not None:
        print(f"orchestrator: {complaint}", file=sys.stderr)  # noqa: T201 -- for the person who started it
        raise SystemExit(3)


@signals.beat_init.connect
def show_that_beat_lives(**_: object) -> None:
    """Touch the health check's file with each ring, before it is sent: an absent broker makes beat no less alive."""
    heartbeat = settings.load().heartbeat_file
    if heartbeat is not None:
        signals.before_task_publish.connect(lambda **_: heartbeat.touch(), weak=False)


@signals.worker_ready.connect
def begin(sender: Worker, **_: object) -> None:
    """Start work once the queues of this worker are known."""
    queues = frozenset(queue.name for queue in sender.task_consumer.queues)
    office.begin(queues, threads=sender.controller.concurrency)


@signals.worker_shutting_down.connect
def hand_back(**_: object) -> None:
    """Stop taking turns and hand the running ones back with their sessions; they count against no cap."""
    office.hand_back()


@signals.worker_shutdown.connect
def end(**_: object) -> None:
    """Say goodbye: the row goes, the pipe closes, the supervisor ends."""
    office.end()
