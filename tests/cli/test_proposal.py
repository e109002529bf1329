"""Which workflow a changed file stands for, and what is said of the cards that it would treat otherwise."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from orchestrator.cli import proposal
from orchestrator.cli.exits import Exit, Trouble
from orchestrator.ports.workflows import WorkflowFile
from tests.memory.workflows import CONTRACT, workflow
from tests.stage import stage, world

__all__ = ["stage", "world"]


@dataclass
class Files:
    """The workflow door on one proposed file; every other body is the one in force."""

    proposed: object
    running: object

    def read(self, path):
        """The proposed file."""
        return WorkflowFile(path, "proposed", "digest", self.proposed)

    def parse(self, body, *, path):  # noqa: ARG002 -- the door's signature
        """What a body means."""
        return self.proposed if body == "proposed" else self.running


@pytest.fixture
def show(world, capsys):
    """What the command prints for a proposed workflow."""

    def shown(proposed, *, named=None, as_json=False):
        ports = replace(world.process.ports, workflows=Files(proposed, world.workflow))
        proposal.show(ports, Path("other.md"), workflow=named, as_json=as_json)
        return capsys.readouterr().out

    return shown


@pytest.mark.proves("SC-18")
def test_each_card_that_changes_is_told_and_nothing_is_written(world, show):
    """One line a card: what, which, where, why."""
    world.add("A-1", state="Backlog")
    world.tick()
    before = world.fingerprint()
    more = workflow(replace(CONTRACT, active=(*CONTRACT.active, "Backlog")))
    assert show(more) == "world: would change\tstart\tA-1\tBacklog\tat once\n"
    assert '"change": "start"' in show(more, as_json=True)
    assert world.fingerprint() == before


def test_a_file_that_changes_nothing_says_so(show):
    """Not an empty answer."""
    assert show(workflow()) == "world: no card would be treated otherwise\n"


def test_what_the_board_lacks_for_the_proposed_contract_is_told(show):
    """Before anybody saves it."""
    assert "the tracker has no state 'Todoo'; the closest that it has is 'Todo'" in show(
        workflow(replace(CONTRACT, active=("Todoo", "In Progress")))
    )


def test_a_file_with_another_name_stands_for_the_only_workflow(show):
    """With one in force there is nothing to guess; a name that is given must be one of them."""
    assert "no card" in show(replace(workflow(), name="proposal"))
    with pytest.raises(Trouble, match=r"no workflow 'elsewhere' is in force, expected one of: world") as trouble:
        show(workflow(), named="elsewhere")
    assert trouble.value.exit_code is Exit.CONFIGURATION


def test_a_file_about_another_board_is_refused(show):
    """There is nothing to compare."""
    with pytest.raises(Trouble, match="about the board memory:elsewhere"):
        show(replace(workflow(), scope="memory:elsewhere"))
