"""Names every concrete adapter, and only here: opens the doors of a process."""

from __future__ import annotations

import functools

from orchestrator import adapters, clock, hooks, leases, prompts, queue, settings, workflow, workspaces
from orchestrator.celery import app
from orchestrator.flows.loading import FlowFiles
from orchestrator.ports import Ports
from orchestrator.ports.store import StoreUnavailable
from orchestrator.ports.supervisor import Supervisor
from orchestrator.steps.calling import StepCalls
from orchestrator.store import connections, migrate
from orchestrator.store.open import open_store


def open_ports(found: settings.Settings, *, supervisor: Supervisor | None = None) -> Ports:
    """Every door, open. A process that runs no turns has no supervisor, and must not ask for one."""
    environment = settings.inherited()
    left_out = frozenset({found.sabotage.value} if found.sabotage else ())
    watch, flows = clock.SystemClock(), FlowFiles(found.flows)

    def supervised() -> Supervisor:
        return _required(supervisor)

    return Ports(
        store=open_store(
            found.database_url,
            left_out=left_out,
            lease_seconds=found.lease_seconds,
            requeue_seconds=found.requeue_seconds,
            max_turns=found.max_turns,
            host_silence_seconds=found.host_silence_seconds,
            served_seconds=found.served_seconds,
            witness=found.state_dir / "witness",
        ),
        leases=leases.RedisLeases(found.redis_url),
        queue=queue.CeleryQueue(app.send_task, lambda: app.producer_pool.acquire(block=True)),
        clock=watch,
        workflows=workflow.WorkflowFiles(
            found.workflows, environment=environment, kinds=workflow.Kinds(*adapters.kinds())
        ),
        workspaces=workspaces.GitWorkspaces(kept_days=found.kept_days),
        prompts=prompts.LiquidPrompts(),
        remotes=workspaces.GitRemotes(environment, found.push_credentials),
        hooks=hooks.SupervisedHooks(environment),
        tracker=adapters.Trackers(functools.partial(workflow.opened_options, environment=environment)),
        agent=adapters.Agents(environment),
        supervisor=supervised,
        flows=flows,
        steps=StepCalls(flows, watch, supervisor=supervised, environment=environment, state_dir=found.state_dir),
    )


def schema_complaint(found: settings.Settings) -> str | None:
    """One line when the database's schema is not this program's, or there is no database; None when all is well."""
    try:
        migrate.refuse_other_schema(found.database_url)
    except (migrate.SchemaMismatch, connections.UnfitServer, StoreUnavailable) as complaint:
        return str(complaint)
    return None


def _required(supervisor: Supervisor | None) -> Supervisor:
    if supervisor is None:
        raise RuntimeError("this process runs no turns, so it has no supervisor")
    return supervisor
