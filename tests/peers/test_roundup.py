"""The real Roundup: what only it does, and one card from To Do to review by the whole system."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from orchestrator import workflow
from orchestrator.ports.tracker import NotMoved, TrackerError, TrackerFault
from orchestrator.trackers import roundup
from tests.e2e.launcher import Launcher
from tests.peers.roundup import Hand, RoundupBench, Server, serving
from tests.waiting import until

pytestmark = pytest.mark.peer

KEY = "inst-1:status"
# A detector of the kind that teams write: who has not been reviewed is not done.
RULE = """
from roundup.exceptions import Reject

def review_first(db, cl, nodeid, newvalues):
    done, review = db.status.lookup("Done"), db.status.lookup("In Review")
    if newvalues.get("status") == done and cl.get(nodeid, "status") != review:
        raise Reject("not reviewed yet")

def init(db):
    db.issue.audit("set", review_first)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the trackers are."""
    return tmp_path_factory.mktemp("roundup")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    """One server for all."""
    with serving(folder) as running:
        yield running


@pytest.fixture
def bench(server: Server) -> RoundupBench:
    """A tracker of its own."""
    return RoundupBench(server)


@pytest.mark.proves("TW-07", "SC-16", "FS-23")
def test_a_move_that_the_trackers_own_workflow_refuses_waits_for_a_person(folder: Path, server: Server):
    """No other try makes sense; the fault says what the tracker said, and the card stands."""
    Hand(server.tracker()).add("warm up", "To Do")
    (folder / "template" / "detectors" / "review_first.py").write_text(RULE)
    try:
        bench = RoundupBench(server)
        item_id = bench.add("Mend the pump", "To Do")
        with pytest.raises(TrackerError) as failure:
            bench.connect().move(item_id, "Done", only_from=["To Do"], revision=None)
    finally:
        (folder / "template" / "detectors" / "review_first.py").unlink()
    assert (failure.value.fault, failure.value.sent) == (TrackerFault.PAYLOAD, False)
    assert "not reviewed yet" in str(failure.value)
    assert bench.hand.state(item_id) == "To Do"


@pytest.mark.proves("TW-10", "TW-13")
def test_a_comment_that_was_made_but_not_linked_is_found_again(bench: RoundupBench):
    """The process died between the two requests: the next one links that message and makes no other."""
    item_id = bench.add("Mend the pump", "To Do")
    name = f"<{KEY}.{item_id}@stationkeeper>"
    orphan = {"author": "stationkeeper", "date": "2026-03-01.10:00:00", "content": "Old.", "messageid": name}
    bench.hand.send("POST", "msg", orphan)
    tracker = bench.connect()
    for _ in range(2):
        tracker.comment(item_id, KEY, "Working on it.")
    assert [(said.key, said.body) for said in tracker.comments(item_id)] == [(KEY, "Working on it.")]
    assert len(bench.hand.said(item_id)) == 1


@pytest.mark.proves("TW-04")
def test_our_comment_moves_no_card_for_a_detector(bench: RoundupBench):
    """Roundup's stock rule sets `chatting` on a new message; ours names the status again and so does not set it off."""
    bench.admin.send("POST", "status", {"name": "chatting", "order": 9})
    bench.admin.send("POST", "status", {"name": "unread", "order": 10})
    item_id = bench.add("Mend the pump", "unread")
    bench.connect().comment(item_id, KEY, "Working on it.")
    assert bench.hand.state(item_id) == "unread"


def test_the_description_is_what_its_author_said_first(bench: RoundupBench):
    """And not the first thing that anybody said."""
    told, untold = bench.add("Mend the pump", "To Do"), bench.add("Paint the hull", "To Do")
    bench.hand.say(told, "It leaks.\n\nBadly.")
    bench.connect().comment(untold, KEY, "Working on it.")
    items = bench.connect().get_items([told, untold])
    assert [items[item_id].description for item_id in (told, untold)] == ["It leaks.\n\nBadly.", ""]
    assert items[told].author == "ada"


