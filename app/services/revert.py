"""Undoing operations: choose, see what was built on them, undo newest first, all or nothing."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from uuid_utils.compat import uuid7

from app.domain.errors import AlreadyReverted, BuiltOn, CannotRevert, GroundMoved, InvalidFact, UnknownLogEntry
from app.domain.memory import AgentId, Operation
from app.domain.plan import Plan, Policy
from app.domain.undo import Done, plan_revert
from app.embedding import Embedder
from app.services import metrics
from app.services.once import UNKEYED, Once
from app.services.remember import Outcome
from app.store import archived, links, reads, undoing, writes
from app.store.reads import Point
from app.store.rows import Request
from app.store.undoing import Selection

MOST = 10_000


@dataclass(frozen=True, slots=True)
class Reverted:
    """What was undone, newest first: the operation and the outcome of undoing it."""

    log_id: UUID
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class _Stored:
    """The text of a NOOP or DELETE on its way to a memory of its own."""

    memory_id: UUID
    vector: NDArray[np.float32]


class Revert:
    """Undoes operations of the log; what was believed at any earlier known time stays as it was."""

    def __init__(self, engine: AsyncEngine, embedder: Embedder, policy: Policy, *, language_oid: int) -> None:
        self._engine = engine
        self._embedder = embedder
        self._policy = policy
        self._language_oid = language_oid

    async def one(
        self, agent: AgentId, log_id: UUID, *, cascade: bool, store: bool, request: Request, once: Once[list[Reverted]] = UNKEYED
    ) -> list[Reverted]:
        """Undoes one operation; with `cascade`, first what was built on it; with `store`, the text of a NOOP or DELETE is stored too.

        Raises Archived, UnknownLogEntry, AlreadyReverted, BuiltOn, GroundMoved, CannotRevert, Erased.
        """
        stored = await self._stored(agent, log_id) if store else {}
        async with self._engine.begin() as connection:
            lock = await writes.lock_agent(connection, agent, encoder=self._embedder.name if stored else None)
            await once.check(connection)
            lock.refuse_where_frozen(self._policy)
            undone = await self._undo(connection, agent, [log_id], lock.last_known_at, cascade=cascade, stored=stored, request=request)
            await once.keep(connection, undone)
        metrics.count(r.outcome.plan for r in undone)
        return undone

    async def many(
        self,
        agent: AgentId,
        selection: Selection,
        *,
        cascade: bool,
        dry_run: bool,
        request: Request,
        once: Once[list[Reverted]] = UNKEYED,
    ) -> list[Reverted]:
        """Undoes every operation of the selection that still stands, newest first, in one transaction. Where it may mean archived ones,
        none is undone. Raises what `one` does, and SelectionArchived."""
        async with self._engine.connect() as connection, connection.begin() as transaction:
            lock = await writes.lock_agent(connection, agent, encoder=None)
            await once.check(connection)
            lock.refuse_where_frozen(self._policy)
            await archived.refuse_selecting_archived(connection, agent, selection)
            chosen = await undoing.select_standing(connection, agent, selection, limit=MOST + 1)
            if len(chosen) > MOST:
                raise InvalidFact(f"More than {MOST} operations match. Narrow the filter, for example by since and until, newest first.")
            undone = await self._undo(connection, agent, chosen, lock.last_known_at, cascade=cascade, stored={}, request=request)
            if dry_run:
                await transaction.rollback()
            else:
                await once.keep(connection, undone)
        metrics.count([] if dry_run else [r.outcome.plan for r in undone])
        return undone

    async def _stored(self, agent: AgentId, log_id: UUID) -> dict[UUID, _Stored]:
        """The vector of what a NOOP or DELETE said, made before the lock."""
        async with reads.reading(self._engine) as connection:
            found = await undoing.find_done(connection, agent, [log_id])
            if not found:
                await archived.refuse_archived(connection, agent, [log_id])
        if not found or found[0].operation not in (Operation.NOOP, Operation.DELETE) or found[0].incoming is None:
            raise InvalidFact("store: only a NOOP or DELETE that said something has a text to store; leave it out.")
        [vector] = await self._embedder.encode([found[0].incoming.content])
        return {log_id: _Stored(uuid7(), vector)}

    async def _undo(
        self,
        connection: AsyncConnection,
        agent: AgentId,
        log_ids: Sequence[UUID],
        last: datetime | None,
        *,
        cascade: bool,
        stored: Mapping[UUID, _Stored],
        request: Request,
    ) -> list[Reverted]:
        chosen = await _untied(connection, agent, await _chosen(connection, agent, log_ids, cascade=cascade))
        picture, clock = await writes.read_picture(connection, agent, ids=[i for done in chosen for i in done.ids])
        plans: list[Plan] = []
        for done in chosen:
            last = writes.next_known(clock, last)
            new = stored.get(done.log_id)
            try:
                plans.append(plan_revert(done, picture, now=last, store_as=new.memory_id if new else None))
            except GroundMoved:
                raise GroundMoved(done.log_id, await undoing.built_on(connection, agent, done, reverts=True)) from None
            plans[-1].absorb_into(picture)
        vectors = {new.memory_id: new.vector for new in stored.values()}
        written = await writes.apply(connection, agent, plans, vectors=vectors, language=self._language_oid, request=request)
        answered = await reads.find_memories(connection, agent, [plan.target for plan in plans if plan.target], Point())
        memories = {memory.id: memory for memory in answered.memories}
        made_stale = await links.made_stale(connection, agent, plans)
        return [
            Reverted(done.log_id, Outcome(plan, at, memories.get(plan.target) if plan.target else None, stale=stale))
            for done, plan, at, stale in zip(chosen, plans, written, made_stale, strict=True)
        ]


async def _chosen(connection: AsyncConnection, agent: AgentId, log_ids: Sequence[UUID], *, cascade: bool) -> list[Done]:
    """The operations to undo, newest first: those named, and with `cascade` all that was built on them."""
    found = {done.log_id: done for done in await undoing.find_done(connection, agent, log_ids)}
    await archived.refuse_archived(connection, agent, [log_id for log_id in log_ids if log_id not in found])
    together = frozenset(log_ids)
    for log_id in log_ids:
        _require_standing(log_id, found.get(log_id), unless_by=together)
    looked_at: set[UUID] = set()
    while new := found.keys() - looked_at:
        for log_id in new:
            await archived.refuse_archived_on(connection, agent, found[log_id])
        later = {i for log_id in new for i in await undoing.built_on(connection, agent, found[log_id])}
        looked_at |= new
        found |= {done.log_id: done for done in await undoing.find_done(connection, agent, later - found.keys())}
    chosen = sorted(found.values(), key=lambda done: (done.at, done.log_id), reverse=True)
    more = [done.log_id for done in chosen if done.log_id not in log_ids]
    if more and not cascade:
        raise BuiltOn(log_ids[-1], more)
    return chosen


async def _untied(connection: AsyncConnection, agent: AgentId, chosen: Sequence[Done]) -> list[Done]:
    """The operations without those of the links they untied that were made again meanwhile: undoing need not tie these."""
    untied = [link for done in chosen for link in done.unlinked]
    again = {tied.link for tied in await links.find_links(connection, agent, untied)} if untied else set()
    return [replace(done, unlinked=tuple(link for link in done.unlinked if link not in again)) for done in chosen]


def _require_standing(log_id: UUID, done: Done | None, *, unless_by: Set[UUID]) -> None:
    """Raises where it does not stand, `unless_by` what is undone first."""
    if done is None:
        raise UnknownLogEntry(log_id)
    if done.operation is Operation.ERASE:
        raise CannotRevert(log_id)
    if done.undone_by and done.undone_by not in unless_by:
        raise AlreadyReverted(log_id, done.undone_by)
    if done.undone_again and done.undone_again[1] not in unless_by:
        raise AlreadyReverted(*done.undone_again)
