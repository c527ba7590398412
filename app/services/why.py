"""Why a memory stands as it does: gather what the log, reviews and vetoes say of its chain, and tell it."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.errors import UnknownMemory
from app.domain.memory import AgentId, Memory, Moment
from app.domain.story import Story, StoryMaterial, find_vetoed_memories
from app.domain.telling import build_story
from app.store import archived, reads, story
from app.store.reads import Point


@dataclass(frozen=True, slots=True)
class Why:
    """A memory, its story, and the moment of both. `archived_until`: up to then the story lacks operations that were archived."""

    memory: Memory
    story: Story
    moment: Moment
    archived_until: datetime | None


async def explain_why(engine: AsyncEngine, agent: AgentId, memory_id: UUID, point: Point) -> Why:
    """The story of one memory in six statements, whatever its length. Raises UnknownMemory where it was not known then."""
    async with reads.open_read_connection(engine) as connection:
        page = await reads.list_chain(connection, agent, memory_id, point)
        memory = next((memory for memory in page.memories if memory.id == memory_id), None)
        if memory is None:
            raise UnknownMemory(memory_id)
        known, since = page.moment.known_at, min(version.created_at for version in page.memories)
        chain = frozenset(version.id for version in page.memories)
        entries = await story.list_entries_on(connection, agent, chain, known)
        apart = await story.list_vetoed_entries(
            connection, agent, chain, since=since, known_at=known
        )
        proposals = await story.list_proposals_about(connection, agent, chain, known)
        named = chain.union(
            *(entry.ids for entry in (*entries, *apart)), *(proposal.ids for proposal in proposals)
        )
        named |= {
            pair.memory_id for entry in entries for pair in find_vetoed_memories(entry, chain)
        }
        texts = await story.find_known_texts(connection, agent, named, known)
        until = await archived.find_archived_until(connection, agent, since=since, known_at=known)
    told = build_story(
        StoryMaterial(memory, chain, entries, apart, proposals, texts), page.moment.as_of, known
    )
    return Why(memory, told, page.moment, until)
