"""Every benchmark runs, once and in a tiny size, so that none of them can rot; how fast it was is not looked at."""

import importlib
from collections.abc import Iterator

import pytest

from bench import __main__ as command
from bench import ground as grounds
from bench import measure
from bench.ground import Ground


@pytest.fixture(scope="module")
def ground() -> Iterator[Ground]:
    """Servers of the benchmarks' own, durable as they are in earnest; they start when one asks for them."""
    with grounds.standing() as standing:
        yield standing


@pytest.mark.e2e
@pytest.mark.parametrize("name", command.NAMES)
def test_each_benchmark_runs_and_reports(name, ground):
    """Whatever it measures, it measures it to the end and gives lines that say something."""
    benchmark = importlib.import_module(f"bench.{name}")
    lines = benchmark.run(benchmark.QUICK, ground)
    assert lines
    for line in lines:
        assert line.name
        assert line.ours
        assert (line.bound == "") is (line.is_held is None), "a bound is either held or missed"


def test_a_board_too_long_for_its_bound_is_missed():
    """A duration is held to its bound, and shown beside what it is compared with."""
    held = measure.duration("tick", measure.Medians(0.2, 0.1), bound_seconds=0.5)
    missed = measure.duration("tick", measure.Medians(3.5, 0.1), bound_seconds=3.0)
    assert (held.is_held, held.ours, held.beside, held.ratio) == (True, "200 ms", "100 ms", "2.00")
    assert (missed.is_held, missed.ours, missed.bound) == (False, "3.50 s", "< 3.00 s")


def test_pairs_are_measured_turn_about_and_give_their_medians():
    """Whatever else the machine does meets both alike, and one slow run changes nothing."""
    seen: list[str] = []
    ours, theirs = iter([1.0, 9.0, 2.0]), iter([4.0, 3.0, 90.0])

    def taken(name: str, values: Iterator[float]) -> float:
        seen.append(name)
        return next(values)

    found = measure.interleaved(lambda: taken("ours", ours), lambda: taken("theirs", theirs), pairs=3)
    assert found == measure.Medians(2.0, 4.0)
    assert seen == ["ours", "theirs"] * 3


@pytest.mark.parametrize(("percent", "expected"), [(1, 1.0), (50, 50.0), (99, 99.0), (100, 100.0)])
def test_a_percentile_is_one_of_the_values(percent, expected):
    """The smallest value that so many per cent of them do not exceed."""
    assert measure.percentile([float(value) for value in range(100, 0, -1)], percent) == expected


def test_an_unknown_name_is_refused_before_anything_runs(capsys):
    """Exit code 2, and the names that there are."""
    assert command.main(["plan", "plann"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "no benchmark is called 'plann'" in said.err
    assert all(name in said.err for name in command.NAMES)
