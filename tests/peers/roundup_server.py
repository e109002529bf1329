"""Real Roundup trackers on loopback for tests; run by the Python that has Roundup: `FOLDER PORT`.

The tracker's own code answers over WSGI, since `roundup-server` refuses to run as root; one request at a time, as with
its `-t none`: Roundup compares an ETag and writes in one request but in no transaction. Each tracker is a copy, made
when it is first asked for, of the classic template with two changes: the statuses are those of the suite's board, and
an issue links to what it waits for.
"""

import functools
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from roundup.cgi.wsgi_handler import RequestDispatcher  # type: ignore[import-not-found]

STATES = ("To Do", "In Progress", "In Review", "Done")
# People and we are users of one tracker.
USERS = ("ada", "stationkeeper")
TEMPLATE = "template"


def install(folder: Path, port: int) -> None:
    """Make an empty tracker in `folder`; it writes its mail to a file."""
    admin = [sys.executable, "-c", "from roundup.scripts.roundup_admin import run; run()", "-i", str(folder)]
    settings = {
        "admin_email": "admin@example.com",
        "tracker_web": f"http://127.0.0.1:{port}/{TEMPLATE}/",
        "mail_domain": "example.com",
        "mail_host": "localhost",
        "mail_debug": "mail.txt",
        "rdbms_backend": "sqlite",
        "web_login_attempts_min": "0",
        "password_pbkdf2_default_rounds": "1000",  # each request logs in; a test is no secret
    }
    words = ",".join(f"{key}={value}" for key, value in settings.items())
    subprocess.run([*admin, "install", "classic", "sqlite", words], check=True, capture_output=True)
    schema = folder / "schema.py"
    text = schema.read_text(encoding="utf-8")
    schema.write_text(text.replace('status=Link("status"))', 'status=Link("status"), dependencies=Multilink("issue"))'))
    data = folder / "initial_data.py"
    lines = [line for line in data.read_text(encoding="utf-8").splitlines() if not line.startswith("stat.create")]
    lines += [f"stat.create(name={name!r}, order={order})" for order, name in enumerate(STATES, start=1)]
    for name in USERS:
        lines.append(f"user.create(username={name!r}, password=adminpw, address='{name}@example.com', roles='User')")
    data.write_text("\n".join(lines), encoding="utf-8")
    subprocess.run([*admin, "initialise", "secret"], check=True, capture_output=True)


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 64


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing of a request."""


def main(folder: str, port: str) -> None:
    """Serve every tracker under its name until the process is ended."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    if not (place / TEMPLATE / "config.ini").exists():
        install(place / TEMPLATE, int(port))

    @functools.cache
    def tracker(name: str) -> RequestDispatcher:
        if not (place / name).exists():
            shutil.copytree(place / TEMPLATE, place / name)
            config = place / name / "config.ini"
            config.write_text(config.read_text().replace(f"/{TEMPLATE}/", f"/{name}/"))
        return RequestDispatcher(str(place / name))

    one_at_a_time = threading.Lock()

    def below(environ, start_response):
        name, _, rest = environ["PATH_INFO"].lstrip("/").partition("/")
        environ["SCRIPT_NAME"], environ["PATH_INFO"] = f"/{name}", f"/{rest}"
        with one_at_a_time:
            return list(tracker(name)(environ, start_response))

    server = make_server("127.0.0.1", int(port), below, server_class=_Server, handler_class=_Quiet)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
