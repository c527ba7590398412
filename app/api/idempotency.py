"""The Idempotency-Key header of every route that writes.

Source: draft-ietf-httpapi-idempotency-key-header.
"""

import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Depends, FastAPI, Header
from fastapi import Request as HttpRequest
from pydantic import AfterValidator
from starlette.responses import Response

from app.api.deps import AgentDep, OriginDep, ServicesDep, read_actor
from app.domain.agent import AgentId
from app.domain.keys import Actor, Rights
from app.services.agent_write import Call
from app.services.idempotency import Idempotency, KeyedCall, Replayed
from app.store.engine import connect_for_agent
from app.store.idempotency import StoredAnswer
from app.store.rows import CallInfo

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
    """Return the key without the quotes, which the draft asks for and few clients send."""
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
class KeyedRequest:
    """A request and its key; without a key, the database is asked nothing about one."""

    call: KeyedCall | None

    def plan_replay(self, render: Callable[[Result], Response]) -> Idempotency[Result]:
        """Let the service keep its result as `render` answers it, for retries."""

        def store_response(result: Result) -> StoredAnswer:
            response = render(result)
            headers = dict(response.headers)
            # The server counts the bytes again when it answers the retry.
            headers.pop("content-length", None)
            return StoredAnswer(response.status_code, headers, bytes(response.body))

        return Idempotency(self.call, store_response)

    async def fingerprint_stream(self, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Pass the body on and add it to the fingerprint: a retry must send the same bytes."""
        async for chunk in stream:
            if self.call:
                self.call.feed(chunk)
            yield chunk


async def get_keyed_stream(
    request: HttpRequest, services: ServicesDep, agent: AgentDep, key: KeyHeader = None
) -> AsyncIterator[KeyedRequest]:
    """Wait until no other call under this key runs; raise Replayed if one has been executed.

    The route then reads its body through `fingerprint_stream`.
    """
    if key is None:
        yield KeyedRequest(None)
        return
    # A retry must repeat these besides the body.
    head = [
        request.method,
        request.url.path,
        request.url.query,
        request.headers.get("if-match", ""),
        "",
    ]
    async with services.key_locks.lock_key(agent, key):
        call = KeyedCall(agent, key, "\n".join(head))
        async with connect_for_agent(services.engine, agent) as connection:
            record = await call.find_record(connection)
        if record:
            async for chunk in request.stream():
                call.feed(chunk)
            call.replay_answer(record)
        yield KeyedRequest(call)


# Scope "function": the next call under the key may begin when the route has returned, although a
# slow client is still reading the answer.
KeyedStreamDep = Annotated[KeyedRequest, Depends(get_keyed_stream, scope="function")]


async def get_keyed(request: HttpRequest, keyed: KeyedStreamDep) -> KeyedRequest:
    """Add the whole body to the fingerprint, for a route that does not stream its body."""
    if keyed.call:
        keyed.call.feed(await request.body())
    return keyed


KeyedDep = Annotated[KeyedRequest, Depends(get_keyed)]


@dataclass(frozen=True, slots=True)
class Caller:
    """A call that writes: who calls, its agent, what the log notes, and its idempotency key."""

    actor: Actor
    agent: AgentId
    origin: CallInfo
    keyed: KeyedRequest

    @property
    def rights(self) -> Rights:
        return self.actor.rights

    def build_call(self, render: Callable[[Result], Response]) -> Call[Result]:
        """Return the call for a service; `render` answers the service's result to a retry."""
        return Call(self.agent, self.origin, self.keyed.plan_replay(render))


async def get_caller(
    request: HttpRequest, agent: AgentDep, origin: OriginDep, keyed: KeyedDep
) -> Caller:
    return Caller(read_actor(request), agent, origin, keyed)


# A class as a dependency would be built in a thread.
CallerDep = Annotated[Caller, Depends(get_caller)]


def install_replay_handler(app: FastAPI) -> None:
    """Answer a call that was executed before with its stored answer, wherever that was found."""
    app.add_exception_handler(Replayed, _replay_answer)


async def _replay_answer(_request: HttpRequest, error: Exception) -> Response:
    assert isinstance(error, Replayed)
    answer = error.answer
    return Response(answer.body, answer.code, {**answer.notes, "Idempotency-Replayed": "true"})
