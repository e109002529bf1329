"""Celery without us: the same broker, pool, prefetch and acknowledgement, and tasks that do nothing or wait.

`celery -A bench.raw worker`. Messages are taken in the order in which they came, so the last one tells that all were.
"""

from __future__ import annotations

import time

import redis
from celery import Celery
from kombu.entity import Exchange, Queue
from kombu.transport import TRANSPORT_ALIASES

from orchestrator import settings
from orchestrator.celery import make_app

FOUND = settings.load()
BROKER = redis.Redis.from_url(FOUND.redis_url)
# Longer than any benchmark.
WAIT_SECONDS = 3600.0


def make(queue: str) -> Celery:
    """Our application without our tasks, on a queue of its own."""
    made = make_app(FOUND)
    TRANSPORT_ALIASES["redis"] = "kombu.transport.redis:Transport"  # as it comes, without our own
    made.conf.update(
        include=[],
        beat_schedule={},
        task_routes={},
        task_queues=[Queue(queue, Exchange(queue, type="direct"), routing_key=queue)],  # type: ignore[no-untyped-call]
        task_default_queue=queue,
        task_default_exchange=queue,
        task_default_routing_key=queue,
    )
    return made


app = make("raw")


@app.task(name="raw.nothing")  # type: ignore[untyped-decorator]
def nothing() -> None:
    """Be started."""


@app.task(name="raw.last")  # type: ignore[untyped-decorator]
def last() -> None:
    """Tell when the last one was started, seconds since the epoch."""
    BROKER.rpush("raw.done", time.time())


@app.task(name="raw.wait")  # type: ignore[untyped-decorator]
def wait() -> None:
    """Be there."""
    BROKER.incr("raw.waiting")
    time.sleep(WAIT_SECONDS)
