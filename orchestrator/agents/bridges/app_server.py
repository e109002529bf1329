"""Codex: one turn over `codex app-server`, JSON-RPC lines without the header on standard input and output.

The handshake, then `thread/start` or `thread/resume`, then `turn/start`; the last word is `turn/completed`. Usage is
told for the thread as a whole: what the turn spent is the difference to what the thread had before it. What asks for a
person ends the turn with the question; a tool that we do not have gets an answer that says so.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence

from orchestrator.agents.bridges import conversing
from orchestrator.agents.bridges.refusals import codex_names, latest_reset, refusal
from orchestrator.agents.bridges.saying import LONGEST_TEXT, Fault, Order, Result, call, end, tokens
from orchestrator.agents.bridges.talk import Finish, Reply, Say, Send, number, shell, table, text

# What a program of ours is called by a server that logs it. The version is that of the protocol's use here.
_CLIENT = {"name": "stationkeeper", "title": "Stationkeeper", "version": "1"}

_INITIALIZE, _THREAD, _TURN, _INTERRUPT = range(1, 5)

# A request of the server that waits for a person, and what of it is the question.
_QUESTIONS: Mapping[str, str] = {
    "item/commandExecution/requestApproval": "may it run",
    "item/fileChange/requestApproval": "may it change files",
    "item/permissions/requestApproval": "may it have more permissions",
    "item/tool/requestUserInput": "it asks",
    "mcpServer/elicitation/request": "a tool server asks",
    "execCommandApproval": "may it run",
    "applyPatchApproval": "may it change files",
}
_NO_SUCH_METHOD = -32601

# The items that are calls of tools, and what tells two of them apart; the rest of an item is how it went.
_CALLS: Mapping[str, tuple[str, ...]] = {
    "commandExecution": ("command", "cwd"),
    "fileChange": ("changes",),
    "mcpToolCall": ("server", "tool", "arguments"),
    "webSearch": ("query",),
}


class AppServer:
    """Fits `talk.Talk`."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._options = order.options
        self._resumes = order.session is not None
        self._thread = ""
        self._last_message = ""
        self._before: Mapping[str, object] | None = None  # the thread's usage when the turn began
        self._resets_at = 0
        self.owed: str | None = None

    @property
    def argv(self) -> Sequence[str]:
        """The command as the workflow has it."""
        return shell(self._order.command)

    def opening(self) -> Sequence[Reply]:
        """Who we are."""
        self.owed = "initialize"
        return [Send({"id": _INITIALIZE, "method": "initialize", "params": {"clientInfo": _CLIENT}})]

    def hear(self, message: Mapping[str, object]) -> Sequence[Reply]:
        """An answer to a request of ours, a request of the server's, or a notification."""
        params = table(message.get("params"))
        match message:
            case {"id": identity, "method": str(method)}:
                return self._asked(identity, method, params)
            case {"method": str(method)}:
                return self._told(method, params)
            case {"id": int(identity)}:
                return self._answered(identity, message)
        return []

    def ended(self, code: int, complaint: str) -> Result:
        """A program that goes before `turn/completed` has failed, whatever its exit code."""
        return Result(f"the program ended with {code} before the turn did; {complaint or 'no word'}", Fault.PORT_EXIT)

    def _answered(self, identity: int, message: Mapping[str, object]) -> Sequence[Reply]:
        result = table(message.get("result"))
        if "error" in message:
            return self._refused(identity, table(message["error"]))
        if identity == _INITIALIZE:
            return [Send({"method": "initialized", "params": {}}), self._open_thread()]
        if identity == _THREAD:
            self._thread = text(table(result.get("thread")).get("id"))
            return [Say({"type": "session", "session": self._thread}), self._open_turn()]
        if identity == _TURN:
            self.owed = None
        return []

    def _refused(self, identity: int, error: Mapping[str, object]) -> Sequence[Reply]:
        """A thread that is not there any more is begun anew; any other refusal ends the turn."""
        reason = text(error.get("message")) or json.dumps(error)
        if identity == _THREAD and self._resumes:
            self._resumes = False
            told = f"{Fault.SESSION_NOT_FOUND.value}: {reason}; a new one is begun"
            return [Say({"type": "message", "text": told}), self._open_thread()]
        if identity == _INTERRUPT:
            return []
        return [Finish(Result(f"{self.owed}: {reason}", Fault.RESPONSE_ERROR))]

    def _open_thread(self) -> Send:
        self.owed = "thread/resume" if self._resumes else "thread/start"
        which = {"threadId": self._order.session} if self._resumes else {}
        # Nobody sits at the terminal; what the program may touch is the folder, as both peers have it.
        params = {
            "cwd": self._order.workspace,
            "approvalPolicy": self._options.get("approval_policy", "never"),
            "sandbox": self._options.get("thread_sandbox", "workspace-write"),
            **({"model": self._options["model"]} if "model" in self._options else {}),
        }
        return Send({"id": _THREAD, "method": self.owed, "params": {**params, **which}})

    def _open_turn(self) -> Send:
        self.owed = "turn/start"
        params: dict[str, object] = {
            "threadId": self._thread,
            "input": [{"type": "text", "text": self._order.prompt}],
        }
        if "turn_sandbox_policy" in self._options:
            params["sandboxPolicy"] = self._options["turn_sandbox_policy"]
        if "effort" in self._options:
            params["effort"] = self._options["effort"]
        return Send({"id": _TURN, "method": "turn/start", "params": params})

    def _asked(self, identity: object, method: str, params: Mapping[str, object]) -> Sequence[Reply]:
        if method == "item/tool/call":
            said = {"type": "inputText", "text": f"there is no tool {params.get('tool')!r} here; go on without it"}
            told = Say(call(text(params.get("tool")), params.get("arguments")))
            return [told, Send({"id": identity, "result": {"success": False, "contentItems": [said]}})]
        if (question := _QUESTIONS.get(method)) is None:
            error = {"code": _NO_SUCH_METHOD, "message": f"{method}: not supported by this client"}
            return [Send({"id": identity, "error": error})]
        asked = f"{question}: {_shown(params)} (nobody answers during a turn)"
        stop = {"threadId": params.get("threadId"), "turnId": params.get("turnId")}
        return [
            Send({"id": _INTERRUPT, "method": "turn/interrupt", "params": stop}),
            Finish(Result(asked, Fault.INPUT_REQUIRED)),
        ]

    def _told(self, method: str, params: Mapping[str, object]) -> Sequence[Reply]:
        match method:
            case "item/completed":
                return self._completed(table(params.get("item")))
            case "thread/tokenUsage/updated":
                return self._spent(params)
            case "account/rateLimits/updated":
                self._resets_at = latest_reset(table(params.get("rateLimits"))) or self._resets_at
            case "turn/completed" if params.get("threadId") == self._thread:
                return [Finish(self._judged(table(params.get("turn"))))]
        return []

    def _completed(self, item: Mapping[str, object]) -> Sequence[Reply]:
        kind, said = text(item.get("type")), text(item.get("text")).strip()
        if kind in _CALLS:
            return [Say(call(kind, [item.get(key) for key in _CALLS[kind]]))]
        if kind != "agentMessage" or not said:
            return []
        self._last_message = said
        return [Say({"type": "message", "text": said[:LONGEST_TEXT]})]

    def _spent(self, params: Mapping[str, object]) -> Sequence[Reply]:
        """A resumed thread first tells what it had; a new one had all but its first request's."""
        usage = table(params.get("tokenUsage"))
        total, last = table(usage.get("total")), table(usage.get("last"))
        if params.get("threadId") != self._thread:
            return []  # of a helper's thread: its own count
        if self._before is None:
            if self.owed:  # no turn of ours has begun
                self._before = total
                return []
            self._before = {name: number(total.get(name)) - number(last.get(name)) for name in total}
        since = {name: max(0, number(total[name]) - number(self._before.get(name))) for name in total}
        given, cached = number(since.get("inputTokens")), number(since.get("cachedInputTokens"))
        return [Say(tokens(given=given, cached=cached, made=number(since.get("outputTokens"))))]

    def _judged(self, turn: Mapping[str, object]) -> Result:
        if turn.get("status") == "completed":
            return Result(self._last_message)
        if turn.get("status") == "interrupted":
            return Result("the turn was interrupted", Fault.TURN_CANCELLED)
        error = table(turn.get("error"))
        return refusal(text(error.get("message")), names=codex_names(error), resets_at=self._resets_at)


def _shown(params: Mapping[str, object]) -> str:
    """What a person needs to see of a request."""
    for key in ("command", "reason", "message", "questions", "permissions", "fileChanges"):
        if params.get(key):
            return text(params[key]) or json.dumps(params[key])
    return text(params.get("itemId")) or "without a word"


def main() -> int:
    """The turn that standard input orders; returns the exit code."""
    order = conversing.prepare()
    return end(conversing.Conversation(AppServer(order), order).hold())


if __name__ == "__main__":
    sys.exit(main())
