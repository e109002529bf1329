"""What a failing server means to the engine, tried on a real one that fails in every way."""

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from orchestrator.ports.tracker import PASSING, SPECIFIED, TrackerError, TrackerFault
from orchestrator.rest import Rest
from tests.waiting import until


class Failing(ThreadingHTTPServer):
    """Answers each request as `script` says: a status and headers, or one of the ways of not answering."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status, self.headers, self.body, self.manner = 200, dict[str, str](), b'{"ok": true}', "whole"
        self.seen: list[str] = []
        self.over = threading.Event()


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Failing

    def do_GET(self) -> None:
        """A read, as the script says."""
        self._answer()

    def do_PATCH(self) -> None:
        """A write, as the script says."""
        self._answer()

    def _answer(self) -> None:
        script = self.server
        script.seen.append(self.command)
        if script.manner == "silent":
            script.over.wait(20)
            return
        self.send_response(script.status)
        for name, value in script.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(script.body)))
        self.end_headers()
        if script.manner == "cut":
            self.wfile.write(script.body[:4])
        elif script.manner == "dripping":
            for byte in script.body:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                script.over.wait(0.15)
        else:
            self.wfile.write(script.body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Failing]:
    """A server that does as it is told."""
    with Failing() as failing:
        thread = threading.Thread(target=failing.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield failing
        failing.over.set()
        failing.shutdown()
        thread.join()


def failure(server: Failing, method: str = "GET", *, seconds: float = 5.0) -> TrackerError:
    """The fault of one request."""
    rest = Rest(f"http://127.0.0.1:{server.server_address[1]}/", call_seconds=seconds)
    with pytest.raises(TrackerError) as caught:
        rest.begin().send(method, "thing", body=None if method == "GET" else {"x": 1})
    return caught.value


STATUSES = [
    (401, TrackerFault.AUTH),
    (403, TrackerFault.AUTH),
    (404, TrackerFault.NOT_FOUND),
    (409, TrackerFault.CONFLICT),
    (412, TrackerFault.CONFLICT),
    (422, TrackerFault.PAYLOAD),
    (301, TrackerFault.CONFIG),
    (429, TrackerFault.RATE_LIMITED),
    (500, TrackerFault.API),
    (502, TrackerFault.API),
    (503, TrackerFault.API),
]


@pytest.mark.proves("TE-08", "FS-29")
@pytest.mark.parametrize(("status", "fault"), STATUSES)
def test_a_status_says_whether_another_try_makes_sense(server: Failing, status: int, fault: TrackerFault):
    """What a person must mend waits for one; what passes by itself is tried again; neither is "gone" or "fine"."""
    server.status = status
    told = failure(server)
    assert (told.fault, told.fault in PASSING) == (fault, status in {409, 412, 429} or status >= 500)
    assert not told.sent


@pytest.mark.proves("TE-09", "FS-38")
@pytest.mark.parametrize("status", [429, 403])
def test_a_rate_limit_brings_its_delay(server: Failing, status: int):
    """In seconds or as a date; also where it is said as "forbidden, come back in a minute"."""
    server.status = status
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    for value, least, most in (("7", 7, 7), (later, 80, 90)):
        server.headers = {"Retry-After": value}
        told = failure(server)
        assert told.fault is TrackerFault.RATE_LIMITED
        assert told.retry_after_seconds is not None
        assert least <= told.retry_after_seconds <= most


@pytest.mark.proves("TE-09")
@pytest.mark.parametrize("value", [None, "", "soon", "-5"])
def test_a_rate_limit_without_a_usable_delay_is_one_all_the_same(server: Failing, value: str | None):
    """The engine's own backoff is left."""
    server.status, server.headers = 429, {} if value is None else {"Retry-After": value}
    told = failure(server)
    assert (told.fault, told.retry_after_seconds or 0.0) == (TrackerFault.RATE_LIMITED, 0.0)


@pytest.mark.proves("TW-13", "TE-08")
@pytest.mark.parametrize(("manner", "status"), [("cut", 200), ("silent", 200), ("whole", 500), ("whole", 504)])
def test_a_write_whose_answer_was_lost_may_have_happened(server: Failing, manner: str, status: int):
    """It is looked up before it is sent again; a read can simply be asked again."""
    server.manner, server.status = manner, status
    told = failure(server, "PATCH", seconds=0.6)
    assert told.fault in PASSING
    assert told.sent
    assert not failure(server, "GET", seconds=0.6).sent


@pytest.mark.proves("TE-08")
def test_a_server_that_is_not_there_was_sent_nothing():
    """No connection, no write."""
    with pytest.raises(TrackerError) as caught:
        Rest("http://127.0.0.1:1/").begin().send("PATCH", "thing", body={})
    assert (caught.value.fault, caught.value.sent) == (TrackerFault.TRANSPORT, False)


@pytest.mark.proves("TE-04")
def test_a_call_ends_at_its_deadline_whatever_drips_in(server: Failing):
    """A byte at a time keeps a socket's time-out quiet; the deadline is for all requests of a call together."""
    server.manner, server.body = "dripping", b'{"x": "' + b"y" * 200 + b'"}'
    began = time.monotonic()
    assert failure(server, seconds=0.7).fault is TrackerFault.TRANSPORT
    assert time.monotonic() - began < 3
    call = Rest(f"http://127.0.0.1:{server.server_address[1]}/", call_seconds=0.0).begin()
    seen = len(server.seen)
    with pytest.raises(TrackerError) as caught:
        call.send("PATCH", "thing", body={})
    assert (caught.value.sent, len(server.seen)) == (False, seen)


