"""At the door: a bounded number of requests at once, a bounded queue before them, and a quick refusal for everybody else."""

import asyncio
import logging
import time
from collections.abc import Mapping

from prometheus_client import Counter, Gauge
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.problems import respond_overloaded
from app.services.metrics import REGISTRY

logger = logging.getLogger(__name__)

TELL_EVERY = 10.0  # seconds
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
    """Lets `places[kind]` requests of each kind in at once; `queue` more of each may wait, `patience` seconds at most.

    The others are refused before their body is read, which costs next to nothing, so that the service goes on doing what it can.
    Reads, writes and transfers have places of their own: neither stores that wait for a slow model nor an import of an hour keep
    searches out. Only /v1 is guarded: health and metrics answer always.
    """

    def __init__(
        self, app: ASGIApp, places: Mapping[str, int], queue: int, patience: float
    ) -> None:
        self._app = app
        self._gates = {kind: Gate(kind, count, queue, patience) for kind, count in places.items()}
        self._refusal = respond_overloaded()
        self._logged_at = -TELL_EVERY

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/v1/"):
            return await self._app(scope, receive, send)
        kind = kind_of(scope["method"], scope["path"])
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
        """A line every few seconds; one for each refusal would cost more than the refusal."""
        now = time.monotonic()
        if now > self._logged_at + TELL_EVERY:
            self._logged_at = now
            logger.warning("overloaded: requests are refused", extra={"kind": kind})


def kind_of(method: str, path: str) -> str:
    """read, write or transfer."""
    if path in _TRANSFERS:
        return "transfer"
    return "read" if method in ("GET", "HEAD") or path in _READ_BY_POST else "write"


class Gate:
    """So many at once, so many in the queue, first come first served."""

    def __init__(self, kind: str, places: int, queue: int, patience: float) -> None:
        self._free = asyncio.Semaphore(places)
        self._waiting = 0
        self._queue = queue
        self._patience = patience
        self._under_way, self._queued = _UNDER_WAY.labels(kind), _QUEUED.labels(kind)
        self._full, self._late = _SHED.labels(kind, "queue_full"), _SHED.labels(kind, "waited")

    async def enter(self) -> bool:
        """Whether the caller may go on, and then must `leave`."""
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
