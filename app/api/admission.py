"""Admission: bounded requests at once, a bounded queue, and a quick refusal for all others."""

import asyncio
import logging
import time
from collections.abc import Mapping

from prometheus_client import Counter, Gauge
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.problems import respond_overloaded
from app.services.metrics import REGISTRY

logger = logging.getLogger(__name__)

LOG_EVERY = 10.0  # seconds
_TRANSFERS = frozenset({"/v1/import", "/v1/export"})
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


class Admission:
    """Let `places[kind]` requests of each kind in at once.

    `queue` more of each kind may wait, for `patience` seconds at most. All others are refused
    before their body is read, which costs next to nothing.

    Reads, writes and transfers have places of their own, so that stores that wait for a slow model
    or an import of an hour cannot keep searches out. Only /v1 is guarded: health and metrics are
    always answered.
    """

    def __init__(
        self, app: ASGIApp, places: Mapping[str, int], queue: int, patience: float
    ) -> None:
        self._app = app
        self._gates = {kind: Gate(kind, count, queue, patience) for kind, count in places.items()}
        self._refusal = respond_overloaded()
        self._logged_at = -LOG_EVERY

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/v1/"):
            return await self._app(scope, receive, send)
        kind = classify_request(scope["method"], scope["path"])
        gate = self._gates[kind]
        if not await gate.enter():
            scope["shed"] = True
            self._log_refusal(kind)
            return await self._refusal(scope, receive, send)
        try:
            await self._app(scope, receive, send)
        finally:
            gate.leave()

    def _log_refusal(self, kind: str) -> None:
        """Log at most one line every few seconds: a line costs more than the refusal itself."""
        now = time.monotonic()
        if now > self._logged_at + LOG_EVERY:
            self._logged_at = now
            logger.warning("overloaded: requests are refused", extra={"kind": kind})


def classify_request(method: str, path: str) -> str:
    """Return "read", "write" or "transfer"."""
    if path in _TRANSFERS:
        return "transfer"
    is_read = method in ("GET", "HEAD") or path in _READ_BY_POST
    return "read" if is_read else "write"


class Gate:
    """The places for one kind of request, and the queue before them, first come first served."""

    def __init__(self, kind: str, places: int, queue: int, patience: float) -> None:
        self._free = asyncio.Semaphore(places)
        self._waiting = 0
        self._queue = queue
        self._patience = patience
        self._under_way = _UNDER_WAY.labels(kind)
        self._queued = _QUEUED.labels(kind)
        self._full = _SHED.labels(kind, "queue_full")
        self._late = _SHED.labels(kind, "waited")

    async def enter(self) -> bool:
        """Return True if the request may go on; the caller must then call `leave`."""
        if self._free.locked():
            if self._waiting >= self._queue:
                self._full.inc()
                return False
            if not await self._wait_for_place():
                self._late.inc()
                return False
        else:
            await self._free.acquire()
        self._under_way.inc()
        return True

    async def _wait_for_place(self) -> bool:
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
        self._under_way.dec()
        self._free.release()
