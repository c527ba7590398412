"""Answers in brief, for agents that pay for each word: the fields that an agent acts on.

Each class names the fields that stay of a full answer. A table says which full answer it is of.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, ClassVar, Final, Self
from uuid import UUID

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.api.answers.captures import CaptureAnswer, CapturesAnswer, CaptureSummary
from app.api.answers.context import ContextAnswer, ContextQuestionOut
from app.api.answers.log import OperationOut
from app.api.answers.memories import HistoryAnswer, JointOut, ListAnswer, MemoryOut, StaleOut
from app.api.answers.problem import Problem
from app.api.answers.reverts import RevertAnswer, RevertsAnswer
from app.api.answers.reviews import (
    AnsweredOut,
    AnswersAnswer,
    DecideAnswer,
    DecidedOut,
    NamedMemoryOut,
    ReviewDetailOut,
    ReviewOut,
    ReviewsAnswer,
)
from app.api.answers.search import ResultOut, SearchAnswer, TurnOut, WindowOut
from app.api.answers.writes import (
    BatchAnswer,
    HintOut,
    PartOut,
    StoreAnswer,
    SupersededOut,
    WriteAnswer,
)
from app.api.times import Time
from app.domain.captures import CaptureState
from app.domain.relation import Operation
from app.domain.talk import Role
from app.domain.version import Status
from app.planning.plan import ReviewSource, ReviewStatus


class BriefAnswer(AnswerBase):
    """Some fields of a full answer, without the empty ones: null, false and [] are left out.

    What was asked for is there although it is empty: the results of a search, the items of a page.
    """

    leaves_out_empty: ClassVar[bool] = True

    @classmethod
    def from_answer(cls, answer: Any, **computed: Any) -> Self:
        """Take the fields of the same names from the full answer, each in brief, and `computed`."""
        for name in cls.model_fields.keys() - computed.keys():
            computed[name] = _shorten(getattr(answer, name))
        return cls.model_construct(**computed)


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
    def from_answer(cls, answer: MemoryOut, **computed: Any) -> Self:
        return super().from_answer(answer, stale=bool(answer.stale_because), **computed)


class BriefResult(BriefMemory):
    """A memory found, and how well it matches."""

    score: float
    in_question: list[UUID] = Field([], description="The reviews that wait and concern it.")

    @classmethod
    def from_result(cls, result: ResultOut) -> Self:
        score = round(result.score, 4)
        return cls.from_answer(result.memory, score=score, in_question=result.in_question)


class BriefTurn(BriefAnswer):
    """A message that was found."""

    role: Role
    name: str | None = None
    content: str
    said_at: Time
    score: float

    @classmethod
    def from_turn(cls, turn: TurnOut) -> Self:
        return cls.from_answer(turn, score=round(turn.score, 4))


class BriefSearchAnswer(BriefAnswer):
    """Best first."""

    results: list[BriefResult]
    turns: list[BriefTurn] = Field([], description="Messages, if they were to be searched.")
    window: WindowOut | None = Field(None, description="The time that the query asks about.")
    truncated: bool = Field(default=False, description="Others were found: narrow the search.")


class BriefListAnswer(BriefAnswer):
    """A page of memories."""

    items: list[BriefMemory]
    next_cursor: str | None = None
    strength_as_of: Time | None = Field(
        None, description="The order is that of the strengths at this time, if it is there."
    )


class BriefContextAnswer(BriefAnswer):
    """What holds, as text for a prompt."""

    text: str
    tokens: int = Field(description="Tokens of the text, by estimate.")
    left_out: int = Field(0, description="How many others hold that did not fit.")
    questions: list[ContextQuestionOut] = Field([], description="The questions in the text.")


class BriefOperation(BriefAnswer):
    """One operation."""

    id: UUID
    operation: Operation
    target_memory_id: UUID | None = None
    reasoning: str
    created_at: Time


class BriefHistoryAnswer(BriefAnswer):
    """The line of a memory, oldest first, and the operations on it."""

    current: UUID | None = Field(None, description="The version that holds at as_of.")
    versions: list[BriefMemory]
    joints: list[JointOut] = Field([], description="Where it goes on in another chain.")
    operations: list[BriefOperation] = Field(description="What changed them.")
    next_cursor: str | None = None


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


class BriefPart(BriefAnswer):
    """A part of a text that was split, and what storing it came to."""

    text: str
    answer: BriefWriteAnswer | Problem = Field(description="What storing it came to.")


class BriefStoreAnswer(BriefWriteAnswer):
    """What a store did; of a text that was split, what the first of its parts did."""

    parts: list[BriefPart] = Field([], description="The parts of a text that was split, in order.")


class BriefBatchAnswer(BriefAnswer):
    """One result per item, in order."""

    waiting: dict[ReviewSource, int] = Field(
        {}, description="How many changes wait for a decision, by the source of their reviews."
    )
    results: list[BriefStoreAnswer | Problem]


class BriefCandidate(BriefAnswer):
    """A stored memory that the question may concern; `sentence` has its text."""

    letter: str = Field(description="Its letter in the question, by which an answer chooses it.")
    memory_id: UUID


class BriefReview(BriefAnswer):
    """A change that waits for a person, or waited."""

    id: UUID
    status: ReviewStatus
    source: ReviewSource
    sentence: str = Field(description="The question, with both texts.")
    candidates: list[BriefCandidate] = Field([], description="What the question may concern.")
    memory_id: UUID | None = Field(None, description="The fact that was stored beside, for now.")
    note: str | None = Field(None, description="What the person said who decided it.")
    created_at: Time


class BriefReviewsAnswer(BriefAnswer):
    """A page of reviews, newest first."""

    items: list[BriefReview]
    next_cursor: str | None = None


class BriefReviewDetail(BriefReview):
    """A review with what accepting it now would do."""

    before: list[BriefMemory] = Field([], description="What it is about, as it stands.")
    after: list[BriefMemory] = Field([], description="The same, once it is accepted.")
    obstacle: str | None = Field(None, description="Why it cannot be accepted as things are.")


class BriefDecided(BriefAnswer):
    """What became of one review."""

    review_id: UUID
    result: BriefWriteAnswer | Problem = Field(description="What deciding it came to.")


class BriefDecideAnswer(BriefAnswer):
    """One result per review, in order."""

    results: list[BriefDecided]


class BriefAnswered(BriefAnswer):
    """What one answer came to."""

    question: str = Field(description="As the call named it.")
    review_id: UUID | None = Field(None, description="Left out if there is no such review.")
    result: BriefWriteAnswer | Problem = Field(description="What deciding it came to.")


class BriefAnswersAnswer(BriefAnswer):
    """One result per answer, in order."""

    results: list[BriefAnswered]


class BriefRevertAnswer(BriefWriteAnswer):
    """What undoing did; `superseded` names what it withdrew."""

    reverted: list[UUID] = Field(description="The operations undone, newest first.")


class BriefRevertsAnswer(BriefAnswer):
    """What was undone, newest first; on a dry run, what would be."""

    reverted: list[UUID] = Field(description="The operations undone.")
    results: list[BriefWriteAnswer] = Field(description="What undoing each of them did.")
    dry_run: bool = False


class BriefCapturedFact(BriefAnswer):
    """A fact that was read from a message, and what became of it."""

    position: int = Field(description="The place of its message in the call, from 0.")
    content: str | None = Field(None, description="Left out where it was erased.")
    operation: Operation | None = Field(
        None, description="Left out where it waits as a review, or for a `problem`."
    )
    memory_id: UUID | None = Field(None, description="The memory that says it.")
    superseded: list[SupersededOut] = Field(
        [], description="What it ended. Left out in answers of later calls."
    )
    log_id: UUID | None = Field(None, description="What undoes it.")
    review_id: UUID | None = Field(None, description="The review that waits for a person.")
    problem: str | None = Field(None, description="Why it could not be stored.")
    repeated: bool = Field(
        default=False, description="An earlier capture has its message, and stored it."
    )


class BriefCaptureAnswer(BriefAnswer):
    """How far the messages of a call are read, and the facts."""

    capture_id: UUID | None = Field(None, description="Left out on a dry run.")
    state: CaptureState
    total: int = Field(description="Messages of this capture, without the repeated ones.")
    done: int = Field(description="How many of them have been read.")
    facts: list[BriefCapturedFact] = Field(description="In the order of the messages.")
    trouble: str | None = Field(
        None, description="Why the model's answer, or a part of it, was not used."
    )
    error: str | None = Field(None, description="What stopped it last.")
    dry_run: bool = False

    @classmethod
    def from_capture(cls, answer: CaptureAnswer) -> Self:
        facts = []
        for message in answer.messages:
            for fact in message.facts:
                ended = fact.answer.superseded if isinstance(fact.answer, WriteAnswer) else []
                facts.append(
                    BriefCapturedFact.from_answer(
                        fact,
                        position=message.position,
                        superseded=ended,
                        repeated=message.repeated,
                    )
                )
        return cls.from_answer(answer, facts=facts)


class BriefCaptureSummary(BriefAnswer):
    """How far the messages of a call are read."""

    capture_id: UUID = Field(description="What GET /v1/captures/ID takes.")
    session_id: str | None = Field(None, description="Left out where the session was erased.")
    state: CaptureState
    total: int = Field(description="Its messages, without the repeated ones.")
    done: int = Field(description="How many of them have been read.")
    received_at: Time
    error: str | None = Field(None, description="What stopped it last.")


class BriefCapturesAnswer(BriefAnswer):
    """A page of captures, newest first."""

    items: list[BriefCaptureSummary]
    next_cursor: str | None = None


_FORMS: Final[dict[type, Callable[[Any], Any]]] = {
    MemoryOut: BriefMemory.from_answer,
    ResultOut: BriefResult.from_result,
    TurnOut: BriefTurn.from_turn,
    SearchAnswer: BriefSearchAnswer.from_answer,
    ListAnswer: BriefListAnswer.from_answer,
    ContextAnswer: BriefContextAnswer.from_answer,
    OperationOut: BriefOperation.from_answer,
    HistoryAnswer: BriefHistoryAnswer.from_answer,
    HintOut: attrgetter("sentence"),
    StaleOut: attrgetter("memory_id"),
    WriteAnswer: BriefWriteAnswer.from_answer,
    PartOut: BriefPart.from_answer,
    StoreAnswer: BriefStoreAnswer.from_answer,
    BatchAnswer: BriefBatchAnswer.from_answer,
    NamedMemoryOut: BriefCandidate.from_answer,
    ReviewOut: BriefReview.from_answer,
    ReviewsAnswer: BriefReviewsAnswer.from_answer,
    ReviewDetailOut: BriefReviewDetail.from_answer,
    DecidedOut: BriefDecided.from_answer,
    DecideAnswer: BriefDecideAnswer.from_answer,
    AnsweredOut: BriefAnswered.from_answer,
    AnswersAnswer: BriefAnswersAnswer.from_answer,
    RevertAnswer: BriefRevertAnswer.from_answer,
    RevertsAnswer: BriefRevertsAnswer.from_answer,
    CaptureAnswer: BriefCaptureAnswer.from_capture,
    CaptureSummary: BriefCaptureSummary.from_answer,
    CapturesAnswer: BriefCapturesAnswer.from_answer,
}


def shorten_answer(answer: AnswerBase) -> BriefAnswer:
    """Return the answer in brief. Only some answers have such a form."""
    shown: BriefAnswer = _FORMS[type(answer)](answer)
    return shown


def _shorten(value: Any) -> Any:
    """Return a value in brief, or as it is if it has no such form."""
    if isinstance(value, list):
        return list(map(_shorten, value))
    shorten = _FORMS.get(type(value))
    return shorten(value) if shorten else value
