"""Which folder a root is: an id in a file of it, made at its first use, by which hosts find out whether all see it.

The file comes whole or not at all, so two hosts that use a new root at once read one id.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from uuid import uuid4

# Ours, beside the workspaces.
FILE = ".root"


def id_of(root: Path) -> str:
    """The root's id; a root without one gets a new one. Raises OSError."""
    file = root / FILE
    if not file.exists():
        draft = root / f"{FILE}.{uuid4().hex}"
        draft.write_text(uuid4().hex, encoding="ascii")
        with contextlib.suppress(FileExistsError):
            file.hardlink_to(draft)
        draft.unlink()
    return file.read_text(encoding="ascii", errors="replace").strip()
