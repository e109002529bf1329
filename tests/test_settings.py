"""The settings: where a value comes from, and what a person reads when one is missing or wrong."""

import os
import re
import stat
from pathlib import Path

import pytest

from orchestrator import run_file, settings

SERVICES = {"DATABASE_URL": "postgresql://u:secret-p@db/x", "REDIS_URL": "redis://:secret-r@cache/0"}
FILED = {"database_url": "postgresql+psycopg://filed@127.0.0.1:1/x", "redis_url": "redis://127.0.0.1:2/0"}


def refusal(environment, folder):
    """The one line that a person reads."""
    with pytest.raises(settings.NotConfigured) as caught:
        settings.read(environment, folder)
    line = str(caught.value)
    assert "\n" not in line
    assert "secret" not in line
    return line


def test_neither_file_nor_variables_says_what_to_do(tmp_path):
    """With neither a run file nor variables, one line names both remedies."""
    line = refusal({}, tmp_path)
    assert "make up" in line
    assert "DATABASE_URL" in line


def test_run_file_is_found_from_its_folder(tmp_path):
    """What `up` wrote is what every command in that folder runs with."""
    run_file.write(tmp_path / ".stationkeeper", {**FILED, "turn_slots": "3", "sabotage": "fence"})
    found = settings.read({}, tmp_path)
    assert (found.database_url, found.redis_url) == (FILED["database_url"], FILED["redis_url"])
    assert found.turn_slots == 3
    assert found.sabotage is settings.Sabotage.FENCE


def test_variables_win_over_the_run_file(tmp_path):
    """A variable is nearer to the person than the file."""
    run_file.write(tmp_path / ".stationkeeper", {**FILED, "turn_slots": "3"})
    found = settings.read({**SERVICES, "STATIONKEEPER_TURN_SLOTS": "7"}, tmp_path)
    assert found.turn_slots == 7
    assert found.redis_url == SERVICES["REDIS_URL"]


@pytest.mark.parametrize("lone", ["DATABASE_URL", "REDIS_URL"])
def test_one_service_of_each_is_never_mixed(tmp_path, lone):
    """One service from a variable and the other from the file would split truth from its hints: refused."""
    run_file.write(tmp_path / ".stationkeeper", FILED)
    assert "set both" in refusal({lone: SERVICES[lone]}, tmp_path)


def test_run_file_is_readable_by_its_user_only(tmp_path):
    """The run file holds passwords: mode 0600, also when it replaces a laxer one."""
    (tmp_path / "run.json").write_text("{}")
    (tmp_path / "run.json").chmod(0o644)
    path = run_file.write(tmp_path, FILED)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_removed_run_file_leaves_nothing_to_find(tmp_path):
    """When the system stops, its run file goes, and going twice is fine."""
    run_file.write(tmp_path / ".stationkeeper", FILED)
    run_file.remove(tmp_path / ".stationkeeper")
    run_file.remove(tmp_path / ".stationkeeper")
    assert "no running system" in refusal({}, tmp_path)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("STATIONKEEPER_TURN_SLOTS", "ten", "found 'ten'"),
        ("STATIONKEEPER_TURN_SLOTS", "0", "greater than or equal to 1"),
        ("STATIONKEEPER_LEASE_SECONDS", "-1", "greater than 0"),
        ("STATIONKEEPER_HOST", "a b", "found 'a b'"),
        ("STATIONKEEPER_SABOTAGE", "everything", "'fence'"),
        ("DATABASE_URL", "mysql://secret@db/x", "postgresql://"),
        ("REDIS_URL", "memcached://secret@cache", "redis://"),
    ],
)
def test_wrong_value_is_named_with_its_place(tmp_path, name, value, said):
    """A wrong value is an error with its variable, what was found, what was expected; a URL is never repeated."""
    line = refusal({**SERVICES, name: value}, tmp_path)
    assert line.startswith(f"{name}: ")
    assert said in line


