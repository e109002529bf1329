"""The blocks of agent kinds: what stands there as in a peer's file, judged with its line, when the kind is in use."""

import pytest

from orchestrator.agents.bridges.app_server import AppServer
from orchestrator.agents.bridges.saying import Order
from orchestrator.agents.codex import CODEX
from orchestrator.workflow import blocks
from tests.workflow.test_blocks import BASE, TRACKER, parse, sentences, warnings


@pytest.mark.proves("CF-04")
def test_the_command_and_the_clocks_of_a_peers_block_are_the_agents():
    """They stand in the block of the kind there, and beat those of the block `agent`."""
    clocks = "codex: {command: my codex, turn_timeout_ms: 9, stall_timeout_ms: 0, read_timeout_ms: 7}\n"
    agent = parse(TRACKER + "agent: {turn_timeout_ms: 5, command: other}\n" + clocks).agent
    assert (agent.kind, agent.command) == ("codex", "my codex")
    assert (agent.turn_timeout_ms, agent.stall_timeout_ms, agent.read_timeout_ms) == (9, 0, 7)


def test_what_a_block_leaves_out_is_that_of_the_agent():
    """The block `agent` serves every kind."""
    agent = parse(TRACKER + "agent: {turn_timeout_ms: 5, kind: claude-code, command: claude}\nclaude-code: {}\n").agent
    assert (agent.kind, agent.command, agent.turn_timeout_ms) == ("claude-code", "claude", 5)


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("codex: {turn_timeout_ms: soon}\n", "7: 'codex.turn_timeout_ms': found 'soon', expected a whole number"),
        ("codex: {turn_sandbox_policy: off}\n", "7: 'codex.turn_sandbox_policy': found false"),
        ("codex: [x]\n", "7: 'codex': found a list, expected keys with values"),
        (
            "agent: {kind: claude-code}\nclaude-code:\n  max_budget_usd: 0\n",
            "9: 'claude-code.max_budget_usd': found 0, expected more than 0",
        ),
        ("agent: {kind: claude-code}\nclaude-code:\n  model: 5\n", "9: 'claude-code.model': found 5, expected a text"),
    ],
)
def test_a_value_that_does_not_fit_has_its_line(block, said):
    """The settings of the kind in use are judged as those of any block."""
    (found,) = sentences(TRACKER + block)
    assert found.startswith(said)


def test_wrong_values_of_all_blocks_are_told_at_once():
    """Nobody mends a file one error at a time."""
    found = sentences(TRACKER + "agent: {max_turns: 0}\ncodex: {model: 5}\n")
    assert [line.partition(":")[0] for line in found] == ["7", "8"]


@pytest.mark.proves("SC-11")
def test_unknown_keys_of_the_block_in_use_are_a_warning():
    """With the closest key, like elsewhere; the block of another kind is told as a whole, its values hurt nobody."""
    (slip,) = warnings(TRACKER + "codex: {aproval_policy: never}\n")
    assert slip.endswith("unknown key 'codex.aproval_policy' is not read; did you mean 'codex.approval_policy'?")
    (unused,) = warnings(BASE + "claude-code: {model: [1]}\n")
    assert unused.endswith("'claude-code' is not used, since 'agent.kind' is 'command'")


def test_a_map_of_tool_servers_is_seen_from_the_files_folder():
    """The program runs in another folder than the file's."""
    agent = parse(TRACKER + "agent: {kind: claude-code}\nclaude-code: {mcp_config: ./servers.json}\n").agent
    assert str(agent.options["mcp_config"]).startswith("/")


def test_what_the_page_fills_in_is_what_the_bridge_fills_in():
    """The defaults of the block and those of the program that is started are one."""
    talk = AppServer(Order(CODEX.command, "p", None, "/w", 5))
    talk.opening()
    sent = [reply.message for reply in talk.hear({"id": 1, "result": {}})]
    told = blocks.Codex()
    assert CODEX.command == told.command
    assert sent[1]["params"] == {
        "cwd": "/w",
        "approvalPolicy": told.approval_policy,
        "sandbox": told.thread_sandbox,
    }
