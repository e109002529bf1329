"""What is wrong with a workflow file: findings with a line, and the one error that they become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from orchestrator.ports.workflows import WorkflowInvalid


class Code(Enum):
    """The machine's word for what is wrong; set by the part that found it, gone with a corrected file."""

    MISSING_FILE = "missing_workflow_file"  # it is not there or cannot be read
    PARSE_ERROR = "workflow_parse_error"  # the front matter is not YAML, or a value in it is wrong
    NOT_A_MAP = "workflow_front_matter_not_a_map"  # the front matter is YAML of another shape
    UNKNOWN_KIND = "unsupported_tracker_kind"  # the file names a kind of board that is not there
    STATE_CONTRACT = "invalid_state_contract"  # the roles of the states contradict each other
    TEMPLATE_ERROR = "template_parse_error"  # the body is not a template that can be rendered


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, and the line (1 is the first of the file) where a person should look."""

    line: int
    message: str


class Rejected(Exception):
    """A part of the file cannot be used; the path is known further up."""

    def __init__(self, code: Code, findings: Sequence[Finding]) -> None:
        super().__init__(code.value)
        self.code = code
        self.findings = sorted(findings, key=lambda finding: finding.line)


def invalid(path: Path, code: Code, findings: Sequence[Finding]) -> WorkflowInvalid:
    """The error for people: the first finding's place and sentence, and behind it every other on a line of its own."""
    (place, message), *others = [(f"{path}:{finding.line}", finding.message) for finding in findings]
    return WorkflowInvalid(code.value, place, message, others=others)
