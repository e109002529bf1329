"""Hooks around the work: in their order, with the failure that each may cause, and a record that a person finds."""

import pytest

from orchestrator.domain.turn import StopReason
from orchestrator.domain.workflow import Hook, HookSettings
from tests.memory.workflows import workflow

ALL = HookSettings(commands={hook: hook.value for hook in Hook})
CREATE, BEFORE, AFTER = Hook.AFTER_CREATE, Hook.BEFORE_RUN, Hook.AFTER_RUN


@pytest.fixture
def hooked(stage):
    """A world whose workflow has every hook."""
    return stage.world(workflow=workflow(hooks=ALL))


def ran(world):
    """Which hooks ran, in order."""
    return [hook for _, hook in world.hooks.log]


def one_turn(world):
    """A tick, its turn, its write-backs."""
    world.tick()
    world.deliver()
    world.relay()


@pytest.mark.proves("HK-01", "HK-02", "HK-03", "WS-07")
def test_creation_hook_runs_once_and_the_others_each_time(hooked):
    """The second turn finds the workspace that the first one made."""
    hooked.add("A-1")
    hooked.run_until_quiet()
    hooked.drag("A-1", "Todo")
    hooked.run_until_quiet()
    assert ran(hooked) == [CREATE, BEFORE, AFTER, BEFORE, AFTER]


@pytest.mark.proves("HK-01", "WS-09")
def test_a_failed_creation_is_undone_and_tried_again(hooked):
    """No agent starts, the workspace is taken back, and the next attempt runs the hook again."""
    hooked.add("A-1")
    hooked.hooks.fails[CREATE] = StopReason.HOOK_FAILED
    one_turn(hooked)
    assert (ran(hooked), hooked.workspaces.undone, hooked.agents.log) == ([CREATE], 1, [])
    assert hooked.rows("select status, stop_reason from turn") == [("failed", "hook_failed")]
    hooked.hooks.fails.clear()
    hooked.run_until_quiet()
    assert ran(hooked) == [CREATE, CREATE, BEFORE, AFTER]
    assert hooked.state("A-1") == "In Review"


@pytest.mark.proves("HK-02", "HK-03", "HK-08")
def test_a_failed_before_run_fails_the_attempt_and_says_where_to_look(hooked):
    """The agent does not start, the farewell is said, and the record names the output."""
    hooked.add("A-1")
    hooked.hooks.fails[BEFORE] = StopReason.HOOK_FAILED
    one_turn(hooked)
    assert (ran(hooked), hooked.agents.log) == ([CREATE, BEFORE, AFTER], [])
    [summary] = hooked.rows("select summary from turn")[0]
    assert summary.startswith("hook before_run exited with 1: before_run spoke (all it said:")
    told = hooked.rows("select name, output ->> 'said' from step where name like 'hook %' order by ordinal")
    assert told[1] == ("hook before_run", "before_run spoke")


@pytest.mark.proves("FS-49")
def test_a_preflight_spends_no_model_call(hooked):
    """A hook that proves credential, branch and push right before each run: while it fails no agent starts at all."""
    hooked.add("A-1")
    hooked.hooks.fails[BEFORE] = StopReason.HOOK_FAILED
    hooked.run_until_quiet()
    assert (hooked.agents.log, hooked.one("select count(*) from turn where usage is not null")) == ([], 0)


@pytest.mark.proves("HK-02", "RT-10")
def test_a_hook_that_always_fails_ends_as_a_dead_letter(hooked):
    """Attempts are counted as for an agent that fails: no loop without an end."""
    hooked.add("A-1")
    hooked.hooks.fails[BEFORE] = StopReason.HOOK_FAILED
    hooked.run_until_quiet()
    assert hooked.rows("select kind from hold where lifted_at is null") == [("dead_letter",)]
    assert ran(hooked).count(BEFORE) == 3


@pytest.mark.proves("HK-03")
def test_a_failed_after_run_changes_nothing(hooked, said):
    """The card is handed off; the log says that the hook failed."""
    hooked.add("A-1")
    hooked.hooks.fails[AFTER] = StopReason.HOOK_FAILED
    hooked.run_until_quiet()
    assert hooked.state("A-1") == "In Review"
    assert "hook failed" in said()


@pytest.mark.proves("HK-09")
def test_the_farewell_is_said_after_a_cancel_too(hooked):
    """A person closes the card while the agent works: the agent dies, the hook that tidies up runs."""
    hooked.add("A-1")

    def close(_turn):
        hooked.close("A-1")
        hooked.tick()

    hooked.agents.during = close
    one_turn(hooked)
    assert ran(hooked) == [CREATE, BEFORE, AFTER]
    assert hooked.rows("select stop_reason from turn") == [("terminal_seen",)]


@pytest.mark.proves("HK-09")
def test_a_card_closed_during_a_hook_starts_no_agent(hooked):
    """The hook dies with its turn, and nothing of it counts as a failure."""
    hooked.add("A-1")

    def close(order):
        if order.hook is BEFORE:
            hooked.close("A-1")
            hooked.tick()

    hooked.hooks.during = close
    one_turn(hooked)
    assert (ran(hooked), hooked.agents.log) == ([CREATE, BEFORE, AFTER], [])
    assert hooked.rows("select status, stop_reason from turn") == [("cancelled", "terminal_seen")]
