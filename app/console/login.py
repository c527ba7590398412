"""Logging in with a key, and out again."""

import re
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp

from app.console.rendering import render_template
from app.console.session import PATH, begin_session, end_session
from app.console.viewer_client import open_viewer_client
from palimpsest_client import PalimpsestError

_LOGIN = f"{PATH}/login"
# A path of the console: a browser would follow ".." out of it, escaped or not.
OWN_PATH = re.compile(r"/ui(/[A-Za-z0-9_-]+)*")


class Login:
    """The page that takes a key; it leads on if the service needs none."""

    def __init__(self, app: ASGIApp, *, needs_key: bool) -> None:
        self._app = app
        self._needs_key = needs_key

    async def show(self, request: Request) -> Response:
        if not self._needs_key:
            return RedirectResponse(PATH, 303)
        return _show_form(read_destination(request))

    async def log_in(self, request: Request) -> Response:
        """Begin a session if the key is right, and lead to the page that was wanted."""
        if not self._needs_key:
            return RedirectResponse(PATH, 303)
        destination = read_destination(request)
        form = dict(parse_qsl((await request.body()).decode(errors="replace")))
        key = form.get("key", "").strip()
        if not key or not (key.isascii() and key.isprintable()):
            return _show_form(destination, "Enter a key of this service.", 422)
        try:
            async with open_viewer_client(self._app, request, key) as client:
                viewer = await client.get_actor()
        except PalimpsestError as problem:
            return _show_form(destination, problem.detail, problem.status or 503)
        response = RedirectResponse(destination, 303)
        await begin_session(request, response, key, viewer["actor"])
        return response

    async def log_out(self, request: Request) -> Response:
        response = RedirectResponse(_LOGIN, 303)
        await end_session(request, response)
        return response


def ask_for_key(request: Request) -> Response:
    """Lead to the login, and from there back to the page."""
    if request.method == "GET" and request.headers.get("sec-fetch-site") == "cross-site":
        # A browser keeps the cookie back when a page of another site leads here, such as a mail
        # with this address. It sends the cookie when this page itself asks again.
        return HTMLResponse(render_template("again.html"))
    path, query = request.url.path, request.url.query
    wanted = f"{path}?{query}" if query else path
    return RedirectResponse(f"{_LOGIN}?{urlencode({'next': wanted})}", 303)


def read_destination(request: Request) -> str:
    """Return the page to show after the login, which is one of the console."""
    wanted = request.query_params.get("next", PATH)
    is_own = OWN_PATH.fullmatch(wanted.partition("?")[0]) and wanted.isprintable()
    return wanted if is_own else PATH


def _show_form(destination: str, problem: str = "", status: int = 200) -> Response:
    action = f"{_LOGIN}?{urlencode({'next': destination})}"
    return HTMLResponse(render_template("login.html", action=action, problem=problem), status)
