"""How beat stops: between two rings, whatever it is at when it is asked."""

from __future__ import annotations

import signal

from celery import signals
from celery.beat import Service


@signals.beat_init.connect
def stop_between_rings(sender: Service, **_: object) -> None:
    """Celery's own handler raises SystemExit wherever it is, also in a callback of the collector, which swallows it."""
    signal.signal(signal.SIGTERM, lambda *_: sender.stop())
