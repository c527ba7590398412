"""Requests that store, correct and end memories."""

from datetime import UTC, tzinfo
from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import ConfigDict, Field, StrictBool, WithJsonSchema, model_validator

from app.api.schemas.fields import (
    DETAILS,
    MAX_ITEMS,
    Content,
    Details,
    Fraction,
    MemoryIds,
    Number,
    OptionalWord,
    Splitting,
    StrictRequest,
    Word,
    Words,
    build_from_fields,
    is_contradiction,
)
from app.api.times import SpokenTime, Time
from app.api.views import VIEW_DESCRIPTION, View
from app.domain.dates.zones import find_offset
from app.domain.fact import Fact, Kind, Lifespan, Tier
from app.domain.relation import Classify
from app.services.classify import StoreCommand
from app.store.columns import NULLABLE_PATCHABLE, Filters


def _restrict_nulls(schema: dict[str, Any]) -> None:
    """State in the schema of a correction that one field is needed, and which may be null."""
    schema["minProperties"] = 1
    for name, field in schema["properties"].items():
        if name not in _NULLABLE:
            field["anyOf"].remove({"type": "null"})


class FactFields(StrictRequest):
    """The fields of a fact that a request may set. A field that is left out stays unsaid."""

    content: Content
    kind: Kind | None = Field(None, description="Default `fact`.")
    entity: Word | None = Field(None, description="Who or what it is about. Default `user`.")
    category: OptionalWord | None = None
    key: Word | None = Field(
        None,
        description=(
            "Which attribute. A key holds one value at a time unless `single_valued` is false."
        ),
    )
    value: Content | None = None
    single_valued: StrictBool | None = None
    details: Details = Field(
        default_factory=dict,
        description=f"{DETAILS} Of a decision: rationale, alternatives, related_files.",
    )
    tier: Tier | None = None
    importance: Annotated[Fraction, Number] | None = Field(None, description="0 to 1. Default 0.5.")
    confidence: Annotated[Fraction, Number] | None = Field(None, description="0 to 1. Default 1.")
    tags: Words = Field(default_factory=list)
    entities: Words = Field(default_factory=list)
    sources: Words = Field(default_factory=list)
    source: Word | None = None
    session_id: Word | None = None
    project: Word | None = Field(None, description="The project it belongs to, by name.")
    trust: Annotated[int, Field(ge=0, le=100), Number] | None = Field(
        None, description="0 to 100. Default 50."
    )
    lifespan: Lifespan | None = Field(
        None,
        description=(
            "Whether it ends with its session or with its project. Default `permanent`: with "
            "neither."
        ),
    )
    said_at: SpokenTime | None = Field(
        None,
        description="When the words were spoken. Relative dates count from it. Default: now.",
    )
    valid_from: Time | None = Field(
        None,
        description=(
            "When it became true in the world. Default: what its words say, else `said_at`."
        ),
    )
    source_date: Time | None = Field(None, description="Another name for `valid_from`.")
    valid_until: Time | None = Field(None, description="A stated end. Default: what its words say.")

    @model_validator(mode="after")
    def _check_times(self) -> Self:
        if is_contradiction(self.valid_from, self.source_date):
            raise ValueError("valid_from and source_date say the same thing; give one of them")
        start = self.valid_from or self.source_date
        if start is not None and self.valid_until is not None and self.valid_until <= start:
            raise ValueError("valid_until must lie after valid_from")
        return self

    @property
    def zone(self) -> tzinfo | None:
        """The zone in which the words were spoken, if the offset of `said_at` says one."""
        return find_offset(self.said_at)

    def to_fact(self) -> Fact:
        said_at = self.said_at and self.said_at.astimezone(UTC)
        start = self.valid_from or self.source_date
        return build_from_fields(Fact, self, valid_from=start, said_at=said_at)


READ_DATES = (
    "Whether the words are read for dates, which set `valid_from` and `valid_until` if the request "
    "does not. Default: true, but false with `classify: false`."
)


class StoreRequest(FactFields):
    """A fact to store."""

    supersedes: MemoryIds | None = Field(
        None, description="The memory, or memories, that it replaces."
    )
    classify: StrictBool | Classify | None = Field(
        None,
        description=(
            "Which judges are asked; false: none but exact-duplicate detection; true or left out: "
            "as configured."
        ),
    )
    read_dates: StrictBool | None = Field(None, description=READ_DATES)
    split: Splitting = Field(
        "off",
        description=(
            "auto: a text of several facts is stored as its parts, each a fact with the other "
            "fields of the request, and all with one `said_in`. With `key`, `value` or "
            "`supersedes` it stays whole."
        ),
    )
    dry_run: StrictBool = Field(
        False, description="true: answer with what would be done and write nothing."
    )

    def to_command(self) -> StoreCommand:
        # None: the settings decide.
        judges = self.classify if isinstance(self.classify, Classify) else None
        if self.classify is False:
            judges = Classify.OFF
        reads_dates = judges is not Classify.OFF if self.read_dates is None else self.read_dates
        return StoreCommand(
            self.to_fact(),
            tuple(self.supersedes or ()),
            classify=judges,
            reads_dates=reads_dates,
            zone=self.zone,
            splits=self.split == "auto",
        )


