"""The door to workflow files: which there are, and what each means."""

from __future__ import annotations

import errno
import functools
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from orchestrator import prompts
from orchestrator.domain.workflow import Workflow
from orchestrator.ports.workflows import WorkflowFile
from orchestrator.workflow import front_matter, keys, meaning, overrides, passing, shape
from orchestrator.workflow.blocks import FrontMatter
from orchestrator.workflow.findings import Code, Finding, Rejected, invalid
from orchestrator.workflow.front_matter import Document
from orchestrator.workflow.kinds import Kinds

FILE_NAME = "WORKFLOW.md"
# Ten times the longest prompt that anybody would read; the stored row and every parse of it stay small.
MAX_BYTES = 256 * 1024


class WorkflowFiles:
    """Reads the files at `paths`; a folder stands for the WORKFLOW.md in it and in the folders below it.

    `environment` overrides settings and resolves `$VAR`; `kinds` are the boards and agents that can be opened here
    (none: every kind passes, as for a reader that opens nothing). Every error is a WorkflowInvalid.
    """

    def __init__(
        self, paths: Sequence[str | Path], *, environment: Mapping[str, str], kinds: Kinds | None = None
    ) -> None:
        self._paths = tuple(Path(path) for path in paths)
        self._environment = environment
        self._kinds = kinds
        # Ticks, turns and write-backs ask for the same body thousands of times.
        self._parsed = functools.lru_cache(maxsize=64)(self._parse)

    def files(self) -> tuple[Path, ...]:
        """The files to serve, each once, in the order given."""
        return tuple(dict.fromkeys(found for path in self._paths for found in _found(path)))

    def read(self, path: Path) -> WorkflowFile:
        """One file, whole."""
        body = _text(path)
        digest = hashlib.sha256(body.encode()).hexdigest()
        return WorkflowFile(path=path, body=body, digest=digest, workflow=self.parse(body, path=path))

    def parse(self, body: str, *, path: Path) -> Workflow:
        """What a body means when it stands at `path`; its warnings bear their places too."""
        return self._parsed(body, path)

    def liquid(self, path: Path) -> str:
        """The prompt of one file as it is read: a Go template with each action in Liquid that has a spelling there."""
        body = _text(path)
        try:
            return prompts.as_far_as_known(front_matter.read(body).body).lstrip("\n")
        except Rejected as rejected:
            raise invalid(path, rejected.code, rejected.findings) from rejected

    def _parse(self, body: str, path: Path) -> Workflow:
        try:
            document = overrides.overridden(shape.tidied(front_matter.read(body)), self._environment)
            document, spelled = _respelled(document)
            front = shape.shaped(document)
            if self._kinds is not None:
                self._kinds.refuse_tracker(front.tracker.kind, document)
            workflow = meaning.workflow_of(document, front, path=path, environment=self._environment)
            _judge_template(workflow.prompt)
        except Rejected as rejected:
            raise invalid(path, rejected.code, rejected.findings) from rejected
        found = [*spelled, *self._warnings(document, front, workflow)]
        warnings = sorted(found, key=lambda finding: finding.line)
        return replace(workflow, warnings=tuple(f"{path}:{warning.line}: {warning.message}" for warning in warnings))

    def _warnings(self, document: Document, front: FrontMatter, workflow: Workflow) -> Iterator[Finding]:
        yield from keys.unread(document)
        yield from meaning.caps_without_state(front, document)
        yield from overrides.told(document)
        yield from overrides.forbidden(self._environment, document)
        yield from passing.told(front.hooks, document, self._environment)
        if self._kinds is not None:
            yield from self._kinds.without_agent(workflow.agent.kind, document)


def _found(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    found = [each for each in (path / FILE_NAME, *sorted(path.glob(f"*/{FILE_NAME}"))) if each.is_file()]
    if not found:
        message = f"this folder has no {FILE_NAME}, nor has a folder in it; write one, or name the file"
        raise invalid(path, Code.MISSING_FILE, [Finding(1, message)])
    yield from found


def _text(path: Path) -> str:
    try:
        # Without O_NONBLOCK a named pipe would hold the tick until somebody writes to it.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise invalid(path, Code.MISSING_FILE, [Finding(1, "this is not a regular file; name one")])
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise invalid(path, Code.MISSING_FILE, [Finding(1, _unreadable(error))]) from error
    if len(content) > MAX_BYTES:
        message = f"the file is larger than {MAX_BYTES // 1024} KiB; shorten its prompt"
        raise invalid(path, Code.PARSE_ERROR, [Finding(1, message)])
    return _decoded(content, path)


def _unreadable(error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return "there is no such file; write it, or name another (STATIONKEEPER_WORKFLOWS, or WORKFLOW=path)"
    return f"the file cannot be read ({error.strerror}); give this user the right to, or name another"


def _decoded(content: bytes, path: Path) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"byte {content[error.start]:#04x} is not UTF-8; save the file as UTF-8"
        raise invalid(path, Code.PARSE_ERROR, [Finding(line, message)]) from error
    if "\0" in text:
        message = "there is a NUL character in this line; remove it"
        raise invalid(path, Code.PARSE_ERROR, [Finding(text.count("\n", 0, text.index("\0")) + 1, message)])
    return text


def _respelled(document: Document) -> tuple[Document, list[Finding]]:
    """The document with its prompt in Liquid, and a warning for each distinct action that is read as another."""
    found = prompts.respelled(document.body)
    if found is None:
        return document, []
    told = [
        Finding(line, f"{action} is of a Go template and is read as {liquid}")
        for line, action, liquid in found.actions[:_MAX_TOLD]
    ]
    return replace(document, body=found.template), told


# The rest is in what `validate --respell` prints.
_MAX_TOLD = 50


def _judge_template(template: str) -> None:
    found = prompts.problems(template)
    if found:
        raise Rejected(Code.TEMPLATE_ERROR, [Finding(problem.line, problem.message) for problem in found])
