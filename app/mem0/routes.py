"""The routes of mem0's platform and of its own server, below `/mem0`."""

import hashlib
import json
import math
import sys
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from app.api.problems import MEDIA_TYPE, build_problem, respond_with_problem
from app.caller_transport import list_caller_headers, open_caller_client
from app.mem0 import calls
from app.mem0.calls import Room
from app.mem0.owners import TYPES, Unsupported, read_name
from app.mem0.parameters import read_addition, read_filter
from app.mem0.schemas import (
    AnyParameters,
    Deletions,
    Ids,
    ItemDeletion,
    ItemUpdate,
    Listing,
    NewMemories,
    Parameters,
    Question,
    Selection,
    Update,
    Updates,
)
from app.mem0.shapes import shape_memory
from palimpsest_client import AsyncClient, Forbidden, PalimpsestError

_PLATFORM = "/mem0/v1"
_DEFAULT_PAGE = 100
# Pages by number are read from the first one on; what lies deeper is behind `next`.
_DEEPEST = 10_000
# Seconds for which the end of a page leads to the next one, and how many ends are noted.
_END_AGE = 60.0
_MOST_ENDS = 1_000
_DELETED = {"message": "Memory deleted successfully!"}
_ALL_DELETED = {"message": "Memories deleted successfully!"}


class _Ends:
    """Where the pages of lists ended, for a minute: clients of mem0 ask for pages by number.

    Pages that go on so show the list as it was at its first page.
    """

    def __init__(self) -> None:
        self._cursors: OrderedDict[str, tuple[float, str]] = OrderedDict()

    def find(self, page: str) -> str | None:
        """Return the cursor that leads to a page, if the one before it was read just now."""
        noted, cursor = self._cursors.get(page, (-_END_AGE, None))
        return cursor if time.monotonic() - noted < _END_AGE else None

    def note(self, page: str, cursor: str) -> None:
        self._cursors[page] = (time.monotonic(), cursor)
        self._cursors.move_to_end(page)
        if len(self._cursors) > _MOST_ENDS:
            self._cursors.popitem(last=False)


class _Call(NamedTuple):
    """A call of mem0: its request, and the application that it asks."""

    app: ASGIApp
    request: Request
    ends: _Ends

    def open_client(self, agent: str | None) -> AsyncClient:
        headers = list_caller_headers(self.request, agent)
        return open_caller_client(self.app, self.request, headers)

    def open_room(self, advice: str) -> Room:
        """Return the room for one answer, and what to do if it is too small."""
        return Room(self.request.app.state.settings.max_answer_bytes, advice)

    @property
    def memory(self) -> tuple[str | None, str]:
        return read_name(self.request.path_params["memory_id"])

    @property
    def is_of_platform(self) -> bool:
        return self.request.url.path.startswith("/mem0/v")


Answer = Callable[[_Call, Any], Awaitable[Any]]


class _Row(NamedTuple):
    """A path, its method, the parameters that the call takes, and what answers it."""

    path: str
    method: str
    schema: type[BaseModel]
    answer: Answer


def list_routes(app: ASGIApp) -> list[Route]:
    """Return the routes. They are not in the OpenAPI document: mem0's documents describe them."""
    ends = _Ends()
    return [_build_route(app, row, ends) for row in list_rows()]


