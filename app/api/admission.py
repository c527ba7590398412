"""Admission: bounded requests at once, a bounded queue, and a quick refusal for all others."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext

from prometheus_client import Counter, Gauge
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.problems import respond_overloaded
from app.services.metrics import REGISTRY
from app.turns import serve_short_request, serve_transfer

logger = logging.getLogger(__name__)

LOG_EVERY = 10.0  # seconds
STARVED_AFTER = 10.0  # seconds
_TRANSFERS = frozenset({"/v1/import", "/v1/export"})
_EVENTS = "/v1/events"
# Who waits for events has no work done.
_SERVING: Mapping[str, Callable[[], AbstractContextManager[None]]] = {
    "read": serve_short_request,
    "write": serve_short_request,
    "transfer": serve_transfer,
    "events": nullcontext,
}
_READ_BY_POST = frozenset({"/v1/search"})
_UNDER_WAY = Gauge(
    "palimpsest_in_flight",
    "Requests being worked on",
    ["kind"],
    registry=REGISTRY,
    multiprocess_mode="livesum",
)
_QUEUED = Gauge(
    "palimpsest_queued",
    "Requests waiting for their turn",
    ["kind"],
    registry=REGISTRY,
    multiprocess_mode="livesum",
)
_SHED = Counter(
    "palimpsest_shed",
    "Requests refused because of overload, by why",
    ["kind", "reason"],
    registry=REGISTRY,
)


def build_gates(places: Mapping[str, int], queue: int, patience: float) -> dict[str, "Gate"]:
    """Return a gate for each kind of request, with so many places.

    Nobody queues for a place of those who wait for events: none may come free for hours.
    """
    gates: dict[str, Gate] = {}
    for kind, count in places.items():
        gates[kind] = Gate(kind, count, 0 if kind == "events" else queue, patience)
    return gates


class _GateKeeper:
    """What the two middlewares at the gates share: the gates, and how they refuse."""

    def __init__(self, app: ASGIApp, gates: Mapping[str, "Gate"]) -> None:
        self._app = app
        self._gates = gates
        self._refusal = respond_overloaded()
        self._logged_at = -LOG_EVERY

    async def _refuse(self, kind: str, scope: Scope, receive: Receive, send: Send) -> None:
        scope["shed"] = True
        self._log_refusal(kind)
        await self._refusal(scope, receive, send)

    def _log_refusal(self, kind: str) -> None:
        """Log at most one line every few seconds: a line costs more than the refusal itself."""
        now = time.monotonic()
        if now > self._logged_at + LOG_EVERY:
            self._logged_at = now
            logger.warning("overloaded: requests are refused", extra={"kind": kind})


class EarlyRefusal(_GateKeeper):
    """Refuse a request before its body comes, if nobody more can wait.

    That costs next to nothing. Only /v1 is guarded: health and metrics are always answered.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith("/v1/"):
            kind = classify_request(scope["method"], scope["path"])
            if self._gates[kind].refuses():
                return await self._refuse(kind, scope, receive, send)
        await self._app(scope, receive, send)


class Admission(_GateKeeper):
    """Let as many requests of each kind in at once as its gate has places.

    Some more of each kind may wait, for a while. All others are refused. Their bodies have arrived
    by then; `TimelyBody` sees to it.

    Reads, writes, transfers and readers of events have places of their own, so that stores that
    wait for a slow model, an import of an hour or who waits for events cannot keep searches out.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/v1/"):
            return await self._app(scope, receive, send)
        kind = classify_request(scope["method"], scope["path"])
        gate = self._gates[kind]
        if not await gate.enter():
            return await self._refuse(kind, scope, receive, send)
        try:
            with _SERVING[kind]():
                await self._app(scope, receive, send)
        finally:
            gate.leave()


def classify_request(method: str, path: str) -> str:
    """Return "read", "write", "transfer" or "events"."""
    if path in _TRANSFERS:
        return "transfer"
    if path == _EVENTS:
        return "events"
    is_read = method in ("GET", "HEAD") or path in _READ_BY_POST
    return "read" if is_read else "write"


class Gate:
    """The places for one kind of request, and the queue before them, first come first served."""

    def __init__(self, kind: str, places: int, queue: int, patience: float) -> None:
        self._free = asyncio.Semaphore(places)
        self._waiting = 0
        self._queue = queue
        self._patience = patience
        self._moved_at = time.monotonic()
        self._under_way = _UNDER_WAY.labels(kind)
        self._queued = _QUEUED.labels(kind)
        self._full = _SHED.labels(kind, "queue_full")
        self._late = _SHED.labels(kind, "waited")

    @property
    def starves(self) -> bool:
        """True if requests wait, and no place has come free for `STARVED_AFTER` seconds."""
        return self._waiting > 0 and time.monotonic() > self._moved_at + STARVED_AFTER

    def refuses(self) -> bool:
        """Return True, and count it, if all places are taken and nobody more can wait."""
        is_full = self._free.locked() and self._waiting >= self._queue
        if is_full:
            self._full.inc()
        return is_full

    async def enter(self) -> bool:
        """Return True if the request may go on; the caller must then call `leave`."""
        if self._free.locked():
            if self.refuses():
                return False
            if not await self._wait_for_place():
                self._late.inc()
                return False
        else:
            await self._free.acquire()
        self._under_way.inc()
        return True

    async def _wait_for_place(self) -> bool:
        if not self._waiting:
            self._moved_at = time.monotonic()
        self._waiting += 1
        self._queued.inc()
        try:
            async with asyncio.timeout(self._patience):
                return await self._free.acquire()
        except TimeoutError:
            return False
        finally:
            self._waiting -= 1
            self._queued.dec()

    def leave(self) -> None:
        self._moved_at = time.monotonic()
        self._under_way.dec()
        self._free.release()
