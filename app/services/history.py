"""Reading the history of a chain, a page at a time: its versions, and the operations on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.engine import RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.errors import UnknownMemory
from app.domain.version import Memory, Moment
from app.store import memories
from app.store.bounded import is_cut
from app.store.engine import begin_for_agent
from app.store.log import archived as archived_log
from app.store.log import entries as log_entries
from app.store.memories import After, AfterVersion, Point
from app.store.reads import Reads

# Versions or operations of one page, at most.
MOST_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class HistoryPosition:
    """Where a page ended: the last version and the last operation; None if there are no more."""

    version: AfterVersion | None
    operation: After | None


@dataclass(frozen=True, slots=True)
class History:
    """A page of the history of a chain. `next` is None on the last page.

    `current` is the version that holds at the moment, on whichever page it is. Up to
    `archived_until` the log may lack operations.
    """

    moment: Moment
    chain_id: UUID
    current: UUID | None
    versions: Sequence[Memory]
    operations: Sequence[RowMapping]
    archived_until: datetime | None
    next: HistoryPosition | None


async def read_history(
    reads: Reads,
    agent: AgentId,
    memory_id: UUID,
    point: Point,
    *,
    after: HistoryPosition | None,
    max_bytes: int,
) -> History:
    """Return the page of the memory's chain after that position; None means the first page.

    Half of `max_bytes` is for the versions, half for the operations. Raises UnknownMemory if the
    memory was not known at the point.
    """
    return await reads.run(
        agent,
        lambda connection: _read_page(
            connection, agent, memory_id, point, after=after, max_bytes=max_bytes
        ),
        known_at=point.known_at,
        door=begin_for_agent,
    )


async def _read_page(
    connection: AsyncConnection,
    agent: AgentId,
    memory_id: UUID,
    point: Point,
    *,
    after: HistoryPosition | None,
    max_bytes: int,
) -> History:
    versions: list[Memory] = []
    operations: list[RowMapping] = []
    version_after, operation_after = None, None
    moment, chain = await memories.find_chain(connection, agent, memory_id, point)
    if chain is None:
        raise UnknownMemory(memory_id)
    if after is None or after.version:
        page = await memories.list_chain_page(
            connection,
            agent,
            memory_id,
            point,
            after=after.version if after else None,
            limit=MOST_ROWS,
            max_bytes=max_bytes // 2,
        )
        versions = page.memories
        version_after = _locate_version(versions[-1]) if page.is_cut else None
    if after is None or after.operation:
        operations = await log_entries.list_operations_on(
            connection,
            agent,
            chain.chain_id,
            moment.known_at,
            after=after.operation if after else None,
            limit=MOST_ROWS,
            max_bytes=max_bytes // 2,
        )
        if is_cut(operations):
            operation_after = After(operations[-1]["created_at"], operations[-1]["id"])
    archived_until = await archived_log.find_archived_until(
        connection, agent, since=chain.created_at, known_at=moment.known_at
    )
    goes_on = version_after or operation_after
    return History(
        moment=moment,
        chain_id=chain.chain_id,
        current=chain.current,
        versions=versions,
        operations=operations,
        archived_until=archived_until,
        next=HistoryPosition(version_after, operation_after) if goes_on else None,
    )


def _locate_version(memory: Memory) -> AfterVersion:
    return AfterVersion(memory.belief.valid_from, memory.belief.asserted_at, memory.id)
