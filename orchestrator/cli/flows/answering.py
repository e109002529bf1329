"""A person's answer, judged where it is typed: by the question's schema and policy, with what the task has recorded."""

from __future__ import annotations

import time

from orchestrator.cli.exits import Exit, Trouble
from orchestrator.cli.flows import store
from orchestrator.domain.call import Call, Part, Said
from orchestrator.domain.step import workflow_of
from orchestrator.ports.store import Recorded


def judged(kept: store.PostgresStore, story: store.TaskStory, step: str, *, text: str) -> Recorded:
    """The answer as the step's output. Raises Trouble with the reason that refuses it."""
    from orchestrator.flows import performing

    line, flows = story.line, store.flows()
    bound, here = kept.workflows.version(workflow_of(line.flow), line.manifest), flows.contract(line.flow)
    if bound.digest != here.digest:
        raise Trouble(
            Exit.CONFIGURATION,
            f"the task is bound to manifest {line.manifest} ({bound.digest}); here is {here.digest} from {here.place}",
        )
    call = Call(
        turn_id=line.id,
        fence=0,
        flow=line.flow,
        step=step,
        part=Part.ANSWER,
        task=str(line.id),
        timeout_seconds=0,
        input=story.given["input"],
        outputs={row.name: row.output for row in story.steps},
        authority=frozenset(),
        parameters={"answer": text},
    )
    answer = performing.perform(flows.flow(line.flow), call, boot_seconds=time.monotonic)
    if answer.said is not Said.DONE:
        raise Trouble(Exit.REFUSED, f"{step}: the answer was refused: {answer.reason}; answer again")
    return Recorded(answer.value, answer.ends)
