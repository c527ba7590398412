"""Reading the line of a memory, a page at a time: its versions, and the operations on them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.errors import UnknownMemory
from app.domain.version import Memory, Moment
from app.store import memories, succession
from app.store.bounded import is_cut
from app.store.engine import begin_for_agent
from app.store.log import archived as archived_log
from app.store.log import entries as log_entries
from app.store.memories import After, Point
from app.store.reads import Reads
from app.store.succession import Line, Place

# Versions or operations of one page, at most.
MOST_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class HistoryPosition:
    """Where a page ended: the last version and the last operation; None if there are no more."""

    version: Place | None
    operation: After | None


@dataclass(frozen=True, slots=True)
class Joint:
    """A place at which a line goes on in another chain."""

    superseded: UUID
    by: UUID


@dataclass(frozen=True, slots=True)
class History:
    """A page of the history of a memory. `next` is None on the last page.

    `current` is the version that holds at the moment, on whichever page it is. `joints` are those
    of the page's versions. Up to `archived_until` the log may lack operations.
    """

    moment: Moment
    chain_id: UUID
    current: UUID | None
    versions: Sequence[Memory]
    joints: Sequence[Joint]
    operations: Sequence[Mapping[str, Any]]
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
    """Return the page of the memory's line after that position; None means the first page.

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
    operations: list[dict[str, Any]] = []
    version_after, operation_after = None, None
    moment, line = await succession.find_line(connection, agent, memory_id, point)
    if line is None:
        raise UnknownMemory(memory_id)
    if after is None or after.version:
        places = _list_places_after(line, after.version if after else None)
        # As known when the line was read: a write that came meanwhile would leave a gap in it.
        all_uses = point.all_uses or point.known_at is None
        then = replace(point, as_of=moment.as_of, known_at=moment.known_at, all_uses=all_uses)
        page = await memories.list_versions(
            connection,
            agent,
            [place.memory_id for place in places[:MOST_ROWS]],
            then,
            max_bytes=max_bytes // 2,
        )
        versions = page.memories
        if len(versions) < len(places):
            last = versions[-1]
            version_after = Place(last.belief.valid_from, last.belief.asserted_at, last.id)
    if after is None or after.operation:
        operations = await log_entries.list_operations_on(
            connection,
            agent,
            list(line.chains),
            moment.known_at,
            after=after.operation if after else None,
            limit=MOST_ROWS,
            max_bytes=max_bytes // 2,
        )
        if is_cut(operations):
            operation_after = After(operations[-1]["created_at"], operations[-1]["id"])
    archived_until = await archived_log.find_archived_until(
        connection, agent, since=line.since, known_at=moment.known_at
    )
    goes_on = version_after or operation_after
    return History(
        moment=moment,
        chain_id=line.chain_id,
        current=line.current,
        versions=versions,
        joints=list(_find_joints(versions, line)),
        operations=operations,
        archived_until=archived_until,
        next=HistoryPosition(version_after, operation_after) if goes_on else None,
    )


def _list_places_after(line: Line, after: Place | None) -> Sequence[Place]:
    """Return the places of the line after this one; None means all."""
    return [place for place in line.places if after is None or place > after]


def _find_joints(versions: Sequence[Memory], line: Line) -> Iterator[Joint]:
    """Yield the places at which the line leaves the chain of one of these versions."""
    for version in versions:
        successor = version.belief.superseded_by
        if successor and line.chains.get(successor, version.chain_id) != version.chain_id:
            yield Joint(version.id, successor)
