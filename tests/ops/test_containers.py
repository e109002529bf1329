"""Each of our services as Compose runs it: its own command, through the entry point, as pid 1 of a pid namespace."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from orchestrator.embedded import programs
from orchestrator.embedded.valkey import Valkey
from tests.waiting import until

ROOT = Path(__file__).parents[2]
SERVICES = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
UNSHARE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")

# What Compose waits between SIGTERM and SIGKILL.
GRACE_SECONDS = int(SERVICES["worker"]["stop_grace_period"].removesuffix("s"))

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("namespaces")]


@pytest.fixture(scope="module")
def namespaces() -> None:
    """Skip where a test may not make a pid namespace with a /proc of its own."""
    try:
        tried = subprocess.run([*UNSHARE, "true"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("no unshare on this machine")
    if tried.returncode != 0:
        pytest.skip(f"this user may not make a pid namespace: {tried.stderr.strip()}")


class Container:
    """A service under way. Killing it kills its namespace, and so every process in it."""

    def __init__(self, process: subprocess.Popen[bytes], heartbeat: Path, log: Path) -> None:
        self.process, self._heartbeat, self._log = process, heartbeat, log

    def healthy(self) -> bool:
        """What the health check of docker-compose.yml says."""
        assert self.process.poll() is None, self.said()
        check = [sys.executable, str(ROOT / "ops" / "health.py"), str(self._heartbeat)]
        return subprocess.run(check, capture_output=True, check=False).returncode == 0

    def forget(self) -> None:
        """Take its heartbeat away: what is found afterwards is a new one."""
        self._heartbeat.unlink()

    def stop(self) -> int:
        """SIGTERM to pid 1, as `docker stop` sends it; the exit code, which unshare passes on."""
        os.kill(int(Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()), signal.SIGTERM)
        return self.process.wait(GRACE_SECONDS)

    def said(self) -> str:
        """Everything that it has printed so far."""
        return self._log.read_text(encoding="utf-8", errors="replace")


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[Valkey]:
    """A Redis that the test may stop without stopping it for others."""
    server = Valkey(programs.redis_server(None), data=tmp_path / "redis", password="p4ssw0rd", durable=False)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def start(tmp_path: Path, database_url: str, own_redis: Valkey) -> Iterator[Callable[[str], Container]]:
    """Start a service by its name in docker-compose.yml, on servers of this test's own."""
    started: list[subprocess.Popen[bytes]] = []
    heartbeat, log = tmp_path / "heartbeat", tmp_path / "log"
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}",
        "PYTHONPATH": str(ROOT),
        "DATABASE_URL": database_url,
        "REDIS_URL": own_redis.url,
        "STATIONKEEPER_STATE": str(tmp_path / "state"),
        "STATIONKEEPER_HEARTBEAT_FILE": str(heartbeat),
    }

    def _start(service: str) -> Container:
        command = [*UNSHARE, str(ROOT / "ops" / "entrypoint.sh"), *SERVICES[service]["command"]]
        with log.open("wb") as output:
            started.append(
                subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=output, stderr=subprocess.STDOUT)
            )
        return Container(started[-1], heartbeat, log)

    yield _start
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.parametrize("service", ["worker", "relay", "beat"])
def test_a_service_gets_healthy_and_ends_at_sigterm(start, service):
    """It lives by its own health check, hears SIGTERM as pid 1, and ends well within the grace period."""
    container = start(service)
    until(container.healthy, timeout_seconds=60, what=f"the health of {shlex.join(SERVICES[service]['command'])}")
    assert container.stop() == 0, container.said()


@pytest.mark.parametrize("service", ["worker", "relay", "beat"])
def test_an_absent_broker_makes_nobody_unhealthy(start, own_redis, service):
    """While Redis is away the service is not ready, but it lives: starting it again would mend nothing."""
    container = start(service)
    until(container.healthy, timeout_seconds=60, what="health with Redis")
    own_redis.stop()
    container.forget()
    until(container.healthy, what="a new beat without Redis")
    assert container.stop() == 0, container.said()
