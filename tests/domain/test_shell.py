"""What a shell text reads: told by its text alone, quotes, comments and here-documents understood."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.domain import shell


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('git clone "$SOURCE_URL" .', {"SOURCE_URL": 0}),
        ("cd x\necho ${DEEP#x} ${#LONG}", {"DEEP": 1, "LONG": 1}),
        ("awk '{print $NF}' f # $NOT", {}),
        ('x="$(awk \'{print $NF}\' "$FILE")"; echo $x', {"FILE": 0}),
        ("echo `echo $B` \\$C '$D'", {"B": 0}),
        ("${A:-x} ${B-x} ${C:=x} ${D:+x} ${E:?gone} ${F}", {"E": 0, "F": 0}),
        ("echo ${A:-$B}", {"B": 0}),
        ("A=1 B=$C; export D=$A E=2\necho $B $D $E", {"C": 0}),
        ('echo "A=$A"', {"A": 0}),
        ("while IFS= read -r line; do echo $line; done < $FILE", {"FILE": 0}),
        ("for f in $LIST; do echo $f; done", {"LIST": 0}),
        ("f() { local q=1; echo $q $r; }", {"r": 0}),
        ("case $1 in a) P=1;; esac; echo $P", {}),
        ("cat <<X\n$IN \\$NOT 'and' $IN\nX\necho '$NOT' $OUT", {"IN": 1, "OUT": 3}),
        ("cat <<'X'\n$NOT\nX\necho $OUT", {"OUT": 3}),
        ("echo $1 $@ $$ $? $(( N + 1 ))", {}),
    ],
)
def test_a_name_is_read_where_the_shell_would_look_it_up(text, names):
    """And not where it is quoted, set by the text itself, or provided for."""
    assert shell.read(text).names == names


def test_what_is_provided_for_is_looked_up_all_the_same():
    """Where it is set, its value counts; so whoever passes variables on must know of it."""
    reading = shell.read(': "${A:=main}" ${B:-x}; C=${C:-y}; D=1; echo $D "$E"')
    assert (reading.names, reading.looked_up) == ({"E": 0}, {"A", "B", "C", "D", "E"})


def test_text_from_elsewhere_may_set_anything():
    """It is run and not read, so a name is told with that doubt."""
    assert [shell.read(text).sources for text in (". ./env; $A", "eval $A", "echo . $A")] == [True, True, False]


@given(st.text(alphabet="$ab{}()`'\"\\ \n;|&<X=#:-!", max_size=60))
def test_any_text_comes_to_an_end(text):
    """And every name that it tells stands in the text, on the line that is told."""
    for name, line in shell.read(text).names.items():
        assert name in text.split("\n")[line]
