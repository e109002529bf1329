"""A board answers for itself: what another board calls its columns does not count."""

import pytest

from orchestrator.domain import contract
from orchestrator.domain.contract import StateContract
from orchestrator.trackers import backlog


@pytest.mark.proves("SC-15")
def test_a_column_of_another_board_with_the_same_name_does_not_count(tmp_path):
    """Two projects side by side; the review column of one is no review column of the other."""
    boards = {}
    for name, states in (("ours", "To Do, Done"), ("theirs", "To Do, In Review, Done")):
        folder = tmp_path / name / "backlog"
        (folder / "tasks").mkdir(parents=True)
        (folder / "config.yml").write_text(f"project_name: {name}\nstatuses: [{states}]\n")
        boards[name] = backlog.connect({"path": tmp_path / name})
    wanted = StateContract(("To Do",), ("Done",), handoff="In Review")
    assert contract.missing(wanted, boards["theirs"].states()) == ()
    assert [problem.key for problem in contract.missing(wanted, boards["ours"].states())] == ["tracker.handoff_state"]
