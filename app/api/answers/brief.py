"""Answers in brief, for agents that pay for each word: what was asked for, and no empty field."""

from typing import Any, ClassVar, Self
from uuid import UUID

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.api.answers.context import ContextAnswer, ContextQuestionOut
from app.api.answers.log import OperationOut
from app.api.answers.memories import HistoryAnswer, JointOut, ListAnswer, MemoryOut
from app.api.answers.problem import Problem
from app.api.answers.search import ResultOut, SearchAnswer, TurnOut
from app.api.answers.writes import (
    BatchAnswer,
    PartOut,
    StoreAnswer,
    SupersededOut,
    WriteAnswer,
)
from app.api.times import Time
from app.domain.relation import Operation
from app.domain.talk import Role
from app.domain.version import Status
from app.planning.plan import ReviewSource


class BriefAnswer(AnswerBase):
    """An answer without its empty fields: null, false and [] are left out.

    What was asked for is there although it is empty: the results of a search, the items of a page.
    """

    leaves_out_empty: ClassVar[bool] = True


class BriefMemory(BriefAnswer):
    """A version in brief."""

    id: UUID
    content: str | None = Field(None, description="Left out where it was erased.")
    status: Status
    valid_from: Time
    valid_until: Time | None = Field(None, description="Left out where no end is known.")
    stale: bool = Field(
        default=False, description="What it rests on has ended: look whether it is still right."
    )

    @classmethod
    def from_answer(cls, memory: MemoryOut) -> Self:
        return cls.model_construct(**_shorten_memory(memory))


def _shorten_memory(memory: MemoryOut) -> dict[str, Any]:
    names = ("id", "content", "status", "valid_from", "valid_until")
    values = {name: getattr(memory, name) for name in names}
    return values | {"stale": bool(memory.stale_because)}


class BriefResult(BriefMemory):
    """A memory found, and how well it matches."""

    score: float
    in_question: list[UUID] = Field([], description="The reviews that wait and concern it.")

    @classmethod
    def from_result(cls, result: ResultOut) -> Self:
        return cls.model_construct(
            **_shorten_memory(result.memory),
            score=round(result.score, 4),
            in_question=result.in_question,
        )


class BriefTurn(BriefAnswer):
    """A message that was found."""

    role: Role
    name: str | None = None
    content: str
    said_at: Time
    score: float

    @classmethod
    def from_turn(cls, turn: TurnOut) -> Self:
        return cls.model_construct(
            role=turn.role,
            name=turn.name,
            content=turn.content,
            said_at=turn.said_at,
            score=round(turn.score, 4),
        )


class BriefSearchAnswer(BriefAnswer):
    """Best first."""

    results: list[BriefResult]
    turns: list[BriefTurn] = Field([], description="Messages, if they were to be searched.")
    truncated: bool = Field(default=False, description="Others were found: narrow the search.")

    @classmethod
    def from_answer(cls, answer: SearchAnswer) -> Self:
        results = [BriefResult.from_result(result) for result in answer.results]
        turns = list(map(BriefTurn.from_turn, answer.turns))
        return cls.model_construct(results=results, turns=turns, truncated=answer.truncated)


class BriefListAnswer(BriefAnswer):
    """A page of memories."""

    items: list[BriefMemory]
    next_cursor: str | None = None
    strength_as_of: Time | None = Field(
        None, description="The order is that of the strengths at this time, if it is there."
    )

    @classmethod
    def from_answer(cls, answer: ListAnswer) -> Self:
        items = [BriefMemory.from_answer(memory) for memory in answer.items]
        return cls.model_construct(
            items=items,
            next_cursor=answer.next_cursor,
            strength_as_of=answer.strength_as_of,
        )


class BriefContextAnswer(BriefAnswer):
    """What holds, as text for a prompt."""

    text: str
    tokens: int = Field(description="Tokens of the text, by estimate.")
    left_out: int = Field(0, description="How many others hold that did not fit.")
    questions: list[ContextQuestionOut] = Field([], description="The questions in the text.")

    @classmethod
    def from_answer(cls, answer: ContextAnswer) -> Self:
        return cls.from_attributes(answer)


