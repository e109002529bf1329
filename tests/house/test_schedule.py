"""Names of Celery tasks: files, include list, routes and schedule say the same ones."""

import ast

import beat_schedule
from tests.house import source


def files():
    """The Celery task modules that exist, as `tasks.<name>`."""
    return {
        file.name.removesuffix(".py").replace("/", ".")
        for file in source.production()
        if file.name.startswith("tasks/") and not file.name.endswith("__init__.py")
    }


def named(path):
    """The names under `tasks.` that a file's text constants spell."""
    [found] = [file for file in source.production() if file.name == path]
    words = {node.value for node in ast.walk(found.tree) if isinstance(node, ast.Constant)}
    return {word for word in words if isinstance(word, str) and word.startswith("tasks.")}


def test_the_application_includes_every_celery_task():
    """A file under tasks/ that the application does not include would never run; an included name must have a file."""
    assert named("orchestrator/celery.py") == files()


def test_the_schedule_rings_celery_tasks_that_exist():
    """Each entry of the schedule names a Celery task of ours and its period; beat knows no other loop."""
    rung = {entry["task"] for entry in beat_schedule.SCHEDULE.values()}
    assert rung <= files()
    assert all(entry["schedule"] > 0 for entry in beat_schedule.SCHEDULE.values())


def test_a_celery_task_file_is_short():
    """A Celery task makes no decision: its file is short enough to see that."""
    lines = {file.name: len(file.text.splitlines()) for file in source.production() if file.name.startswith("tasks/")}
    assert {name: count for name, count in lines.items() if count > 60} == {}
