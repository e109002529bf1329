"""What we say to Codex, and what our stand-in of it says, is what the program itself prints as its protocol."""

from __future__ import annotations

import json
import os
import subprocess
from itertools import islice

import pytest

from orchestrator.agents.bridges.app_server import AppServer
from orchestrator.agents.bridges.saying import Order
from orchestrator.agents.bridges.talk import Send
from tests.agents.behaviours import standin
from tests.peers import places, schema

pytestmark = pytest.mark.peer

# What an order may hold, and a session to go on with.
OPTIONS = {
    "turn_sandbox_policy": {"type": "workspaceWrite"},
    "effort": "high",
    "model": "m",
    "approval_policy": "never",
}
ORDERS = [Order("codex", "Do it.", None, "/w", 5, OPTIONS), Order("codex", "Do it.", "a-thread", "/w", 5)]
WHERE = {"threadId": "t", "turnId": "u"}
# What the server says, in the order in which we then say all that we ever say.
HEARD = [
    {"id": 1, "result": {}},
    {"id": 2, "result": {"thread": {"id": "t"}}},
    {"id": 3, "result": {}},
    {"id": 0, "method": "item/commandExecution/requestApproval", "params": {**WHERE, "command": "rm"}},
]
# Enough of an endless stream.
LINES = 20


@pytest.fixture(scope="module")
def fits(tmp_path_factory):
    """Whether a message is one of a kind, by the program's own schemas."""
    folder = tmp_path_factory.mktemp("schema")
    words = [str(places.codex()), "app-server", "generate-json-schema", "--out", str(folder)]
    surroundings = {"PATH": os.environ["PATH"], "HOME": str(folder), "CODEX_HOME": str(folder)}
    subprocess.run(words, check=True, capture_output=True, env=surroundings, timeout=60)

    def judge(message, kind):
        whole = json.loads((folder / f"{kind}.json").read_text())
        return schema.fits(message, whole, whole)

    return judge


def said(order):
    """Everything that we say in a turn."""
    talk = AppServer(order)
    replies = [*talk.opening(), *(reply for message in HEARD for reply in talk.hear(message))]
    return [reply.message for reply in replies if isinstance(reply, Send)]


@pytest.mark.parametrize("order", ORDERS, ids=["a new thread", "a resumed one"])
def test_what_we_say_is_the_programs_protocol(fits, order):
    """Requests and notifications of ours, with every setting that we hand on."""
    sent = said(order)
    assert len(sent) == 5
    kinds = [(message, "ClientRequest" if "id" in message else "ClientNotification") for message in sent]
    assert [message for message, kind in kinds if not fits(message, kind)] == []
    assert not fits({**sent[0], "params": {}}, "ClientRequest")  # the judge can say no


def test_what_we_answer_is_the_programs_protocol(fits):
    """A tool that we do not have is answered in the shape of a tool's answer."""
    asked = {"id": 7, "method": "item/tool/call", "params": {**WHERE, "tool": "oracle"}}
    (reply,) = [each for each in AppServer(ORDERS[0]).hear(asked) if isinstance(each, Send)]
    assert fits(reply.message["result"], "DynamicToolCallResponse")


@pytest.mark.parametrize("deed", ["work", "ask", "tool", "401", "429", "500", "limit", "chatter"])
def test_what_the_stand_in_says_is_the_programs_protocol(fits, deed, tmp_path):
    """Its notifications and requests; what it answers is as much of an answer as we read."""
    pipe = subprocess.PIPE
    words = ["sh", "-c", f"exec {standin('codex', deed)}"]
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, cwd=tmp_path) as program:
        assert program.stdin
        assert program.stdout
        program.stdin.writelines(json.dumps(message).encode() + b"\n" for message in said(ORDERS[0])[:4])
        program.stdin.close()
        told = [json.loads(line) for line in islice(program.stdout, LINES)]
        program.kill()
    kinds = [(line, "ServerRequest" if "id" in line else "ServerNotification") for line in told if "method" in line]
    assert kinds
    assert [line for line, kind in kinds if not fits(line, kind)] == []
