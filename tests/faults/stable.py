"""Eventually stable reconciliation: the property above all others, stated once, as a function over a world at rest.

If the board stops changing and faults stop, the fleet reaches what the board asks for and stays there, from every state
that any sequence of faults and hands can reach. `violations` says in which ways a world that was run until quiet is
wrong; that it is quiet (a further tick writes nothing) was seen by whoever ran it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from uuid import UUID

from orchestrator.domain import serving
from orchestrator.domain.contract import fold
from orchestrator.ports.tracker import PostedComment
from orchestrator.trackers.memory import PERSON, US, Move
from tests.memory.desk import Run
from tests.world import World

_UNREST = """
    select 'an open turn', id::text from turn where status in ('queued', 'running')
    union all select 'an unsettled write', id::text || ' ' || act || ' ' || status from outbox
        where status in ('pending', 'claimed', 'unknown')
    union all select 'a live task that nothing wakes', task.id::text from task
        where status not in ('succeeded', 'failed', 'cancelled')
            and not exists (select from hold where hold.item_key = task.item_key and lifted_at is null)
    union all select 'a cap slot that is taken', open_turns::text from workflow where open_turns <> 0
    union all select 'a hold without owner or reason', id::text from hold
        where lifted_at is null and (owner = '' or reason = '')
    union all select 'a task that ended without a reason', id::text from task
        where status in ('succeeded', 'failed', 'cancelled') and stop_reason is null
"""
# Each row broke a rule of the schema's prose that no constraint can say.
_DISORDER = """
    select 'writes sent out of order', later.id::text from outbox later join outbox earlier using (item_key)
        where later.seq > earlier.seq and later.status = 'sent' and earlier.status = 'sent'
            and (earlier.act = 'move' or later.key = earlier.key)
            and later.settled_at < earlier.settled_at
    union all select 'fences that do not grow', later.id::text from turn later join turn earlier using (item_key)
        where later.fence > earlier.fence and later.opened_at < earlier.opened_at
    union all select 'two live tasks', item_key::text from task
        where status not in ('succeeded', 'failed', 'cancelled') group by item_key having count(*) > 1
    union all select 'a turn of a finished task', turn.id::text from turn join task on task.id = turn.task_id
        where turn.opened_at > task.ended_at
"""
_FINISHED = """
    select turn.id, item.item_id from turn join item on item.key = turn.item_key
    where turn.status = 'succeeded' and turn.stop_reason in ('done', 'no_change')
        and (select status from task where task.id = turn.task_id) = 'succeeded'
        and not exists (select from turn later where later.task_id = turn.task_id and later.fence > turn.fence)
"""
_TOLD = """
    select item.item_id, outbox.key, outbox.body, outbox.status = 'sent'
    from outbox join item on item.key = outbox.item_key
    where outbox.act = 'comment' and (outbox.status = 'sent' or outbox.tries > 0) order by outbox.seq
"""
_MOVES_SENT = """
    select item.item_id, count(*) from outbox join item on item.key = outbox.item_key
    where outbox.act = 'move' and outbox.tries > 0 group by item.item_id
"""
# A turn that was stopped for what a person did to the card.
_TAKEN = """
    select item.item_id, turn.fence, turn.stop_reason from turn join item on item.key = turn.item_key
    where turn.stop_reason in ('moved_away', 'terminal_seen', 'not_visible') order by turn.fence
