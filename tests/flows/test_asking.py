"""A decision that asks an agent program: what it leaves is a proposal, and code says what becomes of it."""

import json

import pytest

from orchestrator.domain.hold import HoldKind
from orchestrator.domain.turn import Ending, Outcome, StopReason
from orchestrator.flows import Agent, BadFlow
from orchestrator.flows.printing import contract
from tests.faults import faults
from tests.faults.tripwire import Tripwire
from tests.flows import asking, outcome, refund

REFERENCES = (asking.__file__ + ":FLOW",)
NAME = "northstar.asking"
ALL = frozenset({"refunds:write"})
TURNS = []  # what the agent was given, the last one last


@pytest.fixture
def world(flow_world):
    """A world in which the agent leaves a proposal of thirty."""
    return prepared(flow_world(references=REFERENCES))


def prepared(world):
    """Its agent writes the file."""
    return leaves(world, '{"amount": 30}')


def leaves(world, text):
    """Whoever is asked leaves this file; None: none."""

    def work(turn):
        TURNS.append(turn)
        if text is not None:
            (turn.workspace / "proposal.json").write_text(text)

    world.agents.during = work
    return world


def says(world, task, *endings):
    """What the agent of a task says at its ends."""
    world.agents.scripts[str(task)] = list(endings)


def start(world, *, name=NAME, authority=ALL, **given):
    """A refund."""
    return world.start(name=name, authority=authority, order="A7", **given)


def ended(world):
    """Status and reason of the task."""
    return world.rows("select status, coalesce(reason, '') from task")[0]


@pytest.mark.proves("DE-07")
def test_an_accepted_proposal_is_what_is_done(world):
    """The file is read, judged and recorded; what is paid is what was proposed, and what was used is recorded."""
    start(world)
    assert outcome.at_rest(world) == []
    assert ended(world)[0] == "succeeded"
    assert [line["amount"] for line in world.lines() if "paid" in line] == [30]
    assert world.one("select output from step where name = 'assess'") == {"amount": 30}
    assert world.one("select count(*) from turn where usage is not null") == 1


@pytest.mark.proves("DE-07", "PT-08")
def test_the_agent_is_told_its_question_and_how_to_answer(world):
    """The flow's own words, then the file and the schema that it has to fit."""
    start(world)
    assert outcome.at_rest(world) == []
    prompt = TURNS[-1].prompt
    assert prompt.startswith("Order A7, lost: True. How much of 30 do we pay back?")
    assert "proposal.json" in prompt
    assert '"amount"' in prompt


@pytest.mark.proves("DE-07")
def test_a_decision_without_a_prompt_tells_all_that_is_known(flow_world):
    """The input and the outputs of the steps before it."""
    world = prepared(flow_world(references=(asking.__file__ + ":PLAIN",)))
    start(world, name="northstar.plain")
    assert outcome.at_rest(world) == []
    told = json.loads(TURNS[-1].prompt.partition("known:")[2].partition("Propose one")[0])
    assert told == {"task": told["task"], "input": {"order": "A7", "amount": 30}, "lookup": {"lost": True}}


@pytest.mark.proves("DE-07")
def test_a_summary_is_a_proposal_where_there_is_no_file(world):
    """A program that only speaks can decide as well."""
    leaves(world, None)
    task = start(world)
    says(world, task, Ending(Outcome.DONE, StopReason.DONE, summary='{"amount": 12}'))
    assert outcome.at_rest(world) == []
    assert [line["amount"] for line in world.lines() if "paid" in line] == [12]


@pytest.mark.proves("DE-07", "DE-11")
@pytest.mark.parametrize(
    ("text", "amount", "reason"),
    [
        ("pay them", 30, "assess: schema: Invalid JSON"),
        ('{"amount": "much"}', 30, "assess: schema: amount: Input should be a valid integer"),
        ('{"amount": 31}', 30, "assess: policy: 31 is more than the 30 paid"),
        ('{"amount": 60}', 60, "assess: authority: it needs 'refunds:large'; the task was given refunds:write"),
        ("x" * 600_000, 30, "assess: schema: ValueError: 524289 characters; expected at most 524288"),
    ],
)
def test_a_proposal_that_may_not_be_is_refused_with_the_stored_reason(world, text, amount, reason):
    """Schema, authority, policy: nothing is paid, and the task says why."""
    leaves(world, text)
    start(world, amount=amount)
    assert outcome.at_rest(world) == []
    status, found = ended(world)
    assert (status, found[: len(reason)], world.paid()) == ("failed", reason, [])
    assert world.rows("select step, kind from step_failure") == [("assess", "refused")]


