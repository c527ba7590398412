"""The routes of mem0's platform and of its own server, below `/mem0`."""

import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from app.api.problems import MEDIA_TYPE, build_problem, respond_with_problem
from app.caller_transport import CallerTransport, list_caller_headers
from app.mem0 import calls
from app.mem0.owners import IDS, TYPES, Unsupported, read_name
from app.mem0.parameters import Filter, read_addition, read_filter, refuse_others
from app.mem0.shapes import shape_memory
from palimpsest_client import AsyncClient, PalimpsestError, Retries

_PLATFORM = "/mem0/v1"
_FILTERS = ("filters", "categories", *IDS)
_SEARCH = ("query", "top_k", "limit", "threshold", "fields", "reference_date", *_FILTERS)
_LISTED = ("page", "page_size", "top_k", "limit", *_FILTERS)
_DEFAULT_PAGE = 100
_DELETED = {"message": "Memory deleted successfully!"}
_ALL_DELETED = {"message": "Memories deleted successfully!"}


class _Call(NamedTuple):
    """A call of mem0: its request, its parameters, and the application that it asks."""

    app: ASGIApp
    request: Request
    parameters: dict[str, Any]

    @asynccontextmanager
    async def open_client(self, agent: str | None) -> AsyncIterator[AsyncClient]:
        headers = list_caller_headers(self.request, agent)
        transport = CallerTransport(self.app, self.request, headers)
        # In the process, a refusal is the caller's to hear.
        retries = Retries(tries=1)
        async with AsyncClient("http://localhost", transport=transport, retries=retries) as client:
            yield client

    def read_filter(self) -> Filter:
        return read_filter(self.parameters)

    @property
    def memory(self) -> tuple[str | None, str]:
        return read_name(self.request.path_params["memory_id"])

    @property
    def is_of_platform(self) -> bool:
        return self.request.url.path.startswith("/mem0/v")


Answer = Callable[[_Call], Awaitable[Any]]


def list_routes(app: ASGIApp) -> list[Route]:
    """Return the routes. They are not in the OpenAPI document: mem0's documents describe them."""
    return [_build_route(app, path, method, answer) for path, method, answer in _list_answers()]


def _list_answers() -> list[tuple[str, str, Answer]]:
    both: list[tuple[str, str, Answer]] = [
        ("/{memory_id}", "GET", _get),
        ("/{memory_id}", "PUT", _update),
        ("/{memory_id}", "DELETE", _delete),
        ("/{memory_id}/history", "GET", _show_history),
        ("", "GET", _list_plainly),
        ("", "POST", _add),
        ("", "DELETE", _delete_all),
    ]
    places = (f"{_PLATFORM}/memories", "/mem0/memories")
    return [
        (f"{_PLATFORM}/ping", "GET", _ping),
        (f"{_PLATFORM}/memories/search", "POST", _search_plainly),
        ("/mem0/v2/memories/search", "POST", _search_plainly),
        ("/mem0/v3/memories/search", "POST", _search),
        ("/mem0/v3/memories/add", "POST", _add),
        ("/mem0/v3/memories", "POST", _list_page),
        ("/mem0/v2/memories", "POST", _list_plainly),
        (f"{_PLATFORM}/event/{{memory_id}}", "GET", _get_event),
        (f"{_PLATFORM}/entities", "GET", _list_entities),
        (f"{_PLATFORM}/entities/{{type}}/{{name:path}}", "DELETE", _delete_entity),
        ("/mem0/v2/entities/{type}/{name:path}", "DELETE", _delete_entity),
        (f"{_PLATFORM}/batch", "PUT", _update_many),
        (f"{_PLATFORM}/batch", "DELETE", _delete_many),
        ("/mem0/search", "POST", _search),
        ("/mem0/entities", "GET", _list_entities_plainly),
        ("/mem0/entities/{type}/{name:path}", "DELETE", _delete_entity),
        *((place + path, method, answer) for place in places for path, method, answer in both),
        *(("/mem0/{rest:path}", method, _refuse) for method in ("GET", "POST", "PUT", "DELETE")),
    ]


def _build_route(app: ASGIApp, path: str, method: str, answer: Answer) -> Route:
    async def endpoint(request: Request) -> Response:
        request.scope["route"] = route  # for metrics and the log
        try:
            result = await answer(_Call(app, request, await _read_parameters(request)))
        except Unsupported as problem:
            return _respond(422, "invalid", "Not supported", str(problem))
        except PalimpsestError as problem:
            return _pass_on(problem)
        return JSONResponse(result)

    route = Route(path, endpoint, methods=[method], include_in_schema=False)
    return route


async def _read_parameters(request: Request) -> dict[str, Any]:
    """Return the fields of the body with those of the query. Raises Unsupported."""
    content = await request.body()
    try:
        body = _parse_json(content) if content else {}
    except (ValueError, RecursionError):
        raise Unsupported("The body is no JSON.") from None
    if not isinstance(body, dict):
        raise Unsupported("The body must be a JSON object.")
    return body | {name: value for name, value in request.query_params.items() if value}


def _parse_json(content: bytes) -> Any:
    return json.loads(content, parse_float=_read_finite, parse_constant=_read_finite)


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


async def _ping(call: _Call) -> dict[str, Any]:
    """Answer that the key is right. Clients need names of an organisation and a project."""
    names = {"org_id": "palimpsest", "project_id": "palimpsest", "user_email": None}
    return {"status": "ok", **names}


async def _add(call: _Call) -> dict[str, Any]:
    addition = read_addition(call.parameters)
    async with call.open_client(addition.owner.agent) as client:
        return await calls.add(client, addition)


