"""Front matter as people and tools write it, and the edit of one line of it."""

import pytest

from orchestrator.trackers.backlog import frontmatter


def test_every_scalar_stays_the_text_that_was_written():
    """No dates, no truth values, no numbers: an id of `1.10` is not 1.1."""
    assert frontmatter.read("a: 2026-01-05\nb: yes\nc: 1.10\nd: null\n") == {
        "a": "2026-01-05",
        "b": "yes",
        "c": "1.10",
        "d": "null",
    }


@pytest.mark.parametrize(
    ("line", "value"),
    [
        pytest.param("assignee: @ada", "@ada", id="a handle without quotes"),
        pytest.param("assignee: [@ada, 'bo']", ("@ada", "bo"), id="handles in a list"),
        pytest.param("assignee:\n  - @ada\n  - @bo", ("@ada", "@bo"), id="handles below each other"),
        pytest.param("title: Fix: the pump", "Fix: the pump", id="a colon in a title"),
        pytest.param("title: 'It''s' # why", "It's", id="quotes and a comment"),
        pytest.param('title: "a \\"b\\""', 'a "b"', id="escaped quotes"),
        pytest.param("title: >-\n  one\n  two", "one two", id="a folded text"),
        pytest.param("labels: []", (), id="an empty list"),
        pytest.param("labels: [a,", None, id="a list without an end"),
        pytest.param("labels: {a: b}", None, id="a map"),
    ],
)
def test_what_is_no_yaml_is_read_as_people_mean_it(line: str, value: frontmatter.Value):
    """The real program accepts these too. What cannot be understood is None, never empty."""
    assert frontmatter.read(f"assigned: @nobody\nkey: {{\n{line}\n")[line.partition(":")[0]] == value


def test_a_nested_list_is_unreadable_not_empty():
    """A list that we do not understand must not read as one without entries."""
    assert frontmatter.read("dependencies:\n  - [a, b]\n") == {"dependencies": None}


@pytest.mark.parametrize(
    ("line", "edited"),
    [
        ("status: To Do", "status: In Review"),
        ("status: 'To Do'", "status: 'In Review'"),
        ('status: "To Do"', 'status: "In Review"'),
        ("status:   To Do   # a comment", "status:   In Review   # a comment"),
        ("status: 'To Do' # it's", "status: 'In Review' # it's"),
        ("status: To Do\r", "status: In Review\r"),
        ("status:", "status: In Review"),
        ('"status": To Do', '"status": In Review'),
    ],
)
def test_a_value_is_replaced_in_its_own_quotes(line: str, edited: str):
    """Quotes, spaces, comments and line ends stay a person's."""
    assert frontmatter.with_value(f"id: A-1\n{line}\ntitle: x", "status", "In Review") == f"id: A-1\n{edited}\ntitle: x"


@pytest.mark.parametrize("state", ["On hold: parts", "yes", "#1", "2026-01-01", "it's", 'a "b"', "[x]", "end:", "no"])
def test_a_state_of_any_spelling_reads_back_as_itself(state: str):
    """What YAML would take for something else is put into quotes."""
    for written in ("status: x", "status: 'x'", 'status: "x"'):
        assert frontmatter.read(frontmatter.with_value(written, "status", state)) == {"status": state}


@pytest.mark.parametrize("block", ["status: a\nstatus: b", "status: >-\n  a\n  b"])
def test_a_value_that_is_not_on_one_line_is_not_edited(block: str):
    """Better no move than a broken card."""
    with pytest.raises(frontmatter.Refused):
        frontmatter.with_value(block, "status", "Done")
