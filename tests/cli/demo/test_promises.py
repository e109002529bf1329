"""A broken promise is seen: evidence that was doctored by hand, one lie at a time."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from orchestrator.cli.demo import promises
from orchestrator.cli.demo.evidence import Branch, CardSeen, Evidence, Run
from orchestrator.cli.demo.hand import Moved


def run(item: str, fence: int, *, lines: tuple[int, int], ended: bool) -> Run:
    """A run whose first and last lines in the log are `lines`; a line a second."""
    first, last = lines
    return Run(
        item, 1000 + fence, f"turn-{fence}", fence, first, last, began_at=first, spoke_at=last, steps=4, ended=ended
    )


@pytest.fixture
def sound() -> Evidence:
    """A run in which all went well: A closed by a person, B done at once, C done after its worker was killed."""
    return Evidence(
        cards=["A", "B", "C"],
        handoff="In Review",
        moved=[Moved("A", "Done")],
        killed_at=6.5,
        board={"A": CardSeen("Done", 1), "B": CardSeen("In Review", 1), "C": CardSeen("In Review", 1)},
        runs=[
            run("A", 1, lines=(0, 4), ended=False),
            run("B", 1, lines=(1, 9), ended=True),
            run("C", 1, lines=(2, 6), ended=False),
            run("C", 2, lines=(10, 20), ended=True),
        ],
        branches={"A": Branch((), passes=False), "B": Branch(("B",), passes=True), "C": Branch(("C",), passes=True)},
    )


def broken(evidence: Evidence) -> list[str]:
    """The promises that the judge finds broken."""
    return [verdict.promise for verdict in promises.judge(evidence) if not verdict.kept]


def test_sound_evidence_breaks_no_promise(sound: Evidence):
    """Every promise is kept when nothing went wrong, and each says what was seen."""
    assert broken(sound) == []
    assert all(verdict.seen and verdict.witness for verdict in promises.judge(sound))


TWICE, LOST, DOUBLED, MOVES = (
    "each card was worked once",
    "nothing was lost",
    "nothing was doubled",
    "the person's moves stand",
)
FINISHED, PROCESSES, TROUBLE = "a branch and a comment per card", "no process is left", "the trouble came as announced"

LATE = run("C", 3, lines=(30, 31), ended=False)
LIES: list[tuple[str, str, Callable[[Evidence], Evidence]]] = [
    ("two runs overlap", TWICE, lambda e: replace(e, runs=[*e.runs, run("B", 2, lines=(3, 12), ended=False)])),
    (
        "a finished card starts again",
        TWICE,
        lambda e: replace(e, runs=[*e.runs, run("B", 2, lines=(30, 31), ended=False)]),
    ),
    (
        "a restart has the same fence",
        TWICE,
        lambda e: replace(e, runs=[*e.runs, run("A", 1, lines=(30, 31), ended=False)]),
    ),
    ("an agent stops by itself", TWICE, lambda e: replace(e, runs=[*e.runs[:3], LATE])),
    ("an agent stops before the kill", TWICE, lambda e: replace(e, killed_at=20)),
    ("a card stays behind", LOST, lambda e: replace(e, board={**e.board, "B": CardSeen("In Progress", 1)})),
    ("a card's file is gone", LOST, lambda e: replace(e, board={"A": e.board["A"], "B": e.board["B"]})),
    ("no run finished", LOST, lambda e: replace(e, runs=e.runs[:-1])),
    ("two comments", DOUBLED, lambda e: replace(e, board={**e.board, "B": CardSeen("In Review", 2)})),
    ("two comments on a closed card", DOUBLED, lambda e: replace(e, board={**e.board, "A": CardSeen("Done", 2)})),
    ("two commits", DOUBLED, lambda e: replace(e, branches={**e.branches, "B": Branch(("B", "B"), passes=True)})),
    ("a closed card is moved", MOVES, lambda e: replace(e, board={**e.board, "A": CardSeen("In Review", 1)})),
    (
        "a closed card's agent finished",
        MOVES,
        lambda e: replace(e, runs=[run("A", 1, lines=(0, 4), ended=True), *e.runs[1:]]),
    ),
    ("a closed card had no agent", MOVES, lambda e: replace(e, runs=e.runs[1:])),
    ("no comment", FINISHED, lambda e: replace(e, board={**e.board, "C": CardSeen("In Review", 0)})),
    ("no branch", FINISHED, lambda e: replace(e, branches={"B": e.branches["B"]})),
    ("no commit", FINISHED, lambda e: replace(e, branches={**e.branches, "C": Branch((), passes=False)})),
    ("its test fails", FINISHED, lambda e: replace(e, branches={**e.branches, "C": Branch(("C",), passes=False)})),
    ("a process is left", PROCESSES, lambda e: replace(e, processes=["4711 agent"])),
    ("the worker was never killed", TROUBLE, lambda e: replace(e, missed=["the worker is killed"])),
]


@pytest.mark.parametrize(("promise", "lie"), [lie[1:] for lie in LIES], ids=[lie[0] for lie in LIES])
def test_a_broken_promise_is_seen(sound: Evidence, promise: str, lie: Callable[[Evidence], Evidence]):
    """Each lie breaks the promise that it is about, and the verdict names the culprit."""
    verdicts = {verdict.promise: verdict for verdict in promises.judge(lie(sound))}
    assert not verdicts[promise].kept
    assert verdicts[promise].against
