"""What the import contracts in pyproject.toml cannot say; the layers themselves are theirs."""

import ast
import sys

from tests.house import source


def imported(tree):
    """The top-level and full names that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_the_domain_stands_on_the_standard_library_alone():
    """The domain imports itself and Python, and nothing that reads clocks, files, chance or the network."""
    impure = {"io", "os", "pathlib", "random", "secrets", "socket", "subprocess", "tempfile", "threading", "time"}
    outside = [
        f"{file.name}: {name}"
        for file in source.production()
        if file.name.startswith("orchestrator/domain/")
        for name in imported(file.tree)
        if not name.startswith("orchestrator.domain")
        and (name.partition(".")[0] not in sys.stdlib_module_names or name.partition(".")[0] in impure)
    ]
    assert outside == []


def test_only_the_settings_read_the_environment():
    """What an installation runs with is read in one place; programs that stand alone may read their own."""
    alone = ("orchestrator/settings.py", "orchestrator/cli/demo/sample_agent.py")
    readers = {
        file.name
        for file in source.production()
        for node in ast.walk(file.tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node) in {"os.environ", "os.environb", "os.getenv"}
    }
    assert readers - set(alone) == set()


def test_the_domain_asks_no_clock():
    """`now` is a parameter: no call of the domain reads it."""
    asked = [
        f"{file.name}:{node.lineno}"
        for file in source.production()
        if file.name.startswith("orchestrator/domain/")
        for node in ast.walk(file.tree)
        if isinstance(node, ast.Attribute)
        and node.attr in {"now", "utcnow", "today", "uuid1", "uuid4"}
        and ast.unparse(node.value) in {"datetime", "datetime.datetime", "date", "datetime.date", "uuid"}
    ]
    assert asked == []
