"""Two operations on one task, in every order: what they leave is what one after the other leaves, never a mixture.

A third client holds the task's rows. Both operations begin and wait for it, one after the other, then it lets go: so
each waits with an old snapshot, and has to see what the first one wrote. What is compared is everything that counts:
the statuses, the cap slots, and what each operation answered.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from itertools import permutations
from typing import Any

import pytest

from orchestrator.domain import flow
from orchestrator.domain.turn import StopReason
from orchestrator.ports.store import Asking, Recorded
from tests.store.flow_scene import ROW, FlowScene
from tests.store.scene import Scene
from tests.waiting import until

Operation = Callable[[FlowScene], Any]

_HOLD = """
    select 1 from workflow, item, task, turn
    where task.id = %s and item.key = task.item_key and workflow.name = task.workflow and turn.task_id = task.id
    for update
"""


def claim(flows: FlowScene) -> Any:
    """A worker takes the queued turn."""
    return flows.admit() is not None


def cancel(flows: FlowScene) -> Any:
    """A person stops the task."""
    return str(flows.flows.cancel(flows.task, StopReason.CANCELLED))


def checkpoint(flows: FlowScene) -> Any:
    """The running turn records a decision."""
    return flows.step(is_decision=True)


def intend(flows: FlowScene) -> Any:
    """The running turn is about to act."""
    return flows.intend("k")


def settle(flows: FlowScene) -> Any:
    """Somebody knows that it happened."""
    return flows.commit("k").kept


def look_up(flows: FlowScene) -> Any:
    """The running turn found nothing under the key."""
    return flows.flows.absent(flows.ref, "k", "looked up")


def conclude(flows: FlowScene) -> Any:
    """The running turn ends, and everything is done."""
    return str(flows.flows.conclude(flows.ref, flow.succeeded()))


def hand_back(flows: FlowScene) -> Any:
    """The running turn ends, and the next one is to go on."""
    return str(flows.flows.conclude(flows.ref, flows.ending("yielded")))


def take_back(flows: FlowScene) -> Any:
    """A person stops the task, and wants what is done undone."""
    return str(flows.flows.cancel(flows.task, StopReason.TAKEN_BACK))


def expire(flows: FlowScene) -> Any:
    """The tick finds the deadline passed."""
    return str(flows.flows.cancel(flows.task, StopReason.EXPIRED))


def fail(flows: FlowScene) -> Any:
    """The running turn ends, and its task with it."""
    return str(flows.flows.conclude(flows.ref, flows.ending("failed")))


def end_undoing(flows: FlowScene) -> Any:
    """The running turn says that all is undone."""
    return str(flows.flows.conclude(flows.ref, flows.ending("undone")))


def park(flows: FlowScene) -> Any:
    """The running turn ends, and its task waits for an answer."""
    return str(flows.flows.conclude(flows.ref, flows.ending("asks")))


def answer(flows: FlowScene) -> Any:
    """A person answers what is asked."""
    return flows.flows.answer(flows.task, "read", said=Recorded({"n": 1}), by="ann")


def wake(flows: FlowScene) -> Any:
    """A turn that somebody woke reads its task, which runs from then on, and then its question, as the engine does."""
    found, asked = flows.flows.load(flows.ref), flows.flows.asked(flows.task, "read")
    return found is not None and asked is not None and asked.is_answered


def ask(flows: FlowScene) -> Any:
    """The running turn puts its question."""
    return put(flows)


def put(flows: FlowScene) -> bool:
    """The question of the running turn, which stands from then on."""
    return flows.flows.ask(flows.ref, Asking(1, "read", "how many?", "support", None)) is not None


def lose(flows: FlowScene) -> Any:
    """The tick finds the lease run out."""
    return flows.flows.lose_silent(ROW, flow.LIMITS)


def queued(flows: FlowScene) -> None:
    """A task with a queued turn."""
    flows.start()
    flows.open()


def running(flows: FlowScene) -> None:
    """A task with a running turn."""
    flows.run()


def acting(flows: FlowScene) -> None:
    """A running turn with an intended effect."""
    flows.run()
    assert flows.intend("k")


def silent(flows: FlowScene) -> None:
    """A running turn whose lease ran out, with an intended effect."""
    acting(flows)
    flows.scene.expire()


def booked(flows: FlowScene) -> None:
    """A running turn that has committed what can be taken back."""
    flows.run()
    assert flows.intend("k", undone_by="unpay")
    assert flows.commit("k").kept


def booking(flows: FlowScene) -> None:
    """A running turn that has intended what can be taken back."""
    flows.run()
    assert flows.intend("k", undone_by="unpay")


def undoing(flows: FlowScene) -> None:
    """A running turn that takes back what an earlier one did, its compensation intended."""
    booked(flows)
    assert str(flows.flows.conclude(flows.ref, flows.ending("failed"))) == "TaskStatus.COMPENSATING"
    assert flows.open() is not None
    ref = flows.admit()
    assert ref is not None
    flows.ref = ref
    assert flows.intend("back", "unpay")


def undoing_silently(flows: FlowScene) -> None:
    """The same, and its lease ran out."""
    undoing(flows)
    flows.scene.expire()


def asking(flows: FlowScene) -> None:
    """A running turn whose question stands."""
    flows.run()
    assert put(flows)


def parked(flows: FlowScene) -> None:
    """A task that waits for an answer."""
    asking(flows)
    assert park(flows) == "TaskStatus.WAITING_INPUT"


def woken(flows: FlowScene) -> None:
    """A task that waits for an answer, and a turn that was opened for it and has not read it yet."""
    parked(flows)
    flows.scene.change("update task set due_at = stationkeeper_clock()")
    assert flows.open() is not None
    ref = flows.admit()
    assert ref is not None
    flows.ref = ref


def settle_back(flows: FlowScene) -> Any:
    """Somebody knows that the compensation happened."""
    return flows.commit("back", ordinal=3).kept


PAIRS = [
    (queued, claim, claim),
    (queued, claim, cancel),
    (running, checkpoint, cancel),
    (running, intend, cancel),
    (running, conclude, cancel),
    (running, hand_back, cancel),
    (running, checkpoint, conclude),
    (acting, settle, look_up),
    (acting, settle, cancel),
    (acting, settle, hand_back),
    (acting, look_up, cancel),
    (silent, lose, settle),
    (silent, lose, look_up),
    (silent, lose, conclude),
    (silent, lose, checkpoint),
    (silent, lose, cancel),
    (silent, lose, lose),
    (booked, fail, cancel),
    (booked, fail, take_back),
    (booked, fail, expire),
    (booked, hand_back, take_back),
    (booked, hand_back, expire),
    (booking, settle, take_back),
    (booking, settle, fail),
    (running, ask, cancel),
    (running, ask, ask),
    (asking, park, cancel),
    (asking, park, expire),
    (asking, park, answer),
    (parked, answer, answer),
    (parked, answer, cancel),
    (parked, answer, expire),
    (woken, answer, cancel),
    (woken, answer, wake),
    (undoing, settle_back, end_undoing),
    (undoing, settle_back, cancel),
    (undoing, end_undoing, take_back),
    (undoing_silently, lose, settle_back),
    (undoing_silently, lose, end_undoing),
    (undoing_silently, lose, cancel),
]


def clear(flows: FlowScene) -> None:
    """Nothing of an earlier run is left that could be counted."""
    flows.scene.change("delete from effect; delete from hold; delete from step; delete from question")
    flows.scene.change("delete from turn; delete from task")
    flows.scene.change("update workflow set open_turns = 0")


def after(flows: FlowScene, begin: Operation, *operations: Operation) -> tuple[Any, ...]:
    """What is left when they come one after the other."""
    clear(flows)
    begin(flows)
    answers = {operation.__name__: operation(flows) for operation in operations}
    return (*sorted(answers.items(), key=str), flows.statuses())


def at_once(flows: FlowScene, begin: Operation, *operations: Operation) -> tuple[Any, ...]:
    """What is left when each of them waits for rows that somebody else holds, in this order."""
    clear(flows)
    begin(flows)
    with flows.scene.client() as client:
        client.execute(_HOLD, [flows.task])
        futures = {}
        for number, operation in enumerate(operations, start=1):
            futures[operation.__name__, number] = flows.scene.later(lambda act=operation: act(flows))
            until(lambda: all_wait(flows.scene, futures.values()), what=f"{operation.__name__} waits or is over")
        client.commit()
    answers = {name: future.result(20) for (name, _), future in futures.items()}
    return (*sorted(answers.items(), key=str), flows.statuses())


def all_wait(scene: Scene, futures: Iterable[Future[Any]]) -> bool:
    """Whether every operation that is not over waits for a lock."""
    begun = sum(not future.done() for future in futures)
    return int(scene.one("select count(*) from pg_stat_activity where wait_event_type = 'Lock'")) >= begun


@pytest.mark.proves("DE-04", "DE-06", "DE-13", "H4", "H11", "H12")
@pytest.mark.parametrize(("begin", "one", "other"), PAIRS, ids=lambda each: each.__name__)
def test_two_operations_at_once_leave_what_one_after_the_other_would(scene, begin, one, other):
    """Whichever comes first: no lost write, no slot given back twice, no effect intended after a cancel."""
    possible = [after(FlowScene(scene), begin, *order) for order in permutations((one, other))]
    for order in permutations((one, other)):
        found = at_once(FlowScene(scene), begin, *order)
        assert found in possible, f"{[operation.__name__ for operation in order]}: {found} is none of {possible}"
