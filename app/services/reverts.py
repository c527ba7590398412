"""Undoing operations: choose them, find what was built on them, undo newest first, all or none."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from uuid import UUID

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
from app.domain.relation import Operation
from app.embedding import Embedder, Vector
from app.planning.reverts import (
    LoggedOperation,
    find_uncancelled,
    plan_revert,
    refuse_second_undo,
    revert_line,
)
from app.services.agent_write import AgentWrite, Call, Outcome, WriteSetup, agent_write
from app.store import relationships
from app.store.engine import begin_for_agent
from app.store.log import archived as archived_log
from app.store.log import reverts as log_reverts
from app.store.log.reverts import Selection
from app.store.roles import Role

MOST = 10_000


@dataclass(frozen=True, slots=True)
class RevertedOperation:
    """An operation that was undone, and the outcome of undoing it."""

    log_id: UUID
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class _TextToStore:
    """The text of a NOOP or DELETE that becomes a memory of its own."""

    log_id: UUID
    memory_id: UUID
    vector: Vector


class Reverter:
    """Undoes operations of the log. What was believed at an earlier known time stays as it was."""

    def __init__(self, engine: AsyncEngine, embedder: Embedder, setup: WriteSetup) -> None:
        self._engine = engine
        self._embedder = embedder
        self._setup = setup

    async def revert_one(
        self,
        call: Call[list[RevertedOperation]],
        log_id: UUID,
        *,
        cascade: bool,
        store: bool,
    ) -> list[RevertedOperation]:
        """Undo one operation, and with `cascade` first what was built on it.

        With `store`, the text of a NOOP or DELETE becomes a memory of its own.
        Raises Archived, UnknownLogEntry, AlreadyReverted, BuiltOn, GroundMoved, CannotRevert,
        Erased, AgentFrozen.
        """
        text = await self._encode_text_to_store(call.agent, log_id) if store else None
        encoder = self._embedder.name if text else None
        async with agent_write(
            self._engine,
            call,
            setup=self._setup,
            refuse_frozen=True,
            role=Role.LOG_EDITOR,
            encoder=encoder,
        ) as write:
            reverted = await _revert_operations(write, [log_id], cascade=cascade, text=text)
            await write.keep(reverted)
        return reverted

    async def revert_selection(
        self,
        call: Call[list[RevertedOperation]],
        selection: Selection,
        *,
        cascade: bool,
        dry_run: bool,
    ) -> list[RevertedOperation]:
        """Undo every standing operation of the selection, newest first, in one transaction.

        If the selection may include archived operations, none is undone. Raises what `revert_one`
        raises, SelectionArchived, and InvalidFact if too many operations match.
        """
        async with agent_write(
            self._engine,
            call,
            setup=self._setup,
            refuse_frozen=True,
            role=Role.LOG_EDITOR,
            dry_run=dry_run,
        ) as write:
            connection, agent = write.connection, call.agent
            if selection.log_ids:
                logged = await log_reverts.find_done_operations(
                    connection, agent, selection.log_ids
                )
                missing = sorted(set(selection.log_ids) - {done.log_id for done in logged})
                await archived_log.refuse_archived(connection, agent, missing)
                if missing:
                    raise UnknownLogEntry(missing[0])
            await archived_log.refuse_archived_selection(connection, agent, selection)
            chosen = await log_reverts.list_standing_operations(
                connection, agent, selection, limit=MOST + 1
            )
            if len(chosen) > MOST:
                raise InvalidFact(
                    f"More than {MOST} operations match. Narrow the filter, for example by since "
                    "and until, newest first."
                )
            reverted = await _revert_operations(write, chosen, cascade=cascade)
            await write.keep(reverted)
        return reverted

    async def _encode_text_to_store(self, agent: AgentId, log_id: UUID) -> _TextToStore:
        """Make the vector of what a NOOP or DELETE said, before the lock."""
        async with begin_for_agent(self._engine, agent) as connection:
            logged = await log_reverts.find_done_operations(connection, agent, [log_id])
            if not logged:
                await archived_log.refuse_archived(connection, agent, [log_id])
        operation = logged[0] if logged else None
        if (
            operation is None
            or operation.operation not in (Operation.NOOP, Operation.DELETE)
            or operation.incoming is None
        ):
            raise InvalidFact(
                "store: only a NOOP or DELETE that said something has a text to store; "
                "leave it out."
            )
        [vector] = await self._embedder.encode([operation.incoming.content])
        return _TextToStore(log_id, uuid7(), vector)


async def _revert_operations(
    write: AgentWrite[list[RevertedOperation]],
    log_ids: Sequence[UUID],
    *,
    cascade: bool,
    text: _TextToStore | None = None,
) -> list[RevertedOperation]:
    connection, agent = write.connection, write.agent
    chosen = await _find_operations_to_revert(connection, agent, log_ids, cascade=cascade)
    chosen = await _skip_restored_relationships(connection, agent, chosen)
    ids = [i for done in chosen for i in (*done.ids, *done.chain_ids)]
    chains = await write.read_chains(ids=ids)
    undone: dict[UUID, bool] = {}
    for done in chosen:
        store_as = text.memory_id if text and text.log_id == done.log_id else None
        try:
            refuse_second_undo(done, undone)
            plan = plan_revert(done, chains, now=write.next_known_time(), store_as=store_as)
        except GroundMoved as moved:
            later = await log_reverts.list_later_operations(connection, agent, done)
            newer = {other.log_id for other in chosen[: chosen.index(done)]}
            first = find_uncancelled(done, later, newer)
            raise GroundMoved(done.log_id, first, undone=moved.undone) from None
        write.add_plan(plan)
        undone |= revert_line(done)
    await write.apply({text.memory_id: text.vector} if text else {})
    outcomes = await write.read_outcomes(hinted=False)
    return [
        RevertedOperation(done.log_id, outcome)
        for done, outcome in zip(chosen, outcomes, strict=True)
    ]


async def _find_operations_to_revert(
    connection: AsyncConnection,
    agent: AgentId,
    log_ids: Sequence[UUID],
    *,
    cascade: bool,
) -> list[LoggedOperation]:
    """Return the operations to undo, newest first.

    Beside those that were named, they are all that was built on them. Raises BuiltOn if there are
    such and `cascade` is false.
    """
    named = await log_reverts.find_done_operations(connection, agent, log_ids)
    operations = {done.log_id: done for done in named}
    missing = [log_id for log_id in log_ids if log_id not in operations]
    await archived_log.refuse_archived(connection, agent, missing)
    together = frozenset(log_ids)
    for log_id in log_ids:
        _require_standing(log_id, operations.get(log_id), unless_by=together)
    expanded: set[UUID] = set()
    while new := operations.keys() - expanded:
        dependents: set[UUID] = set()
        for log_id in new:
            done = operations[log_id]
            await archived_log.refuse_archived_dependents(connection, agent, done)
            dependents.update(await log_reverts.list_dependents(connection, agent, done))
        expanded |= new
        new_ids = dependents - operations.keys()
        later = await log_reverts.find_done_operations(connection, agent, new_ids)
        operations |= {done.log_id: done for done in later}
    chosen = sorted(operations.values(), key=lambda done: (done.at, done.log_id), reverse=True)
    more = [done.log_id for done in chosen if done.log_id not in together]
    if more and not cascade:
        raise BuiltOn(log_ids[-1], more)
    return chosen


async def _skip_restored_relationships(
    connection: AsyncConnection, agent: AgentId, chosen: Sequence[LoggedOperation]
) -> list[LoggedOperation]:
    """Drop relationships that an operation removed and that somebody has added again since.

    The revert of the operation need not restore them.
    """
    removed = [link for done in chosen for link in done.unlinked]
    if not removed:
        return list(chosen)
    stored = await relationships.find_relationships(connection, agent, removed)
    restored = {relationship.link for relationship in stored}
    operations: list[LoggedOperation] = []
    for done in chosen:
        unlinked = tuple(link for link in done.unlinked if link not in restored)
        operations.append(replace(done, unlinked=unlinked))
    return operations


def _require_standing(log_id: UUID, done: LoggedOperation | None, *, unless_by: Set[UUID]) -> None:
    """Raise unless the operation still stands.

    An operation that one of `unless_by` undid counts as standing: those are undone first.
    """
    if done is None:
        raise UnknownLogEntry(log_id)
    if done.operation is Operation.ERASE:
        raise CannotRevert(log_id)
    if done.undone_by and done.undone_by not in unless_by:
        raise AlreadyReverted(log_id, done.undone_by)
