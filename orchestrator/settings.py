"""What this installation runs with: the only reader of the environment.

A value comes from its variable, else from `run.json` in the state folder (written by `up` and `demo`), else from the
default here. The two services are one thing: both come from the environment or both from the file, never one of each.
"""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Self

import pydantic

from orchestrator import run_file
from orchestrator.run_file import NotConfigured as NotConfigured  # noqa: PLC0414 -- who reads settings catches it

STATE_VARIABLE = "STATIONKEEPER_STATE"
STATE_FOLDER = ".stationkeeper"


class Sabotage(Enum):
    """A rule that a demonstration switches off to show that its checks would notice."""

    FENCE = "fence"  # set by `demo SABOTAGE=fence`: a late worker's writes are let through


@dataclass(frozen=True, slots=True)
class Launch:
    """What a launcher needs before any service runs; `None` means: none chosen, use the embedded one.

    `given` are the other settings that the environment names, by field: they belong into the run file.
    """

    state_dir: Path
    database_url: str | None
    redis_url: str | None
    postgres_folder: Path | None
    redis_server: Path | None
    given: Mapping[str, str]


Seconds = Annotated[float, pydantic.Field(gt=0)]


def _for_psycopg(url: str) -> str:
    """The URL as SQLAlchemy wants it: the driver is ours to choose, the person names a Postgres."""
    scheme, _, rest = url.partition("://")
    if scheme not in {"postgres", "postgresql", "postgresql+psycopg"} or not rest:
        raise ValueError("expected postgresql://user:password@host:port/database")
    return f"postgresql+psycopg://{rest}"


def _redis(url: str) -> str:
    scheme, _, rest = url.partition("://")
    if scheme not in {"redis", "rediss"} or not rest:
        raise ValueError("expected redis://:password@host:port/0, or rediss:// for TLS")
    return url


def _words(given: object) -> object:
    return tuple(word.strip() for word in given.split(",") if word.strip()) if isinstance(given, str) else given