@pytest.mark.proves("TE-08")
@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"api_key": "stationkeeper:wrong"}, TrackerFault.AUTH),
        ({"api_key": "nobody:secret"}, TrackerFault.AUTH),
        ({"endpoint": "http://127.0.0.1:1/demo/"}, TrackerFault.TRANSPORT),
        ({"blocked_by": "nothing-of-the-kind"}, TrackerFault.PAYLOAD),
    ],
)
def test_a_tracker_that_cannot_be_read_says_why(bench: RoundupBench, options: dict[str, str], fault: TrackerFault):
    """A wrong password, a wrong place, a wrong property: none is an empty board."""
    item_id = bench.add("Mend the pump", "To Do")
    ours = {"endpoint": bench.hand.address, "api_key": "stationkeeper:secret", **options}
    with pytest.raises(TrackerError) as failure:
        roundup.connect(ours).get_items([item_id])
    assert failure.value.fault is fault
    assert "secret" not in str(failure.value)


def test_a_status_that_a_person_renamed_is_told(bench: RoundupBench):
    """Between two looks: the card is where it was, under its new name."""
    item_id = bench.add("Mend the pump", "In Review")
    bench.admin.patch("status/3", {"name": "Verify"})
    assert bench.connect().states() == ("To Do", "In Progress", "Verify", "Done")
    assert bench.connect().move(item_id, "Done", only_from=["In Review"], revision=None) == NotMoved("Verify")


def explained(station: Launcher, key: str) -> str:
    """What `explain` says of a card, for better or worse."""
    answer = station.orchestrator("explain", key)
    return answer.stdout + answer.stderr


def workflow_file(folder: Path, address: str) -> Path:
    """A workflow for the tracker, with an agent that is done at once."""
    front = {
        "name": "roundup",
        "tracker": {
            "kind": "roundup",
            "endpoint": address,
            "api_key": "$ROUNDUP_KEY",
            "active_states": ["To Do", "In Progress"],
            "terminal_states": ["Done"],
            "in_progress_state": "In Progress",
            "handoff_state": "In Review",
        },
        "polling": {"interval_ms": 1000},
        "workspace": {"root": "workspaces"},
        "agent": {"command": """sh -c 'cat > prompt.txt; echo "{\\"type\\":\\"result\\",\\"outcome\\":\\"done\\"}"'"""},
    }
    path = folder / "WORKFLOW.md"
    path.write_text(
        f"---\n{yaml.safe_dump(front, sort_keys=False)}---\n{{{{ issue.title }}}}: {{{{ issue.description }}}}\n"
    )
    return path


@pytest.mark.e2e
@pytest.mark.timeout(240)
@pytest.mark.proves("CS-17")
def test_a_card_on_a_real_tracker_goes_from_to_do_to_review(
    bench: RoundupBench, tmp_path: Path, database_url: str, redis_url: str
):
    """By `up`: its agent got the card's text, and the card bears one comment of ours; a person's card is left alone."""
    item_id, closed = bench.add("Mend the pump", "To Do"), bench.add("Paint the hull", "Done")
    bench.hand.say(item_id, "It leaks.")
    station = Launcher(
        tmp_path / "station", DATABASE_URL=database_url, REDIS_URL=redis_url, ROUNDUP_KEY="stationkeeper:secret"
    )
    path = workflow_file(station.folder, bench.hand.address)
    read = workflow.WorkflowFiles([], environment={"ROUNDUP_KEY": "x:y"}).read(path).workflow
    assert (read.tracker.kind, read.warnings) == ("roundup", ())
    assert station.orchestrator("validate", str(path)).returncode == 0
    try:
        station.up("--workflow", str(path))
        until(lambda: bench.hand.state(item_id) == "In Review", timeout_seconds=90, what="the card in review")
        until(lambda: "is done" in bench.hand.said(item_id)[-1]["content"], timeout_seconds=30, what="the comment")
        # Neither column is listed: the one was left just now, the other was met by the slow look.
        for card, state in ((item_id, "In Review"), (closed, "Done")):
            told = f"not_active ({state})"
            until(lambda card=card, told=told: told in explained(station, card), timeout_seconds=30, what=told)
        assert "was not on the board roundup:" in explained(station, "issue99")
        waiting = 'stationkeeper_waiting_items{reason="not_active",workflow="roundup"} 2.0'
        assert waiting in station.orchestrator("metrics").stdout
    finally:
        assert station.process
        station.process.terminate()
        station.process.wait(30)
        station.await_end()
    said = bench.hand.said(item_id)
    assert [one["author.username"] for one in said] == ["ada", "stationkeeper"]
    assert (bench.hand.state(closed), bench.hand.said(closed)) == ("Done", [])
    (prompt,) = (station.folder / "workspaces").glob("*/prompt.txt")
    assert prompt.read_text().strip() == "Mend the pump: It leaks."
