"""What is done to the running system from outside: a killed worker, an emptied Redis, doubled messages.

It speaks to the broker as any other program could, with a Celery application of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import celery
import redis

from orchestrator import queue
from orchestrator.cli.demo.evidence import Run
from orchestrator.cli.launch import System
from orchestrator.ports.store import Offer


class Backstage:
    """The hands on the system of this run."""

    def __init__(self, system: System) -> None:
        self._system = system
        app = celery.Celery(broker=system.servers.redis_url)
        self._queue = queue.CeleryQueue(app.send_task, lambda: app.producer_pool.acquire(block=True))

    def empty_redis(self) -> None:
        """FLUSHALL."""
        with redis.Redis.from_url(self._system.servers.redis_url) as client:
            client.flushall()

    def kill_worker(self) -> str:
        """SIGKILL the worker that takes turns and start a new one."""
        program = self._system.turn_workers[0]
        pid = self._system.crew.pid(program.name)
        self._system.crew.kill(program.name)
        return f"the worker gets SIGKILL (pid {pid}); a new one starts (pid {self._system.crew.start(program)})"

    def deliver_again(self, run: Run) -> None:
        """Publish the same turn with the same fence once more."""
        self._queue.turns([Offer(UUID(run.turn), run.fence, f"{run.item} fence {run.fence} again")])

    def revive(self) -> Sequence[str]:
        """Start again what died by itself."""
        return self._system.crew.revive()
