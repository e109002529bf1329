"""Which kinds of boards and agents there are, and what is said of a file that names another.

A board that cannot be opened is an error: nothing could be read. An agent that is not there is a warning, as the board
is still read, its cards' reasons are still stored, and a turn says the same when it fails.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from orchestrator.workflow.findings import Code, Finding, Rejected
from orchestrator.workflow.front_matter import Document

FIVE_LINES = """\
tracker:
  kind: backlog
  path: . # the folder in which `backlog` is
  active_states: [To Do, In Progress]
  terminal_states: [Done]"""


@dataclass(frozen=True, slots=True)
class Kinds:
    """The kinds that come with the program; a kind with a dot is a module of somebody else's, and not judged here."""

    trackers: Collection[str]
    agents: Collection[str]

    def refuse_tracker(self, kind: str, document: Document) -> None:
        """Raises Rejected for a kind of board that is not there, with the lines to write."""
        if kind in self.trackers or "." in kind:
            return
        line = document.line(("tracker", "kind"))
        message = f"'tracker.kind': there is no kind {kind!r} here{_nearest(kind, self.trackers)}"
        remedy = f"for a Backlog.md board put these five lines in place of the block 'tracker':\n{FIVE_LINES}"
        raise Rejected(Code.UNKNOWN_KIND, [Finding(line, f"{message}; {remedy}")])

    def without_agent(self, kind: str, document: Document) -> Iterator[Finding]:
        """A warning for a kind of agent that is not there."""
        if kind in self.agents or "." in kind:
            return
        key = ("agent", "kind") if ("agent", "kind") in document.lines else (kind,)
        message = f"'agent.kind': there is no kind {kind!r} here, so every turn would fail{_nearest(kind, self.agents)}"
        yield Finding(document.line(key), f"{message}; for any program write 'kind: command' and 'command: …'")


def _nearest(kind: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(kind[:64], sorted(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(sorted(known))}"