class BatchRequest(StrictRequest):
    __doc__ = (
        "Facts to store in order. Each item is a store request; one that cannot be stored fails "
        "alone unless `atomic`. An item takes no `dry_run`."
    )

    items: Annotated[
        list[
            Annotated[
                Any,
                WithJsonSchema({"$ref": "#/components/schemas/StoreRequest"}),
            ]
        ],
        Field(min_length=1, max_length=MAX_ITEMS),
    ]
    atomic: StrictBool = False
    history: StrictBool = Field(
        False,
        description=(
            "The items are a history that the caller vouches for: judges may end as many memories "
            "as they find, and these endings do not count against "
            "`PALIMPSEST_MAX_CLOSURES_PER_HOUR`. The key needs a trust ceiling of 100."
        ),
    )


class SupersedeRequest(FactFields):
    """What takes a memory's place: new `content`, or `by` alone, the id of a stored memory."""

    content: Content | None = None  # type: ignore[assignment]  # here it may be left out, for `by`
    by: UUID | None = Field(
        None,
        description="The id of a stored memory that takes its place, instead of new `content`.",
    )
    read_dates: StrictBool = Field(
        True,
        description=(
            "Whether the words are read for dates, which set `valid_from` and `valid_until` if the "
            "request does not."
        ),
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.content is None) == (self.by is None):
            raise ValueError("give either content, or by with the id of a stored memory")
        if self.by is not None and self.model_fields_set - {"by"}:
            raise ValueError("with by, nothing else is taken: a stored memory stays as it is")
        return self


# Fields of a correction that change the belief, with the names that they have there.
_BELIEF_NAMES = {"valid_from": "valid_from", "valid_until": "said_until", "tier": "tier"}


# Fields of a correction that null empties.
_NULLABLE = {"valid_until", *NULLABLE_PATCHABLE}


class PatchRequest(StrictRequest):
    __doc__ = (
        "Corrections. What is left out stays; `valid_until: null` opens the stated end. Content is "
        "never changed: supersede it."
    )

    model_config = ConfigDict(json_schema_extra=_restrict_nulls)

    valid_from: Time | None = None
    valid_until: Time | None = None
    tier: Tier | None = None
    importance: Annotated[Fraction, Number] | None = None
    confidence: Annotated[Fraction, Number] | None = None
    tags: Words | None = None
    entities: Words | None = None
    sources: Words | None = None
    source: Word | None = None
    session_id: Word | None = None
    project: Word | None = None
    trust: Annotated[int, Field(ge=0, le=100), Number] | None = None
    lifespan: Lifespan | None = None
    details: Details | None = Field(None, description=DETAILS)

    @model_validator(mode="after")
    def _require_correction(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("name at least one field to correct")
        for name in self.model_fields_set - _NULLABLE:
            if getattr(self, name) is None:
                raise ValueError(f"{name} cannot be null")
        return self

    def to_corrections(self) -> dict[str, Any]:
        """Return what the request corrects of the belief, by the names of the belief."""
        corrections = {}
        for name in _BELIEF_NAMES.keys() & self.model_fields_set:
            corrections[_BELIEF_NAMES[name]] = getattr(self, name)
        return corrections

    def to_metadata(self) -> dict[str, Any]:
        """Return what the request corrects besides the belief."""
        names = self.model_fields_set - _BELIEF_NAMES.keys()
        return {name: getattr(self, name) for name in names}


class FilterFields(StrictRequest):
    """The filters of a list or a search. Words of the slot compare trimmed and case folded."""

    kind: Kind | None = None
    entity: Word | None = None
    category: OptionalWord | None = None
    key: Word | None = None
    session_id: Word | None = None
    project: Word | None = None
    said_in: UUID | None = Field(None, description="The facts that were split from one sentence.")
    tags_any: Words = Field(default_factory=list)
    tags_all: Words = Field(default_factory=list)
    min_importance: Fraction | None = None

    def to_filters(self) -> Filters:
        return build_from_fields(Filters, self)


class RetractRequest(StrictRequest):
    """How a memory ends without a successor: `at` a time, or as `never_true`."""

    at: Time | None = Field(default=None, description="When it stopped being true. Default: now.")
    reason: Content | None = None
    never_true: StrictBool = Field(
        default=False, description="true: it was never true; what it replaced holds again."
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.at is not None and self.never_true:
            raise ValueError("what was never true has no end: give at or never_true, not both")
        return self


class DeleteQuery(StrictRequest):
    """The parameters of a DELETE of a memory."""

    erase: bool = Field(
        default=False,
        description="true: erase its text, vector and hashes everywhere. This cannot be undone.",
    )
    cascade: bool = Field(
        default=False, description="With erase: erase also what its text was merged into."
    )
    view: View = Field(View.FULL, description=VIEW_DESCRIPTION)
