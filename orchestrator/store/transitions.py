"""The tables of status moves, as triggers: what the domain refuses, the schema refuses too, from the same table.

`install` writes the functions anew; a migration that goes with a changed table calls it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TypeVar

from orchestrator.domain import effect, task, writeback

S = TypeVar("S", bound=Enum)

_GUARD = """\
create or replace function stationkeeper_{table}_moves() returns trigger language plpgsql as $$
begin
    if (old.status, new.status) not in ({edges}) then
        raise exception 'a {table} does not go from % to %', old.status, new.status
            using errcode = 'check_violation', constraint = 'a_{table}_moves_as_its_table_says', table = '{table}';
    end if;
    return new;
end
$$;
create or replace trigger a_{table}_moves_as_its_table_says before update of status on {table}
    for each row when (old.status is distinct from new.status) execute function stationkeeper_{table}_moves();
"""


_STANDING = """\
create or replace function stationkeeper_effect_status(of_write text) returns text language sql immutable as $$
    select case of_write
{pairs}
    end
$$;
"""


def guard(table: str, transitions: Mapping[S, frozenset[S]]) -> str:
    """The trigger that refuses every change of a table's status but these."""
    edges = [
        f"('{source.value}', '{target.value}')"
        for source, following in transitions.items()
        for target in sorted(following, key=lambda status: str(status.value))
    ]
    return _GUARD.format(table=table, edges=", ".join(edges))


def standing() -> str:
    """The function by which the ledger tells write-backs in the words of effects."""
    pairs = "\n".join(
        f"        when '{own.value}' then '{effect.value}'" for own, effect in writeback.STANDS_FOR.items()
    )
    return _STANDING.format(pairs=pairs)


def guards() -> str:
    """The triggers of every table whose statuses are a table."""
    return guard("task", task.TRANSITIONS) + guard("effect", effect.TRANSITIONS)
