"""A program under the supervisor, as the worker sees it: what the supervisor says of it, kept for whoever asks."""

import queue
import threading
from collections.abc import Callable, Iterator

from orchestrator.ports.supervisor import EndedBy, Exit, Refusal, SpawnFailed
from orchestrator.supervisor import wire

Said = wire.Started | wire.Refused | wire.Line | wire.Ended

SWEPT = Exit(None, None, EndedBy.SUPERVISOR_LOST)


class RunningProgram:
    """Fits `ports.supervisor.Running`. One thread tells it what the supervisor says, any other may wait."""

    def __init__(self, stop: Callable[[], None]) -> None:
        """`stop` asks the supervisor for its end."""
        self.pid = 0
        self._stop = stop
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._answered, self._ended = threading.Event(), threading.Event()
        self._refused: SpawnFailed | None = None
        self._exit = SWEPT

    def lines(self) -> Iterator[bytes]:
        """Its lines that look like JSON objects, each once; ends with the program."""
        while (line := self._lines.get()) is not None:
            yield line
        self._lines.put(None)  # for whoever asks again

    def wait(self) -> Exit:
        """Block until nothing of it is left."""
        self._ended.wait()
        return self._exit

    def stop(self) -> None:
        """Ask for its end; does not wait."""
        self._stop()

    def await_start(self) -> None:
        """Block until it runs.

        Raises:
            SpawnFailed: it was not started.
        """
        self._answered.wait()
        if self._refused:
            raise self._refused
        if not self.pid:
            raise SpawnFailed(Refusal.SUPERVISOR_LOST, "the supervisor died before the program was started")

    def hear(self, said: Said) -> None:
        """Take what the supervisor says of it."""
        match said:
            case wire.Line(_, line):
                self._lines.put(line)
            case wire.Started(_, pid):
                self.pid = pid
            case wire.Refused(_, refusal, detail):
                self._refused = SpawnFailed(refusal, detail)
            case wire.Ended(_, exit_):
                self._exit = exit_
                self._lines.put(None)
                self._ended.set()
        self._answered.set()
