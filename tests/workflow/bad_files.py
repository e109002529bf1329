"""Workflow files that nobody should have written, made from a number: the same number makes the same file.

Each maker takes a random source and returns the bytes of a file. They cut, mistype, nest, alias, inflate and encode
wrongly what is between the two lines, and bring prompts that want to run away or to reach for Python.
"""

import random
from pathlib import Path

GOOD = (Path(__file__).parent / "shapes" / "backlog.md").read_text(encoding="utf-8")
FRONT, BODY = GOOD.split("---\n")[1:3]

VALUES = [
    *("5", "-1", "0", "1.5", "1e999", ".nan", "yes", "null", "~"),
    *("''", "' '", "[]", "{}", "[[]]", "{a: {b: [c]}}", "text"),
    *("2026-13-45", "12:30:45", "0x10", "0b12", "1_000", "9" * 5000, "!!binary aGk=", "!!set {a}", "!!timestamp 5"),
    *("!!python/name:os.system", "!!python/object/apply:os.getcwd []", "!unknown x", "*nowhere", "&a b", "'\\0'"),
    *('"\\ud800"', '"\\x00"', "$HOME", "${HOME}x", "$NOT_SET"),
    *("$", "~nobody/x", "a" * 3000, "😀", "é", "[To Do, to do]"),
    *("|\n    lines\n    of text", ">\n    folded", "'unclosed", '"unclosed'),
    *("[unclosed", "{unclosed", "? key", "- item", "@x", "`x`", "%x"),
]  # fmt: skip
PIECES = [
    *("{{", "}}", "{%", "%}", "{{-", "-%}", "|", ":", ",", ".", "..", "(", ")", "[", "]", "'", '"', " ", "\n", "=="),
    *("issue", "issue.title", "issue.labels", "run", "attempt"),
    *("nope", "blank", "nil", "true", "1", "-1", "9999999999999"),
    *("if", "endif", "else", "elsif", "for i in", "endfor", "case"),
    *("when", "endcase", "assign x =", "capture x", "endcapture"),
    *("raw", "endraw", "comment", "endcomment", "liquid", "echo"),
    *("cycle", "increment", "tablerow", "break", "include 'a'"),
    *("upcase", "replace: 'a', 'b'", "join: ','", "split: ','"),
    *("date: '%Y'", "slice: 0, 5", "times: 3", "map: 'x'", "sum", "sort"),
    *("where: 'a', 'b'", "truncate: 5", "default: 'x'", "json"),
    *("divided_by: 0", "concat: x", "uniq", "first", "size", "untrusted"),
    *("{{ .issue.title }}", "{{ if .x }}", "{{ end }}"),
    *("{{ range .y }}", "((", "))", "😀", "\x00", "\x85", "\u2028", "\r"),
]  # fmt: skip
REACHES = [
    *(
        "__class__",
        "__mro__",
        "__subclasses__",
        "__init__",
        "__globals__",
        "__builtins__",
        "__dict__",
        "__getattribute__",
    ),
    *(
        "mro",
        "keys",
        "items",
        "append",
        "format",
        "gi_frame",
        "f_globals",
        "size",
        "first",
        "last",
        "0",
        "-1",
        "environment",
    ),
]
ROOTS = [
    "issue",
    "issue.title",
    "issue.labels",
    "issue.blocked_by",
    "run",
    "attempt",
    "forloop",
    "self",
    "context",
    "''",
]
BOMBS = [
    "{% for i in (1..1000000000) %}x{% endfor %}",
    "{% for i in (1..9000) %}{% endfor %}" * 40,
    "{% for i in (1..90) %}{% for j in (1..90) %}{% for k in (1..90) %}x{% endfor %}{% endfor %}{% endfor %}",
    "{% tablerow i in (1..100000000) %}x{% endtablerow %}",
    "{{ (1..100000000) | join: 'x' }}{{ (1..100000000) | sort | reverse | sum }}",
    "{% assign x = 'aaaaaaaa' %}{% for i in (1..60) %}{% assign x = x | append: x %}{% endfor %}{{ x }}",
    "{% capture x %}" + "a" * 5000 + "{% endcapture %}{{ x | replace: 'a', x | replace: 'a', x }}",
    "{% capture x %}"
    + "a" * 5000
    + "{% endcapture %}{% for i in (1..9999) %}{% assign y = x | upcase | escape %}{% endfor %}",
    "{% assign n = 9 %}{% for i in (1..60) %}{% assign n = n | times: n %}{% endfor %}{{ n }}",
    "{% assign a = 'a,b' | split: ',' %}{% for i in (1..60) %}{% assign a = a | concat: a %}{% endfor %}{{ a | join }}",
    "{{ '%' " + "| url_encode " * 2000 + "}}",
    "{{ 'a' " + "| base64_encode " * 400 + "}}",
    "{% if attempt %}" * 200 + "{% endif %}" * 200,
    "{% if " + "(" * 2000 + "attempt" + ")" * 2000 + " %}x{% endif %}",
    "{% if " + "attempt and " * 4000 + "attempt %}x{% endif %}",
    "{{ issue" + "[issue" * 2000 + "]" * 2000 + " }}",
    "{{" * 30_000,
    "{%" * 30_000,
    "{% raw %}" * 490 + "x" * 50_000,
    "{{ " * 400 + "x" * 50_000,
    "{{ 'x' | date: '%" + "9" * 300 + "Y' }}{{ 1 | slice: 99999999999999999999 }}",
    "{% case attempt %}" + "{% when 1 %}a" * 480 + "{% endcase %}",
    "{{ a" + ".b" * 20_000 + " }}",
]


