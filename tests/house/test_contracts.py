"""The contract's page and the tests' marks speak of the same lines."""

import re

from tests import contracts


def test_every_mark_names_a_line_of_the_contract():
    """A proof of nothing is a typing mistake, or a promise that nobody wrote down."""
    known = contracts.lines()
    assert {line: tests for line, tests in contracts.proofs().items() if line not in known} == {}


def test_every_line_is_short_and_written_once():
    """One sentence a line, and no ID twice."""
    page = contracts.PAGE.read_text(encoding="utf-8")
    named = re.findall(r"^\| ([A-Z]{1,2}-?\d{1,2}) \|", page, re.MULTILINE)
    assert len(named) == len(set(named)) == len(contracts.lines())
    assert [line for line, promise in contracts.lines().items() if len(promise) > 160] == []


def test_the_core_promises_have_a_proof():
    """What the product stands on is not left to a later day."""
    proved = contracts.proofs()
    core = ["CL-03", "CL-08", "CS-14", "CS-17", "DE-03", "H1", "H4", "H8", "H16", "RC-05", "RT-10", "TW-02", "TW-05"]
    assert [line for line in core if line not in proved] == []
