"""Callers who hang up are noticed, so that their work is given up while it waits for a network."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.networks import Requester, work_for


class CallerWatch:
    """Name the caller whom the networks work for, and note if that caller hangs up.

    Only work that waits for a network is given up then. A write that has begun goes on to its end.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/v1/"):
            return await self._app(scope, receive, send)
        requester = Requester(scope["party"].key)
        watched = _WatchedBody(receive, requester)
        try:
            with work_for(requester):
                await self._app(scope, watched.receive, send)
        finally:
            watched.close()


class _WatchedBody:
    """Pass the body on. From its end on, wait for the caller to hang up."""

    def __init__(self, receive: Receive, requester: Requester) -> None:
        self._receive = receive
        self._requester = requester
        self._leaving: asyncio.Task[Message] | None = None

    async def receive(self) -> Message:
        if self._leaving:
            return await asyncio.shield(self._leaving)
        message = await self._receive()
        if message["type"] == "http.request" and not message.get("more_body", False):
            self._leaving = asyncio.create_task(self._note_leaving())
        return message

    async def _note_leaving(self) -> Message:
        message = await self._receive()
        self._requester.has_left = True
        return message

    def close(self) -> None:
        if self._leaving:
            self._leaving.cancel()
