"""The loop of a bridge: the vendor's program as a child in the bridge's own group, so that every signal reaches both.

Every line of the program goes to our standard error, which the transcript keeps and the stall clock hears; a stream of
deltas would fill it, so of these only a dot a second is passed on. A line that is no object is log, never a crash.
"""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from queue import Empty, SimpleQueue
from typing import IO

from orchestrator.agents.bridges.saying import Fault, Order, Result, say
from orchestrator.agents.bridges.talk import Finish, Say, Send, Talk, Write

# The shell's own words for a command that it could not run.
_SHELL = frozenset({126, 127})
# How long a program may take to end by itself after its last word: Codex needs 0.1 s. The supervisor ends what is left.
_LEAVE_SECONDS = 5.0
# A line beyond this is cut off (both peers' limit).
_LONGEST_LINE = 10 * 1024 * 1024
_COMPLAINT = 1_000
_DOT_SECONDS = 1.0


class Conversation:
    """One program, from its start to its end."""

    def __init__(self, talk: Talk, order: Order) -> None:
        """Start the program in the workspace, which is where the bridge itself was started."""
        self._talk, self._order = talk, order
        self._heard: SimpleQueue[bytes | None] = SimpleQueue()
        self._complaint = b""
        self._spoke = False
        self._dotted_at = 0.0
        self._owed: str | None = None
        self._owed_since = 0.0
        pipe = subprocess.PIPE
        self._program = subprocess.Popen(list(talk.argv), stdin=pipe, stdout=pipe, stderr=pipe)

    def hold(self) -> Result:
        """Talk until the turn is over."""
        complaints = threading.Thread(target=self._complaints, daemon=True)
        complaints.start()
        threading.Thread(target=self._listen, daemon=True).start()
        result = self._reply(self._talk.opening()) or self._converse()
        if result is None:
            code = self._program.wait()
            complaints.join(_LEAVE_SECONDS)
            return self._gone(code)
        return self._left(result)

    def _converse(self) -> Result | None:
        """What the program says, until the turn is over; None when it has gone."""
        while True:
            try:
                line = self._heard.get(timeout=self._patience())
            except Empty:
                reason = f"no answer to {self._owed} in {self._order.read_seconds:g} s"
                return Result(reason, Fault.RESPONSE_TIMEOUT)
            if line is None:
                return None
            if result := self._hear(line):
                return result

    def _patience(self) -> float | None:
        """How long the next line may take: each answer has its own time, whatever else is said meanwhile."""
        if self._talk.owed != self._owed:
            self._owed, self._owed_since = self._talk.owed, time.monotonic()
        if self._owed is None:
            return None
        return max(0.0, self._owed_since + self._order.read_seconds - time.monotonic())

    def _hear(self, line: bytes) -> Result | None:
        self._spoke = True
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        self._keep(line, message)
        return self._reply(self._talk.hear(message)) if isinstance(message, dict) else None

    def _reply(self, replies: Iterable[object]) -> Result | None:
        for reply in replies:
            match reply:
                case Say(line):
                    say(line)
                case Send(message):
                    self._write(json.dumps(message).encode() + b"\n")
                case Write(text):
                    self._write(text)
                    self._close()
                case Finish(result):
                    return result
        return None

    def _write(self, text: bytes) -> None:
        """A program that does not listen any more is heard of by its end."""
        if self._program.stdin:
            with contextlib.suppress(OSError, ValueError):
                self._program.stdin.write(text)
                self._program.stdin.flush()

    def _close(self) -> None:
        if self._program.stdin:
            with contextlib.suppress(OSError):
                self._program.stdin.close()

    def _gone(self, code: int) -> Result:
        complaint = self._complaint.decode(errors="replace").strip()
        if code in _SHELL and not self._spoke:
            return Result(f"{self._order.command}: {complaint or 'there is no such command'}", Fault.AGENT_NOT_FOUND)
        return self._talk.ended(code, complaint)

    def _left(self, result: Result) -> Result:
        """Let the program end by itself: one that ends with an error takes a success back (RT-17)."""
        self._close()
        try:
            code = self._program.wait(_LEAVE_SECONDS)
        except subprocess.TimeoutExpired:
            self._program.kill()
            return result
        if code != 0 and result.fault is None:
            return Result(f"the program ended with {code} after a good last word", Fault.PORT_EXIT)
        return result

    def _listen(self) -> None:
        """Lines of standard output, each bounded; the end is None."""
        output = _opened(self._program.stdout)
        while line := output.readline(_LONGEST_LINE):
            self._heard.put(line)
        self._heard.put(None)

    def _complaints(self) -> None:
        for line in _opened(self._program.stderr):
            self._complaint = (self._complaint + line)[-_COMPLAINT:]
            _passed_on(line)

    def _keep(self, line: bytes, message: object) -> None:
        method = message.get("method") if isinstance(message, dict) else None
        if not (isinstance(method, str) and method.endswith(("delta", "Delta"))):
            _passed_on(line)
        elif time.monotonic() >= self._dotted_at + _DOT_SECONDS:
            self._dotted_at = time.monotonic()
            _passed_on(b".\n")


def prepare() -> Order:
    """The order of this bridge. A SIGINT is the program's to hear: the bridge waits for what it has to say."""
    signal.signal(signal.SIGINT, lambda *_: None)
    return Order.read(sys.stdin.buffer)


def _opened(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # noqa: S101 -- every pipe is asked for at the start
    return pipe


def _passed_on(line: bytes) -> None:
    sys.stderr.buffer.write(line)
    sys.stderr.buffer.flush()
