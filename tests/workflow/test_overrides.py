"""What the environment may set in the file's place, what it may not, and that it is read once."""

from pathlib import Path

import pytest

from orchestrator.ports.workflows import WorkflowInvalid
from orchestrator.workflow import WorkflowFiles, overrides, variables

TEXT = """\
---
tracker:
  kind: backlog
  path: board
  active_states: [To Do]
  terminal_states: [Done]
agent:
  command: ./agent
  max_turns: 3
---
"""


def parse(text=TEXT, **environment):
    """What the file means in this environment."""
    return WorkflowFiles([], environment=environment).parse(text, path=Path("/flows/WORKFLOW.md"))


def refused(text=TEXT, **environment):
    """What is wrong with it there."""
    with pytest.raises(WorkflowInvalid) as caught:
        parse(text, **environment)
    return caught.value


@pytest.mark.proves("CF-04")
def test_a_variable_of_the_list_beats_the_file_and_is_told():
    """Numbers, lists, words, texts and paths; each is a warning, so that whoever reads the file is not surprised."""
    found = parse(
        STATIONKEEPER_AGENT_MAX_TURNS="7",
        STATIONKEEPER_TRACKER_ACTIVE_STATES="Next, To Do",
        STATIONKEEPER_TRACKER_HANDOFF_STATE="Review",
        STATIONKEEPER_TRACKER_PATH="other",
        STATIONKEEPER_AGENT_COMMAND="./$other",
        STATIONKEEPER_POLLING_INTERVAL_MS="900",
    )
    assert (found.turn_limits.max_turns, found.interval_ms, found.agent.command) == (7, 900, "./$other")
    assert (found.contract.active, found.contract.handoff) == (("Next", "To Do"), "Review")
    assert found.tracker.options["path"] == "/flows/other"
    assert len(found.warnings) == 6
    told = "'agent.max_turns' comes from STATIONKEEPER_AGENT_MAX_TURNS, not from the file"
    assert f"/flows/WORKFLOW.md:9: {told}" in found.warnings


@pytest.mark.proves("CF-04")
@pytest.mark.parametrize("switch", ["off", "OFF", "0", "false", "no"])
def test_one_switch_makes_the_file_count_alone(switch):
    """A machine with a crowded environment can still say that the file is the whole truth."""
    assert parse(STATIONKEEPER_OVERRIDES=switch, STATIONKEEPER_AGENT_MAX_TURNS="7") == parse()


@pytest.mark.proves("CF-05")
def test_a_value_of_the_environment_is_never_expanded_again():
    """A secret that holds a dollar sign survives, and stands in no value that is stored or compared."""
    environment = {"STATIONKEEPER_TRACKER_API_KEY": "a$HOME${HOME}", "STATIONKEEPER_TRACKER_PATH": "$HOME", "HOME": "x"}
    found = parse(**environment)
    assert "a$HOME" not in str(found)
    assert variables.resolve_options(found.tracker.options, environment)["api_key"] == "a$HOME${HOME}"
    assert found.tracker.options["path"] == "/flows/$HOME"


@pytest.mark.proves("CF-08")
@pytest.mark.parametrize(
    "name",
    [
        "STATIONKEEPER_HOOKS_AFTER_CREATE",
        "STATIONKEEPER_AGENT_ENV",
        "STATIONKEEPER_AGENT_MAX_CONCURRENT_AGENTS_BY_STATE",
        "STATIONKEEPER_TRACKER_REQUIRED_LABELS",
        "STATIONKEEPER_TRACKER_TRUSTED_AUTHORS",
    ],
)
def test_what_would_open_a_door_cannot_be_set_from_outside(name):
    """Hooks, caps by state, labels and authors are the file's; a variable of such a name is ignored, and said so."""
    found = parse(**{name: "x"})
    assert found.warnings[0].partition(": ")[2].startswith(f"{name} is ignored; ")
    assert (found.limits, found.agent) == (parse().limits, parse().agent)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (
            "AGENT_MAX_TURNS",
            "many",
            "'agent.max_turns': found 'many' in STATIONKEEPER_AGENT_MAX_TURNS, expected a whole",
        ),
        (
            "AGENT_MAX_TURNS",
            "0",
            "'agent.max_turns' (from STATIONKEEPER_AGENT_MAX_TURNS): found 0, expected 1 or more",
        ),
        ("TRACKER_HANDOFF_STATE", "to do", "'tracker.handoff_state', which STATIONKEEPER_TRACKER_HANDOFF_STATE sets: "),
        ("WORKSPACE_BRANCH", "-x", "'workspace.branch': found '-x', expected a name that git takes"),
    ],
)
def test_a_wrong_variable_is_named_and_not_the_file_blamed(name, value, said):
    """An author who looks at the line finds nothing wrong there."""
    assert refused(**{f"STATIONKEEPER_{name}": value}).message.startswith(said)


@pytest.mark.proves("SC-01", "CF-06")
def test_a_role_may_be_a_variable_but_never_an_empty_one():
    """An empty substitution is an error at the line of the role, and not a role left out."""
    text = TEXT.replace("[To Do]", "[$FIRST, To Do]\n  handoff_state: $LAST")
    found = parse(text, FIRST="Next", LAST="Review")
    assert (found.contract.active, found.contract.handoff) == (("Next", "To Do"), "Review")
    error = refused(text, FIRST="Next", LAST="")
    assert error.place == "/flows/WORKFLOW.md:6"
    assert error.message.startswith("'tracker.handoff_state': $LAST is not set or is empty")


@pytest.mark.proves("SC-10")
def test_no_role_has_a_default_that_the_file_does_not_show():
    """There is no value for a message to name a default for: a role that is left out has no state."""
    found = parse()
    assert (found.contract.in_progress, found.contract.handoff) == (None, None)
    for left_out in ("active_states: [To Do]", "terminal_states: [Done]"):
        assert "(SC-08)" in refused(TEXT.replace(f"  {left_out}\n", "")).message


def test_no_variable_names_two_keys_or_a_setting_of_the_installation():
    """A name that meant two things would set one of them by accident."""
    names = list(overrides.NAMES.values())
    assert len(set(names)) == len(names)
    assert overrides.SWITCH not in names