@pytest.mark.proves("DE-07", "WS-14")
def test_a_link_is_no_proposal(world, tmp_path):
    """What the agent's folder points to is not read."""
    secret = tmp_path / "secret.json"
    secret.write_text('{"amount": 30}')
    world.agents.during = lambda turn: (turn.workspace / "proposal.json").symlink_to(secret)
    start(world)
    assert outcome.at_rest(world) == []
    assert ended(world)[0] == "failed"
    assert "expected a plain file" in ended(world)[1]
    assert world.paid() == []


@pytest.mark.proves("DE-11")
def test_an_agent_that_cannot_go_on_asks_the_owner(world):
    """A hold with its words; a person releases it, and the agent is asked again."""
    task = start(world)
    says(world, task, Ending(Outcome.BLOCKED, StopReason.BLOCKED, reason="which currency?"))
    assert outcome.at_rest(world) == []
    assert world.rows("select kind, owner, reason from hold where lifted_at is null") == [
        ("blocked", "clerks", "assess: which currency?")
    ]
    assert list(world.command(world.one("select item_id from item"), "release")) == [HoldKind.BLOCKED]
    assert outcome.at_rest(world) == []
    assert (ended(world)[0], len(world.paid())) == ("succeeded", 1)


@pytest.mark.proves("DE-06", "DE-11")
def test_an_agent_that_fails_is_asked_as_often_as_the_decision_says(world):
    """Then it is a dead letter; what it left in an earlier folder is no proposal of a later one."""
    task = start(world)
    failure = Ending(Outcome.FAILED, StopReason.AGENT_FAILED, reason="exited with 3")
    says(world, task, failure, failure)
    assert outcome.at_rest(world) == []
    assert world.rows("select step, attempt, reason from step_failure order by attempt") == [
        ("assess", 1, "exited with 3"),
        ("assess", 2, "exited with 3"),
    ]
    assert world.one("select kind from hold where lifted_at is null") == "dead_letter"
    assert world.paid() == []


@pytest.mark.proves("RT-09")
def test_a_provider_that_asks_to_wait_is_waited_for(world):
    """The next attempt is due when it said, not after our own pause."""
    task = start(world)
    says(world, task, Ending(Outcome.FAILED, StopReason.AGENT_FAILED, reason="busy", retry_after_seconds=3_000.0))
    world.tick()
    world.deliver()
    assert world.one("select due_at > stationkeeper_clock() + interval '40 minutes' from task") is True


@pytest.mark.proves("DE-13")
@pytest.mark.parametrize("stop", [StopReason.CANCELLED, StopReason.TAKEN_BACK])
def test_a_cancel_while_the_agent_works_ends_the_task(world, stop):
    """Nothing that it proposes counts any more."""
    task = start(world)
    write = world.agents.during

    def cancelled(turn):
        write(turn)
        world.store.flows.cancel(task, stop)

    world.agents.during = cancelled
    assert outcome.at_rest(world) == []
    assert (ended(world)[0], world.paid()) == ("cancelled", [])


@pytest.mark.timeout(600)
@pytest.mark.proves("DE-06", "DE-08", "DE-17")
@pytest.mark.parametrize("kind", [*faults.DEATHS, *faults.OUTAGES, *faults.RIVALS], ids=lambda kind: kind.__name__)
def test_a_fault_at_any_call_round_the_agent_pays_once(flow_world, kind):
    """Before it is asked, while it works, before its proposal is recorded: one payment at most, and no task is lost."""

    def play(at):
        wire = Tripwire(at)
        world = prepared(flow_world(references=REFERENCES, wrap=wire.wrap))
        wire.world = world
        start(world)
        world.tick()
        world.deliver()
        return tuple(wire.calls), outcome.at_rest(world)

    calls, wrong = play({})
    assert wrong == []
    first, last = calls.index("flows.checkpoint"), calls.index("flows.intend")
    assert "agent.start" in calls[first:last]
    found = {f"{number} {calls[number]}": play({number: kind})[1] for number in range(first, last)}
    assert {place: wrong for place, wrong in found.items() if wrong} == {}


def test_the_contract_names_the_agent():
    """What a task is bound to changes with the kind that is asked."""
    found = contract(asking.FLOW)
    assert found.steps[1].proposer.agent.kind == "command"
    assert json.loads(found.body)["steps"][1]["agent"] == "command"
    assert dict(found.steps[1].takes) == {"input": "Order", "lookup": "Shipment"}


@pytest.mark.proves("DE-07")
@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        (Agent(" "), "is of kind ' '; expected a kind of agent"),
        (Agent("command", refund.find_shipment), "gives Shipment; expected str, what the agent is asked"),
        (Agent("command", stall_seconds=-1), "stall_seconds is -1"),
        (7, "its agent is 7; expected a function, an Agent, or the kind of one"),
    ],
)
def test_an_agent_that_cannot_be_asked_is_refused_where_it_is_written(agent, expected):
    """With the place and the reason."""
    with pytest.raises(BadFlow, match=expected):
        asking.asking("bad", agent)
