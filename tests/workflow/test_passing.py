"""A hook that would find a variable empty is told before it runs, with the line that gives it the variable."""

import pytest

from orchestrator.workflow import WorkflowFiles
from tests.workflow.test_blocks import BASE, PATH


def warnings(hooks, **environment):
    """The warnings for these hooks in line 9, a line of the file to each."""
    found = WorkflowFiles([], environment=environment).parse(f"---\n{BASE}hooks:\n{hooks}---\n", path=PATH)
    return [line.removeprefix("flows/WORKFLOW.md:") for line in found.warnings]


EMPTY = "which is empty there"
LIST = "hooks see an allow-list"


@pytest.mark.proves("HK-07")
@pytest.mark.parametrize(
    ("hooks", "said"),
    [
        (
            '  after_create: |\n    set -e\n    git clone "$SOURCE_URL" .\n  before_run: tool $KEY\n',
            [
                f"12: 'hooks.after_create' reads $SOURCE_URL, {EMPTY}: {LIST}; add below 'hooks:' the line: ENV",
                f"13: 'hooks.before_run' reads $KEY, {EMPTY}: {LIST}; add below 'hooks:' the line: ENV",
            ],
        ),
        (
            "  env: [A]\n  before_run: echo $A $B\n",
            [f"11: 'hooks.before_run' reads $B, {EMPTY}: {LIST}; make the line of 'hooks.env' env: [A, B]"],
        ),
        (
            "  env: {A: x}\n  before_run: . ./env; echo $A $B\n",
            [
                (
                    f"11: 'hooks.before_run' reads $B, {EMPTY}, unless what it sources sets it: {LIST}; "
                    "add below 'env:' of 'hooks': B: $B"
                )
            ],
        ),
        (
            "  before_run: git clone $SORTIE_REPO_URL .\n",
            [
                (
                    "10: 'hooks.before_run' reads $SORTIE_REPO_URL, which is not set here; SORTIE_… variables are "
                    "passed on to the hooks that name them: set it where the workers run"
                )
            ],
        ),
        ("  after_run: echo $HOME $PWD $GIT_AUTHOR_NAME $SORTIE_ISSUE_ID $STATIONKEEPER_FENCE ${X:-y}\n", []),
        ("  env: [SOURCE_URL]\n  after_create: git clone $SOURCE_URL .\n", []),
    ],
)  # fmt: skip
def test_a_variable_that_nothing_gives_to_the_hook_is_told(hooks, said):
    """What is missing in any hook is in the one line to write; what the shell, the list or we give is not missing."""
    assert warnings(hooks) == [line.replace("ENV", "env: [SOURCE_URL, KEY]") for line in said]


def test_a_peers_variable_that_is_set_is_no_matter():
    """The hook gets it as it did there."""
    assert warnings("  before_run: git clone $SORTIE_REPO_URL .\n", SORTIE_REPO_URL="x") == []
