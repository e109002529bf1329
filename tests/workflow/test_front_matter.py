"""The text between the two lines: what is YAML, what is not, and on which line a person should look."""

import pytest

from orchestrator.workflow import front_matter
from orchestrator.workflow.findings import Code, Rejected


def read(front, body=""):
    """A file with this front matter and body."""
    return front_matter.read(f"---\n{front}\n---\n{body}")


def rejected(front):
    """The code and the only finding for this front matter."""
    with pytest.raises(Rejected) as caught:
        read(front)
    (finding,) = caught.value.findings
    return caught.value.code, finding


@pytest.mark.proves("CF-02")
def test_a_file_without_front_matter_is_all_body():
    """A dashed line further down is part of the prompt."""
    found = front_matter.read("\n\nDo it.\n---\nWell.\n\n")
    assert (found.values, found.body) == ({}, "\n\nDo it.\n---\nWell.")


@pytest.mark.proves("CF-02", "PT-07")
def test_the_body_keeps_its_line_numbers_and_nothing_else():
    """It is trimmed, with an empty line for each line above it."""
    found = read("a: 1\nb: 2", "\n\n  Do it.  \n\n")
    assert found.body == "\n" * 6 + "  Do it."
    assert found.values == {"a": 1, "b": 2}


def test_an_empty_body_is_empty_and_empty_front_matter_has_no_keys():
    """Comments alone are no settings."""
    found = read("# nothing yet", " \n\n")
    assert (found.values, found.body) == ({}, "")


def test_every_value_knows_its_line():
    """Keys, entries of lists, and what is below a line that is not there falls back to what is around it."""
    found = read("a:\n  b:\n    - x\n    - y\nc: 1")
    assert [found.line(key) for key in (("a",), ("a", "b", 1), ("c",), ("a", "missing"), ("d",))] == [2, 5, 6, 2, 1]


@pytest.mark.proves("CF-03")
@pytest.mark.parametrize(
    ("front", "line", "said"),
    [
        ("a: @b", 2, "put quotes around"),
        ("a: 1\n  b: 2", 3, "not YAML"),
        ("a: 1\nb: *nowhere", 3, "undefined alias"),
        ("a: 2026-13-45", 2, "put quotes around it"),
        ("a: !!python/object/apply:os.system [id]", 2, "could not determine a constructor"),
        ("a: 1\nb: \x07", 3, "not allowed in YAML"),
        ("a: 1\nb: 1\na: 2", 4, "a second time"),
        ("a:\n  on: 1", 3, "YAML reads as true or false"),
        ("a: 1\n? [b]\n: 2", 3, "a key must be a text"),
    ],
)
def test_what_is_not_yaml_is_told_with_its_line(front, line, said):
    """So is what YAML allows and a person cannot have meant."""
    code, finding = rejected(front)
    assert (code, finding.line) == (Code.PARSE_ERROR, line)
    assert said in finding.message


def test_front_matter_without_an_end_is_told_where_it_begins():
    """The file is not taken for one long prompt."""
    with pytest.raises(Rejected) as caught:
        front_matter.read("---\na: 1\n\nDo it.\n")
    assert caught.value.findings[0].line == 1


@pytest.mark.proves("CF-02", "CF-03")
@pytest.mark.parametrize(("front", "found"), [("- a\n- b", "a list"), ("a text", "a text"), ("5", "a number")])
def test_front_matter_of_another_shape_has_a_code_of_its_own(front, found):
    """YAML that is no mapping is not a broken file but a misunderstanding."""
    code, finding = rejected(front)
    assert code is Code.NOT_A_MAP
    assert found in finding.message


@pytest.mark.parametrize(
    "front",
    [
        "a: &a [1,2,3,4,5,6,7,8,9,0]\n"
        + "".join(f"{b}: &{b} [{','.join([f'*{a}'] * 10)}]\n" for a, b in zip("abcdefg", "bcdefgh", strict=True)),
        "a: &a [*a]",
        "a: " + "[" * 40 + "]" * 40,
        "a: " + "[" * 4000 + "]" * 4000,
    ],
    ids=["an alias bomb", "an alias of itself", "a deep nest", "a nest deeper than the stack"],
)
def test_values_that_grow_without_end_are_refused_unmade(front):
    """Aliases count for all that they name, before anything is made of them."""
    code, finding = rejected(front)
    assert code is Code.PARSE_ERROR
    assert "more than" in finding.message


def test_an_alias_that_names_little_is_read():
    """Only the growth is refused, not the anchor."""
    assert read("a: &a [x]\nb: *a").values == {"a": ["x"], "b": ["x"]}
