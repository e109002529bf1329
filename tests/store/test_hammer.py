"""A hammer: workers, ticks, relays and supervisors at the same few items at once; the books balance afterwards."""

import random
from collections.abc import Callable

import pytest

from orchestrator.domain.hold import HoldKind
from orchestrator.domain.select import NotDispatched, Wait
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.turn import Counters, End, Handoff, Parked, Recheck, StopReason, TurnLimits, TurnStatus
from orchestrator.ports.store import Admitted, Opened, Settlement
from orchestrator.store import database
from tests.store.scene import Scene, comment, handoff_move, item, owner, started_move, together

ITEMS = [f"X-{number}" for number in range(4)]
CAP = 3
DEEDS_EACH = 120

# What must hold at every commit, whoever did what: each query finds the rows that break it.
BROKEN = {
    "a cap slot for each open turn": """
        select 1 from workflow
        where open_turns <> (select count(*) from turn where status in ('queued', 'running') and workflow = name)
    """,
    "no more open turns than the cap": f"select 1 from workflow where open_turns > {CAP}",
    "an open turn has a live task": """
        select 1 from turn join task on task.id = turn.task_id
        where turn.status in ('queued', 'running') and task.status not in ('accepted', 'running')
    """,
    "a live task has a turn, a time or a hold": """
        select 1 from task
        where status in ('accepted', 'running') and due_at is null
            and not exists (select from turn where task_id = task.id and turn.status in ('queued', 'running'))
            and not exists (select from hold where hold.item_key = task.item_key and lifted_at is null)
    """,
    "fences grow by one": "select 1 from item where fence <> (select count(*) from turn where item_key = item.key)",
    "numbers are drawn from the item": """
        select 1 from item where outbox_seq < (select coalesce(max(seq), 0) from outbox where item_key = item.key)
    """,
}


class Crew:
    """One thread's deeds, chosen by chance; it holds on to turns that others may have taken from it."""

    def __init__(self, scene: Scene, seed: int) -> None:
        self.scene = scene
        self.chance = random.Random(seed)
        self.mine: list[Admitted] = []
        self.step = 0

    def work(self) -> None:
        """Do a number of deeds."""
        deeds: list[Callable[[], object]] = [self.open, self.run, self.conclude, self.cancel, self.lose, self.relay]
        for _ in range(DEEDS_EACH):
            self.chance.choice(deeds)()

    def open(self) -> None:
        """A tick dispatches an item as it sees it, and a worker takes it."""
        records, name = self.scene.records().items, self.chance.choice(ITEMS)
        seen = records[name].version if name in records else 0
        opened = self.scene.store.items.open_turns([self.scene.opening(item(name), seen=seen, cap=CAP)])[0]
        if isinstance(opened, Opened) and self.chance.random() < 0.8:
            admitted = self.scene.store.turns.admit(opened.turn_id, opened.fence, owner(), lease_seconds=30)
            self.mine += [admitted] if admitted is not None else []
        waits = {other: Wait(NotDispatched.NO_SLOT_TOTAL, str(self.chance.random())) for other in ITEMS}
        self.scene.store.items.save_waits("demo", waits, identifiers={}, whole=True, known={})

    def run(self) -> None:
        """A worker writes a checkpoint and a fact, and its supervisor renews."""
        for admitted in self.mine:
            self.step += 1
            self.scene.step(admitted.ref, self.step, started_move(), comment(str(self.step)))
            self.scene.store.turns.record_session(admitted.ref, f"talk-{self.step}")
        self.scene.store.turns.renew([admitted.ref for admitted in self.mine], lease_seconds=30)

    def conclude(self) -> None:
        """A turn ends, one way or another."""
        if self.mine:
            ends = [
                Handoff(StopReason.DONE),
                End(TaskStatus.CANCELLED, TurnStatus.CANCELLED, StopReason.MOVED_AWAY),
                Recheck(self.scene.now(), TurnStatus.FAILED, StopReason.STALLED, Counters()),
                Parked(HoldKind.BLOCKED, TurnStatus.SUCCEEDED, StopReason.BLOCKED, "?"),
            ]
            ref = self.mine.pop(self.chance.randrange(len(self.mine))).ref
            self.scene.conclude(ref, self.chance.choice(ends), handoff_move(), comment("over"))

    def cancel(self) -> None:
        """A person takes an item away, or frees it."""
        record = self.scene.records().items.get(self.chance.choice(ITEMS))
        if record is not None:
            items = self.scene.store.items
            items.lift_holds(record, "moved")
            items.end_task(record, StopReason.MOVED_AWAY, workflow="demo")
            items.cancel(record, StopReason.MOVED_AWAY, workflow="demo")
            items.refresh(record, "In Progress")

    def lose(self) -> None:
        """A supervisor declares a turn dead, and a tick takes over what is."""
        if self.mine and self.chance.random() < 0.3:
            self.scene.store.turns.lose([self.mine[0].ref], "killed")
        for record in self.scene.records().items.values():
            self.scene.store.items.lose(record, TurnLimits(), workflow="demo")

    def relay(self) -> None:
        """A relay settles what it finds."""
        while (claimed := self.scene.store.outbox.claim(seconds=60)) is not None:
            settlement = self.chance.choice(list(Settlement))
            self.scene.store.outbox.settle(claimed, settlement, state="In Review")


@pytest.mark.proves("H1", "H13", "H17")
def test_the_books_balance_under_the_hammer(scene, monkeypatch):
    """Six crews at four items: no statement fails, none waits for long, and every invariant holds at the end."""
    failed = []
    translated = database._translated
    monkeypatch.setattr(database, "_translated", lambda error: failed.append(str(error)) or translated(error))
    together(*(Crew(scene, seed).work for seed in range(6)))
    assert failed == []
    assert {law: len(rows) for law, sql in BROKEN.items() if (rows := scene.all(sql))} == {}
    assert scene.one("select count(*) from turn") > len(ITEMS)
