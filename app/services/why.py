"""Why a memory stands as it does: gather what the log, reviews and vetoes say of its chain, and tell it."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.agent import AgentId
from app.domain.errors import UnknownMemory
from app.domain.version import Memory, Moment
from app.planning.why.sentences import build_story
from app.planning.why.story import Story, StoryMaterial, find_vetoed_memories
from app.store import memories
from app.store.log import archived as archived_log
from app.store.log import why as log_why
from app.store.memories import Point


@dataclass(frozen=True, slots=True)
class Why:
    """A memory, its story, and the moment of both. `archived_until`: up to then the story lacks operations that were archived."""

    memory: Memory
    story: Story
    moment: Moment
    archived_until: datetime | None


async def explain_why(engine: AsyncEngine, agent: AgentId, memory_id: UUID, point: Point) -> Why:
    """The story of one memory in six statements, whatever its length. Raises UnknownMemory where it was not known then."""
    async with memories.open_read_connection(engine) as connection:
        page = await memories.list_chain(connection, agent, memory_id, point)
        memory = next((memory for memory in page.memories if memory.id == memory_id), None)
        if memory is None:
            raise UnknownMemory(memory_id)
        known, since = page.moment.known_at, min(version.created_at for version in page.memories)
        chain = frozenset(version.id for version in page.memories)
        entries = await log_why.list_entries_on(connection, agent, chain, known)
        apart = await log_why.list_vetoed_entries(
            connection, agent, chain, since=since, known_at=known
        )
        proposals = await log_why.list_proposals_about(connection, agent, chain, known)
        named = chain.union(
            *(entry.ids for entry in (*entries, *apart)), *(proposal.ids for proposal in proposals)
        )
        named |= {
            pair.memory_id for entry in entries for pair in find_vetoed_memories(entry, chain)
        }
        texts = await log_why.find_known_texts(connection, agent, named, known)
        until = await archived_log.find_archived_until(
            connection, agent, since=since, known_at=known
        )
    told = build_story(
        StoryMaterial(memory, chain, entries, apart, proposals, texts), page.moment.as_of, known
    )
    return Why(memory, told, page.moment, until)
