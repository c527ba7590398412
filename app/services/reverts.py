"""Undoing operations: choose, see what was built on them, undo newest first, all or nothing."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from uuid_utils.compat import uuid7

from app.domain.agent import AgentId
from app.domain.errors import (
    AlreadyReverted,
    BuiltOn,
    CannotRevert,
    GroundMoved,
    InvalidFact,
    UnknownLogEntry,
)
from app.domain.policy import Policy
from app.domain.relation import Operation
from app.embedding import Embedder
from app.planning.plan import Plan
from app.planning.reverts import LoggedOperation, plan_revert
from app.services import metrics
from app.services.agent_write import Outcome
from app.services.idempotency import UNKEYED, Idempotency
from app.store import apply, chains, relationships
from app.store import memories as memory_store
from app.store.log import archived as archived_log
from app.store.log import reverts as log_reverts
from app.store.log.reverts import Selection
from app.store.memories import Point
from app.store.rows import CallInfo

MOST = 10_000


@dataclass(frozen=True, slots=True)
class RevertedOperation:
    """What was undone, newest first: the operation and the outcome of undoing it."""

    log_id: UUID
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class _TextToStore:
    """The text of a NOOP or DELETE on its way to a memory of its own."""

    memory_id: UUID
    vector: NDArray[np.float32]


class Reverter:
    """Undoes operations of the log; what was believed at any earlier known time stays as it was."""

    def __init__(
        self, engine: AsyncEngine, embedder: Embedder, policy: Policy, *, language_oid: int
    ) -> None:
        self._engine = engine
        self._embedder = embedder
        self._policy = policy
        self._language_oid = language_oid

    async def revert_one(
        self,
        agent: AgentId,
        log_id: UUID,
        *,
        cascade: bool,
        store: bool,
        request: CallInfo,
        idempotency: Idempotency[list[RevertedOperation]] = UNKEYED,
    ) -> list[RevertedOperation]:
        """Undoes one operation; with `cascade`, first what was built on it; with `store`, the text of a NOOP or DELETE is stored too.

        Raises Archived, UnknownLogEntry, AlreadyReverted, BuiltOn, GroundMoved, CannotRevert, Erased.
        """
        stored = await self._encode_text_to_store(agent, log_id) if store else {}
        async with self._engine.begin() as connection:
            lock = await chains.lock_agent(
                connection, agent, encoder=self._embedder.name if stored else None
            )
            await idempotency.check_replay(connection)
            lock.refuse_if_frozen(self._policy)
            undone = await self._revert_operations(
                connection,
                agent,
                [log_id],
                lock.last_known_at,
                cascade=cascade,
                stored=stored,
                request=request,
            )
            await idempotency.keep_result(connection, undone)
        metrics.count_operations(r.outcome.plan for r in undone)
        return undone

    async def revert_selection(
        self,
        agent: AgentId,
        selection: Selection,
        *,
        cascade: bool,
        dry_run: bool,
        request: CallInfo,
        idempotency: Idempotency[list[RevertedOperation]] = UNKEYED,
    ) -> list[RevertedOperation]:
        """Undoes every operation of the selection that still stands, newest first, in one transaction. Where it may mean archived ones,
        none is undone. Raises what `one` does, and SelectionArchived."""
        async with self._engine.connect() as connection, connection.begin() as transaction:
            lock = await chains.lock_agent(connection, agent, encoder=None)
            await idempotency.check_replay(connection)
            lock.refuse_if_frozen(self._policy)
            await archived_log.refuse_archived_selection(connection, agent, selection)
            chosen = await log_reverts.list_standing_operations(
                connection, agent, selection, limit=MOST + 1
            )
            if len(chosen) > MOST:
                raise InvalidFact(
                    f"More than {MOST} operations match. Narrow the filter, for example by since and until, newest first."
                )
            undone = await self._revert_operations(
                connection,
                agent,
                chosen,
                lock.last_known_at,
                cascade=cascade,
                stored={},
                request=request,
            )
            if dry_run:
                await transaction.rollback()
            else:
                await idempotency.keep_result(connection, undone)
        metrics.count_operations([] if dry_run else [r.outcome.plan for r in undone])
        return undone

    async def _encode_text_to_store(self, agent: AgentId, log_id: UUID) -> dict[UUID, _TextToStore]:
        """The vector of what a NOOP or DELETE said, made before the lock."""
        async with memory_store.open_read_connection(self._engine) as connection:
            found = await log_reverts.find_done_operations(connection, agent, [log_id])
            if not found:
                await archived_log.refuse_archived(connection, agent, [log_id])
        if (
            not found
            or found[0].operation not in (Operation.NOOP, Operation.DELETE)
            or found[0].incoming is None
        ):
            raise InvalidFact(
                "store: only a NOOP or DELETE that said something has a text to store; leave it out."
            )
        [vector] = await self._embedder.encode([found[0].incoming.content])
        return {log_id: _TextToStore(uuid7(), vector)}

    async def _revert_operations(
        self,
        connection: AsyncConnection,
        agent: AgentId,
        log_ids: Sequence[UUID],
        last: datetime | None,
        *,
        cascade: bool,
        stored: Mapping[UUID, _TextToStore],
        request: CallInfo,
    ) -> list[RevertedOperation]:
        chosen = await _skip_restored_relationships(
            connection,
            agent,
            await _find_operations_to_revert(connection, agent, log_ids, cascade=cascade),
        )
        picture, clock = await chains.read_picture(
            connection, agent, ids=[i for done in chosen for i in done.ids]
        )
        plans: list[Plan] = []
        for done in chosen:
            last = chains.next_known_time(clock, last)
            new = stored.get(done.log_id)
            try:
                plans.append(
                    plan_revert(done, picture, now=last, store_as=new.memory_id if new else None)
                )
            except GroundMoved:
                raise GroundMoved(
                    done.log_id,
                    await log_reverts.list_dependents(connection, agent, done, reverts=True),
                ) from None
            plans[-1].absorb_into(picture)
        vectors = {new.memory_id: new.vector for new in stored.values()}
        written = await apply.apply_plans(
            connection, agent, plans, vectors=vectors, language=self._language_oid, request=request
        )
        answered = await memory_store.find_memories(
            connection, agent, [plan.target for plan in plans if plan.target], Point()
        )
        memories = {memory.id: memory for memory in answered.memories}
        made_stale = await relationships.find_made_stale(connection, agent, plans)
        return [
            RevertedOperation(
                done.log_id,
                Outcome(plan, at, memories.get(plan.target) if plan.target else None, stale=stale),
            )
            for done, plan, at, stale in zip(chosen, plans, written, made_stale, strict=True)
        ]


async def _find_operations_to_revert(
    connection: AsyncConnection, agent: AgentId, log_ids: Sequence[UUID], *, cascade: bool
) -> list[LoggedOperation]:
    """The operations to undo, newest first: those named, and with `cascade` all that was built on them."""
    found = {
        done.log_id: done
        for done in await log_reverts.find_done_operations(connection, agent, log_ids)
    }
    await archived_log.refuse_archived(
        connection, agent, [log_id for log_id in log_ids if log_id not in found]
    )
    together = frozenset(log_ids)
    for log_id in log_ids:
        _require_standing(log_id, found.get(log_id), unless_by=together)
    looked_at: set[UUID] = set()
    while new := found.keys() - looked_at:
        for log_id in new:
            await archived_log.refuse_archived_dependents(connection, agent, found[log_id])
        later = {
            i
            for log_id in new
            for i in await log_reverts.list_dependents(connection, agent, found[log_id])
        }
        looked_at |= new
        found |= {
            done.log_id: done
            for done in await log_reverts.find_done_operations(
                connection, agent, later - found.keys()
            )
        }
    chosen = sorted(found.values(), key=lambda done: (done.at, done.log_id), reverse=True)
    more = [done.log_id for done in chosen if done.log_id not in log_ids]
    if more and not cascade:
        raise BuiltOn(log_ids[-1], more)
    return chosen


async def _skip_restored_relationships(
    connection: AsyncConnection, agent: AgentId, chosen: Sequence[LoggedOperation]
) -> list[LoggedOperation]:
    """The operations without those of the links they untied that were made again meanwhile: undoing need not tie these."""
    untied = [link for done in chosen for link in done.unlinked]
    again = (
        {tied.link for tied in await relationships.find_relationships(connection, agent, untied)}
        if untied
        else set()
    )
    return [
        replace(done, unlinked=tuple(link for link in done.unlinked if link not in again))
        for done in chosen
    ]


def _require_standing(log_id: UUID, done: LoggedOperation | None, *, unless_by: Set[UUID]) -> None:
    """Raises where it does not stand, `unless_by` what is undone first."""
    if done is None:
        raise UnknownLogEntry(log_id)
    if done.operation is Operation.ERASE:
        raise CannotRevert(log_id)
    if done.undone_by and done.undone_by not in unless_by:
        raise AlreadyReverted(log_id, done.undone_by)
    if done.undone_again and done.undone_again[1] not in unless_by:
        raise AlreadyReverted(*done.undone_again)