def make(seed: int, number: int) -> bytes:
    """The file of this number."""
    source = random.Random(f"{seed}:{number}")
    return source.choices(MAKERS, WEIGHTS)[0](source)


def truncated(source: random.Random) -> bytes:
    """Cut at any byte."""
    data = GOOD.encode()
    return data[: source.randrange(len(data))]


def mistyped(source: random.Random) -> bytes:
    """Some settings have another value."""
    lines = FRONT.splitlines()
    for _ in range(source.randint(1, 4)):
        at = source.randrange(len(lines))
        key = lines[at].partition(":")[0]
        lines[at] = f"{key}: {source.choice(VALUES)}"
    return whole("\n".join(lines), BODY)


def shuffled(source: random.Random) -> bytes:
    """Lines gone, doubled, indented otherwise, or from elsewhere."""
    lines = GOOD.splitlines()
    for _ in range(source.randint(1, 5)):
        at, other = source.randrange(len(lines)), source.randrange(len(lines))
        lines[at] = source.choice(
            ["", lines[other], f" {lines[at]}", f"\t{lines[at]}", lines[at].strip(), "---", "..."]
        )
    return "\n".join(lines).encode()


def flipped(source: random.Random) -> bytes:
    """Bytes changed, put in or taken out."""
    data = bytearray(GOOD.encode())
    for _ in range(source.randint(1, 8)):
        at = source.randrange(len(data))
        source.choice([data.insert, data.__setitem__])(at, source.randrange(256))
    return bytes(data)


def encoded(source: random.Random) -> bytes:
    """Saved in another encoding."""
    text = GOOD.replace("Harbour", source.choice(["Hafen ß", "港", "😀", "\u202e", "\ufeff"]))
    return text.encode(
        source.choice(["utf-16", "utf-16-be", "utf-32", "utf-8-sig", "utf-7", "cp1252", "cp037"]), "replace"
    )


def nested(source: random.Random) -> bytes:
    """Deeper than anybody's thought."""
    depth = source.choice([5, 31, 33, 200, 3000])
    left, right = source.choice([("[", "]"), ("{a: ", "}"), ("[{a: ", "}]")])
    deep = source.choice(
        [left * depth + "1" + right * depth, "\n".join(" " * n + f"a{n}:" for n in range(min(depth, 300)))]
    )
    return whole(f"{FRONT}deep: {deep}\n", BODY)


def aliased(source: random.Random) -> bytes:
    """Anchors that name each other, more of them at each step."""
    names = [f"n{number}" for number in range(source.randint(1, 12))]
    lines = ["n: &n [1, 2, 3]"]
    for before, name in zip(["n", *names], names, strict=False):
        width = source.randint(1, 10)
        body = source.choice(
            [f"[{', '.join([f'*{before}'] * width)}]", f"{{<<: *{before}}}", f"{{a: *{before}, b: *{name}}}"]
        )
        lines.append(f"{name}: &{name} {body}")
    return whole("\n".join([FRONT, *lines, f"tracker2: *{(names or ['n'])[-1]}"]), BODY)


