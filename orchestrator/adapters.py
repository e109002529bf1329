"""Finds an adapter by its kind: a module of ours, or a dotted path outside our tree. The module is the plug-in."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from orchestrator import environment
from orchestrator.domain.workflow import AgentSettings, Workflow
from orchestrator.ports.agent import Agent, AgentMisconfigured, Employer
from orchestrator.ports.tracker import Tracker, TrackerError, TrackerFault

ConnectAgent = Callable[[AgentSettings, Mapping[str, str]], Agent]


# What a workflow's options mean in this process; raises TrackerError (CONFIG) for what is not there.
Resolve = Callable[[Mapping[str, object]], Mapping[str, object]]


class UnknownKind(Exception):
    """The workflow names a kind of tracker or agent that is not there."""


class Trackers:
    """Opens each board once in a process: adapters keep connections and caches."""

    def __init__(self, resolve: Resolve) -> None:
        """Opens nothing yet. `resolve` puts values for the variables in a board's options, at the moment of opening."""
        self._resolve = resolve
        self._open: dict[str, Tracker] = {}
        self._lock = threading.Lock()

    def __call__(self, workflow: Workflow) -> Tracker:
        """The tracker of a workflow; raises TrackerError (CONFIG) for an unknown kind or a bad option."""
        settings = workflow.tracker
        key = f"{settings.kind} {sorted(settings.options.items(), key=str)}"
        with self._lock:
            if key not in self._open:
                self._open[key] = _connect_tracker(settings.kind, self._resolve(settings.options))
            return self._open[key]


class Agents:
    """Opens the agent of a workflow; an agent keeps nothing between turns, so each turn may have its own."""

    def __init__(self, inherited: Mapping[str, str]) -> None:
        """`inherited` is the worker's environment, from which an adapter picks what its allow-list names."""
        self._inherited = inherited

    def __call__(self, employer: Employer) -> Agent:
        """The agent of a workflow or of a decision; raises AgentMisconfigured."""
        try:
            connect: ConnectAgent = _module("agents", employer.agent.kind).connect
        except UnknownKind as error:
            raise AgentMisconfigured(str(error)) from error
        inherited, agent = self._inherited, employer.agent
        if not isinstance(employer, Workflow) or employer.workspace.remote is not None:  # it is to push nothing
            inherited = environment.without_keys(inherited, agent.env)
            agent = replace(agent, env={**environment.SEALED, **agent.env})
        return connect(agent, inherited)


def kinds() -> tuple[frozenset[str], frozenset[str]]:
    """The kinds of trackers and of agents that come with the program: the modules that can be connected to."""
    return _kinds("trackers"), _kinds("agents")


def _kinds(package: str) -> frozenset[str]:
    folder = Path(__file__).parent / package
    modules = [path for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()]
    return frozenset(
        path.stem.replace("_", "-")
        for path in modules
        if path.stem != "__init__" and hasattr(_module(package, path.stem), "connect")
    )


def _connect_tracker(kind: str, options: Mapping[str, object]) -> Tracker:
    try:
        connect: Callable[[Mapping[str, object]], Tracker] = _module("trackers", kind).connect
    except UnknownKind as error:
        raise TrackerError(TrackerFault.CONFIG, str(error)) from error
    return connect(options)


def _module(package: str, kind: str) -> ModuleType:
    name = kind if "." in kind else f"orchestrator.{package}.{kind.replace('-', '_')}"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
        expected = f"a name in orchestrator/{package} or a dotted path"
        raise UnknownKind(f"there is no {package.removesuffix('s')} kind {kind!r}; expected {expected}") from error
