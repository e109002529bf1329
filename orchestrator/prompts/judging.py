"""What is wrong with a template, as far as it shows without an item: syntax, variables, filters, other files."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from liquid.exceptions import LiquidError
from liquid.static_analysis import TemplateAnalysis, Variable

from orchestrator.prompts import box, golang, names, respelling

# All of an item's fields fit into a sentence; Liquid's sixty filters do not.
_WORTH_LISTING = len(names.ISSUE)
# Whoever has more to mend than this reads the rest at the next try.
MAX_PROBLEMS = 50
# Names are compared in quadratic time, and nobody's slip of the hand is longer.
_LONGEST_NAME = 64


@dataclass(frozen=True, slots=True)
class TemplateProblem:
    """Why a template cannot be used: the line, counted from the top of the file, and a sentence."""

    line: int
    message: str


@functools.lru_cache(maxsize=64)
def problems(template: str) -> tuple[TemplateProblem, ...]:
    """Everything that is wrong, in the order of lines; empty when the template can be rendered."""
    try:
        seen = box.parse(template).analyze(include_partials=False)
    except LiquidError as error:
        return _foreign(template) or (problem(error, template),)
    except RecursionError:
        return (TemplateProblem(1, "the template is nested too deeply to be read; make it simpler"),)
    except Exception as error:  # noqa: BLE001 -- the library's own slips are still the author's template
        return (TemplateProblem(1, f"the template cannot be read ({type(error).__name__}: {error}); make it simpler"),)
    unknown = sorted(set(_unknown(seen, template)), key=lambda each: (each.line, each.message))
    return (_foreign(template) if unknown else ()) or tuple(unknown[:MAX_PROBLEMS])


def problem(error: LiquidError, template: str) -> TemplateProblem:
    """What Liquid found, at the line where it found it."""
    token = error.token
    if token is None or token.start_index < 0:
        return TemplateProblem(_line(template, len(template.rstrip())), str(error.message))
    line = _line(template, token.start_index)
    if token.value in box.OTHER_FILES:
        return TemplateProblem(line, f"'{token.value}' reads another file; a prompt is one file: write the text here")
    return TemplateProblem(line, str(error.message))


def sentence(found: TemplateProblem) -> str:
    """The problem with its line in front, for where there is no file to name."""
    return f"line {found.line}: {found.message}"


def _foreign(template: str) -> tuple[TemplateProblem, ...]:
    """A Go template, action by action; what no Liquid could read is explained by that alone.

    Where the rest can be respelled, only what has no spelling is named.
    """
    if len(template) > box.MAX_TEMPLATE_CHARACTERS:
        return ()
    found = golang.spellings(template)
    unspelled = [each for each in found if each.liquid is None]
    told = found if respelling.is_mixed(template, found) or not unspelled else unspelled
    return tuple(TemplateProblem(_line(template, each.index), _spelled(each)) for each in told[:MAX_PROBLEMS])


def _spelled(each: golang.Spelling) -> str:
    action = respelling.shown(each.action)
    if each.liquid is None:
        remedy = "write it by hand (`orchestrator validate FILE --respell` prints the rest) or leave it out"
        return f"{action} is of a Go template and has no Liquid spelling known here; {remedy}"
    return f"{action} is of a Go template; prompts are Liquid, write: {each.liquid}"


def _unknown(seen: TemplateAnalysis, template: str) -> Iterator[TemplateProblem]:
    for name, places in seen.globals.items():
        for place in places[:MAX_PROBLEMS]:
            message = _unknown_variable(name, place)
            if message:
                yield TemplateProblem(_line(template, place.span.index), message)
    filters = box.environment().filters
    for name, spans in seen.filters.items():
        if name not in filters:
            message = f"unknown filter {_shown(name)!r}{_nearest(name, filters)}"
            yield from (TemplateProblem(_line(template, span.index), message) for span in spans[:MAX_PROBLEMS])


def _unknown_variable(name: str, place: Variable) -> str | None:
    if name not in names.VARIABLES:
        return f"unknown variable {_shown(name)!r}{_nearest(name, names.VARIABLES)}"
    fields = names.VARIABLES[name]
    field = place.segments[1] if len(place.segments) > 1 else None
    if fields is None or not isinstance(field, str) or field in fields:
        return None
    return f"unknown variable '{name}.{_shown(field)}'{_nearest(field, fields, prefix=f'{name}.')}"


def _nearest(name: str, known: Iterable[str], *, prefix: str = "") -> str:
    every = sorted(known)
    near = difflib.get_close_matches(name[:_LONGEST_NAME], every, n=1)
    if near:
        return f"; did you mean '{prefix}{near[0]}'?"
    return f"; known are {', '.join(prefix + each for each in every)}" if len(every) <= _WORTH_LISTING else ""


def _shown(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


def _line(template: str, index: int) -> int:
    return template.count("\n", 0, index) + 1
