"""Turn slots: so many at a time, without waiting."""

from orchestrator.engine.worker import Slots


def test_who_finds_no_slot_goes_away():
    """Two slots for three: the third is told at once."""
    slots = Slots(2)
    with slots.slot() as first, slots.slot() as second, slots.slot() as third:
        assert (first, second, third) == (True, True, False)


def test_a_slot_comes_back_with_its_block():
    """Whatever ended the block; and one that was never had is not given back."""
    slots = Slots(1)
    with slots.slot(), slots.slot():
        assert slots.busy == 1
    assert slots.busy == 0


def test_a_worker_that_is_being_stopped_gives_out_none():
    """Closed is closed, however many are free."""
    slots = Slots(3)
    slots.close()
    with slots.slot() as free:
        assert not free
