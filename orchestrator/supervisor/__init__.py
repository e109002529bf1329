"""The process beside each worker: parent of every agent, holder of their pipes, and the one that renews their leases.

It is a process, not a thread, because a frozen, killed or busy worker must not let an agent go on unguarded. What it
promises: **no process of a turn writes a byte after another worker may own the turn, and none outlives its turn.**

What is authoritative is `lease_until` in Postgres. The boot clock serves only to stop trusting *sooner*:

    trusted until  =  min(moment the last successful renewal was *sent* + lease,  step's deadline + grace)  -  grace

    running --(past that moment, or the worker's main loop is silent)--> frozen --(fence confirmed)--> running
       |                                                                    |
       +--(fence lost, turn cancelled, time-out, stall, stop)--> ending <---+--(fence lost, cancelled, freeze limit)

When the worker's end of the pipe closes, the worker is dead: everything of it is killed, its turns are reported lost.

    clock       the boot clock
    trust       how long a turn and its processes may run: pure arithmetic
    host        the processes of this machine, as the kernel tells of them
    marker      the name that every process of a turn bears, and the sweep of those whose supervisor is gone
    spawning    starts a program, with the workspace's lock in its hand
    child       a program under way: its members and its end
    pipes       what goes into it and comes out of it
    transcript  keeps what it said, up to a limit
    renewal     the thread that talks to Postgres and Redis, so that their silence never stops the freezing
    link        the pipe to the worker
    lookout     when to look at the processes, and what to do with orphans
    loop        the single-threaded heart
    service     the process: `serve(sock, doors, config)`
    client      the worker's side, which replaces a supervisor that died
    program     a program as the worker sees it
    wire        what the two say to each other

What can still escape, on Linux: a process that takes another user's id; one that drops its environment *and* leaves its
session *and* loses its parent within one second, as long as other turns of the same worker run (it is killed when none
does). Without `/proc` (macOS) only the process group is known: what makes a session of its own escapes.
"""
