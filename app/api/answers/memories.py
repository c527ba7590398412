"""Memories, as every route answers them."""

from dataclasses import fields
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from pydantic import ConfigDict, Field

from app.api.answers.base import AnswerBase
from app.api.answers.log import OperationOut
from app.api.times import Time
from app.domain.dates.dated_text import DatedBy, Precision
from app.domain.fact import DerivedSlot, Kind, Lifespan, Tier
from app.domain.relationship import LinkType
from app.domain.strength import HalfLives, compute_strength
from app.domain.timeline import compute_memory_status
from app.domain.version import Belief, Memory, Status
from app.planning.staleness import StaleMemory
from app.services.history import History

_BELIEF_FIELDS = tuple(field.name for field in fields(Belief))


class DerivedSlotOut(AnswerBase):
    __doc__ = (
        "What a text was read to be about. It finds candidates and decides nothing; a key that the "
        "caller gives wins."
    )

    entity: str
    key: str
    value: str = Field(description="The value that was read.")

    @classmethod
    def from_slot(cls, slot: DerivedSlot | None) -> Self | None:
        return None if slot is None else cls.from_attributes(slot)


class CoverOut(AnswerBase):
    """A time in which a memory does not hold because temporary memories cover it."""

    since: Time = Field(description="From then on it does not hold.")
    until: Time = Field(description="From then on the memory holds again.")

    @classmethod
    def list_from_belief(cls, belief: Belief) -> list[Self]:
        starts, ends = belief.covered[::2], belief.covered[1::2]
        return [
            cls.model_construct(since=since, until=until)
            for since, until in zip(starts, ends, strict=True)
        ]


class EndedOut(AnswerBase):
    """A memory that another is tied to, and that has ended since the tie was made."""

    memory_id: UUID
    type: LinkType = Field(description="How the two are tied; the link may go either way.")
    status: Status = Field(description="How it ended.")
    ended_at: Time = Field(
        description=(
            "When it stopped being true; of one `reverted` or `erased`, when that became known."
        )
    )


class StaleOut(AnswerBase):
    """A memory that holds, though what it rests on has ended: look whether it is still right."""

    memory_id: UUID
    stale_because: list[EndedOut] = Field(description="What it rests on and what has ended since.")

    @classmethod
    def from_stale_memory(cls, stale: StaleMemory) -> Self:
        causes = [EndedOut.from_attributes(cause) for cause in stale.because]
        return cls.from_attributes(stale, stale_because=causes)


class DatedByOut(AnswerBase):
    """The words that date a memory, and the time in which it holds by them."""

    model_config = ConfigDict(serialize_by_alias=True)

    text: str = Field(description="The words that were read.")
    span: list[int] = Field(
        description="The place of the words in the content: characters from 0, the end excluded."
    )
    holds_from: Time | None = Field(
        alias="from", description="Null where the words do not say it, or the request did."
    )
    holds_until: Time | None = Field(
        alias="until", description="Null where the words do not say it, or the request did."
    )
    precision: Precision = Field(description="The unit in which the date was named.")

    @classmethod
    def from_dated_by(cls, dated_by: DatedBy | None) -> Self | None:
        if dated_by is None:
            return None
        return cls.from_attributes(dated_by, span=[dated_by.start, dated_by.end])


