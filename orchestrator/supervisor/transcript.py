"""Keeps what a program said, byte for byte, up to a limit; a full disk costs the transcript, never the program."""

import contextlib
import os
from pathlib import Path


class Transcript:
    """An append-only file of at most `limit` bytes; where more was said, its last line says that it was cut."""

    def __init__(self, path: Path, *, limit: int) -> None:
        """Open or continue the file, readable by our user only.

        Raises:
            OSError: it cannot be written.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        self._farewell = f"\n[cut: the transcript reached its limit of {limit} bytes]\n".encode()
        self._left = limit - len(self._farewell) - os.fstat(self._file).st_size
        if self._left < 0:  # an earlier program of the turn was cut already
            self.close()

    def write(self, said: bytes) -> None:
        """Append what fits; the first byte that does not is replaced by the line that says so."""
        if self._file < 0:
            return
        with contextlib.suppress(OSError):
            os.write(self._file, said[: max(self._left, 0)])
            if len(said) > self._left:
                os.write(self._file, self._farewell)
        self._left -= len(said)
        if self._left < 0:
            self.close()

    def close(self) -> None:
        """Write no more."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1
