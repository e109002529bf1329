"""A state or a card added to a copy of a board; everything else as it was."""

from pathlib import Path

import pytest

from orchestrator.trackers import backlog
from tests.trackers.backlog.hand import NOW, Hand, is_insertion


@pytest.mark.parametrize(
    "config",
    [
        'statuses: ["To Do", "In Progress", "Done"]\nport: 1\n',
        "# mine\nstatuses: [To Do, Done] # two\n",
        "port: 1\nstatuses:\n  - To Do\n  - 'Done' # good\nlabels: []\n",
        "statuses:\r\n- To Do\r\n- Done\r\n",
        "statuses: [\n  To Do,\n  Done\n]\n",
        "project_name: x\n",
        "project_name: x",
        "",
    ],
)
def test_a_review_column_stands_before_the_last(tmp_path: Path, config: str):
    """Byte for byte elsewhere, whatever the config looks like; a second time changes nothing."""
    hand = Hand(tmp_path)
    file = hand.folder / "config.yml"
    file.write_bytes(config.encode())
    before = backlog.connect({"path": str(hand.project)}).states()
    assert backlog.add_state(hand.project, "In Review")
    assert backlog.connect({"path": str(hand.project)}).states() == (*before[:-1], "In Review", before[-1])
    assert is_insertion(config.encode(), file.read_bytes())
    assert not backlog.add_state(hand.project, "in review")


def test_a_card_gets_the_next_number_of_all_shelves(tmp_path: Path):
    """A number that an archived card had is not given again."""
    hand = Hand(tmp_path)
    hand.write(3)
    hand.write(11, shelf="archive/tasks")
    new = backlog.NewCard('Mend: the "pump"/engine', "It leaks.", "To Do", priority="low", dependencies=("TASK-3",))
    assert backlog.add_card(hand.project, new, now=NOW) == "TASK-12"
    item = hand.open().get_items(["TASK-12"])["TASK-12"]
    assert (item.title, item.priority, item.state) == ('Mend: the "pump"/engine', 3, "To Do")
    assert [(blocker.id, blocker.state) for blocker in item.blocked_by] == [("TASK-3", "To Do")]
    assert item.description == "## Description\n\nIt leaks."
