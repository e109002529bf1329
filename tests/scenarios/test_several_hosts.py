"""Workspaces are local and workers are not: turns follow the work, and a host that is gone is a person's to decide."""

from dataclasses import replace

import pytest

from orchestrator.domain.hold import HoldKind
from orchestrator.domain.turn import Outcome
from orchestrator.store.records import HOST_SILENCE_SECONDS
from tests.memory import hosts
from tests.memory.desk import Killed
from tests.memory.workflows import workflow
from tests.world import HOST, LEASE_SECONDS

FAR = "far"


@pytest.fixture
def begun(world):
    """A card whose first turn ran on one host and goes on; another host has a worker too."""
    world.add("A-1")
    world.script("A-1", Outcome.CONTINUE, Outcome.DONE)
    world.settle_down()
    world.hire(FAR)
    assert ran_on(world) == [HOST]
    return world


def ran_on(world):
    """The hosts of all turns, in order."""
    return [host for (host,) in world.rows("select host from turn order by fence")]


def gone(world):
    """The first host falls silent for longer than the bound, and a tick sees it that is in no blind spell."""
    hosts.vanish(world, HOST)
    hosts.turn_to(world, FAR)
    world.jump(HOST_SILENCE_SECONDS)
    for _ in range(5):
        world.jump(LEASE_SECONDS / 3)
        world.tick()
    world.relay()


def standing(world):
    """The kinds of the holds that stand."""
    return [kind for (kind,) in world.rows("select kind from hold where lifted_at is null order by kind")]


@pytest.mark.proves("H6", "WS-13")
def test_the_next_turn_goes_where_the_work_lies(begun):
    """Whoever's worker is first: the message is in the queue of the host, and no other may admit it."""
    begun.run_until_quiet()
    assert ran_on(begun) == [HOST, HOST]
    assert list(begun.queue.hosts.values()) == [None, HOST]
    assert begun.state("A-1") == "In Review"


def test_a_message_for_one_host_is_refused_on_another(begun):
    """A hint may go astray; admission asks where the work lies."""
    begun.jump(30)
    begun.tick()
    turn_id, fence = begun.queue.take()
    hosts.turn_to(begun, FAR)
    assert begun.deliver_one(turn_id, fence) is None
    hosts.turn_to(begun, HOST)
    assert begun.deliver_one(turn_id, fence) is not None


def test_a_message_that_was_lost_is_sent_to_its_host_again(begun):
    """The same turn with the same fence, and the same queue."""
    begun.jump(30)
    begun.tick()
    begun.flush_redis()
    begun.queue.hosts.clear()
    begun.jump(30)
    begun.tick()
    assert list(begun.queue.hosts.values()) == [HOST]


@pytest.mark.proves("H6")
def test_a_silent_host_is_waited_for(begun):
    """It may only start again: the card says what it waits for, and goes on there."""
    hosts.vanish(begun, HOST)
    hosts.turn_to(begun, FAR)
    begun.jump(30)
    begun.settle_down()
    assert begun.rows("select reason, detail from wait") == [
        ("workspace_unreachable", f"its workspace is on {HOST}, which is silent")
    ]
    begun.hire(HOST)
    begun.run_until_quiet()
    assert (ran_on(begun), standing(begun)) == ([HOST, HOST], [])


@pytest.mark.proves("H6")
def test_work_that_is_left_on_a_host_is_a_hold_that_names_it(begun):
    """Host, folder and the two ways out stand on the card; a hand on the board does not lift it."""
    gone(begun)
    assert (standing(begun), len(ran_on(begun))) == (["work_left"], 1)
    (reason,) = begun.rows("select reason from hold where lifted_at is null")[0]
    assert reason == f"work that is not pushed lies on {HOST} in memory/A-1, and that host is silent"
    told = begun.board.said("A-1")[-1].body
    assert reason in told
    assert "`orchestrator release A-1`" in told
    begun.drag("A-1", "Backlog")
    begun.tick()
    begun.drag("A-1", "Todo")
    begun.run_until_quiet()
    assert (standing(begun), len(ran_on(begun))) == (["work_left"], 1)


@pytest.mark.proves("H6")
def test_a_person_lets_it_begin_afresh_elsewhere(begun):
    """`release`: the next turn may run anywhere; the folder of the old host stays in the records, tidied there."""
    gone(begun)
    assert begun.command("A-1", "release") == [HoldKind.WORK_LEFT]
    begun.run_until_quiet()
    assert (ran_on(begun), begun.state("A-1")) == ([HOST, FAR], "In Review")
    assert begun.rows("select host from workspace where removed_at is null order by host") == [(FAR,), (HOST,)]


@pytest.mark.proves("H6")
def test_the_hold_ends_by_itself_when_the_host_is_back(begun):
    """Nobody has to do anything, and a person's own hold stays."""
    gone(begun)
    begun.command("A-1", "hold")
    assert standing(begun) == ["operator", "work_left"]
    begun.hire(HOST)
    begun.tick()
    assert standing(begun) == ["operator"]
    begun.command("A-1", "release")
    begun.run_until_quiet()
    assert (ran_on(begun), begun.state("A-1")) == ([HOST, HOST], "In Review")


def test_a_closed_card_ends_the_hold(begun):
    """Nobody waits for the work of a card that a person closed."""
    gone(begun)
    begun.close("A-1")
    begun.tick()
    begun.tick()
    assert standing(begun) == []


def test_a_turn_that_waits_for_a_host_which_is_gone_gives_its_slot_back(begun):
    """It never began: no attempt is counted, and the card is held."""
    begun.jump(30)
    begun.tick()
    assert begun.one("select open_turns from workflow") == 1
    gone(begun)
    assert (begun.one("select open_turns from workflow"), standing(begun)) == (0, ["work_left"])
    assert begun.one("select attempt from item") == 0


