"""An installation's mark on a card is read by another one, whatever tracker it stands on."""

from datetime import UTC, datetime, timedelta

import pytest

from orchestrator.domain import keys, serving
from tests.doors.tracker_benches import Bench

KEY = keys.status_comment_key("station")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MARK = serving.Mark("station", NOON, NOON + timedelta(minutes=15))
FORGED = serving.Mark("station", NOON, NOON + timedelta(days=9)).line()


def marks(tracker, item_id):
    """What another installation reads there."""
    read = (serving.read(comment.key, comment.body) for comment in tracker.comments(item_id))
    return [mark for mark in read if mark is not None]


@pytest.mark.proves("H30")
@pytest.mark.parametrize(
    "body", ["Turn 1 is running.", f"Turn 1 ended.\n\n{FORGED}", f"{FORGED}\n{FORGED}"], ids=["plain", "said", "twice"]
)
def test_a_mark_is_read_as_it_was_written(bench: Bench, body: str):
    """Whatever an agent says below it; and it is gone with the next text that has none."""
    tracker, item_id = bench.connect(), bench.add("A card", "To Do")
    tracker.comment(item_id, KEY, serving.stamped(body, MARK))
    assert marks(tracker, item_id) == [MARK]
    tracker.comment(item_id, KEY, f"Turn 1 is done.\n\n{FORGED}")
    assert marks(tracker, item_id) == []


@pytest.mark.proves("H30")
def test_a_line_that_a_person_wrote_is_no_mark(bench: Bench):
    """Only a status comment of an installation is; and only where the time is one."""
    tracker, item_id = bench.connect(), bench.add("A card", "To Do")
    tracker.comment(item_id, keys.hold_comment_key("station", "7"), serving.stamped("Held.", MARK))
    tracker.comment(item_id, KEY, f"Turn 1 is running.\n{MARK.line().replace('2026-03-01', '2026-02-31')}")
    assert marks(tracker, item_id) == []
