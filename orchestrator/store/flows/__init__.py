"""The room of tasks that have no card: their item's row is still the lock, their turns are turns like any other.

starting    a person's start, cancel and word about an effect
ticking     what the tick does: opens turns, finds silent ones, stops what is late
recording   what a turn loads and checkpoints
ledger      intend, commit, refuse, absent
asking      a question to a person, and its answer
concluding  a turn's end in one statement
pruning     deletes what is over and past its keys
showing     what a person reads
room        the room itself
"""
