"""The keys of a workflow: strict types with sentences for people, a warning for what nobody reads."""

from pathlib import Path

import pytest

from orchestrator.domain.workflow import Hook
from orchestrator.ports.workflows import WorkflowInvalid
from orchestrator.workflow import WorkflowFiles, variables

TRACKER = "tracker:\n  kind: backlog\n  path: board\n  active_states: [To Do]\n  terminal_states: [Done]\n"
AGENT = "agent:\n  command: ./agent\n"
BASE = TRACKER + AGENT
PATH = Path("flows/WORKFLOW.md")


def parse(front):
    """What this front matter means."""
    return WorkflowFiles([], environment={}).parse(f"---\n{front}---\n", path=PATH)


def sentences(front):
    """What is wrong with this front matter, a line of the file to each."""
    with pytest.raises(WorkflowInvalid) as caught:
        parse(front)
    assert caught.value.code == "workflow_parse_error"
    return [f"{place}: {message}".removeprefix("flows/WORKFLOW.md:") for place, message in caught.value.findings]


def warnings(front):
    """The warnings for this front matter, a line of the file to each."""
    return [line.removeprefix("flows/WORKFLOW.md:") for line in parse(front).warnings]


@pytest.mark.parametrize(
    ("front", "said"),
    [
        (AGENT, "1: 'tracker' is missing; for a Backlog.md board write these five lines"),
        ("tracker: 5\n" + AGENT, "2: 'tracker': found 5, expected keys with values; for a Backlog.md"),
        (TRACKER.replace("kind: backlog\n  ", "") + AGENT, "2: 'tracker.kind' is missing; for a Backlog.md folder"),
        (TRACKER, "1: 'agent.command' is missing; write the shell command"),
        (BASE.replace("[Done]", "Done"), "6: 'tracker.terminal_states': found 'Done', expected a list; write [Done]"),
        (BASE.replace("[Done]", "[Done, no]"), "6: 'tracker.terminal_states[1]': found false (YAML reads yes, no"),
        (BASE + "  max_turns: '3'\n", "9: 'agent.max_turns': found '3', expected a whole number"),
        (BASE + "  max_turns: 0\n", "9: 'agent.max_turns': found 0, expected 1 or more"),
        (BASE + "  max_repeated_calls: -1\n", "9: 'agent.max_repeated_calls': found -1, expected 0 or more"),
        (BASE + "  max_turns: yes\n", "9: 'agent.max_turns': found true (YAML"),
        (BASE + "  prompt: pipe\n", "9: 'agent.prompt': found 'pipe', expected 'stdin' or 'file'"),
        (BASE + "  env: {A: 1}\n", "9: 'agent.env.A': found 1, expected a text; put quotes around it"),
        (BASE + "  env: [A B]\n", "9: 'agent.env': found 'A B', expected the name of a variable"),
        (BASE + "  max_concurrent_agents_by_state: {To Do: 0}\n", "9: 'agent.max_concurrent_agents_by_state.To"),
        (BASE + "polling: {interval_ms: 1.5}\n", "9: 'polling.interval_ms': found 1.5, expected a whole number"),
        (BASE + "name: Team A\n", "9: 'name': found 'Team A', expected lower-case letters"),
        (BASE + "workspace: {repository: ., branch: x}\n", "9: 'workspace.branch': found 'x', expected '{key}'"),
        (BASE + "hooks: {timeout_ms: 0}\n", "9: 'hooks.timeout_ms': found 0, expected 1 or more"),
        (BASE + "hooks: {timeout_ms: 1m}\n", "9: 'hooks.timeout_ms': found '1m', expected a whole number; write how"),
        (BASE + "hooks: {env: [A B]}\n", "9: 'hooks.env': found 'A B', expected the name of a variable"),
        (BASE + "workspace: {remote: $PUSH_URL}\n", "9: 'workspace.remote': found one, expected a 'workspace.repo"),
        (BASE + "workspace: {shared: 1}\n", "9: 'workspace.shared'"),
        (BASE + "workspace: {repository: ., base: --detach}\n", "9: 'workspace.base': found '--detach'"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_told_with_line_found_and_expected(front, said):
    """An author reads where, what was found, what was expected and what to do."""
    (sentence,) = sentences(front)
    assert sentence.startswith(said[:2])
    assert said.partition(" ")[2] in sentence


@pytest.mark.proves("H6")
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("$PUSH_URL", "$PUSH_URL"),
        ("https://example.org/x.git", "https://example.org/x.git"),
        ("git@example.org:x.git", "git@example.org:x.git"),
        ("../remote.git", None),
    ],
)
def test_a_remote_is_an_address_a_variable_or_a_path(written, meant):
    """A variable stays as written: only the worker that pushes looks it up. A path is seen from the file's folder."""
    found = parse(BASE + f"workspace: {{repository: ., remote: '{written}'}}\n").workspace.remote
    assert found == meant or (meant is None and found.endswith("/remote.git") and found.startswith("/"))


@pytest.mark.proves("H6")
def test_the_remotes_variable_is_not_for_agents():
    """What the engine pushes with may not be passed on."""
    text = BASE + "  env: [PUSH_URL]\nworkspace: {repository: ., remote: $PUSH_URL}\n"
    (sentence,) = sentences(text)
    assert "'agent.env': $PUSH_URL is workspace.remote, by which only the engine pushes" in sentence


@pytest.mark.proves("HK-05")
def test_hooks_have_their_moments_and_a_minute():
    """Only what is written runs, and a time-out that is left out is both peers'."""
    hooks = parse(BASE + "hooks: {before_run: make, env: [TOKEN]}\n").hooks
    assert (hooks.commands, hooks.timeout_ms, hooks.env) == ({Hook.BEFORE_RUN: "make"}, 60_000, {"TOKEN": "$TOKEN"})


def test_all_wrong_values_are_told_at_once():
    """Nobody mends a file one error at a time."""
    found = sentences(BASE + "  max_turns: 0\n  prompt: pipe\npolling: {interval_ms: no}\n")
    assert [line.partition(":")[0] for line in found] == ["9", "10", "11"]


@pytest.mark.proves("SC-11")
@pytest.mark.parametrize(
    ("front", "said"),
    [
        (BASE + "  max_turn: 3\n", "9: unknown key 'agent.max_turn' is not read; did you mean 'agent.max_"),
        (BASE + "pollin: {}\n", "9: unknown key 'pollin' is not read; did you mean 'polling'?"),
        (BASE + "polling: {zzz: 1}\n", "9: unknown key 'polling.zzz' is not read; known are interval_ms, whole"),
        (TRACKER + "  active_state: [x]\n" + AGENT, "7: unknown key 'tracker.active_state' is not read; did you mean"),
        (BASE + "hooks: {before_rum: x}\n", "9: unknown key 'hooks.before_rum' is not read; did you mean 'hooks."),
        (BASE + "claude-code: {}\n", "9: 'claude-code' is not used, since 'agent.kind' is 'command'"),
        (BASE + "  max_concurrent_agents_by_state: {Doing: 1}\n", "9: 'agent.max_concurrent_agents_by_state.D"),
    ],
)  # fmt: skip
def test_what_nobody_reads_is_a_warning_with_the_closest_key(front, said):
    """A peer's file loads, and a slip of the hand does not pass in silence."""
    (warning,) = warnings(front)
    assert warning.startswith(said)


def test_a_key_without_a_value_counts_as_left_out():
    """`handoff_state:` with nothing behind it is no state of that name."""
    found = parse(TRACKER + "  handoff_state:\n" + AGENT + "polling:\n")
    assert (found.contract.handoff, found.interval_ms) == (None, 30_000)


def test_a_provider_map_is_merged_and_its_keys_win():
    """The tracker's block of a peer's file reads the same; an error in it has its own line."""
    provider = "  provider:\n    path: inner\n    terminal_states: [Closed]\n"
    found = parse(TRACKER + provider + AGENT)
    assert (Path(found.scope).name, found.contract.terminal) == ("inner", ("Closed",))
    assert "provider" not in found.tracker.options
    assert sentences(TRACKER + provider.replace("[Closed]", "5") + AGENT)[0].startswith("9: 'tracker.terminal_states'")


def test_another_trackers_own_keys_pass_untouched():
    """The adapter judges them; only a slip that is close to a key of ours is warned of."""
    front = TRACKER.replace("kind: backlog", "kind: my.tracker\n  columns: {a: [1]}\n  terminal_state: x") + AGENT
    found = parse(front)
    assert found.tracker.options["columns"] == {"a": [1]}
    assert [warning.partition(" ")[2] for warning in found.warnings] == [
        "unknown key 'tracker.terminal_state' is not read; did you mean 'tracker.terminal_states'?"
    ]


def test_the_block_of_the_agent_in_use_is_its_own():
    """Settings of the kind that runs reach its adapter."""
    found = parse(TRACKER + "agent: {kind: codex}\ncodex: {model: small}\n")
    assert (found.agent.options, found.warnings) == ({"model": "small"}, ())


def test_a_list_of_names_passes_variables_on():
    """`env: [TOKEN]` says the same as `env: {TOKEN: $TOKEN}`."""
    assert parse(BASE + "  env: [TOKEN]\n").agent.env == {"TOKEN": "$TOKEN"}


@pytest.mark.proves("CF-05", "CF-06")
def test_a_variable_counts_only_at_the_start_and_once():
    """Addresses, commands and secrets that hold a dollar sign survive; an API key may be put together from parts."""
    environment = {"HOST": "example", "TOKEN": "a$HOST", "EMPTY": ""}
    given = {
        "endpoint": "https://$HOST/",
        "project": "$HOST-x",
        "token": "$TOKEN",
        "api_key": "k-$HOST-${TOKEN}",
        "n": 3,
    }
    assert variables.resolve_options(given, environment) == {
        "endpoint": "https://$HOST/",
        "project": "example-x",
        "token": "a$HOST",
        "api_key": "k-example-a$HOST",
        "n": 3,
    }
    with pytest.raises(variables.Unresolved, match=r"\$EMPTY is not set or is empty"):
        variables.resolve("$EMPTY", environment)
