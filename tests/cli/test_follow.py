"""The events in the logs as lines for a person."""

import json
from pathlib import Path

from orchestrator.cli import follow


def test_our_events_are_told_and_nothing_else(tmp_path: Path):
    """Celery's lines, routine ticks and what was there before stay in the file."""
    log = tmp_path / "turns-1.log"
    log.write_text(json.dumps({"event": "turn started", "item": "OLD-1"}) + "\n")
    followed = follow.Followed([log])
    with log.open("a") as file:
        file.write("[celery] ready.\n[1, 2]\n")
        file.write(json.dumps({"event": "tick", "workflow": "demo"}) + "\n")
        said = {
            "item": "LAMP-1",
            "fence": 4,
            "event": "turn started",
            "level": "info",
            "timestamp": "2026-11-29T08:09:10Z",
        }
        file.write(json.dumps(said) + "\n")
    assert list(followed.fresh()) == ["08:09:10 LAMP-1: turn started (fence 4)"]
    assert list(followed.fresh()) == []


def test_half_a_line_waits_for_its_other_half(tmp_path: Path):
    """A reader may come in the middle of a write."""
    log = tmp_path / "control.log"
    followed = follow.Followed([log])
    line = json.dumps({"event": "dispatched", "item": "LAMP-2"}) + "\n"
    log.write_text(line[:10])
    assert list(followed.fresh()) == []
    with log.open("a") as file:
        file.write(line[10:])
    assert list(followed.fresh()) == [" LAMP-2: dispatched"]
