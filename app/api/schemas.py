"""What requests may say: the wire names of everything that comes in, and its bounds. What goes out is in `answers`."""

import math
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from app.api.times import Time
from app.domain.fact import Fact, Kind, Lifespan, Tier
from app.domain.relation import Classify, Judge, Operation
from app.domain.text import is_storable
from app.store.log.reverts import Selection
from app.store.memories import Filters, Point

MAX_CONTENT = 16_000
MAX_ITEMS = 1_000
MAX_LIST = 100
MAX_DETAILS_DEPTH = 8
MAX_DETAILS_SIZE = 2_000
MAX_LIMIT = 1_000


def _check_text(text: str) -> str:
    if not is_storable(text):
        raise ValueError("must not contain NUL characters or lone surrogates")
    return text


def _check_details(details: dict[str, Any]) -> dict[str, Any]:
    """Bounded in depth and size, and nothing in it that Postgres cannot hold."""
    remaining = MAX_DETAILS_SIZE
    layer: list[tuple[int, Any]] = [(1, details)]
    while layer:
        depth, value = layer.pop()
        remaining -= 1
        if depth > MAX_DETAILS_DEPTH or remaining < 0:
            raise ValueError(
                f"must hold at most {MAX_DETAILS_SIZE} values, nested at most {MAX_DETAILS_DEPTH} deep"
            )
        if isinstance(value, str):
            _check_detail_text(value)
        elif isinstance(value, float) and not math.isfinite(value):
            raise ValueError("must not contain NaN or Infinity")
        elif isinstance(value, int) and abs(value) >= 10**30:
            raise ValueError("must not contain integers of more than 30 digits")
        elif isinstance(value, dict):
            for name in value:
                _check_detail_text(name)
            layer += [(depth + 1, inner) for inner in value.values()]
        elif isinstance(value, list):
            layer += [(depth + 1, inner) for inner in value]
    return details


def _check_number(value: Any) -> Any:
    if isinstance(value, bool | str):
        raise ValueError("must be a number")  # noqa: TRY004 - pydantic tells a ValueError to the caller
    return value


def _check_detail_text(text: str) -> None:
    _check_text(text)
    if len(text) > MAX_CONTENT:
        raise ValueError(f"must not contain texts of more than {MAX_CONTENT} characters")


# What the document says of texts: no NUL; where one must say something, a character that is not trimmed away.
_TEXT = {"pattern": r"^[^\u0000]*$"}
_SAYING = {"pattern": r"^[^\u0000]*[^\s\u0000][^\u0000]*$"}

