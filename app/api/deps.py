"""What routes are handed: the parts built at start, the agent, the key check, points in time."""

import base64
import json
import secrets
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from fastapi import Depends, Header, HTTPException, Path
from fastapi import Request as HttpRequest
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, Field, model_validator
from sqlalchemy.ext.asyncio import AsyncEngine

from app.api import examples
from app.api.schemas import MAX_LIMIT, Content, FilterFields, Sort
from app.api.times import Time, format_time, parse_time
from app.domain.agent import AgentId
from app.domain.errors import InvalidFact
from app.domain.strength import HalfLives
from app.domain.version import Moment
from app.services.context import ContextComposer
from app.services.doctor import Doctor
from app.services.erasures import Eraser
from app.services.explicit import ExplicitChanger
from app.services.idempotency import KeyLocks
from app.services.import_agent import AgentImporter
from app.services.import_history import HistoryImporter
from app.services.lifespans import LifespanEnder
from app.services.relationships import RelationshipWriter
from app.services.remember import Remember
from app.services.reverts import Reverter
from app.services.reviews import ReviewDecider
from app.services.search import Searcher
from app.services.sweep_wakeups import SweepWaker
from app.services.usage import UsageCounter
from app.settings import Settings
from app.store.memories import After, Filters, Point
from app.store.rows import CallInfo
from app.store.transfer.exports import Exports


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything a request may need, built once in `main.py`."""

    settings: Settings
    engine: AsyncEngine
    encoder: str
    remember: Remember
    explicit: ExplicitChanger
    erase: Eraser
    reverts: Reverter
    reviews: ReviewDecider
    search: Searcher
    import_history: HistoryImporter
    turns: KeyLocks
    context: ContextComposer
    half_lives: HalfLives
    import_agent: AgentImporter
    exports: Exports
    doctor: Doctor
    lifespans: LifespanEnder
    usage: UsageCounter
    sweeps: SweepWaker
    relationships: RelationshipWriter


async def get_parts(request: HttpRequest) -> Parts:
    parts: Parts = request.app.state.parts
    return parts


PartsDep = Annotated[Parts, Depends(get_parts)]

_bearer = HTTPBearer(
    auto_error=False, description="The value of PALIMPSEST_API_KEY, where one is set."
)
_key_header = APIKeyHeader(
    name="X-API-Key", auto_error=False, description="The same key, as a header of its own."
)


async def require_key(
    parts: PartsDep,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
    key: Annotated[str | None, Depends(_key_header)],
) -> None:
    """Refuses a request without the key, where one is set."""
    expected = parts.settings.api_key
    given = bearer.credentials if bearer else key
    if expected and not (given and secrets.compare_digest(given.encode(), expected.encode())):
        help_text = (
            "Send the key of this service as `Authorization: Bearer KEY` or `X-API-Key: KEY`."
        )
        raise HTTPException(401, help_text, headers={"WWW-Authenticate": "Bearer"})


async def get_agent(
    agent: Annotated[
        str,
        Header(
            alias="X-Agent-Id",
            pattern=r"^[\x21-\x7e]{1,128}$",
            description="Whose memory this is about: 1 to 128 printable ASCII characters.",
        ),
    ] = "default",
) -> AgentId:
    return AgentId(agent)


AgentDep = Annotated[AgentId, Depends(get_agent)]

MemoryPath = Annotated[
    UUID,
    Path(description="`id` of a memory: paste one from the answer to a store, a list or a search."),
]


async def get_origin(request: HttpRequest) -> CallInfo:
    """What the log says about this call."""
    return CallInfo(request_id=request.scope["request_id"])


OriginDep = Annotated[CallInfo, Depends(get_origin)]


async def get_expected(
    if_match: Annotated[
        str | None,
        Header(
            alias="If-Match",
            description="ETag of the version this call was decided on; 412 when it has changed.",
        ),
    ] = None,
) -> int | None:
    """The revision in If-Match; None without one, or for `*`."""
    if if_match is None or if_match.strip() == "*":
        return None
    given = if_match.strip().removeprefix("W/").strip('"')
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else -1


ExpectedDep = Annotated[int | None, Depends(get_expected)]


class PointQuery(BaseModel):
    """Where a read asks on both axes."""

    model_config = ConfigDict(extra="forbid")

    as_of: Time | None = Field(None, description="What was true at that time. Default: now.")
    known_at: Time | None = Field(
        None, description="As far as was known at that time. Default: all that is known."
    )
    asOf: Time | None = Field(None, description="Another name for as_of.")
    knownAt: Time | None = Field(None, description="Another name for known_at.")

    @model_validator(mode="after")
    def _one_name(self) -> Self:
        for one, other, name in (
            (self.as_of, self.asOf, "as_of"),
            (self.known_at, self.knownAt, "known_at"),
        ):
            if one is not None and other is not None and one != other:
                raise ValueError(f"{name} is given twice, with different times; give it once")
        return self

    def to_point(self, *, include_superseded: bool = False) -> Point:
        return Point(self.as_of or self.asOf, self.known_at or self.knownAt, include_superseded)


class FilterQuery(PointQuery, FilterFields):
    """What a list or a search by GET asks."""

    include_superseded: bool = Field(
        default=False, description="Every version, not only what holds."
    )
    includeSuperseded: bool = Field(
        default=False, description="Another name for include_superseded."
    )

    def to_requested_point(self) -> Point:
        return self.to_point(include_superseded=self.include_superseded or self.includeSuperseded)


class ListQuery(FilterQuery):
    """A page of a list."""

    sort: Literal["created", "strength"] = Field(
        "created", description="Newest known first, or strongest first."
    )
    stale: bool | None = Field(
        None,
        description="true: only what rests on a memory that has ended (`stale_because`); false: the others.",
    )
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50
    cursor: str | None = Field(
        None, description="`next_cursor` of the page before; filters and `sort` must stay the same."
    )

    def to_filters(self) -> Filters:
        return replace(super().to_filters(), stale=self.stale)


class SearchQuery(FilterQuery):
    """A search by GET."""

    q: Annotated[
        Content, Field(description="What to search for.", json_schema_extra=examples.QUESTION)
    ]
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 10
    mode: Literal["hybrid", "vector", "text"] = "hybrid"
    min_score: Annotated[float, Field(allow_inf_nan=False)] | None = None
    sort: Sort = "score"


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page ended and which picture the list shows, so that all its pages show the same one."""

    after: After
    moment: Moment | None

    def encode(self) -> str:
        times = [
            self.after.created_at,
            *([self.moment.as_of, self.moment.known_at] if self.moment else []),
        ]
        raw = json.dumps([str(self.after.memory_id), self.after.strength, *map(format_time, times)])
        return base64.urlsafe_b64encode(raw.encode()).decode()

    @classmethod
    def decode(cls, text: str) -> "Cursor":
        try:
            parts: list[Any] = json.loads(base64.urlsafe_b64decode(text.encode()))
            memory_id, strength = UUID(parts[0]), None if parts[1] is None else float(parts[1])
            created_at, *moment = map(_cursor_time, parts[2:])
            return cls(After(created_at, memory_id, strength), Moment(*moment) if moment else None)
        except (ValueError, TypeError, IndexError, KeyError, AttributeError, RecursionError):
            raise InvalidFact(
                "cursor: use next_cursor of the page before as it is, or leave it out to start again."
            ) from None


def _cursor_time(value: Any) -> datetime:
    return parse_time(value)
