"""The Idempotency-Key header (draft-ietf-httpapi-idempotency-key-header), for every route that writes."""

import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Depends, FastAPI, Header
from fastapi import Request as HttpRequest
from pydantic import AfterValidator
from starlette.responses import Response

from app.api.deps import AgentDep, PartsDep
from app.services.idempotency import Idempotency, KeyedCall, Replayed
from app.store import memories
from app.store.idempotency import StoredAnswer

Result = TypeVar("Result")

_PATTERN = r"^[\x21-\x7e]([\x20-\x7e]{0,253}[\x21-\x7e])?$"

DESCRIPTION = (
    "A name of your own for this call, new for every call and the same for its retries, such as a "
    "UUID: 1 to 255 printable ASCII\n"
    "characters. The call is then executed once in 24 hours per agent, and a retry gets the first "
    "answer again, with\n"
    "`Idempotency-Replayed: true`; while the first is under way, a retry waits for it. The key "
    "with another body, route, query or `If-Match` is\n"
    "refused (422), and so is a retry whose answer was erased since (410). Calls that were refused "
    "wrote nothing: their keys stay free, as\n"
    "that of a dry run does."
)


def _unquote_key(key: str) -> str:
    """The key without the quotes that the draft asks for and few clients send."""
    if not re.fullmatch(_PATTERN, key):
        raise ValueError(
            "give 1 to 255 printable ASCII characters, new for every call and the same for its "
            "retries, such as a UUID"
        )
    return key[1:-1] if len(key) > 2 and key[0] == key[-1] == '"' else key


KeyHeader = Annotated[
    Annotated[str, AfterValidator(_unquote_key)] | None,
    Header(
        alias="Idempotency-Key", description=DESCRIPTION, json_schema_extra={"pattern": _PATTERN}
    ),
]


@dataclass(frozen=True, slots=True)
class IdempotentCall:
    """The call under its key; without one nothing of this costs anything."""

    call: KeyedCall | None

    def plan_replay(self, render: Callable[[Result], Response]) -> Idempotency[Result]:
        """For the service: its result is kept as `render` answers it."""
        return Idempotency(self.call, lambda result: _answer_from_response(render(result)))

    async def fingerprint_stream(self, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """A body on its way; it belongs to what must be the same in a retry."""
        async for chunk in stream:
            if self.call:
                self.call.feed(chunk)
            yield chunk


def _answer_from_response(response: Response) -> StoredAnswer:
    headers = {name: value for name, value in response.headers.items() if name != "content-length"}
    return StoredAnswer(response.status_code, headers, bytes(response.body))


async def get_keyed_stream(
    request: HttpRequest, parts: PartsDep, agent: AgentDep, key: KeyHeader = None
) -> AsyncIterator[IdempotentCall]:
    """Waits for its turn and answers a retry at once; else the route runs, and reads the body with `Keyed.reading`."""
    if key is None:
        yield IdempotentCall(None)
        return
    async with parts.turns.lock_key(agent, key):
        call = KeyedCall(agent, key, _build_fingerprint_head(request))
        async with memories.open_read_connection(parts.engine) as connection:
            kept = await call.find_record(connection)
        if kept:
            async for chunk in request.stream():
                call.feed(chunk)
            call.replay_answer(kept)
        yield IdempotentCall(call)


def _build_fingerprint_head(request: HttpRequest) -> str:
    """What a retry must repeat, beside the body."""
    return "\n".join(
        [
            request.method,
            request.url.path,
            request.url.query,
            request.headers.get("if-match", ""),
            "",
        ]
    )


# "function": the turn ends when the route has returned, not when a slow client has read the answer.
KeyedStreamDep = Annotated[IdempotentCall, Depends(get_keyed_stream, scope="function")]


async def get_keyed(request: HttpRequest, keyed: KeyedStreamDep) -> IdempotentCall:
    """The same for a route whose body is read as a whole."""
    if keyed.call:
        keyed.call.feed(await request.body())
    return keyed


KeyedDep = Annotated[IdempotentCall, Depends(get_keyed)]


def install_replay_handler(app: FastAPI) -> None:
    """A call that was executed before gets its answer from wherever that is found."""
    app.add_exception_handler(Replayed, _replay_answer)


async def _replay_answer(_request: HttpRequest, error: Exception) -> Response:
    assert isinstance(error, Replayed)
    answer = error.answer
    return Response(answer.body, answer.code, {**answer.notes, "Idempotency-Replayed": "true"})
