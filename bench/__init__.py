"""Benchmarks, side by side with what a user would pick instead: `make bench`, or `python -m bench [NAME…] [--quick]`.

Each is one file with TITLE, the sizes FULL and QUICK, and `run(size, ground) -> lines`. A pair is measured in one run,
turn about, and the ratio of the medians is what counts: absolute times are of the machine.

    plan      the pure plan over boards of 1,000 to 100,000 items
    tick      a whole tick over a board of active items, the first one and an unchanged one
    dispatch  tick to turn started, against raw Celery no-op tasks
    recovery  SIGKILL and clean stop of a worker
    cancel    card moved to agent dead
    memory    a worker with 50 waiting turns

    ground    the servers that they stand on; measure: medians and tables
"""
