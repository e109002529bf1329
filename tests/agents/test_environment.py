"""What an agent sees: the allow-list, what the workflow passes on, the facts of its turn; nothing else."""

import subprocess

import pytest

from orchestrator import environment
from orchestrator.ports.supervisor import Refusal, SpawnFailed
from tests.agents.conftest import INHERITED

SHELLS_OWN = {"PWD", "OLDPWD", "SHLVL", "_"}


def seen(turn):
    """The environment that the program printed."""
    lines = turn.transcript.read_text().splitlines()
    return {name: value for name, _, value in (line.partition("=") for line in lines)}


@pytest.mark.proves("HK-07")
def test_an_agent_sees_the_allow_list_and_its_turn(start, turn):
    """Names of the list that the worker has, our facts, the git identity, the marker: no address, no secret."""
    start("env").ending()
    found = seen(turn)
    ours = {name for name in found if name.startswith(("STATIONKEEPER_", "SORTIE_", "GIT_"))}
    assert set(found) - ours - SHELLS_OWN == {"PATH", "HOME"}
    assert found["STATIONKEEPER_ISSUE_IDENTIFIER"] == found["SORTIE_ISSUE_IDENTIFIER"] == "BACK-10"
    assert (found["STATIONKEEPER_ATTEMPT"], found["STATIONKEEPER_FENCE"]) == ("2", "3")
    assert found["STATIONKEEPER_WORKSPACE"] == str(turn.workspace)
    assert "secret" not in turn.transcript.read_text()


@pytest.mark.proves("CF-05")
def test_a_value_from_the_worker_is_not_read_again(start, turn):
    """`$NAME` passes a variable on; what it holds is taken as it is, dollar signs included."""
    start("env", env={"KEY": "$MODEL_KEY", "PLAIN": "a$PATH"}).ending()
    assert (seen(turn)["KEY"], seen(turn)["PLAIN"]) == (INHERITED["MODEL_KEY"], "a$PATH")


def test_a_variable_that_the_worker_lacks_is_named(start):
    """The message names the key and the variable, and what to do."""
    with pytest.raises(SpawnFailed, match=r"agent\.env\.KEY: \$NOT_THERE is not set") as refused:
        start("env", env={"KEY": "$NOT_THERE"})
    assert refused.value.refusal is Refusal.MISSING_VARIABLE


def test_our_facts_cannot_be_overruled(turn):
    """A workflow can set the variables of the allow-list, never those that say which turn it is."""
    built = environment.build(turn, {"HOME": "/mine", "STATIONKEEPER_FENCE": "99"}, INHERITED)
    assert (built["HOME"], built["STATIONKEEPER_FENCE"]) == ("/mine", "3")


def test_a_bare_machine_can_commit(start, turn):
    """Without any git configuration, in a repository of another user's making, a commit works."""
    subprocess.run(["git", "init", "-q", str(turn.workspace)], check=True)
    assert start("git commit -q --allow-empty -m work && git log --format=%an", evidence=lambda: True).ending().stop
    assert environment.GIT_NAME in turn.transcript.read_text()


@pytest.mark.proves("H6")
def test_an_agent_that_is_to_push_nothing_has_no_door_to_a_persons_keys(turn):
    """Unless `agent.env` names it."""
    worker = {**INHERITED, "SSH_AUTH_SOCK": "/run/keys"}
    assert environment.build(turn, {}, worker)["SSH_AUTH_SOCK"] == "/run/keys"
    assert "SSH_AUTH_SOCK" not in environment.build(turn, {}, environment.without_keys(worker, {}))
    named = {"SSH_AUTH_SOCK": "$SSH_AUTH_SOCK"}
    assert environment.build(turn, named, environment.without_keys(worker, named))["SSH_AUTH_SOCK"] == "/run/keys"
