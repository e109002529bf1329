"""Stands for Codex: speaks the app-server's protocol on standard input and output, and does what `--do` names.

Threads are kept under `$CODEX_HOME`, so that a later process can resume one; their usage adds up, as Codex's does.
`make peers` holds each of its lines against the schema that the program itself prints.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

EACH = {
    "totalTokens": 125,
    "inputTokens": 100,
    "cachedInputTokens": 20,
    "cacheWriteInputTokens": 0,
    "outputTokens": 25,
    "reasoningOutputTokens": 5,
}
ERRORS = {
    "401": {"httpConnectionFailed": {"httpStatusCode": 401}},
    "429": {"responseTooManyFailedAttempts": {"httpStatusCode": 429}},
    "500": "internalServerError",
    "limit": "usageLimitExceeded",
}


class Server:
    """One app-server: its threads, and the turn that it is told to begin."""

    def __init__(self, deed):
        self.deed, self.thread, self.turn = deed, "", ""
        self.spent = dict.fromkeys(EACH, 0)
        self.home = Path(os.environ["CODEX_HOME"]) if "CODEX_HOME" in os.environ else None

    def serve(self):
        """Answer each line until standard input ends."""
        for line in sys.stdin:
            message = json.loads(line)
            method, params = message.get("method"), message.get("params", {})
            match method:
                case "initialize" if self.deed != "deaf":
                    where = {"codexHome": str(self.home or "/nowhere"), "platformFamily": "unix", "platformOs": "linux"}
                    say(id=message["id"], result={"userAgent": "standin/1", **where})
                case "thread/start":
                    self.begin(message["id"], str(uuid.uuid4()))
                case "thread/resume":
                    self.resume(message["id"], params["threadId"])
                case "turn/start":
                    self.turn = str(uuid.uuid4())
                    say(id=message["id"], result={"turn": self.shown("inProgress")})
                    self.tell("turn/started", turn=self.shown("inProgress"))
                    self.act(params["input"][0]["text"])
                case "turn/interrupt":
                    say(id=message["id"], result={})
                    self.tell("turn/completed", turn=self.shown("interrupted"))
                case None:
                    self.answered(message)

    def begin(self, request, thread):
        """A thread, new or kept."""
        self.thread = thread
        say(id=request, result={"thread": {"id": thread}})

    def resume(self, request, thread):
        """A kept thread says what it has spent; one that is not there is an error."""
        kept = self.home / thread if self.home else None
        if kept is None or not kept.exists():
            say(id=request, error={"code": -32600, "message": f"no rollout found for thread id {thread}"})
            return
        self.spent = json.loads(kept.read_text())
        self.begin(request, thread)
        self.tell_usage(EACH)

    def act(self, prompt):
        """The turn."""
        self.spend()
        match self.deed:
            case "nothing":
                sys.exit(0)
            case "hang" | "chatter":
                self.linger()
            case "env":
                sys.stderr.writelines(f"{name}={value}\n" for name, value in os.environ.items())
            case "ask":
                ask = {"command": "rm -rf /", "itemId": "1", "startedAtMs": 0}
                say(id=0, method="item/commandExecution/requestApproval", params={**self.where(), **ask})
                return
            case "tool":
                call = {"callId": "1", "tool": "oracle", "arguments": {}}
                say(id=7, method="item/tool/call", params={**self.where(), **call})
                return
            case "circle" | "toil":
                self.call()
            case "work":
                Path("did.txt").write_text(prompt)
                subprocess.run("git add -A . && git commit -qm work", shell=True, check=False)
            case code if code in ERRORS:
                self.fail(code)
                return
        self.finish("All done.")

    def linger(self):
        """Stay, until somebody ends it: deaf with a child, or never silent."""
        if self.deed == "hang":
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            subprocess.Popen(["sleep", "300"], start_new_session=True)
            threading.Event().wait(300)
        while True:
            self.tell("item/agentMessage/delta", turnId=self.turn, itemId="1", delta="on and ")
            threading.Event().wait(0.05)

    def call(self):
        """Two hundred calls, of which those of a circle are one; then time in which it is stopped."""
        for number in range(200):
            command = "cat plan.md" if self.deed == "circle" else f"sed -n {number}p plan.md"
            item = {"type": "commandExecution", "id": str(number), "command": command, "cwd": "/", "exitCode": 0}
            self.tell("item/completed", turnId=self.turn, item=item, completedAtMs=0)
        if self.deed == "circle":
            threading.Event().wait(300)

    def finish(self, text):
        """A message, and the last word; a crash comes after it."""
        item = {"type": "agentMessage", "id": "1", "text": text}
        self.tell("item/completed", turnId=self.turn, item=item, completedAtMs=0)
        self.spend()
        self.tell("turn/completed", turn=self.shown("completed"))
        if self.deed == "crash":
            sys.exit(3)

    def fail(self, code):
        """The provider's refusal as the last word."""
        if code == "limit":
            spent = {"usedPercent": 100, "resetsAt": int(time.time()) + 7200}
            say(method="account/rateLimits/updated", params={"rateLimits": {"primary": spent}})
        error = {"message": f"refused: {code}", "codexErrorInfo": ERRORS[code]}
        self.tell("turn/completed", turn={**self.shown("failed"), "error": error})

    def answered(self, message):
        """What we answered to its request, told as its last message."""
        self.finish(json.dumps(message.get("result", message.get("error"))))

    def spend(self):
        """One request to the model."""
        self.spent = {name: spent + EACH[name] for name, spent in self.spent.items()}
        if self.home:
            self.home.mkdir(parents=True, exist_ok=True)
            (self.home / self.thread).write_text(json.dumps(self.spent))
        self.tell_usage(EACH)

    def tell_usage(self, last):
        """The thread's usage, all of it and the last request's."""
        self.tell("thread/tokenUsage/updated", turnId=self.turn, tokenUsage={"total": self.spent, "last": last})

    def tell(self, method, **params):
        """A notification about the thread."""
        say(method=method, params={"threadId": self.thread, **params})

    def where(self):
        """Which turn a request is of."""
        return {"threadId": self.thread, "turnId": self.turn}

    def shown(self, status):
        """The turn as it is told."""
        return {"id": self.turn, "items": [], "status": status}


def say(**message):
    """One line."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    WORDS = sys.argv[1:]
    Server(WORDS[WORDS.index("--do") + 1] if "--do" in WORDS else "work").serve()
