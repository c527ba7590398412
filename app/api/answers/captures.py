"""Answers of the routes of messages and captures."""

from collections.abc import Mapping
from typing import Any, Self
from uuid import UUID

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.api.answers.problem import Problem
from app.api.answers.writes import WriteAnswer, render_answer
from app.api.times import Time
from app.domain.captures import CaptureState, ExtractBy
from app.domain.relation import Operation
from app.domain.strength import HalfLives
from app.domain.talk import Role, SkipReason
from app.services.capture_reports import CaptureReport, ReportedTurn
from app.store.captures.captures import CapturedFact, SkippedSpan, StoredQuote, StoredTurn


class QuoteOut(AnswerBase):
    """A verbatim part of a message."""

    capture_id: UUID = Field(description="The capture that has the message.")
    position: int = Field(description="The place of the message in that capture, from 0.")
    message_id: str | None = Field(description="The caller's own `id` of the message.")
    role: Role = Field(description="Who said it.")
    start: int = Field(description="Characters of the message, from 0, secrets taken out before.")
    end: int
    text: str | None = Field(description="Null if it was erased, or if the message is too old.")

    @classmethod
    def from_quote(cls, quote: StoredQuote, turn: StoredTurn) -> Self:
        text = _cut_text(turn, quote.start, quote.end)
        return cls.from_attributes(turn, start=quote.start, end=quote.end, text=text)


def _cut_text(turn: StoredTurn, start: int, end: int) -> str | None:
    """Return a part of a message, or None if its words are gone. Erased parts are blank."""
    text = (turn.content or "")[start:end]
    return text if text.strip() else None


def list_quotes(fact: CapturedFact, turns: Mapping[UUID, StoredTurn]) -> list[QuoteOut]:
    """Return what a fact quotes. `turns` holds the quoted turns by id."""
    return [QuoteOut.from_quote(quote, turns[quote.turn_id]) for quote in fact.quotes]


class CapturedFactOut(AnswerBase):
    """A fact that was read from a message, and what became of it."""

    content: str | None = Field(description="Null if it was erased, or if the message is too old.")
    quotes: list[QuoteOut] = Field(
        description=(
            "The words that it rests on, the speaker's own first. Facts of one sentence have the "
            "same quotes."
        )
    )
    operation: Operation | None = Field(
        description="Null if the agent is frozen and it waits as a review, or for a `problem`."
    )
    memory_id: UUID | None = Field(description="The memory that says it.")
    log_id: UUID | None
    review_id: UUID | None
    problem: str | None = Field(description="Why it could not be stored.")
    answer: WriteAnswer | Problem | None = Field(
        description="What storing it came to. Null in answers of later calls."
    )

    @classmethod
    def from_fact(
        cls,
        fact: CapturedFact,
        turns: Mapping[UUID, StoredTurn],
        answer: WriteAnswer | Problem | None,
    ) -> Self:
        return cls.from_attributes(fact, quotes=list_quotes(fact, turns), answer=answer)


class SkippedOut(AnswerBase):
    """A part of a message that became no fact."""

    text: str | None
    start: int = Field(description="Where it begins: characters from 0.")
    end: int
    reason: SkipReason

    @classmethod
    def from_span(cls, span: SkippedSpan, turn: StoredTurn) -> Self:
        return cls.from_attributes(span, text=_cut_text(turn, span.start, span.end))


class CapturedMessageOut(AnswerBase):
    """A message, the facts that were read from it, and what of it became no fact."""

    position: int = Field(description="Its place in the call, from 0.")
    id: str | None = Field(description="The id that the caller gave it; null: none.")
    role: Role
    name: str | None = Field(description="The name of the speaker; null: none.")
    content: str | None = Field(
        description=(
            "As it is stored: without secrets, and with spaces for parts that were erased. Null if "
            "no word is left, or if it is too old."
        )
    )
    at: Time = Field(description="When it was said.")
    capture_id: UUID = Field(description="The capture that has it.")
    repeated: bool = Field(
        description="True if an earlier capture has it. It was not stored again."
    )
    done: bool = Field(description="False while its facts are not read yet.")
    facts: list[CapturedFactOut] = Field(
        description="The facts that were read from it, and what became of each."
    )
    skipped: list[SkippedOut] = Field(
        description="The parts that became no fact, each with the reason."
    )


class CaptureSummary(AnswerBase):
    """The messages of a call, and how far they are read."""

    capture_id: UUID | None = Field(description="Null on a dry run.")
    session_id: str | None = Field(description="Null if the session was erased.")
    state: CaptureState
    extract: ExtractBy = Field(description="What was asked to read the facts.")
    extractor: ExtractBy | None = Field(
        description="What read them. `rules` if the model failed for a part of them."
    )
    trouble: str | None = Field(
        description="Why the model's answer, or a part of it, was not used."
    )
    trust: int = Field(description="The trust of the facts.")
    redacted: int = Field(description="Secrets that were taken out of the messages.")
    total: int = Field(description="Messages of this capture, without the repeated ones.")
    done: int = Field(description="How many of them have been read.")
    repeated: int = Field(description="Messages of the call that an earlier capture has.")
    error: str | None = Field(description="What stopped it last.")
    received_at: Time
    due_at: Time | None = Field(
        description="A worker reads it then, if no further messages of the session come before."
    )
    finished_at: Time | None


class ListedCapture(CaptureSummary):
    """A capture in a list: its beginning, and what was read from it."""

    first_words: str | None = Field(
        description="Up to 200 characters of its first message; null if no word is left."
    )
    facts: int = Field(description="Facts that were read from its messages.")
    skipped: int = Field(description="Parts of its messages that became no fact.")

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        return cls.from_values({**row, "capture_id": row["id"], "total": row["turns"]})


class CapturesAnswer(AnswerBase):
    """Captures, newest first; the messages of each stand in the capture itself."""

    items: list[ListedCapture]
    next_cursor: str | None


class CaptureAnswer(CaptureSummary):
    """The messages of a call, how far they are read, and the facts of each."""

    dry_run: bool = Field(
        description="Whether nothing was stored, because the call asked what would be."
    )
    messages: list[CapturedMessageOut] = Field(
        description="The messages, each with the facts read from it and what became none."
    )

    @classmethod
    def from_report(cls, report: CaptureReport, half_lives: HalfLives) -> Self:
        capture = report.capture
        messages = [_build_message(entry, report, half_lives) for entry in report.turns]
        return cls.from_attributes(
            capture,
            capture_id=None if report.dry_run else capture.id,
            state=CaptureState.DONE if report.dry_run else capture.state,
            total=capture.turns,
            done=sum(turn.done for turn in report.own_turns),
            dry_run=report.dry_run,
            messages=messages,
        )


def _build_message(
    entry: ReportedTurn, report: CaptureReport, half_lives: HalfLives
) -> CapturedMessageOut:
    turn = entry.turn
    facts: list[CapturedFactOut] = []
    for fact in entry.facts:
        stored = report.answers.get(fact.id)
        answer = None if stored is None else render_answer(stored, half_lives)
        facts.append(CapturedFactOut.from_fact(fact, report.quoted, answer))
    return CapturedMessageOut.from_attributes(
        turn,
        position=entry.place,
        id=turn.message_id,
        at=turn.said_at,
        repeated=entry.repeated,
        facts=facts,
        skipped=[SkippedOut.from_span(span, turn) for span in turn.skipped],
    )
