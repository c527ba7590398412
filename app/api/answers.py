"""What answers look like: the wire names of everything that goes out."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
)
from sqlalchemy.engine import RowMapping

from app.api.stale import EndedOut, StaleOut
from app.api.times import Time
from app.domain.fact import Kind, Lifespan, Tier
from app.domain.relation import Decision, Finding, ModelCost, Operation, Relation
from app.domain.strength import HalfLives, compute_strength
from app.domain.timeline import compute_memory_status
from app.domain.version import Belief, Memory, Status
from app.planning.hints import Hint, HintName
from app.services.erasures import Receipt
from app.services.remember import ComparedMemory, Outcome
from app.services.reverts import RevertedOperation
from app.store.search import Hit

_BELIEF = tuple(f.name for f in fields(Belief))


class AnswerBase(BaseModel):
    """An answer, built from what the service made itself: words of enums go out as they come from the database."""

    model_config = ConfigDict(use_enum_values=True)


class DerivedSlotOut(AnswerBase):
    """What a text was read to be about. It finds candidates and decides nothing; a key that the caller gives wins."""

    entity: str
    key: str
    value: str


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
    said_until: Time | None
    retracted_at: Time | None
    created_at: Time
    erased_at: Time | None
    supersedes_id: UUID | None
    superseded_by: UUID | None
    superseded_at: Time | None
    contradicted_by: UUID | None
    merged_from: list[UUID]
    derived: DerivedSlotOut | None = Field(
        description="What the text was read to be about, where that is safe."
    )
    tier: Tier
    importance: float
    strength: float = Field(
        description="0 to 1 at `as_of`: importance, halved once per half-life since it was last said; core keeps 0.60. It never hides."
    )
    access_count: int = Field(
        description="How often it was said again. A counter of now, no part of the ETag."
    )
    last_reinforced_at: Time | None = Field(
        description="When it was last said again, if that was known at `known_at`."
    )
    use_count: int = Field(
        description="In how many minutes it was answered to a search, a context or by its id. A counter of now."
    )
    last_accessed_at: Time | None = Field(
        description="When it was last used so, if no later than `known_at`."
    )
    stale_because: list[EndedOut] = Field(
        description="What it rests on and what has ended since: empty, or a reason to look whether it is still right. No part of the ETag."
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
    details: dict[str, Any]
    etag: str = Field(description="For If-Match.")

    @classmethod
    def from_memory(cls, memory: Memory, as_of: datetime, half_lives: HalfLives) -> Self:
        fact, belief = memory.fact, memory.belief
        believed = {name: getattr(belief, name) for name in _BELIEF}
        computed = {
            "id": memory.id,
            "chain_id": memory.chain_id,
            "status": compute_memory_status(memory, as_of),
            "strength": round(compute_strength(memory, as_of, half_lives), 6),
            "access_count": memory.usage.access_count,
            "last_reinforced_at": memory.usage.last_reinforced_at,
            "use_count": memory.usage.use_count,
            "last_accessed_at": memory.usage.last_accessed_at,
            "erased_at": memory.erased_at,
            "created_at": memory.created_at,
            "supersedes_id": memory.supersedes_id,
            "tags": list(fact.tags),
            "entities": list(fact.entities),
            "sources": list(fact.sources),
            "merged_from": list(fact.merged_from),
            "derived": DerivedSlotOut.model_construct(**asdict(fact.derived))
            if fact.derived
            else None,
            "stale_because": [EndedOut.from_ended_memory(ended) for ended in memory.stale_because],
            "etag": etag_of(memory.revision),
        }
        return cls._from_values(
            vars(fact) | believed | computed | ({"content": None} if memory.erased_at else {})
        )

    @classmethod
    def _from_values(cls, values: Mapping[str, Any]) -> Self:
        """Built without validation: the values come from the database."""
        return cls.model_construct(**{name: values[name] for name in cls.model_fields})


def etag_of(revision: int) -> str:
    return f'"{revision}"'


class SignalOut(AnswerBase):
    """A named reason, with its measured reliability."""

    name: str
    relation: Relation
    confidence: float
    explanation: str

    @classmethod
    def from_finding(cls, finding: Finding) -> Self:
        return cls.model_construct(**{name: getattr(finding, name) for name in cls.model_fields})


class DecisionOut(AnswerBase):
    """Why the operation was chosen."""

    relation: Relation
    confidence: float
    decided_by: str
    reasoning: str
    signals: list[SignalOut]

    @classmethod
    def from_decision(cls, decision: Decision) -> Self:
        return cls.model_construct(
            relation=decision.relation,
            confidence=decision.confidence,
            decided_by=decision.decided_by,
            reasoning=decision.reasoning,
            signals=[SignalOut.from_finding(finding) for finding in decision.findings],
        )


class UsageOut(AnswerBase):
    """What asking a model took; zeros where none was asked."""

    llm_calls: int
    prompt_tokens: int
    completion_tokens: int
    ms: float
    trouble: str | None = Field(
        description="Why the model's answer was not used, or what of it was ignored."
    )

    @classmethod
    def from_model_cost(cls, cost: ModelCost | None) -> Self:
        cost = cost or ModelCost("", "")
        return cls.model_construct(**{name: getattr(cost, name) for name in cls.model_fields})


class CandidateOut(AnswerBase):
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
    def from_candidate(cls, candidate: ComparedMemory) -> Self:
        judgment = candidate.judgment
        return cls.model_construct(
            id=candidate.memory.id,
            content=candidate.memory.fact.content,
            similarity=candidate.similarity,
            relation=judgment.relation if judgment else None,
            confidence=judgment.confidence if judgment else None,
            reasoning=judgment.reasoning if judgment else None,
            signals=[SignalOut.from_finding(finding) for finding in judgment.findings]
            if judgment
            else [],
            vetoes=list(judgment.vetoes) if judgment else [],
        )


class HintOut(AnswerBase):
    """What should be known before acting on a fact."""

    name: HintName
    sentence: str
    memory_ids: list[UUID]

    @classmethod
    def from_hint(cls, hint: Hint) -> Self:
        return cls.model_construct(
            name=hint.name, sentence=hint.sentence, memory_ids=list(hint.memory_ids)
        )


class WriteAnswer(AnswerBase):
    """What a write did. On NOOP `memory` is the stored one that says it already; on DELETE it is null."""

    operation: Operation | None = Field(
        description="Null where the agent is frozen and the fact waits as a review."
    )
    memory: MemoryOut | None
    superseded: list[UUID] = Field(description="What it ended.")
    decision: DecisionOut
    candidates: list[CandidateOut]
    adjusted: list[UUID] = Field(description="Others whose interval moved.")
    known_at: Time = Field(description="The known time of this write.")
    log_id: UUID | None = Field(description="Null on a dry run.")
    review_id: UUID | None = Field(
        description="The review that waits for a person, if this write left one."
    )
    usage: UsageOut
    dry_run: bool
    hints: list[HintOut] = Field([], description="What should be known before acting on it.")
    stale: list[StaleOut] = Field(
        [],
        description="What rests on a memory that it ended, and holds on: look whether it is still right.",
    )

    @classmethod
    def from_outcome(cls, outcome: Outcome, half_lives: HalfLives) -> Self:
        plan, memory = outcome.plan, outcome.memory
        return cls.model_construct(
            operation=None if outcome.frozen else plan.operation,
            memory=MemoryOut.from_memory(memory, plan.now, half_lives) if memory else None,
            superseded=[] if outcome.frozen else list(plan.superseded),
            decision=DecisionOut.from_decision(plan.decision),
            candidates=[CandidateOut.from_candidate(c) for c in outcome.candidates],
            adjusted=[] if outcome.frozen else list(plan.adjusted),
            known_at=plan.now,
            log_id=outcome.written.log_id if outcome.written else None,
            review_id=outcome.written.review_id if outcome.written else outcome.waiting_review_id,
            usage=UsageOut.from_model_cost(plan.model_cost),
            dry_run=outcome.written is None and outcome.waiting_review_id is None,
            hints=[HintOut.from_hint(hint) for hint in outcome.hints],
            stale=[StaleOut.from_stale_memory(stale) for stale in outcome.stale],
        )


class Problem(BaseModel):
    """An error (RFC 9457). `detail` says what to do; further members carry ids."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str


