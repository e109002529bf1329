"""The tables of a world: emptied before it begins, and compared row version by row version."""

EMPTY = """
    do $$ begin
        delete from write_audit; delete from outbox; delete from hold; delete from workspace;
        delete from effect; delete from step_failure; delete from question; delete from step;
        delete from turn; delete from task; delete from history;
        delete from wait; delete from item; delete from reconciler; delete from workflow_version; delete from workflow;
        delete from worker; delete from host; delete from shared_root;
        update pulse set rung_at = null, server_start = null, blind_until = null;
        update installation set fence_base = 0;
    end $$
"""
# Every row version of what a tick could change; a ring and a worker's beat are not part of it.
_TABLES = (
    "item",
    "task",
    "turn",
    "step",
    "outbox",
    "hold",
    "wait",
    "history",
    "workflow",
    "workflow_version",
)
VERSIONS = " union all ".join(
    f"select '{table}', count(*), md5(string_agg(ctid::text || xmin::text, ',' order by ctid)) from {table}"
    for table in _TABLES
)
