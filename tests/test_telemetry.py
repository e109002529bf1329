"""What the system says: whole lines with fields, and nothing that can stop it."""

import io
import json
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest

from orchestrator import telemetry
from orchestrator.domain.turn import StopReason
from orchestrator.telemetry import Style

TURN = UUID(int=7)


@pytest.fixture
def lines():
    """What was said since the test began, each line read as JSON."""
    stream = io.StringIO()
    telemetry.configure(Style.JSON, stream=stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    telemetry.configure(Style.JSON)


class Full(io.StringIO):
    """A disk without room."""

    def write(self, _):
        """Refuse."""
        raise OSError(28, "No space left on device")


def test_an_event_is_a_constant_message_with_fields(lines):
    """A collector groups by the message and filters by the fields; what is not known is left out."""
    telemetry.turn_ended("BACK-7", turn_id=TURN, fence=3, stop=StopReason.DONE)
    (said,) = lines()
    assert said.pop("timestamp")
    assert said == {
        "event": "turn ended",
        "level": "info",
        "item": "BACK-7",
        "turn": str(TURN),
        "fence": 3,
        "stop": "done",
    }


def test_item_and_session_are_on_every_line_within_about(lines):
    """No call has to remember them, and another thread's lines do not get them."""
    with telemetry.about("BACK-7", turn_id=TURN, session="s1"), ThreadPoolExecutor(1) as pool:
        telemetry.service_failed("redis", error=OSError("gone"))
        pool.submit(telemetry.service_failed, "redis", error=OSError("gone")).result()
    telemetry.service_failed("redis", error=OSError("gone"))
    assert [(said.get("item"), said.get("session")) for said in lines()] == [
        ("BACK-7", "s1"),
        (None, None),
        (None, None),
    ]


@pytest.mark.parametrize("stream", [Full(), io.StringIO()], ids=["full", "closed"])
def test_a_failing_sink_stops_nothing(lines, stream):  # noqa: ARG001 - puts the stream back
    """A line that cannot be written is dropped and counted."""
    if not isinstance(stream, Full):
        stream.close()
    telemetry.configure(Style.JSON, stream=stream)
    before = telemetry.dropped_lines()
    telemetry.held("BACK-7", kind=StopReason.BLOCKED, reason="asks a question")
    assert telemetry.dropped_lines() == before + 1


def test_a_value_that_cannot_be_shown_stops_nothing(lines):
    """So is a line whose own fields break the renderer."""

    class Shy:
        def __str__(self):
            raise RuntimeError("no")

        __repr__ = __str__

    before = telemetry.dropped_lines()
    telemetry.tick("team", listing=True, report={"shy": Shy()})
    assert (lines(), telemetry.dropped_lines()) == ([], before + 1)


def test_a_person_reads_the_same_event_as_text():
    """The console's line holds message and fields, without colours where there is no terminal."""
    stream = io.StringIO()
    telemetry.configure(Style.CONSOLE, stream=stream)
    telemetry.dispatched("BACK-7", turn_id=TURN, fence=3, ordinal=1)
    telemetry.configure(Style.JSON)
    assert "dispatched" in stream.getvalue()
    assert "item=BACK-7" in stream.getvalue()
    assert "\x1b" not in stream.getvalue()


def test_threads_do_not_mix_their_lines(lines):
    """Each line is written whole."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: telemetry.acted(f"BACK-{number}", action="cancel"), range(200)))
    assert {said["item"] for said in lines()} == {f"BACK-{number}" for number in range(200)}
