"""Which variables a shell text reads, as far as its text shows: for telling a person, never for running it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

# What a shell sets by itself; some only bash does, and then it is not certain to be empty.
SHELLS_OWN = frozenset(
    {
        *("PWD", "OLDPWD", "IFS", "PPID", "OPTIND", "OPTARG", "LINENO", "PS1", "PS2", "PS4", "_"),
        *("RANDOM", "SECONDS", "UID", "EUID", "HOSTNAME", "HOSTTYPE", "OSTYPE", "MACHTYPE", "SHLVL", "REPLY"),
        *("FUNCNAME", "PIPESTATUS", "EPOCHSECONDS", "EPOCHREALTIME", "COLUMNS", "LINES"),
    }
)

_READ = re.compile(r"\$(?:(?P<plain>[A-Za-z_]\w*)|\{[#!]?(?P<name>[A-Za-z_]\w*)(?P<then>:?[-=+]|)(?P<more>[^}]|))")
_CHUNK = re.compile(r"[^\s;&|()<>`'\"$\\]+")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)(?:\[[^]]*\])?\+?=")
_NAME = re.compile(r"[A-Za-z_]\w*")
_HEREDOC = re.compile(r"<<-?[ \t]*(?P<quote>\\|['\"]?)(?P<mark>[\w.-]+)['\"]?")

_KEYWORDS = frozenset({"if", "then", "elif", "else", "while", "until", "do", "time", "!", "{"})
_DECLARES = frozenset({"export", "local", "readonly", "declare", "typeset", "env"})
_TAKES = frozenset({"read", "mapfile", "readarray", "getopts", "for", "select", "unset"})
_SOURCES = frozenset({".", "source", "eval"})


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text reads: each name with the line (0 is the first) where it does so first.

    A name that the text sets itself, anywhere, is not among `names`, nor one whose absence it provides for, as in
    `${NAME:-x}`; in `looked_up` both are. `sources`: it runs text from elsewhere, which may set anything.
    """

    names: dict[str, int]
    looked_up: frozenset[str]
    sources: bool


def read(text: str) -> Reading:
    """Look at a text once, from its beginning to its end."""
    scan = _Scan(text)
    scan.run()
    names = {name: line for name, line in scan.read.items() if name not in scan.assigned}
    return Reading(names, frozenset({*scan.read, *scan.provided}), scan.sources)


@dataclass(slots=True)
class _Context:
    """A command list or a text in double quotes, what closes it, and the first word of the command under way."""

    closes: str
    quoted: bool = False
    first: str | None = None


@dataclass(slots=True)
class _Scan:
    """One walk over a text: where it is, and what it has met."""

    text: str
    at: int = 0
    line: int = 0
    stack: list[_Context] = field(default_factory=lambda: [_Context("")])
    heredocs: list[tuple[str, bool]] = field(default_factory=list)
    read: dict[str, int] = field(default_factory=dict)
    provided: set[str] = field(default_factory=set)
    assigned: set[str] = field(default_factory=set)
    sources: bool = False

    def run(self) -> None:
        """To the end."""
        while self.at < len(self.text):
            self._step(self.text[self.at])

    def _step(self, character: str) -> None:
        top = self.stack[-1]
        if character == "\\":
            self._skip(2)
        elif character == "$":
            self._dollar()
        elif character == top.closes and len(self.stack) > 1:
            self.stack.pop()
            self._skip(1)
        elif character == "`":
            self._open("`")
        elif character == '"' and not top.quoted:
            self._word_begins()
            self._open('"', quoted=True)
        elif top.quoted:
            self._skip(1)
        else:
            self._plain(character, top)

    def _plain(self, character: str, top: _Context) -> None:
        """A character outside of double quotes."""
        if character == "'":
            self._word_begins()
            end = self.text.find("'", self.at + 1)
            self._skip((end if end >= 0 else len(self.text)) + 1 - self.at)
        elif self.text.startswith("()", self.at):
            top.first = None  # a function's name; its body is a command of its own
            self._skip(2)
        elif character == "(":
            self._open(")")
        elif character == "\n":
            top.first = None
            self._skip(1)
            self._bodies()
        elif character in ";&|)":
            top.first = None
            self._skip(1)
        elif character == "#" and (self.at == 0 or self.text[self.at - 1] in " \t\n;&|("):
            end = self.text.find("\n", self.at)
            self._skip((end if end >= 0 else len(self.text)) - self.at)
        elif found := _HEREDOC.match(self.text, self.at):
            self.heredocs.append((found["mark"], bool(found["quote"])))
            self._skip(found.end() - self.at)
        elif found := _CHUNK.match(self.text, self.at):
            self._word(found[0], top)
            self._skip(len(found[0]))
        else:
            self._skip(3 if self.text.startswith("<<<", self.at) else 1)

    def _word(self, chunk: str, top: _Context) -> None:
        """A word, or what of it stands before a quote: the command, an assignment, or an argument."""
        assigned = _ASSIGNED.match(chunk)
        if top.first is None and chunk in _KEYWORDS:
            return
        if assigned and (top.first is None or top.first in _DECLARES):
            self.assigned.add(assigned[1])
        elif top.first is None:
            top.first = chunk
            self.sources |= chunk in _SOURCES
        elif top.first in _TAKES and _NAME.fullmatch(chunk) and chunk != "in":
            self.assigned.add(chunk)

    def _word_begins(self) -> None:
        """A quote where a command stands is the command's name, whatever it says."""
        top = self.stack[-1]
        before = self.text[self.at - 1 : self.at]
        if not top.quoted and top.first is None and (not before or before in " \t\n;&|("):
            top.first = ""

    def _dollar(self) -> None:
        found = _READ.match(self.text, self.at)
        if self.text.startswith("$(", self.at):
            self._word_begins()
            self._skip(1)
            self._open(")")
        elif found is None:
            self._skip(1)
        else:
            self._word_begins()
            self._meet(found)
            self._skip(found.end("name" if found["name"] else "plain") - self.at)

    def _meet(self, found: re.Match[str]) -> None:
        name = found["plain"] or found["name"]
        if found["name"] and found["then"]:
            self.provided.add(name)
            if found["then"].endswith("="):
                self.assigned.add(name)
        else:
            self.read.setdefault(name, self.line)

    def _open(self, closes: str, *, quoted: bool = False) -> None:
        self.stack.append(_Context(closes, quoted))
        self._skip(1)

    def _bodies(self) -> None:
        """The here-documents that begin behind this line; in one whose mark is quoted a `$` is only itself."""
        while self.heredocs:
            mark, literal = self.heredocs.pop(0)
            body = "".join(self._body(mark))
            start = self.line
            for found in [] if literal else _READ.finditer(re.sub(r"\\.", "  ", body)):
                self.line = start + body.count("\n", 0, found.start())
                self._meet(found)
            self.line = start
            self._skip(len(body))
            end = self.text.find("\n", self.at)
            self._skip((end if end >= 0 else len(self.text)) - self.at)

    def _body(self, mark: str) -> Iterator[str]:
        at = self.at
        while at < len(self.text):
            end = self.text.find("\n", at) + 1 or len(self.text)
            line = self.text[at:end]
            if line.strip() == mark:
                return
            yield line
            at = end

    def _skip(self, count: int) -> None:
        self.line += self.text.count("\n", self.at, self.at + count)
        self.at += count
