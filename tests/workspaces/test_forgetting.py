"""What was kept goes by age, and earlier when a branch has it; nothing else goes."""

import os
import subprocess
import time

import pytest

from orchestrator.workspaces.forgetting import forget
from tests.workspaces.hands import git

DAY = 86_400


def keep(repository, name, *, days_old):
    """A kept ref, made so many days ago."""
    at = f"{int(time.time() - days_old * DAY)} +0000"
    tree = git(repository, "rev-parse", "HEAD^{tree}")
    commit = subprocess.run(
        ["git", "commit-tree", tree, "-p", "HEAD", "-m", name],
        cwd=repository,
        env={
            **os.environ,
            **{
                f"GIT_{who}_{what}": value
                for who in ("AUTHOR", "COMMITTER")
                for what, value in (("NAME", "R"), ("EMAIL", "r@example.org"), ("DATE", at))
            },
        },
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    git(repository, "update-ref", f"refs/stationkeeper/kept/{name}", commit)


def kept(repository):
    """The names that are there still."""
    return git(repository, "for-each-ref", "--format=%(refname:lstrip=3)", "refs/stationkeeper/kept").split()


@pytest.mark.proves("WS-12")
def test_kept_work_goes_by_age_and_earlier_where_a_branch_has_it(repository, tmp_path):
    """A month for what is on a branch, the days of the setting for what is nowhere else."""
    keep(repository, "T-1/1", days_old=29)
    git(repository, "branch", "young", "refs/stationkeeper/kept/T-1/1")
    keep(repository, "T-2/1", days_old=31)
    git(repository, "branch", "fetched", "refs/stationkeeper/kept/T-2/1")
    keep(repository, "T-3/1", days_old=179)
    keep(repository, "T-4/1", days_old=181)
    assert forget(repository, tmp_path, days=180) == 2
    assert kept(repository) == ["T-1/1", "T-3/1"]
    assert git(repository, "branch", "--list", "young", "fetched").split() == ["fetched", "young"]


def test_old_files_go_and_young_ones_stay(tmp_path):
    """A bundle or an archive, by the time of its writing; with 0 days nothing ever goes."""
    for name, days in (("old", 181), ("young", 179)):
        file = tmp_path / "T-1" / name
        file.parent.mkdir(exist_ok=True)
        file.touch()
        os.utime(file, (time.time() - days * DAY,) * 2)
    assert forget(None, tmp_path, days=0) == 0
    assert forget(None, tmp_path, days=180) == 1
    assert [file.name for file in tmp_path.glob("*/*")] == ["young"]


def test_a_repository_that_is_gone_stops_nobody(tmp_path):
    """Its work went with it."""
    assert forget(tmp_path / "gone", tmp_path, days=1) == 0
