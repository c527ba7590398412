"""Answers of the routes that read the log."""

from collections.abc import Mapping
from typing import Any, Self
from uuid import UUID

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.api.times import Time
from app.domain.relation import Operation, Relation
from app.planning.plan import ReviewSource
from app.store.log.state import list_opinions


class OperationOut(AnswerBase):
    """One operation, in short."""

    id: UUID
    operation: Operation
    source_memory_ids: list[UUID] = Field(description="The memories that it started from.")
    target_memory_id: UUID | None
    relation: Relation
    confidence: float
    reasoning: str
    decided_by: str
    actor: str | None = Field(
        description="Who wrote it: the caller's key, `anonymous` without one, or "
        "`sweep:` with the sweep's id; null for operations from before actors were noted."
    )
    created_at: Time


class LogEntryOut(OperationOut):
    """One operation, with everything it read and wrote."""

    review: ReviewSource | None = Field(
        description="The reason of the review that it left, if it left one. An ADD with one is a "
        "fact that was stored beside what it may change; in shadow mode the reason is shadow."
    )
    signals: list[Any]
    incoming: dict[str, Any] | None = Field(
        description="What the caller sent; null where it was erased."
    )
    before_state: list[dict[str, Any]] = Field(
        description="The memories concerned, before the operation."
    )
    after_state: list[dict[str, Any]] = Field(
        description="The memories concerned, after the operation."
    )
    model: str | None = Field(description="The language model that was asked; null: none.")
    prompt_version: str | None = Field(
        description="The version of the prompt for the model; null: none was asked."
    )
    usage: dict[str, Any] | None
    duration_ms: float | None = Field(description="How long the operation took, in milliseconds.")
    session_id: str | None
    request_id: str | None = Field(description="The X-Request-Id of the call.")
    reverts: UUID | None = Field(description="The operation that this one undid.")
    reverted_by: UUID | None = Field(description="The operation that undid this one.")
    chain_hash: str | None = Field(
        description="SHA-256 in hexadecimal over this operation and the hash of the one before; "
        "null for operations from before the log was a chain."
    )
    opinions: list[dict[str, Any]] = Field(
        description=(
            "What each judge said of the memories in which one of them saw a change or a "
            "repetition, also if its word did not count; ten memories at most. `not_done` has what "
            "was proposed and not done, and the reason. `vetoes` say why a memory that is alike "
            "is about something else."
        )
    )

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        return cls.from_values({**row, "opinions": list_opinions(row)})


class LogAnswer(AnswerBase):
    """Operations, newest first."""

    items: list[LogEntryOut]
    next_cursor: str | None
