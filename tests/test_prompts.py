"""The prompt of a turn: strict about names, closed to everything but data, bounded in what it can cost."""

import contextlib
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import prompts
from orchestrator.domain.item import Blocker, Item
from orchestrator.ports.prompts import PromptFailed
from orchestrator.prompts import box, names

ITEM = Item(
    id="7",
    identifier="BACK-7",
    title="Fix the login",
    state="To Do",
    description="It <b>fails</b>.",
    labels=("bug", "urgent"),
    blocked_by=(Blocker("6", "BACK-6", None),),
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
)
RUN = {"turn_number": 2, "max_turns": 20, "is_continuation": True}


def render(template, item=ITEM, *, attempt=None, retry_kind=None):
    """The prompt for an item."""
    return prompts.LiquidPrompts().render(template, item, attempt=attempt, run=RUN, retry_kind=retry_kind)


@pytest.mark.proves("PT-04")
def test_every_field_of_an_item_can_be_told():
    """The template's names are the item's, those of the run beside them; what is absent is nothing, and not missing."""
    told = render("".join(f"{name}=[{{{{ issue.{name} }}}}] " for name in names.ISSUE))
    assert "identifier=[BACK-7]" in told
    assert "labels=[bugurgent]" in told
    assert "assignee=[]" in told
    assert "created_at=[2026-01-01T00:00:00+00:00]" in told
    assert render("{% for each in issue.blocked_by %}{{ each.identifier }}:{{ each.state }}{% endfor %}") == "BACK-6:"
    assert render("{{ run.turn_number }}/{{ run.max_turns }} {{ run.is_continuation }}") == "2/20 true"
    assert render("[{{ ci_failure }}{{ review_comments }}{{ retry_kind }}]") == "[]"


@pytest.mark.proves("PT-04")
def test_the_first_attempt_has_no_number():
    """A template can tell the first try from a later one."""
    template = "{% if attempt %}again {{ attempt }}{% else %}first{% endif %}"
    assert (render(template), render(template, attempt=2)) == ("first", "again 2")


@pytest.mark.proves("PT-01", "PT-07")
@pytest.mark.parametrize(
    ("template", "line", "said"),
    [
        ("\n\n{{ isue.title }}", 3, "unknown variable 'isue'; did you mean 'issue'?"),
        ("{{ issue.titel }}", 1, "unknown variable 'issue.titel'; did you mean 'issue.title'?"),
        ("{{ run.turns }}", 1, "unknown variable 'run.turns'"),
        ("{{ now }}", 1, "unknown variable 'now'"),
        ("a\n{{ issue.title | upcaes }}", 2, "unknown filter 'upcaes'; did you mean 'upcase'?"),
        ("a\n{% if issue.title %}\nb", 3, "expected tag endif"),
        ("{{ issue.title", 1, "expected '}}'"),
        ("a\n{% frobnicate %}", 2, "unexpected tag 'frobnicate'"),
        ("{% liquid\n  echo issue.nope\n%}", 2, "unknown variable 'issue.nope'"),
    ],
)
def test_what_a_template_names_wrongly_shows_at_load(template, line, said):
    """Syntax, variables and filters are judged without an item, at the line where they stand."""
    (problem,) = prompts.problems(template)
    assert problem.line == line
    assert said in problem.message
    with pytest.raises(PromptFailed, match=f"^line {line}: "):
        render(template)


@pytest.mark.parametrize("tag", ["include", "render", "extends"])
def test_a_template_reads_no_other_file(tag):
    """What is not in the stored version must not decide what an agent is told."""
    (problem,) = prompts.problems(f"a\n{{% {tag} 'other' %}}")
    assert (problem.line, "reads another file" in problem.message) == (2, True)


@pytest.mark.proves("PT-03")
@pytest.mark.parametrize(
    ("template", "line"),
    [
        ("\n{% for each in issue.blocked_by %}{{ each.nope }}{% endfor %}", 2),
        ("\n\n{{ 1 | divided_by: 0 }}", 3),
        ("{{ issue.title.__class__ }}", 1),
        ("{{ issue.labels.append }}", 1),
        ("{{ issue[attempt] }}", 1),
    ],
)
def test_what_only_an_item_shows_fails_the_rendering(template, line):
    """It passes the load, and then the error names the line and costs one turn, not the workflow."""
    assert prompts.problems(template) == ()
    with pytest.raises(PromptFailed, match=f"^line {line}: "):
        render(template)


