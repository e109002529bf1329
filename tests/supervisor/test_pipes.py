"""What goes into a program and comes out of it: nothing blocks, nothing is lost that counts, nothing grows for ever."""

import threading
from concurrent import futures

import pytest

from orchestrator.ports.supervisor import EndedBy
from tests.waiting import until


def test_the_prompt_reaches_the_program_whole(shared):
    """A prompt beyond what a pipe holds arrives, byte for byte, and then ends."""
    prompt = bytes(range(1, 256)) * 2000
    shared.run("sleep 0.1; cat > prompt", stdin=prompt).wait()
    assert (shared.workspace / "prompt").read_bytes() == prompt


def test_a_program_may_close_its_input_unread(shared):
    """A program that reads nothing of a long prompt is not disturbed by it."""
    assert shared.run("exec 0<&-; sleep 0.1; exit 6", stdin=b"x" * 1_000_000).wait().code == 6


def test_objects_on_standard_output_are_passed_on(shared):
    """Lines of standard output that look like objects come whole and in order, an unfinished last one included."""
    program = shared.run("""echo '{"n":1}'; echo log; echo '{"n":9}' >&2; printf '{"n":'; sleep 0.1; printf '2}'""")
    assert list(program.lines()) == [b'{"n":1}', b'{"n":2}']


def test_bytes_that_are_no_text_come_as_they_are(shared):
    """A line is bytes: what is not UTF-8 arrives unharmed."""
    program = shared.run(r"printf '{\377\000}\n'")
    assert list(program.lines()) == [b"{\xff\x00}"]


@pytest.mark.proves("AE-03")
def test_a_line_that_is_too_long_is_only_log(shared):
    """A line beyond a megabyte is not passed on, the next one is, and both are in the transcript."""
    program = shared.run("""printf '{'; head -c 2000000 /dev/zero | tr '\\0' a; echo '}'; echo '{"n":1}'""")
    assert list(program.lines()) == [b'{"n":1}']
    assert shared.transcript.stat().st_size == 2_000_000 + len('{}\n{"n":1}\n')


@pytest.mark.proves("HK-08")
def test_a_transcript_stops_at_its_limit(shared):
    """What a program says beyond the limit is dropped, the last line says so, and the program goes on to its end."""
    program = shared.run("yes | head -c 300000; exit 5", transcript_bytes=1000)
    assert program.wait().code == 5
    assert shared.transcript.stat().st_size <= 1000
    assert shared.said().splitlines()[-1] == "[cut: the transcript reached its limit of 1000 bytes]"


def test_a_flood_of_one_does_not_hold_up_another(shared):
    """While a program writes as fast as it can, another one starts, speaks and ends."""
    flood = shared.run("yes", transcript=shared.folder / "flood", transcript_bytes=10_000)
    program = shared.run("""echo '{"n":1}'; exit 3""")
    assert (list(program.lines()), program.wait().code) == ([b'{"n":1}'], 3)
    flood.stop()
    assert flood.wait().ended_by is EndedBy.CANCELLED


def test_a_flood_of_objects_waits_for_the_worker(shared):
    """Events that come faster than the worker reads wait in the program's pipe, and none is lost."""
    program = shared.run("""yes '{"filler":"0123456789012345678901234567890123456789"}' | head -n 100000""")
    assert sum(1 for _ in program.lines()) == 100_000


def test_a_worker_that_does_not_read_stops_the_flood(here):
    """What waits for a slow worker is bounded: the program has to wait too, and everything arrives in the end."""
    here.run("true").wait()
    here.client._unanswered_beats = 10**6  # a worker that does not read hears no answer either
    reading = threading.Event()
    hear, here.client._hear = here.client._hear, lambda report: reading.wait() and hear(report)
    ref = here.adopt()
    script = 'yes \'{"filler":"0123456789012345678901234567890123456789"}\' | head -n 100000; touch finished'
    order = here.order(ref, script, transcript_bytes=100_000_000)
    spawned = futures.ThreadPoolExecutor(1).submit(here.client.spawn, order)
    try:
        until(here.said)
        until(lambda: _stands_still(here))
        assert not (here.workspace / "finished").exists()
    finally:
        reading.set()
    assert sum(1 for _ in spawned.result().lines()) == 100_000


def _stands_still(here):
    """Whether the program says no more, though sweeps go on."""
    said, sweeps = here.transcript.stat().st_size, len(here.asked("orphans"))
    until(lambda: len(here.asked("orphans")) > sweeps + 2)
    return said and here.transcript.stat().st_size == said


@pytest.mark.proves("HK-06")
def test_an_inherited_pipe_holds_up_nobody(shared):
    """A child that keeps the program's output open is ended with it; nobody waits for its end of file."""
    program = shared.run("sleep 300 & echo last; exit 0")
    assert program.wait().code == 0
    until(lambda: "last" in shared.said())