async def _search(call: _Call) -> dict[str, Any]:
    return {"results": await _search_plainly(call)}


async def _search_plainly(call: _Call) -> list[dict[str, Any]]:
    refuse_others(call.parameters, _SEARCH)
    wanted = call.read_filter()
    top_k = call.parameters.get("top_k") or call.parameters.get("limit")
    async with call.open_client(wanted.owner.agent) as client:
        return await calls.search(client, wanted, call.parameters | {"top_k": top_k})


async def _list(call: _Call) -> list[dict[str, Any]]:
    refuse_others(call.parameters, _LISTED)
    wanted = call.read_filter()
    async with call.open_client(wanted.owner.agent) as client:
        return await calls.list_all(client, wanted)


async def _list_plainly(call: _Call) -> Any:
    """Answer as mem0 did before it had pages; its own server names the list."""
    memories = await _list(call)
    most = _read_number(call, "top_k") or _read_number(call, "limit") or len(memories)
    is_paged = "page" in call.parameters or "page_size" in call.parameters
    if is_paged:
        return _cut_page(call, memories)
    return memories[:most] if call.is_of_platform else {"results": memories[:most]}


async def _list_page(call: _Call) -> dict[str, Any]:
    return _cut_page(call, await _list(call))


def _cut_page(call: _Call, memories: list[dict[str, Any]]) -> dict[str, Any]:
    page = _read_number(call, "page") or 1
    size = _read_number(call, "page_size") or _DEFAULT_PAGE
    start, end = (page - 1) * size, page * size
    return {
        "count": len(memories),
        "next": _name_page(call, page + 1) if end < len(memories) else None,
        "previous": _name_page(call, page - 1) if page > 1 else None,
        "results": memories[start:end],
    }


def _name_page(call: _Call, page: int) -> str:
    return str(call.request.url.include_query_params(page=page))


def _read_number(call: _Call, name: str) -> int | None:
    value = call.parameters.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not str(value).isdecimal() or int(value) < 1:
        raise Unsupported(f"{name} must be a number from 1.")
    return int(value)


async def _get(call: _Call) -> dict[str, Any]:
    agent, memory_id = call.memory
    async with call.open_client(agent) as client:
        memory = await calls.get_current(client, memory_id)
    return shape_memory(agent, memory)


async def _show_history(call: _Call) -> list[dict[str, Any]]:
    agent, memory_id = call.memory
    async with call.open_client(agent) as client:
        return await calls.show_history(client, agent, memory_id)


async def _update(call: _Call) -> dict[str, Any]:
    agent, memory_id = call.memory
    async with call.open_client(agent) as client:
        memory = await calls.update(client, agent, memory_id, call.parameters)
    return memory | {"message": "Memory updated successfully!"}


async def _delete(call: _Call) -> dict[str, Any]:
    refuse_others(call.parameters, ())
    agent, memory_id = call.memory
    async with call.open_client(agent) as client:
        await calls.delete(client, memory_id)
    return _DELETED


async def _delete_all(call: _Call) -> dict[str, Any]:
    refuse_others(call.parameters, _FILTERS)
    wanted = call.read_filter()
    async with call.open_client(wanted.owner.agent) as client:
        await calls.delete_all(client, wanted)
    return _ALL_DELETED


async def _get_event(call: _Call) -> dict[str, Any]:
    agent, capture_id = call.memory
    async with call.open_client(agent) as client:
        return await calls.get_event(client, agent, capture_id)


async def _list_entities(call: _Call) -> dict[str, Any]:
    entities = await _list_entities_plainly(call)
    return {"count": len(entities), "next": None, "previous": None, "results": entities}


async def _list_entities_plainly(call: _Call) -> list[dict[str, Any]]:
    async with call.open_client(None) as client:
        return await calls.list_entities(client)


async def _delete_entity(call: _Call) -> dict[str, Any]:
    kind, name = (call.request.path_params[part] for part in ("type", "name"))
    ids = [id_name for id_name, id_type in TYPES.items() if id_type == kind]
    if not ids:
        raise Unsupported(f"{kind} is none of {', '.join(TYPES.values())}.")
    wanted = read_filter({ids[0]: name})
    async with call.open_client(wanted.owner.agent) as client:
        await calls.delete_all(client, wanted)
    return {"message": "Entity deleted successfully!"}


async def _update_many(call: _Call) -> dict[str, Any]:
    items = _list_items(call)
    for item in items:
        agent, memory_id = read_name(str(item["memory_id"]))
        async with call.open_client(agent) as client:
            await calls.update(client, agent, memory_id, item)
    return {"message": f"Successfully updated {len(items)} memories"}


async def _delete_many(call: _Call) -> dict[str, Any]:
    items = _list_items(call)
    for item in items:
        agent, memory_id = read_name(str(item["memory_id"]))
        async with call.open_client(agent) as client:
            await calls.delete(client, memory_id)
    return {"message": f"Successfully deleted {len(items)} memories"}


def _list_items(call: _Call) -> list[Mapping[str, Any]]:
    items = call.parameters.get("memories")
    if not isinstance(items, list) or not all(
        isinstance(item, dict) and "memory_id" in item for item in items
    ):
        raise Unsupported("memories must be a list of objects with a memory_id.")
    return items


async def _refuse(call: _Call) -> dict[str, Any]:
    raise Unsupported(
        "This service has no such call of mem0: it adds, searches, lists, reads, updates and "
        "deletes memories, and lists and deletes entities (docs/mem0.md)."
    )
