"""The key is checked before anything else of a request is looked at."""

import secrets

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.problems import build_problem, respond_with_problem


class KeyCheck:
    """Refuse calls of /v1 that do not carry the key, before their body and a place for them."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self._app = app
        self._key = key.encode()
        help_text = (
            "Send the key of this service as `Authorization: Bearer KEY` or `X-API-Key: KEY`."
        )
        problem = build_problem(401, "unauthorized", "The key is missing or wrong", help_text)
        headers = {"WWW-Authenticate": "Bearer", "Connection": "close"}
        self._refusal = respond_with_problem(problem, headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/v1/"):
            return await self._app(scope, receive, send)
        key = _find_key(Headers(scope=scope))
        if key is not None and secrets.compare_digest(key.encode(), self._key):
            return await self._app(scope, receive, send)
        await self._refusal(scope, receive, send)


def _find_key(headers: Headers) -> str | None:
    scheme, _, credentials = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and credentials:
        return credentials.strip()
    return headers.get("x-api-key")