class BatchAnswer(AnswerBase):
    """One result per item, in order: what a single store answers, or a problem."""

    results: list[WriteAnswer | Problem]


class ListAnswer(AnswerBase):
    """Memories, newest known first or strongest first. All pages of one list show the same picture."""

    items: list[MemoryOut]
    next_cursor: str | None
    as_of: Time
    known_at: Time


class ResultOut(AnswerBase):
    """A memory found, how well it matches and why it holds."""

    memory: MemoryOut
    score: float
    scores: dict[str, float] = Field(description="`vector`: cosine; `text`: rank of the words.")
    why: str

    @classmethod
    def from_hit(cls, hit: Hit, as_of: datetime, half_lives: HalfLives) -> Self:
        memory = MemoryOut.from_memory(hit.memory, as_of, half_lives)
        return cls.model_construct(
            memory=memory,
            score=hit.score,
            scores=hit.scores,
            why=_explain_hit(hit.memory, memory.status),
        )


def _explain_hit(memory: Memory, standing: Status) -> str:
    """Since when it holds, until when, and what it replaced, in a sentence."""
    belief = memory.belief
    until = f" until {belief.valid_until:%Y-%m-%d %H:%M} UTC" if belief.valid_until else ""
    replaced = f"; replaced {memory.supersedes_id}" if memory.supersedes_id else ""
    successor = f"; replaced by {belief.superseded_by}" if belief.superseded_by else ""
    return f"{standing.value}: valid from {belief.valid_from:%Y-%m-%d %H:%M} UTC{until}{replaced}{successor}"


