"""The answer of the route that explains a memory."""

from typing import Self
from uuid import UUID

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.api.answers.captures import QuoteOut, list_quotes
from app.api.answers.memories import MemoryOut
from app.api.answers.writes import SignalOut
from app.api.times import Time
from app.domain.relation import Relation
from app.domain.strength import HalfLives
from app.planning.why.story import Event, EventKind
from app.services.why import Why


class EventOut(AnswerBase):
    __doc__ = (
        "One thing that happened to the memory's chain: an operation, a review, or a fact that was "
        "kept apart from it."
    )

    kind: EventKind
    at: Time = Field(description="When it became known.")
    valid: Time | None = Field(
        description="The moment in valid time that it is about: a start, or an end that moved."
    )
    sentence: str
    log_id: UUID | None
    review_id: UUID | None
    decided_by: str | None
    actor: str | None = Field(description="Who wrote the operation, as `actor` in the log.")
    relation: Relation
    confidence: float | None
    signals: list[SignalOut]
    memory_ids: list[UUID]

    @classmethod
    def from_event(cls, event: Event) -> Self:
        signals = [SignalOut.from_attributes(finding) for finding in event.signals]
        return cls.from_attributes(event, signals=signals, memory_ids=list(event.memory_ids))


def _fit_events(events: list[EventOut], max_bytes: int) -> list[EventOut]:
    """Return the last events, as many as fit into so many bytes of JSON. One always fits."""
    left = max_bytes
    for count, event in enumerate(reversed(events)):
        left -= len(event.model_dump_json().encode())
        if left < 0 and count:
            return events[-count:]
    return events


class WhyAnswer(AnswerBase):
    __doc__ = (
        "The memory as it stands, why in a sentence or two, and all that led to it, in the order "
        "in which it became known."
    )

    memory: MemoryOut
    summary: str = Field(description="Its story in a sentence.")
    events: list[EventOut] = Field(description="What happened to it, oldest first.")
    truncated: bool = Field(
        description=(
            "True if the first events are left out, because the answer is as large as one may be "
            "(`PALIMPSEST_MAX_ANSWER_BYTES`). Ask an earlier version of its chain, at an earlier "
            "`known_at`, to see them."
        )
    )
    log_archived_until: Time | None = Field(
        description=(
            "Where operations were archived since the chain began: the known time of the last. Up "
            "to then, some may be missing."
        )
    )
    quotes: list[QuoteOut] = Field(
        [],
        description=(
            "The parts of messages that say it: those that it was read from, and those that "
            "repeated it. `capture_id` leads to their capture."
        ),
    )
    as_of: Time
    known_at: Time

    @classmethod
    def from_why(cls, result: Why, half_lives: HalfLives, *, max_bytes: int) -> Self:
        moment = result.moment
        events = [EventOut.from_event(event) for event in result.story.events]
        shown = _fit_events(events, max_bytes)
        return cls.model_construct(
            memory=MemoryOut.from_memory(result.memory, moment.as_of, half_lives),
            summary=result.story.summary,
            events=shown,
            truncated=len(shown) < len(events),
            log_archived_until=result.archived_until,
            quotes=[quote for fact in result.sources for quote in list_quotes(fact, result.quoted)],
            as_of=moment.as_of,
            known_at=moment.known_at,
        )
