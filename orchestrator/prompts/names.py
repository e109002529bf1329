"""What a template may name: the fields of an item, of the run, and what stands beside them."""

from __future__ import annotations

from collections.abc import Mapping

ISSUE = (
    "id",
    "identifier",
    "title",
    "description",
    "state",
    "priority",
    "labels",
    "assignee",
    "author",
    "issue_type",
    "parent",
    "blocked_by",
    "branch_name",
    "url",
    "native_ref",
    "dispatchable",
    "created_at",
    "updated_at",
)
# Always there, maybe empty; every other field is absent rather than empty.
REQUIRED = frozenset({"id", "identifier", "title", "description", "state"})
RUN = ("turn_number", "max_turns", "is_continuation")

# None: a value without fields of its own.
VARIABLES: Mapping[str, tuple[str, ...] | None] = {
    "issue": ISSUE,
    "run": RUN,
    "attempt": None,
    "retry_kind": None,
    "ci_failure": None,
    "review_comments": None,
}
