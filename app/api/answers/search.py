"""Answers of searches."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Literal, Self
from uuid import UUID

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.api.answers.memories import MemoryOut
from app.api.times import Time
from app.domain.dates.window import Window
from app.domain.strength import HalfLives
from app.domain.talk import Role
from app.domain.version import Memory, Status
from app.store.captures.search import FoundTurn
from app.store.ranking import Hit
from app.store.search import Hits


class ResultOut(AnswerBase):
    """A memory found, how well it matches and why it holds."""

    memory: MemoryOut
    score: float
    scores: dict[str, float] = Field(
        description="`vector`: cosine; `text`: how much the rare words in common say."
    )
    why: str
    in_question: list[UUID] = Field(
        description="The reviews that wait and ask whether it ended, or whether it ends another."
    )

    @classmethod
    def from_hit(
        cls, hit: Hit, as_of: datetime, half_lives: HalfLives, in_question: Sequence[UUID]
    ) -> Self:
        memory = MemoryOut.from_memory(hit.memory, as_of, half_lives)
        return cls.model_construct(
            memory=memory,
            score=hit.score,
            scores=hit.scores,
            why=_explain_hit(hit.memory, memory.status),
            in_question=list(in_question),
        )


def _explain_hit(memory: Memory, status: Status) -> str:
    """Return a sentence: since when the memory holds, until when, and what it replaced.

    If nobody said since when, the sentence names the time at which the memory was told.
    """
    belief = memory.belief
    if memory.stated_start is None:
        sentence = f"{status.value}: told {_format_minute(memory.told_at)}"
    else:
        sentence = f"{status.value}: since {_format_minute(memory.stated_start)}"
    if belief.valid_until:
        sentence += f" until {_format_minute(belief.valid_until)}"
    if memory.supersedes_id:
        sentence += f"; replaced {memory.supersedes_id}"
    if belief.superseded_by:
        sentence += f"; replaced by {belief.superseded_by}"
    return sentence


def _format_minute(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M} UTC"


class TurnOut(AnswerBase):
    """A message that was found: what was said, which need not be so."""

    id: UUID
    capture_id: UUID = Field(description="The capture that has the message.")
    session_id: str | None
    role: Role
    name: str | None
    content: str
    said_at: Time
    score: float

    @classmethod
    def from_turn(cls, turn: FoundTurn) -> Self:
        return cls.model_construct(**asdict(turn))


class WindowOut(AnswerBase):
    """The time that a question asks about. An end that its words leave open is null."""

    text: str = Field(description="The words of the question that name it.")
    start: Time | None = Field(description="The first moment of the time.")
    end: Time | None = Field(description="The first moment after the time.")

    @classmethod
    def from_window(cls, window: Window) -> Self:
        return cls.model_construct(**asdict(window))


class SearchAnswer(AnswerBase):
    """Best first."""

    results: list[ResultOut]
    turns: list[TurnOut] = Field(description="Messages, if they were to be searched.")
    window: WindowOut | None = Field(
        description="The time that the words of the query ask about, if they were read so."
    )
    truncated: bool = Field(
        description=(
            "True if others were found, but the answer is as large as one may be "
            "(`PALIMPSEST_MAX_ANSWER_BYTES`). Narrow the search to see them."
        )
    )
    approximate: bool = Field(
        description=(
            "True if the agent's index found the results: one that is nearer may be missing. "
            "`exact` rules that out."
        )
    )
    as_of: Time
    known_at: Time

    @classmethod
    def from_hits(
        cls, hits: Hits, sort: Literal["score", "strength"], half_lives: HalfLives
    ) -> Self:
        moment = hits.moment
        questions = [hits.in_question.get(hit.memory.id, ()) for hit in hits.hits]
        results = [
            ResultOut.from_hit(hit, moment.as_of, half_lives, in_question)
            for hit, in_question in zip(hits.hits, questions, strict=True)
        ]
        if sort == "strength":
            results.sort(key=lambda result: result.memory.strength, reverse=True)
        return cls.model_construct(
            results=results,
            turns=list(map(TurnOut.from_turn, hits.turns)),
            window=hits.window and WindowOut.from_window(hits.window),
            truncated=hits.is_cut,
            approximate=hits.is_approximate,
            as_of=moment.as_of,
            known_at=moment.known_at,
        )