class SearchAnswer(AnswerBase):
    """Best first."""

    results: list[ResultOut]
    as_of: Time
    known_at: Time


class OperationOut(AnswerBase):
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
    def from_row(cls, row: RowMapping) -> Self:
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
    reverts: UUID | None = Field(description="The operation that this one undid.")
    reverted_by: UUID | None = Field(description="The operation that undid this one.")
    vetoed: list[dict[str, Any]] = Field(
        description="What the fact was kept apart from though it is alike, and why; ten at most."
    )


class LogAnswer(AnswerBase):
    """Operations, newest first."""

    items: list[LogEntryOut]
    next_cursor: str | None


class HistoryAnswer(AnswerBase):
    """The whole chain of a memory, oldest first."""

    chain_id: UUID
    current: UUID | None = Field(description="The version that holds at as_of.")
    versions: list[MemoryOut]
    operations: list[OperationOut]
    log_archived_until: Time | None = Field(
        description="Where operations were archived since the chain began: the known time of the last. Up to then, some may be missing."
    )
    as_of: Time
    known_at: Time


class ReceiptOut(AnswerBase):
    """Proof of what was erased, for whoever kept the text: HMAC-SHA256 of it (UTF-8) under `key`, in hexadecimal."""

    algorithm: str
    key: str | None = Field(
        description="Told once and kept nowhere: null where a retry gets this answer again."
    )
    digests: dict[UUID, str]


class ErasureAnswer(AnswerBase):
    """What was erased, with a receipt."""

    operation: Operation
    erased: list[UUID]
    receipt: ReceiptOut
    known_at: Time
    log_id: UUID
    archives_pending: list[str] = Field(
        description="Archive files that still hold what was erased, because they could not be removed; retention tries again."
    )

    @classmethod
    def from_receipt(cls, receipt: Receipt, *, tell_key: bool = True) -> Self:
        proof = ReceiptOut.model_construct(
            algorithm="HMAC-SHA256",
            key=receipt.key.hex() if tell_key else None,
            digests=dict(receipt.digests),
        )
        return cls.model_construct(
            operation=Operation.ERASE,
            erased=list(receipt.digests),
            receipt=proof,
            known_at=receipt.known_at,
            log_id=receipt.log_id,
            archives_pending=list(receipt.archives_pending),
        )


class RevertAnswer(WriteAnswer):
    """What undoing did; `superseded` names what it withdrew."""

    reverted: list[UUID] = Field(
        description="The operations undone, newest first: with cascade, those built on it too."
    )

    @classmethod
    def from_reverts(cls, undone: Sequence[RevertedOperation], half_lives: HalfLives) -> Self:
        last = WriteAnswer.from_outcome(undone[-1].outcome, half_lives)
        stale = [StaleOut.from_stale_memory(stale) for r in undone for stale in r.outcome.stale]
        return cls.model_construct(
            **dict(last) | {"stale": stale}, reverted=[r.log_id for r in undone]
        )


class RevertsAnswer(AnswerBase):
    """What was undone, newest first; on a dry run, what would be."""

    reverted: list[UUID]
    results: list[WriteAnswer]
    dry_run: bool

    @classmethod
    def from_reverts(
        cls, undone: Sequence[RevertedOperation], half_lives: HalfLives, *, dry_run: bool
    ) -> Self:
        results = [
            WriteAnswer.from_outcome(
                replace(r.outcome, written=None) if dry_run else r.outcome, half_lives
            )
            for r in undone
        ]
        return cls.model_construct(
            reverted=[r.log_id for r in undone], results=results, dry_run=dry_run
        )
