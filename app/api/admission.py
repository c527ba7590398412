"""Admission: bounded requests at once, a bounded queue, and a refusal for all others."""

import asyncio
import logging
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import respond_over_share, respond_overloaded
from app.domain.keys import DEFAULT_AGENT, Actor
from app.fair_places import (
    REFUSED_AFTER,
    FairPlaces,
    NoPlace,
    Party,
    Place,
    Refusal,
    find_party,
)
from app.turns import serve_request

logger = logging.getLogger(__name__)

LOG_EVERY = 10.0  # seconds
_IMPORT = "/v1/import"
_EVENTS = "/v1/events"
_EXPORT = "/v1/export"
_WEBHOOKS = "/v1/webhooks"
_READ_BY_POST = frozenset({"/v1/search"})
# Kinds of requests for which the service works little: they wait for a write, or for a receiver.
_WAITING = frozenset({"events", "webhook"})
_CUT_OFF = (
    "Your key has too many imports under way. Nothing of this one was stored; send it again after "
    "the others."
)


def build_gates(places: Mapping[str, int], queue: int, patience: float) -> dict[str, FairPlaces]:
    """Return the places for each kind of request, with the queue before them.

    Nobody queues for a place of those who wait for events: none may come free for hours.
    """
    gates: dict[str, FairPlaces] = {}
    for kind, count in places.items():
        waiting = 0 if kind == "events" else queue
        gates[kind] = FairPlaces(kind, count, queue=waiting, patience=patience)
    return gates


class _GateKeeper:
    """What the two middlewares at the gates share: the gates, and how they refuse."""

    def __init__(self, app: ASGIApp, gates: Mapping[str, FairPlaces]) -> None:
        self._app = app
        self._gates = gates
        self._logged_at = -LOG_EVERY

    async def _refuse(self, kind: str, scope: Scope, refusal: Refusal) -> Response:
        """Return the refusal, and log at most one line every few seconds: it costs more.

        A key that is over its share waits for its refusal. If it asks again at once, it does not
        keep the service busy with refusals.
        """
        scope["shed"] = True
        now = time.monotonic()
        if now > self._logged_at + LOG_EVERY:
            self._logged_at = now
            extra = {"kind": kind, "reason": refusal}
            logger.warning("overloaded: requests are refused", extra=extra)
        if refusal is not Refusal.OVER_SHARE:
            return respond_overloaded()
        await asyncio.sleep(REFUSED_AFTER)
        return respond_over_share()


class EarlyRefusal(_GateKeeper):
    """Refuse a request before its body comes, if it could not even wait.

    That costs next to nothing. Only /v1 is guarded: health and metrics are always answered.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith("/v1/"):
            scope["party"] = _find_party(scope)
            kind = classify_request(scope["method"], scope["path"])
            try:
                self._gates[kind].check(scope["party"])
            except NoPlace as problem:
                refusal = await self._refuse(kind, scope, problem.refusal)
                return await refusal(scope, receive, send)
        await self._app(scope, receive, send)


class Admission(_GateKeeper):
    """Let requests of each kind in as their gate has places, and keys and agents have turns.

    Their bodies have arrived by then; `TimelyBody` sees to it. An import is the exception: its
    lines come while it is worked on. It holds a place for uploads all the time, and one for
    transfers only while it works on lines that have come.

    Each kind has places of its own, so that stores that wait for a slow model, an import of an
    hour or readers that wait for events cannot keep searches out.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/v1/"):
            return await self._app(scope, receive, send)
        kind = classify_request(scope["method"], scope["path"])
        party: Party = scope["party"]
        try:
            async with AsyncExitStack() as places:
                await places.enter_async_context(self._gates[kind].hold(party))
                if kind == "upload":
                    transfer = self._gates["transfer"].hold(party)
                    place = await places.enter_async_context(transfer)
                    receive = _Upload(receive, place).receive
                if kind not in _WAITING:
                    is_short = kind in ("read", "write")
                    places.enter_context(serve_request(party.key, is_short=is_short))
                await self._app(scope, receive, send)
        except NoPlace as problem:
            refusal = await self._refuse(kind, scope, problem.refusal)
            await refusal(scope, receive, send)


class _Upload:
    """Receive the lines of an import, and give the place for transfers back while none come."""

    def __init__(self, receive: Receive, place: Place) -> None:
        self._receive = receive
        self._place = place
        self._has_more = True

    async def receive(self) -> Message:
        if not self._has_more:
            return await self._receive()
        self._place.give_back()
        message = await self._receive()
        self._has_more = message.get("more_body", False)
        try:
            await self._place.take()
        except NoPlace:
            raise HTTPException(429, _CUT_OFF) from None
        return message


def _find_party(scope: Scope) -> Party:
    """Return the key of the call and its agent. With the root key or none, agents take turns."""
    actor: Actor = scope["actor"]
    named = Headers(scope=scope).get("x-agent-id")
    return find_party(actor.name, named or actor.rights.only_agent or DEFAULT_AGENT)


def classify_request(method: str, path: str) -> str:
    """Return the kind: "read", "write", "transfer", "upload", "events" or "webhook".

    Webhooks that are created or tried wait for a machine elsewhere.
    """
    if path == _IMPORT:
        return "upload"
    if path == _EXPORT:
        return "transfer"
    if path == _EVENTS:
        return "events"
    if method in ("GET", "HEAD") or path in _READ_BY_POST:
        return "read"
    return "webhook" if path.startswith(_WEBHOOKS) else "write"
