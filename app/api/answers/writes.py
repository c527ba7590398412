"""Answers of the routes that write memories."""

from collections import Counter
from typing import Any, Self
from uuid import UUID

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.api.answers.memories import MemoryOut, StaleOut
from app.api.answers.problem import Problem
from app.api.problems import problem_of
from app.api.times import Time
from app.domain.errors import PalimpsestError
from app.domain.relation import Decision, ModelCost, Operation, Relation
from app.domain.strength import HalfLives
from app.planning.agent_questions import invite_answer
from app.planning.hints import Hint, HintName
from app.planning.plan import ReviewSource
from app.services.agent_write import ComparedMemory, Outcome
from app.services.parts import StoredPart, TextOutcome, TextOutcomes

_NO_MODEL_COST = ModelCost(model="", prompt_version="")


class SignalOut(AnswerBase):
    """A named reason, with its measured reliability."""

    name: str
    relation: Relation
    confidence: float
    explanation: str = Field(description="The reason in words.")


class DecisionOut(AnswerBase):
    """Why the operation was chosen."""

    relation: Relation
    confidence: float
    decided_by: str
    reasoning: str
    signals: list[SignalOut]

    @classmethod
    def from_decision(cls, decision: Decision) -> Self:
        signals = [SignalOut.from_attributes(finding) for finding in decision.findings]
        return cls.from_attributes(decision, signals=signals)


class UsageOut(AnswerBase):
    """What asking a model took; zeros where none was asked."""

    llm_calls: int = Field(description="Calls to the language model.")
    prompt_tokens: int = Field(description="Tokens that the model read.")
    completion_tokens: int = Field(description="Tokens that the model wrote.")
    ms: float = Field(description="Milliseconds that the judges took.")
    trouble: str | None = Field(
        description="Why the model's answer was not used, or what of it was ignored."
    )

    @classmethod
    def from_model_cost(cls, cost: ModelCost | None) -> Self:
        return cls.from_attributes(cost or _NO_MODEL_COST)


class CandidateOut(AnswerBase):
    __doc__ = (
        "A stored memory the fact was compared with; `relation` is null where nothing certain can "
        "be said."
    )

    id: UUID
    content: str
    similarity: float | None = Field(description="Cosine of the two texts, -1 to 1.")
    relation: Relation | None = Field(
        description="How the fact stands to this one; null: it was not judged."
    )
    confidence: float | None = Field(
        description="How sure the judge was, 0 to 1; null: it was not judged."
    )
    reasoning: str | None
    signals: list[SignalOut]
    vetoes: list[str] = Field(description="Why the two cannot be about the same thing.")

    @classmethod
    def from_candidate(cls, candidate: ComparedMemory) -> Self:
        values: dict[str, Any] = {
            "id": candidate.memory.id,
            "content": candidate.memory.fact.content,
            "similarity": candidate.similarity,
        }
        judgment = candidate.judgment
        if judgment is None:
            nothing = dict.fromkeys(("relation", "confidence", "reasoning"))
            return cls.from_values({**values, **nothing, "signals": [], "vetoes": []})
        values["signals"] = [SignalOut.from_attributes(finding) for finding in judgment.findings]
        return cls.from_attributes(judgment, **values, vetoes=list(judgment.vetoes))


class HintOut(AnswerBase):
    """What should be known before acting on a fact."""

    name: HintName = Field(description="What the hint warns of.")
    sentence: str
    memory_ids: list[UUID]

    @classmethod
    def from_hint(cls, hint: Hint) -> Self:
        return cls.from_attributes(hint, memory_ids=list(hint.memory_ids))


class SupersededOut(AnswerBase):
    """A memory that a write ended."""

    id: UUID
    content: str | None = Field(None, description="Null where it was erased, or on a late retry.")

    @classmethod
    def list_from_outcome(cls, outcome: Outcome) -> list[Self]:
        ended = outcome.superseded
        return [
            cls.model_construct(id=memory_id, content=ended.get(memory_id))
            for memory_id in outcome.plan.superseded
        ]


