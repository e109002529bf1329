"""A card's file, read and written as another program would: everything else stays byte for byte."""

from pathlib import Path

import pytest

from orchestrator.cli.demo import boardfile

CARD = """\
---
id: BACK-7
title: 'It''s a light: or not'
status: "To Do"
labels: []
---

status: this is prose
<!-- stationkeeper abc -->
"""


def written(board: Path, text: str) -> boardfile.CardFile:
    """A board with one card of this text."""
    (board / "tasks").mkdir(exist_ok=True)
    path = board / "tasks" / "back-7 - x.md"
    path.write_bytes(text.encode())
    return boardfile.read(path)


def test_reads_quoted_scalars_and_counts_our_comments(tmp_path: Path):
    """Quotes are YAML's, the body is not front matter, and our mark is counted."""
    card = written(tmp_path, CARD)
    assert (card.id, card.title, card.status, card.comments) == ("BACK-7", "It's a light: or not", "To Do", 1)


def test_a_folded_title_is_one_line(tmp_path: Path):
    """People's tools fold long titles over several lines."""
    text = CARD.replace("title: 'It''s a light: or not'", "title: >-\n  A long\n  title")
    assert written(tmp_path, text).title == "A long title"


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_a_move_changes_the_status_and_nothing_else(tmp_path: Path, newline: str):
    """Dragging a card rewrites one line."""
    text = CARD.replace("\n", newline)
    card = written(tmp_path, text)
    boardfile.set_status(card, "Done")
    assert card.path.read_bytes().decode() == text.replace('status: "To Do"', "status: Done")
    assert not any((tmp_path / ".locks").iterdir())


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("labels: []\n", ("demo",)),
        ("labels: [a, b]\n", ("a", "b", "demo")),
        ("labels:\n  - a\n  - b\n", ("demo", "a", "b")),
        ("labels:\n- a\n", ("demo", "a")),
        ("labels:\n", ("demo",)),
        ("", ("demo",)),
    ],
)
def test_a_label_is_added_in_every_shape(tmp_path: Path, labels: str, expected: tuple[str, ...]):
    """Empty, in one line, as a list, or without the key at all."""
    card = written(tmp_path, CARD.replace("labels: []\n", labels))
    boardfile.add_label(card, "demo")
    assert boardfile.read(card.path).labels == expected


@pytest.mark.parametrize("text", ["", "no front matter", "---\nid: X\n---\n"])
def test_what_is_no_card_is_unreadable(tmp_path: Path, text: str):
    """Half a file is unreadable, never a card without a status."""
    with pytest.raises(boardfile.Unreadable):
        written(tmp_path, text)
