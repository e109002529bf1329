"""What a Roundup board promises before anybody has asked its server; the server itself is in `tests/peers`."""

import pytest

from orchestrator.trackers import roundup

OPTIONS = {"endpoint": "https://issues.example.org/tracker/", "api_key": "us:secret"}


@pytest.mark.proves("TW-04", "TE-10")
@pytest.mark.parametrize(
    ("said", "promised"), [({}, False), ({"single_threaded": True}, True), ({"single_threaded": "yes"}, False)]
)
def test_a_move_is_promised_to_compare_only_where_somebody_said_so(said: dict[str, object], *, promised: bool):
    """Roundup compares and writes in no transaction: with several threads its moves are best effort, and read back."""
    profile = roundup.connect({**OPTIONS, **said}).profile
    assert profile.conditional_moves is promised
    assert "best effort" in profile.notes
