"""Stationkeeper: the team's board is the control plane of a fleet of agents.

In one breath: board -> plan -> turns -> effects -> write-backs. The map of the house, top down:

    tasks/ cli/            what Celery and people touch; no decisions
    wiring                 the only place that names a concrete adapter
    celery                 the Celery application
    engine/                acts: reads the world through the doors, asks the domain, writes
    trackers/ agents/      one file for each kind of board and each kind of agent program
    store/                 Postgres; the only importer of SQLAlchemy
    leases queue clock workspaces hooks workflow settings embedded
    flows/ supervisor/     what a durable task consists of; the process beside each worker
    environment            what an agent or a hook sees of ours
    rest listings          what a tracker over HTTP stands on: how it is asked, and what is made of its listings
    ports/ telemetry       the doors as Protocols; logs and metrics
    domain/                decides; pure, standard library only
"""
