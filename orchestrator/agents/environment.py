"""What an agent program sees of our environment: an allow-list, the workflow's `agent.env`, and facts of its turn.

Nothing else passes: neither the addresses of our services nor any secret of the worker, unless the workflow names it.
"""

from collections.abc import Mapping

from orchestrator.ports.agent import AgentTurn
from orchestrator.ports.supervisor import Refusal, SpawnFailed

ALLOWED = ("PATH", "HOME", "SHELL", "TMPDIR", "USER", "LOGNAME", "TERM", "LANG", "LC_ALL", "SSH_AUTH_SOCK")

# A bare machine has no git identity, and git refuses to commit without one. The history shows that it was no person.
GIT_NAME = "Stationkeeper"
GIT_EMAIL = "stationkeeper@localhost"

# Where a program that knows the peer system looks for the same facts.
PREFIXES = ("STATIONKEEPER_", "SORTIE_")


def build(turn: AgentTurn, passed_on: Mapping[str, str], inherited: Mapping[str, str]) -> dict[str, str]:
    """The program's whole environment: `agent.env` (`passed_on`) is stronger than the allow-list, our facts than both.

    Raises:
        SpawnFailed: `agent.env` passes on a variable that the worker does not have.
    """
    return {
        **{name: inherited[name] for name in ALLOWED if name in inherited},
        **_git(turn),
        **{name: _resolve(name, value, inherited) for name, value in passed_on.items()},
        **_facts(turn),
    }


def _facts(turn: AgentTurn) -> dict[str, str]:
    facts = {
        "ISSUE_ID": turn.issue_id,
        "ISSUE_IDENTIFIER": turn.identifier,
        "WORKSPACE": str(turn.workspace),
        "ATTEMPT": str(turn.attempt),
    }
    both = {prefix + name: value for prefix in PREFIXES for name, value in facts.items()}
    return {**both, "STATIONKEEPER_TURN": str(turn.turn_id), "STATIONKEEPER_FENCE": str(turn.fence)}


def _git(turn: AgentTurn) -> dict[str, str]:
    """An identity, and leave to work in a workspace that another user made (a volume, a container)."""
    roles = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in _IDENTITY.items()}
    trust = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": str(turn.workspace)}
    return roles | trust


_IDENTITY = {"NAME": GIT_NAME, "EMAIL": GIT_EMAIL}


def _resolve(name: str, value: str, inherited: Mapping[str, str]) -> str:
    """A value is taken as written, unless it is `$NAME` as a whole. What that holds is not looked into again."""
    if not value.startswith("$"):
        return value
    if (wanted := value[1:]) not in inherited:
        detail = f"agent.env.{name}: {value} is not set where the worker runs; set it there, or write the value itself"
        raise SpawnFailed(Refusal.MISSING_VARIABLE, detail)
    return inherited[wanted]
