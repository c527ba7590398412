"""One call of a page: who looks, at whose memories, and at which moment on both axes."""

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import urlencode
from uuid import uuid4

from starlette.datastructures import ImmutableMultiDict
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.console.rendering import render_template
from app.console.times import find_exact_time, read_time
from palimpsest_client import AsyncClient, NotFound

Answer = TypeVar("Answer")

_OF_EVERY_PAGE = ("agent", "as_of", "known_at")
_TIMES = ("as_of", "known_at", "since", "until")
# A redirect names by one of these words what was done; nothing else of an address is shown.
_DONE = {
    "accepted": "Accepted.",
    "added": "Stored.",
    "cancelled": "Cancelled.",
    "changed": "Stored. What it ended stays in the past.",
    "corrected": "Replaced. The text before it stays in the past.",
    "known": "Known already. Nothing was stored a second time.",
    "rejected": "Rejected. Everything stays as it was.",
    "retracted": "Ended. It stays in the past.",
    "saved": "Saved.",
    "started": "Started.",
    "questioned": "Stored, and a question waits under Reviews.",
    "undone": "Undone. What was believed until now stays in the past.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCall:
    """A request for a page, and all that its answer needs.

    `client` calls the API with the key of the viewer, for the agent of the page. `viewer` is the
    answer of `GET /v1/actor`. `form` holds the fields of a POST. `waiting` says how many reviews
    wait, empty if none does.
    """

    request: Request
    client: AsyncClient
    viewer: Mapping[str, Any]
    form: ImmutableMultiDict[str, str]
    needs_key: bool
    now: datetime
    waiting: str = ""

    @property
    def parameters(self) -> Mapping[str, str]:
        return self.request.query_params

    @property
    def agent(self) -> str | None:
        return self.parameters.get("agent") or self.viewer.get("agent")

    @property
    def as_of(self) -> datetime | None:
        return self.read_time("as_of")

    @property
    def known_at(self) -> datetime | None:
        return self.read_time("known_at")

    def read_time(self, name: str) -> datetime | None:
        """Return the time of a parameter or, of a POST, of a field. Raises BadTime."""
        return read_time(self.form.get(name) or self.parameters.get(name), self.now)

    def find_exact_times(self) -> dict[str, str]:
        """Return the times that the address has in words, as it would have them exactly."""
        times = {name: find_exact_time(self.parameters.get(name), self.now) for name in _TIMES}
        return {name: time for name, time in times.items() if time}

    @property
    def looks_back(self) -> bool:
        """Return True if the page looks at another moment than the present."""
        return bool(self.as_of or self.known_at)

    @property
    def reader(self) -> AsyncClient:
        """Return the client for reads at the moment of the page."""
        return self.client.at(as_of=self.as_of, known_at=self.known_at)

    @property
    def address(self) -> str:
        """Return the address of this page, without its host."""
        url = self.request.url
        return f"{url.path}?{url.query}" if url.query else url.path

    @property
    def first(self) -> int:
        """Return the number of the first row to show, of a list that has no cursor."""
        text = self.parameters.get("first", "")
        return int(text[:6]) if text.isascii() and text.isdecimal() else 0

    async def find_agent(self) -> Mapping[str, Any] | None:
        """Return the agent of the page, None if nothing was ever written to it."""
        assert self.agent is not None
        return await find(self.client.get_agent(self.agent))

    def is_below(self, path: str) -> bool:
        """Return True if this page is the one at `path`, or one below it."""
        own = self.request.url.path
        return own == path or (path != "/ui" and own.startswith(f"{path}/"))

    def may(self, scope: str) -> bool:
        """Return True if the viewer's key has the scope."""
        return scope in self.viewer["scopes"]

    @property
    def done(self) -> str | None:
        """Return what the viewer has just done, as a sentence."""
        return _DONE.get(self.parameters.get("done", ""))

    @property
    def undoable(self) -> Sequence[str]:
        """Return the operations in the log of what the viewer has just done."""
        return self.request.query_params.getlist("log_id") if self.done else ()

    def pick_parameters(self, names: Iterable[str]) -> dict[str, Any]:
        """Return those of the named parameters that are not empty."""
        return {name: self.parameters[name] for name in names if self.parameters.get(name)}

    def choose(self, name: str, options: Sequence[str], usual: str | None = None) -> str:
        """Return the parameter if it is one of the options, else the usual or the first one."""
        value = self.parameters.get(name, "")
        return value if value in options else usual or options[0]

    def link(self, path: str, /, **changes: Any) -> str:
        """Return the address of a page for the same agent and moment.

        `changes` replace or add parameters; None leaves one out, and a list repeats one.
        """
        values = self.pick_parameters(_OF_EVERY_PAGE) | changes
        values = {name: value for name, value in values.items() if value not in (None, "", [])}
        return f"{path}?{urlencode(values, doseq=True)}" if values else path

    def render(self, template: str, status: int = 200, /, **values: Any) -> Response:
        """Return the page that the template makes of the values and this call.

        Each page has a new idempotency key, for the forms on it.
        """
        values |= {"call": self, "now": self.now, "idempotency_key": uuid4().hex}
        return HTMLResponse(render_template(template, **values), status)

    def render_problem(self, status: int, title: str, detail: str) -> Response:
        """Return the page that says what is wrong, and how to go on."""
        return self.render("problem.html", status, title=title, detail=detail, status=status)

    def lead_to(self, path: str, /, **changes: Any) -> Response:
        """Return a redirect to another page for the same agent and moment."""
        return RedirectResponse(self.link(path, **changes), 303)


async def find(answer: Awaitable[Answer]) -> Answer | None:
    """Return the answer of a call, None if there is no such thing."""
    try:
        return await answer
    except NotFound:
        return None
