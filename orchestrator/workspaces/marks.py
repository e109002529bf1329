"""Which workspaces were made and never finished: a mark stands from before the making until the hook's part is done.

It names the folder by its inode. So an unfinished one is told from whatever somebody put in its place since: only the
folder that we made ourselves, and in which no agent ran, may be made anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Mark:
    """The mark in `file` of the workspace at `path`. The caller holds the workspace's lock. All raise OSError."""

    file: Path
    path: Path

    def stands(self) -> bool:
        """Whether the workspace's making is not complete."""
        return self.file.exists()

    def is_of_this_folder(self) -> bool:
        """Whether it is this very folder that was made and not finished."""
        return self.stands() and self.path.exists() and self.file.read_text(encoding="ascii") == _name(self.path)

    def begin(self) -> bool:
        """Set the mark before a making, unless something is there already; returns whether it stood before."""
        stood = self.stands()
        if not self.path.exists() or not any(self.path.iterdir()):
            self.file.parent.mkdir(exist_ok=True)
            self.file.touch()
        return stood

    def end(self, *, created: bool, stood: bool) -> None:
        """Name the folder that was made now; a folder that was found needs no mark, unless one stood on it."""
        if created:
            self.file.write_text(_name(self.path), encoding="ascii")
        elif not stood:
            self.clear()

    def clear(self) -> None:
        """The making is complete, or nothing is left of it."""
        self.file.unlink(missing_ok=True)


def _name(path: Path) -> str:
    found = path.stat(follow_symlinks=False)
    return f"{found.st_dev}:{found.st_ino}"
