"""A whole small fleet, one step at a time: a loop, two workers, a relay, a person, and faults between any two steps.

As in `overlap`, everything that decides is the real thing; the model keeps rows, cards and messages.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.domain.turn import Conclusion, Handoff, Parked, Recheck
from tests.models import decide
from tests.models.world import Row, Rules, Tick, Worker, World, is_mere_note

Steps = Iterator[tuple[str, World]]

WORKERS = 2


@dataclass(frozen=True)
class Fleet:
    """Who can do what next, under these rules."""

    rules: Rules

    def calm(self, world: World) -> Steps:
        """What goes on when the person keeps still and nothing breaks."""
        yield from self._tick(world)
        yield from self._admissions(world)
        yield from self._work(world)
        yield from self._relay(world)
        yield from self._time(world)

    def disturbances(self, world: World) -> Steps:
        """What need not happen: a move of the person's hand, and each fault that is left."""
        if world.person < self.rules.person:
            for sentence, after in self._person(world):
                yield sentence, after._replace(person=world.person + 1)
        if world.faults < self.rules.faults:
            for sentence, after in self._faults(world):
                yield sentence, after._replace(faults=world.faults + 1)

    def _person(self, world: World) -> Steps:
        for number, card in enumerate(world.cards):
            for state in sorted({"Todo", "Done", "Backlog"} - {card}):
                asked = world.told(number, touched=True, done=False if state == "Todo" else None)
                yield f"the person moves {number} from {card} to {state}", asked.with_card(number, state)

    def _faults(self, world: World) -> Steps:
        for worker in world.workers:
            row = world.rows[worker.item]
            yield f"the worker of {worker.item} is killed", world.without(worker)
            if worker.ours and row.lease:
                frozen = world.with_row(worker.item, row._replace(lease=False))
                yield f"the worker of {worker.item} freezes past its lease", frozen
        for number, row in enumerate(world.rows):
            if row.message:
                yield f"the message of {number} is lost", world.with_row(number, row._replace(message=False))
        if world.relay is not None:
            yield "the relay is killed", world._replace(relay=None)
        if world.tick != Tick():
            yield "the tick is killed", world._replace(tick=Tick())
        if world.tick.seen:
            yield "the board cannot be read", self._planned(world, (decide.UNREAD,) * self.rules.cards)
            for number in range(self.rules.cards):
                torn = world.with_card(number, decide.MISSING).cards
                yield f"the board is read without {number}", self._planned(world, torn)

    def _time(self, world: World) -> Steps:
        for number, row in enumerate(world.rows):
            if row.task == "later":
                yield f"the retry of {number} falls due", world.with_row(number, row._replace(task="due"))
            alone = not any(worker.ours and worker.item == number for worker in world.workers)
            if row.turn in {"running", "flagged"} and row.lease and alone:
                yield f"the lease of {number} runs out", world.with_row(number, row._replace(lease=False))

    # --- the loop ----------------------------------------------------------------------------------------------------

    def _tick(self, world: World) -> Steps:
        tick = world.tick
        if tick.deeds:
            deed, number = tick.deeds[0]
            yield (
                f"the tick: {deed} {number}",
                self._done(world._replace(tick=Tick(deeds=tick.deeds[1:])), deed, number),
            )
        elif tick.seen:
            yield "the tick reads the board", self._planned(world, world.cards)
        else:
            yield "the tick reads the records", world._replace(tick=Tick(world.rows, (True,) * self.rules.cards))

    def _planned(self, world: World, cards: tuple[str, ...]) -> World:
        deeds = decide.planned(self.rules, world.tick.seen, cards)
        still = tuple(deed for deed in deeds if world.tick.fresh[deed[1]] or is_mere_note(deed[0]))
        return world._replace(tick=Tick(deeds=still))

    def _done(self, world: World, deed: str, number: int) -> World:
        """Carry out one deed; its item's row has the version that the plan saw, or the deed would be gone."""
        row, card = world.rows[number], world.cards[number]
        match deed.partition(" to "):
            case "dispatch", _, _:
                return self._opened(world, number) if decide.is_wanted(self.rules, card) else world
            case "cancel", _, _:
                return world if decide.is_wanted(self.rules, card) else self._cancelled(world, number)
            case "expire", _, _:
                workers = (worker._replace(ours=worker.ours and worker.item != number) for worker in world.workers)
                after = world._replace(workers=tuple(sorted(workers)))
                return self._ended(after, number, decide.lost(self.rules, row), row.stood)
            case "requeue", _, _:
                return world.with_row(number, row._replace(message=True)) if row.turn == "queued" else world
            case "endtask", _, _:
                return world.moved(number, row._replace(task="", attempts=0, moves=self._withdrawn(row)))
            case "lifthold", _, _:
                return self._lifted(world, number)
            case "refresh", _, state:
                return world.with_row(number, row._replace(stood=state)) if row.turn else world
            case _:
                return world.with_row(number, row._replace(missing=int(deed == "missing")))

    def _opened(self, world: World, number: int) -> World:
        if sum(bool(row.turn) for row in world.rows) >= self.rules.cap:
            return world
        row = world.rows[number]._replace(task="open", turn="queued", message=True, stood=world.cards[number])
        return world.told(number, touched=False).moved(number, row)

    def _cancelled(self, world: World, number: int) -> World:
        row = world.rows[number]
        after = Row(missing=row.missing) if row.turn == "queued" else row._replace(turn="flagged")
        return world.moved(number, after._replace(moves=self._withdrawn(row)))

    def _lifted(self, world: World, number: int) -> World:
        row = world.rows[number]
        if not world.touched[number]:
            world = world._replace(wrong=f"{number} is lifted although nobody touched its card")
        return world.told(number, touched=False).moved(
            number, row._replace(held=False, task="due" if row.task else "", attempts=0)
        )

    # --- the workers -------------------------------------------------------------------------------------------------

    def _admissions(self, world: World) -> Steps:
        for number, row in enumerate(world.rows):
            if row.turn == "queued" and row.message and not row.held and len(world.workers) < WORKERS:
                yield f"a worker admits {number}", self._admitted(world, number)

    def _admitted(self, world: World, number: int) -> World:
        row, target = world.rows[number], self.rules.contract.in_progress
        moves = (*row.moves, "start") if target is not None and world.cards[number] != target else row.moves
        running = row._replace(turn="running", message=False, lease=True, attempts=row.attempts + 1, moves=moves)
        if world.done[number]:
            world = world._replace(wrong=f"finished work of {number} starts again")
        return world.with_worker(Worker(number)).moved(number, running)

    def _work(self, world: World) -> Steps:
        for worker in world.workers:
            number, rest = worker.item, world.without(worker)
            row, card = world.rows[number], world.cards[number]
            if not worker.ours:
                yield f"the worker of {number} is refused", rest
            elif worker.said:
                meaning = decide.concluded(self.rules, row, worker.said, worker.card)
                yield f"the worker concludes {number}", self._ended(rest, number, meaning, worker.card)
            else:
                for said in ("stopped",) if row.turn == "flagged" else self.rules.endings:
                    after = rest.with_worker(Worker(number, said, card))
                    yield f"the agent of {number} says {said}, the worker reads the card: {card}", after

    def _ended(self, world: World, number: int, meaning: Conclusion, reread: str) -> World:
        """The concluding transaction: turn, task, hold and outbox at once."""
        row = world.rows[number]
        over = Row(missing=row.missing, moves=self._withdrawn(row))
        match meaning:
            case Handoff():
                return world.told(number, done=True).moved(number, over._replace(moves=(*over.moves, "hand")))
            case Recheck(at=at, counters=counters):
                due = "due" if at <= decide.NOW else "later"
                return world.moved(number, over._replace(task=due, attempts=counters.attempt, moves=row.moves))
            case Parked(task=task):
                stood = reread if self.rules.holds_by_the_reread else row.stood
                held = over._replace(task="" if task else "parked", held=True, stood=stood)
                return world.told(number, done=True if task else None).moved(number, held)
            case _:
                return world.moved(number, over)

    def _withdrawn(self, row: Row) -> tuple[str, ...]:
        """The outbox without what was never claimed: a move that may have been made cannot be taken back."""
        return () if self.rules.takes_back_claimed else tuple(move for move in row.moves if move.endswith("?"))

    # --- the relay ---------------------------------------------------------------------------------------------------

    def _relay(self, world: World) -> Steps:
        if world.relay is not None:
            number, following = world.relay
            doing, _, state = following.partition(" ")
            yield (self._sent if doing == "to" else self._settled)(world, number, state)
            return
        for number, row in enumerate(world.rows):
            if row.moves:
                move = row.moves[0].removesuffix("?")
                claimed = world.with_row(number, row._replace(moves=(f"{move}?", *row.moves[1:])))
                following = decide.permitted(self.rules, move, world.cards[number])
                yield f"the relay claims {move} of {number}", claimed._replace(relay=(number, following))

    def _sent(self, world: World, number: int, state: str) -> tuple[str, World]:
        """The tracker's conditional move: a card that a person has taken elsewhere since stays there."""
        if world.cards[number] not in decide.ONLY_FROM:
            return f"the tracker refuses to move {number}", world._replace(relay=(number, "not sent"))
        return f"the relay moves {number} to {state}", world.with_card(number, state)._replace(
            relay=(number, f"is {state}")
        )

    def _settled(self, world: World, number: int, state: str) -> tuple[str, World]:
        row = world.rows[number]
        stood = state if state != "sent" and (row.turn or row.held) else row.stood
        settled = row._replace(moves=row.moves[1:], stood=stood)
        return f"the relay settles {number}", world._replace(relay=None).moved(number, settled)
