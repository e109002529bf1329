"""One card's bytes: what they say, and that a move changes nothing else."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.trackers.backlog import card, discussion
from tests.trackers.backlog.hand import CARD, NOW, PEOPLE_TALK, changed_lines, is_insertion

STATUS_LINES = ["status: To Do", "status: 'To Do'", 'status: "To Do"', "status: To Do  # since May", "status:  To Do "]
OTHER_LINES = [
    "title: 'A: b'",
    "title: >-\n  long\n  text",
    "assignee: @ada",
    "assignee:\n  - '@ada'",
    'labels: [a, "b"]',
    "dependencies:\n  - TASK-2\n  # a comment\n  - task-3.1",
    "custom_key: {a: 1}",
    "# only a comment",
    "onStatusChange: 'echo hi'",
    "ordinal: 1000",
]
DATE_LINES = ["", "updated_date: '2026-01-01 10:00'", "updated_date: 2026-01-01", 'updated_date: "2026-01-01"']
PLAIN_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
QUOTED_SECTION = (
    "<!-- SECTION:DESCRIPTION:BEGIN -->\n## Comments\n\n<!-- COMMENTS:BEGIN -->\n<!-- SECTION:DESCRIPTION:END -->\n"
)
NESTED_MARKS = "<!-- SECTION:NOTES:BEGIN -->\n" * 2 + "<!-- SECTION:NOTES:END -->\n" * 2
SECTIONS = [
    "## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\nIt leaks.\n<!-- SECTION:DESCRIPTION:END -->\n",
    f"## Description\n\n{QUOTED_SECTION}",
    "## Acceptance Criteria\n<!-- AC:BEGIN -->\n- [ ] #1 dry\n<!-- AC:END -->\n",
    f"## Implementation Notes\n\n{NESTED_MARKS}",
    "## Final Summary\n\nDone.\n",
    "<!-- COMMENTS:END -->\n",
    "---\n",
]


@st.composite
def card_files(draw: st.DrawFn) -> bytes:
    """Task files as people, editors and tools leave them."""
    lines = draw(
        st.permutations([draw(st.sampled_from(STATUS_LINES)), "id: TASK-1", draw(st.sampled_from(DATE_LINES))])
    )
    others = draw(st.lists(st.sampled_from(OTHER_LINES), max_size=4, unique_by=lambda line: line.split(":")[0]))
    body = (
        draw(PLAIN_TEXT)
        + "\n"
        + "\n".join(draw(st.lists(st.sampled_from(SECTIONS), max_size=5)))
        + draw(st.sampled_from(["", PEOPLE_TALK]))
        + draw(PLAIN_TEXT)
    )
    matter = "\n".join(filter(None, [*others[:2], *lines, *others[2:]]))
    text = f"---\n{matter}\n---\n{body}"
    if draw(st.booleans()):
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    return (draw(st.sampled_from(["", "\ufeff"])) + text).encode()


@given(card_files())
def test_a_move_changes_the_lines_of_state_and_date_alone(data: bytes):
    """Byte for byte: quotes, comments, line ends, unknown keys and the body stay as people left them."""
    after = card.moved(data, "In Review", now=NOW)
    if b"updated_date" in data:
        changed = changed_lines(data, after)
    else:
        gained = [line for line in after.split(b"\n") if line.startswith(b"updated_date")]
        assert len(gained) == 1
        changed = changed_lines(data, after.replace(gained[0] + b"\n", b"", 1))
    assert all(new.startswith((b"status:", b"updated_date:")) for _, new in changed)
    assert card.parse(after).state == "In Review"
    assert card.parse(after).updated_at == NOW.replace(second=0)


@given(card_files(), PLAIN_TEXT)
def test_a_new_comment_is_put_in_and_nothing_else(data: bytes, body: str):
    """Whatever the card holds: every byte of it stands before or behind ours, and ours reads back."""
    after = card.with_comment(data, discussion.Comment(body, key="inst:status"))
    assert is_insertion(data, after)
    assert [one.body for one in card.comments(after) if one.key == "inst:status"] == [discussion.escaped(body)]
    assert card.with_comment(after, discussion.Comment(body, key="inst:status")) == after


def test_a_card_is_read_in_full():
    """Each field where the rest of the house expects it."""
    read = card.parse(CARD.encode())
    assert (read.id, read.title, read.state, read.priority) == ("TASK-1", "Mend the pump", "To Do", "high")
    assert (read.labels, read.assignee, read.dependencies) == (("hull",), "@ada", ())
    assert read.created_at == datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    assert read.description == "## Description\n\nIt leaks."


def test_the_description_has_no_talk_in_it():
    """Comments are what people and we said about the work, not the work."""
    assert card.parse((CARD + PEOPLE_TALK).encode()).description == card.parse(CARD.encode()).description


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "no front matter"),
        (b"# Tasks\n", "no front matter"),
        (CARD.encode()[:60], "no front matter"),
        (CARD.replace("status: To Do\n", "").encode(), "no `status`"),
        (CARD.replace("status: To Do", "status: [a]").encode(), "not a plain text"),
        (CARD.replace("id: TASK-1", "id: pump").encode(), "expected a prefix and a number"),
        (CARD.encode() + b"\xff", "not UTF-8"),
        (b"---\nx: " + b"y" * 70_000 + b"\n---\n", "at most"),
    ],
)
def test_what_is_no_card_says_why(data: bytes, reason: str):
    """A person reads the reason and knows what to mend."""
    with pytest.raises(card.Unreadable, match=reason):
        card.parse(data)


@pytest.mark.proves("CS-09")
def test_dependencies_that_cannot_be_read_are_not_none_at_all():
    """An unread blocker is not an absent one."""
    broken = CARD.replace("dependencies: []", "dependencies: {a: b}")
    assert card.parse(broken.encode()).dependencies is None
    assert card.parse(CARD.replace("dependencies: []", "dependencies:").encode()).dependencies == ()


def test_ids_are_compared_without_case_and_leading_zeros():
    """As the program compares them; 10 is not 1."""
    assert card.same_id("task-07.02") == card.same_id("TASK-7.2")
    assert card.same_id("TASK-10") != card.same_id("TASK-1")


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-01-05", datetime(2026, 1, 5, tzinfo=UTC)),
        ("2026-01-05 07:08", datetime(2026, 1, 5, 7, 8, tzinfo=UTC)),
        ("2026-01-05T07:08:09+02:00", datetime.fromisoformat("2026-01-05T07:08:09+02:00")),
        ("05.01.26", datetime(2026, 1, 5, tzinfo=UTC)),
        ("next week", None),
        ("", None),
    ],
)
def test_dates_are_instants_or_nothing(text: str, at: datetime | None):
    """Every form that the program writes or reads; anything else is no date."""
    assert card.instant(text) == at


def test_a_state_that_cannot_be_edited_safely_is_refused():
    """Two lines of state: nobody knows which one counts."""
    with pytest.raises(card.Unreadable, match="must stand once"):
        card.moved(CARD.replace("status: To Do", "status: To Do\nstatus: Done").encode(), "Done", now=NOW)
