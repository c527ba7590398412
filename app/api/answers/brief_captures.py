"""Captures in brief: the facts that were read, and what became of each."""

from collections.abc import Iterator
from typing import Self
from uuid import UUID

from pydantic import Field

from app.api.answers.brief import BriefAnswer
from app.api.answers.captures import (
    CaptureAnswer,
    CapturedFactOut,
    CapturedMessageOut,
    CapturesAnswer,
    CaptureSummary,
)
from app.api.answers.writes import SupersededOut, WriteAnswer
from app.api.times import Time
from app.domain.captures import CaptureState
from app.domain.relation import Operation


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

    @classmethod
    def list_from_message(cls, message: CapturedMessageOut) -> Iterator[Self]:
        for fact in message.facts:
            yield cls.model_construct(
                position=message.position,
                content=fact.content,
                operation=fact.operation,
                memory_id=fact.memory_id,
                superseded=_list_superseded(fact),
                log_id=fact.log_id,
                review_id=fact.review_id,
                problem=fact.problem,
                repeated=message.repeated,
            )


def _list_superseded(fact: CapturedFactOut) -> list[SupersededOut]:
    return fact.answer.superseded if isinstance(fact.answer, WriteAnswer) else []


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
    def from_answer(cls, answer: CaptureAnswer) -> Self:
        names = ("capture_id", "state", "total", "done", "trouble", "error", "dry_run")
        facts: list[BriefCapturedFact] = []
        for message in answer.messages:
            facts.extend(BriefCapturedFact.list_from_message(message))
        return cls.model_construct(**{name: getattr(answer, name) for name in names}, facts=facts)


class BriefCaptureSummary(BriefAnswer):
    """How far the messages of a call are read."""

    capture_id: UUID = Field(description="What GET /v1/captures/ID takes.")
    session_id: str | None = Field(None, description="Left out where the session was erased.")
    state: CaptureState
    total: int = Field(description="Its messages, without the repeated ones.")
    done: int = Field(description="How many of them have been read.")
    received_at: Time
    error: str | None = Field(None, description="What stopped it last.")

    @classmethod
    def from_summary(cls, summary: CaptureSummary) -> Self:
        return cls.from_attributes(summary)


class BriefCapturesAnswer(BriefAnswer):
    """A page of captures, newest first."""

    items: list[BriefCaptureSummary]
    next_cursor: str | None = None

    @classmethod
    def from_answer(cls, answer: CapturesAnswer) -> Self:
        items = [BriefCaptureSummary.from_summary(summary) for summary in answer.items]
        return cls.model_construct(items=items, next_cursor=answer.next_cursor)