def test_lease_must_outlive_grace_and_renewals(tmp_path):
    """A lease that a single late renewal loses is refused at start."""
    line = refusal({**SERVICES, "STATIONKEEPER_LEASE_SECONDS": "6"}, tmp_path)
    assert "found a lease of 6 s, expected more than" in line


@pytest.mark.parametrize("text", ["{", "[]", '{"database_url": "postgresql://x/y"}', '{"colour": "red"}'])
def test_broken_run_file_is_named_not_traced(tmp_path, text):
    """Half a run file, or a strange one, is an error that names the file."""
    (tmp_path / ".stationkeeper").mkdir()
    (tmp_path / ".stationkeeper/run.json").write_text(text)
    assert "run.json" in refusal({}, tmp_path)


def test_any_spelling_of_postgres_means_psycopg(tmp_path):
    """The person names a Postgres; the driver is ours."""
    for scheme in ("postgres", "postgresql", "postgresql+psycopg"):
        found = settings.read({**SERVICES, "DATABASE_URL": f"{scheme}://u@db/x"}, tmp_path)
        assert found.database_url == "postgresql+psycopg://u@db/x"


def test_passwords_stay_out_of_what_is_printed(tmp_path):
    """Printing the settings prints no password."""
    assert "secret" not in repr(settings.read(SERVICES, tmp_path))


@pytest.mark.proves("CF-01")
def test_workflows_are_seen_from_the_folder(tmp_path):
    """Relative workflow paths start at the folder; several are separated as in PATH; the default is WORKFLOW.md."""
    several = settings.read({**SERVICES, "STATIONKEEPER_WORKFLOWS": f"a.md{os.pathsep}/b"}, tmp_path)
    assert several.workflows == (tmp_path / "a.md", Path("/b"))
    assert settings.read(SERVICES, tmp_path).workflows == (tmp_path / "WORKFLOW.md",)


def test_every_field_has_a_variable_with_our_prefix():
    """Each setting can be given by a variable of its own name."""
    fields = set(settings.Settings.model_fields) - {"state_dir"}
    assert set(settings.VARIABLES) == fields
    ours = {field: name for field, name in settings.VARIABLES.items() if name not in SERVICES}
    assert all(name == f"STATIONKEEPER_{field.upper()}" for field, name in ours.items())


def test_a_launcher_learns_what_was_chosen(tmp_path, monkeypatch):
    """A launcher is told the chosen services and programs, and nothing where nobody chose."""
    for name in [*SERVICES, "STATIONKEEPER_POSTGRES_BIN", "STATIONKEEPER_REDIS_SERVER", settings.STATE_VARIABLE]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    assert settings.launch().database_url is None
    monkeypatch.setenv("STATIONKEEPER_POSTGRES_BIN", "/opt/pg/bin")
    monkeypatch.setenv("STATIONKEEPER_TURN_SLOTS", "3")
    monkeypatch.setenv(settings.STATE_VARIABLE, "elsewhere")
    found = settings.launch()
    assert found.postgres_folder == Path("/opt/pg/bin")
    assert found.given == {"turn_slots": "3"}
    assert re.search(r"/elsewhere$", str(found.state_dir))


def test_a_mark_on_a_card_outlives_a_frozen_agent(tmp_path):
    """Else another installation may take a card whose agent is continued afterwards."""
    line = refusal({**SERVICES, "STATIONKEEPER_SERVED_SECONDS": "495"}, tmp_path)
    assert (
        "found marks that count for 495 s, expected more than one and a half of lease and freeze limit (495 s)" in line
    )


def test_a_host_is_not_gone_before_its_leases_are_over(tmp_path):
    """Its agents may work until then."""
    line = refusal({**SERVICES, "STATIONKEEPER_HOST_SILENCE_SECONDS": "30"}, tmp_path)
    assert "found a host's silence of 30 s, expected more than the lease (30 s)" in line
