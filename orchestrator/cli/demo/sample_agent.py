"""A sample agent: makes one failing test pass from what the card says, in small steps, and tells a witness log.

It is a program of its own and knows nothing of the orchestrator: prompt on standard input, JSON lines on standard
output, the folder it stands in is its workspace. Killed at any moment and started again in the same folder, it goes on:
what is committed already is not committed twice.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

# The card's recipe, say: In `lights/fastnet.py`, `character()` returns `"Fl 5s"`.
RECIPE = re.compile(r"In `(?P<file>[^`]+)`, `(?P<name>\w+)\(\)` returns `(?P<value>[^`]+)`")
HEADING = re.compile(r"^Card (?P<item>\S+): (?P<title>.*)$", re.MULTILINE)


def main() -> None:
    """Read the card, work on it, commit, report."""
    options = parse_arguments()
    prompt = sys.stdin.read()
    heading = HEADING.search(prompt)
    if heading is None:
        report("failed", "the prompt names no card")
        sys.exit(1)
    item, title = heading["item"], heading["title"]
    told = Witness(options.witness, item)
    told.write("start")
    clear_stale_locks()
    for step in range(1, (options.long_steps if item in options.long else options.steps) + 1):
        time.sleep(options.pace)
        told.write("step", step=step)
        say("message", text=f"{item}: step {step}")
    recipe = RECIPE.search(prompt)
    path = write_function(recipe) if recipe else write_note(item, title)
    commit(path, f"{item}: {title}")
    told.write("end")
    report("done", f"{path} does what the card says")


def parse_arguments() -> argparse.Namespace:
    """How fast to work and where to witness."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--witness", type=Path, required=True, help="the log that every run appends to")
    parser.add_argument("--pace", type=float, default=0.25, help="seconds a step takes")
    parser.add_argument("--steps", type=int, default=16, help="steps of a card")
    parser.add_argument("--long", nargs="*", default=[], help="cards that take longer")
    parser.add_argument("--long-steps", type=int, default=120, help="steps of a card that takes longer")
    return parser.parse_args()


class Witness:
    """The log of all agents: one JSON line an event, each in a single appending write, so lines keep their order."""

    def __init__(self, path: Path, item: str) -> None:
        """Open nothing yet; `item` is the card that this run works on."""
        self._path = path
        self._facts = {
            "item": item,
            "pid": os.getpid(),
            "turn": os.environ.get("STATIONKEEPER_TURN", ""),
            "fence": int(os.environ.get("STATIONKEEPER_FENCE", "0")),
        }

    def write(self, event: str, **more: object) -> None:
        """Append one event."""
        line = json.dumps({"event": event, **self._facts, "at": round(time.time(), 3), **more}) + "\n"
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.write(descriptor, line.encode())
        os.close(descriptor)


def clear_stale_locks() -> None:
    """Remove the locks of a git that was killed in this worktree: nobody else works in it."""
    branch = git("symbolic-ref", "HEAD").strip()
    for name in ("index.lock", "HEAD.lock", f"{branch}.lock"):
        Path(git("rev-parse", "--git-path", name).strip()).unlink(missing_ok=True)


def write_function(recipe: re.Match[str]) -> Path:
    """The function that the card asks for."""
    path = Path(recipe["file"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"def {recipe['name']}():\n    return {recipe['value']}\n", encoding="utf-8")
    return path


def write_note(item: str, title: str) -> Path:
    """For a card without a recipe: a note that names it."""
    path = Path("notes") / f"{item}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"# {item}\n\n{title}\n", encoding="utf-8")
    return path


def commit(path: Path, message: str) -> None:
    """Commit `path` on the branch that is checked out, unless an earlier run did."""
    git("add", "--", str(path))
    if git("status", "--porcelain", "--", str(path)):
        git("commit", "--quiet", "--message", message)


def git(*words: str) -> str:
    """Run git here; what it printed."""
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout


def say(kind: str, **more: object) -> None:
    """One JSON line on standard output."""
    print(json.dumps({"type": kind, **more}), flush=True)  # noqa: T201 - it is how an agent speaks


def report(outcome: str, summary: str) -> None:
    """The last word."""
    say("result", outcome=outcome, summary=summary)


if __name__ == "__main__":
    main()