"""
_ADMITTED = "select id, admitted_at from turn where admitted_at is not null"
_HELD = "select item.item_id from hold join item on item.key = hold.item_key where hold.lifted_at is null"


def violations(world: World) -> list[str]:
    """Every way in which the world at rest is wrong; empty: it is as the board asks."""
    found = [f"{what}: {which}" for what, which in world.rows(f"{_UNREST} union all {_DISORDER}")]
    held = {item_id for (item_id,) in world.rows(_HELD)}
    finished = dict(world.rows(_FINISHED))
    for item_id in {move.item_id for move in world.board.history}:
        card = Card(world, item_id, finished, is_held=item_id in held)
        found += [f"{item_id}: {fault}" for fault in card.violations()]
    return found


class Card:
    """One card at rest: what people and we did with it, and what its agents did."""

    def __init__(self, world: World, item_id: str, finished: dict[UUID, str], *, is_held: bool) -> None:
        self.world, self.item_id, self.is_held = world, item_id, is_held
        self.contract = world.workflow.contract
        self.history = [(at, move) for at, move in enumerate(world.board.history) if move.item_id == item_id]
        self.admitted = dict(world.rows(_ADMITTED))
        self.runs = [run for run in world.agents.log if run.item_id == item_id]
        self.finished = [run for run in self.runs if run.turn_id in finished and run.event in {"done", "no_change"}]

    def violations(self) -> Iterator[str]:
        """What is wrong with it."""
        yield from self._place()
        yield from self._our_moves()
        yield from self._overlaps()
        yield from self._needless_runs()
        yield from self._needless_stops()
        yield from self._blind_starts()
        yield from self._comments()

    def _hands(self) -> list[tuple[int, Move]]:
        return [(at, move) for at, move in self.history if move.actor == PERSON]

    def _place(self) -> Iterator[str]:
        """A person's last word stands; where it was "work on it", it was, and the card waits for review."""
        at, last = self._hands()[-1]
        state = self.world.state(self.item_id)
        if last.to is None or not self.contract.is_active(last.to):
            if state != last.to:
                yield f"a person put it in {last.to}, and it stands in {state}"
        elif self.is_held:
            return
        elif not self.contract.is_handoff(state or ""):
            yield f"it was never handed off: it stands in {state}"
        elif self.contract.is_handoff(last.came_from or "") and not any(
            run.event == "start" and run.moves > at for run in self.runs
        ):
            yield f"a person wanted it again (from {last.came_from} to {last.to}), and nobody worked on it since"

    def _our_moves(self) -> Iterator[str]:
        """We move from where a run was allowed to start, and never over a decision."""
        sent = dict(self.world.rows(_MOVES_SENT)).get(self.item_id, 0)
        ours = [(at, move) for at, move in self.history if move.actor == US]
        if len(ours) > sent:
            yield f"{len(ours)} moves on the board, but only {sent} were ever claimed"
        for at, move in ours:
            if not self.contract.is_active(move.came_from or ""):
                yield f"we moved it from {move.came_from} to {move.to}"
            is_handoff = self.contract.is_handoff(move.to or "")
            if is_handoff and fold(move.came_from or "") == fold("Rework") and not self._began_in(at, "Rework"):
                yield f"we moved it from {move.came_from}, where a person put it during the run, to {move.to}"

    def _began_in(self, moved_at: int, state: str) -> bool:
        """Whether a run that began after the card was last put in `state` stands behind our move."""
        arrived = max(at for at, move in self.history if at < moved_at and move.to == state)
        return any(run.event == "start" and arrived < run.moves <= moved_at for run in self.runs)

    def _overlaps(self) -> Iterator[str]:
        """Two agents never work on one card at once, and their fences grow."""
        under_way: dict[UUID, Run] = {}
        for run in self.runs:
            if run.event != "start":
                under_way.pop(run.turn_id, None)
                continue
            if under_way:
                others = [other.fence for other in under_way.values()]
                yield f"two agents at once: turn {run.fence} began during {others}"
            under_way[run.turn_id] = run
        fences = [run.fence for run in self.runs if run.event == "start"]
        if any(later <= earlier for earlier, later in pairwise(fences)):
            yield f"runs began with fences {fences}"

    def _needless_runs(self) -> Iterator[str]:
        """Finished work starts again only after a person moved the card, at the earliest while it was being done."""
        for done in self.finished:
            after = self.runs[self.runs.index(done) + 1 :]
            begun = next((run for run in after if run.event == "start"), None)
            admitted = self.admitted[done.turn_id]
            if begun and not any(move.at >= admitted and at < begun.moves for at, move in self._hands()):
                yield f"turn {done.fence} finished it, and turn {begun.fence} began although nobody touched the card"
        if len(self.finished) > len(self._hands()):
            yield f"{len(self.finished)} turns finished it for {len(self._hands())} wishes"

    def _needless_stops(self) -> Iterator[str]:
        """A turn is stopped for a card that a person took away, and for no other: it should not have been opened."""
        taken = {move.to for _, move in self._hands() if move.to is None or not self.contract.is_active(move.to)}
        for item_id, fence, stop in self.world.rows(_TAKEN):
            if item_id == self.item_id and not taken:
                yield f"turn {fence} was stopped as {stop}, although nobody took the card away"

    def _blind_starts(self) -> Iterator[str]:
        """A turn looks at the card once more before its agent begins."""
        for run in self.runs:
            before = [move for at, move in self.history if at < run.moves]
            to = before[-1].to if before else None
            if (
                run.event == "start"
                and not self.contract.is_active(to or "")
                and before[-1].at < self.admitted[run.turn_id]
            ):
                yield f"turn {run.fence} began work on a card that stood in {to} before its admission"

    def _comments(self) -> Iterator[str]:
        """One comment a key, and it says what was sent last."""
        if self.world.state(self.item_id) is None:
            return
        said = {comment.key: _unmarked(comment) for comment in self.world.board.said(self.item_id) if comment.key}
        if len(said) != len(self.world.board.said(self.item_id)):
            yield "a comment of ours stands twice"
        for key, bodies in self._told().items():
            if said.pop(key, None) not in bodies:
                yield f"comment {key} says none of {bodies}"
        if said:
            yield f"nobody knows who said {said}"
        if self.finished and self.contract.is_handoff(self.world.state(self.item_id) or "") and not self._told():
            yield "it was handed off without a word"

    def _told(self) -> dict[str, list[str | None]]:
        """What each comment may say: what was sent last, or what may have been sent later, before a person won."""
        told: dict[str, list[str | None]] = {}
        for item_id, key, body, is_sent in self.world.rows(_TOLD):
            if item_id == self.item_id:
                told[key] = [body] if is_sent else [*told.get(key, [None]), body]
        return told


def _unmarked(comment: PostedComment) -> str:
    """What it says beside whose the card is, which is no part of the text that was meant."""
    first, *more = comment.body.split("\n")
    return "\n".join([first, *more[1:]]) if serving.read(comment.key, comment.body) else comment.body