Content = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_CONTENT),
    AfterValidator(_check_text),
    Field(json_schema_extra=_SAYING),
]
Word = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=500),
    AfterValidator(_check_text),
    Field(json_schema_extra=_SAYING),
]
OptionalWord = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=500),
    AfterValidator(_check_text),
    Field(json_schema_extra=_TEXT),
]
Words = Annotated[list[Word], Field(max_length=MAX_LIST)]
Details = Annotated[dict[str, Any], AfterValidator(_check_details)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Number = BeforeValidator(_check_number)  # for bodies; in a query everything is text

DETAILS = (
    f"Free JSON: at most {MAX_DETAILS_SIZE} values, nested at most {MAX_DETAILS_DEPTH} deep, with integers of at most 30 digits "
    f"and texts of at most {MAX_CONTENT} characters, none of them NUL."
)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


def _schema_requiring(name: str) -> dict[str, Any]:
    """In the document: an object in which that field says something."""
    return {"required": [name], "properties": {name: {"not": {"type": "null"}}}}


def _no_null_but_in(*nullable: str) -> Callable[[dict[str, Any]], None]:
    """In the document: at least one field is needed, and only these may be null."""

    def restrict_nulls(schema: dict[str, Any]) -> None:
        schema["minProperties"] = 1
        for name, field in schema["properties"].items():
            if name not in nullable:
                field["anyOf"].remove({"type": "null"})

    return restrict_nulls


class _FactFields(_Strict):
    """What can be said of a fact; left out = not said."""

    content: Content
    kind: Kind | None = Field(None, description="Default `fact`.")
    entity: Word | None = Field(None, description="Who or what it is about. Default `user`.")
    category: OptionalWord | None = None
    key: Word | None = Field(
        None,
        description="Which attribute. A key holds one value at a time unless `single_valued` is false.",
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
        description="Whether it ends with its session or with its project. Default `permanent`: with neither.",
    )
    valid_from: Time | None = Field(
        None, description="When it became true in the world. Default: now."
    )
    source_date: Time | None = Field(None, description="Another name for `valid_from`.")
    valid_until: Time | None = Field(None, description="A stated end.")

    @model_validator(mode="after")
    def _check_times(self) -> Self:
        if (
            self.valid_from is not None
            and self.source_date is not None
            and self.valid_from != self.source_date
        ):
            raise ValueError("valid_from and source_date say the same thing; give one of them")
        start = self.valid_from or self.source_date
        if start is not None and self.valid_until is not None and self.valid_until <= start:
            raise ValueError("valid_until must lie after valid_from")
        return self

    def to_fact(self) -> Fact:
        return Fact(
            content=self.content,
            kind=self.kind,
            entity=self.entity,
            category=self.category,
            key=self.key,
            value=self.value,
            single_valued=self.single_valued,
            details=self.details,
            tier=self.tier,
            importance=self.importance,
            confidence=self.confidence,
            tags=tuple(dict.fromkeys(self.tags)),
            entities=tuple(dict.fromkeys(self.entities)),
            sources=tuple(dict.fromkeys(self.sources)),
            source=self.source,
            session_id=self.session_id,
            project=self.project,
            trust=self.trust,
            lifespan=self.lifespan,
            valid_from=self.valid_from or self.source_date,
            valid_until=self.valid_until,
        )


class StoreRequest(_FactFields):
    """A fact to store."""

    supersedes: UUID | Annotated[list[UUID], Field(min_length=1, max_length=MAX_LIST)] | None = (
        Field(None, description="The memory, or memories, that it replaces.")
    )
    classify: StrictBool | Classify | None = Field(
        None,
        description="Which judges are asked; false: none but exact-duplicate detection; true or left out: as configured.",
    )
    dry_run: StrictBool = Field(
        False, description="true: answer with what would be done and write nothing."
    )

    @property
    def judges(self) -> Classify | None:
        if isinstance(self.classify, bool):
            return None if self.classify else Classify.OFF
        return self.classify

    @property
    def superseded_ids(self) -> tuple[UUID, ...]:
        if self.supersedes is None:
            return ()
        return tuple(self.supersedes) if isinstance(self.supersedes, list) else (self.supersedes,)


class ImportLine(_FactFields):
    """One line of an import: one version, never deduplicated."""

    type: Literal["memory"] = "memory"
    created_at: Time | None = Field(None, description="When it became known. Default: now.")
    client_ref: (
        Annotated[str, StringConstraints(max_length=500), AfterValidator(_check_text)]
        | StrictInt
        | None
    ) = Field(None, description="Echoed beside the new id.")


class BatchRequest(_Strict):
    """Facts to store in order. Each item is a store request; one that cannot be stored fails alone unless `atomic`."""

    items: Annotated[
        list[
            Annotated[
                Any,
                WithJsonSchema(
                    {
                        "$ref": "#/components/schemas/StoreRequest",
                        "properties": {"dry_run": {"const": False}},
                    }
                ),
            ]
        ],
        Field(min_length=1, max_length=MAX_ITEMS),
    ]
    atomic: StrictBool = False


class SupersedeRequest(_FactFields):
    """What takes a memory's place: new `content`, or `by` the id of a stored memory."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [_schema_requiring("content"), _schema_requiring("by") | {"maxProperties": 1}]
        }
    )

    content: Content | None = None  # type: ignore[assignment]  # here it may be left out, for `by`
    by: UUID | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.content is None) == (self.by is None):
            raise ValueError("give either content, or by with the id of a stored memory")
        if self.by is not None and self.model_fields_set - {"by"}:
            raise ValueError("with by, nothing else is taken: a stored memory stays as it is")
        return self


class RetractRequest(_Strict):
    """How a memory ends without a successor."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"properties": {"at": {"type": "null"}}},
                {"properties": {"never_true": {"const": False}}},
            ]
        }
    )

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


class DeleteQuery(_Strict):
    """How DELETE ends a memory."""

    erase: bool = Field(
        default=False,
        description="true: erase its text, vector and hashes everywhere. This cannot be undone.",
    )
    cascade: bool = Field(
        default=False, description="With erase: erase also what its text was merged into."
    )


