"""What the agents of the door's suite do: one set of settings for each behaviour, for each kind of agent.

A new kind adds its line: how to make its program behave like this. The suite fails for a kind that is missing here.
"""

import os
import sys
from enum import Enum
from pathlib import Path

from orchestrator.domain.workflow import AgentSettings


class Behaviour(Enum):
    """What a program may do in its turn."""

    SAYS_DONE = "says done"  # the protocol's last word is a success
    SAYS_NOTHING = "says nothing"  # exits well, without a last word
    CRASHES = "crashes"  # exits with an error after a success was reported
    HANGS = "hangs"  # says that it is on, then nothing, with a child in a session of its own
    CHATTERS = "chatters"  # never ends, never silent
    SHOWS_ITS_ENVIRONMENT = "shows its environment"  # in the transcript, then exits well


_DONE = """echo '{"type":"result","outcome":"done"}'"""

COMMANDS = {
    Behaviour.SAYS_DONE: f"""echo '{{"type":"message","text":"at work"}}'; {_DONE}""",
    Behaviour.SAYS_NOTHING: "exit 0",
    Behaviour.CRASHES: f"{_DONE}; exit 3",
    Behaviour.HANGS: "trap '' INT; setsid sleep 300 & echo on; wait; sleep 300",
    Behaviour.CHATTERS: "while :; do echo on; sleep 0.05; done",
    Behaviour.SHOWS_ITS_ENVIRONMENT: "env",
}

# What the stand-ins of vendors' programs are told to do.
DEEDS = {
    Behaviour.SAYS_DONE: "done",
    Behaviour.SAYS_NOTHING: "nothing",
    Behaviour.CRASHES: "crash",
    Behaviour.HANGS: "hang",
    Behaviour.CHATTERS: "chatter",
    Behaviour.SHOWS_ITS_ENVIRONMENT: "env",
}


def standin(name, deed):
    """The command of a vendor's stand-in that does this in its turn."""
    return f"{sys.executable} {Path(__file__).parent / name}_standin.py --do {deed}"


def on_path(folder):
    """A PATH on which both vendors' programs are their stand-ins, which do the work that they are given."""
    folder.mkdir()
    for name in ("codex", "claude"):
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec {standin(name, "work")} "$@"\n')
        program.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


SETTINGS = {
    "command": {behaviour: AgentSettings(command=command) for behaviour, command in COMMANDS.items()},
    "codex": {behaviour: AgentSettings(command=standin("codex", deed)) for behaviour, deed in DEEDS.items()},
    "claude_code": {behaviour: AgentSettings(command=standin("claude", deed)) for behaviour, deed in DEEDS.items()},
}
