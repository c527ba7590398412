"""The body of a POST: one message of JSON-RPC, or several, as protocol version 2025-03-26 asks."""

import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

from mcp_types import INVALID_REQUEST
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

Handle = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_MESSAGES: Final = 50
# Clients of this version send no header with it; later ones may send no batches.
_VERSION_OF_BATCHES: Final = "2025-03-26"


async def answer_message(handle: Handle, scope: Scope, receive: Receive, send: Send) -> None:
    """Let `handle` answer the message, or each message of a batch. A fault is one sentence."""
    body = await Request(scope, receive).body()
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        message = {}  # the handler knows the answer
    version = Headers(scope=scope).get("mcp-protocol-version", _VERSION_OF_BATCHES)
    if fault := _find_fault(message, version):
        error = {"code": INVALID_REQUEST, "message": fault}
        answer = JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, 400)
        await answer(scope, receive, send)
    elif isinstance(message, list):
        answers = [await _collect_answer(handle, each, scope, receive) for each in message]
        texts = [text for text in answers if text]
        content = b"[" + b",".join(texts) + b"]" if texts else b""
        batch = Response(content, 200 if texts else 202, media_type="application/json")
        await batch(scope, receive, send)
    else:
        await handle(scope, _replay(body, receive), send)


def _find_fault(message: Any, version: str) -> str | None:
    """Return what is wrong with the form of a message, in one sentence."""
    if isinstance(message, list):
        if version != _VERSION_OF_BATCHES:
            return f"Protocol version {version} has no batches: send one message a POST."
        if not 1 <= len(message) <= MOST_MESSAGES:
            return f"A batch has 1 to {MOST_MESSAGES} messages, not {len(message)}."
        return next(filter(None, (_find_fault_in_one(each) for each in message)), None)
    return _find_fault_in_one(message)


def _find_fault_in_one(message: Any) -> str | None:
    if not isinstance(message, dict):
        return "A message of JSON-RPC is an object with jsonrpc, id, method and params."
    if not isinstance(params := message.get("params", {}), dict):
        return f"params is an object, not {json.dumps(params)[:100]}."
    if not isinstance(params.get("arguments", {}), dict | None):
        return "arguments is an object with the parameters of the tool, not a text."
    return None


async def _collect_answer(
    handle: Handle, message: dict[str, Any], scope: Scope, receive: Receive
) -> bytes:
    parts: list[bytes] = []

    async def collect(part: Message) -> None:
        parts.append(part.get("body", b""))

    await handle(dict(scope), _replay(json.dumps(message).encode(), receive), collect)
    return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that has the whole body first, and then what still comes."""
    is_read = False

    async def receive_again() -> Message:
        nonlocal is_read
        if is_read:
            return await receive()
        is_read = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again
