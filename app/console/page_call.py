"""One call of a page: who looks, at whose memories, and at which moment on both axes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import ImmutableMultiDict
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.console.rendering import render_template
from app.console.times import Slider, read_time
from palimpsest_client import AsyncClient, NotFound

_OF_EVERY_PAGE = ("agent", "as_of", "known_at")
# A redirect names by one of these words what was done; nothing else of an address is shown.
_DONE = {
    "accepted": "Accepted.",
    "cancelled": "Cancelled.",
    "corrected": "Replaced. The text before it stays in the past.",
    "rejected": "Rejected. Everything stays as it was.",
    "retracted": "Ended. It stays in the past.",
    "saved": "Saved.",
    "started": "Started.",
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
        return read_time(self.parameters.get("as_of"))

    @property
    def known_at(self) -> datetime | None:
        return read_time(self.parameters.get("known_at"))

    @property
    def sliders(self) -> tuple[Slider, Slider]:
        return Slider("as_of", self.as_of, self.now), Slider("known_at", self.known_at, self.now)

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
        try:
            return await self.client.get_agent(self.agent)
        except NotFound:
            return None

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

    def choose(self, name: str, options: Sequence[str], usual: str | None = None) -> str:
        """Return the parameter if it is one of the options, else the usual or the first one."""
        value = self.parameters.get(name, "")
        return value if value in options else usual or options[0]

    def link(self, path: str, **changes: Any) -> str:
        """Return the address of a page for the same agent and moment.

        `changes` replace or add parameters; None leaves one out, and a list repeats one.
        """
        values: dict[str, Any] = {}
        for name in _OF_EVERY_PAGE:
            if self.parameters.get(name):
                values[name] = self.parameters[name]
        values |= changes
        values = {name: value for name, value in values.items() if value not in (None, "", [])}
        return f"{path}?{urlencode(values, doseq=True)}" if values else path

    def render(self, template: str, status: int = 200, /, **values: Any) -> Response:
        """Return the page that the template makes of the values and this call."""
        html = render_template(template, call=self, now=self.now, **values)
        # A redirect may have led here, and the browser shall show where that is. A page that asks
        # for itself again leads nowhere.
        shown = self.request.headers.get("hx-current-url", self.address)
        headers = {} if shown.endswith(self.address) else {"HX-Push-Url": self.address}
        return HTMLResponse(html, status, headers)

    def render_problem(self, status: int, title: str, detail: str) -> Response:
        """Return the page that says what is wrong."""
        return self.render("problem.html", status, title=title, detail=detail)

    def lead_to(self, path: str, **changes: Any) -> Response:
        """Return a redirect to another page for the same agent and moment."""
        return RedirectResponse(self.link(path, **changes), 303)
