"""The supervisor's end of the pipe to its worker; neither a frozen nor a flooding worker can block it."""

import select
import socket

from orchestrator.supervisor import wire

RECEIVE_BYTES = 1 << 18

# What may wait for a worker that does not read; past it the programs wait too, in their own pipes.
BACKLOG_BYTES = 4 << 20


class Link:
    """A non-blocking socket that speaks messages. Once closed it stays closed: the worker is dead."""

    def __init__(self, worker: socket.socket) -> None:
        worker.settimeout(0)
        self.is_open = True
        self._worker = worker
        self._lines, self._backlog = wire.Lines(), bytearray()

    @property
    def is_congested(self) -> bool:
        """Whether the worker has to read before more should be said."""
        return len(self._backlog) > BACKLOG_BYTES

    @property
    def events(self) -> int:
        """What to poll for."""
        return select.POLLIN | (select.POLLOUT if self._backlog else 0)

    def fileno(self) -> int:
        """The descriptor to poll."""
        return self._worker.fileno()

    def say(self, *messages: wire.Report) -> None:
        """Put messages on their way; what does not go now goes with the next `serve`."""
        for message in messages:
            self._backlog += wire.pack_report(message)
        self._flush()

    def serve(self) -> list[wire.Request]:
        """Send what waits, and take what has come; marks itself closed when the worker's end is."""
        self._flush()
        try:
            received = self._worker.recv(RECEIVE_BYTES)
        except BlockingIOError:
            return []
        except OSError:
            received = b""
        self.is_open = bool(received)
        return [wire.read_request(line) for line in self._lines.feed(received)]

    def _flush(self) -> None:
        try:
            while self._backlog:
                del self._backlog[: self._worker.send(self._backlog)]
        except BlockingIOError:
            return
        except OSError:  # the worker's end is closed: reading says so next
            self._backlog.clear()
