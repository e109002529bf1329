"""A database that was restored or failed over: it is recognised before anything is done, and nothing is doubled."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from orchestrator.domain.hold import HoldKind, HoldScope
from orchestrator.domain.select import NotDispatched
from orchestrator.domain.turn import Handoff, StopReason
from orchestrator.ports.store import Hand, Place, Refused
from orchestrator.store.open import PostgresStore, open_store
from orchestrator.store.witness import Mark, Witness
from tests.store.scene import LEASE_SECONDS, Scene, comment, item, owner, started_move

HAND = Hand("robin", "the disk broke")
STANDS = "select reason from hold where scope = 'fleet' and kind = 'recovery' and lifted_at is null"
FAIL_OVER = "update pulse set lineage = lineage || ':before'"


@pytest.fixture
def next_process(url: str, tmp_path: Path) -> Iterator[PostgresStore]:
    """A store that is opened after the scene, with connections of its own."""
    opened = open_store(url, witness=tmp_path / "witness")
    yield opened
    opened.close()


def held(scene: Scene) -> list[tuple[str]]:
    """The reasons for which the fleet is held until somebody recovers."""
    return scene.all(STANDS)


@pytest.mark.proves("H24")
def test_a_new_line_of_history_holds_the_fleet_before_anything_starts(scene: Scene, next_process: PostgresStore):
    """A promoted replica, a recovery to a point in time, a dump in another database: the first connection sees it."""
    opened = scene.open()
    scene.step(scene.run("X-2").ref, 1, started_move())
    scene.change(FAIL_OVER)
    assert next_process.turns.admit(opened.turn_id, opened.fence, owner(), lease_seconds=LEASE_SECONDS) is None
    [(reason,)] = held(scene)
    assert "failed over" in reason
    assert next_process.outbox.claim(seconds=10) is None
    assert scene.refused(scene.opening(item("X-3"))) == Refused(NotDispatched.HELD_FLEET)


@pytest.mark.proves("H24")
def test_a_copy_on_the_same_line_is_known_by_what_a_process_saw(scene: Scene):
    """Files that were copied back are on the known line; the ring that this process remembers is not in them."""
    scene.tick()
    assert held(scene) == []
    scene.change("update pulse set mark = mark - interval '1 minute'")
    scene.store.reconciler.begin(None)
    [(reason,)] = held(scene)
    assert "a backup was put in its place" in reason


@pytest.mark.proves("H24")
def test_the_next_process_knows_what_the_last_one_saw(scene: Scene, url: str, tmp_path: Path):
    """The mark is in a file beside the state; that of another installation says nothing."""
    file = tmp_path / "witness"
    later = scene.now() + timedelta(hours=1)
    for installation, reasons in (("elsewhere", 0), (scene.store.installation, 1)):
        Witness(file).saw(Mark(installation, later))
        opened = open_store(url, witness=file)
        opened.recovery.look()
        opened.close()
        assert len(held(scene)) == reasons


def test_a_witness_that_cannot_be_read_or_written_is_none(tmp_path: Path):
    """Half a file says nothing, and a folder that is gone stops nobody."""
    (tmp_path / "half").write_text("abc")
    assert Witness(tmp_path / "half").mark is None
    lost = Witness(tmp_path / "gone" / "witness")
    lost.saw(Mark("abc", datetime(2026, 3, 4, tzinfo=UTC)))
    assert lost.mark is not None


@pytest.mark.proves("H24")
def test_no_fence_and_no_version_is_given_twice(scene: Scene):
    """What a process of the lost time holds is refused, whatever number the copy would have given out next."""
    scene.conclude(scene.run().ref, Handoff(StopReason.DONE))
    stale = scene.opening(seen=scene.record().version)
    scene.change(FAIL_OVER)
    forgotten = scene.one("select extract(epoch from clock_timestamp())::bigint - 5")
    scene.store.recovery.recover(HAND)
    assert scene.refused(stale) == Refused(NotDispatched.CHANGED_SINCE)
    again, fresh = scene.open(), scene.open("X-2")
    assert min(again.fence, fresh.fence) > forgotten
    assert (again.ordinal, fresh.ordinal) == (2, 1)


@pytest.mark.proves("H24")
def test_a_recovery_that_was_forgotten_gives_other_fences(scene: Scene):
    """Two copies from before the first recovery: the second one goes past the first."""
    scene.store.recovery.recover(HAND)
    first = scene.open().fence
    scene.change("update installation set fence_base = 0; update item set fence = 0")
    scene.change("delete from turn; delete from task; update workflow set open_turns = 0")
    scene.store.recovery.recover(HAND)
    scene.store.recovery.recover(HAND)
    assert scene.open().fence > first


@pytest.mark.proves("H24", "H23")
def test_a_healthy_turn_goes_on_over_a_failover(scene: Scene):
    """Its fence is in the copy: it checkpoints and concludes, and its lease is not judged for one lease."""
    ref = scene.run().ref
    scene.tick()
    scene.change(FAIL_OVER)
    scene.store.recovery.recover(HAND)
    assert scene.step(ref)
    scene.store.set_offset(0.6)
    assert not scene.tick().trusted
    assert scene.conclude(ref, Handoff(StopReason.DONE))
    assert scene.one("select open_turns from workflow") == 0


@pytest.mark.proves("H24")
def test_nothing_that_may_have_been_sent_is_taken_for_unsent(scene: Scene):
    """A move is looked up first; the card's comment may be newer than ours; an effect is unknown."""
    ref = scene.run().ref
    scene.step(ref, 1, started_move(), comment())
    scene.change(FAIL_OVER)
    done = scene.store.recovery.recover(HAND)
    assert (done.moves, done.comments) == (1, 1)
    claimed = scene.store.outbox.claim(seconds=10)
    assert claimed is not None
    assert claimed.uncertain
    assert scene.all("select status from outbox where act = 'comment'") == [("suppressed",)]


@pytest.mark.proves("H24")
def test_a_flows_task_waits_for_a_person(scene: Scene):
    """It has no board to be read from; a person's release lets it go on."""
    scene.open()
    scene.change("insert into workflow (name, version, scope, interval_ms) values ('flow:f', 1, 'flow:f', 1000)")
    scene.change("insert into workflow_version values ('flow:f', 1, 'd', 'b', 'p')")
    scene.change(
        "insert into item (scope, item_id, identifier, workflow, state) values ('flow:f', 'a', 'F-1', 'flow:f', '')"
    )
    scene.change(
        "insert into task (item_key, workflow, workflow_version) select key, 'flow:f', 1 from item where item_id = 'a'"
    )
    assert scene.store.recovery.recover(HAND).flow_tasks == 1
    [place] = scene.store.operators.places("F-1")
    assert scene.store.operators.release(place, HAND) == [HoldKind.RECOVERY]


@pytest.mark.proves("H24")
def test_only_recover_lets_the_fleet_go_on(scene: Scene):
    """A release of the fleet does not; after `recover` every board is listed, and the line is the known one."""
    scene.tick()
    scene.change(FAIL_OVER)
    scene.store.reconciler.begin(None)
    assert list(scene.store.operators.release(Place(HoldScope.FLEET, "the fleet"), HAND)) == []
    assert len(held(scene)) == 1
    scene.store.recovery.recover(HAND)
    scene.store.set_offset(0.6)
    assert scene.tick().listing
    assert held(scene) == []
    assert scene.store.recovery.look().reason is None
