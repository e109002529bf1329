"""One real supervisor for the tests of a module, and turns to run under it."""

from dataclasses import replace

import pytest

from orchestrator.agents import command
from orchestrator.domain.workflow import AgentSettings
from orchestrator.ports.agent import AgentTurn
from orchestrator.supervisor.trust import Config
from tests.supervisor import station

INHERITED = {"PATH": "/usr/bin:/bin", "HOME": "/nowhere", "DATABASE_URL": "postgres://secret", "MODEL_KEY": "$ecret"}


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A station that all tests of a module share."""
    folder = tmp_path_factory.mktemp("station").resolve()
    config = Config("agents", "here", lease_seconds=10, grace_seconds=1, renewal_seconds=0.2, kill_grace_seconds=0.5)
    open_station = station.Station(folder, config).open()
    yield open_station
    open_station.close()


@pytest.fixture
def turn(here, tmp_path):
    """A turn that this worker runs, in a workspace of its own where nothing has changed."""
    ref = here.adopt(fence=3)
    workspace = tmp_path.resolve() / "workspace"
    workspace.mkdir()
    return AgentTurn(
        turn_id=ref.turn_id,
        fence=ref.fence,
        issue_id="10",
        identifier="BACK-10",
        attempt=2,
        prompt="Do it — all of it.\n",
        workspace=workspace,
        scratch=tmp_path / "scratch",
        transcript=tmp_path / "scratch" / "transcript.log",
        session="old-session",
        evidence=lambda: False,
        timeout_seconds=60,
        stall_seconds=30,
    )


@pytest.fixture
def start(here, turn):
    """Start a shell script as the agent of the turn; `changes` are the turn's."""

    def begin(script, *, prompt="stdin", env=None, **changes):
        settings = AgentSettings(command=script, prompt=prompt, env=env or {})
        return command.connect(settings, INHERITED).start(replace(turn, **changes), here.client)

    return begin
