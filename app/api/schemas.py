"""The words on the wire: what requests may say and what answers look like."""

import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)
from sqlalchemy.engine import RowMapping

from app.api.times import Time
from app.domain.memory import Fact, Kind, Lifespan, Memory, Operation, Status, Tier
from app.domain.relation import Asked, Classify, Decision, Finding, Relation
from app.domain.text import storable
from app.domain.time import status
from app.services.remember import Candidate, Outcome
from app.store.reads import Filters, Hit, Point

MAX_CONTENT = 16_000
MAX_ITEMS = 1_000
MAX_LIST = 100
MAX_DETAILS_DEPTH = 8
MAX_DETAILS_SIZE = 2_000
MAX_LIMIT = 1_000


def _check_text(text: str) -> str:
    if not storable(text):
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
            raise ValueError(f"must hold at most {MAX_DETAILS_SIZE} values, nested at most {MAX_DETAILS_DEPTH} deep")
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


def _check_detail_text(text: str) -> None:
    _check_text(text)
    if len(text) > MAX_CONTENT:
        raise ValueError(f"must not contain texts of more than {MAX_CONTENT} characters")


Content = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_CONTENT), AfterValidator(_check_text)]
Word = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500), AfterValidator(_check_text)]
OptionalWord = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500), AfterValidator(_check_text)]
Words = Annotated[list[Word], Field(max_length=MAX_LIST)]
Details = Annotated[dict[str, Any], AfterValidator(_check_details)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Answer(BaseModel):
    model_config = ConfigDict(use_enum_values=True)


class _FactFields(_Strict):
    """What can be said of a fact; left out = not said."""

    content: Content
    kind: Kind | None = Field(None, description="Default `fact`.")
    entity: Word | None = Field(None, description="Who or what it is about. Default `user`.")
    category: OptionalWord | None = None
    key: Word | None = Field(None, description="Which attribute. A key holds one value at a time unless `single_valued` is false.")
    value: Content | None = None
    single_valued: bool | None = None
    details: Details = Field(default_factory=dict, description="Free JSON; of a decision: rationale, alternatives, related_files.")
    tier: Tier | None = None
    importance: Fraction | None = Field(None, description="0 to 1. Default 0.5.")
    confidence: Fraction | None = Field(None, description="0 to 1. Default 1.")
    tags: Words = Field(default_factory=list)
    entities: Words = Field(default_factory=list)
    sources: Words = Field(default_factory=list)
    source: Word | None = None
    session_id: Word | None = None
    trust: Annotated[int, Field(ge=0, le=100)] | None = Field(None, description="0 to 100. Default 50.")
    lifespan: Lifespan | None = None
    valid_from: Time | None = Field(None, description="When it became true in the world. Default: now.")
    source_date: Time | None = Field(None, description="Another name for `valid_from`.")
    valid_until: Time | None = Field(None, description="A stated end.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.valid_from is not None and self.source_date is not None and self.valid_from != self.source_date:
            raise ValueError("valid_from and source_date say the same thing; give one of them")
        start = self.valid_from or self.source_date
        if start is not None and self.valid_until is not None and self.valid_until <= start:
            raise ValueError("valid_until must lie after valid_from")
        return self

    def fact(self) -> Fact:
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
            trust=self.trust,
            lifespan=self.lifespan,
            valid_from=self.valid_from or self.source_date,
            valid_until=self.valid_until,
        )


class StoreRequest(_FactFields):
    """A fact to store."""

    supersedes: UUID | Annotated[list[UUID], Field(min_length=1, max_length=MAX_LIST)] | None = Field(
        None, description="The memory, or memories, that it replaces."
    )
    classify: bool | Classify | None = Field(
        None, description="Which judges are asked; false: none but exact-duplicate detection; true or left out: as configured."
    )
    dry_run: bool = Field(False, description="true: answer with what would be done and write nothing.")

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
    client_ref: Annotated[str, StringConstraints(max_length=500), AfterValidator(_check_text)] | StrictInt | None = Field(
        None, description="Echoed beside the new id."
    )


class BatchRequest(_Strict):
    """Facts to store in order. Each item is a store request; one that cannot be stored fails alone unless `atomic`."""

    items: Annotated[
        list[Annotated[Any, WithJsonSchema({"$ref": "#/components/schemas/StoreRequest"})]], Field(min_length=1, max_length=MAX_ITEMS)
    ]
    atomic: bool = False


class SupersedeRequest(_FactFields):
    """What takes a memory's place: new `content`, or `by` the id of a stored memory."""

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

    at: Time | None = Field(default=None, description="When it stopped being true. Default: now.")
    reason: Content | None = None
    never_true: bool = Field(default=False, description="true: it was never true; what it replaced holds again.")

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.at is not None and self.never_true:
            raise ValueError("what was never true has no end: give at or never_true, not both")
        return self


class PatchRequest(_Strict):
    """Corrections. What is left out stays; `valid_until: null` opens the stated end. Content is never changed: supersede it."""

    valid_from: Time | None = None
    valid_until: Time | None = None
    tier: Tier | None = None
    importance: Fraction | None = None
    confidence: Fraction | None = None
    tags: Words | None = None
    entities: Words | None = None
    sources: Words | None = None
    source: Word | None = None
    session_id: Word | None = None
    trust: Annotated[int, Field(ge=0, le=100)] | None = None
    lifespan: Lifespan | None = None
    details: Details | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("name at least one field to correct")
        nullable = {"valid_until", "source", "session_id"}
        if empty := [name for name in self.model_fields_set - nullable if getattr(self, name) is None]:
            raise ValueError(f"{empty[0]} cannot be null")
        return self

    def said(self) -> dict[str, Any]:
        """What it corrects of the belief."""
        names = {"valid_from": "valid_from", "valid_until": "said_until", "tier": "tier"}
        return {names[name]: getattr(self, name) for name in names.keys() & self.model_fields_set}

    def metadata(self) -> dict[str, Any]:
        """What it corrects beside the belief."""
        return {name: getattr(self, name) for name in self.model_fields_set - {"valid_from", "valid_until", "tier"}}


class FilterFields(_Strict):
    """What a list or a search is narrowed to. Words of the slot compare trimmed and case folded."""

    kind: Kind | None = None
    entity: Word | None = None
    category: OptionalWord | None = None
    key: Word | None = None
    session_id: Word | None = None
    tags_any: Words = Field(default_factory=list)
    tags_all: Words = Field(default_factory=list)
    min_importance: Fraction | None = None

    def filters(self) -> Filters:
        return Filters(
            kind=self.kind,
            entity=self.entity,
            category=self.category,
            key=self.key,
            session_id=self.session_id,
            tags_any=tuple(self.tags_any),
            tags_all=tuple(self.tags_all),
            min_importance=self.min_importance,
        )


class SearchRequest(FilterFields):
    """A search. Without dates: what holds now, as far as is known."""

    query: Content
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 10
    mode: Literal["hybrid", "vector", "text"] = "hybrid"
    min_score: Annotated[float, Field(allow_inf_nan=False)] | None = Field(None, description="Leave out results that score lower.")
    as_of: Time | None = Field(None, validation_alias=AliasChoices("as_of", "asOf"), description="What was true at that time.")
    known_at: Time | None = Field(
        None, validation_alias=AliasChoices("known_at", "knownAt"), description="As far as was known at that time."
    )
    include_superseded: bool = Field(
        default=False,
        validation_alias=AliasChoices("include_superseded", "includeSuperseded"),
        description="Search every version, not only what holds.",
    )

    def point(self) -> Point:
        return Point(self.as_of, self.known_at, self.include_superseded)


# --- answers -----------------------------------------------------------------------------------------------------------


class DerivedSlotOut(_Answer):
    """What a text was read to be about. It finds candidates and decides nothing; a key that the caller gives wins."""

    entity: str
    key: str
    value: str


class MemoryOut(_Answer):
    """One version, with its status at the (as_of, known_at) of the read."""

    id: UUID
    chain_id: UUID
    content: str
    kind: Kind
    status: Status
    entity: str
    category: str
    key: str | None
    value: str | None
    single_valued: bool | None
    valid_from: Time
    valid_until: Time | None
    said_until: Time | None
    retracted_at: Time | None
    created_at: Time
    supersedes_id: UUID | None
    superseded_by: UUID | None
    superseded_at: Time | None
    contradicted_by: UUID | None
    merged_from: list[UUID]
    derived: DerivedSlotOut | None = Field(description="What the text was read to be about, where that is safe.")
    tier: Tier
    importance: float
    confidence: float
    trust: int
    lifespan: Lifespan
    tags: list[str]
    entities: list[str]
    sources: list[str]
    source: str | None
    session_id: str | None
    details: dict[str, Any]
    etag: str = Field(description="For If-Match.")

    @classmethod
    def of(cls, memory: Memory, as_of: datetime) -> Self:
        fact, belief = memory.fact, memory.belief
        said = {f.name: getattr(fact, f.name) for f in fields(fact)}
        believed = {f.name: getattr(belief, f.name) for f in fields(belief)}
        computed = {
            "id": memory.id,
            "chain_id": memory.chain_id,
            "status": status(belief, as_of),
            "created_at": memory.created_at,
            "supersedes_id": memory.supersedes_id,
            "tags": list(fact.tags),
            "entities": list(fact.entities),
            "sources": list(fact.sources),
            "merged_from": list(fact.merged_from),
            "derived": DerivedSlotOut.model_construct(**asdict(fact.derived)) if fact.derived else None,
            "etag": etag_of(memory.revision),
        }
        return cls._from(said | believed | computed)

    @classmethod
    def _from(cls, values: Mapping[str, Any]) -> Self:
        """Built without validation: the values come from the database."""
        return cls.model_construct(**{name: values[name] for name in cls.model_fields})


def etag_of(revision: int) -> str:
    return f'"{revision}"'


class SignalOut(_Answer):
    """A named reason, with its measured reliability."""

    name: str
    relation: Relation
    confidence: float
    explanation: str

    @classmethod
    def of(cls, finding: Finding) -> Self:
        return cls.model_construct(**asdict(finding))


class DecisionOut(_Answer):
    """Why the operation was chosen."""

    relation: Relation
    confidence: float
    decided_by: str
    reasoning: str
    signals: list[SignalOut]

    @classmethod
    def of(cls, decision: Decision) -> Self:
        return cls.model_construct(
            relation=decision.relation,
            confidence=decision.confidence,
            decided_by=decision.decided_by,
            reasoning=decision.reasoning,
            signals=[SignalOut.of(finding) for finding in decision.findings],
        )


class UsageOut(_Answer):
    """What asking a model took; zeros where none was asked."""

    llm_calls: int
    prompt_tokens: int
    completion_tokens: int
    ms: float
    trouble: str | None = Field(description="Why the model's answer was not used, or what of it was ignored.")

    @classmethod
    def of(cls, asked: Asked | None) -> Self:
        asked = asked or Asked("", "")
        return cls.model_construct(**{name: getattr(asked, name) for name in cls.model_fields})


class CandidateOut(_Answer):
    """A stored memory the fact was compared with; `relation` is null where nothing certain can be said."""

    id: UUID
    content: str
    similarity: float | None = Field(description="Cosine of the two texts, -1 to 1.")
    relation: Relation | None
    confidence: float | None
    reasoning: str | None
    signals: list[SignalOut]
    vetoes: list[str] = Field(description="Why the two cannot be about the same thing.")

    @classmethod
    def of(cls, candidate: Candidate) -> Self:
        judgment = candidate.judgment
        return cls.model_construct(
            id=candidate.memory.id,
            content=candidate.memory.fact.content,
            similarity=candidate.similarity,
            relation=judgment.relation if judgment else None,
            confidence=judgment.confidence if judgment else None,
            reasoning=judgment.reasoning if judgment else None,
            signals=[SignalOut.of(finding) for finding in judgment.findings] if judgment else [],
            vetoes=list(judgment.vetoes) if judgment else [],
        )


class WriteAnswer(_Answer):
    """What a write did. On NOOP `memory` is the stored one that says it already; on DELETE it is null."""

    operation: Operation
    memory: MemoryOut | None
    superseded: list[UUID] = Field(description="What it ended.")
    decision: DecisionOut
    candidates: list[CandidateOut]
    adjusted: list[UUID] = Field(description="Others whose interval moved.")
    known_at: Time = Field(description="The known time of this write.")
    log_id: UUID | None = Field(description="Null on a dry run.")
    review_id: UUID | None = Field(description="The review that waits for a person, if this write left one.")
    usage: UsageOut
    dry_run: bool

    @classmethod
    def of(cls, outcome: Outcome) -> Self:
        plan, memory = outcome.plan, outcome.memory
        return cls.model_construct(
            operation=plan.operation,
            memory=MemoryOut.of(memory, plan.now) if memory else None,
            superseded=list(plan.superseded),
            decision=DecisionOut.of(plan.decision),
            candidates=[CandidateOut.of(c) for c in outcome.candidates],
            adjusted=list(plan.adjusted),
            known_at=plan.now,
            log_id=outcome.written.log_id if outcome.written else None,
            review_id=outcome.written.review_id if outcome.written else None,
            usage=UsageOut.of(plan.asked),
            dry_run=outcome.written is None,
        )


class Problem(BaseModel):
    """An error (RFC 9457). `detail` says what to do; further members carry ids."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str


class BatchAnswer(_Answer):
    """One result per item, in order: what a single store answers, or a problem."""

    results: list[WriteAnswer | Problem]


class ListAnswer(_Answer):
    """Memories, newest known first. All pages of one list show the same picture."""

    items: list[MemoryOut]
    next_cursor: str | None
    as_of: Time
    known_at: Time


class ResultOut(_Answer):
    """A memory found, how well it matches and why it holds."""

    memory: MemoryOut
    score: float
    scores: dict[str, float] = Field(description="`vector`: cosine; `text`: rank of the words.")
    why: str

    @classmethod
    def of(cls, hit: Hit, as_of: datetime) -> Self:
        memory = MemoryOut.of(hit.memory, as_of)
        return cls.model_construct(memory=memory, score=hit.score, scores=hit.scores, why=_why(hit.memory, memory.status))


def _why(memory: Memory, standing: Status) -> str:
    """Since when it holds, until when, and what it replaced, in a sentence."""
    belief = memory.belief
    until = f" until {belief.valid_until:%Y-%m-%d %H:%M} UTC" if belief.valid_until else ""
    replaced = f"; replaced {memory.supersedes_id}" if memory.supersedes_id else ""
    successor = f"; replaced by {belief.superseded_by}" if belief.superseded_by else ""
    return f"{standing.value}: valid from {belief.valid_from:%Y-%m-%d %H:%M} UTC{until}{replaced}{successor}"


class SearchAnswer(_Answer):
    """Best first."""

    results: list[ResultOut]
    as_of: Time
    known_at: Time


class OperationOut(_Answer):
    """One operation, in short."""

    id: UUID
    operation: Operation
    source_memory_ids: list[UUID]
    target_memory_id: UUID | None
    relation: Relation
    confidence: float
    reasoning: str
    decided_by: str
    created_at: Time

    @classmethod
    def of(cls, row: RowMapping) -> Self:
        return cls.model_construct(**{name: row[name] for name in cls.model_fields})


class LogEntryOut(OperationOut):
    """One operation, with everything it read and wrote."""

    signals: list[Any]
    incoming: dict[str, Any] | None
    before_state: list[dict[str, Any]]
    after_state: list[dict[str, Any]]
    model: str | None
    prompt_version: str | None
    usage: dict[str, Any] | None
    duration_ms: float | None
    session_id: str | None
    request_id: str | None


class LogAnswer(_Answer):
    """Operations, newest first."""

    items: list[LogEntryOut]
    next_cursor: str | None


class HistoryAnswer(_Answer):
    """The whole chain of a memory, oldest first."""

    chain_id: UUID
    current: UUID | None = Field(description="The version that holds at as_of.")
    versions: list[MemoryOut]
    operations: list[OperationOut]
    as_of: Time
    known_at: Time
