"""Which loop, how often. Data only: the application reads it, and any number of beats may send it.

No entry carries `expires`: a ring that comes late is still a ring, and a backlog of rings is one tick, because a tick
begins by compare-and-set on the reconciler row.
"""

# The pulse of the whole system. Most rings find nothing due and cost one small statement; a second is what a person who
# drags a card takes for "at once".
EVERY_SECOND = 1.0

SCHEDULE = {
    "reconcile": {
        "task": "tasks.reconcile",
        "schedule": EVERY_SECOND,
        "kwargs": {"full": False},  # what is due; the board itself is read when its polling interval has passed
        "options": {"queue": "control"},
    },
    "relay": {
        "task": "tasks.relay",
        "schedule": EVERY_SECOND,
        "options": {"queue": "relay"},
    },
}
