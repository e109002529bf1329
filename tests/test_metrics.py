"""The numbers are those of the store, and Prometheus' own parser reads them."""

from prometheus_client.parser import text_string_to_metric_families

from orchestrator import metrics
from orchestrator.domain.turn import Outcome
from tests.stage import stage, world

__all__ = ["stage", "world"]


def numbers(world):
    """Every sample by its name, its workflow, and the value of its other label."""
    text = metrics.exposition(world.store.queries.overview())
    return {
        (sample.name.removeprefix("stationkeeper_"), *_labels(sample.labels)): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def _labels(labels):
    return [labels[name] for name in sorted(labels, reverse=True)]


def test_waits_are_counted_by_their_reason(world):
    """As the last tick stored them, for every card of the board."""
    world.add("A-1", state="Backlog")
    world.add("A-2", state="Backlog")
    world.add("A-3")
    world.tick()
    world.tick()
    told = numbers(world)
    assert told["waiting_items", "world", "not_active"] == 2
    assert told["waiting_items", "world", "running"] == 1
    assert told["open_turns", "world", "queued"] == 1
    assert told["open_turns", "world", "running"] == 0


def test_a_rest_and_a_cancel_are_told(world):
    """A gauge that is back at zero when it is over, and how long the last cancel took."""
    world.add("A-1")
    world.script("A-1", Outcome.FAILED, retry_after_seconds=600)
    world.tick()
    world.deliver()
    assert numbers(world)["workflow_resting", "world"] == 1
    assert numbers(world)["cancels",] == 0
    world.command("world", "wake")
    world.agents.during = lambda _turn: (world.close("A-1"), world.tick())
    world.jump(600)
    world.run_until_quiet()
    told = numbers(world)
    assert (told["workflow_resting", "world"], told["cancels",]) == (0, 1)
    assert told["cancel_last_seconds",] == told["cancel_longest_seconds",] > 0


def test_a_broken_contract_and_a_bad_file_are_told_and_heal(world):
    """One gauge each, back at zero when it is over."""
    world.board.states = tuple(state for state in world.board.states if state != "In Review")
    world.tick()
    world.store.workflows.set_file_problem("WORKFLOW.md", "it makes no sense")
    told = numbers(world)
    assert (told["contract_broken", "world"], told["workflow_file_bad", "world"]) == (1, 1)
    world.board.states = (*world.board.states, "In Review")
    world.tick()
    world.store.workflows.set_file_problem("WORKFLOW.md", None)
    told = numbers(world)
    assert (told["contract_broken", "world"], told["workflow_file_bad", "world"]) == (0, 0)


def test_ages_are_by_the_clock_that_stamped_them(world):
    """An unsent write grows older; a workflow that never ticked says so."""
    assert numbers(world)["last_tick_age_seconds", "world"] == float("inf")
    assert numbers(world)["whole_board_age_seconds", "world"] == float("inf")
    world.add("A-1")
    world.tick()
    world.deliver()
    world.jump(50)
    told = numbers(world)
    assert 50 <= told["outbox_oldest_age_seconds", "world", "pending"] < 100
    assert 50 <= told["last_tick_age_seconds", "world"] < 100
    assert 50 <= told["whole_board_age_seconds", "world"] < 100
    assert told["outbox_rows", "world", "pending"] > 0
    assert told["outbox_oldest_age_seconds", "world", "unknown"] == 0


def test_the_text_file_is_written_whole(world, tmp_path):
    """For the node exporter; nothing else is left beside it."""
    path = tmp_path / "fleet.prom"
    metrics.write(world.store.queries.overview(), path)
    assert "stationkeeper_workflow_version" in path.read_text()
    assert list(tmp_path.iterdir()) == [path]


def test_kept_work_is_counted_until_it_is_forgotten(world):
    """By the records; what is older than kept work lives is not counted any more."""
    world.add("A-1")
    world.tick()
    world.deliver()
    gone = "removed_at = stationkeeper_clock() - interval '9 days'"
    world.store.hot.change(f"update workspace set kept = 'refs/stationkeeper/kept/A-1/1', {gone}")
    overview = world.store.queries.overview()
    for days, count in ((0, 1), (10, 1), (8, 0)):
        told = metrics.exposition(overview, kept=world.store.queries.kept(days=days))
        assert f'stationkeeper_kept_work{{workflow="world"}} {count}.0' in told