@pytest.mark.proves("TE-03")
@pytest.mark.parametrize("body", [b"<html>Please log in</html>", b'{"data": ['], ids=["a page for people", "half"])
def test_an_answer_that_makes_no_sense_is_a_fault(server: Failing, body: bytes):
    """200 with a login page is neither an empty board nor a written card."""
    server.body = body
    assert failure(server).fault is TrackerFault.PAYLOAD


def test_a_credential_is_not_carried_to_another_place(server: Failing):
    """A redirect is told, with the place, and not followed."""
    server.status, server.headers = 302, {"Location": "http://127.0.0.1:1/elsewhere"}
    told = failure(server)
    assert told.fault is TrackerFault.CONFIG
    assert "elsewhere" in str(told)
    assert len(until(lambda: server.seen)) == 1


@pytest.mark.proves("TE-07")
def test_every_fault_has_its_name_in_both_specifications():
    """Ours are those of the richer one; the other's are a mapping of them, whole and from its closed list."""
    assert set(SPECIFIED) == set(TrackerFault)
    assert set(SPECIFIED.values()) <= {
        *("unsupported_tracker_kind", "invalid_tracker_config", "missing_tracker_secret", "tracker_request"),
        *("tracker_status", "tracker_response", "tracker_pagination", "tracker_rate_limited"),
    }


class HandClock:
    """Monotonic seconds that pass when somebody sleeps or says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """The time."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Time passes."""
        self.now += seconds


def refused(rest: Rest) -> TrackerError | None:
    """The fault of one read, None where it went well."""
    try:
        rest.begin().get("thing")
    except TrackerError as fault:
        return fault
    return None


@pytest.fixture
def patient(server: Failing) -> tuple[Rest, HandClock]:
    """A client of the server with a clock in the hand."""
    clock = HandClock()
    base = f"http://127.0.0.1:{server.server_address[1]}/"
    return Rest(base, monotonic=clock, sleep=clock.sleep), clock


ASKS = [
    pytest.param(429, {"Retry-After": "90"}, 90, id="a refusal with its delay"),
    pytest.param(503, {"Retry-After": "90"}, 90, id="a server that is busy"),
    pytest.param(429, {}, 60, id="a refusal that names none"),
    pytest.param(200, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "90"}, 90, id="the last request of a window"),
    pytest.param(200, {"Retry-After": "90"}, 90, id="an answer that says when the next one may come"),
]


@pytest.mark.proves("TE-11", "FS-37")
@pytest.mark.parametrize(("status", "headers", "seconds"), ASKS)
def test_nothing_is_sent_before_a_limit_has_passed(
    server: Failing, patient: tuple[Rest, HandClock], status: int, headers: dict[str, str], seconds: float
):
    """Whoever asks, however often: the server sees one request until the time that it named, and then the next."""
    rest, clock = patient
    server.status, server.headers = status, headers
    refused(rest)
    server.status, server.headers = 200, {}
    for passed in (5.0, seconds - 8.0):
        clock.sleep(passed)
        told = refused(rest)
        assert told is not None
        assert (told.fault, told.sent) == (TrackerFault.RATE_LIMITED, False)
        assert told.retry_after_seconds == pytest.approx(seconds - (clock.now - 100.0), abs=1)
    assert len(server.seen) == 1
    clock.sleep(3.1)
    assert refused(rest) is None
    assert len(server.seen) == 2


@pytest.mark.proves("TE-11")
def test_a_reset_may_be_a_time_of_the_clock(server: Failing, patient: tuple[Rest, HandClock]):
    """As GitHub says it: seconds since 1970."""
    reset = (datetime.now(UTC) + timedelta(seconds=90)).timestamp()
    server.headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(reset))}
    assert refused(patient[0]) is None
    told = refused(patient[0])
    assert told is not None
    assert told.retry_after_seconds == pytest.approx(90, abs=2)


@pytest.mark.proves("TE-11")
def test_a_pause_of_moments_is_made_in_the_midst_of_a_call(server: Failing, patient: tuple[Rest, HandClock]):
    """Where each request has its pause, a call of several would otherwise never come to its end."""
    rest, clock = patient
    server.headers = {"Retry-After": "1"}
    call = rest.begin()
    for _ in range(3):
        call.get("thing")
    assert (len(server.seen), clock.now) == (3, 102.0)


@pytest.mark.proves("TE-11")
@pytest.mark.parametrize("value", ["inf", "nan", "1e300", "99999999"])
def test_a_slip_of_the_server_parks_no_board_for_years(server: Failing, patient: tuple[Rest, HandClock], value: str):
    """A day at the most."""
    server.status, server.headers = 429, {"Retry-After": value}
    told = refused(patient[0])
    assert told is not None
    assert (told.retry_after_seconds or 0.0) <= 86_400
    patient[1].sleep(86_401)
    server.status, server.headers = 200, {}
    assert refused(patient[0]) is None
