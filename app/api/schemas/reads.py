"""Requests that read memories: points in time, filters, lists, searches."""

from dataclasses import replace
from typing import Annotated, Literal, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StrictBool, model_validator

from app.api import examples
from app.api.schemas.fields import MAX_LIMIT, Content, Fraction, Number, Word
from app.api.schemas.memories import FilterFields
from app.api.times import Time
from app.store.columns import Filters
from app.store.memories import Point


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
        description=(
            "true: only what rests on a memory that has ended (`stale_because`); false: the others."
        ),
    )
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50
    cursor: str | None = Field(
        None, description="`next_cursor` of the page before; filters and `sort` must stay the same."
    )

    def to_filters(self) -> Filters:
        return replace(super().to_filters(), stale=self.stale)


Sort = Annotated[
    Literal["score", "strength"],
    Field(
        description=(
            "Order of the memories found: best match first, or strongest first. It never hides one."
        )
    ),
]


class SearchRequest(FilterFields):
    """A search. Without dates: what holds now, as far as is known."""

    query: Content
    min_importance: Annotated[Fraction, Number] | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT), Number] = 10
    mode: Literal["hybrid", "vector", "text"] = "hybrid"
    min_score: Annotated[float, Field(allow_inf_nan=False), Number] | None = Field(
        None, description="Leave out results that score lower."
    )
    sort: Sort = "score"
    as_of: Time | None = Field(
        None,
        validation_alias=AliasChoices("as_of", "asOf"),
        description="What was true at that time.",
    )
    known_at: Time | None = Field(
        None,
        validation_alias=AliasChoices("known_at", "knownAt"),
        description="As far as was known at that time.",
    )
    include_superseded: StrictBool = Field(
        default=False,
        validation_alias=AliasChoices("include_superseded", "includeSuperseded"),
        description="Search every version, not only what holds.",
    )

    def to_point(self) -> Point:
        return Point(self.as_of, self.known_at, self.include_superseded)


class SearchQuery(FilterQuery):
    """A search by GET."""

    q: Annotated[
        Content, Field(description="What to search for.", json_schema_extra=examples.QUESTION)
    ]
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 10
    mode: Literal["hybrid", "vector", "text"] = "hybrid"
    min_score: Annotated[float, Field(allow_inf_nan=False)] | None = None
    sort: Sort = "score"


class PreferenceQuery(PointQuery):
    """Whose preference, and when."""

    entity: Word = "user"


MAX_BUDGET = 32_000


class ContextQuery(PointQuery, FilterFields):
    """What the context is for, and how long it may be."""

    query: Content | None = Field(
        None,
        description="What the prompt is about; without it, the strongest memories come first.",
        json_schema_extra=examples.QUESTION,
    )
    budget_tokens: Annotated[int, Field(ge=1, le=MAX_BUDGET)] = Field(
        1000,
        description=(
            "Tokens that the text may take, headings included, by an estimate that is right to "
            "about a tenth."
        ),
    )
