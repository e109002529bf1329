"""What we did and mean to do, in Postgres. The only importer of SQLAlchemy; one file a table or a room.

Isolation is READ COMMITTED, checked at connect, so a statement that waited for a row sees what happened meanwhile;
only the tick's snapshot is REPEATABLE READ. Statements of the hot path are single and in autocommit.

Locks are taken in the order workflow, item, task, turn, outbox, reconciler, and always FOR NO KEY UPDATE: an insert
takes KEY SHARE on every row that it refers to, out of that order, and would deadlock with a plain FOR UPDATE.

Leases and deadlines are the database's clock: `stationkeeper_now()` in scans, `stationkeeper_clock()` in decisions,
because a `now()` that waited for a lock is already in the past.

    open         open_store(url) -> PostgresStore: the rooms, on two engines
    database     a session on a connection; errors of the driver as StoreUnavailable
    connections  how a connection is made, what it refuses, how long it waits
    rules        the statements' rules by name, so that a demonstration can leave one out
    migrate      the schema's version; `roles` the time-outs of our two roles
    reconciler   the rings              workflows  the versions in force
    items        the tick's room: records, opening, cancelling, losing, holds, waits
    turns        the workers' room: admitting, checkpointing, concluding, renewing
    outbox       the relay's room; `writes` puts rows into it
    workers      who is there           history    what happened, for people
    queries      what a person reads, as the values of `views`
"""
