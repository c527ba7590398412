"""A slash at the end of a path changes nothing."""

from starlette.types import ASGIApp, Receive, Scope, Send

# What follows is a name of the caller's own, which may end with a slash.
_NAMES = ("/v1/agents/", "/v1/preferences/")


class TrailingSlash:
    """Take `/v1/memories/` for `/v1/memories`, instead of sending the caller there."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            path = scope["path"]
            if path in _NAMES or (path != "/" and not path.startswith(_NAMES)):
                scope["path"] = path.removesuffix("/")
        await self._app(scope, receive, send)
