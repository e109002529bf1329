"""Where workspaces are: contained, one for each item, and never in the place of somebody's work."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.domain.workflow import WorkspaceSettings
from orchestrator.ports.workspaces import WorkspaceBusy, WorkspaceFailed
from orchestrator.workspaces import locks
from tests.workspaces.hands import made, refused, rooms


@pytest.mark.proves("WS-05", "WS-07")
def test_a_workspace_is_made_once_and_found_again(settings, tmp_path):
    """It is a direct child of the root, the same for the same item, and new only the first time."""
    first, again = made(settings, "BACK-1"), made(settings, "BACK-1")
    assert first.path == tmp_path / "rooms" / "BACK-1"
    assert first.path.is_dir()
    assert (first.created_now, again.created_now) == (True, False)
    assert replace(again, created_now=True) == first


@pytest.mark.proves("WS-13")
def test_a_root_is_told_from_another_under_the_same_path(plain, tmp_path):
    """Two hosts that use a new one at once read one id; an empty folder in its place has another."""
    with ThreadPoolExecutor(8) as hosts:
        seen = set(hosts.map(rooms.root, [plain] * 8))
    (first,) = seen
    assert first.path == tmp_path / "rooms"
    first.path.rename(tmp_path / "away")
    assert rooms.root(plain).id != first.id
    assert sorted(path.name for path in (tmp_path / "away").iterdir()) == [".root"]


@pytest.mark.proves("WS-05")
@given(st.text(min_size=1, max_size=40))
def test_no_identifier_leads_out_of_the_root(tmp_path_factory, identifier):
    """Whatever the tracker calls an item, its folder is a child of the root or is refused."""
    root = tmp_path_factory.getbasetemp() / "contained"
    try:
        found = made(WorkspaceSettings(str(root)), identifier)
    except WorkspaceFailed:
        return
    assert found.path.parent == root.resolve()
    assert found.lock_path.parent == root.resolve() / ".items"


@pytest.mark.proves("WS-05")
def test_a_linked_root_is_followed_once(plain, tmp_path):
    """The workspace's path is the one that the file system really has."""
    (tmp_path / "real").mkdir()
    (tmp_path / "rooms").symlink_to(tmp_path / "real")
    assert made(plain, "BACK-1").path == tmp_path / "real" / "BACK-1"


@pytest.mark.proves("WS-05", "WS-08")
def test_what_is_in_the_way_is_never_replaced(settings, tmp_path):
    """A link or a file in the workspace's place is refused and stays what it was."""
    (tmp_path / "rooms").mkdir()
    (tmp_path / "elsewhere").mkdir()
    link, file = tmp_path / "rooms" / "BACK-1", tmp_path / "rooms" / "BACK-2"
    link.symlink_to(tmp_path / "elsewhere")
    file.write_text("mine")
    assert "a link stands where the workspace belongs" in refused(settings, "BACK-1")
    assert "a file stands where the workspace belongs" in refused(settings, "BACK-2")
    assert (link.is_symlink(), file.read_text()) == (True, "mine")


@pytest.mark.proves("WS-03")
@pytest.mark.parametrize("identifier", ["..", "x" * 300, ".new", ".items"])
def test_an_item_without_a_usable_name_gets_no_workspace(plain, identifier):
    """Neither the folder above nor one that holds our own files."""
    assert "identifier" in refused(plain, identifier)


@pytest.mark.proves("WS-04")
def test_an_item_whose_name_another_one_has_is_refused(plain, tmp_path):
    """Where case does not count, `back-1` finds the name of `BACK-1` in the place of its own."""
    made(plain, "BACK-1")
    (tmp_path / "rooms" / ".items" / "BACK-1").write_text("back-1\n")
    assert "belongs to ticket 'back-1'" in refused(plain, "BACK-1")


@pytest.mark.proves("WS-13")
def test_cards_of_two_boards_with_one_key_never_share_a_folder(settings, tmp_path):
    """Two workflows with one root: the first has the folder, the second is told whose it is and what to do."""
    web, app = (replace(settings, board=f"backlog:/{name}") for name in ("web", "app"))
    found = rooms.prepare(web, "BACK-1")
    assert "belongs to the card 'BACK-1' of another board (backlog:/web)" in refused(app, "BACK-1")
    assert rooms.prepare(web, "BACK-1").path == found.path
    assert rooms.prepare(app, "BACK-2").path == tmp_path / "rooms" / "BACK-2"