class WriteAnswer(AnswerBase):
    __doc__ = (
        "What a write did. On NOOP `memory` is the stored one that says it already; on DELETE the "
        "one that says the end, or null."
    )

    operation: Operation | None = Field(
        description="Null where the agent is frozen and the fact waits as a review."
    )
    memory: MemoryOut | None
    superseded: list[SupersededOut] = Field(description="What it ended.")
    decision: DecisionOut = Field(
        description="The relation that the write rests on, who found it and why."
    )
    candidates: list[CandidateOut] = Field(
        description="The stored memories that the fact was compared with, and what was judged."
    )
    adjusted: list[UUID] = Field(description="Others whose interval moved.")
    known_at: Time = Field(description="The known time of this write.")
    log_id: UUID | None = Field(description="Null on a dry run.")
    review_id: UUID | None = Field(
        description="The review that waits for a person, if this write left one."
    )
    question: str | None = Field(
        None,
        description=(
            "That review as one line for the agent's own model, which answers it by POST "
            "/v1/reviews/answers; null if there is none, or if only a person may decide it."
        ),
    )
    usage: UsageOut
    dry_run: bool
    redacted: int = Field(0, description="Secrets that were taken out of the request.")
    hints: list[HintOut] = Field([], description="What should be known before acting on it.")
    stale: list[StaleOut] = Field(
        [],
        description=(
            "What rests on a memory that it ended, and holds on: look whether it is still right."
        ),
    )

    @classmethod
    def from_outcome(cls, outcome: Outcome, half_lives: HalfLives, **more: Any) -> Self:
        """Build the answer from what a write did. `more` are values by the names of fields."""
        plan = outcome.plan
        values: dict[str, Any] = {
            "operation": plan.operation,
            "memory": None,
            "superseded": SupersededOut.list_from_outcome(outcome),
            "decision": DecisionOut.from_decision(plan.decision),
            "candidates": [CandidateOut.from_candidate(each) for each in outcome.candidates],
            "adjusted": list(plan.adjusted),
            "known_at": plan.now,
            "log_id": None,
            "review_id": outcome.waiting_review_id,
            "question": invite_answer(outcome.question) if outcome.question else None,
            "usage": UsageOut.from_model_cost(plan.model_cost),
            "dry_run": outcome.written is None and outcome.waiting_review_id is None,
            "redacted": 0,
            "hints": [HintOut.from_hint(hint) for hint in outcome.hints],
            "stale": [StaleOut.from_stale_memory(stale) for stale in outcome.stale],
        }
        if outcome.memory:
            values["memory"] = MemoryOut.from_memory(outcome.memory, plan.now, half_lives)
        if outcome.written:
            values["log_id"] = outcome.written.log_id
            values["review_id"] = outcome.written.review_id
        if outcome.frozen:
            # The plan is what the store would have done; it has changed nothing.
            values |= {"operation": None, "superseded": [], "adjusted": []}
        return cls.from_values(values | more)


def render_answer(
    outcome: Outcome | PalimpsestError, half_lives: HalfLives
) -> WriteAnswer | Problem:
    """Return the answer of one fact of many."""
    if isinstance(outcome, PalimpsestError):
        return problem_of(outcome)
    return WriteAnswer.from_outcome(outcome, half_lives)


class PartOut(AnswerBase):
    """A part of a text that was split."""

    text: str
    span: list[int] = Field(
        description=(
            "The words of the request that belong to this part alone: characters from 0, the end "
            "excluded."
        )
    )
    answer: WriteAnswer | Problem = Field(description="What storing it came to.")

    @classmethod
    def from_stored_part(cls, stored: StoredPart, half_lives: HalfLives) -> Self:
        part, answer = stored.part, render_answer(stored.answer, half_lives)
        return cls.model_construct(text=part.text, span=[part.start, part.end], answer=answer)


class StoreAnswer(WriteAnswer):
    """What a store did; of a text that was split, what the first of its parts did."""

    parts: list[PartOut] = Field(
        [], description="The parts of a text that was split, in order; else empty."
    )

    @classmethod
    def from_text_outcome(cls, outcome: TextOutcome, half_lives: HalfLives, redacted: int) -> Self:
        parts = [PartOut.from_stored_part(part, half_lives) for part in outcome.parts]
        return cls.from_outcome(outcome.first, half_lives, redacted=redacted, parts=parts)


def count_waiting(outcomes: TextOutcomes) -> dict[ReviewSource, int]:
    """Return how many facts left a change that waits for a person, by the reason, most first."""
    counts: Counter[ReviewSource] = Counter()
    for outcome in outcomes:
        if isinstance(outcome, TextOutcome):
            counts.update(filter(None, (each.waits_for for each in outcome.outcomes)))
    return dict(counts.most_common())


class BatchAnswer(AnswerBase):
    """One result per item, in order: what a single store answers, or a problem."""

    waiting: dict[ReviewSource, int] = Field(
        description=(
            "How many of the items left a change that was not made and waits for a decision, by "
            "the source of its review, most first; empty if none did. `cap`: one store, or judges "
            "within an hour, may end no more; a `history` has no cap of an hour."
        )
    )
    results: list[StoreAnswer | Problem]
