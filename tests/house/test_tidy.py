"""The measures of the house: small files, short functions, names that say something, a law in every test."""

import ast
from statistics import median, quantiles

import pytest

from tests.house import source

MAX_FILE_LINES = 300
MEDIAN_FILE_LINES = 120

# A body is counted without its docstring. Above the limit a function does two things.
MAX_BODY_LINES = 40
MEDIAN_BODY_LINES = 8
NINTH_DECILE_BODY_LINES = 20

# Names that a file gets when nobody has found what it is about.
EMPTY_NAMES = {"utils", "util", "common", "helpers", "helper", "base", "manager", "managers", "misc", "core"}


def body_lines(function):
    """The lines of a function's body, its docstring left out."""
    statements = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return statements[-1].end_lineno - statements[0].lineno + 1 if statements else 0


@pytest.mark.parametrize("file", source.python_files(), ids=lambda file: file.name)
def test_no_file_and_no_function_is_long(file):
    """A file is at most 300 lines, a function's body at most 40."""
    assert len(file.text.splitlines()) <= MAX_FILE_LINES
    long = {function.name: body_lines(function) for function in file.functions()}
    assert {name: lines for name, lines in long.items() if lines > MAX_BODY_LINES} == {}


def test_most_files_and_functions_are_small():
    """Half of the production files are below 120 lines, half of the bodies below 8, nine in ten below 20."""
    files = [len(file.text.splitlines()) for file in source.production()]
    bodies = [body_lines(function) for file in source.production() for function in file.functions()]
    assert median(files) <= MEDIAN_FILE_LINES
    assert median(bodies) <= MEDIAN_BODY_LINES
    assert quantiles(bodies, n=10)[8] <= NINTH_DECILE_BODY_LINES


def test_every_file_name_says_what_it_is_about():
    """No file or folder is named for being a place to put things."""
    parts = {part for file in source.python_files() for part in file.name.removesuffix(".py").split("/")}
    assert parts & EMPTY_NAMES == set()


def test_every_test_states_its_law():
    """A test's docstring is the law that it proves: without one it cannot land."""
    lawless = [
        f"{file.name}: {function.name}"
        for file in source.python_files()
        for function in file.functions()
        if file.name.startswith("tests/") and function.name.startswith("test_") and not ast.get_docstring(function)
    ]
    assert lawless == []


def test_no_test_waits_for_a_time():
    """A test waits for a place or a state (`tests.waiting.until`), never for a number of seconds."""
    sleepers = [
        f"{file.name}:{node.lineno}"
        for file in source.python_files()
        for node in ast.walk(file.tree)
        if file.name.startswith("tests/")
        and ast.unparse(node) in {"time.sleep", "asyncio.sleep", "from time import sleep"}
    ]
    assert sleepers == []


def test_one_sentence_opens_every_module():
    """A module's first line is a whole sentence."""
    openings = {file.name: (ast.get_docstring(file.tree) or "").partition("\n")[0] for file in source.python_files()}
    assert [name for name, line in openings.items() if not line.rstrip().endswith((".", "!", "?", ":", "…"))] == []


def dataclasses(file):
    """The public dataclasses of a file, each with its decorator's words."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for mark in map(ast.unparse, node.decorator_list):
                if "dataclass" in mark:
                    yield node.name, set(mark.rstrip(")").replace("(", ", ").split(", "))


def test_values_are_frozen_and_slotted():
    """Every dataclass of production code has slots; what the domain and the doors pass around cannot change."""
    files = source.production()
    loose = [f"{file.name}: {name}" for file in files for name, mark in dataclasses(file) if "slots=True" not in mark]
    values = [file for file in files if file.name.startswith(("orchestrator/domain/", "orchestrator/ports/"))]
    molten = [
        f"{file.name}: {name}" for file in values for name, mark in dataclasses(file) if "frozen=True" not in mark
    ]
    assert (loose, molten) == ([], [])
