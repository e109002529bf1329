"""Which queues a worker consumes: those that it was told, and with the turns those of its own host.

Once they are known, the supervisor of a worker that takes turns is started: it comes up while Celery does.
"""

from __future__ import annotations

from celery import signals
from celery.apps.worker import Worker

from orchestrator import office, queue
from orchestrator.celery import queue_named


@signals.celeryd_after_setup.connect
def serve_own_host(instance: Worker, **_: object) -> None:
    """Whoever takes turns takes those whose workspace is on this host, too; `-Q` was read before this."""
    queues = instance.app.amqp.queues
    if queue.TURNS in queues.consume_from:
        queues.select_add(queue_named(queue.turns_of(office.host_name())))
        office.prepare()
