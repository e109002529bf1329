"""Liquid with walls: a template reads no other file, and what it costs to parse and to render has an end.

Liquid's own limits bound depth, variables, output and one nest of loops. What they leave open is bounded here: the size
of a template before it is parsed, the loops of a whole rendering taken together, and what filters make of their input.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping

import liquid
from liquid.exceptions import LiquidSyntaxError, ResourceLimitError
from liquid.token import Token

# Ten times the longest prompt that anybody would read. Liquid's lexer takes quadratic time in the worst case: within
# these two limits that is a second, and not an hour.
MAX_TEMPLATE_CHARACTERS = 64 * 1024
MAX_ACTIONS = 500

# A prompt has a megabyte at most, so nothing that a filter makes needs to be longer.
MAX_OUTPUT_CHARACTERS = 1024 * 1024
# Loops of one rendering, all together: a hundred times what a card with a hundred labels needs.
MAX_ITERATIONS = 10_000
# Characters that all filters of one rendering may take in and give out: a fraction of a second of work.
MAX_FILTERED_CHARACTERS = 64 * 1024 * 1024
# No number in a prompt has more digits; Python itself refuses to write out one of 4,300.
MAX_NUMBER_BITS = 4096

# A prompt is one file: what is not in the stored version must not decide what an agent is told.
OTHER_FILES = ("include", "render", "extends")

# The filters whose output may be as long as one input times another: judged before they run.
_MULTIPLYING = frozenset({"replace", "join"})


class _Work(liquid.RenderContext):
    """One rendering, and what it has cost so far."""

    def __init__(self, template: liquid.BoundTemplate, *, globals: Mapping[str, object]) -> None:  # noqa: A002 - theirs
        super().__init__(template, globals=globals)
        self.left_iterations = MAX_ITERATIONS
        self.left_characters = MAX_FILTERED_CHARACTERS

    def raise_for_loop_limit(self, length: int = 1) -> None:
        """Called by Liquid at the beginning of each loop, inner ones included."""
        super().raise_for_loop_limit(length)
        self.left_iterations -= length
        if self.left_iterations < 0:
            raise ResourceLimitError(f"the loops of this template run more than {MAX_ITERATIONS} times", token=None)

    def filter(self, name: str, token: Token | None) -> Callable[..., object]:
        """The filter of this name, within what is left to spend."""
        apply = super().filter(name, token)

        def bounded(*given: object, **options: object) -> object:
            sizes = [_size(value, token) for value in (*given, *options.values())]
            grown = (sizes[0] + 1) * max(sizes[1:], default=0) if name in _MULTIPLYING else 0
            self._charge(sum(sizes) + grown, token)
            made = apply(*given, **options)
            self._charge(_size(made, token), token)
            return made

        return bounded

    def _charge(self, characters: int, token: Token | None) -> None:
        self.left_characters -= characters
        if self.left_characters < 0:
            raise ResourceLimitError("the filters of this template make too much of their input", token=token)


class _Template(liquid.BoundTemplate):
    """A parsed template that renders at a known cost."""

    context_class = _Work


class _ClosedBox(liquid.Environment):
    """Liquid's own hooks are class attributes. A hundred times what a long prompt needs, far from harm."""

    template_class = _Template
    loop_iteration_limit = MAX_ITERATIONS
    output_stream_limit = MAX_OUTPUT_CHARACTERS
    local_namespace_limit = MAX_OUTPUT_CHARACTERS
    context_depth_limit = 30


@functools.lru_cache(maxsize=64)
def parse(template: str) -> liquid.BoundTemplate:
    """The template, ready to render. Raises liquid's LiquidError."""
    _refuse_excess(template)
    return environment().from_string(template)


@functools.cache
def environment() -> liquid.Environment:
    """Liquid as every prompt of ours is read: strict about names, without tags that read other files."""
    box = _ClosedBox(undefined=liquid.StrictUndefined, strict_filters=True, tolerance=liquid.Mode.STRICT)
    for tag in OTHER_FILES:
        box.tags.pop(tag, None)
    box.add_filter("untrusted", _untrusted)
    return box


def _untrusted(text: object) -> str:
    """The text between two marks that it cannot contain, since they are named by its own digest."""
    content = "" if text is None else str(text)
    mark = f"untrusted-{hashlib.sha256(content.encode(errors='replace')).hexdigest()[:16]}"
    return f"<{mark}>\n{content}\n</{mark}>"


def _refuse_excess(template: str) -> None:
    """Walk from each opening to its end, once: an opening without one is what costs the lexer its time."""
    if len(template) > MAX_TEMPLATE_CHARACTERS:
        raise _syntax(template, MAX_TEMPLATE_CHARACTERS, "the prompt is longer than 64 Ki characters; shorten it")
    at, actions = _opening(template, 0), 0
    while at >= 0:
        closing = "}}" if template[at + 1] == "{" else "%}"
        end = template.find(closing, at + 2)
        if end < 0:
            raise _syntax(template, at, f"expected {closing!r} to close this; found the end of the file")
        actions += 1
        if actions > MAX_ACTIONS:
            raise _syntax(template, at, f"the prompt has more than {MAX_ACTIONS} '{{{{' and '{{%'; make it simpler")
        at = _opening(template, end + 2)


def _opening(template: str, start: int) -> int:
    found = [at for at in (template.find("{{", start), template.find("{%", start)) if at >= 0]
    return min(found, default=-1)


def _syntax(template: str, index: int, message: str) -> LiquidSyntaxError:
    return LiquidSyntaxError(message, token=Token("content", "", start_index=index, source=template))


def _size(value: object, token: Token | None) -> int:
    """How much a value is, in characters; refuses those that only their making shows to be too large."""
    if isinstance(value, str):
        size = len(value)
    elif isinstance(value, range):
        size = max(value.stop - value.start, 0)
    elif isinstance(value, list | tuple | dict):
        size = len(value)
    elif isinstance(value, int):
        size = 1 if value.bit_length() <= MAX_NUMBER_BITS else MAX_OUTPUT_CHARACTERS + 1
    else:
        size = 1
    if size > MAX_OUTPUT_CHARACTERS or (isinstance(value, range) and size > MAX_ITERATIONS):
        raise ResourceLimitError("a value in this template is too large; limit reached", token=token)
    return size
