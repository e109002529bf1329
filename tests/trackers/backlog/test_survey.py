"""A board's folder, file by file: read, or named with the reason."""

from pathlib import Path

from orchestrator.trackers import backlog
from tests.trackers.backlog.hand import CARD, Hand

SHAPES = [
    CARD,
    CARD.replace("assignee:\n  - '@ada'", "assignee: @ada\nreporter: @bo"),
    CARD.replace("created_date: '2026-01-02 03:04'", "created_date: 2026-01-02"),
    CARD.replace("labels:\n  - Hull", 'labels: ["cli", "set up"]'),
    CARD.replace("dependencies: []", 'dependencies: ["task-0"]\nordinal: 1000'),
    CARD.replace("title: 'Mend the pump'", "title: >-\n  Mend the pump\n  and the hull"),
    CARD.replace("\n", "\r\n"),
    CARD.rstrip("\n"),
]


def test_every_file_is_read_or_named_with_the_reason(tmp_path: Path):
    """Two hundred cards in every shape seen on real boards, and what else lies about."""
    hand = Hand(tmp_path)
    for number in range(1, 201):
        shelf = ("tasks", "completed", "archive/tasks")[number % 3]
        hand.write(number, SHAPES[number % len(SHAPES)], shelf=shelf)
    hand.write(201, "half")
    hand.write(3, shelf="archive/tasks")
    (hand.folder / "tasks" / "readme.md").write_text("# Tasks\n")
    (hand.folder / "tasks" / "back-1 - old.md").write_text(CARD)
    (hand.folder / "milestones").mkdir()
    (hand.folder / "milestones" / "m-1 - first.md").write_text("---\nid: m-1\n---\n")
    found = backlog.survey(hand.project)
    reasons = {name.id: name.reason for name in found.unread}
    files = {str(path.relative_to(hand.folder)) for path in hand.folder.rglob("*") if path.is_file()} - {"config.yml"}
    assert len(found.on_board) + len(found.beside) == 200
    assert {*found.on_board, *found.beside, *reasons} == files
    assert {name: reasons[name].partition(":")[0] for name in reasons} == {
        "archive/tasks/task-3 - A-card.md": "completed/task-3 - A-card.md has the same id and comes first"
        if "completed/task-3 - A-card.md" in files
        else "tasks/task-3 - A-card.md has the same id and comes first",
        "milestones/m-1 - first.md": "a milestone, not a card",
        "tasks/back-1 - old.md": "not a card of this board",
        "tasks/readme.md": "not a card",
        "tasks/task-201 - A-card.md": "it has no front matter",
    }


def test_cards_with_one_id_are_both_named(tmp_path: Path):
    """Neither is read as the card."""
    hand = Hand(tmp_path)
    hand.write(1, name="One")
    hand.write(1, name="Other")
    found = backlog.survey(hand.project)
    assert found.on_board == ()
    assert all("stands twice" in name.reason for name in found.unread)
    assert len(found.unread) == 2
