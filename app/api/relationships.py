"""Links between memories: what rests on what."""

import base64
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from fastapi import APIRouter, Body, Query
from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.responses import Response

from app.api import examples
from app.api.deps import AgentDep, MemoryPath, OriginDep, PartsDep
from app.api.documented import BODY, WRITE, document_links, document_problems
from app.api.idempotency import KeyedDep
from app.api.reply import respond_with_answer
from app.api.schemas import MAX_LIMIT
from app.api.times import Time, format_time, parse_time
from app.domain.errors import InvalidFact, UnknownMemory
from app.domain.relationship import LinkType, Relationship
from app.services.relationships import RelationshipOutcome
from app.store import memories
from app.store.relationships import AfterRelationship, StoredRelationship, list_relationships

router = APIRouter(prefix="/v1/memories", tags=["memories"])


class RelationshipOut(BaseModel):
    """A link from one memory to another."""

    model_config = ConfigDict(use_enum_values=True)

    source_id: UUID
    target_id: UUID
    type: LinkType
    created_at: Time = Field(description="The known time of the write that made it.")
    log_id: UUID | None = Field(
        description="The operation that made it; reverting that one removes it."
    )

    @classmethod
    def from_relationship(cls, relationship: StoredRelationship) -> Self:
        link = relationship.link
        return cls.model_construct(
            source_id=link.source,
            target_id=link.target,
            type=link.type,
            created_at=relationship.created_at,
            log_id=relationship.log_id,
        )


class LinkRequest(BaseModel):
    """A link to another memory. It ends nothing, whatever its type: to put a memory in another's place, POST .../supersede."""

    model_config = ConfigDict(extra="forbid")

    type: LinkType = Field(description="What the memory of the path is to the target.")
    target_id: UUID = Field(
        description="`id` of the other memory: paste one from the answer to a store, a list or a search."
    )


class LinkAnswer(BaseModel):
    """The link, and the write that made it: this call, or the one that had made it before."""

    relationship: RelationshipOut
    log_id: UUID | None
    known_at: Time

    @classmethod
    def from_result(cls, linked: RelationshipOutcome) -> Self:
        tied = linked.relationship
        return cls.model_construct(
            relationship=RelationshipOut.from_relationship(tied),
            log_id=tied.log_id,
            known_at=tied.created_at,
        )


def _render_answer(linked: RelationshipOutcome) -> Response:
    return respond_with_answer(LinkAnswer.from_result(linked), 201 if linked.is_new else 200)


_LEADS_TO = document_links("log_id", "log_id", "get_log_entry", "revert")
_LINKED: dict[int | str, dict[str, Any]] = {
    200: {
        "model": LinkAnswer,
        "description": "They were linked so before; nothing was written",
        "links": _LEADS_TO,
    },
    201: {"model": LinkAnswer, "description": "The link was made", "links": _LEADS_TO},
}


@router.post(
    "/{memory_id}/relationships",
    responses=_LINKED | document_problems(*BODY, 404, *WRITE),
    status_code=201,
    response_model=None,
)
async def link(
    parts: PartsDep,
    agent: AgentDep,
    origin: OriginDep,
    keyed: KeyedDep,
    memory_id: MemoryPath,
    body: Annotated[LinkRequest, Body(openapi_examples=examples.LINK)],
) -> Response:
    """Say what a memory is to another. Nothing ends by it. When one of the two ends later, the other says so in `stale_because`, where
    the type is one of merged_into, expands, sequential, causes, enables, references."""
    said = Relationship(memory_id, body.target_id, body.type)
    return _render_answer(
        await parts.relationships.add_relationship(
            agent, said, request=origin, idempotency=keyed.plan_replay(_render_answer)
        )
    )


class RelationshipsAnswer(BaseModel):
    """The links of a memory in both directions, latest first. All pages of one list show the same picture."""

    items: list[RelationshipOut]
    next_cursor: str | None
    known_at: Time


class LinksQuery(BaseModel):
    """A page of links."""

    model_config = ConfigDict(extra="forbid")

    known_at: Time | None = Field(
        None, description="As far as was known at that time. Default: all that is known."
    )
    knownAt: Time | None = Field(None, description="Another name for known_at.")  # noqa: N815 - a wire name
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50
    cursor: str | None = Field(None, description="`next_cursor` of the page before.")

    @model_validator(mode="after")
    def _one_name(self) -> Self:
        if self.known_at is not None and self.knownAt is not None and self.known_at != self.knownAt:
            raise ValueError("known_at is given twice, with different times; give it once")
        return self

    def locate_page(self) -> tuple[datetime | None, AfterRelationship | None]:
        """Which picture to list from, and where to go on."""
        cursor = _RelationshipCursor.decode(self.cursor) if self.cursor else None
        return (cursor.known_at, cursor.after) if cursor else (self.known_at or self.knownAt, None)


@dataclass(frozen=True, slots=True)
class _RelationshipCursor:
    """Where a page ended, and the known time that all pages show."""

    after: AfterRelationship
    known_at: datetime

    def encode(self) -> str:
        after = self.after
        raw = json.dumps(
            [
                format_time(after.created_at),
                str(after.other_id),
                after.type,
                format_time(self.known_at),
            ]
        )
        return base64.urlsafe_b64encode(raw.encode()).decode()

    @classmethod
    def decode(cls, text: str) -> Self:
        try:
            created_at, other_id, kind, known_at = json.loads(
                base64.urlsafe_b64decode(text.encode())
            )
            return cls(
                AfterRelationship(parse_time(created_at), UUID(other_id), LinkType(kind)),
                parse_time(known_at),
            )
        except (ValueError, TypeError, AttributeError, RecursionError):
            raise InvalidFact(
                "cursor: use next_cursor of the page before as it is, or leave it out to start again."
            ) from None


@router.get(
    "/{memory_id}/relationships",
    responses={200: {"model": RelationshipsAnswer}, **document_problems(404)},
    response_model=None,
)
async def relationships(
    parts: PartsDep, agent: AgentDep, memory_id: MemoryPath, query: Annotated[LinksQuery, Query()]
) -> Response:
    """What a memory is linked to, and what is linked to it, latest first."""
    known_at, after = query.locate_page()
    async with memories.open_read_connection(parts.engine) as connection:
        page = await list_relationships(
            connection, agent, memory_id, known_at, limit=query.limit + 1, after=after
        )
    if page is None:
        raise UnknownMemory(memory_id)
    shown = page.relationships[: query.limit]
    next_cursor = (
        _RelationshipCursor(_position_after(shown[-1], memory_id), page.known_at).encode()
        if len(page.relationships) > query.limit
        else None
    )
    items = [RelationshipOut.from_relationship(tied) for tied in shown]
    return respond_with_answer(
        RelationshipsAnswer.model_construct(
            items=items, next_cursor=next_cursor, known_at=page.known_at
        )
    )


def _position_after(relationship: StoredRelationship, memory_id: UUID) -> AfterRelationship:
    link = relationship.link
    return AfterRelationship(
        relationship.created_at, link.target if link.source == memory_id else link.source, link.type
    )
