"""What an agent program may say of its turn, read with suspicion: the program is not ours, and neither is the file.

A report is an object with `outcome` and, as it likes, `summary`, `reason`, `session`, `usage`, `retry_after_seconds`.
"""

import os
import stat
from pathlib import Path
from typing import Annotated

import pydantic

from orchestrator.domain.turn import Outcome

LONGEST_BYTES = 64 * 1024

# A day: a rate limit of a model provider is hours at most, and a slip of a unit must not park a card for years.
LONGEST_RETRY_SECONDS = 86_400

# What a board's comment and a terminal can show of it.
LONGEST_TEXT = 4_000

Text = Annotated[str, pydantic.AfterValidator(lambda text: text.replace("\0", "").strip()[:LONGEST_TEXT])]


class BadReport(Exception):
    """The report cannot be used; the message says where it was, what is wrong and what was expected."""


class Report(pydantic.BaseModel):
    """The program's own word on its turn. Keys that we do not know are left aside."""

    model_config = pydantic.ConfigDict(frozen=True)

    outcome: Outcome
    summary: Text = ""
    reason: Text = ""
    session: Text | None = None
    usage: dict[str, pydantic.JsonValue] = {}
    fault: Text = ""  # how it failed, in the words of a bridge of ours; of no other program it counts
    retry_after_seconds: Annotated[float | None, pydantic.Field(ge=0, le=LONGEST_RETRY_SECONDS)] = None


def parse(text: bytes, *, place: str) -> Report:
    """The report that `text` spells.

    Raises:
        BadReport: it is no JSON object, or a field has no such value.
    """
    try:
        return Report.model_validate_json(text)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        found = "" if first["type"] in {"json_invalid", "missing"} else f"found {str(first['input'])[:100]!r}; "
        raise BadReport(f"{place}: {field + ': ' if field else ''}{found}{first['msg']}") from error


def read(path: Path) -> Report | None:
    """The report in the file; None when the program wrote none, or an empty one.

    Raises:
        BadReport: it is not a plain file of at most `LONGEST_BYTES`, or no report.
    """
    try:
        text = _content(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadReport(f"{path}: cannot be read ({error.strerror}); expected a plain file") from error
    if len(text) > LONGEST_BYTES:
        raise BadReport(f"{path}: longer than {LONGEST_BYTES} bytes")
    return parse(text, place=path.name) if text.strip() else None


def _content(path: Path) -> bytes:
    """At most one byte more than allowed. A link is not followed, and neither a pipe nor a device can make us wait."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise BadReport(f"{path}: expected a plain file")
        with open(handle, "rb", closefd=False) as file:
            return file.read(LONGEST_BYTES + 1)
    finally:
        os.close(handle)
