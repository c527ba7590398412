"""Explaining why a memory is as it is, from the log, reviews and opinions on its chain."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.errors import UnknownMemory
from app.domain.version import Memory, Moment
from app.planning.why.sentences import build_story
from app.planning.why.story import Story, StoryMaterial, find_judged_memories
from app.services.capture_reports import find_quoted_turns
from app.store import memories
from app.store.captures import captures
from app.store.captures.captures import CapturedFact, StoredTurn
from app.store.engine import begin_for_agent
from app.store.log import archived as archived_log
from app.store.log import why as log_why
from app.store.memories import Point
from app.store.reads import Reads
from app.turns import iterate_in_turns


@dataclass(frozen=True, slots=True)
class Why:
    """A memory and its story, both as of the moment.

    The story lacks operations up to `archived_until`, because they were archived. `sources` are the
    captured facts that say it, and `quoted` the turns that they quote, by id.
    """

    memory: Memory
    story: Story
    moment: Moment
    archived_until: datetime | None
    sources: Sequence[CapturedFact] = ()
    quoted: Mapping[UUID, StoredTurn] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Rows:
    """What the database has about a memory, for its story."""

    material: StoryMaterial
    moment: Moment
    archived_until: datetime | None
    sources: Sequence[CapturedFact]
    quoted: Mapping[UUID, StoredTurn]


async def explain_why(
    reads: Reads,
    agent: AgentId,
    memory_id: UUID,
    point: Point,
) -> Why:
    """Return the story of one memory, in eight statements whatever its length.

    Raises UnknownMemory if the memory was not known at the point.
    """
    rows = await reads.run(
        agent,
        lambda connection: _read_rows(connection, agent, memory_id, point),
        known_at=point.known_at,
        door=begin_for_agent,
    )
    moment = rows.moment
    # In a thread: the story of ten thousand operations takes 0.5 s.
    story = await asyncio.to_thread(build_story, rows.material, moment.as_of, moment.known_at)
    memory = rows.material.memory
    return Why(memory, story, moment, rows.archived_until, rows.sources, rows.quoted)


async def _read_rows(
    connection: AsyncConnection, agent: AgentId, memory_id: UUID, point: Point
) -> _Rows:
    page = await memories.list_chain(connection, agent, memory_id, point)
    versions = {version.id: version for version in page.memories}
    if memory_id not in versions:
        raise UnknownMemory(memory_id)
    chain = frozenset(versions)
    known_at = page.moment.known_at
    since = min(version.created_at for version in page.memories)
    entries = await log_why.list_entries_on(connection, agent, chain, known_at)
    judging = await log_why.list_judging_entries(
        connection,
        agent,
        chain,
        since=since,
        known_at=known_at,
    )
    proposals = await log_why.list_proposals_about(connection, agent, chain, known_at)
    named = set(chain)
    for entry in (*entries, *judging):
        named.update(entry.ids)
    for proposal in proposals:
        named.update(proposal.ids)
    async for entry in iterate_in_turns(entries):
        named.update(pair.memory_id for pair in find_judged_memories(entry, chain))
    texts = await log_why.find_known_texts(connection, agent, named, known_at)
    until = await archived_log.find_archived_until(
        connection,
        agent,
        since=since,
        known_at=known_at,
    )
    sources = await captures.list_facts_of_memory(connection, agent, memory_id, known_at)
    quoted = await find_quoted_turns(connection, agent, sources, ())
    material = StoryMaterial(
        versions[memory_id],
        chain,
        entries,
        judging,
        proposals,
        texts,
    )
    return _Rows(material, page.moment, until, sources, quoted)
