"""`orchestrator flow` and `task`, on the example of the README: what they print, and what they say of a mistake."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from orchestrator.cli import app, exits
from orchestrator.cli.exits import Exit
from orchestrator.domain.step import workflow_of
from tests.flows import asking, inquiring, refund, trip
from tests.flows.conftest import flow_world, stage
from tests.waiting import until

__all__ = ["flow_world", "stage"]

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "refund.py"
NAME = "northstar.refund"


@pytest.fixture(autouse=True)
def example(monkeypatch, tmp_path):
    """The example is the one flow, seen from an empty folder."""
    monkeypatch.setenv("STATIONKEEPER_FLOWS", f"{EXAMPLE}:FLOW")
    monkeypatch.setenv("STATIONKEEPER_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.delenv("REDIS_URL", raising=False)


def run(*words):
    """The exit code, what was printed, what was said at the end."""
    said, outputs = [], []

    def command():
        result = CliRunner().invoke(app.app, list(words))
        outputs.append(result.output)
        if isinstance(result.exception, SystemExit):
            raise exits.Trouble(Exit(result.exit_code), "") if result.exit_code else SystemExit(0)
        if result.exception is not None:
            raise result.exception

    try:
        code = exits.guarded(command, say=said.append)
    except SystemExit:
        code = Exit.FINE
    return code, outputs[0], " ".join(said)


@pytest.mark.proves("DE-07")
def test_a_flow_is_shown_with_its_diagram_and_contracts():
    """Nothing runs for it: the definition alone is read."""
    code, printed, _ = run("flow", "show", NAME)
    assert code is Exit.FINE
    assert "refund -. unknown .-> refund_found{look up by key}" in printed
    assert "refund\teffect\twrite\t\tkey: str, assess: RefundProposal\tReceipt\trefunds:write\t10 s" in printed
    assert json.loads(run("flow", "show", NAME, "--json")[1])["flow"] == NAME


@pytest.mark.proves("DE-07")
def test_a_flow_names_its_agents_and_what_undoes_what(monkeypatch):
    """The kind of the agent that is asked, and each compensation with its own contract, also in the diagram."""
    monkeypatch.setenv("STATIONKEEPER_FLOWS", f"{asking.__file__}:FLOW,{trip.__file__}:FLOW")
    assert "assess\tdecision\tread\tcommand\tinput: Order, lookup: Shipment" in run("flow", "show", asking.FLOW.name)[1]
    printed = run("flow", "show", trip.FLOW.name)[1]
    assert "flight -. a later failure .-> leave_flight" in printed
    assert "leave_flight\teffect\twrite\t\tkey: str, flight: Booking\tBooking\tbookings:cancel\t5 s" in printed


@pytest.mark.proves("DE-07")
@pytest.mark.parametrize(
    ("name", "said"),
    [("UNKNOWN", "there is no agent kind 'nobody'"), ("PLAIN", "agent.command: empty; expected a shell command")],
)
def test_an_agent_that_cannot_be_started_is_told_before_a_task_asks_it(monkeypatch, name, said):
    """With the place of the definition, the step, and what was expected."""
    monkeypatch.setenv("STATIONKEEPER_FLOWS", f"{asking.__file__}:{name}")
    code, _, words = run("flow", "show", getattr(asking, name).name)
    assert code is Exit.CONFIGURATION
    assert said in words
    assert "asking.py" in words
    assert "step 'assess'" in words


def test_flows_are_listed_with_the_place_where_they_stand():
    """By name."""
    assert f"{NAME}\t1\t3" in run("flow", "list")[1]


@pytest.mark.proves("DE-07")
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("flow", "show", "nothing"), Exit.CONFIGURATION, "no flow is called 'nothing'; there are: northstar.refund"),
        (("flow", "run", NAME, "--input", "{"), Exit.USAGE, "expected JSON"),
        (("flow", "run", NAME, "--input", '{"order": "A7"}'), Exit.USAGE, "the input's paid: Field required"),
        (
            ("flow", "run", NAME, "--input", '{"order": "A", "paid": 1}', "--authority", "x"),
            Exit.REFUSED,
            "may be given",
        ),
        (("flow", "run", NAME, "--input", '{"order": "A", "paid": 1}'), Exit.CONFIGURATION, "no running system found"),
        (("task", "list"), Exit.CONFIGURATION, "no running system found"),
    ],
)
def test_a_mistake_is_one_sentence_and_a_code(words, code, said):
    """Found before anything is started."""
    found, _, sentence = run(*words)
    assert found is code
    assert said in sentence


def test_a_definition_that_cannot_be_used_is_told_with_its_line(monkeypatch, tmp_path):
    """The first command that needs it says so."""
    (tmp_path / "bad.py").write_text(
        "from orchestrator.flows import Flow, Step\ndef f(a: int) -> int:\n    return a\n"
        "FLOW = Flow('a.b', version=1, steps=[Step('s', f)])\n"
    )
    monkeypatch.setenv("STATIONKEEPER_FLOWS", f"{tmp_path}/bad.py:FLOW")
    code, _, said = run("flow", "list")
    assert code is Exit.CONFIGURATION
    assert f"{tmp_path}/bad.py:4: step 's' of a.b: f() takes 'a'; expected one of input, task" in said


@pytest.mark.proves("DE-02", "DE-07")
def test_a_task_asks_and_a_person_answers_by_command(flow_world, stage, monkeypatch, redis_url):
    """What it waits for is shown; an answer that does not pass is refused with the reason, and nothing is recorded."""
    reference, name = f"{inquiring.__file__}:FLOW", "northstar.parcel"
    world = flow_world(references=(reference,))
    monkeypatch.setenv("STATIONKEEPER_FLOWS", reference)
    monkeypatch.setenv("DATABASE_URL", stage.database_url.replace("postgresql+psycopg", "postgresql"))
    monkeypatch.setenv("REDIS_URL", redis_url)
    assert run("flow", "run", name, "--input", '{"parcel": "P1"}', "--key", "p1")[0] is Exit.FINE
    code, _, said = run("task", "answer", "p1", "--input", "{}")
    assert (code, "asks nothing; it waits for the next tick" in said) == (Exit.REFUSED, True)

    def goes_on():
        world._ring(workflow_of(name), full=False)
        world.deliver()
        return run("task", "show", "p1")[1]

    assert "waits for\tsupport: address: Where does P1 go?" in goes_on()
    assert "support: address: Where does P1 go?" in run("task", "list")[1]
    for words, reason in (
        ("Lisbon", "schema: Invalid JSON"),
        ('{"town": "Lisbon"}', "schema: city: Field required"),
        ('{"city": "moon"}', "policy: P1 cannot go to the moon"),
    ):
        code, _, said = run("task", "answer", "p1", "--input", words)
        assert (code, reason in said) == (Exit.REFUSED, True)
    assert world.rows("select 1 from step") == []
    code, printed, _ = run("task", "answer", "p1", "--input", '{"city": "Lisbon"}')
    assert (code, printed.endswith(": address answered\n")) == (Exit.FINE, True)
    assert run("task", "answer", "p1", "--input", '{"city": "Oslo"}')[0] is Exit.REFUSED
    until(lambda: "status\tsucceeded" in goes_on(), what="the task has gone on")
    assert 'step\t1\taddress\t{"city": "Lisbon"}' in run("task", "show", "p1")[1]
    assert json.loads(run("task", "show", "p1", "--json")[1])["questions"][0]["words"] == "Where does P1 go?"


@pytest.mark.proves("DE-02", "DE-15")
def test_an_answer_is_judged_by_the_manifest_that_the_task_is_bound_to(flow_world, stage, monkeypatch, redis_url):
    """A folder with another version of the flow may not say what passes."""
    reference = f"{inquiring.__file__}:FLOW"
    world = flow_world(references=(reference,))
    monkeypatch.setenv("STATIONKEEPER_FLOWS", reference)
    monkeypatch.setenv("DATABASE_URL", stage.database_url.replace("postgresql+psycopg", "postgresql"))
    monkeypatch.setenv("REDIS_URL", redis_url)
    world.start("p1", name="northstar.parcel", parcel="P1")
    world.tick()
    world.deliver()
    world.store.slow.change("update workflow_version set digest = 'another' where workflow like 'flow%'")
    code, _, said = run("task", "answer", "p1", "--input", '{"city": "Lisbon"}')
    assert (code, "the task is bound to manifest 1 (another)" in said) == (Exit.CONFIGURATION, True)


@pytest.mark.proves("DE-01", "DE-11")
def test_a_task_is_started_listed_shown_settled_and_pruned(flow_world, stage, monkeypatch, redis_url):
    """From its start by a command to a person's word about its effect, by what the commands print."""
    world = flow_world(references=(f"{refund.__file__}:BLIND",))
    monkeypatch.setenv("STATIONKEEPER_FLOWS", f"{refund.__file__}:BLIND")
    monkeypatch.setenv("DATABASE_URL", stage.database_url.replace("postgresql+psycopg", "postgresql"))
    monkeypatch.setenv("REDIS_URL", redis_url)
    monkeypatch.setenv("PAYMENT_ANSWER", "lost")
    name = "northstar.blind"
    words = ("flow", "run", name, "--input", '{"order": "A7"}', "--key", "order-7")
    code, _, said = run(*words)
    assert (code, said) == (Exit.FINE, "")
    assert "started before with this key" in run(*words)[1]
    world._ring(workflow_of(name), full=False)
    world.deliver()
    assert "payments team: refund: TimeoutError: no answer" in run("task", "list")[1]
    shown = run("task", "show", "order-7")[1]
    key = world.one("select key from effect")
    assert f"ledger\t{key}\trefund\tunknown\t1" in shown
    assert run("task", "settle", "order-7", key, "--committed", "{}")[0] is Exit.USAGE
    assert run("task", "settle", "order-7", key)[0] is Exit.USAGE
    settled = run("task", "settle", "order-7", key, "--committed", '{"id": "by hand", "amount": 30}')
    assert settled[:2] == (Exit.FINE, f"{key}: committed\n")
    assert run("task", "settle", "order-7", key, "--absent", "not there")[0] is Exit.REFUSED

    def ends():
        world._ring(workflow_of(name), full=False)
        world.deliver()
        return "status\tsucceeded" in run("task", "show", "order-7")[1]

    until(ends, what="the task has gone on")
    assert run("task", "cancel", "order-7")[0] is Exit.REFUSED
    assert json.loads(run("task", "show", "order-7", "--json")[1])["status"] == "succeeded"
    assert run("task", "prune", "--days", "0")[1] == "0 tasks deleted\n"
