"""Which line of docs/contracts.md is proved by which test: `python -m tests.contracts` prints it.

It reads the marks from the source, so it needs no server and runs no test. `--missing` prints the lines without one.
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.table import Table

from tests.house import source

PAGE = source.ROOT / "docs" / "contracts.md"
_LINE = re.compile(r"^\| ([A-Z]{1,2}-?\d{1,2}) \| (.+) \|$", re.MULTILINE)


def lines() -> dict[str, str]:
    """Every line of the contract by its ID, in the order of the page."""
    return dict(_LINE.findall(PAGE.read_text(encoding="utf-8")))


def proofs() -> dict[str, list[str]]:
    """The tests that claim to prove a line, by its ID: marked themselves, or in a module that is marked."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for file in source.python_files():
        for node, test in _marked(file):
            for line in _named(node):
                found[line].append(test.removeprefix("tests/"))
    return dict(found)


def _marked(file: source.Source) -> Iterator[tuple[ast.AST, str]]:
    for function in file.functions():
        if function.name.startswith("test_"):
            yield from ((mark, f"{file.name}::{function.name}") for mark in function.decorator_list)
    yield from ((node, file.name) for node in file.tree.body if isinstance(node, ast.Assign))


def _named(node: ast.AST) -> Iterator[str]:
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("mark.proves"):
            yield from (ast.literal_eval(argument) for argument in call.args)


def _table(known: Mapping[str, str], proved: Mapping[str, Sequence[str]]) -> Table:
    count = sum(line in proved for line in known)
    table = Table("line", "promise", "proved by", title=f"{count} of {len(known)} lines have a proof")
    for line, promise in known.items():
        table.add_row(line, promise, "\n".join(proved.get(line, ["[dim]none yet[/dim]"])))
    return table


def main(arguments: Sequence[str]) -> None:
    """Print every line with its proofs, or only those that have none."""
    known, proved = lines(), proofs()
    if "--missing" in arguments:
        missing = (f"{line:6} {promise}" for line, promise in known.items() if line not in proved)
        Console().print("\n".join(missing), soft_wrap=True)
    else:
        Console().print(_table(known, proved))


if __name__ == "__main__":
    main(sys.argv[1:])
