"""A Go template in Liquid: word for word where every action of it has an exact spelling, and else not at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from orchestrator.prompts import box, golang
from orchestrator.prompts.golang import Spelling


@dataclass(frozen=True, slots=True)
class Respelled:
    """The template in Liquid, with the lines that it had, and each distinct action: its line, and both spellings."""

    template: str
    actions: tuple[tuple[int, str, str], ...]


def respelled(template: str) -> Respelled | None:
    """The Go template in Liquid; None for one that is no Go template, or is one only in part, or has no spelling."""
    found = _spellings(template)
    if not found or is_mixed(template, found) or any(each.liquid is None for each in found):
        return None
    return Respelled(_replaced(template, found), tuple(_distinct(template, found)))


def as_far_as_known(template: str) -> str:
    """The template with each action of Go that has an exact spelling in Liquid; the others stand as they were."""
    return _replaced(template, _spellings(template))


def is_mixed(template: str, found: Iterable[Spelling]) -> bool:
    """Whether something beside its Go actions would be read as Liquid: no rule says what such a text means."""
    return any("{%" in text or "{{" in text for text in _between(template, found))


def shown(action: str) -> str:
    """An action on one line, as a sentence shows it."""
    return " ".join(action.split())


def _spellings(template: str) -> Sequence[Spelling]:
    return golang.spellings(template) if len(template) <= box.MAX_TEMPLATE_CHARACTERS else ()


def _between(template: str, found: Iterable[Spelling]) -> Iterator[str]:
    at = 0
    for each in found:
        yield template[at : each.index]
        at = each.index + len(each.action)
    yield template[at:]


def _replaced(template: str, found: Sequence[Spelling]) -> str:
    texts = list(_between(template, found))
    spelled = (each.action if each.liquid is None else each.liquid for each in found)
    return "".join(part for pair in zip(texts, [*spelled, ""], strict=True) for part in pair)


def _distinct(template: str, found: Iterable[Spelling]) -> Iterator[tuple[int, str, str]]:
    told: set[tuple[str, str]] = set()
    line, at = 1, 0
    for each in found:
        line, at = line + template.count("\n", at, each.index), each.index
        pair = shown(each.action), shown(each.liquid or "")
        if pair not in told:
            told.add(pair)
            yield line, *pair
