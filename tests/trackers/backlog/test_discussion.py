"""The comments section: what the real program shows of it after us, and what of it is people's."""

import pytest

from orchestrator.trackers.backlog import discussion
from tests.trackers.backlog.hand import CARD, PEOPLE_TALK

OURS = discussion.Comment("Working on it.", author="stationkeeper", created="2026-11-29 12:34", key="inst:status")

OLDER_TALK = """
## Comments

<!-- COMMENTS:BEGIN -->
<!-- COMMENT:BEGIN -->
author: @ada
created: 2026-03-01

Which pump?
<!-- COMMENT:END -->
<!-- COMMENTS:END -->
"""


def test_a_section_is_made_in_the_programs_own_form():
    """Its heading, its marks, its fences; the hidden key first in the body."""
    assert discussion.put("\nText.\n", OURS) == (
        "\nText.\n\n## Comments\n\n<!-- COMMENTS:BEGIN -->\nauthor: stationkeeper\ncreated: 2026-11-29 12:34\n---\n"
        "<!-- stationkeeper inst:status -->\nWorking on it.\n---\n<!-- COMMENTS:END -->\n"
    )


def test_a_comment_joins_those_of_people():
    """Behind the last one, with a blank line between."""
    after = discussion.put(PEOPLE_TALK, OURS)
    assert [(one.author, one.body) for one in discussion.read(after)] == [
        ("@ada", "Which pump?"),
        (None, "The left one."),
        ("stationkeeper", "Working on it."),
    ]
    assert "The left one.\n---\n\nauthor: stationkeeper\n" in after


def test_the_section_stands_where_the_program_would_put_it():
    """Before the final summary, behind the notes."""
    notes = "## Implementation Notes\n\n<!-- SECTION:NOTES:BEGIN -->\nx\n<!-- SECTION:NOTES:END -->\n"
    after = discussion.put(f"{notes}\n## Final Summary\n\nDone.\n", OURS)
    assert after.index("NOTES:END") < after.index("## Comments") < after.index("## Final Summary")


@pytest.mark.parametrize(
    "body", ["---", "  --- ", "a\n---\nb", "<!-- COMMENTS:END -->", "a\u2028---\nb", "x\r\n---\r\ny"]
)
def test_no_body_ends_its_own_comment(body: str):
    """A fence or an end mark in what an agent says would cut the comment, and hide those behind it."""
    after = discussion.put(discussion.put(PEOPLE_TALK, discussion.Comment(body, key="a")), OURS)
    assert [one.key for one in discussion.read(after)] == [None, None, "a", "inst:status"]
    assert after.count("<!-- COMMENTS:END -->") == 1


def test_no_body_makes_a_section_of_the_card():
    """The program finds `## Description` anywhere in a line; in a comment of ours it must not."""
    assert "## " not in discussion.escaped("## Description\n x ### Final Summary\n##\tPlan")
    assert discussion.escaped("C## is #1") == "C#\\# is #1"


def test_hidden_text_of_an_agent_is_shown():
    """A comment mark would hide words from people, or forge a key of ours."""
    after = discussion.put("", discussion.Comment("<!-- stationkeeper other:status -->", key="a"))
    assert [one.key for one in discussion.read(after)] == ["a"]


def test_the_last_surrogate_of_a_broken_emoji_is_written_as_a_question_mark():
    """JSON can carry half a character, UTF-8 cannot."""
    assert discussion.escaped("ok \ud83d") == "ok ?"


def test_an_older_form_of_the_section_is_kept():
    """The program reads nothing else in a section that has the older marks: ours gets them too."""
    after = discussion.put(OLDER_TALK, OURS)
    assert [(one.author, one.body) for one in discussion.read(after)] == [
        ("@ada", "Which pump?"),
        ("stationkeeper", "Working on it."),
    ]
    again = discussion.put(after, discussion.Comment("Ready.", key="inst:status"))
    assert [one.body for one in discussion.read(again)] == ["Which pump?", "Ready."]


def test_a_section_that_a_description_quotes_is_text():
    """Ours goes into a section of the card, not into the example of one."""
    quoted = f"## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\n{PEOPLE_TALK}<!-- SECTION:DESCRIPTION:END -->\n"
    assert discussion.read(quoted) == ()
    after = discussion.put(quoted, OURS)
    assert after.startswith(quoted)
    assert [one.key for one in discussion.read(after)] == ["inst:status"]


def test_a_fence_without_its_partner_gets_one():
    """A comment that a person left open does not swallow ours, and ours does not swallow it."""
    open_talk = PEOPLE_TALK.replace("The left one.\n---\n", "The left one.\n")
    assert [one.body for one in discussion.read(discussion.put(open_talk, OURS))] == [
        "Which pump?",
        "The left one.",
        "Working on it.",
    ]


def test_doubles_of_ours_go_and_words_of_people_stay():
    """The oldest is edited, the later ones are removed with their blank lines."""
    twice = discussion.put(PEOPLE_TALK, OURS)
    entry = twice[twice.index("\nauthor: stationkeeper") : twice.index("<!-- COMMENTS:END")]
    doubled = twice.replace(
        "<!-- COMMENTS:END", f"{entry}\nauthor: @bo\ncreated:\n---\nAnd?\n---\n{entry}<!-- COMMENTS:END"
    )
    after = discussion.put(doubled, discussion.Comment("Ready.", key="inst:status"))
    assert [one.body for one in discussion.read(after)] == ["Which pump?", "The left one.", "Ready.", "And?"]


def test_line_ends_are_those_of_the_card():
    """A card with Windows line ends gets no mixed ones from us."""
    after = discussion.put(CARD.replace("\n", "\r\n"), OURS)
    assert "\n" not in after.replace("\r\n", "")
