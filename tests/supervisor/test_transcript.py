"""The transcript: everything that was said, up to its limit, never more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.supervisor.transcript import Transcript

LIMIT = 200


@given(pieces=st.lists(st.binary(max_size=120)))
def test_it_keeps_all_or_says_that_it_was_cut(tmp_path_factory, pieces):
    """What fits is kept byte for byte; else it is a prefix, a last line says so, and the limit holds."""
    path = tmp_path_factory.mktemp("transcript") / "log"
    transcript = Transcript(path, limit=LIMIT)
    for piece in pieces:
        transcript.write(piece)
    transcript.close()
    kept, said = path.read_bytes(), b"".join(pieces)
    cut = f"\n[cut: the transcript reached its limit of {LIMIT} bytes]\n".encode()
    assert len(kept) <= LIMIT
    assert (
        kept == said
        if len(said) <= LIMIT - len(cut)
        else said.startswith(kept.removesuffix(cut)) and kept.endswith(cut)
    )


def test_a_turn_has_one_transcript(tmp_path):
    """A second program of the turn goes on where the first stopped, under the same limit."""
    for _ in range(3):
        transcript = Transcript(tmp_path / "log", limit=LIMIT)
        transcript.write(b"x" * 90)
        transcript.close()
    assert (tmp_path / "log").stat().st_size <= LIMIT


def test_nobody_else_may_read_it_and_no_link_leads_elsewhere(tmp_path):
    """It is our user's alone; a link in its place is refused, not followed."""
    transcript = Transcript(tmp_path / "log", limit=LIMIT)
    transcript.close()
    assert (tmp_path / "log").stat().st_mode & 0o077 == 0
    (tmp_path / "link").symlink_to(tmp_path / "log")
    with pytest.raises(OSError, match="link"):
        Transcript(tmp_path / "link", limit=LIMIT)
