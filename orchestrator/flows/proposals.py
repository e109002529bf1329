"""What an agent program is told beside its prompt, and the proposal that it left, which is read with suspicion."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orchestrator.domain.call import PROPOSAL_FILE

_TOLD = """\

Propose one JSON object. Write it to the file {file} in the current folder, or give it, and nothing else, as your
summary. It has to fit this schema; what becomes of it is decided elsewhere:

{schema}
"""


def asked(prompt: str, schema: Mapping[str, object]) -> str:
    """The whole prompt."""
    return f"{prompt.rstrip()}\n{_TOLD.format(file=PROPOSAL_FILE, schema=json.dumps(schema, indent=2))}"


def described(known: Mapping[str, Any]) -> str:
    """What a decision without a prompt of its own tells: everything that its flow knows by then, as JSON."""
    return f"Decide by what is known:\n\n{json.dumps(known, indent=2)}"


def left(folder: Path, summary: str, *, at_most: int) -> bytes | str:
    """The file's content, at most a byte more than allowed; the summary where there is no file.

    Raises:
        ValueError: the file is none, or cannot be read: a link is not followed, a pipe is not waited for.
    """
    path = folder / PROPOSAL_FILE
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return summary
    except OSError as error:
        raise ValueError(f"{PROPOSAL_FILE} cannot be read ({error.strerror}); expected a plain file") from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ValueError(f"{PROPOSAL_FILE} is no plain file")
        with open(handle, "rb", closefd=False) as file:
            return file.read(at_most + 1)
    finally:
        os.close(handle)
