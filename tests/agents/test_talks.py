"""Two protocols without a program at the other end: what each line means, also those that no program of ours says."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.agents.bridges.app_server import AppServer
from orchestrator.agents.bridges.saying import Fault, Order
from orchestrator.agents.bridges.stream_json import StreamJson
from orchestrator.agents.bridges.talk import Finish, Say, Send

ORDER = Order("agent", "Do it.", None, "/w", 5)


def begun(session=None):
    """An app-server whose turn has begun."""
    talk = AppServer(Order("codex", "Do it.", session, "/w", 5))
    talk.opening()
    for message in ({"id": 1, "result": {}}, {"id": 2, "result": {"thread": {"id": "t"}}}, {"id": 3, "result": {}}):
        talk.hear(message)
    return talk


def usage(total, last, thread="t"):
    """The server's word on what a thread has spent."""
    told = {name: {"inputTokens": count, "outputTokens": 1} for name, count in (("total", total), ("last", last))}
    return {"method": "thread/tokenUsage/updated", "params": {"threadId": thread, "tokenUsage": told}}


def inputs(talk, *messages):
    """The input tokens that each message made it tell."""
    replies = [reply for message in messages for reply in talk.hear(message)]
    return [reply.line["input_tokens"] for reply in replies if isinstance(reply, Say)]


@pytest.mark.proves("AE-06")
def test_a_resumed_thread_that_does_not_say_what_it_had_is_counted_all_the_same():
    """All but the first request of the turn was spent before it; saying a sum twice counts it once."""
    assert inputs(begun("t"), usage(700, 100), usage(700, 100), usage(900, 200)) == [100, 100, 300]


def test_a_helpers_thread_is_neither_the_turns_usage_nor_its_end():
    """A thread that the agent started has its own count and its own last word."""
    talk = begun()
    assert inputs(talk, usage(50, 50, thread="other")) == []
    done = {"method": "turn/completed", "params": {"threadId": "other", "turn": {"status": "completed"}}}
    assert talk.hear(done) == []


@pytest.mark.parametrize("identity", [0, "seven"])
def test_a_request_that_nobody_here_knows_is_refused_and_the_turn_goes_on(identity):
    """It is answered under its own id, whatever that is."""
    (reply,) = begun().hear({"id": identity, "method": "attestation/generate", "params": {}})
    assert isinstance(reply, Send)
    assert (reply.message["id"], reply.message["error"]["code"]) == (identity, -32601)


@pytest.mark.parametrize("identity", [1, 3])
def test_a_request_of_ours_that_is_refused_ends_the_turn(identity):
    """With the request's name and the server's words."""
    talk = AppServer(ORDER)
    talk.opening()
    if identity == 3:
        talk = begun()
        talk.owed = "turn/start"
    (reply,) = talk.hear({"id": identity, "error": {"code": -32600, "message": "no"}})
    assert isinstance(reply, Finish)
    assert (reply.result.fault, reply.result.text.partition(": ")[2]) == (Fault.RESPONSE_ERROR, "no")


def test_a_turn_that_somebody_interrupted_is_cancelled():
    """It is no success, and no failure of the model's."""
    (reply,) = begun().hear(
        {"method": "turn/completed", "params": {"threadId": "t", "turn": {"status": "interrupted"}}}
    )
    assert reply.result.fault is Fault.TURN_CANCELLED


def test_a_good_last_word_counts_only_with_a_good_exit():
    """Claude Code's `is_error` and exit code both have to be right; its `subtype` says success even of a failure."""
    talk = StreamJson(ORDER)
    talk.hear({"type": "result", "subtype": "success", "is_error": False, "result": "Fine."})
    assert (talk.ended(0, "").fault, talk.ended(1, "").fault) == (None, Fault.PORT_EXIT)
    talk.hear({"type": "result", "subtype": "success", "is_error": True, "result": "API Error: 500"})
    assert talk.ended(0, "").fault is Fault.TURN_FAILED


def test_usage_by_model_is_that_of_this_run_and_has_its_cost():
    """Helpers' models are in it; what the session spent before is not."""
    model = {"inputTokens": 5, "cacheReadInputTokens": 20, "cacheCreationInputTokens": 10, "outputTokens": 3}
    line = {"type": "result", "modelUsage": {"a": {"inputTokens": 9000}}}
    told = {"model_usage_since_last_result": {"a": {**model, "costUSD": 0.5}, "b": {**model, "costUSD": 0.25}}}
    (reply,) = StreamJson(ORDER).hear({**line, **told})
    assert reply.line["input_tokens"] == 70
    assert (reply.line["cached_input_tokens"], reply.line["output_tokens"], reply.line["cost_usd"]) == (40, 6, 0.75)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["id", "turn", "text"]), inner),
    max_leaves=6,
)
NAMES = st.sampled_from(["id", "method", "params", "result", "error", "type", "message", "subtype", "usage"])
WORDS = st.sampled_from(
    ["turn/completed", "item/completed", "thread/tokenUsage/updated", "assistant", "result", "system"]
)


@pytest.mark.proves("AE-03")
@given(st.lists(st.dictionaries(NAMES, WORDS | VALUES), max_size=4))
def test_no_line_of_a_program_breaks_a_talk(messages):
    """Whatever objects a program says, replies follow that can be said, and an end that can be told."""
    for talk in (begun(), StreamJson(ORDER)):
        for message in messages:
            for reply in talk.hear(message):
                if isinstance(reply, Say):
                    json.dumps(reply.line)
        assert talk.ended(1, "").fault
