"""What an agent or a hook sees of our environment: one allow-list, what the workflow passes on, and facts of its turn.

Nothing else passes: neither the addresses of our services nor any secret of the worker, unless the workflow names it.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Protocol
from uuid import UUID

from orchestrator.domain import shell
from orchestrator.ports.supervisor import Refusal, SpawnFailed

ALLOWED = ("PATH", "HOME", "SHELL", "TMPDIR", "USER", "LOGNAME", "TERM", "LANG", "LC_ALL", "SSH_AUTH_SOCK")

# A bare machine has no git identity, and git refuses to commit without one. The history shows that it was no person.
GIT_NAME = "Stationkeeper"
GIT_EMAIL = "stationkeeper@localhost"

# Where a program that knows the peer system looks for the same facts.
PREFIXES = ("STATIONKEEPER_", "SORTIE_")


# A peer gives its hooks every variable of this prefix. Ours get those of them that their own text names: it is then the
# workflow that names them, and a credential that only happens to be called so stays where it is.
PEER_PREFIX = "SORTIE_"

# The door to a person's keys: where the engine pushes, an agent has no use for it that the workflow does not name.
_KEYS = "SSH_AUTH_SOCK"

_ISSUE_ID, _ISSUE_IDENTIFIER, _WORKSPACE, _ATTEMPT = "ISSUE_ID", "ISSUE_IDENTIFIER", "WORKSPACE", "ATTEMPT"


# What git of an agent that is to push nothing does not do: it asks no helper (an empty one empties the whole list),
# no program and no terminal, sends nothing that `.netrc` has (curl looks into it only where nobody named a user, and
# here nobody is named), and logs in by no key. Behind `safe.directory`, which `build` sets.
SEALED: Mapping[str, str] = MappingProxyType(
    {
        "GIT_CONFIG_COUNT": "3",
        "GIT_CONFIG_KEY_1": "credential.helper",
        "GIT_CONFIG_VALUE_1": "",
        "GIT_CONFIG_KEY_2": "http.emptyAuth",
        "GIT_CONFIG_VALUE_2": "true",
        "GIT_ASKPASS": "",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_SSH_COMMAND": "ssh -F none -oBatchMode=yes -oIdentityAgent=none -oIdentitiesOnly=yes -oIdentityFile=none",
    }
)


def without_keys(inherited: Mapping[str, str], passed_on: Mapping[str, str]) -> dict[str, str]:
    """The worker's environment as an agent may pick from it that is to push nothing; what `agent.env` names stays."""
    return {name: value for name, value in inherited.items() if name != _KEYS or f"${_KEYS}" in passed_on.values()}


class Facts(Protocol):
    """What a program is told about why it runs; an agent's turn and a hook's order both know it."""

    @property
    def turn_id(self) -> UUID:
        """The turn."""
        ...

    @property
    def fence(self) -> int:
        """Its fence."""
        ...

    @property
    def issue_id(self) -> str:
        """The tracker's id of the item."""
        ...

    @property
    def identifier(self) -> str:
        """What people call the item."""
        ...

    @property
    def attempt(self) -> int:
        """Which attempt it is, from 1."""
        ...

    @property
    def workspace(self) -> Path:
        """Where it runs."""
        ...


def build(
    turn: Facts, passed_on: Mapping[str, str], inherited: Mapping[str, str], *, key: str = "agent.env"
) -> dict[str, str]:
    """The program's whole environment: what `key` passes on beats the allow-list, our facts beat both.

    Raises:
        SpawnFailed: `key` passes on a variable that the worker does not have.
    """
    return {
        **{name: inherited[name] for name in ALLOWED if name in inherited},
        **_git(turn),
        **{name: _resolve(f"{key}.{name}", value, inherited) for name, value in passed_on.items()},
        **_facts(turn),
    }


def named(text: str, inherited: Mapping[str, str]) -> dict[str, str]:
    """What is passed on to a hook because its text names it, as a workflow writes it: `$NAME` for its value."""
    asked = shell.read(text).looked_up
    return {name: f"${name}" for name in asked if is_passed(name) and name in inherited}


def is_passed(name: str) -> bool:
    """Whether a hook is given the variable for no more than naming it."""
    return name.startswith(PEER_PREFIX) and name not in NAMES


def _facts(turn: Facts) -> dict[str, str]:
    facts = {
        _ISSUE_ID: turn.issue_id,
        _ISSUE_IDENTIFIER: turn.identifier,
        _WORKSPACE: str(turn.workspace),
        _ATTEMPT: str(turn.attempt),
    }
    both = {prefix + name: value for prefix in PREFIXES for name, value in facts.items()}
    return {**both, _TURN: str(turn.turn_id), _FENCE: str(turn.fence)}


def _git(turn: Facts) -> dict[str, str]:
    """An identity, and leave to work in a workspace that another user made (a volume, a container)."""
    roles = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in _IDENTITY.items()}
    trust = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": str(turn.workspace)}
    return roles | trust


_IDENTITY = {"NAME": GIT_NAME, "EMAIL": GIT_EMAIL}
_TURN, _FENCE = "STATIONKEEPER_TURN", "STATIONKEEPER_FENCE"

# Every name that a hook finds in its environment whatever the workflow passes on.
NAMES = frozenset(
    {
        *ALLOWED,
        *(f"GIT_{role}_{key}" for role in ("AUTHOR", "COMMITTER") for key in _IDENTITY),
        *("GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0"),
        *(prefix + name for prefix in PREFIXES for name in (_ISSUE_ID, _ISSUE_IDENTIFIER, _WORKSPACE, _ATTEMPT)),
        *(_TURN, _FENCE),
    }
)


def _resolve(key: str, value: str, inherited: Mapping[str, str]) -> str:
    """A value is taken as written, unless it is `$NAME` as a whole. What that holds is not looked into again."""
    if not value.startswith("$"):
        return value
    if (wanted := value[1:]) not in inherited:
        detail = f"{key}: {value} is not set where the worker runs; set it there, or write the value itself"
        raise SpawnFailed(Refusal.MISSING_VARIABLE, detail)
    return inherited[wanted]
