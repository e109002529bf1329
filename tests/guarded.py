"""A remote that lets in who has the credential: git's own HTTP server on the loopback, behind basic authentication."""

from __future__ import annotations

import base64
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

USER, PASSWORD = "pusher", "s3cret"
_EXPECTED = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


@dataclass(frozen=True, slots=True)
class Guarded:
    """A bare repository that is served; `port` is the server's."""

    repository: Path
    port: int

    @property
    def url(self) -> str:
        """Its address, which says nothing of who may use it."""
        return f"http://127.0.0.1:{self.port}/{self.repository.name}"

    @property
    def open_url(self) -> str:
        """The address with the credential in it, as many keep it in a variable."""
        return f"http://{USER}:{PASSWORD}@127.0.0.1:{self.port}/{self.repository.name}"

    def branches(self) -> list[str]:
        """What it has."""
        words = ["git", "-C", str(self.repository), "for-each-ref", "--format=%(refname:short)", "refs/heads"]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()


@contextmanager
def guarded(folder: Path) -> Iterator[Guarded]:
    """Serve an empty repository in `folder` for the length of the block."""
    repository = folder / "guarded.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(repository)], check=True)
    handler = type("Handler", (_Door,), {"root": folder})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield Guarded(repository, server.server_port)
        finally:
            server.shutdown()


class _Door(BaseHTTPRequestHandler):
    """Asks for the credential, then lets `git http-backend` answer."""

    root: Path

    def do_GET(self) -> None:
        """The server calls it."""
        self._answer(b"")

    def do_POST(self) -> None:
        """The same."""
        self._answer(self.rfile.read(int(self.headers["Content-Length"])))

    def log_message(self, *_: object) -> None:
        """Tests say what they saw by themselves."""

    def _answer(self, body: bytes) -> None:
        if self.headers.get("Authorization") != _EXPECTED:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="guarded"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        cgi = {
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REMOTE_USER": USER,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
        }
        said = subprocess.run(["git", "http-backend"], input=body, env=cgi, capture_output=True, check=False).stdout
        head, _, content = said.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
