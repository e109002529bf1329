"""Postgres and Redis for a machine that has neither.

`services` starts both as children of this process and hands out their URLs; `postgres` and `valkey` each know one
server; `programs` finds their binaries; `child` starts a process that cannot outlive us. Both servers listen on
127.0.0.1 only, ask for a generated password, and keep all that they own below one state folder.
"""

from orchestrator.embedded.child import Unavailable as Unavailable
from orchestrator.embedded.programs import Programs as Programs
from orchestrator.embedded.services import Embedded as Embedded
