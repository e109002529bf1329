"""A card's past, told in the order in which it happened."""

from orchestrator.cli import history
from orchestrator.store.views import LineView, StepView, Story
from tests.cli import views

STORY = Story(
    item=views.ITEM,
    turns=(views.LOST, views.RUNNING),
    steps=(
        StepView(views.RUNNING.id, 2, "workspace", {"branch": "stationkeeper/BACK-7", "head": None}, views.before(80)),
    ),
    writes=(views.WRITE,),
    holds=(),
    lines=(LineView(views.before(400), "opened", {"fence": 1}), LineView(views.before(10), "cancelled", {})),
)


def test_events_of_every_table_stand_in_order():
    """A line, a step, a write and a line again: by their times, whatever row they come from."""
    told = [(what, detail) for _, what, detail in history.events(STORY).rows]
    assert told == [
        ("opened", "fence 1"),
        ("turn 2: step workspace", "branch stationkeeper/BACK-7"),
        ("move pending", "started: in_progress"),
        ("cancelled", ""),
    ]


def test_each_turn_names_its_transcript():
    """Where to read all that the agent said."""
    assert [row[-1] for row in history.turns(STORY).rows] == ["turns/2/transcript.log"] * 2
