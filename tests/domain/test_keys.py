"""Names derived from an item: stable, safe for a file system, and two for two."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.domain import keys

IDENTIFIERS = st.text(st.characters(codec="utf-8"), max_size=60).filter(lambda text: text not in {"", ".", ".."})
PLAIN = st.from_regex(r"[A-Za-z0-9._-]{1,60}", fullmatch=True).filter(lambda text: text not in {".", ".."})


@pytest.mark.proves("WS-01")
@given(IDENTIFIERS)
def test_a_key_holds_only_safe_characters(identifier):
    """A key is a plain folder name whatever the tracker calls the item."""
    key = keys.workspace_key(identifier)
    assert re.fullmatch(r"[A-Za-z0-9._-]+", key)
    assert key not in {".", ".."}


@pytest.mark.proves("WS-02")
@given(PLAIN)
def test_a_plain_identifier_is_its_own_key(identifier):
    """A person finds BACK-12 under BACK-12."""
    assert keys.workspace_key(identifier) == identifier


@pytest.mark.proves("WS-02")
@given(IDENTIFIERS, IDENTIFIERS)
def test_two_identifiers_get_two_keys(one, other):
    """What collapses to one text is kept apart by a hash of the original."""
    assert (keys.workspace_key(one) == keys.workspace_key(other)) == (one == other)


@pytest.mark.proves("WS-02")
def test_a_cleaned_key_is_the_same_in_every_process():
    """The hash is one of the text, not Python's own, which differs from process to process."""
    assert keys.workspace_key("ops/7") == "ops_7-4efc5584aee75467"
    assert keys.workspace_key("ops:7") != keys.workspace_key("ops/7")


@pytest.mark.proves("WS-03")
@pytest.mark.parametrize("identifier", ["", ".", "..", "x" * 201, "ü" * 101])
def test_a_name_that_no_folder_can_have_is_refused(identifier):
    """Empty, the folder itself, the folder above, and what is longer than a file system takes."""
    with pytest.raises(keys.UnsafeIdentifier):
        keys.workspace_key(identifier)


@given(IDENTIFIERS, st.sampled_from(["stationkeeper/{key}", "agents/{key}/work", "{key}"]))
def test_a_branch_bears_the_key_of_its_item(identifier, pattern):
    """Branch and workspace are found from each other."""
    assert keys.branch_name(pattern, identifier) == pattern.format(key=keys.workspace_key(identifier))


@given(st.text(min_size=1), st.text(min_size=1), IDENTIFIERS)
def test_two_boards_never_share_a_lease(one, other, item_id):
    """An item of the same id on another board has another key."""
    assert (keys.lease_key(one, item_id) == keys.lease_key(other, item_id)) == (one == other)


def test_comment_keys_tell_installation_and_hold():
    """The status comment and each hold's comment have keys of their own, for each installation."""
    found = {
        keys.status_comment_key("a"),
        keys.status_comment_key("b"),
        keys.hold_comment_key("a", "1"),
        keys.hold_comment_key("a", "2"),
    }
    assert len(found) == 4
