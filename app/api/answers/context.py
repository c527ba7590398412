"""The answer of the route of contexts."""

from typing import Self
from uuid import UUID

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.api.answers.memories import MemoryOut
from app.api.answers.writes import HintOut
from app.api.times import Time
from app.domain.context import SECTIONS, ContextItem
from app.domain.fact import Kind
from app.domain.strength import HalfLives
from app.services.context import ComposedContext


class ContextItemOut(AnswerBase):
    __doc__ = (
        "A memory, the line it takes in the text, how useful it is, 0 to 1, and what should be "
        "known before acting on it."
    )

    memory: MemoryOut
    line: str
    usefulness: float = Field(
        description="What it was chosen by: strength, and nearness to the query."
    )
    in_question: list[UUID] = Field(
        description="The reviews that wait and ask whether it ended, or whether it ends another."
    )
    hints: list[HintOut] = Field(
        description="`unstable_slot`, `flip_flop`: ask before acting on it."
    )

    @classmethod
    def from_item(cls, item: ContextItem, composed: ComposedContext, half_lives: HalfLives) -> Self:
        memory = MemoryOut.from_memory(item.memory, composed.moment.as_of, half_lives)
        hints = composed.hints.get(memory.id, ())
        return cls.model_construct(
            memory=memory,
            line=item.line.rstrip("\n"),
            usefulness=round(item.usefulness, 6),
            in_question=list(item.in_question),
            hints=[HintOut.from_hint(hint) for hint in hints],
        )


class ContextQuestionOut(AnswerBase):
    """A question that waits, and the line it takes in the text."""

    review_id: UUID
    handle: str = Field(description="What names it in an answer, as the id of the review does.")
    line: str
    letters: dict[str, UUID] = Field(description="The memories that its letters stand for.")


class ContextAnswer(AnswerBase):
    __doc__ = (
        "What holds, by kind, most useful first: as text for a prompt, and as items in the order "
        "of the text."
    )

    text: str = Field(description="The context as text, ready for a prompt.")
    tokens: int = Field(description="Tokens of the text, by the same estimate.")
    items: dict[Kind, list[ContextItemOut]] = Field(
        description="The memories of the text, by kind."
    )
    left_out: int = Field(
        description=(
            "How many others hold that did not fit. Equal texts count once where both were read. "
            "In a large agent, which has an index, no more than 3,000 are counted."
        )
    )
    questions: list[ContextQuestionOut] = Field(
        description="The open questions at the end of the text: POST /v1/reviews/answers."
    )
    as_of: Time
    known_at: Time

    @classmethod
    def from_context(cls, composed: ComposedContext, half_lives: HalfLives) -> Self:
        items: dict[str, list[ContextItemOut]] = {kind.value: [] for kind in SECTIONS}
        for item in composed.context.items:
            answered = ContextItemOut.from_item(item, composed, half_lives)
            items[item.kind.value].append(answered)
        return cls.model_construct(
            text=composed.context.text,
            tokens=composed.context.tokens,
            items=items,
            left_out=composed.context.left_out,
            questions=list(map(ContextQuestionOut.from_attributes, composed.context.questions)),
            as_of=composed.moment.as_of,
            known_at=composed.moment.known_at,
        )
