"""Programs of ours between the supervisor and a vendor's agent: what a command says, of one that speaks a protocol.

    saying        the order that a bridge is given, and what it says: the lines of `agents.command`, failures by kind
    talk          a protocol as the loop sees it: what is heard gives replies; no I/O
    conversing    the loop: the vendor's program as a child, its lines, the answers that it owes
    app_server    Codex, by `codex app-server`; `python -m orchestrator.agents.bridges.app_server`
    stream_json   Claude Code, by `claude -p`; `python -m orchestrator.agents.bridges.stream_json`
    refusals      what a provider's refusal means, as each program words it

A bridge imports nothing but these and the standard library: it starts once a turn.
"""
