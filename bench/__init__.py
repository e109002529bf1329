"""Benchmarks, side by side with what a user would pick instead: `make bench`, or `python -m bench NAME…`.

Each measures its pair in one run, interleaved, and prints the ratio of the medians; absolute times are of this machine.

    plan      the pure plan over boards of 1,000 to 100,000 items
    tick      a whole tick over active boards, first and unchanged, against listing and storing alone
    dispatch  tick to turn started, against raw Celery no-op Celery tasks on the same broker
    recovery  SIGKILL and clean stop of a worker to the turn running again
    cancel    card moved to agent dead
    memory    a worker with 50 waiting turns
"""
