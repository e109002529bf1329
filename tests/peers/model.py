"""A model's provider on this machine, for real agent programs: it answers as the prompt says, in both vendors' words.

`RUN[command]` in the prompt has the program's shell run the command; `HANG` never answers; `REFUSE[429]` is
that status. After a command has run, or without any of these, the model says that all is done. Each request spends the
same, and has names of its own: a program tells the calls of a session apart by them.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DONE = "All is done."
# What one request spends; the input includes what came from the cache.
INPUT, CACHED, OUTPUT = 100, 20, 25

_DEED = re.compile(r"RUN\[(?P<run>.*?)\]|(?P<hang>HANG)|REFUSE\[(?P<refuse>\d+)\]")


@contextmanager
def at_work() -> Iterator[str]:
    """The provider's address, while it answers."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Provider)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        _Provider.closing.set()
        server.shutdown()
        server.server_close()
        _Provider.closing.clear()


class _Provider(BaseHTTPRequestHandler):
    """One request: `/v1/responses` as OpenAI has it, `/v1/messages` as Anthropic has it."""

    protocol_version = "HTTP/1.1"
    closing = threading.Event()

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        """Whether somebody is there."""
        self._answer(200, {})

    def do_GET(self) -> None:
        """Lists of things that there are none of."""
        self._answer(200, {"object": "list", "data": [], "models": []})

    def do_POST(self) -> None:
        """The model's turn."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)) or b"{}")
        with contextlib.suppress(ConnectionError):
            if "count_tokens" in self.path:
                self._answer(200, {"input_tokens": INPUT})
            elif self.path.partition("?")[0].endswith("/messages"):
                self._act(asked.get("messages", []), _anthropic(asked))
            else:
                self._act(asked.get("input", []), _openai(asked))

    def _act(self, said: Sequence[Mapping[str, Any]], answers: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        deed = _deed(said)
        if deed and deed["refuse"]:
            error = {"type": "api_error", "message": f"refused with {deed['refuse']}"}
            self._answer(int(deed["refuse"]), {"type": "error", "error": error})
        elif deed and deed["hang"]:
            self._stream([])
            self.closing.wait()
        else:
            self._stream(answers["run" if deed else "say"])
            self.wfile.write(b"0\r\n\r\n")

    def _stream(self, events: Sequence[Mapping[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events:
            text = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))
            self.wfile.flush()

    def _answer(self, status: int, body: object) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)


def _deed(said: Sequence[Mapping[str, Any]]) -> re.Match[str] | None:
    """What the last word of the person asks for; None once a command has answered, or without one."""
    heard = [one for one in said if one.get("role") not in {"system", "developer"} and one.get("type") != "reasoning"]
    last = heard[-1] if heard else {}
    if str(last.get("type", "")).endswith("call_output") or "tool_result" in json.dumps(last.get("content")):
        return None
    told = [text for one in heard if one.get("role") == "user" for text in _texts(one.get("content"))]
    return next(reversed(list(_DEED.finditer("\n".join(told)))), None)


def _texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else []:
        if isinstance(part.get("text"), str):
            yield part["text"]


def _command(said: Sequence[Mapping[str, Any]]) -> str:
    deed = _deed(said)
    return (deed and deed["run"]) or "true"


def _new(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex}"


def _openai(asked: Mapping[str, Any]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    usage = {
        "input_tokens": INPUT,
        "input_tokens_details": {"cached_tokens": CACHED},
        "output_tokens": OUTPUT,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": INPUT + OUTPUT,
    }
    words = {"cmd": _command(asked.get("input", [])), "yield_time_ms": 250_000}
    call = {"type": "function_call", "id": _new("fc"), "call_id": _new("call"), "name": "exec_command"}
    text = {"type": "output_text", "text": DONE, "annotations": []}
    items = {
        "run": {**call, "arguments": json.dumps(words), "status": "completed"},
        "say": {"type": "message", "id": _new("msg"), "role": "assistant", "status": "completed", "content": [text]},
    }
    return {
        name: [
            {"type": "response.created", "response": {"id": "r1", "status": "in_progress"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": "r1", "status": "completed", "usage": usage}},
        ]
        for name, item in items.items()
    }


def _anthropic(asked: Mapping[str, Any]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    command = {"command": _command(asked.get("messages", [])), "description": "as told"}
    tool = {"type": "tool_use", "id": _new("toolu"), "name": "Bash", "input": {}}
    blocks = {
        "run": (tool, {"type": "input_json_delta", "partial_json": json.dumps(command)}, "tool_use"),
        "say": ({"type": "text", "text": ""}, {"type": "text_delta", "text": DONE}, "end_turn"),
    }
    begun = {"input_tokens": INPUT - CACHED, "cache_read_input_tokens": CACHED, "output_tokens": 1}
    message = {"id": _new("msg"), "type": "message", "role": "assistant", "model": asked.get("model"), "content": []}
    return {
        name: [
            {"type": "message_start", "message": {**message, "stop_reason": None, "usage": begun}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": OUTPUT}},
            {"type": "message_stop"},
        ]
        for name, (block, delta, stop) in blocks.items()
    }
