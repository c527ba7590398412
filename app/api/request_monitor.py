"""Every request is timed, counted and logged, and an error nobody foresaw is answered here."""

import logging
import re
import time
from http import HTTPMethod

import structlog
from prometheus_client import Counter, Histogram
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import respond_unexpected
from app.domain.agent import AGENT_ID_PATTERN
from app.services.metrics import REGISTRY

logger = logging.getLogger(__name__)

_REQUESTS = Counter(
    "palimpsest_requests", "Requests answered", ["method", "route", "status"], registry=REGISTRY
)
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_SECONDS = Histogram(
    "palimpsest_request_seconds",
    "Seconds from a request to the end of its answer",
    ["route"],
    registry=REGISTRY,
    buckets=_BUCKETS,
)
# Routes that wait for something to happen: how long they take says nothing about the service.
_WAITING = frozenset({"/v1/events"})
_QUIET = frozenset({"/livez", "/readyz", "/metrics"})
_SHED = "shed"
_AGENT_ID = re.compile(AGENT_ID_PATTERN)


class RequestMonitor:
    """Count and log responses.

    Routes are named, never paths: paths and queries hold what people wrote.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        started = time.perf_counter()
        status = 0

        async def send_noting_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=scope["request_id"]):
            try:
                await self._app(scope, receive, send_noting_status)
            except Exception:
                logger.exception("unexpected error")
                if status:
                    # A part of the answer has left. The server cuts the connection, so that nobody
                    # takes the part for the whole.
                    raise
                await respond_unexpected()(scope, receive, send_noting_status)
            finally:
                _record_request(scope, status or 500, time.perf_counter() - started)


def _record_request(scope: Scope, status: int, seconds: float) -> None:
    method = scope["method"] if scope["method"] in HTTPMethod.__members__ else "other"
    route = _SHED if "shed" in scope else getattr(scope.get("route"), "path", "unmatched")
    _REQUESTS.labels(method, route, str(status)).inc()
    if route == _SHED:
        return  # Logging each refusal would cost more than the refusal itself.
    if route not in _WAITING:
        _SECONDS.labels(route).observe(seconds)
    level = logging.DEBUG if route in _QUIET and status < 400 else logging.INFO
    if logger.isEnabledFor(level):
        details = {
            "method": method,
            "route": route,
            "status": status,
            "duration_ms": round(seconds * 1e3, 2),
            "agent": _find_agent_id(scope),
            # None for a call that was refused before anybody knew who calls.
            "actor": scope["actor"].name if "actor" in scope else None,
        }
        logger.log(level, "request", extra=details)


def _find_agent_id(scope: Scope) -> str | None:
    if "agent_id" in scope:
        agent: str = scope["agent_id"]
        return agent
    agent_id = Headers(scope=scope).get("x-agent-id", "default")
    return agent_id if _AGENT_ID.fullmatch(agent_id) else None
