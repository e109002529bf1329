"""The Celery application: `celery -A orchestrator worker | beat | flower | call | inspect` find it here.

A message is a hint: acknowledged early, JSON only, no result, no expiry. Every rule about delivery is one line below.
"""

from __future__ import annotations

import sys

from celery import Celery
from kombu.entity import Exchange, Queue

import beat_schedule
from orchestrator import broker, queue, settings
from orchestrator.engine.worker import SPARE_THREADS

# Redis may freeze rather than fail; a publish must not hold a tick longer than this.
BROKER_TIMEOUT_SECONDS = 2.0
# Early acknowledgement leaves nothing for the broker to redeliver; the number only has to be finite.
VISIBILITY_TIMEOUT_SECONDS = 3600

# What goes to a workspace's disk goes where turns are taken.
ROUTES = {
    "tasks.reconcile": {"queue": queue.CONTROL},
    "tasks.turn": {"queue": queue.TURNS},
    "tasks.relay": {"queue": queue.RELAY},
    "tasks.tidy": {"queue": queue.TURNS},
    "tasks.hint": {"queue": queue.RELAY},  # a storm of hints keeps no ring waiting
}


# The Celery tasks, and what a worker does at its start and end.
MODULES = (
    "tasks.reconcile",
    "tasks.turn",
    "tasks.relay",
    "tasks.hint",
    "tasks.tidy",
    "tasks.queues",
    "tasks.stopping",
    "tasks.lifecycle",
)


def make_app(found: settings.Settings) -> Celery:
    """The application with every rule of delivery set; knows no Celery task, they are included by name."""
    broker.install()
    app = Celery("stationkeeper", broker=found.redis_url)
    app.conf.update(
        include=list(MODULES),
        task_queues=[queue_named(name) for name in (queue.CONTROL, queue.TURNS, queue.RELAY)],
        task_default_queue=queue.CONTROL,
        task_default_exchange="stationkeeper",
        task_default_routing_key=queue.CONTROL,
        task_routes=ROUTES,
        beat_schedule=beat_schedule.SCHEDULE,
        beat_scheduler="celery.beat:Scheduler",  # in memory: two beats in one folder share no file
        beat_max_loop_interval=1,
        task_acks_late=False,
        task_ignore_result=True,
        result_backend=None,
        task_serializer="json",
        accept_content=["json"],
        task_publish_retry=False,
        worker_pool="threads",
        worker_concurrency=found.turn_slots + SPARE_THREADS,
        worker_prefetch_multiplier=1,
        worker_disable_prefetch=True,
        worker_send_task_events=True,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options={
            "visibility_timeout": VISIBILITY_TIMEOUT_SECONDS,
            "socket_timeout": BROKER_TIMEOUT_SECONDS,
            "socket_connect_timeout": BROKER_TIMEOUT_SECONDS,
            "socket_keepalive": True,
            "health_check_interval": 5,
        },
        timezone="UTC",
    )
    return app


def queue_named(name: str) -> Queue:
    """One of our queues, as a worker declares it."""
    exchange = Exchange("stationkeeper", type="direct")  # type: ignore[no-untyped-call]
    return Queue(name, exchange, routing_key=name)  # type: ignore[no-untyped-call]


def _found() -> settings.Settings:
    """The settings, or one line for the person who typed the command, and an exit."""
    try:
        return settings.load()
    except settings.NotConfigured as error:
        print(f"orchestrator: {error}", file=sys.stderr)  # noqa: T201 -- no logger is set up yet
        raise SystemExit(3) from None


app = make_app(_found())