def list_rows() -> list[_Row]:
    """Return what there is at which path."""
    both = [
        _Row("/{memory_id}", "GET", AnyParameters, _get),
        _Row("/{memory_id}", "PUT", Update, _update),
        _Row("/{memory_id}", "DELETE", Parameters, _delete),
        _Row("/{memory_id}/history", "GET", AnyParameters, _show_history),
        _Row("", "GET", Listing, _list_plainly),
        _Row("", "POST", NewMemories, _add),
        _Row("", "DELETE", Selection, _delete_all),
    ]
    rows = [
        _Row(f"{_PLATFORM}/ping", "GET", AnyParameters, _ping),
        _Row(f"{_PLATFORM}/memories/search", "POST", Question, _search_plainly),
        _Row("/mem0/v2/memories/search", "POST", Question, _search_plainly),
        _Row("/mem0/v3/memories/search", "POST", Question, _search),
        _Row("/mem0/v3/memories/add", "POST", NewMemories, _add),
        _Row("/mem0/v3/memories", "POST", Listing, _list_page),
        _Row("/mem0/v2/memories", "POST", Listing, _list_plainly),
        _Row(f"{_PLATFORM}/event/{{memory_id}}", "GET", AnyParameters, _get_event),
        _Row(f"{_PLATFORM}/events", "GET", AnyParameters, _list_events),
        _Row(f"{_PLATFORM}/entities", "GET", AnyParameters, _list_entities),
        _Row(
            f"{_PLATFORM}/entities/{{type}}/{{name:path}}", "DELETE", AnyParameters, _delete_entity
        ),
        _Row("/mem0/v2/entities/{type}/{name:path}", "DELETE", AnyParameters, _delete_entity),
        _Row(f"{_PLATFORM}/batch", "PUT", Updates, _update_many),
        _Row(f"{_PLATFORM}/batch", "DELETE", Deletions, _delete_many),
        _Row("/mem0/search", "POST", Question, _search),
        _Row("/mem0/entities", "GET", AnyParameters, _list_entities_plainly),
        _Row("/mem0/entities/{type}/{name:path}", "DELETE", AnyParameters, _delete_entity),
    ]
    for place in (f"{_PLATFORM}/memories", "/mem0/memories"):
        for row in both:
            rows.append(row._replace(path=place + row.path))
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        rows.append(_Row("/mem0/{rest:path}", method, AnyParameters, _refuse))
    return rows


def _build_route(app: ASGIApp, row: _Row, ends: _Ends) -> Route:
    async def endpoint(request: Request) -> Response:
        request.scope["route"] = route  # for metrics and the log
        try:
            parameters = row.schema.model_validate(await _read_parameters(request))
            result = await row.answer(_Call(app, request, ends), parameters)
        except Unsupported as problem:
            return _respond(422, "invalid", "Not supported", str(problem))
        except PalimpsestError as problem:
            return _pass_on(problem)
        return JSONResponse(result)

    route = Route(row.path, endpoint, methods=[row.method], include_in_schema=False)
    return route


async def _read_parameters(request: Request) -> dict[str, Any]:
    """Return the fields of the body with those of the query. Raises Unsupported."""
    content = await request.body()
    try:
        body: Any = {}
        if content:
            body = json.loads(content, parse_float=_read_finite, parse_constant=_read_finite)
    except (ValueError, RecursionError):
        raise Unsupported("The body is no JSON.") from None
    if not isinstance(body, dict):
        raise Unsupported("The body must be a JSON object.")
    return body | {name: value for name, value in request.query_params.items() if value}


def _read_finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError(text)
    return number


def _respond(status: int, slug: str, title: str, detail: str) -> Response:
    return respond_with_problem(build_problem(status, slug, title, detail))


def _pass_on(problem: PalimpsestError) -> Response:
    """Answer what a route of this service answered."""
    status = problem.status or 503
    if not problem.problem:
        slug, title = ("not-found", "Not there") if status == 404 else ("unavailable", "No answer")
        return _respond(status, slug, title, problem.detail)
    headers = {"Retry-After": f"{problem.retry_after:.0f}"} if problem.retry_after else {}
    return JSONResponse(problem.problem, status, headers, MEDIA_TYPE)


# --- answers -------------------------------------------------------------------------------------


async def _ping(_call: _Call, _: AnyParameters) -> dict[str, Any]:
    """Answer that the key is right. Clients need names of an organisation and a project."""
    names = {"org_id": "palimpsest", "project_id": "palimpsest", "user_email": None}
    return {"status": "ok", **names}


async def _add(call: _Call, parameters: NewMemories) -> dict[str, Any]:
    addition = read_addition(parameters)
    async with call.open_client(addition.owner.agent) as client:
        if addition.infer:
            return await calls.capture_messages(client, addition)
        return await calls.store_messages(client, addition)


async def _search(call: _Call, parameters: Question) -> dict[str, Any]:
    return {"results": await _search_plainly(call, parameters)}


