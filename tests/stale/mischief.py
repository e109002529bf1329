"""What a tracker and its people may do at any call: answer late, old, half or not at all; act between two looks.

Each is a fault as in `tests.faults`, for calls of the tracker only. A read that lies is a lie about *when*: it shows
the board as it truly was. A listing may lie however it likes; a read by id lags by no more than it says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from orchestrator.ports.tracker import TrackerError, TrackerFault
from orchestrator.trackers.memory import MemoryBoard
from tests.faults import faults
from tests.faults.tripwire import Call, Fault
from tests.stale.past import Past
from tests.world import World

CARD = faults.CARD
WRITES = {"tracker.move", "tracker.comment"}
# Shorter than a claim, longer than one, longer than a lease too.
SLOW_SECONDS, STUCK_SECONDS = 20.0, 80.0


@dataclass(slots=True)
class Trouble:
    """What the mischief of one world has to remember: the board's past, what is to be undone, and what people did."""

    past: Past
    undo: list[Callable[[], None]] = field(default_factory=list)
    lies_by_id: int = 0
    times_hidden: int = 0
    comments_deleted: bool = False
    went_out_and_in: bool = False

    def end(self) -> None:
        """Whatever a person would put right is put right."""
        while self.undo:
            self.undo.pop()()


Mischief = Callable[[Call, Trouble], Any]


def _answers(fault: TrackerFault, *, happened: bool = False, sent: bool = False, wait: float | None = None) -> Mischief:
    """The server says that; a write may have `happened` all the same, and the adapter knows whether it was `sent`."""

    def answer(call: Call, _: Trouble) -> Any:
        writes = call.name in WRITES
        if writes and happened:
            call.do()
        raise TrackerError(fault, fault.value, retry_after_seconds=wait, sent=writes and sent)

    return answer


def _lags(changes: int, *names: str) -> Mischief:
    """The answer is of the board as it was some changes ago; other calls, and every write, meet it as it is."""

    def answer(call: Call, trouble: Trouble) -> Any:
        if call.name not in names:
            return call.do()
        answered = call.on(trouble.past.ago(changes))
        if call.name == BY_ID:
            honest = call.do()
            trouble.lies_by_id += honest != answered
            trouble.times_hidden += CARD in honest and CARD not in answered
        return answered

    return answer


def _is_slow(seconds: float) -> Mischief:
    """The answer takes that long; everything else goes on meanwhile."""

    def answer(call: Call, _: Trouble) -> Any:
        answered = call.do()
        call.meanwhile(lambda world: world.jump(seconds))
        return answered

    return answer


def loses_a_page(call: Call, _: Trouble) -> Any:
    """The listing ends early and says nothing of it: its last card is not on it."""
    answered = call.do()
    return (
        iter([replace(page, items=page.items[:-1]) for page in answered])
        if isinstance(answered, Iterator)
        else answered
    )


def breaks_off(call: Call, _: Trouble) -> Any:
    """The listing fails after its first page."""
    if call.name != "tracker.list_items":
        return call.do()
    first = next(call.do())

    def pages() -> Iterator[Any]:
        yield first
        raise TrackerError(TrackerFault.PAYLOAD, "a page is cut short")

    return pages()


def out_and_in(call: Call, trouble: Trouble) -> Any:
    """A person takes the card away and puts it back where it was before anybody looked."""
    there = call.world.state(CARD)
    if there is not None:
        trouble.went_out_and_in = True
        call.world.drag(CARD, "Backlog")
        call.world.drag(CARD, there)
    return call.do()


def closed_and_reopened(call: Call, _: Trouble) -> Any:
    """A person closes the card and wants it done all the same."""
    call.world.close(CARD)
    call.world.drag(CARD, "Todo")
    return call.do()


def comments_deleted(call: Call, trouble: Trouble) -> Any:
    """A person throws away what we said on the card."""
    board = call.world.board
    if CARD in board._comments:
        board._comments[CARD] = [said for said in board._comments[CARD] if said.key is None]
        trouble.comments_deleted = True
    return call.do()


def _renamed(name: str, other: str) -> Mischief:
    """A person renames a column, and after a while thinks better of it."""

    def act(call: Call, trouble: Trouble) -> Any:
        board = call.world.board
        if name in board.states:
            _rename(board, name, other)
            trouble.undo.append(lambda: _rename(board, other, name))
        return call.do()

    return act


def renamed_back(call: Call, trouble: Trouble) -> Any:
    """The person thinks better of it now."""
    trouble.end()
    return call.do()


def _rename(board: MemoryBoard, name: str, other: str) -> None:
    """The column has that name from now on, also in what is told of who moved a card where.

    No card is touched by it: trackers keep a column's name once, beside the cards. Where the name stands in each card,
    as in Backlog.md, a name that was taken back leaves the card's bytes, which are its revision, as they were.
    """
    board.states = tuple(other if state == name else state for state in board.states)
    now = {name: other}
    board.history[:] = [
        replace(move, came_from=now.get(move.came_from or "", move.came_from), to=now.get(move.to or "", move.to))
        for move in board.history
    ]
    for item_id, item in list(board._items.items()):
        if item.state == name:
            board._items[item_id] = replace(item, state=other)


def _as_in_faults(fault: Fault) -> Mischief:
    return lambda call, _: fault(call)


LISTING, BY_ID = "tracker.list_items", "tracker.get_items"
ALL: Mapping[str, Mischief] = {
    "401 or 403": _answers(TrackerFault.AUTH),
    "404": _answers(TrackerFault.NOT_FOUND),
    "409": _answers(TrackerFault.CONFLICT),
    "422": _answers(TrackerFault.PAYLOAD),
    "429": _answers(TrackerFault.RATE_LIMITED),
    "429 with Retry-After": _answers(TrackerFault.RATE_LIMITED, wait=40.0),
    "503 before the write": _answers(TrackerFault.API, sent=True),
    "500 after the write": _answers(TrackerFault.API, happened=True, sent=True),
    "cut before the write": _answers(TrackerFault.TRANSPORT, sent=True),
    "cut after the write": _answers(TrackerFault.TRANSPORT, happened=True, sent=True),
    "not connected": _answers(TrackerFault.TRANSPORT),
    "slow": _is_slow(SLOW_SECONDS),
    "stuck": _is_slow(STUCK_SECONDS),
    "the listing lags by one change": _lags(1, LISTING),
    "the listing lags by two": _lags(2, LISTING),
    "the listing lags by five": _lags(5, LISTING),
    "the listing is the first ever": _lags(99, LISTING),
    "a read by id lags by one change": _lags(1, BY_ID),
    "a read by id lags by three": _lags(3, BY_ID),
    "both lag by one change": _lags(1, LISTING, BY_ID),
    "both lag by three": _lags(3, LISTING, BY_ID),
    "a page is lost": loses_a_page,
    "a page breaks off": breaks_off,
    "out and in": out_and_in,
    "closed and reopened": closed_and_reopened,
    "comments deleted": comments_deleted,
    "review renamed": _renamed("In Review", "Verify"),
    "in progress renamed": _renamed("In Progress", "Doing"),
    "the first column renamed": _renamed("Todo", "Next"),
    "renamed back": renamed_back,
    **{fault.__name__: _as_in_faults(fault) for fault in faults.HANDS},
    "another_process_acts": _as_in_faults(faults.another_process_acts),
    "dies_before": _as_in_faults(faults.dies_before),
    "dies_after": _as_in_faults(faults.dies_after),
}


def begin(world: World) -> Trouble:
    """The trouble of a world that has just begun."""
    trouble = Trouble(Past(world.board))
    trouble.past.look()
    return trouble
