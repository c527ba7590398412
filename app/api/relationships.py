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
from app.api.documented import BODY, WRITE, links, problems
from app.api.once import KeyedDep
from app.api.reply import reply
from app.api.schemas import MAX_LIMIT
from app.api.times import Time, format_time, parse_time
from app.domain.errors import InvalidFact, UnknownMemory
from app.domain.links import Link, LinkType
from app.services.linking import Linked
from app.store import reads
from app.store.links import AfterLink, Tied, list_links

router = APIRouter(prefix="/v1/memories", tags=["memories"])


class RelationshipOut(BaseModel):
    """A link from one memory to another."""

    model_config = ConfigDict(use_enum_values=True)

    source_id: UUID
    target_id: UUID
    type: LinkType
    created_at: Time = Field(description="The known time of the write that made it.")
    log_id: UUID | None = Field(description="The operation that made it; reverting that one removes it.")

    @classmethod
    def of(cls, tied: Tied) -> Self:
        link = tied.link
        return cls.model_construct(
            source_id=link.source, target_id=link.target, type=link.type, created_at=tied.created_at, log_id=tied.log_id
        )


class LinkRequest(BaseModel):
    """A link to another memory. It ends nothing, whatever its type: to put a memory in another's place, POST .../supersede."""

    model_config = ConfigDict(extra="forbid")

    type: LinkType = Field(description="What the memory of the path is to the target.")
    target_id: UUID = Field(description="`id` of the other memory: paste one from the answer to a store, a list or a search.")


class LinkAnswer(BaseModel):
    """The link, and the write that made it: this call, or the one that had made it before."""

    relationship: RelationshipOut
    log_id: UUID | None
    known_at: Time

    @classmethod
    def of(cls, linked: Linked) -> Self:
        tied = linked.tied
        return cls.model_construct(relationship=RelationshipOut.of(tied), log_id=tied.log_id, known_at=tied.created_at)


def _answer(linked: Linked) -> Response:
    return reply(LinkAnswer.of(linked), 201 if linked.is_new else 200)


_LEADS_TO = links("log_id", "log_id", "get_log_entry", "revert")
_LINKED: dict[int | str, dict[str, Any]] = {
    200: {"model": LinkAnswer, "description": "They were linked so before; nothing was written", "links": _LEADS_TO},
    201: {"model": LinkAnswer, "description": "The link was made", "links": _LEADS_TO},
}


@router.post("/{memory_id}/relationships", responses=_LINKED | problems(*BODY, 404, *WRITE), status_code=201, response_model=None)
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
    said = Link(memory_id, body.target_id, body.type)
    return _answer(await parts.linking.link(agent, said, request=origin, once=keyed.keeping(_answer)))


class RelationshipsAnswer(BaseModel):
    """The links of a memory in both directions, latest first. All pages of one list show the same picture."""

    items: list[RelationshipOut]
    next_cursor: str | None
    known_at: Time


class LinksQuery(BaseModel):
    """A page of links."""

    model_config = ConfigDict(extra="forbid")

    known_at: Time | None = Field(None, description="As far as was known at that time. Default: all that is known.")
    knownAt: Time | None = Field(None, description="Another name for known_at.")  # noqa: N815 - a wire name
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50
    cursor: str | None = Field(None, description="`next_cursor` of the page before.")

    @model_validator(mode="after")
    def _one_name(self) -> Self:
        if self.known_at is not None and self.knownAt is not None and self.known_at != self.knownAt:
            raise ValueError("known_at is given twice, with different times; give it once")
        return self

    def place(self) -> tuple[datetime | None, AfterLink | None]:
        """Which picture to list from, and where to go on."""
        cursor = _Cursor.decoded(self.cursor) if self.cursor else None
        return (cursor.known_at, cursor.after) if cursor else (self.known_at or self.knownAt, None)


@dataclass(frozen=True, slots=True)
class _Cursor:
    """Where a page ended, and the known time that all pages show."""

    after: AfterLink
    known_at: datetime

    def encoded(self) -> str:
        after = self.after
        raw = json.dumps([format_time(after.created_at), str(after.other_id), after.type, format_time(self.known_at)])
        return base64.urlsafe_b64encode(raw.encode()).decode()

    @classmethod
    def decoded(cls, given: str) -> Self:
        try:
            created_at, other_id, kind, known_at = json.loads(base64.urlsafe_b64decode(given.encode()))
            return cls(AfterLink(parse_time(created_at), UUID(other_id), LinkType(kind)), parse_time(known_at))
        except (ValueError, TypeError, AttributeError, RecursionError):
            raise InvalidFact("cursor: use next_cursor of the page before as it is, or leave it out to start again.") from None


@router.get("/{memory_id}/relationships", responses={200: {"model": RelationshipsAnswer}, **problems(404)}, response_model=None)
async def relationships(parts: PartsDep, agent: AgentDep, memory_id: MemoryPath, query: Annotated[LinksQuery, Query()]) -> Response:
    """What a memory is linked to, and what is linked to it, latest first."""
    known_at, after = query.place()
    async with reads.reading(parts.engine) as connection:
        page = await list_links(connection, agent, memory_id, known_at, limit=query.limit + 1, after=after)
    if page is None:
        raise UnknownMemory(memory_id)
    shown = page.tied[: query.limit]
    next_cursor = _Cursor(_end(shown[-1], memory_id), page.known_at).encoded() if len(page.tied) > query.limit else None
    items = [RelationshipOut.of(tied) for tied in shown]
    return reply(RelationshipsAnswer.model_construct(items=items, next_cursor=next_cursor, known_at=page.known_at))


def _end(tied: Tied, memory_id: UUID) -> AfterLink:
    link = tied.link
    return AfterLink(tied.created_at, link.target if link.source == memory_id else link.source, link.type)
