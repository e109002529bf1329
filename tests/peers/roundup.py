"""A Roundup server of the test run, and a person's hand on one of its trackers, by a REST client of its own."""

from __future__ import annotations

import itertools
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from orchestrator.ports.tracker import Tracker
from orchestrator.trackers import roundup
from tests.peers import places

STATES = ("To Do", "In Progress", "In Review", "Done")
_NAMES = (f"board{number}" for number in itertools.count(1))
_BOOT_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Server:
    """The server; each new name is a new tracker."""

    address: str

    def tracker(self) -> str:
        """The address of a fresh tracker."""
        return f"{self.address}/{next(_NAMES)}/"


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """A server in `folder` on a free port; skips the test where Roundup is not installed."""
    program = places.roundup()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [str(program), "-P", str(Path(__file__).with_name("roundup_server.py")), str(folder), str(port)]
    with (
        (folder / "server.log").open("wb") as log,
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        try:
            assert process.stdout
            assert process.stdout.readline() == "ready\n", (folder / "server.log").read_text()
            yield Server(f"http://127.0.0.1:{port}")
        finally:
            process.kill()


class Hand:
    """A person, logged in as `ada`, who uses the tracker without our adapter."""

    def __init__(self, address: str, user: str = "ada") -> None:
        """`address` is the tracker's."""
        self.address = address
        headers = {"X-Requested-With": "rest", "Origin": address.rsplit("/", 2)[0], "Referer": address}
        self._client = httpx.Client(
            base_url=f"{address}rest/data/", auth=(user, "secret"), headers=headers, timeout=_BOOT_SECONDS
        )

    def add(self, title: str, state: str, **more: Any) -> str:
        """A new issue; gives its id."""
        return f"issue{self.send('POST', 'issue', {'title': title, 'status': state, **more})['data']['id']}"

    def keyword(self, name: str) -> str:
        """The number of a keyword, made where it is not there yet."""
        known = self.send("GET", "keyword?@fields=name")["data"]["collection"]
        numbers = {one["name"]: one["id"] for one in known}
        return numbers.get(name) or self.send("POST", "keyword", {"name": name})["data"]["id"]

    def edit(self, item_id: str, **changes: Any) -> None:
        """Change an issue, whatever it bore."""
        self.patch(item_id.replace("issue", "issue/"), changes)

    def say(self, item_id: str, body: str, **more: Any) -> str:
        """A message on an issue; gives its number."""
        made = {"author": "ada", "date": "2026-03-01.10:00:00", "content": body, **more}
        number = self.send("POST", "msg", made)["data"]["id"]
        self.edit(item_id, **{"@op": "add", "messages": number})
        return number

    def delete(self, item_id: str) -> None:
        """Retire an issue, which only an administrator may."""
        place = item_id.replace("issue", "issue/")
        self.send("DELETE", place, {}, etag=self.get(place)["@etag"])

    def get(self, place: str) -> dict[str, Any]:
        """A record as it is."""
        return self.send("GET", place)["data"]

    def patch(self, place: str, changes: dict[str, Any]) -> None:
        """Change a record."""
        self.send("PATCH", place, changes, etag=self.get(place)["@etag"])

    def state(self, item_id: str) -> str:
        """Where an issue stands."""
        record = self.send("GET", f"{item_id.replace('issue', 'issue/')}?@fields=status&@verbose=2")
        return record["data"]["attributes"]["status"]["name"]

    def said(self, item_id: str) -> list[dict[str, str]]:
        """What the messages of an issue are, oldest first."""
        numbers = [one["id"] for one in self.get(item_id.replace("issue", "issue/"))["attributes"]["messages"]]
        query = "&".join(f"id={number}" for number in numbers)
        found = self.send("GET", f"msg?{query}&@fields=content,messageid,author.username&@verbose=3&@sort=id")
        return found["data"]["collection"] if numbers else []

    def send(self, method: str, place: str, body: object = None, *, etag: str = "") -> dict[str, Any]:
        """One request, which succeeds."""
        headers = {"If-Match": etag} if etag else {}
        answer = self._client.request(method, place, json=body, headers=headers)
        assert answer.is_success, f"{method} {place}: {answer.status_code} {answer.text}"
        return answer.json()


class RoundupBench:
    """A real Roundup tracker of its own."""

    def __init__(self, server: Server) -> None:
        """A fresh tracker on the server."""
        self.hand = Hand(server.tracker())
        self.admin = Hand(self.hand.address, "admin")

    def connect(self) -> Tracker:
        """The door, opened anew."""
        return roundup.connect({**self.options(), "single_threaded": True})

    def options(self) -> dict[str, object]:
        """Where it is, who we are, and what blocks; the server of the suite answers one request at a time."""
        return {"endpoint": self.hand.address, "api_key": "stationkeeper:secret", "blocked_by": "dependencies"}

    def add(self, title: str, state: str, *, labels: tuple[str, ...] = (), blocked_by: tuple[str, ...] = ()) -> str:
        """A new card; it can wait for an issue only."""
        keywords = [self.hand.keyword(name) for name in labels if name.strip()]
        others = [other.removeprefix("issue") for other in blocked_by if other.startswith("issue")]
        return self.hand.add(title, state, keyword=keywords, dependencies=others)

    def drag(self, item_id: str, to: str) -> None:
        """Another state."""
        self.hand.edit(item_id, status=to)

    def retitle(self, item_id: str, title: str) -> None:
        """Another title."""
        self.hand.edit(item_id, title=title)

    def say(self, item_id: str, body: str) -> None:
        """A person's comment."""
        self.hand.say(item_id, body)

    def delete(self, item_id: str) -> None:
        """The card is gone."""
        self.admin.delete(item_id)

    def spoil(self, item_id: str) -> None:
        """The record makes no sense: it has no status."""
        self.hand.edit(item_id, **{"@op": "remove", "status": ""})

    def double_comments(self, item_id: str) -> None:
        """Every comment twice."""
        for said in self.hand.said(item_id):
            self.hand.say(item_id, said["content"], author=said["author.username"], **_key(said))


def _key(said: dict[str, str]) -> dict[str, str]:
    return {"messageid": said["messageid"]} if said["messageid"] else {}