class MemoryOut(AnswerBase):
    """One version, with its status at the (as_of, known_at) of the read."""

    id: UUID
    chain_id: UUID
    content: str | None = Field(description="Null where it was erased.")
    kind: Kind
    status: Status
    entity: str
    category: str
    key: str | None
    value: str | None
    single_valued: bool | None
    valid_from: Time
    valid_until: Time | None
    said_until: Time | None = Field(
        description="The end that its words or its caller stated; null: none."
    )
    temporary: bool = Field(
        description="It was stored with a stated end: what it covers in its chain resumes then."
    )
    covered: list[CoverOut] = Field(
        description="The times within which temporary memories cover it, in order."
    )
    said_at: Time = Field(description="When its words were spoken, as far as a caller said so.")
    said_in: UUID | None = Field(
        description="The same on all facts that were split from one sentence; null on others."
    )
    dated_by: DatedByOut | None = Field(
        description="The words that `valid_from` or `valid_until` were read from, when stored."
    )
    retracted_at: Time | None
    created_at: Time
    erased_at: Time | None
    supersedes_id: UUID | None = Field(description="The memory that it replaced; null: none.")
    superseded_by: UUID | None
    superseded_at: Time | None = Field(
        description="When it became known that something newer replaced it."
    )
    contradicted_by: UUID | None = Field(
        description=(
            "The later memory whose claim spoke against this one: set when it was superseded, too."
        )
    )
    merged_from: list[UUID] = Field(
        description="The memories whose texts were merged into this one."
    )
    derived: DerivedSlotOut | None = Field(
        description="What the text was read to be about, where that is safe."
    )
    tier: Tier
    importance: float
    strength: float = Field(
        description=(
            "0 to 1 at `as_of`: importance, halved once per half-life since it was last said; core "
            "keeps 0.60. It never hides."
        )
    )
    access_count: int = Field(
        description="How often it was said again. A counter of now, no part of the ETag."
    )
    last_reinforced_at: Time | None = Field(
        description="When it was last said again, if that was known at `known_at`."
    )
    use_count: int = Field(
        description=(
            "In how many minutes it was answered to a search, a context or by its id. A counter of "
            "now."
        )
    )
    last_accessed_at: Time | None = Field(
        description="When it was last used so, if no later than `known_at`."
    )
    stale_because: list[EndedOut] = Field(
        description=(
            "What it rests on and what has ended since: empty, or a reason to look whether it is "
            "still right. No part of the ETag."
        )
    )
    confidence: float
    trust: int
    lifespan: Lifespan
    tags: list[str]
    entities: list[str]
    sources: list[str]
    source: str | None
    session_id: str | None
    project: str | None
    details: dict[str, Any] = Field(description="The free JSON stored with it.")
    etag: str = Field(description="For If-Match.")

    @classmethod
    def from_memory(cls, memory: Memory, as_of: datetime, half_lives: HalfLives) -> Self:
        fact, usage = memory.fact, memory.usage
        values = vars(fact) | {name: getattr(memory.belief, name) for name in _BELIEF_FIELDS}
        values |= {
            "id": memory.id,
            "chain_id": memory.chain_id,
            "status": compute_memory_status(memory, as_of),
            "strength": round(compute_strength(memory, as_of, half_lives), 6),
            "access_count": usage.access_count,
            "last_reinforced_at": usage.last_reinforced_at,
            "use_count": usage.use_count,
            "last_accessed_at": usage.last_accessed_at,
            "erased_at": memory.erased_at,
            "created_at": memory.created_at,
            "supersedes_id": memory.supersedes_id,
            "covered": CoverOut.list_from_belief(memory.belief),
            "tags": list(fact.tags),
            "entities": list(fact.entities),
            "sources": list(fact.sources),
            "merged_from": list(fact.merged_from),
            "said_at": memory.told_at,
            "dated_by": DatedByOut.from_dated_by(fact.dated_by),
            "derived": DerivedSlotOut.from_slot(fact.derived),
            "stale_because": [EndedOut.from_attributes(cause) for cause in memory.stale_because],
            "etag": format_etag(memory.revision),
        }
        if memory.erased_at:
            values["content"] = None
        return cls.from_values(values)


def format_etag(revision: int) -> str:
    """Return the ETag of a memory with this revision, quotes included."""
    return f'"{revision}"'


class ListAnswer(AnswerBase):
    __doc__ = (
        "Memories, newest known first or strongest first. All pages of one list show the same "
        "picture."
    )

    items: list[MemoryOut]
    next_cursor: str | None = Field(
        description=(
            "Send it as `cursor` for the next page; null: this page is the last. A page of a large "
            "agent may have fewer items than `limit`, or none, and others follow."
        )
    )
    as_of: Time
    known_at: Time
    strength_as_of: Time | None = Field(
        description=(
            "The order is that of the strengths at this time, which a worker counted; null: that "
            "of as_of, or the list is not sorted by strength."
        )
    )


class JointOut(AnswerBase):
    """A place at which a history goes on in another chain."""

    superseded: UUID = Field(description="The version after which it goes on elsewhere.")
    by: UUID = Field(description="The version of another chain that took its place.")


class HistoryAnswer(AnswerBase):
    __doc__ = (
        "The line of a memory, oldest first, and the operations on it: its chain, and the versions "
        "of other chains that came before or after it. All pages of one history show the same "
        "picture."
    )

    chain_id: UUID = Field(description="The chain of the memory that was asked for.")
    current: UUID | None = Field(
        description=(
            "The version that holds at as_of, on whichever page: of the memory's chain, else of "
            "those that took its place."
        )
    )
    versions: list[MemoryOut]
    joints: list[JointOut] = Field(
        description="Where versions of this page were superseded by one of another chain."
    )
    operations: list[OperationOut] = Field(
        description="The operations that made and changed these versions, oldest first."
    )
    next_cursor: str | None = Field(
        description="For `cursor`: a long history goes on there. Null on its last page."
    )
    log_archived_until: Time | None = Field(
        description=(
            "Where operations were archived since the chain began: the known time of the last. Up "
            "to then, some may be missing."
        )
    )
    as_of: Time
    known_at: Time

    @classmethod
    def from_history(cls, history: History, next_cursor: str | None, half_lives: HalfLives) -> Self:
        as_of = history.moment.as_of
        versions = [MemoryOut.from_memory(memory, as_of, half_lives) for memory in history.versions]
        return cls.model_construct(
            chain_id=history.chain_id,
            current=history.current,
            versions=versions,
            joints=[JointOut.from_attributes(joint) for joint in history.joints],
            operations=[OperationOut.from_values(row) for row in history.operations],
            next_cursor=next_cursor,
            log_archived_until=history.archived_until,
            as_of=as_of,
            known_at=history.moment.known_at,
        )
