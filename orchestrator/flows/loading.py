"""Where a user's flows are found: `module:NAME`, or `path/to/file.py:NAME`, as the settings list them."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pydantic

from orchestrator.domain.call import FlowUnknown
from orchestrator.domain.step import FlowContract
from orchestrator.flows import checking, printing, signatures
from orchestrator.flows.spelling import BadFlow, Flow


class FlowFiles:
    """Fits `ports.steps.Flows`: the flows at the given references, loaded at first use."""

    def __init__(self, references: tuple[str, ...]) -> None:
        """Loads nothing yet."""
        self.references = references

    def names(self) -> tuple[str, ...]:
        """Every flow's name, in order. Raises FlowUnknown for a reference that leads nowhere or to a bad flow."""
        return tuple(self._all)

    def contract(self, name: str) -> FlowContract:
        """A flow's contract. Raises FlowUnknown."""
        return self._contracts(name)

    def check_input(self, name: str, value: object) -> object:
        """The input as the flow's type has it, as JSON. Raises ValueError."""
        judge = signatures.adapter(checking.input_of(self.flow(name)))
        try:
            return judge.dump_python(judge.validate_python(value), mode="json")
        except pydantic.ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"])) or "the whole"
            expected = self.contract(name).takes
            raise ValueError(f"the input's {place}: {first['msg']}; expected a {expected}") from error

    def flow(self, name: str) -> Flow:
        """The flow itself. Raises FlowUnknown."""
        if name not in self._all:
            known = ", ".join(self._all) or "none; name some as module:NAME in STATIONKEEPER_FLOWS"
            raise FlowUnknown(f"no flow is called {name!r}; there are: {known}")
        return self._all[name]

    @functools.cached_property
    def _all(self) -> dict[str, Flow]:
        found: dict[str, Flow] = {}
        for reference in self.references:
            flow = load(reference)
            if flow.name in found and found[flow.name] is not flow:
                raise FlowUnknown(f"{flow.place}: the name {flow.name!r} is that of {found[flow.name].place} too")
            found[flow.name] = flow
        return found

    @functools.cache  # noqa: B019 -- one value of this class a process
    def _contracts(self, name: str) -> FlowContract:
        return printing.contract(self.flow(name))


def load(reference: str) -> Flow:
    """The flow that `module:NAME` names. Raises FlowUnknown, with what was found."""
    module, _, name = reference.rpartition(":")
    if not module or not name.isidentifier():
        raise FlowUnknown(f"{reference!r} names no flow; expected module:NAME or path/to/file.py:NAME")
    try:
        found = getattr(_module(module), name)
    except AttributeError:
        raise FlowUnknown(f"{reference}: {module} has no {name}; expected a Flow of that name") from None
    except BadFlow as error:
        raise FlowUnknown(str(error)) from error
    except FlowUnknown:
        raise
    except Exception as error:  # a user's module may raise anything when it is imported
        raise FlowUnknown(f"{reference}: {module} cannot be loaded ({type(error).__name__}: {error})") from error
    if not isinstance(found, Flow):
        raise FlowUnknown(f"{reference}: {name} is a {type(found).__name__}; expected a Flow")
    return found


def _module(name: str) -> ModuleType:
    if not name.endswith(".py"):
        if "" not in sys.path and str(Path.cwd()) not in sys.path:
            sys.path.insert(0, str(Path.cwd()))  # a module beside the workflow file is found from every process
        return importlib.import_module(name)
    path = Path(name).resolve()
    known = f"stationkeeper_flow_{path.stem}_{abs(hash(path))}"
    if known in sys.modules:
        return sys.modules[known]
    spec = importlib.util.spec_from_file_location(known, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FlowUnknown(f"{name}: no such file; expected the Python file of a flow")
    module = importlib.util.module_from_spec(spec)
    sys.modules[known] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[known]
        raise
    return module
