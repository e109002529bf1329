"""The supervisor's own process: `python -m orchestrator.cli.supervise FD INSTALLATION`, started by its worker only."""

from __future__ import annotations

import socket
import sys

from orchestrator import clock, leases, settings, telemetry
from orchestrator.store.open import open_store
from orchestrator.supervisor import service
from orchestrator.supervisor.renewal import Doors
from orchestrator.supervisor.trust import Config


def main(descriptor: int, installation: str) -> None:
    """Supervise the worker at the other end of `descriptor` until it is gone; asks Postgres nothing at first."""
    telemetry.configure(telemetry.Style.JSON)
    found = settings.load()
    left_out = frozenset({found.sabotage.value} if found.sabotage else ())
    store = open_store(
        found.database_url,
        left_out=left_out,
        lease_seconds=found.lease_seconds,
        requeue_seconds=found.requeue_seconds,
    )
    config = Config(
        installation=installation,
        host=clock.host_name(found.state_dir, found.host),
        lease_seconds=found.lease_seconds,
        renewal_seconds=found.renewal_seconds,
        grace_seconds=found.grace_seconds,
        freeze_limit_seconds=found.freeze_limit_seconds,
    )
    doors = Doors(store.turns, leases.RedisLeases(found.redis_url))
    with socket.socket(fileno=descriptor) as pipe:
        service.serve(pipe, doors, config)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
