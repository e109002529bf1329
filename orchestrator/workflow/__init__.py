"""WORKFLOW.md: what a team writes down, read strictly.

    files          a path -> a file -> a Workflow; the door's adapter
    front_matter   the text between the two `---` lines -> plain values, each with the line it stands on
    blocks         the shape of these values, as Pydantic models
    shape          plain values -> these models, or sentences about what does not fit
    findings       what is wrong, as sentences with a place
    overrides      what the environment may set in the file's place
    kinds          which boards and agents there are
    keys           keys that nobody reads: a warning with the closest one
    meaning        shaped values -> the domain's Workflow
    variables      `$VAR`, `~` and relative paths
    opening        a tracker's options as they are when it is opened

An error always says where it is, what was found, what was expected and what to do. Nothing here reads the environment:
whoever opens the door brings it.
"""

from orchestrator.workflow.files import FILE_NAME as FILE_NAME
from orchestrator.workflow.files import WorkflowFiles as WorkflowFiles
from orchestrator.workflow.kinds import Kinds as Kinds
from orchestrator.workflow.opening import opened_options as opened_options
