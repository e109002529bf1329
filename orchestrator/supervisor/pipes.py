"""The three pipes of a program: the prompt in, what it says out, none of which ever blocks the supervisor.

Every byte of output goes to the transcript and sets the stall clock back; lines of standard output that look like JSON
objects are passed on.
"""

import os
from collections.abc import Iterator
from typing import IO

from orchestrator.supervisor.spawning import Program
from orchestrator.supervisor.wire import Lines

# What a pipe holds by default; one read takes all of it.
READ_BYTES = 65_536

# A JSON line beyond this is log: events are small, and the worker keeps them in memory.
LONGEST_LINE_BYTES = 1 << 20

# The largest pipe that an ordinary user can make, in reads: what may still be in it when its writers are gone.
LAST_READS = 16


class Pipes:
    """The supervisor's ends of a program's pipes; `spoke_at` is when it last said anything."""

    def __init__(self, program: Program, prompt: bytes, *, now: float) -> None:
        process = program.process
        self.stdin = process.stdin
        self.outputs = [pipe for pipe in (process.stdout, process.stderr) if pipe]
        self.spoke_at = now
        self._stdout = process.stdout
        self._prompt = memoryview(prompt)
        self._transcript = program.transcript
        self._lines = Lines(LONGEST_LINE_BYTES)
        for pipe in (self.stdin, *self.outputs):
            if pipe:
                os.set_blocking(pipe.fileno(), False)

    def write(self) -> None:
        """Write as much of the prompt as the pipe takes, and close it after the last byte."""
        if self.stdin is None:
            return
        try:
            self._prompt = self._prompt[os.write(self.stdin.fileno(), self._prompt[:READ_BYTES]) :]
        except BlockingIOError:
            return
        except OSError:  # it closed its end without reading all of it, as it may
            self._prompt = self._prompt[:0]
        if not self._prompt:
            self.stdin.close()
            self.stdin = None

    def read(self, pipe: IO[bytes], now: float) -> Iterator[bytes]:
        """Take what the pipe holds, and yield the lines of standard output that look like JSON objects."""
        said = self._take(pipe, now)
        if pipe is self._stdout:
            yield from (line for line in self._lines.feed(said) if line.startswith(b"{"))

    def finish(self, now: float) -> Iterator[bytes]:
        """The last lines, once the program is gone. A stranger who still holds a pipe open is not waited for."""
        for pipe in tuple(self.outputs):
            for _ in range(LAST_READS):
                if pipe in self.outputs:
                    yield from self.read(pipe, now)
        if self._stdout:
            yield from (line for line in self._lines.feed(b"\n") if line.startswith(b"{"))

    def close(self) -> None:
        """Let go of pipes and transcript."""
        for pipe in (self.stdin, *self.outputs):
            if pipe:
                pipe.close()
        self.stdin = None
        self.outputs.clear()
        self._transcript.close()

    def _take(self, pipe: IO[bytes], now: float) -> bytes:
        try:
            said = os.read(pipe.fileno(), READ_BYTES)
        except BlockingIOError:
            return b""
        if said:
            self.spoke_at = now
            self._transcript.write(said)
        else:
            pipe.close()
            self.outputs.remove(pipe)
        return said
