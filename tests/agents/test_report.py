"""A report is read with suspicion: it is a stranger's text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.agents import report
from orchestrator.domain.turn import Outcome


def read(said):
    """Whether the text is a report, or is refused with its place."""
    try:
        return report.parse(said, place="here").outcome in Outcome
    except report.BadReport as bad:
        return str(bad).startswith("here: ")


@given(st.binary(max_size=200))
def test_any_bytes_are_a_report_or_refused(said):
    """Whatever a program writes: a report, or one exception that says where and what; never another."""
    assert read(said)


@given(
    st.dictionaries(st.sampled_from(["outcome", "summary", "retry_after_seconds", "usage"]), st.integers() | st.text())
)
def test_any_object_is_a_report_or_refused(fields):
    """Wrong types in the right places are refused alike."""
    assert read(json.dumps(fields).encode())


def test_no_text_can_spoil_a_row_or_a_comment():
    """NUL, which no database takes, is dropped; a novel is cut."""
    said = report.parse(b'{"outcome":"done","summary":" a\\u0000b ","reason":"' + b"x" * 9_000 + b'"}', place="here")
    assert said.summary == "ab"
    assert len(said.reason) == report.LONGEST_TEXT


def test_a_missing_or_empty_file_is_no_report(tmp_path):
    """A program that wrote nothing said nothing."""
    (tmp_path / "empty").write_text(" \n")
    assert (report.read(tmp_path / "none"), report.read(tmp_path / "empty")) == (None, None)


@pytest.mark.parametrize("waiting", ["NaN", "Infinity", "-1", '"soon"'])
def test_a_time_to_wait_is_a_number_of_seconds(waiting):
    """No time to wait can be endless, negative or a word."""
    with pytest.raises(report.BadReport, match="retry_after_seconds"):
        report.parse(f'{{"outcome":"failed","retry_after_seconds":{waiting}}}'.encode(), place="here")
