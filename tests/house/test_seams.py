"""Every durable write passes a named place: who writes past the doors is found here."""

import ast

import pytest

from tests.house import source

# Where a statement is given to the driver. Everything else calls one of these, so that one call is one commit.
STATEMENTS = {
    "orchestrator/store/database.py",  # sessions: one call, one commit
    "orchestrator/store/exchange.py",  # a session's statement on its way to the server
    "orchestrator/store/lending.py",  # rolls back what comes back begun
    "orchestrator/store/connections.py",  # settings of a connection
    "orchestrator/store/migrate.py",
    "orchestrator/store/roles.py",
    "orchestrator/embedded/postgres.py",  # makes the database itself
}
# Who speaks to the services behind the other doors.
CLIENTS = {
    "psycopg": {"orchestrator/store/", "orchestrator/embedded/", "orchestrator/cli/servers.py"},
    "sqlalchemy": {"orchestrator/store/"},
    "redis": {"orchestrator/leases.py", "orchestrator/queue.py", "orchestrator/embedded/", "orchestrator/cli/"},
    "celery": {"orchestrator/celery.py", "orchestrator/cli/", "tasks/"},
    "kombu": {"orchestrator/broker.py", "orchestrator/celery.py", "orchestrator/queue.py"},
    "httpx": {"orchestrator/rest.py", "orchestrator/trackers/"},
}
# Whose attributes end a transaction or hand a statement over.
WRITES = {"execute", "executemany", "commit", "raw_connection", "exec_driver_sql", "send_task", "apply_async"} | {
    *("exchange", "exec_", "exec_params", "exec_prepared", "send_query", "send_query_params", "send_query_prepared"),
}
# What hands a statement to one of the store's databases; only its rooms do, so that each write has a name.
STATES = {"change", "transaction"}
DATABASES = {"slow", "hot"}
SENDERS = {
    "orchestrator/leases.py",
    "orchestrator/queue.py",
    "orchestrator/wiring.py",
    "orchestrator/cli/flows/store.py",
    "orchestrator/cli/demo/backstage.py",
}


def writes(text):
    """The lines of a module that hand a statement or a message over."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and node.attr in WRITES:
            yield node.lineno, node.attr


def statements(text):
    """The lines of a module that make a statement of their own on the store's databases."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            inner = node.func.value.attr if isinstance(node.func.value, ast.Attribute) else ""
            if node.func.attr in STATES or inner in DATABASES:
                yield node.lineno, node.func.attr


def imports(text):
    """The top-level packages that a module imports."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def bypasses(name, text):
    """What a module does past the doors."""
    if name not in STATEMENTS | SENDERS and "/migrations/" not in name:
        yield from (f"{name}:{line}: {what}" for line, what in writes(text))
    if not name.startswith("orchestrator/store/"):
        yield from (f"{name}:{line}: {what}" for line, what in statements(text))
    for package in set(imports(text)) & set(CLIENTS):
        if not name.startswith(tuple(CLIENTS[package])):
            yield f"{name}: imports {package}"


@pytest.mark.proves("DE-17")
def test_no_durable_write_bypasses_the_doors():
    """A statement is given to the driver in eight files, a service is spoken to by its own adapter."""
    found = [what for file in source.production() for what in bypasses(file.name, file.text)]
    assert found == []


@pytest.mark.proves("DE-17")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("orchestrator/engine/quick.py", "def f(c):\n    c.execute('update task set status = 1')\n"),
        ("orchestrator/store/flows/quick.py", "def f(e):\n    e.raw_connection().commit()\n"),
        ("orchestrator/engine/quick.py", "import psycopg\n"),
        ("orchestrator/cli/quick.py", "def f(kept):\n    kept.slow.row('update task set status = 1 returning id')\n"),
        ("orchestrator/engine/quick.py", "def f(base):\n    base.change('update task set status = 1')\n"),
        ("tasks/quick.py", "def f(base):\n    with base.transaction() as session:\n        session.row('delete')\n"),
        ("orchestrator/cli/quick.py", "def f(app):\n    app.send_task('tasks.turn')\n"),
        ("orchestrator/trackers/quick.py", "from redis import Redis\n"),
    ],
)
def test_a_write_past_the_doors_is_found(name, text):
    """The check bites."""
    assert list(bypasses(name, text))
