"""A Go body in Liquid: the same words for the same card, the same lines, or nothing at all."""

import pytest

from orchestrator import prompts
from orchestrator.domain.item import Blocker, Item
from orchestrator.ports.prompts import PromptFailed
from tests.workflow.test_shapes import BACKLOG, invalid, parse

BARE = Item(id="1", identifier="A-1", title="Bare", state="To Do", url="", assignee="")
FULL = Item(
    id="2",
    identifier="A-2",
    title="Full",
    state="To Do",
    description=" ",
    priority=0,
    labels=("x", "y"),
    parent="A-1",
    blocked_by=(Blocker("1", "A-1", ""), Blocker("3", "A-3", "Done")),
)
RUN = {"turn_number": 1, "max_turns": 3, "is_continuation": False}


def said(body, item):
    """The prompt of an item by a Go body."""
    found = prompts.respelled(body)
    assert found is not None
    return prompts.LiquidPrompts().render(found.template, item, attempt=None, run=RUN, retry_kind=None)


@pytest.mark.parametrize(
    ("body", "bare", "full"),
    [
        # What Go prints for each card, by the rules of text/template: empty, nothing and zero are false.
        ("{{ if .issue.description }}d{{ else }}n{{ end }}", "n", "d"),
        ("{{ if .issue.priority }}p{{ else }}n{{ end }}", "n", "n"),
        ("{{ if not .issue.priority }}n{{ end }}", "n", "n"),
        ("{{ if .issue.url }}u{{ else }}n{{ end }}", "n", "n"),
        ("{{ if not .issue.assignee }}nobody{{ end }}", "nobody", "nobody"),
        ("{{ with .issue.parent }}{{ .identifier }}{{ else }}{{ .issue.title }}{{ end }}", "Bare", "A-1"),
        ("{{ range $i, $x := .issue.labels }}{{ if $i }}, {{ end }}{{ $x }}{{ else }}none{{ end }}", "none", "x, y"),
        ("{{ range .issue.blocked_by }}{{ .identifier }}{{ if .state }}!{{ end }}{{ end }}", "", "A-1A-3!"),
        ("{{ range .issue.labels }}{{ $.issue.identifier }}{{ . }}{{ end }}", "", "A-2xA-2y"),
        ("a {{- /* c\n*/ -}} b", "ab", "ab"),
        ('{{ $s := .issue.state | lower }}{{ if eq $s "to do" }}{{ $s }}{{ end }}', "to do", "to do"),
        ('{{ .issue.assignee | default "nobody" }}', "nobody", "nobody"),
        ("{{ with .run }}{{ .turn_number }}/{{ .max_turns }}{{ end }}", "1/3", "1/3"),
    ],
)
def test_the_prompt_says_what_it_said_in_go(body, bare, full):
    """For a card with next to nothing on it, and for one with empty texts, a priority of zero, and fields."""
    assert (said(body, BARE), said(body, FULL)) == (bare, full)


@pytest.mark.parametrize(
    "body",
    [
        "{{ .issue.title }}{% if attempt %}again{% endif %}",  # half respelled by hand: whose rules hold?
        "{{ .issue.title }} {{ issue.state }}",
        "{{ $x := .attempt }}{{ if .attempt }}{{ $x := .issue.title }}{{ end }}{{ $x }}",  # Go prints the first
        "{{ .issue.title }}{{ break }}",
        "{{ .issue.title }} {{",
        "{{ if ( }}{{ end }}",  # brackets that are not closed, not opened, or deeper than anybody's thought
        "{{ if ) }}{{ end }}",
        "{{ if () }}{{ end }}",
        "{{ if (((((((((.attempt))))))))) }}{{ end }}",
        f"{{{{ if {'(' * 9000}.attempt{')' * 9000} }}}}{{{{ end }}}}",
        f"{{{{ {'len (' * 9000}.attempt{')' * 9000} }}}}",
    ],
)
def test_what_is_not_wholly_known_is_not_respelled(body):
    """There is no reading that is right for all of it, so there is none."""
    assert prompts.respelled(body) is None
    assert invalid(f"---\n{BACKLOG}agent: {{command: x}}\n---\n{body}").code == "template_parse_error"


def test_a_liquid_body_is_left_alone():
    """Also where it uses a word that Go knows."""
    for body in ("{{ issue.title }}{% if attempt %}{% endif %}", "no action at all", ""):
        assert prompts.respelled(body) is None
        assert prompts.as_far_as_known(body) == body


@pytest.mark.proves("PT-07")
def test_a_later_error_names_the_line_of_the_file():
    """An action that spans lines takes as many lines in Liquid, so what fails behind it is found where it stands."""
    front = f"---\n{BACKLOG}agent: {{command: x}}\n---\n"
    above = "{{ if\n  .issue.url\n}}\n{{/* two\nlines */}}\n{{ end }}\n"
    ((place, message),) = invalid(f"{front}{above}{{{{ .issue.titel }}}}").findings
    line = (front + above).count("\n") + 1
    assert (place, "did you mean 'issue.title'" in message) == (f"WORKFLOW.md:{line}", True)
    found = parse(front + above + "{{ range .issue.labels }}{{ . }}{{ end }}")
    many = Item("1", "A-1", "T", "To Do", labels=("x",) * 20_000)
    with pytest.raises(PromptFailed, match=f"line {line}:"):
        prompts.LiquidPrompts().render(found.prompt, many, attempt=None, run=RUN, retry_kind=None)