async def _search_plainly(call: _Call, parameters: Question) -> list[dict[str, Any]]:
    wanted = read_filter(parameters)
    async with call.open_client(wanted.owner.agent) as client:
        return await calls.search(client, wanted, parameters)


async def _list_plainly(call: _Call, parameters: Listing) -> Any:
    """Answer as mem0 did before it had pages; its own server names the list."""
    if parameters.page or parameters.page_size or parameters.cursor:
        return await _list_page(call, parameters)
    wanted = read_filter(parameters)
    room = call.open_room("ask for pages (page and page_size), or for fewer (limit).")
    memories: list[dict[str, Any]] = []
    most, cursor = parameters.top_k or parameters.limit, None
    async with call.open_client(wanted.owner.agent) as client:
        while True:
            size = most - len(memories) if most else _DEFAULT_PAGE
            if not (most or wanted.is_exact):
                size = sys.maxsize  # without a cursor, all of it is one page
            page = await calls.list_page(client, wanted, room, size=size, cursor=cursor)
            memories += page.memories
            cursor = page.cursor
            if cursor is None or len(memories) == most:
                break
    return memories if call.is_of_platform else {"results": memories}


async def _list_page(call: _Call, parameters: Listing) -> dict[str, Any]:
    """Answer a page. `count` is exact on the last one; before it, there are at least as many."""
    number, size = parameters.page or 1, parameters.page_size or _DEFAULT_PAGE
    before = (number - 1) * size
    try:
        query = parameters.model_dump_json(exclude={"page", "cursor"})
    except PydanticSerializationError:
        raise Unsupported("A parameter is nested too deeply.") from None
    same = hashlib.sha256(query.encode()).hexdigest()
    cursor = parameters.cursor or call.ends.find(f"{number} of {same}")
    if cursor is None and before > _DEEPEST:
        raise Unsupported(
            f"Pages by number begin after {_DEEPEST:,} memories at most: follow next."
        )
    wanted = read_filter(parameters)
    room = call.open_room("choose a smaller page_size.")
    async with call.open_client(wanted.owner.agent) as client:
        page = await calls.list_page(
            client, wanted, room, size=size, skip=0 if cursor else before, cursor=cursor
        )
    if page.cursor:
        call.ends.note(f"{number + 1} of {same}", page.cursor)
    skipped = before if cursor else page.skipped
    more: dict[str, Any] = {"page": number + 1}
    if page.cursor:
        more["cursor"] = page.cursor
    back = number > 1 and before - size <= _DEEPEST
    return {
        "count": skipped + len(page.memories) + page.has_more,
        "next": _name_page(call, **more) if page.has_more else None,
        "previous": _name_page(call, page=number - 1) if back else None,
        "results": page.memories,
    }


def _name_page(call: _Call, **parameters: Any) -> str:
    address = call.request.url.remove_query_params("cursor")
    return str(address.include_query_params(**parameters))


async def _get(call: _Call, _: AnyParameters) -> dict[str, Any]:
    agent, memory_id = call.memory
    async with call.open_client(agent) as client:
        memory = await calls.get_current(client, memory_id)
    return shape_memory(agent, memory)


async def _show_history(call: _Call, _: AnyParameters) -> list[dict[str, Any]]:
    agent, memory_id = call.memory
    room = call.open_room("GET /v1/memories/{id}/history answers it in pages.")
    async with call.open_client(agent) as client:
        return await calls.show_history(client, agent, memory_id, room)


async def _update(call: _Call, parameters: Update) -> dict[str, Any]:
    agent, memory_id = call.memory
    async with call.open_client(agent) as client:
        answer = await calls.update(client, memory_id, parameters)
    return shape_memory(agent, answer["memory"]) | {"message": "Memory updated successfully!"}


async def _delete(call: _Call, _: Parameters) -> dict[str, Any]:
    agent, memory_id = call.memory
    async with call.open_client(agent) as client:
        await calls.delete(client, memory_id)
    return _DELETED


async def _delete_all(call: _Call, parameters: Selection) -> dict[str, Any]:
    wanted = read_filter(parameters)
    async with call.open_client(wanted.owner.agent) as client:
        await calls.delete_all(client, wanted)
    return _ALL_DELETED