@pytest.mark.proves("PT-09")
@pytest.mark.parametrize(
    "template",
    [
        "{% for i in (1..1000000000) %}x{% endfor %}",
        "{% for i in (1..200) %}{% for j in (1..200) %}x{% endfor %}{% endfor %}",
        "{% assign x = 'aaaaaaaa' %}{% for i in (1..60) %}{% assign x = x | append: x %}{% endfor %}",
        "{% capture x %}" + "a" * 1000 + "{% endcapture %}{% for i in (1..9000) %}{{ x }}{% endfor %}",
        "{% if attempt %}" * 50 + "{% endif %}" * 50,
    ],
    ids=["long loop", "nested loops", "doubling text", "long output", "deep blocks"],
)
def test_no_template_can_run_away(template):
    """Loops, variables and output have an end."""
    with pytest.raises(PromptFailed, match="limit reached"):
        render(template)


@pytest.mark.proves("PT-09")
@given(
    st.lists(st.sampled_from(["issue", "run", "attempt", "['__class__']", ".__init__", ".__globals__", ".mro", "[0]"]))
)
def test_no_path_leads_out_of_the_data(parts):
    """Whatever a template reaches for, it gets data or an error, never anything of Python."""
    template = "{{ issue" + "".join(part if part[0] in ".[" else f".{part}" for part in parts) + " }}"
    try:
        told = render(template)
    except PromptFailed:
        return
    assert not re.search("<class|<function|object at 0x|__", told)


@pytest.mark.proves("PT-06", "PT-08")
@pytest.mark.parametrize("template", ["", "\n\n\n"])
def test_an_empty_body_gets_the_built_in_prompt(template):
    """It names the ticket, marks off what people wrote, and passes its own judgement."""
    told = render(template, attempt=3)
    assert "BACK-7" in told
    assert "attempt 3" in told
    assert re.search(r"<(untrusted-[0-9a-f]{16})>\nIt <b>fails</b>\.\n</\1>", told)
    assert prompts.problems(template) == ()


@pytest.mark.proves("PT-08")
@given(st.text(st.characters(codec="utf-8", exclude_characters="\r")))
def test_no_ticket_can_close_the_mark_around_it(text):
    """The mark is named by the text's own digest, so the text cannot hold it."""
    item = Item(id="1", identifier="1", title=text, state="To Do")
    told = render("{{ issue.title | untrusted }}.", item)
    mark = told[1:].partition(">")[0]
    assert told == f"<{mark}>\n{text}\n</{mark}>."
    assert mark not in text


PIECES = ["{{", "}}", "{%", "%}", " if ", "issue", ".title", "|", " for ", "(1..2)", " endif ", "\n"]


@given(st.text() | st.lists(st.sampled_from(PIECES)).map("".join))
def test_no_template_at_all_is_met_with_a_traceback(template):
    """Whatever the body holds, it has a problem with a line, or it renders, or the rendering fails as a prompt."""
    assert all(problem.line >= 1 for problem in prompts.problems(template))
    with contextlib.suppress(PromptFailed):
        assert isinstance(render(template), str)


@pytest.mark.proves("PT-05")
def test_guidance_names_the_card_and_the_turn_and_not_the_task():
    """A session that has the task is not told it again."""
    told = prompts.LiquidPrompts().guidance(ITEM, attempt=2, run=RUN, retry_kind=None)
    assert "BACK-7" in told
    assert "turn 2 of at most 20" in told
    assert "attempt 2" in told
    assert "Fix the login" not in told


@pytest.mark.parametrize("size", [box.MAX_TEMPLATE_CHARACTERS, 10])
def test_what_costs_the_parser_its_time_is_refused_before(size):
    """A prompt has an end, and so has each of its actions; both are looked at in one walk."""
    (problem,) = prompts.problems("\n" + "{{" * size)
    assert ("longer than" in problem.message) is (size > 10)
    (problem,) = prompts.problems("{% assign x = 1 %}" * (box.MAX_ACTIONS + 1))
    assert f"more than {box.MAX_ACTIONS}" in problem.message


@pytest.mark.parametrize(
    "template",
    [
        "{% for i in (1..9000) %}{% endfor %}" * 2,
        "{{ (1..20000) | join: ',' }}",
        "{% capture x %}" + "a" * 9000 + "{% endcapture %}{{ x | replace: 'a', x | replace: 'a', x }}",
        "{% assign n = 9 %}{% for i in (1..60) %}{% assign n = n | times: n %}{% endfor %}",
    ],
    ids=["loops one after another", "a long range", "a growing text", "a growing number"],
)
def test_what_grows_without_end_is_stopped_on_its_way(template):
    """All loops of a prompt have one limit, and so has all that its filters make."""
    assert prompts.problems(template) == ()
    with pytest.raises(PromptFailed, match=r"more than|too large|too much"):
        render(template)