class ErasureRequest(_Strict):
    """What to erase: exactly one of a chain, a session, the agent."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                _schema_requiring("chain_id"),
                _schema_requiring("session_id"),
                _schema_requiring("agent_id"),
            ]
        }
    )

    chain_id: UUID | None = Field(
        None, description="A fact with all its versions: the id of its chain, or of any version."
    )
    session_id: Word | None = Field(None, description="All that was said in a session.")
    agent_id: Word | None = Field(
        None, description="Everything of this agent: repeat its id to confirm."
    )
    cascade: StrictBool = Field(False, description="Erase also what the texts were merged into.")

    @model_validator(mode="after")
    def _one_scope(self) -> Self:
        if sum(scope is not None for scope in (self.chain_id, self.session_id, self.agent_id)) != 1:
            raise ValueError("name exactly one of chain_id, session_id, agent_id")
        return self


class RevertRequest(_Strict):
    """How an operation is undone."""

    cascade: StrictBool = Field(
        default=False, description="Undo first what was built on it; without this, 409 lists that."
    )
    store: StrictBool = Field(
        default=False,
        description="Of a NOOP or DELETE: store what was said as a memory of its own too.",
    )


class RevertsRequest(_Strict):
    """Which operations to undo, all criteria together; those that were undone before are left out."""

    model_config = ConfigDict(
        json_schema_extra=lambda schema: schema.update(
            anyOf=[
                _schema_requiring(name) for name in (*Selection.__dataclass_fields__, "sweep_id")
            ]
        )
    )

    operation: Operation | None = None
    sweep_id: UUID | None = Field(None, description="What a sweep did.")
    request_id: Word | None = Field(
        None, description="X-Request-Id of the call that did them: a batch, an import."
    )
    session_id: Word | None = None
    source: Word | None = Field(None, description="`source` of the facts that were sent.")
    decided_by: Judge | None = Field(None, description="Which judge decided.")
    since: Time | None = None
    until: Time | None = None
    cascade: StrictBool = Field(
        False, description="Undo also what was built on them; without this, 409 lists that."
    )
    dry_run: StrictBool = Field(
        False, description="true: answer with what would be undone and write nothing."
    )

    @model_validator(mode="after")
    def _require_criterion(self) -> Self:
        if all(
            getattr(self, name) is None for name in (*Selection.__dataclass_fields__, "sweep_id")
        ):  # null says nothing
            raise ValueError("name at least one criterion, such as request_id or since")
        if self.sweep_id and self.request_id:
            raise ValueError(
                "give request_id or sweep_id: operations of a sweep carry its id as their request_id"
            )
        return self

    def to_selection(self) -> Selection:
        given = {name: getattr(self, name) for name in Selection.__dataclass_fields__}
        return Selection(**given | ({"request_id": str(self.sweep_id)} if self.sweep_id else {}))


class PatchRequest(_Strict):
    """Corrections. What is left out stays; `valid_until: null` opens the stated end. Content is never changed: supersede it."""

    model_config = ConfigDict(
        json_schema_extra=_no_null_but_in("valid_until", "source", "session_id", "project")
    )

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
        nullable = {"valid_until", "source", "session_id", "project"}
        if empty := [
            name for name in self.model_fields_set - nullable if getattr(self, name) is None
        ]:
            raise ValueError(f"{empty[0]} cannot be null")
        return self

    def to_corrections(self) -> dict[str, Any]:
        """What it corrects of the belief."""
        names = {"valid_from": "valid_from", "valid_until": "said_until", "tier": "tier"}
        return {names[name]: getattr(self, name) for name in names.keys() & self.model_fields_set}

    def to_metadata(self) -> dict[str, Any]:
        """What it corrects beside the belief."""
        return {
            name: getattr(self, name)
            for name in self.model_fields_set - {"valid_from", "valid_until", "tier"}
        }


class FilterFields(_Strict):
    """What a list or a search is narrowed to. Words of the slot compare trimmed and case folded."""

    kind: Kind | None = None
    entity: Word | None = None
    category: OptionalWord | None = None
    key: Word | None = None
    session_id: Word | None = None
    project: Word | None = None
    tags_any: Words = Field(default_factory=list)
    tags_all: Words = Field(default_factory=list)
    min_importance: Fraction | None = None

    def to_filters(self) -> Filters:
        return Filters(
            kind=self.kind,
            entity=self.entity,
            category=self.category,
            key=self.key,
            session_id=self.session_id,
            project=self.project,
            tags_any=tuple(self.tags_any),
            tags_all=tuple(self.tags_all),
            min_importance=self.min_importance,
        )


Sort = Annotated[
    Literal["score", "strength"],
    Field(
        description="Order of the memories found: best match first, or strongest first. It never hides one."
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
