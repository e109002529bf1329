"""The tracker: the board that people move cards on. An adapter is one file with `connect(options) -> Tracker`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Protocol, runtime_checkable

from orchestrator.domain.item import Item
from orchestrator.domain.records import Malformed


class TrackerFault(Enum):
    """Why a call to a tracker failed (TE-08, TE-09)."""

    CONFIG = "invalid_tracker_config"  # an option is wrong; a person mends the workflow
    AUTH = "tracker_auth_error"  # not allowed; a person mends the credential
    NOT_FOUND = "tracker_not_found"  # the board itself is not there
    PAYLOAD = "tracker_payload_error"  # the answer or a record in it makes no sense
    TRANSPORT = "tracker_transport_error"  # no answer; retried
    API = "tracker_api_error"  # the tracker failed; retried
    RATE_LIMITED = "tracker_rate_limited"  # asked to wait; retried after `retry_after_seconds`
    CONFLICT = "tracker_conflict"  # somebody wrote first; read again


# A fault that may pass by itself: the write stays in the outbox and is tried again.
PASSING = frozenset({TrackerFault.TRANSPORT, TrackerFault.API, TrackerFault.RATE_LIMITED, TrackerFault.CONFLICT})

# The same kinds in the words of Symphony's specification, for whoever comes with its dashboards (TE-07). It has one
# word for whatever a server refused or failed at; whether another try makes sense is told by `PASSING`.
SPECIFIED: Mapping[TrackerFault, str] = {
    TrackerFault.CONFIG: "invalid_tracker_config",
    TrackerFault.AUTH: "tracker_status",
    TrackerFault.NOT_FOUND: "tracker_status",
    TrackerFault.PAYLOAD: "tracker_response",
    TrackerFault.TRANSPORT: "tracker_request",
    TrackerFault.API: "tracker_status",
    TrackerFault.RATE_LIMITED: "tracker_rate_limited",
    TrackerFault.CONFLICT: "tracker_status",
}


class TrackerError(Exception):
    """A call to a tracker failed; `fault` says how, `sent` whether the write may have happened all the same."""

    def __init__(
        self, fault: TrackerFault, message: str, *, retry_after_seconds: float | None = None, sent: bool = False
    ) -> None:
        """Keep the kind beside the sentence for people."""
        super().__init__(message)
        self.fault = fault
        self.retry_after_seconds = retry_after_seconds
        self.sent = sent


@dataclass(frozen=True, slots=True)
class Profile:
    """What an adapter can do, published for people and read by the engine (TE-10).

    `conditional_moves` says whether a move is a compare-and-set, so that a person's move in between always wins;
    `scope` names the board, equal for every workflow that serves the same one. `whole_board` says that a listing costs
    the same whatever states it asks for: then every card is listed, and each one that does not start has a reason.
    `blockers_have_states` says that an item's blockers come with their states; where not, the tick reads a few of them
    by id, and None is a state that nobody has read yet.
    """

    kind: str
    scope: str
    conditional_moves: bool
    edits_comments: bool
    notes: str = ""
    whole_board: bool = False
    blockers_have_states: bool = True


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a listing: the items, and the records that could not be read."""

    items: tuple[Item, ...]
    malformed: tuple[Malformed, ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """A card and the state in which it stands, and no more of it."""

    id: str
    identifier: str
    state: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the whole board in the board's own order, whatever states its cards are in.

    `gone` are those of the ids asked about that belong into this part and are not on the board. `behind` is where the
    next stretch begins, in the adapter's own words; None: the board ends here.
    """

    cards: tuple[Standing, ...]
    malformed: tuple[Malformed, ...] = ()
    gone: frozenset[str] = frozenset()
    behind: str | None = None


@dataclass(frozen=True, slots=True)
class Moved:
    """The card is in the state that was asked for, by this call."""

    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class NotMoved:
    """The move was refused because the card stood in `state` (None: it is gone); nothing was written."""

    state: str | None


@dataclass(frozen=True, slots=True)
class PostedComment:
    """A comment on a card; `key` is the hidden key of one of ours, None for anybody else's."""

    author: str | None
    body: str
    key: str | None = None
    created_at: datetime | None = None


class Tracker(Protocol):
    """One board. Every method raises TrackerError; none retries by itself."""

    @property
    def profile(self) -> Profile:
        """What this adapter can do."""
        ...

    def states(self) -> tuple[str, ...]:
        """The states that the board has right now, in its own spelling and order."""
        ...

    def list_items(self, states: Sequence[str]) -> Iterator[Page]:
        """Every item in one of `states` (compared folded), page by page; no states: no page and no call.

        A malformed record is on its page as such. An error in the middle means that the whole listing failed.
        """
        ...

    def get_items(self, ids: Sequence[str]) -> Mapping[str, Item]:
        """Fresh snapshots by id; an id that is not on the board is absent from the answer. No ids: no call.

        A malformed requested record fails the whole call with fault PAYLOAD: it is neither gone nor fine.
        """
        ...

    def comments(self, item_id: str) -> tuple[PostedComment, ...]:
        """The comments of one item, oldest first; fault NOT_FOUND when it is gone."""
        ...

    def move(self, item_id: str, to: str, *, only_from: Sequence[str], revision: str | None) -> Moved | NotMoved:
        """Move the card to state `to` if it stands in one of `only_from`, and, where given, still has `revision`.

        Both are checked by the tracker in one step with the write where `conditional_moves` says so.
        """
        ...

    def comment(self, item_id: str, key: str, body: str) -> None:
        """Make the comment that bears the hidden `key`, or edit it in place; of doubles the oldest is kept."""
        ...


@runtime_checkable
class Walked(Protocol):
    """A board whose whole listing costs, and that can be walked over instead, a bounded stretch at a time.

    A tracker whose profile does not say `whole_board` should be one: else no card outside of the listed states has a
    stored reason.
    """

    def walk(self, behind: str | None, known: Collection[str]) -> Stretch:
        """The stretch that begins behind the last one (None: at the board's beginning).

        A card that is there from the first stretch to the last is in one of them, whatever is added, moved or deleted
        meanwhile. Of `known`, the ids that somebody keeps a record of, each that is gone is told in one of them, at the
        latest in the last. Raises TrackerError; the same stretch can be asked for again.
        """
        ...


@runtime_checkable
class Watched(Protocol):
    """A board that can tell, for next to nothing, whether somebody touched it; a tracker may be one."""

    def disturbed(self) -> bool:
        """Whether anybody but this process changed a card since the last call; the first call is False.

        A hint and no more: a change that it misses is seen by the next listing. Raises TrackerError.
        """
        ...
