"""What the board was: every state of it that a call of the tracker could have met, for readers that lag or go back."""

from __future__ import annotations

from dataclasses import dataclass, field

from orchestrator.trackers.memory import MemoryBoard, MemoryTracker


@dataclass(slots=True)
class Past:
    """The states of one board, oldest first."""

    board: MemoryBoard
    states: list[MemoryBoard] = field(default_factory=list)

    def look(self) -> None:
        """Remember the board as it is, unless it is as it was."""
        now = _copy(self.board)
        if not self.states or _shown(self.states[-1]) != _shown(now):
            self.states.append(now)

    def ago(self, changes: int) -> MemoryTracker:
        """A door to the board as it was so many changes ago; at the beginning, to an empty one."""
        self.look()
        return MemoryTracker(self.states[max(0, len(self.states) - 1 - changes)])


def _copy(board: MemoryBoard) -> MemoryBoard:
    copied = MemoryBoard(board.key, board.states, board.clock)
    copied._items = dict(board._items)
    copied._comments = {item_id: list(said) for item_id, said in board._comments.items()}
    copied._spoiled = dict(board._spoiled)
    return copied


def _shown(board: MemoryBoard) -> object:
    return board.states, board._items, board._comments