class Settings(pydantic.BaseModel):
    """The values in force, each with its default's reason; read once at start, handed to whoever needs one."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    # Left out of `repr`: they hold passwords.
    database_url: Annotated[str, pydantic.AfterValidator(_for_psycopg), pydantic.Field(repr=False)]
    redis_url: Annotated[str, pydantic.AfterValidator(_redis), pydantic.Field(repr=False)]

    # Logs, transcripts, workspaces' index and run.json; beside the workflow file, so one folder is one installation.
    state_dir: Path

    # Files or folders of workflow files.
    workflows: tuple[Path, ...]

    # Turns at a time in one worker: what a team's board allows by default, so that one worker is enough until then.
    turn_slots: Annotated[int, pydantic.Field(ge=1, le=1000)] = 10

    # Turns at a time over all workflows and workers, for a budget or a provider's limit that all of them share. None by
    # default: each workflow has a cap of its own, and the workers' slots are one.
    max_turns: Annotated[int, pydantic.Field(ge=1)] | None = None

    # How long a turn is trusted without a renewal. Longer than any pause of database or worker that should pass
    # unnoticed (failover, a long garbage collection); shorter than a person would wait for a lost turn to start again.
    lease_seconds: Seconds = 30

    # A fifteenth of the lease: a dozen renewals may fail before the fence is in doubt.
    renewal_seconds: Seconds = 2

    # An agent is frozen this long before its lease can be taken over: the time in which signals and clocks may lag.
    grace_seconds: Seconds = 5

    # How long a frozen agent waits for the database: a failover is over by then, and an hour's work survives it.
    freeze_limit_seconds: Seconds = 300

    # Past this a host without a worker is gone: longer than a reboot, and than an agent is left frozen there.
    host_silence_seconds: Seconds = 600

    # How long a mark on a card counts that stands unchanged. Renewed at each third; the rest outlasts a frozen agent.
    served_seconds: Seconds = 900

    # This host's name for records and queues. By default the one that its state folder keeps, at first the machine's.
    host: Annotated[str, pydantic.Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")] | None = None

    beat_seconds: Seconds = 1  # the worker's sign of life to its supervisor, and beat's ring: well below the grace

    requeue_seconds: Seconds = 10  # a queued turn is published again then: it bounds what a lost message costs
    kept_days: Annotated[int, pydantic.Field(ge=0)] = 180  # kept work stays so long; past any holiday. 0: for ever
    heartbeat_file: Path | None = None  # touched at each beat by whoever runs a main loop: a health check asks its age
    push_credentials: Path | None = None  # as git's credential store writes it; read at each push: a token may change

    # Flows as module:NAME or path/to/file.py:NAME, separated by commas. None by default: a board needs none.
    flows: Annotated[tuple[str, ...], pydantic.BeforeValidator(_words)] = ()
    sabotage: Sabotage | None = None
    only: str | None = None  # the one card that ticks may start; set by `run` for a system that it starts for it

    @pydantic.model_validator(mode="after")
    def _lease_outlives_what_it_contains(self) -> Self:
        if self.lease_seconds <= self.grace_seconds + 2 * self.renewal_seconds:
            raise ValueError(
                f"a lease of {self.lease_seconds:g} s, expected more than grace and two renewals "
                f"({self.grace_seconds:g} s + 2 * {self.renewal_seconds:g} s)"
            )
        if self.served_seconds <= (least := 1.5 * (self.lease_seconds + self.freeze_limit_seconds)):
            mark = f"marks that count for {self.served_seconds:g} s"
            raise ValueError(f"{mark}, expected more than one and a half of lease and freeze limit ({least:g} s)")
        if self.host_silence_seconds <= self.lease_seconds:
            silence = f"a host's silence of {self.host_silence_seconds:g} s"
            raise ValueError(f"{silence}, expected more than the lease ({self.lease_seconds:g} s)")
        return self


VARIABLES = {
    "database_url": "DATABASE_URL",
    "redis_url": "REDIS_URL",
    "workflows": "STATIONKEEPER_WORKFLOWS",
    "turn_slots": "STATIONKEEPER_TURN_SLOTS",
    "max_turns": "STATIONKEEPER_MAX_TURNS",
    "lease_seconds": "STATIONKEEPER_LEASE_SECONDS",
    "renewal_seconds": "STATIONKEEPER_RENEWAL_SECONDS",
    "grace_seconds": "STATIONKEEPER_GRACE_SECONDS",
    "freeze_limit_seconds": "STATIONKEEPER_FREEZE_LIMIT_SECONDS",
    "beat_seconds": "STATIONKEEPER_BEAT_SECONDS",
    "host_silence_seconds": "STATIONKEEPER_HOST_SILENCE_SECONDS",
    "served_seconds": "STATIONKEEPER_SERVED_SECONDS",
    "host": "STATIONKEEPER_HOST",
    "requeue_seconds": "STATIONKEEPER_REQUEUE_SECONDS",
    "kept_days": "STATIONKEEPER_KEPT_DAYS",
    "push_credentials": "STATIONKEEPER_PUSH_CREDENTIALS",
    "heartbeat_file": "STATIONKEEPER_HEARTBEAT_FILE",
    "flows": "STATIONKEEPER_FLOWS",
    "sabotage": "STATIONKEEPER_SABOTAGE",
    "only": "STATIONKEEPER_ONLY",
}


def load() -> Settings:
    """The settings of the current folder and environment.

    Raises:
        NotConfigured: there is neither a run file nor the two variables, or a value is wrong.
    """
    return read(os.environ, folder=Path.cwd())


def launch() -> Launch:
    """What the current folder and environment say to a launcher.

    Raises:
        NotConfigured: only one of the two services is named.
    """
    environment, folder = os.environ, Path.cwd()
    named = _services(environment)
    return Launch(
        state_dir=_state_dir(environment, folder),
        database_url=named.get("database_url"),
        redis_url=named.get("redis_url"),
        postgres_folder=_path(environment.get("STATIONKEEPER_POSTGRES_BIN")),
        redis_server=_path(environment.get("STATIONKEEPER_REDIS_SERVER")),
        given={field: value for field, value in _given(environment).items() if field not in named},
    )


def read(environment: Mapping[str, str], folder: Path) -> Settings:
    """The settings of `environment`, with relative paths and the state folder seen from `folder`.

    Raises:
        NotConfigured: there is neither a run file nor the two variables, or a value is wrong.
    """
    state_dir = _state_dir(environment, folder)
    filed = run_file.read(state_dir)
    given = _given(environment)
    if not _services(environment) and not filed:
        raise NotConfigured(
            f"no running system found: {state_dir / run_file.NAME} is not there and DATABASE_URL and REDIS_URL are not "
            "set; run `make up WORKFLOW=path` in this folder, or set both variables"
        )
    values = {"workflows": "WORKFLOW.md", **filed, **given, "state_dir": state_dir}
    values["workflows"] = _paths(values["workflows"], folder)
    try:
        return Settings.model_validate(values)
    except pydantic.ValidationError as error:
        raise NotConfigured(_explain(error, variables=given, file=state_dir / run_file.NAME)) from error


def named_flows() -> tuple[str, ...]:
    """The flows that the environment or the run file names; nothing needs to run for that.

    Raises:
        NotConfigured: the run file cannot be read.
    """
    filed = run_file.read(_state_dir(os.environ, Path.cwd()))
    named = _given(os.environ).get("flows", filed.get("flows", ""))
    found = _words(named)
    return found if isinstance(found, tuple) else ()


def inherited() -> dict[str, str]:
    """A copy of this process's environment, for whoever starts a child and decides what it may see."""
    return dict(os.environ)


def _state_dir(environment: Mapping[str, str], folder: Path) -> Path:
    return (folder / environment.get(STATE_VARIABLE, STATE_FOLDER)).resolve()


def _given(environment: Mapping[str, str]) -> dict[str, str]:
    return {field: environment[name] for field, name in VARIABLES.items() if environment.get(name)}


def _services(environment: Mapping[str, str]) -> dict[str, str]:
    found = {field: url for field, url in _given(environment).items() if field in {"database_url", "redis_url"}}
    if len(found) == 1:
        here, missing = ("DATABASE_URL", "REDIS_URL") if "database_url" in found else ("REDIS_URL", "DATABASE_URL")
        raise NotConfigured(f"{here} is set but {missing} is not: set both, or neither")
    return found


def _paths(given: object, folder: Path) -> tuple[Path, ...]:
    """Workflow files and folders, separated as PATH's entries are."""
    return tuple((folder / word).expanduser() for word in str(given).split(os.pathsep) if word)


def _path(given: str | None) -> Path | None:
    return Path(given).expanduser() if given else None


def _explain(error: pydantic.ValidationError, *, variables: Collection[str], file: Path) -> str:
    """One line for the first wrong value: place, found (never a URL: it holds a password), expected, remedy."""
    first = error.errors()[0]
    expected = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return f"found {expected}; set them to values that fit"
    field = str(first["loc"][0])
    place, remedy = f"{file}: {field}", "stop the system and start it again"
    if field in variables:
        place, remedy = VARIABLES[field], "set it right or unset it"
    found = "" if field.endswith("_url") else f"found {first['input']!r}, "
    return f"{place}: {found}{expected[0].lower()}{expected[1:]}; {remedy}"
