"""`python -m orchestrator.steps.program`: one call of one function of a flow, in a process of its own.

The call comes on standard input, the answer goes to standard output as one line; what the function prints is log.
"""

from __future__ import annotations

import os
import signal
import sys

from orchestrator.domain.call import Answer, FlowUnknown, Said
from orchestrator.flows import performing
from orchestrator.flows.loading import FlowFiles
from orchestrator.steps import wire
from orchestrator.supervisor.clock import boot_seconds


def main() -> None:
    """Make the call that standard input holds, and end at once with what it gave."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # who is told to end has no answer: Python would make it an error
    call, references = wire.read_call(sys.stdin.buffer.read())
    answers = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # prints of the function must not be taken for its answer
    try:
        flow = FlowFiles(references).flow(call.flow)
    except FlowUnknown as error:
        answer = Answer(Said.FAILED, reason=str(error))
    else:
        answer = performing.perform(flow, call, boot_seconds=boot_seconds)
    line = wire.pack_answer(answer)
    while line:
        line = line[os.write(answers, line) :]
    sys.stdout.flush()
    os._exit(0)  # a thread that the function left behind keeps nobody


if __name__ == "__main__":
    main()
