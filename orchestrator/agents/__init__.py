"""One file for each kind of agent program, with `connect(settings, inherited) -> ports.agent.Agent`.

The module is the plug-in: `agent.kind` names it, and the door's suite (`tests/doors/test_agent.py`) finds it by listing
this package. What all kinds share stands beside them: `report` (what a program may say of its turn), `vendor` and
`bridges` (kinds that speak a protocol).
"""
