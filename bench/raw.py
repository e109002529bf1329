"""Celery without us: the same broker, pool, prefetch and acknowledgement, and a task that does nothing.

`celery -A bench.raw worker`. Messages are taken in the order in which they came, so the last one tells that all were.
"""

from __future__ import annotations

import time

import redis
from kombu.entity import Exchange, Queue

from orchestrator import settings
from orchestrator.celery import make_app

QUEUE, DONE = "raw", "raw.done"

_found = settings.load()
app = make_app(_found)
app.conf.update(
    include=[],
    beat_schedule={},
    task_routes={},
    task_queues=[Queue(QUEUE, Exchange(QUEUE, type="direct"), routing_key=QUEUE)],  # type: ignore[no-untyped-call]
    task_default_queue=QUEUE,
    task_default_exchange=QUEUE,
    task_default_routing_key=QUEUE,
)
_redis = redis.Redis.from_url(_found.redis_url)


@app.task(name="raw.nothing")  # type: ignore[untyped-decorator]
def nothing() -> None:
    """Be started."""


@app.task(name="raw.last")  # type: ignore[untyped-decorator]
def last() -> None:
    """Tell when the last one was started, seconds since the epoch."""
    _redis.rpush(DONE, time.time())
