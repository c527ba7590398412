"""Who calls is found out before anything else of a request is looked at."""

import secrets
from datetime import UTC, datetime

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.oauth_challenge import build_challenge
from app.api.problems import (
    DATABASE_ERRORS,
    refuse_request,
    respond_to_database_error,
)
from app.api.request_body import drain_body
from app.api.tokens import BadToken, read_token
from app.api.wrong_keys import WrongKeys
from app.domain.keys import ANONYMOUS, ROOT, STRANGER, Actor, PresentedKey
from app.services.key_reader import KeyReader


class KeyCheck:
    """Put the actor of a call into its scope, and refuse a call of /v1 without a right key.

    The body has not been read by then, and no place is taken. Without `root_key`, nobody is asked
    for a key. A call of a tool of MCP has its actor already, from the request to `/mcp`.
    """

    def __init__(
        self,
        app: ASGIApp,
        root_key: str | None,
        token_secret: str | None,
        *,
        guards_metrics: bool,
    ) -> None:
        self._app = app
        self._root_key = root_key.encode() if root_key else None
        self._token_secret = token_secret
        self._guards_metrics = guards_metrics
        self._wrong_keys = WrongKeys()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or "actor" in scope:
            return await self._app(scope, receive, send)
        path = scope["path"]
        is_guarded = path.startswith(("/v1/", "/mcp", "/mem0"))
        is_guarded |= path == "/metrics" and self._guards_metrics
        if self._root_key is None or not is_guarded:
            scope["actor"] = STRANGER if self._root_key else ANONYMOUS
            return await self._app(scope, receive, send)
        key = _find_key(Headers(scope=scope))
        try:
            actor = await self._find_actor(key, scope) if key else None
        except DATABASE_ERRORS as error:
            return await respond_to_database_error(error)(scope, receive, send)
        except BadToken as problem:
            await drain_body(receive)
            return await _respond_unauthorized(scope, str(problem))(scope, receive, send)
        if actor is None or actor.audience not in (None, path):
            address = scope["client"][0] if scope.get("client") else ""
            # A client whose token ended must hear 401, and then refreshes it.
            is_guess = key is not None and PresentedKey.parse(key) is None
            wait = self._wrong_keys.note_wrong_key(address) if is_guess else 0
            refusal = _respond_slow_down(wait) if wait else _respond_unauthorized(scope)
            await drain_body(receive)
            return await refusal(scope, receive, send)
        scope["actor"] = actor
        await self._app(scope, receive, send)

    async def _find_actor(self, key: str, scope: Scope) -> Actor | None:
        if self._root_key and secrets.compare_digest(key.encode(), self._root_key):
            return ROOT
        presented = PresentedKey.parse(key)
        if presented:
            reader: KeyReader = scope["app"].state.services.key_reader
            return await reader.find_actor(presented)
        return read_token(key, self._token_secret) if self._token_secret else None


async def refuse_ended_key(scope: Scope) -> None:
    """Raise a 401 if the key of the call ended since the call began: a long body takes hours."""
    if await has_key_ended(scope):
        raise HTTPException(401, "The key ended before the body did. Nothing of it was stored.")


async def has_key_ended(scope: Scope) -> bool:
    """Return True if the key of the call ended since the call began."""
    actor: Actor = scope["actor"]
    presented = PresentedKey.parse(_find_key(Headers(scope=scope)) or "")
    has_ended = actor.expires_at is not None and actor.expires_at <= datetime.now(UTC)
    if presented and actor not in (ROOT, ANONYMOUS):
        reader: KeyReader = scope["app"].state.services.key_reader
        has_ended = await reader.find_actor(presented) is None
    return has_ended


def _find_key(headers: Headers) -> str | None:
    scheme, _, credentials = headers.get("authorization", "").partition(" ")
    # Clients of mem0 say Token.
    if scheme.lower() in ("bearer", "token") and credentials:
        return credentials.strip()
    return headers.get("x-api-key")


_HOW_TO_SEND = "Send a key of this service as `Authorization: Bearer KEY` or `X-API-Key: KEY`."


def _respond_unauthorized(scope: Scope, detail: str = _HOW_TO_SEND) -> Response:
    headers = {"WWW-Authenticate": build_challenge(scope), "Connection": "close"}
    return refuse_request(401, "unauthorized", "The key is missing or wrong", detail, headers)


def _respond_slow_down(seconds: int) -> Response:
    detail = (
        f"Too many wrong keys came from this address. Try again in {seconds} seconds; "
        "a right key is taken at once."
    )
    headers = {"Retry-After": str(seconds), "Connection": "close"}
    return refuse_request(429, "too-many-wrong-keys", "Too many wrong keys", detail, headers)
