"""The lock of a workspace: the same `flock` that a supervisor passes on to every agent and hook in it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator.ports.workspaces import WorkspaceBusy


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold it for the length of the block. Raises WorkspaceBusy at once while any process of a turn holds it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            message = f"{path}: a process of another turn holds the workspace; it is tried again later"
            raise WorkspaceBusy(message) from error
        yield
    finally:
        os.close(handle)
