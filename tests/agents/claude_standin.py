"""Stands for Claude Code: `-p --output-format stream-json`, the prompt on standard input; does what `--do` names.

Sessions are kept under `$CLAUDE_CONFIG_DIR`, so that a later process can resume one. Its lines are shaped as those that
version 2.1.332 was seen to print.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import uuid
from pathlib import Path

USAGE = {
    "input_tokens": 70,
    "cache_creation_input_tokens": 10,
    "cache_read_input_tokens": 20,
    "output_tokens": 25,
}
REFUSALS = {
    "401": ("Failed to authenticate. API Error: 401", 401, "authentication_failed"),
    "429": ("API Error: Request rejected (429)", 429, "rate_limit"),
    "500": ("API Error: 500. This is a server-side issue", 500, "server_error"),
    "login": ("Not logged in · Please run /login", None, "authentication_failed"),
}


class Run:
    """One run of the program."""

    def __init__(self, words):
        self.words = words
        self.deed = self.value("--do") or "work"
        folder = os.environ.get("CLAUDE_CONFIG_DIR")
        self.home = Path(folder) if folder else None
        self.session = self.value("--resume") or str(uuid.uuid4())

    def value(self, flag):
        """What stands behind a flag."""
        return self.words[self.words.index(flag) + 1] if flag in self.words else None

    def go(self):
        """The turn; returns the exit code."""
        prompt = sys.stdin.read()
        if self.value("--resume") and not (self.home and (self.home / self.session).exists()):
            reason = f"No conversation found with session ID: {self.session}"
            self.end(is_error=True, subtype="error_during_execution", errors=[reason], usage=dict.fromkeys(USAGE, 0))
            return 1
        say(type="system", subtype="init", session_id=self.session, cwd=str(Path.cwd()), tools=["Bash"])
        if self.home:
            self.home.mkdir(parents=True, exist_ok=True)
            with (self.home / self.session).open("a") as kept:
                kept.write(prompt)
        return self.act(prompt)

    def act(self, prompt):
        """What `--do` names."""
        match self.deed:
            case "nothing":
                return 0
            case "hang" | "heed" | "chatter":
                self.linger()
            case "env":
                sys.stderr.writelines(f"{name}={value}\n" for name, value in os.environ.items())
            case "words":
                self.speak(json.dumps(self.words))
                self.end(result=json.dumps(self.words))
                return 0
            case "circle" | "toil":
                for number in range(200):
                    self.call("Read", {"file": "plan.md", "line": number if self.deed == "toil" else 1})
                self.linger_if_in_circles()
            case "work":
                Path("did.txt").write_text(prompt)
                subprocess.run("git add -A . && git commit -qm work", shell=True, check=False)
            case code if code in REFUSALS:
                return self.refuse(*REFUSALS[code])
            case "garbage":
                sys.stdout.write("{not json\n" + "x" * 70_000 + "\n[1]\n\n")
        self.speak("Working.")
        self.speak("All done.")
        denied = [{"tool_name": "AskUserQuestion", "tool_input": {"questions": [{"question": "Which pump?"}]}}]
        self.end(result="All done.", permission_denials=denied if self.deed == "ask" else [])
        return 3 if self.deed == "crash" else 0

    def call(self, tool, arguments):
        """One call of a tool; its id is another one each time."""
        use = {"type": "tool_use", "id": uuid.uuid4().hex, "name": tool, "input": arguments}
        message = {"id": uuid.uuid4().hex, "role": "assistant", "content": [use], "usage": USAGE}
        say(type="assistant", message=message, session_id=self.session)

    def linger_if_in_circles(self):
        """Time in which it is stopped."""
        if self.deed == "circle":
            self.linger()

    def linger(self):
        """Stay, until somebody ends it: deaf with a child, ready to go, or never silent."""
        if self.deed == "hang":
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            subprocess.Popen(["sleep", "300"], start_new_session=True)
        if self.deed == "heed":
            signal.signal(signal.SIGINT, self.stop)
        while True:
            say(type="system", subtype="status", status="heeding, on and on")
            threading.Event().wait(0.05 if self.deed == "chatter" else 300)

    def stop(self, *_):
        """A SIGINT: what was spent so far, and the end."""
        self.end(is_error=True, subtype="error_during_execution")
        sys.exit(0)

    def refuse(self, told, status, name):
        """The provider's refusal: a "success" that is an error."""
        say(type="system", subtype="api_retry", attempt=1, error_status=status, error=name)
        self.speak(told, usage=dict.fromkeys(USAGE, 0), error=name)
        self.end(is_error=True, result=told, api_error_status=status, usage=dict.fromkeys(USAGE, 0))
        return 1

    def speak(self, told, *, usage=USAGE, **more):
        """One message of the model."""
        message = {"id": uuid.uuid4().hex, "role": "assistant", "content": [{"type": "text", "text": told}]}
        say(type="assistant", message={**message, "usage": usage}, session_id=self.session, **more)

    def end(self, **more):
        """The last word; two messages make the run's usage."""
        said = {"subtype": "success", "is_error": False, "api_error_status": None, "permission_denials": []}
        usage = {name: 2 * count for name, count in USAGE.items()}
        say(**{"type": "result", **said, "session_id": self.session, "usage": usage, **more})


def say(**line):
    """One line."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(Run(sys.argv[1:]).go())
