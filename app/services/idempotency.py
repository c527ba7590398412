"""Calls under a key of the caller's are executed once: the answer is kept in the transaction of the write, and repeated from then on.

A service that writes takes a `Once`, calls `check` when it holds the agent's lock and `keep` right before it commits.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Generic, NoReturn, TypeVar
from weakref import WeakValueDictionary

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.errors import AnswerErased, KeyReused
from app.store import idempotency
from app.store.idempotency import IdempotencyRecord, RecordedAnswer

Result = TypeVar("Result")
Whole = TypeVar("Whole")

PATIENCE = 60.0


class Replayed(Exception):
    """The call was executed before, and this is its answer. It ends the second execution wherever that stands."""

    def __init__(self, answer: RecordedAnswer) -> None:
        super().__init__("answered before")
        self.answer = answer


class KeyLocks:
    """In this process, calls under one key take turns, so that what costs (encoding, asking a model) is done once too.
    Between processes the agent's lock lets one of them write."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[AgentId, str], asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def lock_key(self, agent: AgentId, key: str) -> AsyncIterator[None]:
        """Waits until the calls before have ended, but for a minute at most: one may wait for a body that has stopped arriving."""
        lock = self._locks.setdefault((agent, key), asyncio.Lock())
        async with AsyncExitStack() as held:
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    await held.enter_async_context(lock)
            yield


class Call:
    """A call under a key. Its fingerprint covers everything that was sent, and is complete when the whole body was fed."""

    def __init__(self, agent: AgentId, key: str, head: str) -> None:
        self._agent = agent
        self._key = key
        self._hash = hashlib.sha256(head.encode())

    def feed(self, body: bytes) -> None:
        self._hash.update(body)

    async def find_record(self, connection: AsyncConnection) -> IdempotencyRecord | None:
        return await idempotency.find_idempotency_record(connection, self._agent, self._key)

    def replay_answer(self, record: IdempotencyRecord) -> NoReturn:
        """Raises Replayed with the kept answer, AnswerErased where it is gone, KeyReused where it belongs to another call."""
        if record.fingerprint not in (None, self._hash.digest()):
            raise KeyReused(self._key)
        if record.answer is None:
            raise AnswerErased(self._key)
        raise Replayed(record.answer)

    async def keep_answer(self, connection: AsyncConnection, answer: RecordedAnswer) -> None:
        await idempotency.save_idempotency_record(
            connection, self._agent, self._key, fingerprint=self._hash.digest(), answer=answer
        )


@dataclass(frozen=True, slots=True)
class Idempotency(Generic[Result]):
    """What a service does for the key of its call, if it has one. `render` makes the answer that is kept from the service's result."""

    call: Call | None
    render: Callable[[Result], RecordedAnswer]

    async def check_replay(self, connection: AsyncConnection) -> None:
        """Under the agent's lock: raises what `Call.repeat` does where another process executed the call meanwhile."""
        if self.call and (kept := await self.call.find_record(connection)):
            self.call.replay_answer(kept)

    async def keep_result(self, connection: AsyncConnection, result: Result) -> None:
        """Right before the commit: keeps the answer."""
        if self.call:
            await self.call.keep_answer(connection, self.render(result))

    def with_conversion(self, step: Callable[[Whole], Result]) -> "Idempotency[Whole]":
        """The same for a service whose result `step` makes this one's from."""
        return Idempotency(self.call, lambda whole: self.render(step(whole)))


def _refuse_unkeyed(_: object) -> RecordedAnswer:
    raise AssertionError("nothing is kept without a key")


UNKEYED: Idempotency[Any] = Idempotency(None, _refuse_unkeyed)
