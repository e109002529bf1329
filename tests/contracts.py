"""Which test proves which line: `python -m tests.contracts` prints the table.

It reads the marks from the source, so it needs no server and runs no test.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from tests.house import source


def proofs() -> Iterator[tuple[str, str]]:
    """Every (line, test) pair that a `proves` mark claims, on a test or on its whole module."""
    for file in source.python_files():
        tests = [function for function in file.functions() if function.name.startswith("test_")]
        for test in tests:
            yield from ((line, f"{file.name}::{test.name}") for mark in test.decorator_list for line in _lines(mark))
        yield from (
            (line, file.name) for node in file.tree.body if isinstance(node, ast.Assign) for line in _lines(node)
        )


def _lines(node: ast.AST) -> list[str]:
    calls = [
        call for call in ast.walk(node) if isinstance(call, ast.Call) and ast.unparse(call.func).endswith(".proves")
    ]
    return [ast.literal_eval(argument) for call in calls for argument in call.args]


def main() -> None:
    """Print the lines that have a proof, each with its tests."""
    by_line: defaultdict[str, list[str]] = defaultdict(list)
    for line, test in proofs():
        by_line[line].append(test.removeprefix("tests/"))
    table = Table("line", "proved by", title=f"{len(by_line)} lines have a proof")
    for line in sorted(by_line):
        table.add_row(line, "\n".join(by_line[line]))
    Console().print(table)


if __name__ == "__main__":
    main()
