"""What may stand in no file: forbidden delivery features, and the names of places that only this machine knows."""

import ast
import re

import pytest

from tests.house import source

# Each is a way by which a message would carry truth, a delay or a decision; those are columns.
OPTIONS = {"eta", "countdown", "expires", "link", "link_error", "chord"}
METHODS = {"revoke", "retry", "replace", "add_to_chord", "AsyncResult"}
SETTINGS = {"backend", "result_backend", "acks_late", "task_acks_late", "task_reject_on_worker_lost", "autoretry_for"}
OFF = {"None", "False"}
SENDING = {"apply_async", "send_task", "signature"}

# Written in two halves, so that this file is not its own first finding.
REGISTRY_HOSTS = tuple(".".join(halves) for halves in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org")))
MACHINE_PATHS = tuple(f"/{name}/" for name in ("work", "root"))


def delivery_files():
    """The files in which Celery is spoken."""
    return [file for file in source.production() if "celery" in file.text]


@pytest.mark.parametrize("file", delivery_files(), ids=lambda file: file.name)
def test_no_message_carries_a_delay_or_a_decision(file):
    """Messages are hints: no ETA, no countdown, no expiry, no retry, no revoke, no late ack, no result backend."""
    calls = [node for node in ast.walk(file.tree) if isinstance(node, ast.Call)]
    methods = [(call.func, call.keywords) for call in calls if isinstance(call.func, ast.Attribute)]
    options = {word.arg for method, keywords in methods if method.attr in SENDING for word in keywords}
    switched_on = {word.arg for call in calls for word in call.keywords if ast.unparse(word.value) not in OFF}
    called = {method.attr for method, _ in methods if ast.unparse(method.value) in {"self", "app", "app.control"}}
    assert (options & OPTIONS, switched_on & SETTINGS, called & METHODS) == (set(), set(), set())


@pytest.mark.parametrize("place", [*REGISTRY_HOSTS, *MACHINE_PATHS])
def test_no_file_names_a_place_of_one_machine(place):
    """No file names a package registry's host or a path that only one machine has."""
    before = r"(?<![\w.~$}-])" if place.startswith("/") else ""
    pattern = re.compile(before + re.escape(place))
    assert [name for name, text in source.texts().items() if pattern.search(text)] == []
