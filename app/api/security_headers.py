"""Headers that tell browsers and caches what not to do with an answer."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_EVERYWHERE = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
# The pages of the documentation start with a script and a style of their own, inline.
_PAGES = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; worker-src blob:; frame-ancestors 'none'"
)
_CONSOLE = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# A browser would hold `form-action` against every address that an answer of the form leads to, and
# the callback of a client leads on to addresses that nobody knows here.
_AUTHORIZE = "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'"
_ANSWERS = "default-src 'none'; frame-ancestors 'none'"


class SecurityHeaders:
    """Let no browser guess types, frame pages or load foreign scripts, and no cache keep facts."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        path = scope["path"]
        is_of_console = path.startswith("/ui")
        is_asset = path.startswith("/ui/assets/")
        is_of_oauth = path.startswith("/oauth/")
        policy = _ANSWERS
        if is_of_console:
            policy = _CONSOLE
        elif is_of_oauth:
            policy = _AUTHORIZE
        elif path.startswith(("/docs", "/redoc")):
            policy = _PAGES
        holds_facts = path.startswith(("/v1/", "/mcp", "/mem0", "/ui", "/oauth/")) and not is_asset

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_EVERYWHERE)
                headers["Content-Security-Policy"] = policy
                if is_of_oauth:
                    # A client may have opened the page in a window that it waits for.
                    headers["Cross-Origin-Opener-Policy"] = "unsafe-none"
                if is_of_console or is_of_oauth:
                    # A form is otherwise sent without its origin, which the pages ask for.
                    headers["Referrer-Policy"] = "same-origin"
                if holds_facts:
                    headers["Cache-Control"] = "no-store"
            await send(message)

        await self._app(scope, receive, send_with_headers)