def test_a_half_written_claim_is_completed(plain, tmp_path):
    """A process that died while it claimed a folder blocks nobody."""
    made(plain, "BACK-1")
    claim = tmp_path / "rooms" / ".items" / "BACK-1"
    claim.write_text("")
    made(plain, "BACK-1")
    assert claim.read_text() == "BACK-1\n"


def test_a_root_that_cannot_be_made_is_told_by_its_path(tmp_path):
    """The author of the workflow reads which path and why."""
    (tmp_path / "file").write_text("")
    message = refused(WorkspaceSettings(str(tmp_path / "file" / "rooms")), "BACK-1")
    assert message == f"{tmp_path}/file/rooms: Not a directory; correct workspace.root"
    assert "absolute" in refused(WorkspaceSettings("rooms"), "BACK-1")


@pytest.mark.proves("WS-10")
def test_a_reused_workspace_keeps_what_is_in_it(settings):
    """Nothing is reset, cleaned or checked out again."""
    found = made(settings, "BACK-1")
    (found.path / "notes.txt").write_text("half done")
    (found.path / "file.txt").write_text("changed")
    made(settings, "BACK-1")
    assert (found.path / "notes.txt").read_text() == "half done"
    assert (found.path / "file.txt").read_text() == "changed"


@pytest.mark.proves("WS-13")
def test_two_at_once_get_one_workspace(settings):
    """Exactly one of them made it; who came while it was being made is told to come again, who came after finds it.

    Where a hook still has its part to do, a making is complete with that part only, and the hook holds the lock.
    """
    start = Barrier(4)

    def make(_):
        start.wait()
        try:
            return rooms.prepare(settings, "BACK-1", has_hook=False)
        except WorkspaceBusy:
            return None

    with ThreadPoolExecutor(4) as pool:
        found = [each for each in pool.map(make, range(4)) if each is not None]
    assert [each.created_now for each in found].count(True) == 1
    assert len({each.head for each in found}) == 1


@pytest.mark.proves("WS-10", "WS-13")
def test_a_workspace_without_a_hook_is_complete_at_once(settings):
    """Whoever comes between its making and the agent's start finds it, with what is in it."""
    found = rooms.prepare(settings, "BACK-1", has_hook=False)
    (found.path / "work").write_text("work")
    again = rooms.prepare(settings, "BACK-1", has_hook=False)
    assert (found.created_now, again.created_now, (again.path / "work").read_text()) == (True, False, "work")


@pytest.mark.proves("WS-07", "WS-09")
def test_a_workspace_that_was_never_finished_is_made_anew(settings):
    """Its worker died in the creation hook: half of what the hook filled in is no workspace."""
    found = rooms.prepare(settings, "BACK-1")
    (found.path / "half").write_text("a clone")
    again = rooms.prepare(settings, "BACK-1")
    assert again.created_now
    assert not (again.path / "half").exists()


@pytest.mark.proves("WS-09")
def test_an_undone_workspace_is_gone_and_a_finished_one_stays(settings):
    """Only what was made now and never finished is taken back; the branch stays."""
    first, second = rooms.prepare(settings, "BACK-1"), made(settings, "BACK-2")
    for each in (first, second):
        (each.path / "work").write_text("work")
        rooms.undo(each)
    assert (first.path.exists(), (second.path / "work").read_text()) == (False, "work")
    assert rooms.prepare(settings, "BACK-1").created_now


@pytest.mark.proves("WS-09")
def test_a_folder_that_somebody_put_there_is_never_undone(plain):
    """The mark names the folder that we made, and no other in its place."""
    found = rooms.prepare(plain, "BACK-1")
    found.path.rename(found.path.with_name("aside"))
    found.path.mkdir()
    (found.path / "mine.txt").write_text("mine")
    rooms.undo(found)
    assert rooms.prepare(plain, "BACK-1").path == found.path
    assert (found.path / "mine.txt").read_text() == "mine"


@pytest.mark.proves("WS-13")
def test_a_workspace_in_use_is_not_prepared(settings):
    """An agent of an earlier turn, frozen perhaps, holds the lock still: the next turn waits."""
    found = made(settings, "BACK-1")
    with locks.held(found.lock_path), pytest.raises(WorkspaceBusy, match="tried again later"):
        rooms.prepare(settings, "BACK-1")
