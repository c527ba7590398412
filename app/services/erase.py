"""Erasing: the bytes go, for privacy; the place in time stays. Lock, find what is meant, remove it everywhere, log, answer."""

import hmac
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from uuid_utils.compat import uuid7

from app.domain.errors import Erased, MergedElsewhere, NothingToErase, StaleVersion, UnknownMemory
from app.domain.memory import AgentId
from app.services import metrics
from app.services.once import UNKEYED, Once
from app.store import erasing, writes
from app.store.rows import Request


@dataclass(frozen=True, slots=True)
class Scope:
    """What to erase: exactly one of a memory, the chain that a memory is in, a session, the whole agent."""

    memory_id: UUID | None = None
    chain_id: UUID | None = None
    session_id: str | None = None
    whole_agent: bool = False

    def __str__(self) -> str:
        if self.whole_agent:
            return "this agent"
        return f"session {self.session_id!r}" if self.session_id is not None else str(self.memory_id or self.chain_id)


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was erased: of each memory the HMAC-SHA256 of its text (UTF-8) under `key`, which is told once and kept nowhere."""

    log_id: UUID
    known_at: datetime
    key: bytes
    digests: Mapping[UUID, str]


class Erase:
    """Removes texts, hashes and vectors everywhere."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def run(
        self, agent: AgentId, scope: Scope, *, cascade: bool, expected: int | None, request: Request, once: Once[Receipt] = UNKEYED
    ) -> Receipt:
        """Erases the scope; with `cascade`, also what its texts were merged into.

        Raises UnknownMemory, NothingToErase, Erased, StaleVersion, MergedElsewhere.
        """
        key, log_id = secrets.token_bytes(32), uuid7()
        async with self._engine.begin() as connection:
            lock = await writes.lock_agent(connection, agent, encoder=None)
            await once.check(connection)
            await writes.take_time(connection)
            named = await _named(connection, agent, scope)
            picture, clock = await writes.read_picture(connection, agent, ids=named[:1])
            if expected is not None and picture.version(named[0]).revision != expected:
                raise StaleVersion(named[0])
            ids = await _with_descendants(connection, agent, named, cascade=cascade)
            texts = {memory_id: text async for memory_id, text in erasing.texts(connection, agent, ids)}
            if not texts and (named_one := scope.memory_id or scope.chain_id):
                raise Erased(named_one)
            now = writes.next_known(clock, lock.last_known_at)
            digests = {memory_id: hmac.digest(key, text.encode(), "sha256").hex() for memory_id, text in texts.items()}
            await erasing.erase(connection, agent, texts, now=now, session_id=scope.session_id, everything=scope.whole_agent)
            await erasing.log_erasure(connection, agent, log_id, digests, now=now, request_id=request.request_id)
            receipt = Receipt(log_id, now, key, digests)
            await once.keep(connection, receipt)
        metrics.count_erasure()
        return receipt


async def _named(connection: AsyncConnection, agent: AgentId, scope: Scope) -> Sequence[UUID]:
    """The memories in the scope; a session may have none and still have been spoken in. Raises UnknownMemory, NothingToErase."""
    if member := scope.memory_id or scope.chain_id:
        chain = await erasing.ids_of_chain(connection, agent, member)
        if not chain:
            raise UnknownMemory(member)
        return [member] if scope.memory_id else chain
    found = await erasing.ids_of_agent(connection, agent, scope.session_id)
    if not found and not await erasing.is_told_of(connection, agent, scope.session_id):
        raise NothingToErase(str(scope))
    return found


async def _with_descendants(connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID], *, cascade: bool) -> Sequence[UUID]:
    merged = await erasing.descendants(connection, agent, ids)
    if merged and not cascade:
        raise MergedElsewhere(merged)
    return [*ids, *merged]
