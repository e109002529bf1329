"""Remotes that one must log in to, and one that hangs: what an agent can do there, and what the engine does."""

import socket
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.e2e.fleet import AGENT, Fleet
from tests.guarded import PASSWORD, USER, Guarded, guarded
from tests.waiting import until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

BRANCH = "stationkeeper/T-1"
# What Compose gives a worker.
GRACE_SECONDS = 30

# Where people keep what git needs for a push. Each home has one of them, and the worker's own is the first.
SETTINGS = {
    "helper": "[credential]\n\thelper = store --file={home}/known\n",
    "helper-of-the-address": '[credential "{url}"]\n\thelper = store --file={home}/known\n',
    "askpass": "[core]\n\taskPass = {home}/ask\n",
    "netrc": "",
}
ASK = 'case "$1" in Username*) echo "{user}" ;; *) echo "{password}" ;; esac\n'

# Tries each before it works, from a commit of its own; then says what ssh would offer.
PUSHY = r"""
git commit -q --allow-empty -m mine
for home in {homes}/*; do HOME=$home git push -q {url} "HEAD:refs/heads/by-${{home##*/}}" 2>> {homes}.log; done
${{GIT_SSH_COMMAND:-ssh}} -G remote.example.org > {homes}.ssh
echo "socket ${{SSH_AUTH_SOCK:-none}}" >> {homes}.ssh
"""


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[Guarded]:
    """A remote that lets in who has the credential."""
    folder = tmp_path / "served"
    folder.mkdir()
    with guarded(folder) as found:
        yield found


def furnish(homes: Path, remote: Guarded) -> None:
    """A home for each way to keep a credential."""
    for name, text in SETTINGS.items():
        home = homes / name
        home.mkdir(parents=True)
        (home / ".gitconfig").write_text(text.format(home=home, url=remote.url))
        (home / "known").write_text(f"http://{USER}:{PASSWORD}@127.0.0.1:{remote.port}\n")
        (home / "ask").write_text("#!/bin/sh\n" + ASK.format(user=USER, password=PASSWORD))
        (home / "ask").chmod(0o700)
    (homes / "netrc" / ".netrc").write_text(f"machine 127.0.0.1 login {USER} password {PASSWORD}\n")


@pytest.fixture
def worked(request: pytest.FixtureRequest, tmp_path: Path, database_url: str, redis_url: str, remote: Guarded) -> Path:
    """A card in review, whose agent tried to push; what ssh would have offered it."""
    homes = tmp_path / "homes"
    furnish(homes, remote)
    fleet = Fleet(tmp_path / "fleet", database_url, redis_url, steps=5, remote=request.param)
    fleet.folder.mkdir()
    fleet.set_up(1)
    script = AGENT.replace("say start\n", "say start\n" + PUSHY.format(homes=homes, url=remote.url), 1)
    (fleet.folder / "agent.sh").write_text(script)
    try:
        fleet.worker("w1", HOME=str(homes / "helper"), PUSH_URL=remote.url, SSH_AUTH_SOCK="/run/keys")
        fleet.beat()
        until(lambda: fleet.state(1) == "In Review", timeout_seconds=90, what="the card in review")
    finally:
        fleet.stop()
    return homes.with_suffix(".ssh")


@pytest.mark.proves("H6")
@pytest.mark.parametrize("worked", ["$PUSH_URL"], indirect=True)
def test_where_the_engine_pushes_git_of_an_agent_finds_no_credential(worked: Path, remote: Guarded) -> None:
    """Not by a helper, an askpass or `.netrc`, nor a key of ssh; the engine's own push from the same home succeeds."""
    assert remote.branches() == [BRANCH]
    offered = worked.read_text()
    assert "identityfile none" in offered
    assert "identityagent none" in offered
    assert "socket none" in offered


@pytest.mark.parametrize("worked", [None], indirect=True)
def test_where_the_engine_does_not_push_an_agent_may(worked: Path, remote: Guarded) -> None:
    """As with the peers: then the agent's own credential is the only one there is. So each of these ways is one."""
    assert remote.branches() == sorted(f"by-{name}" for name in SETTINGS)
    assert "identityfile none" not in worked.read_text()


@pytest.mark.proves("SR-06", "RT-11")
def test_a_remote_that_hangs_keeps_no_worker_from_its_end(tmp_path: Path, database_url: str, redis_url: str) -> None:
    """SIGTERM, and the remote takes the connection and says nothing: the turn is handed back all the same."""
    fleet = Fleet(tmp_path / "fleet", database_url, redis_url, steps=6_000, remote="$PUSH_URL")
    fleet.folder.mkdir()
    fleet.set_up(1)
    script = AGENT.replace("say start\n", "say start\ngit commit -q --allow-empty -m mine\n", 1)
    (fleet.folder / "agent.sh").write_text(script)
    try:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            worker = fleet.worker("w1", PUSH_URL=f"http://127.0.0.1:{silent.getsockname()[1]}/x.git")
            fleet.beat()
            until(lambda: fleet.count(1, "step") > 3, timeout_seconds=60, what="an agent in mid-turn")
            worker.terminate()
            assert worker.wait(GRACE_SECONDS) == 0
    finally:
        fleet.stop()
    with psycopg.connect(fleet.database_url.replace("+psycopg", "")) as look:
        ended = look.execute("select status, stop_reason from turn order by fence limit 1").fetchall()
    assert ended == [("cancelled", "deploy")]
