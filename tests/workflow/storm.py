"""A storm of bad workflow files: `python -m tests.workflow.storm 100000 [SEED]`.

Each goes through the real door, and what passes is rendered. The only ends are a workflow, an error with a code and
a line of it, or a prompt that says where it failed; within a limit of CPU time for each file and of memory for all.
"""

import contextlib
import re
import resource
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from orchestrator import prompts
from orchestrator.domain.item import Blocker, Item
from orchestrator.ports.prompts import PromptFailed
from orchestrator.ports.workflows import WorkflowInvalid
from orchestrator.workflow import Kinds, WorkflowFiles
from tests.workflow import bad_files

# A good file takes milliseconds. The limit is CPU time, so that a busy machine fails nobody.
SECONDS_A_FILE = 10.0
# Python with all that it imports needs a tenth of it.
MEMORY_BYTES = 1 << 30

ITEM = Item(
    id="7",
    identifier="BACK-7",
    title="Fix the login {{ issue }} {% raw %}",
    state="To Do",
    description="It <b>fails</b>.\n" * 20,
    labels=("robot", "urgent"),
    blocked_by=(Blocker("6", "BACK-6", None),),
)
RUN = {"turn_number": 2, "max_turns": 20, "is_continuation": True}
PYTHON = re.compile(r"<(?:class|function|module|built-in|bound|generator)|\bobject at 0x|mappingproxy|__\w+__'")


class Wrong(Exception):
    """A file was met with something else than a workflow or a clear error."""


def verdict(path: Path) -> str:
    """How the file at `path` is met; raises Wrong, and lets every error through that nobody foresaw."""
    files = WorkflowFiles([], environment={"HOME": "/home/robin"}, kinds=Kinds({"backlog"}, {"command"}))
    try:
        workflow = files.read(path).workflow
    except WorkflowInvalid as error:
        last = path.read_bytes().count(b"\n") + 2
        for place, message in error.findings:
            line = place.removeprefix(f"{path}:")
            if not (line.isdecimal() and 1 <= int(line) <= last and message.strip()):
                raise Wrong(f"no line of the file: {place}: {message}") from error
        return error.code
    return judged(workflow.prompt)


def judged(template: str) -> str:
    """How a prompt's template is met; raises Wrong when the prompt shows something of Python."""
    try:
        prompt = prompts.LiquidPrompts().render(template, ITEM, attempt=2, run=RUN, retry_kind=None)
    except PromptFailed as error:
        if not str(error).strip():
            raise Wrong("the prompt failed without a word") from error
        return "template_render_error"
    found = PYTHON.search(prompt)
    if found and found[0] not in template:
        raise Wrong(f"the prompt shows {found[0]}")
    return "rendered"


def storm(numbers: range, seed: int) -> Counter[str]:
    """What became of the files of these numbers; raises Wrong with the number of the first that was met wrongly."""
    ends: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, bounded_memory():
        path = Path(folder) / "WORKFLOW.md"
        for number in numbers:
            path.write_bytes(bad_files.make(seed, number))
            try:
                with bounded_time():
                    ends[verdict(path)] += 1
            except Exception as error:
                raise Wrong(f"file {number} of seed {seed}: {type(error).__name__}: {error}") from error
    return ends


@contextlib.contextmanager
def bounded_time() -> Iterator[None]:
    """Raises Wrong in the middle of what takes too much CPU time."""

    def too_long(*_: object) -> None:
        raise Wrong(f"more than {SECONDS_A_FILE:g} s of CPU time")

    before = signal.signal(signal.SIGVTALRM, too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS_A_FILE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@contextlib.contextmanager
def bounded_memory() -> Iterator[None]:
    """What asks for more gets a MemoryError; counted on top of what this process holds already."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY_BYTES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


if __name__ == "__main__":
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for end, files in sorted(storm(range(count), seed).items()):
        print(f"{files:8} {end}")  # noqa: T201 - the tool's answer