class BriefOperation(BriefAnswer):
    """One operation."""

    id: UUID
    operation: Operation
    target_memory_id: UUID | None = None
    reasoning: str
    created_at: Time

    @classmethod
    def from_answer(cls, operation: OperationOut) -> Self:
        return cls.from_attributes(operation)


class BriefHistoryAnswer(BriefAnswer):
    """The line of a memory, oldest first, and the operations on it."""

    current: UUID | None = Field(None, description="The version that holds at as_of.")
    versions: list[BriefMemory]
    joints: list[JointOut] = Field([], description="Where it goes on in another chain.")
    operations: list[BriefOperation] = Field(description="What changed them.")
    next_cursor: str | None = None

    @classmethod
    def from_answer(cls, answer: HistoryAnswer) -> Self:
        return cls.model_construct(
            current=answer.current,
            versions=[BriefMemory.from_answer(memory) for memory in answer.versions],
            joints=answer.joints,
            operations=[BriefOperation.from_answer(each) for each in answer.operations],
            next_cursor=answer.next_cursor,
        )


class BriefWriteAnswer(BriefAnswer):
    """What a write did."""

    operation: Operation | None = Field(
        None, description="Left out where the agent is frozen and the fact waits as a review."
    )
    memory: BriefMemory | None = None
    superseded: list[SupersededOut] = Field([], description="What it ended.")
    log_id: UUID | None = Field(None, description="What undoes it. Left out on a dry run.")
    review_id: UUID | None = Field(None, description="The review that waits for a person.")
    question: str | None = Field(None, description="That review, for the agent's own model.")
    dry_run: bool = False
    redacted: int = Field(0, description="Secrets that were taken out of the request.")
    hints: list[str] = Field([], description="What should be known before acting on it.")
    stale: list[UUID] = Field([], description="What rests on a memory that it ended.")

    @classmethod
    def from_answer(cls, answer: WriteAnswer) -> Self:
        return cls.model_construct(**shorten_write(answer))


def shorten_write(answer: WriteAnswer) -> dict[str, Any]:
    names = ("operation", "superseded", "log_id", "review_id", "question", "dry_run", "redacted")
    values = {name: getattr(answer, name) for name in names}
    return values | {
        "memory": answer.memory and BriefMemory.from_answer(answer.memory),
        "hints": [hint.sentence for hint in answer.hints],
        "stale": [each.memory_id for each in answer.stale],
    }


class BriefPart(BriefAnswer):
    """A part of a text that was split, and what storing it came to."""

    text: str
    answer: BriefWriteAnswer | Problem = Field(description="What storing it came to.")

    @classmethod
    def from_part(cls, part: PartOut) -> Self:
        return cls.model_construct(text=part.text, answer=shorten_result(part.answer))


def shorten_result(answer: WriteAnswer | Problem) -> BriefWriteAnswer | Problem:
    return answer if isinstance(answer, Problem) else BriefWriteAnswer.from_answer(answer)


class BriefStoreAnswer(BriefWriteAnswer):
    """What a store did; of a text that was split, what the first of its parts did."""

    parts: list[BriefPart] = Field([], description="The parts of a text that was split, in order.")

    @classmethod
    def from_store(cls, answer: StoreAnswer) -> Self:
        parts = [BriefPart.from_part(part) for part in answer.parts]
        return cls.model_construct(**shorten_write(answer), parts=parts)


class BriefBatchAnswer(BriefAnswer):
    """One result per item, in order."""

    waiting: dict[ReviewSource, int] = Field(
        {}, description="How many changes wait for a decision, by the source of their reviews."
    )
    results: list[BriefStoreAnswer | Problem]

    @classmethod
    def from_answer(cls, answer: BatchAnswer) -> Self:
        results = [
            each if isinstance(each, Problem) else BriefStoreAnswer.from_store(each)
            for each in answer.results
        ]
        return cls.model_construct(waiting=answer.waiting, results=results)
