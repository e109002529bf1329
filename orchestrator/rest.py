"""JSON over HTTP as a tracker's adapter needs it: one deadline for a whole call of the door, and typed faults.

No retries: the engine waits. A request that writes and whose answer is lost, cut short or a failure of the server may
have been carried out; the fault says so (`sent`), and the engine looks before it writes again. A server that asks for a
pause gets it from every caller of this process (`quota`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx

from orchestrator import quota
from orchestrator.ports.tracker import TrackerError, TrackerFault

# The time-out of both peers. It is for all requests of one call of the door together, so that a relay's claim, which
# is longer, never runs out while a write is under way.
CALL_SECONDS = 30.0
# A host that does not even shake hands is away.
_CONNECT_SECONDS = 5.0
# So short a pause is waited out in the midst of a call, which could not end otherwise where each request has its pause.
_SHORT_PAUSE_SECONDS = 2.0
# An answer is cut off there: a page of fifty cards is a hundredth of it.
_MOST_BYTES = 32 * 1024 * 1024

_READS = frozenset({"GET", "HEAD", "OPTIONS"})
# What a status means, if the tracker does not mean something else by it. Each is a promise to the engine: AUTH,
# NOT_FOUND, CONFIG and PAYLOAD wait for a person, the others pass by themselves.
_FAULTS: Mapping[int, TrackerFault] = {
    401: TrackerFault.AUTH,
    403: TrackerFault.AUTH,
    404: TrackerFault.NOT_FOUND,
    408: TrackerFault.API,
    409: TrackerFault.CONFLICT,
    410: TrackerFault.NOT_FOUND,
    412: TrackerFault.CONFLICT,
    425: TrackerFault.API,
    429: TrackerFault.RATE_LIMITED,
}
_REFUSED, _FAILED = 400, 500
_LONGEST_COMPLAINT = 300


def origin(endpoint: str, example: str) -> str:
    """Scheme and host of the address that a workflow names; raises TrackerError (CONFIG) for one that is none."""
    parts = urlsplit(endpoint)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username:
        message = f"tracker.endpoint: expected an address without a password, as in {example}"
        raise TrackerError(TrackerFault.CONFIG, message)
    return f"{parts.scheme}://{parts.netloc}"


def login(key: str) -> tuple[str, str]:
    """The user and the password in a workflow's `user:password`; raises TrackerError (CONFIG)."""
    user, _, password = key.partition(":")
    if not (user and password):
        raise TrackerError(TrackerFault.CONFIG, "tracker.api_key: expected user:password; name a variable that has it")
    return user, password


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said: the JSON body, and the ETag by which a later write can be conditional."""

    body: object
    etag: str | None = None


@dataclass(slots=True)
class Rest:
    """One server. `faults` says which statuses mean something else there; threads may share it."""

    base: str
    headers: Mapping[str, str] = field(default_factory=dict)
    auth: tuple[str, str] | None = None
    faults: Mapping[int, TrackerFault] = field(default_factory=dict)
    call_seconds: float = CALL_SECONDS
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    quota: quota.Quota = field(init=False)
    _client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        """Connects to nothing yet. Redirects are not followed: a credential goes to the place it was given for."""
        self.quota = quota.Quota(self.monotonic)
        self._client = httpx.Client(headers=dict(self.headers), auth=self.auth, trust_env=False)

    def begin(self) -> Call:
        """One call of the door: its requests share a deadline."""
        return Call(self, self.monotonic() + self.call_seconds)


@dataclass(frozen=True, slots=True)
class Call:
    """The requests of one call of the door. `until` is the monotonic time at which it ends, whatever it waits for."""

    rest: Rest
    until: float

    def get(self, path: str, query: Mapping[str, object] | None = None) -> Answer:
        """Read something. Raises TrackerError."""
        return self.send("GET", path, query=query)

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: object = None,
        etag: str | None = None,
    ) -> Answer:
        """Send one request, conditional on `etag` where given, and read its whole answer. Raises TrackerError."""
        self._heed_quota(f"{method} {path}")
        left = self.until - self.rest.monotonic()
        if left <= 0:
            raise TrackerError(TrackerFault.TRANSPORT, f"no time was left to send {method} {path}")
        request = self.rest._client.build_request(  # noqa: SLF001 -- a call is a part of its server
            method,
            self.rest.base + path,
            params=query,  # type: ignore[arg-type]
            content=None if body is None else json.dumps(body).encode(),
            headers={
                **({} if body is None else {"Content-Type": "application/json"}),
                **({} if etag is None else {"If-Match": etag}),
            },
            timeout=httpx.Timeout(left, connect=min(left, _CONNECT_SECONDS)),
        )
        writes = method not in _READS
        try:
            response, data = self._read(request, writes=writes)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol) as error:
            raise TrackerError(TrackerFault.TRANSPORT, f"{self.rest.base} cannot be reached: {error}") from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            message = f"{method} {path}: the answer did not come ({type(error).__name__}: {error})"
            raise TrackerError(TrackerFault.TRANSPORT, message, sent=writes) from error
        self.rest.quota.learn(response.status_code, response.headers)
        if not response.is_success:
            raise self._refusal(response, data, writes=writes)
        try:
            return Answer(json.loads(data) if data else None, response.headers.get("ETag"))
        except ValueError as error:
            message = f"{method} {path}: expected JSON, found {_shown(data)}; is this the address of the API?"
            raise TrackerError(TrackerFault.PAYLOAD, message, sent=writes) from error

    def _heed_quota(self, what: str) -> None:
        """Send nothing before the server wants to be asked again; a pause of moments is simply made."""
        wait = self.rest.quota.seconds_left()
        if wait > _SHORT_PAUSE_SECONDS:
            message = f"{self.rest.base} wants no requests for another {wait:.0f} s; {what} was not sent"
            raise TrackerError(TrackerFault.RATE_LIMITED, message, retry_after_seconds=wait)
        if wait > 0:
            self.rest.sleep(wait)

    def _read(self, request: httpx.Request, *, writes: bool) -> tuple[httpx.Response, bytes]:
        """The whole answer; a server that drips its bytes is left at the deadline as well."""
        response = self.rest._client.send(request, stream=True)  # noqa: SLF001
        try:
            chunks, size = [], 0
            for chunk in response.iter_bytes():
                chunks.append(chunk)
                size += len(chunk)
                if self.rest.monotonic() > self.until or size > _MOST_BYTES:
                    message = f"{request.method} {request.url.path}: the answer took too long or had no end"
                    raise TrackerError(TrackerFault.TRANSPORT, message, sent=writes)
            return response, b"".join(chunks)
        finally:
            response.close()

    def _refusal(self, response: httpx.Response, data: bytes, *, writes: bool) -> TrackerError:
        request = response.request
        said = f"{request.method} {request.url.path}: {response.status_code} {response.reason_phrase}: {_shown(data)}"
        wait = quota.retry_after(response.headers.get("Retry-After"))
        if response.is_redirect:
            place = response.headers.get("Location")
            return TrackerError(TrackerFault.CONFIG, f"{said}; the server is at {place!r}: write that address")
        fault = self.rest.faults.get(response.status_code) or _FAULTS.get(response.status_code)
        if fault is TrackerFault.AUTH and wait is not None:
            fault = TrackerFault.RATE_LIMITED  # some say "forbidden, come back in a minute"
        if fault is None:
            fault = TrackerFault.API if response.status_code >= _FAILED else TrackerFault.PAYLOAD
        failed = writes and response.status_code >= _FAILED
        return TrackerError(fault, said, retry_after_seconds=wait, sent=failed)


def _shown(data: bytes) -> str:
    text = " ".join(data.decode(errors="replace").split())
    return text if len(text) <= _LONGEST_COMPLAINT else f"{text[:_LONGEST_COMPLAINT]}…"
