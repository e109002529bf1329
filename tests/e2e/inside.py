"""What a host of a test does first, as pid 1 of its namespaces: its own disk, its own loopback, then the program.

`python -m tests.e2e.inside SOCKETS PORTS BINDS -- PROGRAM…`: each port of its own loopback leads to the socket
of that name in the folder SOCKETS, as a cable would; each bind `FROM=TO` puts a folder of its own disk in a place.
`python -m tests.e2e.inside link up|down` is the link of the network that it is called in.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path

_SET_FLAGS = 0x8914
_FLAGS = {"up": 0x41, "down": 0x0}


def main(sockets: str, ports: str, binds: str, separator: str, *program: str) -> None:
    """Make the host, and become the program."""
    assert separator == "--"
    for bind in filter(None, binds.split(",")):
        subprocess.run(["mount", "--bind", *bind.split("=")], check=True)
    link("up")
    cable = [sys.executable, "-m", "tests.e2e.inside", "cable", sockets, ports]
    with subprocess.Popen(cable, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        process.stdout.readline()  # it listens
        os.execvp(program[0], program)


def link(state: str) -> None:
    """Take the link up or down; a connection that is open meanwhile gets neither an answer nor an end."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, _SET_FLAGS, struct.pack("16sh", b"lo", _FLAGS[state]))


def cable(sockets: str, ports: str) -> None:
    """Lead each port of this loopback to its socket, for as long as the host is there."""
    listening = [listen_on(socket.AF_INET, ("127.0.0.1", int(port))) for port in ports.split(",")]
    for found, port in zip(listening, ports.split(","), strict=True):
        threading.Thread(target=lead, args=(found, socket.AF_UNIX, str(Path(sockets) / port)), daemon=True).start()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    threading.Event().wait()


def listen_on(family: int, address: object) -> socket.socket:
    """A listening socket."""
    found = socket.socket(family, socket.SOCK_STREAM)
    if family == socket.AF_INET:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.bind(address)  # type: ignore[arg-type]
    found.listen(64)
    return found


def lead(listening: socket.socket, family: int, address: object) -> None:
    """Lead every connection to `address`, until the listening socket is closed."""
    while True:
        try:
            near, _ = listening.accept()
        except OSError:
            return
        far = socket.socket(family, socket.SOCK_STREAM)
        try:
            far.connect(address)  # type: ignore[arg-type]
        except OSError:
            near.close()
            far.close()
            continue
        for one, other in ((near, far), (far, near)):
            threading.Thread(target=_pump, args=(one, other), daemon=True).start()


def _pump(one: socket.socket, other: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := one.recv(65536):
            other.sendall(data)
    for end in (one, other):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


if __name__ == "__main__":
    {"cable": cable, "link": link}.get(sys.argv[1], lambda *_: main(*sys.argv[1:]))(*sys.argv[2:])
