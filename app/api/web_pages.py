"""Without a key, nothing but this stands between a web page and the memories.

A page in the user's browser can send requests to the user's own machine. Forms and scripts are
sent without asking; `Origin` names their page. A foreign name may resolve to this machine, so that
the page may read the answers; `Host` tells the name.
"""

from collections.abc import Set as AbstractSet

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.problems import refuse_request

ANY_HOST = "*"
_CLOSE = {"Connection": "close"}  # a body may still be on its way
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
# Probes name the service by whatever address it has, and these two tell nothing.
_PROBES = frozenset({"/livez", "/readyz"})


class OneHost:
    """Refuse a request that does not name exactly one host (RFC 9112, section 3.2)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        hosts = Headers(scope=scope).getlist("host")
        if len(hosts) == 1 or (not hosts and scope["http_version"] == "1.0"):
            return await self._app(scope, receive, send)
        detail = "Send the header Host once."
        refusal = refuse_request(400, "bad-host", "Which host is meant?", detail, _CLOSE)
        await refusal(scope, receive, send)


class NoWebPages:
    """Refuse what a web page could send: under other hosts than `hosts`, or of another origin.

    `hosts` are names or addresses without a port; with `*` among them any host will do.
    """

    def __init__(self, app: ASGIApp, hosts: AbstractSet[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in _PROBES:
            return await self._app(scope, receive, send)
        refusal = self._find_refusal(scope["method"], scope["path"], Headers(scope=scope))
        await (refusal or self._app)(scope, receive, send)

    def _find_refusal(self, method: str, path: str, headers: Headers) -> Response | None:
        host = headers.get("host", "")
        if ANY_HOST not in self._hosts and _strip_port(host) not in self._hosts:
            detail = (
                "Without a key, the service answers only under the hosts that "
                "PALIMPSEST_ALLOWED_HOSTS names. Add this one, or set PALIMPSEST_API_KEY."
            )
            return refuse_request(403, "foreign-host", "Not a host of this service", detail, _CLOSE)
        is_foreign = comes_from_another_origin(host, headers)
        if is_foreign and (path.startswith(("/v1/", "/mem0")) or method not in _SAFE_METHODS):
            detail = (
                "Without a key, the service takes no calls from web pages of another origin. "
                "Set PALIMPSEST_API_KEY, and let a server of the page's own send them."
            )
            return refuse_request(403, "foreign-origin", "A page of another origin", detail, _CLOSE)
        return None


def _strip_port(host: str) -> str:
    """Return the name or address; one of IPv6 keeps its brackets."""
    name, bracket, _ = host.partition("]")
    return f"{name}]".lower() if bracket else name.partition(":")[0].lower()


def comes_from_another_origin(host: str, headers: Headers) -> bool:
    """Return True if a browser says that a page of another origin than this host's sends this."""
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return True
    own = (f"http://{host}".lower(), f"https://{host}".lower())
    return headers.get("origin", own[0]).lower() not in own
