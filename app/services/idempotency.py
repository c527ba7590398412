"""A call under a key of its caller is executed once.

The answer is stored in the transaction of the write, and every retry gets it again. What an answer
looks like is the business of the surface that gives it: here it is opaque.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Generic, NoReturn, TypeVar
from uuid import UUID
from weakref import WeakValueDictionary

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.errors import AnswerErased, KeyReused
from app.store import idempotency
from app.store.idempotency import IdempotencyRecord, StoredAnswer

Result_contra = TypeVar("Result_contra", contravariant=True)
Whole = TypeVar("Whole")

PATIENCE = 60.0


class Replayed(Exception):
    """The call was executed before, and `answer` is its answer. Ends the second execution."""

    def __init__(self, answer: StoredAnswer) -> None:
        super().__init__("answered before")
        self.answer = answer


class KeyLocks:
    """Lets calls under one key follow each other in this process.

    So the encoder and the model, which cost time and money, are asked once too. Between processes
    the agent's lock lets only one of the calls write.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[AgentId, str], asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def lock_key(self, agent: AgentId, key: str) -> AsyncIterator[None]:
        """Wait until earlier calls under the key have ended, but for a minute at most.

        An earlier call may be waiting for a body that has stopped arriving.
        """
        lock = self._locks.setdefault((agent, key), asyncio.Lock())
        async with AsyncExitStack() as locks:
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    await locks.enter_async_context(lock)
            yield


class KeyedCall:
    """A call under a key, and the fingerprint of everything that its caller sent.

    The fingerprint is complete once the whole body was fed.
    """

    def __init__(
        self,
        agent: AgentId,
        key: str,
        head: str,
    ) -> None:
        self._agent = agent
        self._key = key
        self._hash = hashlib.sha256(head.encode())

    def feed(self, body: bytes) -> None:
        self._hash.update(body)

    def derive_id(self) -> UUID:
        """Return an id that is the same for every retry of this call, and for no other call."""
        name = f"{self._agent}\n{self._key}\n".encode() + self._hash.digest()
        return UUID(bytes=hashlib.sha256(name).digest()[:16], version=5)

    async def find_record(self, connection: AsyncConnection) -> IdempotencyRecord | None:
        return await idempotency.find_idempotency_record(connection, self._agent, self._key)

    def replay_answer(self, record: IdempotencyRecord) -> NoReturn:
        """Raise Replayed with the stored answer.

        Raises AnswerErased if the answer is gone, and KeyReused if it belongs to another call.
        """
        if record.fingerprint not in (None, self._hash.digest()):
            raise KeyReused(self._key)
        if record.answer is None:
            raise AnswerErased(self._key)
        raise Replayed(record.answer)

    async def store_answer(self, connection: AsyncConnection, answer: StoredAnswer) -> None:
        await idempotency.save_idempotency_record(
            connection,
            self._agent,
            self._key,
            fingerprint=self._hash.digest(),
            answer=answer,
        )


@dataclass(frozen=True, slots=True)
class Idempotency(Generic[Result_contra]):
    """The key of a call, if it has one.

    `render` turns the result of the service into the answer to store; the surface provides it.
    """

    keyed_call: KeyedCall | None
    render: Callable[[Result_contra], StoredAnswer]

    def derive_id(self) -> UUID | None:
        """Return an id that every retry of the call has too, or None for a call without a key."""
        return self.keyed_call.derive_id() if self.keyed_call else None

    async def check_replay(self, connection: AsyncConnection) -> None:
        """Raise as `KeyedCall.replay_answer` does if another process executed the call meanwhile.

        The caller holds the agent's lock.
        """
        if self.keyed_call is None:
            return
        record = await self.keyed_call.find_record(connection)
        if record:
            self.keyed_call.replay_answer(record)

    async def keep_result(self, connection: AsyncConnection, result: Result_contra) -> None:
        """Store the answer, right before the commit."""
        if self.keyed_call:
            # In a thread: a thousand answers of megabytes take 0.2 s.
            answer = await asyncio.to_thread(self.render, result)
            await self.keyed_call.store_answer(connection, answer)

    def with_conversion(self, step: Callable[[Whole], Result_contra]) -> "Idempotency[Whole]":
        """Return the same for a service whose result `step` turns into the result of this one."""
        return Idempotency(self.keyed_call, lambda whole: self.render(step(whole)))


def _refuse_unkeyed(_: object) -> StoredAnswer:
    raise AssertionError("nothing is kept without a key")


UNKEYED: Idempotency[Any] = Idempotency(None, _refuse_unkeyed)
