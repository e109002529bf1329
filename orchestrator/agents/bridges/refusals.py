"""What a provider's refusal means, as each program words it: who must act, and how long to wait."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping

from orchestrator.agents.bridges.saying import WAIT_SECONDS, Fault, Result
from orchestrator.agents.bridges.talk import number, table, text

# By HTTP status. What is not here passes by itself, or does not: another try finds out.
_STATUSES: Mapping[int, Fault] = {401: Fault.AUTH, 402: Fault.AUTH, 403: Fault.AUTH, 429: Fault.RATE_LIMITED}

# Codex's names (`CodexErrorInfo`) and Claude Code's (`error` of a message).
_NAMES: Mapping[str, Fault] = {
    "unauthorized": Fault.AUTH,
    "usageLimitExceeded": Fault.RATE_LIMITED,
    "rateLimitExceeded": Fault.RATE_LIMITED,
    "authentication_failed": Fault.AUTH,
    "oauth_org_not_allowed": Fault.AUTH,
    "billing_error": Fault.AUTH,
    "rate_limit": Fault.RATE_LIMITED,
}

# Said without a status or a name, by a program that has nothing to ask with.
_UNSAID = re.compile(r"not logged in|please run /login|missing environment variable|invalid api key", re.IGNORECASE)


def refusal(message: str, *, names: Mapping[str, object], resets_at: int = 0) -> Result:
    """The failed turn. `names` says how the program names the error, with an HTTP status where it has one.

    `resets_at` is when a spent limit is filled again (seconds since 1970), 0 where nobody said.
    """
    fault = _named(names) or (Fault.AUTH if _UNSAID.search(message) else Fault.TURN_FAILED)
    wait = None
    if fault is Fault.RATE_LIMITED:
        wait = max(resets_at - time.time(), WAIT_SECONDS) if resets_at else WAIT_SECONDS
    return Result(message or "no reason was given", fault, wait)


def codex_names(error: Mapping[str, object]) -> dict[str, object]:
    """Name and status of `turn.error`: its info is a name, or one name with a table that has the status."""
    info = error.get("codexErrorInfo")
    if isinstance(info, str):
        return {"name": info}
    inner = next((table(value) for value in table(info).values()), {})
    return {"status": inner.get("httpStatusCode")}


def latest_reset(limits: Mapping[str, object]) -> int:
    """When the windows of a rate limit that are used up are filled again; 0 when none is."""
    windows = [table(limits.get(name)) for name in ("primary", "secondary")]
    spent = [number(window.get("resetsAt")) for window in windows if number(window.get("usedPercent")) >= _ALL_PERCENT]
    return max(spent, default=0)


_ALL_PERCENT = 100


def _named(names: Mapping[str, object]) -> Fault | None:
    return _STATUSES.get(number(names.get("status"))) or _NAMES.get(text(names.get("name")))
