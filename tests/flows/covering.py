"""A flow whose functions run in the worker, but for an effect that must be killed when it is late."""

from orchestrator.flows import Effect, Flow, Step


def nothing() -> int:
    """A step."""
    return 1


def send(key: str) -> str:
    """A target that would take a key twice."""
    return key


FLOW = Flow(
    "test.covering",
    version=1,
    isolated=False,
    steps=[
        *(Step(f"short{number}", nothing) for number in range(5)),
        Step("long", nothing, timeout_seconds=600),
        Step("after", nothing),
        Effect("sent", send, key=lambda s: s.task, timeout_seconds=30),
        Step("at_last", nothing, timeout_seconds=300),
    ],
)