def test_after_a_blind_spell_no_host_is_taken_for_gone(begun):
    """The database was away: everybody seems to have been silent, and a moment later says hello."""
    begun.store.slow.change("update pulse set blind_until = clock_timestamp() + interval '1 day'")
    gone(begun)
    assert standing(begun) == []
    begun.store.slow.change("update pulse set blind_until = null")
    gone(begun)
    assert standing(begun) == ["work_left"]


def test_a_full_host_keeps_its_cards_waiting_and_no_others(stage):
    """A free slot elsewhere is none for work that lies here, and is not taken by it."""
    world = stage.world(slots=2)
    world.add("A-1")
    world.add("A-2")
    world.script("A-1", Outcome.CONTINUE)
    world.script("A-2", Outcome.CONTINUE)
    world.settle_down()
    world.process.worker.turns.open(1)
    world.hire(FAR)
    world.jump(60)
    world.add("A-3")
    world.tick()
    waits = world.rows("select item_id, reason, detail from wait")
    assert len(waits) == 1
    assert waits[0][1:] == ("no_worker_slot", f"on host {HOST}")
    opened = world.rows(
        "select item.item_id, for_host from turn join item on item.key = item_key where status = 'queued'"
    )
    assert ("A-3", None) in opened
    assert [host for _, host in opened].count(HOST) == 1


@pytest.mark.proves("WS-11")
def test_a_workspace_is_tidied_on_its_own_host(begun):
    """A worker of another host is not called, and could not."""
    begun.run_until_quiet()
    begun.close("A-1")
    begun.queue.tidy_hosts.clear()
    begun.jump(900)
    begun.tick()
    assert begun.queue.tidy_hosts == [HOST]
    hosts.turn_to(begun, FAR)
    assert begun.tidy() == 0
    begun.queue.tidies = 1
    hosts.turn_to(begun, HOST)
    assert begun.tidy() == 1


def test_nobody_is_called_to_a_host_that_is_silent(begun):
    """Hints would pile up in its queue."""
    begun.run_until_quiet()
    begun.close("A-1")
    hosts.vanish(begun, HOST)
    hosts.turn_to(begun, FAR)
    begun.queue.tidy_hosts.clear()
    begun.jump(900)
    begun.tick()
    assert begun.queue.tidy_hosts == []


@pytest.fixture
def shared(stage):
    """A card whose first turn ran on one host, in a root that every host sees; another host has a worker too."""
    settings = replace(workflow().workspace, shared=True)
    world = stage.world(workflow=replace(workflow(), workspace=settings))
    world.add("A-1")
    world.script("A-1", Outcome.CONTINUE, Outcome.DONE)
    world.settle_down()
    world.hire(FAR)
    return world


@pytest.mark.proves("H6")
def test_work_in_a_shared_root_is_bound_to_no_host(shared):
    """The other host goes on in the same folder, when the first one is gone as well as before."""
    gone(shared)
    shared.run_until_quiet()
    assert (standing(shared), ran_on(shared)) == ([], [HOST, FAR])
    assert shared.one("select count(*) from workspace") == 1


@pytest.mark.proves("H6", "WS-11")
def test_a_shared_workspace_is_tidied_by_any_host(shared):
    """Its last turn was concluded by its owner, so nothing of it runs anywhere."""
    shared.run_until_quiet()
    shared.close("A-1")
    shared.queue.tidy_hosts.clear()
    shared.jump(900)
    shared.tick()
    assert shared.queue.tidy_hosts == [None]
    hosts.turn_to(shared, FAR)
    assert shared.tidy() == 1


@pytest.mark.proves("H27", "RC-02")
def test_a_shared_workspace_of_a_lost_turn_waits_for_a_word_of_its_own_host(shared):
    """Another host cannot see whether its processes are dead, however few it finds at home."""
    shared.jump(30)
    shared.tick()
    shared.agents.during = lambda _turn: die()

    def die():
        hosts.vanish(shared, HOST)
        raise Killed

    hosts.turn_to(shared, HOST)
    shared.deliver()
    shared.close("A-1")
    hosts.turn_to(shared, FAR)
    for _ in range(5):
        shared.jump(LEASE_SECONDS)
        shared.tick()
    shared.jump(900)
    shared.tick()
    assert shared.rows("select status, death from turn order by fence")[-1] == ("lost", "its lease ran out")
    shared.queue.tidies = 1
    assert shared.tidy() == 0
    assert shared.workspaces.removed == []


@pytest.mark.proves("H6", "WS-13")
def test_a_host_on_which_another_folder_is_mounted_begins_nothing(shared):
    """The card's work is elsewhere: no agent starts from nothing, and the reason says why."""
    shared.workspaces.disk = "the mount is missing"
    shared.settle_down()
    assert len(shared.workspaces.starts) == 1
    stop, said = shared.rows("select stop_reason, summary from turn order by fence desc limit 1")[0]
    assert (stop, "every host sees it, and on host far" in said) == ("contract_broken", True)
    shared.workspaces.disk = "disk"
    shared.run_until_quiet()
    assert (len(shared.workspaces.starts), shared.state("A-1")) == (2, "In Review")


def test_a_root_in_which_nothing_stands_may_be_another_disk(shared):
    """The work of every card is gone from it, and somebody mounted a larger one."""
    shared.run_until_quiet()
    shared.close("A-1")
    shared.jump(900)
    shared.tick()
    assert shared.tidy() == 1
    shared.workspaces.disk = "a larger one"
    shared.add("A-2")
    shared.run_until_quiet()
    assert shared.state("A-2") == "In Review"