def huge(source: random.Random) -> bytes:
    """More of something than there should be."""
    many = source.choice([100, 3000, 40_000])
    front = source.choice(
        [
            FRONT + "".join(f"key{number}: {number}\n" for number in range(many)),
            FRONT + "x: " + "y" * many + "\n",
            FRONT + "k" * many + ": 1\n",
            FRONT.replace("[To Do, In Progress]", f"[{', '.join(f's{number}' for number in range(many))}]"),
            FRONT + "# " + "comment " * many + "\n",
        ]
    )
    return whole(front, BODY + source.choice(["", "word " * many, "{{ issue.title }}" * min(many, 600)]))


def bombed(source: random.Random) -> bytes:
    """A prompt that wants to run away."""
    return whole(FRONT, "".join(source.choice(BOMBS) for _ in range(source.randint(1, 2))))


def hostile(source: random.Random) -> bytes:
    """A prompt that reaches for what is behind the data."""
    path = source.choice(ROOTS)
    for _ in range(source.randint(1, 5)):
        name = source.choice(REACHES)
        path += source.choice([f".{name}", f"['{name}']", f"[{source.choice(ROOTS)}]"])
    use = source.choice(
        [f"{{{{ {path} }}}}", f"{{% for x in {path} %}}{{{{ x }}}}{{% endfor %}}", f"{{{{ issue | map: '{path}' }}}}"]
    )
    return whole(FRONT, use)


def babbled(source: random.Random) -> bytes:
    """Pieces of a prompt in no order."""
    return whole(FRONT, "".join(source.choice(PIECES) + source.choice(["", " "]) for _ in range(source.randint(1, 60))))


def brought(source: random.Random) -> bytes:
    """Pieces of a Go template in no order, with hooks that read this and that."""
    body = "".join(source.choice(GO_PIECES) + source.choice(["", " ", "\n"]) for _ in range(source.randint(1, 40)))
    script = "".join(
        source.choice(SHELL_PIECES) + source.choice(["", " ", "\n    "]) for _ in range(source.randint(1, 20))
    )
    return whole(f"{FRONT}hooks:\n  after_create: |\n    {script}\n", body)


def whole(front: str, body: str) -> bytes:
    """A file of these two."""
    return f"---\n{front}\n---\n{body}".encode(errors="replace")


GO_PIECES = [
    *[
        "{{ .issue.title }}",
        "{{- .issue.state -}}",
        "{{ if .issue.url }}",
        "{{ else }}",
        "{{ else if .attempt }}",
        "{{ end }}",
    ],
    *[
        "{{ range .issue.labels }}",
        "{{ . }}",
        "{{ range $i, $x := .issue.blocked_by }}",
        "{{ $x.state }}",
        "{{ if $i }}",
    ],
    *["{{ with .issue.parent }}", "{{ .identifier }}", "{{ $y := .issue.state | lower }}", "{{ $y }}", "{{/* {{ */}}"],
    *[
        "{{ if\n.attempt\n}}",
        '{{ .issue.labels | join ", " }}',
        "{{ if and .attempt (not .issue.labels) }}",
        "{{ .no.such }}",
    ],
    *['{{ printf "%s" .issue.title }}', "{% raw %}", "{{", "}}", "{{ `", "text", "{{ (((( }}", "{{ $ }}", "\n"],
]
SHELL_PIECES = [
    *['"', "'", "`", "$(", ")", "${", "}", "$A", "${B:-c}", "\\", "#", "<<X", "<<'Y'", "X", "Y", "a=", "export D=1;"],
    *["read e", "for f in", "; do", "$((", "))", "()", "{", "$1", "$$", "${!g}", "git clone $SORTIE_REPO_URL ."],
]

# Cheap ones often, each kind of bomb still hundreds of times in a run of a hundred thousand.
WEIGHTS_OF = {
    truncated: 10,
    mistyped: 25,
    shuffled: 20,
    flipped: 15,
    encoded: 5,
    nested: 2,
    aliased: 5,
    huge: 1,
    bombed: 2,
    hostile: 10,
    babbled: 15,
    brought: 15,
}
MAKERS, WEIGHTS = list(WEIGHTS_OF), list(WEIGHTS_OF.values())