async def _get_event(call: _Call, _: AnyParameters) -> dict[str, Any]:
    agent, capture_id = call.memory
    async with call.open_client(agent) as client:
        return await calls.get_event(client, agent, capture_id)


async def _list_events(call: _Call, _: AnyParameters) -> dict[str, Any]:
    """Answer the last additions to the memories of some agents, newest first."""
    events: list[dict[str, Any]] = []
    for agent in await _list_agents(call):
        async with call.open_client(agent) as client:
            events += await calls.list_events(client, agent)
    events.sort(key=lambda event: event["created_at"], reverse=True)
    return {"results": events[:_DEFAULT_PAGE]}


async def _list_agents(call: _Call) -> list[str | None]:
    """Return the first agents that the caller may list, else that of the key."""
    async with call.open_client(None) as client:
        try:
            page = await client.list_agents(limit=_DEFAULT_PAGE).page()
        except Forbidden:
            return [None]
    return [agent["agent_id"] for agent in page["items"]]


async def _list_entities(call: _Call, parameters: AnyParameters) -> dict[str, Any]:
    entities = await _list_entities_plainly(call, parameters)
    return {"count": len(entities), "next": None, "previous": None, "results": entities}


async def _list_entities_plainly(call: _Call, _: AnyParameters) -> list[dict[str, Any]]:
    room = call.open_room("GET /v1/agents answers it in pages.")
    async with call.open_client(None) as client:
        return await calls.list_entities(client, room)


async def _delete_entity(call: _Call, _: AnyParameters) -> dict[str, Any]:
    kind, name = call.request.path_params["type"], call.request.path_params["name"]
    if kind not in TYPES:
        raise Unsupported(f"{kind} is none of {', '.join(TYPES)}.")
    wanted = read_filter(Ids.model_validate({f"{kind}_id": name}))
    async with call.open_client(wanted.owner.agent) as client:
        deleted = await calls.delete_all(client, wanted, of_door=True)
    return {
        "message": f"Entity deleted successfully! {deleted} memories that came through mem0's "
        "routes were deleted; others stay, and delete_all deletes them."
    }


Change = Callable[[AsyncClient, str, Any], Awaitable[Mapping[str, Any]]]


async def _change_all(
    call: _Call, items: Sequence[ItemUpdate | ItemDeletion], change: Change
) -> None:
    """Change all memories of a batch or none, if the key may revert. Raises PalimpsestError and
    Unsupported.
    """
    named = [read_name(item.memory_id) for item in items]
    for agent, memory_id in named:
        async with call.open_client(agent) as client:
            await calls.get_current(client, memory_id)
    done: list[tuple[str | None, str]] = []
    try:
        for (agent, memory_id), item in zip(named, items, strict=True):
            async with call.open_client(agent) as client:
                answer = await change(client, memory_id, item)
            if answer["log_id"]:
                done.append((agent, answer["log_id"]))
    except (PalimpsestError, Unsupported) as problem:
        await _revert_all(call, done, problem)
        raise


async def _revert_all(
    call: _Call, done: Sequence[tuple[str | None, str]], problem: Exception
) -> None:
    """Take back what was done before the problem. Raises Unsupported if the key may not."""
    try:
        for agent, log_id in reversed(done):
            async with call.open_client(agent) as client:
                await client.revert(log_id)
    except Forbidden:
        raise Unsupported(
            f"{problem} {len(done)} memories were changed before that and stay so: taking them "
            "back needs a key with the scope review."
        ) from None


async def _update_many(call: _Call, parameters: Updates) -> dict[str, Any]:
    await _change_all(call, parameters.memories, calls.update)
    return {"message": f"Successfully updated {len(parameters.memories)} memories"}


async def _delete_many(call: _Call, parameters: Deletions) -> dict[str, Any]:
    await _change_all(call, parameters.memories, lambda client, name, _: calls.delete(client, name))
    return {"message": f"Successfully deleted {len(parameters.memories)} memories"}


async def _refuse(_call: _Call, _: AnyParameters) -> dict[str, Any]:
    raise Unsupported(
        "This service has no such call of mem0: it adds, searches, lists, reads, updates and "
        "deletes memories, and lists and deletes entities (docs/guide/mem0.md)."
    )
