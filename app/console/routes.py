"""The routes of the console, below `/ui`."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl

from starlette.datastructures import ImmutableMultiDict
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from app.api.problems import build_problem, respond_with_problem
from app.api.web_pages import comes_from_another_origin
from app.console.login import Login, ask_for_key
from app.console.page_call import PageCall
from app.console.pages import (
    agents,
    ask,
    captures,
    facts,
    insights,
    log,
    now,
    reviews,
    settings,
    story,
    sweeps,
    tell,
    undo,
)
from app.console.rendering import ASSETS
from app.console.session import PATH, end_session, find_session_key
from app.console.times import BadTime
from app.console.viewer_client import open_viewer_client
from palimpsest_client import AsyncClient, PalimpsestError, Unauthorized

Answer = Callable[[PageCall], Awaitable[Response]]

_PAGES: tuple[tuple[str, str, Answer], ...] = (
    ("", "GET", now.show),
    ("/agents", "GET", agents.show),
    ("/facts/{memory_id}", "GET", facts.show),
    ("/facts/{memory_id}/correct", "POST", facts.correct),
    ("/facts/{memory_id}/retract", "POST", facts.retract),
    ("/reviews", "GET", reviews.show),
    ("/reviews/decide", "POST", reviews.decide),
    ("/reviews/{review_id}", "GET", reviews.show_one),
    ("/reviews/{review_id}/edit", "POST", reviews.edit),
    ("/log", "GET", log.show),
    ("/log/{log_id}", "GET", log.show_entry),
    ("/captures", "GET", captures.show),
    ("/captures/{capture_id}", "GET", captures.show_capture),
    ("/sweeps", "GET", sweeps.show),
    ("/sweeps", "POST", sweeps.start),
    ("/sweeps/{sweep_id}", "GET", sweeps.show_sweep),
    ("/sweeps/{sweep_id}/cancel", "POST", sweeps.cancel),
    ("/insights", "GET", insights.show),
    ("/undo", "GET", undo.preview),
    ("/undo", "POST", undo.undo),
    ("/ask", "GET", ask.show),
    ("/agent", "GET", settings.show),
    ("/agent", "POST", settings.save),
    ("/erasures", "POST", settings.erase),
    ("/story", "POST", story.store),
    ("/tell", "GET", tell.show),
    ("/tell", "POST", tell.tell),
)
# Reviews that are counted for the bar of each page.
_MOST_COUNTED = 100
_DATES = (
    "Write a day, a month or a year, such as 15 June 2026, 2026-06-15 or 2026; or words, such as "
    "yesterday, two weeks ago or last June."
)
# Whatever else is asked for below the console.
_ELSEWHERE = "/{rest:path}"
# What is known of whoever calls before the API has said it.
_STRANGER: Mapping[str, Any] = {"actor": "", "scopes": [], "agents": [], "agent": None}


def list_routes(app: ASGIApp, *, needs_key: bool) -> list[BaseRoute]:
    """Return the routes. A service that needs no key asks nobody to log in."""
    login = Login(app, needs_key=needs_key)
    console = _Console(app, needs_key=needs_key)
    return [
        *(console.build_route(*page) for page in _PAGES),
        console.build_route("/help", "GET", _show_help),
        _build_route("/login", "GET", login.show),
        _build_route("/login", "POST", login.log_in),
        _build_route("/logout", "POST", login.log_out),
        serve_assets(),
        console.build_route(_ELSEWHERE, "GET", _say_there_is_no_page),
    ]


def serve_assets() -> BaseRoute:
    """Return the route of style sheets, scripts and pictures."""
    return Mount(PATH + "/assets", StaticFiles(directory=ASSETS))


class _Console:
    """Answers pages: finds out who looks, and shows what the API refuses."""

    def __init__(self, app: ASGIApp, *, needs_key: bool) -> None:
        self._app = app
        self._needs_key = needs_key

    def build_route(self, path: str, method: str, answer: Answer) -> Route:
        async def endpoint(request: Request) -> Response:
            key = await find_session_key(request) if self._needs_key else None
            if self._needs_key and key is None:
                return ask_for_key(request)
            async with open_viewer_client(self._app, request, key) as client:
                return await self._answer(request, client, answer)

        return _build_route(path, method, endpoint)

    async def _answer(self, request: Request, client: AsyncClient, answer: Answer) -> Response:
        # Browsers send a form in this encoding unless files are in it.
        body = (await request.body()).decode(errors="replace")
        form = ImmutableMultiDict(parse_qsl(body, keep_blank_values=True))
        call = PageCall(
            request=request,
            client=client,
            viewer=_STRANGER,
            form=form,
            needs_key=self._needs_key,
            now=datetime.now(UTC),
        )
        try:
            call = replace(call, viewer=await client.get_actor())
            if call.agent is None and answer is not agents.show:
                return RedirectResponse(f"{PATH}/agents", 303)
            if request.method == "GET" and (times := call.find_exact_times()):
                return call.lead_to(request.url.path, **{**call.parameters, **times})
            if call.agent:
                call = replace(call, waiting=await _count_waiting_reviews(client))
            return await answer(call)
        except Unauthorized:
            response = ask_for_key(request)
            await end_session(request, response)
            return response
        except BadTime as problem:
            return call.render_problem(422, f"“{problem}” is no date", _DATES)
        except PalimpsestError as problem:
            title = str(problem.problem.get("title") or "No answer")
            return call.render_problem(problem.status or 503, title, problem.detail)


async def _count_waiting_reviews(client: AsyncClient) -> str:
    """Return how many reviews wait, up to a hundred; empty if none does."""
    page = await client.list_reviews(status="pending", limit=_MOST_COUNTED).page()
    if page["next_cursor"]:
        return f"{_MOST_COUNTED}+"
    return str(len(page["items"]) or "")


def _build_route(path: str, method: str, answer: Callable[[Request], Awaitable[Response]]) -> Route:
    async def endpoint(request: Request) -> Response:
        request.scope["route"] = route  # for metrics and the log
        host = request.headers.get("host", "")
        if method == "POST" and comes_from_another_origin(host, request.headers):
            detail = "Only pages of the console itself may send this."
            problem = build_problem(403, "foreign-origin", "A foreign page", detail)
            return respond_with_problem(problem)
        return await answer(request)

    route = Route(PATH + path, endpoint, methods=[method], include_in_schema=False)
    return route


async def _show_help(call: PageCall) -> Response:
    return call.render("help.html")


async def _say_there_is_no_page(call: PageCall) -> Response:
    return call.render_problem(404, "No such page", "The console has no page at this address.")
