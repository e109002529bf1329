"""Claude Code: one turn of `claude -p`, the prompt on its standard input, one JSON object a line on its output.

Judged by `is_error` and the exit code, not by `subtype`: an error of the model's API ends as a "success" that is one.
Usage is that of this run: some versions add up `modelUsage` and cost over the runs of a session.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from orchestrator.agents.bridges import conversing
from orchestrator.agents.bridges.refusals import refusal
from orchestrator.agents.bridges.saying import LONGEST_TEXT, Fault, Order, Result, call, end, say, tokens
from orchestrator.agents.bridges.talk import Reply, Say, Write, number, shell, table, text

# Settings that are handed on as they are, each as the flag's value.
_FLAGS: Mapping[str, str] = {
    "model": "--model",
    "fallback_model": "--fallback-model",
    "max_turns": "--max-turns",
    "max_budget_usd": "--max-budget-usd",
    "effort": "--effort",
    "allowed_tools": "--allowedTools",
    "disallowed_tools": "--disallowedTools",
    "system_prompt": "--append-system-prompt",
    "mcp_config": "--mcp-config",
}
# The tool by which the model asks a person: without one it is denied, and the model goes on as if it had been answered.
_ASKING = "AskUserQuestion"
_NO_SESSION = "No conversation found"


class StreamJson:
    """Fits `talk.Talk`."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._result: Mapping[str, object] | None = None
        self._error_name = ""
        self._resets_at = 0
        self._last_message = ""
        self._spent: dict[str, Mapping[str, object]] = {}  # the largest usage of each message so far
        self.owed: str | None = None  # its first line waits for the model's provider: no answer is due

    @property
    def argv(self) -> Sequence[str]:
        """The command with its flags. Without a permission mode nobody is asked, as in the peer."""
        options = self._order.options
        words = ["-p", "--output-format", "stream-json", "--verbose"]
        mode = text(options.get("permission_mode"))
        words += ["--permission-mode", mode] if mode else ["--dangerously-skip-permissions"]
        for name, flag in _FLAGS.items():
            if name in options:
                words += [flag, str(options[name])]
        if self._order.session is not None:
            words += ["--resume", self._order.session]
        return shell(self._order.command, *words)

    def opening(self) -> Sequence[Reply]:
        """The prompt, which is all that it reads."""
        return [Write(self._order.prompt.encode(errors="replace"))]

    def hear(self, message: Mapping[str, object]) -> Sequence[Reply]:
        """One line: who it is, what the model said, what it waits for, how it ended."""
        match message.get("type"):
            case "system" if message.get("subtype") == "init":
                return [Say({"type": "session", "session": text(message.get("session_id"))})]
            case "system" if message.get("subtype") == "api_retry":
                self._error_name = text(message.get("error"))
            case "assistant":
                return self._spoke(message)
            case "rate_limit_event":
                self._limited(table(message.get("rate_limit_info")))
            case "result":
                self._result = message
                return [Say(_usage(message))]
        return []

    def ended(self, code: int, complaint: str) -> Result:
        """The ladder: no last word, a question, a clean end, a session that is gone, a refusal."""
        result = self._result
        if result is None:
            return Result(f"the program ended with {code} and no last word; {complaint or 'no word'}", Fault.PORT_EXIT)
        if question := _question(result):
            return Result(question, Fault.INPUT_REQUIRED)
        if result.get("is_error") is False and code == 0:
            return Result(text(result.get("result")).strip() or self._last_message)
        reason = _reason(result) or complaint
        if _NO_SESSION in reason:
            return Result(reason, Fault.SESSION_NOT_FOUND)
        if result.get("is_error") is False:
            return Result(f"the program ended with {code} after a good last word; {complaint}", Fault.PORT_EXIT)
        names = {"status": result.get("api_error_status"), "name": self._error_name}
        return refusal(reason, names=names, resets_at=self._resets_at)

    def _spoke(self, line: Mapping[str, object]) -> Sequence[Reply]:
        message = table(line.get("message"))
        self._error_name = text(line.get("error")) or ""
        self._spent[text(message.get("id"))] = table(message.get("usage"))
        content = message.get("content")
        parts = [table(part) for part in content] if isinstance(content, list) else []
        calls = [Say(call(text(one.get("name")), one.get("input"))) for one in parts if one.get("type") == "tool_use"]
        said = "".join(text(part.get("text")) for part in parts).strip()
        usage = Say(_added(list(self._spent.values())))
        if not said:
            return [*calls, usage]
        self._last_message = said
        return [Say({"type": "message", "text": said[:LONGEST_TEXT]}), *calls, usage]

    def _limited(self, info: Mapping[str, object]) -> None:
        if info.get("status") == "rejected":
            self._resets_at = number(info.get("resetsAt"))


def _usage(result: Mapping[str, object]) -> dict[str, object]:
    """What this run spent: by model where the program tells it of this run alone, else its own sum."""
    models = [table(model) for model in table(result.get("model_usage_since_last_result")).values()]
    if not models:
        return _added([table(result.get("usage"))])
    cached = sum(number(model.get("cacheReadInputTokens")) for model in models)
    fresh = sum(number(model.get("inputTokens")) + number(model.get("cacheCreationInputTokens")) for model in models)
    made = sum(number(model.get("outputTokens")) for model in models)
    costs = [cost for model in models if isinstance(cost := model.get("costUSD"), float | int)]
    return {**tokens(given=fresh + cached, cached=cached, made=made), "cost_usd": round(sum(costs), 6)}


def _added(usages: Sequence[Mapping[str, object]]) -> dict[str, object]:
    cached = sum(number(usage.get("cache_read_input_tokens")) for usage in usages)
    fresh = sum(
        number(usage.get("input_tokens")) + number(usage.get("cache_creation_input_tokens")) for usage in usages
    )
    return tokens(given=fresh + cached, cached=cached, made=sum(number(usage.get("output_tokens")) for usage in usages))


def _question(result: Mapping[str, object]) -> str:
    denials = result.get("permission_denials")
    for denial in map(table, denials if isinstance(denials, list) else []):
        if denial.get("tool_name") == _ASKING:
            asked = table(denial.get("tool_input")).get("questions")
            questions = [text(table(one).get("question")) for one in asked] if isinstance(asked, list) else []
            return " ".join(filter(None, questions)) or "it asks a person, and does not say what"
    return ""


def _reason(result: Mapping[str, object]) -> str:
    errors = result.get("errors")
    told = [text(result.get("result")), *(map(text, errors) if isinstance(errors, list) else [])]
    return "; ".join(filter(None, told)) or text(result.get("subtype"))


def main() -> int:
    """The turn that standard input orders; returns the exit code."""
    order = conversing.prepare()
    result = conversing.Conversation(StreamJson(order), order).hold()
    if result.fault is Fault.SESSION_NOT_FOUND and order.session is not None:
        say({"type": "message", "text": f"{result.fault.value}: {result.text}; a new one is begun"})
        order = order.without_session()
        result = conversing.Conversation(StreamJson(order), order).hold()
    return end(result)


if __name__ == "__main__":
    sys.exit(main())
