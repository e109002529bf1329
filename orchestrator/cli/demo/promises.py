"""What the demo promises, judged by evidence alone. Pure: evidence in, verdicts out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from orchestrator.cli.demo.evidence import Evidence, Run, cut_short


@dataclass(frozen=True, slots=True)
class Verdict:
    """One promise: its witness, what was seen when it holds, and everything that speaks against it."""

    promise: str
    witness: str
    seen: str
    against: tuple[str, ...]

    @property
    def kept(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.against


@dataclass(frozen=True, slots=True)
class Promise:
    """A sentence, who can testify about it, what there is to see, and the search for what breaks it."""

    sentence: str
    witness: str
    seen: Callable[[Evidence], str]
    broken: Callable[[Evidence], Iterator[str]]


def judge(evidence: Evidence) -> tuple[Verdict, ...]:
    """Every promise against the evidence."""
    return tuple(
        Verdict(promise.sentence, promise.witness, promise.seen(evidence), tuple(promise.broken(evidence)))
        for promise in PROMISES
    )


def _worked_twice(evidence: Evidence) -> Iterator[str]:
    for item in evidence.cards:
        runs = evidence.runs_of(item)
        for earlier, later in pairwise(runs):
            if later.first < earlier.last:
                yield f"{item}: the runs {_name(earlier)} and {_name(later)} overlap"
            if later.fence <= earlier.fence:
                yield f"{item}: the fence did not grow from {_name(earlier)} to {_name(later)}"
            if earlier.ended:
                yield f"{item}: {_name(earlier)} had finished, and {_name(later)} began again"

    fleet = set(evidence.left_to_the_fleet())
    for run in cut_short((run for run in evidence.runs if run.item in fleet), evidence.killed_at):
        yield f"{run.item}: {_name(run)} ended unfinished, though its worker was not killed"


def _lost(evidence: Evidence) -> Iterator[str]:
    for item in evidence.left_to_the_fleet():
        card = evidence.board.get(item)
        if card is None:
            yield f"{item}: its file is gone"
        elif card.status.casefold() != evidence.handoff.casefold():
            yield f"{item}: it stands in {card.status!r}"
        if not any(run.ended for run in evidence.runs_of(item)):
            yield f"{item}: no run of it finished"


def _doubled(evidence: Evidence) -> Iterator[str]:
    for item, branch in evidence.branches.items():
        if len(branch.commits) > 1:
            yield f"{item}: {len(branch.commits)} commits on its branch"
    for item, card in evidence.board.items():
        if card.comments > 1:
            yield f"{item}: {card.comments} comments of ours"


def _undone(evidence: Evidence) -> Iterator[str]:
    for move in evidence.moved:
        card = evidence.board.get(move.item)
        if card is None or card.status.casefold() != move.status.casefold():
            yield f"{move.item}: a person moved it to {move.status!r}, it stands in {card.status if card else None!r}"
        runs = evidence.runs_of(move.item)
        if not runs:
            yield f"{move.item}: no agent was on it, so nothing was shown"
        if any(run.ended for run in runs):
            yield f"{move.item}: its agent went on to the end"


def _unfinished(evidence: Evidence) -> Iterator[str]:
    for item in evidence.left_to_the_fleet():
        branch, card = evidence.branches.get(item), evidence.board.get(item)
        if branch is None or not branch.commits:
            yield f"{item}: no commit on a branch of its own"
        elif not branch.passes:
            yield f"{item}: its test fails on its branch"
        if card is None or card.comments == 0:
            yield f"{item}: no comment on the card"


def _untold(evidence: Evidence) -> Iterator[str]:
    for moment in evidence.missed:
        yield f"it never came to this: {moment}"


def _left_running(evidence: Evidence) -> Iterator[str]:
    yield from evidence.processes


def _count_runs(evidence: Evidence) -> str:
    again = len(evidence.runs) - len({run.item for run in evidence.runs})
    return (
        f"{len(evidence.runs)} runs of {len(evidence.cards)} cards, {again} of them after a kill, none beside another"
    )


def _count_cards(evidence: Evidence) -> str:
    return f"{len(evidence.left_to_the_fleet())} cards in {evidence.handoff!r}"


def _count_commits(evidence: Evidence) -> str:
    commits = sum(len(branch.commits) for branch in evidence.branches.values())
    return (
        f"{commits} commits, {sum(card.comments for card in evidence.board.values())} comments, at most one each a card"
    )


def _list_moves(evidence: Evidence) -> str:
    moves = (f"{move.item} in {move.status!r}" for move in evidence.moved)
    return ", ".join(moves) + "; their agents did not finish"


def _count_tests(evidence: Evidence) -> str:
    return f"{sum(branch.passes for branch in evidence.branches.values())} branches on which the card's test passes"


def _told(evidence: Evidence) -> str:
    return f"{len(evidence.moved)} moves by a person, FLUSHALL, SIGKILL, every message twice"


def _none_left(_: Evidence) -> str:
    return "none that names the folder"


def _name(run: Run) -> str:
    return f"fence {run.fence} (pid {run.pid})"


PROMISES = (
    Promise("the trouble came as announced", "story.txt", _told, _untold),
    Promise("each card was worked once", "the agents' log", _count_runs, _worked_twice),
    Promise("nothing was lost", "board files, the agents' log", _count_cards, _lost),
    Promise("nothing was doubled", "git, board files", _count_commits, _doubled),
    Promise("the person's moves stand", "board files, the agents' log", _list_moves, _undone),
    Promise("a branch and a comment per card", "git, its test, board files", _count_tests, _unfinished),
    Promise("no process is left", "the process table", _none_left, _left_running),
)
