"""What docker-compose.yml promises, read from the file itself, and from the real Compose where there is one."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import beat_schedule

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docker-compose.yml"
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))["services"]

OURS = ("migrate", "worker", "beat", "relay", "flower")
SECRETS = ("POSTGRES_PASSWORD", "REDIS_PASSWORD", "FLOWER_BASIC_AUTH")


def queues_of(service: str) -> set[str]:
    """The queues that a service serves, as its command names them."""
    role, *queues = SERVICES[service]["command"]
    return set(queues) if role == "worker" else set()


def test_the_file_has_the_seven_services_and_no_other():
    """A service that nobody describes is a service that nobody looks after."""
    assert set(SERVICES) == {"postgres", "redis", *OURS}


def test_all_of_ours_run_one_image():
    """One build is one version: no service can lag behind another."""
    assert len({(SERVICES[name]["image"], str(SERVICES[name]["build"])) for name in OURS}) == 1


def test_the_worker_can_be_scaled_to_any_number():
    """A fixed name, a fixed host name or a fixed port would be a second worker's collision."""
    assert not {"container_name", "hostname", "ports"} & set(SERVICES["worker"])


def test_no_queue_is_served_by_two_kinds_of_worker():
    """A flood of turns cannot starve the ticks: `control` and `relay` have a worker of their own."""
    assert queues_of("worker") == {"turns"}
    assert queues_of("relay") == {"control", "relay"}


def test_every_queue_that_beat_rings_has_a_worker():
    """A ring into a queue that nobody serves would be silence."""
    rung = {entry["options"]["queue"] for entry in beat_schedule.SCHEDULE.values()}
    assert rung <= queues_of("worker") | queues_of("relay")


@pytest.mark.parametrize("service", [name for name in OURS if name != "migrate"])
def test_nothing_starts_before_the_schema_is_there(service):
    """Workers, beat and Flower wait for healthy servers and for a migration that succeeded."""
    waits = {name: wait["condition"] for name, wait in SERVICES[service]["depends_on"].items()}
    assert waits == {
        "postgres": "service_healthy",
        "redis": "service_healthy",
        "migrate": "service_completed_successfully",
    }


def test_migrate_runs_once_and_ends():
    """A migration that failed stays failed until somebody looks; it is not tried for ever."""
    assert SERVICES["migrate"]["restart"] == "no"
    assert SERVICES["migrate"]["command"] == ["orchestrator", "migrate"]


@pytest.mark.parametrize("service", [name for name in SERVICES if name != "migrate"])
def test_every_lasting_service_has_a_health_check(service):
    """What cannot be seen to be dead is never mended."""
    assert SERVICES[service]["healthcheck"]["test"]


@pytest.mark.parametrize("service", ["worker", "relay", "beat"])
def test_liveness_asks_neither_broker_nor_database(service):
    """While Redis is away a worker is not ready, but it lives: its health is its own heartbeat."""
    assert SERVICES[service]["healthcheck"]["test"] == [
        "CMD",
        "/opt/stationkeeper/health.py",
        SERVICES[service]["environment"]["STATIONKEEPER_HEARTBEAT_FILE"],
    ]


def test_no_health_check_asks_through_the_broker():
    """`inspect ping` costs seconds of imports and fails on an outage that a restart does not mend."""
    assert "inspect" not in str([service.get("healthcheck") for service in SERVICES.values()])


@pytest.mark.parametrize("service", OURS)
def test_no_shell_stands_between_compose_and_the_program(service):
    """A command is a list: a string would be run by a shell, and a shell as pid 1 swallows SIGTERM."""
    assert isinstance(SERVICES[service]["command"], list)
    assert "entrypoint" not in SERVICES[service]
    assert SERVICES[service]["init"] is True


@pytest.mark.parametrize("service", ["worker", "relay"])
def test_a_stop_is_given_time_to_hand_turns_back(service):
    """The grace period is longer than Docker's own ten seconds, and the signal is Celery's for a warm stop."""
    assert SERVICES[service]["stop_grace_period"] == "30s"
    assert SERVICES[service].get("stop_signal", "SIGTERM") == "SIGTERM"


def test_every_password_comes_from_outside_and_must_be_set():
    """The file holds no secret and starts nothing with an empty one."""
    text = FILE.read_text(encoding="utf-8")
    for name in SECRETS:
        assert text.count("${" + name) == text.count("${" + name + ":?") > 0
        assert f"{name}=\n" in (ROOT / "ops" / "env.example").read_text(encoding="utf-8")


def test_redis_never_throws_a_queue_away():
    """An evicted binding would be a queue that silently receives nothing."""
    command = SERVICES["redis"]["command"]
    assert command[command.index("--maxmemory-policy") + 1] == "noeviction"
    assert command[command.index("--appendonly") + 1] == "yes"


def test_only_flower_is_published_and_only_on_loopback():
    """No server and no worker can be reached from another machine."""
    assert {name for name, service in SERVICES.items() if "ports" in service} == {"flower"}
    assert SERVICES["flower"]["ports"] == ["127.0.0.1:5555:5555"]


def test_who_reads_the_board_or_works_on_it_sees_the_project():
    """The control worker reads workflow and board, the turn worker makes worktrees; nobody else needs either."""
    mounted = {name for name, service in SERVICES.items() if any(":/project" in v for v in service.get("volumes", ()))}
    assert mounted == {"worker", "relay"}


@pytest.fixture
def compose() -> list[str]:
    """The command of the real Compose, from the development lock."""
    program = Path(sys.executable).with_name("docker-compose")
    assert program.exists(), f"{program} is not there: run `make setup`"
    return [str(program)]


def run(compose: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Let the real Compose judge the file, in an environment that knows no secret but those given."""
    command = [*compose, "--file", str(FILE), "--env-file", os.devnull, "config", "--quiet"]
    return subprocess.run(command, env={"PATH": os.defpath, **environment}, capture_output=True, text=True, check=False)


def test_the_real_compose_accepts_the_file(compose):
    """Compose itself finds nothing to say against the file."""
    judged = run(compose, dict.fromkeys(SECRETS, "x"))
    assert (judged.returncode, judged.stderr) == (0, "")


@pytest.mark.parametrize("absent", SECRETS)
def test_the_real_compose_refuses_to_start_without_a_password(compose, absent):
    """The message names the variable and where it is explained."""
    judged = run(compose, {name: "x" for name in SECRETS if name != absent})
    assert judged.returncode != 0
    assert absent in judged.stderr
    assert "ops/env.example" in judged.stderr
