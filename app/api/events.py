"""Following an agent: pages of events that may be waited for, and a stream of them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Annotated, Any
from uuid import UUID

import psycopg
from fastapi import APIRouter, Header, Query
from fastapi import Request as HttpRequest
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from app.api.answers.events import EventsAnswer, FeedEvent
from app.api.deps import AgentDep, ServicesDep
from app.api.key_check import has_key_ended
from app.api.openapi import document_problems
from app.api.responses import respond_with_answer, send_block
from app.api.schemas.events import EventsQuery
from app.domain.agent import AgentId
from app.domain.errors import EventsArchived, UnknownLogEntry
from app.services.events import EventFeed, EventPage, Leaving
from app.store.log.events import Selection

EVENT_STREAM = "text/event-stream"
# Seconds without an event after which a comment shows that the stream lives. A proxy that hears
# nothing cuts it, often after 30 or 60 seconds.
HEARTBEAT = 15.0
# Milliseconds after which a reader whose stream was cut comes back.
RETRY = 3_000

router = APIRouter(prefix="/v1/events", tags=["log"])

_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "model": EventsAnswer,
        "description": "Events in their order",
        "content": {EVENT_STREAM: {"schema": {"type": "string"}}},
    },
    **document_problems(404, 410),
}


@router.get(
    "",
    responses=_RESPONSES,
    response_model=None,
    description=(
        "List what happened to an agent, oldest first, in ids and without texts. Go on with "
        "`after`: nothing is missed and nothing comes twice.\n"
        "\n"
        "`wait` holds the request open until there is an event. With `Accept: text/event-stream` "
        "the answer is a stream of server-sent events that goes on after `Last-Event-ID`. 410 if "
        "operations behind `after` were archived meanwhile; `resume_after` says where to go on."
    ),
)
async def list_events(
    request: HttpRequest,
    services: ServicesDep,
    agent: AgentDep,
    query: Annotated[EventsQuery, Query()],
    last_event_id: Annotated[
        str | None,
        Header(
            alias="Last-Event-ID",
            description="In a stream: the last event that was seen. It goes before `after`.",
        ),
    ] = None,
) -> Response:
    feed, selection = services.events, query.selection
    if EVENT_STREAM in request.headers.get("accept", ""):
        page = await _read_first_page(feed, agent, _find_place(query, last_event_id), selection)
        return EventStream(feed, agent, page, selection)
    page = await _read_first_page(feed, agent, query.after, selection)
    async with _watch_leaving(request.receive) as leaving:
        page = await feed.wait_for_events(
            agent, page, selection, seconds=query.wait, leaving=leaving
        )
    if query.wait and await has_key_ended(request.scope):
        raise HTTPException(401, "The key ended while the call waited.")
    return respond_with_answer(EventsAnswer.from_page(page))


def _find_place(query: EventsQuery, last_event_id: str | None) -> UUID | str | None:
    """Return the place where a stream goes on. Raises UnknownLogEntry."""
    if not last_event_id:
        return query.after
    try:
        return UUID(last_event_id)
    except ValueError:
        raise UnknownLogEntry(last_event_id[:100]) from None


async def _read_first_page(
    feed: EventFeed, agent: AgentId, after: UUID | str | None, selection: Selection
) -> EventPage:
    if after is None:
        return await feed.read_from_beginning(agent, selection)
    if isinstance(after, UUID):
        return await feed.read_after(agent, after, selection)
    return await feed.read_from_end(agent)


@asynccontextmanager
async def _watch_leaving(receive: Receive) -> AsyncIterator[Leaving]:
    """Yield what is done once the caller has hung up."""

    async def wait_until_gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            continue

    leaving = asyncio.create_task(wait_until_gone())
    try:
        yield leaving
    finally:
        leaving.cancel()
        with suppress(asyncio.CancelledError):
            await leaving


class EventStream(Response):
    """Server-sent events, until the caller leaves, their key ends or the process ends.

    Trouble with the database ends the stream too; the reader comes back and is answered 503.
    """

    media_type = EVENT_STREAM

    def __init__(
        self, feed: EventFeed, agent: AgentId, page: EventPage, selection: Selection
    ) -> None:
        # nginx would hold the events back to fill its buffers.
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._feed = feed
        self._agent = agent
        self._first = page
        self._selection = selection

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async with _watch_leaving(receive) as leaving:
            with suppress(EventsArchived, SQLAlchemyError, psycopg.Error):
                await self._send_pages(scope, send, leaving)
        await send_block(send, b"", more=False)

    async def _send_pages(self, scope: Scope, send: Send, leaving: Leaving) -> None:
        page = self._first
        # Even a reader who is cut off before the first event knows where to go on.
        place = str(page.position.id) if not page.events else None
        await send_block(send, format_sse_event(comment="connected", id=place, retry=RETRY))
        while not (leaving.done() or self._feed.is_over or await has_key_ended(scope)):
            blocks = []
            for event in page.events:
                data = FeedEvent.from_attributes(event).model_dump_json()
                blocks.append(format_sse_event(data_str=data, id=str(event.id)))
            await send_block(send, b"".join(blocks) or KEEPALIVE_COMMENT)
            if page.events:
                page = await self._feed.read_next(self._agent, page, self._selection)
            page = await self._feed.wait_for_events(
                self._agent, page, self._selection, seconds=HEARTBEAT, leaving=leaving
            )
