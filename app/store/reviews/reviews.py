"""The rows of reviews: changes that wait for a person, and stores that wait."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.engine import RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.relation import Decision, Judge, Operation, Relation
from app.domain.version import Belief
from app.planning.plan import Plan, Review
from app.planning.reviews import Proposal, build_held_review
from app.store.bounded import bound_page
from app.store.engine import fetch_rows
from app.store.log.state import (
    Incoming,
    decode_beliefs,
    decode_corrections,
    decode_findings,
    decode_incoming,
    decode_judgments,
    decode_relied_on,
    encode_incoming,
    encode_judgments,
    encode_relied_on,
    to_jsonb,
)
from app.store.memories import After


@dataclass(frozen=True, slots=True)
class StoredReview:
    """A review with its proposal; `incoming` is the store that waits in it, if any."""

    proposal: Proposal
    status: str
    decision_log_id: UUID | None
    incoming: Incoming | None


@dataclass(frozen=True, slots=True)
class ReviewFilters:
    """Filters of a list of reviews.

    `memory_id` selects the reviews in favour of a memory and the reviews about it.
    """

    status: str | None = None
    source: str | None = None
    relation: str | None = None
    memory_id: UUID | None = None
    min_confidence: float | None = None


_CONDITIONS = {
    "status": "status = :status",
    "source": "source = :source",
    "relation": "relation = :relation",
    "memory_id": """
        (memory_id = :memory_id
         OR jsonb_exists(relied_on, CAST(CAST(:memory_id AS uuid) AS text)))
    """,
    "min_confidence": "CAST(judgments -> 0 ->> 'confidence' AS float8) >= :min_confidence",
}


async def list_reviews(
    connection: AsyncConnection,
    agent: AgentId,
    filters: ReviewFilters,
    *,
    limit: int,
    max_bytes: int,
    after: After | None,
) -> list[dict[str, Any]]:
    """Return the rows of reviews, newest first, until they reach `max_bytes` as JSON."""
    where, values = _where_reviews(filters)
    if after is not None:
        where += " AND (created_at, id) < (:after_created_at, :after_id)"
        values |= {"after_created_at": after.created_at, "after_id": after.memory_id}
    order = "created_at DESC, id DESC"
    page = f"SELECT * FROM reviews WHERE {where} ORDER BY {order} LIMIT :limit"
    statement = f"{bound_page(page, order)} ORDER BY {order}"
    values |= {"agent": agent, "limit": limit, "max_bytes": max_bytes}
    return await fetch_rows(connection, statement, values)


def _where_reviews(filters: ReviewFilters) -> tuple[str, dict[str, Any]]:
    conditions = ["agent_id = :agent"]
    values = {}
    for field in fields(filters):
        value = getattr(filters, field.name)
        if value is not None:
            conditions.append(_CONDITIONS[field.name])
            values[field.name] = value
    return " AND ".join(conditions), values


async def find_review_row(
    connection: AsyncConnection, agent: AgentId, review_id: UUID
) -> dict[str, Any] | None:
    statement = "SELECT * FROM reviews WHERE agent_id = :agent AND id = :id"
    rows = await fetch_rows(connection, statement, {"agent": agent, "id": review_id})
    return rows[0] if rows else None


async def find_stored_review(
    connection: AsyncConnection, agent: AgentId, review_id: UUID
) -> StoredReview | None:
    row = await find_review_row(connection, agent, review_id)
    return stored_review_from_row(row) if row else None


# List the oldest reviews that have been waiting since before a time.
_OVERDUE = """
    SELECT *
    FROM reviews
    WHERE agent_id = :agent AND status = 'pending' AND created_at < :before
    ORDER BY created_at
    LIMIT 1000
"""


async def list_overdue_reviews(
    connection: AsyncConnection, agent: AgentId, before: datetime
) -> list[StoredReview]:
    """Return reviews that have been waiting since before that time, a thousand at most."""
    rows = await fetch_rows(connection, _OVERDUE, {"agent": agent, "before": before})
    return list(map(stored_review_from_row, rows))


# Set the revisions that a proposal relies on.
_SET_RELIED_ON = "UPDATE reviews SET relied_on = :relied_on WHERE agent_id = :agent AND id = :id"


async def set_relied_revisions(
    connection: AsyncConnection, agent: AgentId, review_id: UUID, revisions: Mapping[UUID, int]
) -> None:
    relied_on = to_jsonb(encode_relied_on(revisions.items()))
    values = {"agent": agent, "id": review_id, "relied_on": relied_on}
    await fetch_rows(connection, _SET_RELIED_ON, values)


# Let the store of a call wait in a review, which its operation has left.
_HOLD = "UPDATE reviews SET incoming = :incoming WHERE agent_id = :agent AND id = :id"


async def hold_store(
    connection: AsyncConnection, agent: AgentId, review_id: UUID, incoming: Incoming
) -> None:
    """Let a store wait in the review."""
    values = {"agent": agent, "id": review_id, "incoming": to_jsonb(encode_incoming(incoming))}
    await fetch_rows(connection, _HOLD, values)


# Replace the proposal of a store that still waits.
_UPDATE_PROPOSAL = """
    UPDATE reviews SET
        relation = :relation,
        sentence = :sentence,
        judgments = :judgments,
        relied_on = :relied_on
    WHERE agent_id = :agent AND id = :id AND status = 'pending'
"""


async def update_hold_proposal(
    connection: AsyncConnection, agent: AgentId, review_id: UUID, review: Review | None
) -> None:
    """Replace the proposal of a store that waits; None if it would change no memory now."""
    values = {"agent": agent, "id": review_id, **_proposal_values(review)}
    await fetch_rows(connection, _UPDATE_PROPOSAL, values)


def _proposal_values(proposed: Review | None) -> dict[str, Any]:
    """Return the columns of the proposal of a store that waits."""
    review = build_held_review(proposed)
    return {
        "relation": review.relation,
        "sentence": review.sentence,
        "judgments": to_jsonb(encode_judgments(review.judgments)),
        "relied_on": to_jsonb(encode_relied_on(review.relied_on)),
    }


# Count the changes that shadow mode would have made and how people decided about them, by
# relation, judge and confidence in bands of a tenth.
_SHADOW_REPORT = """
    WITH proposed AS (
        SELECT r.*,
               judgments -> 0 ->> 'decided_by' AS decided_by,
               CAST(judgments -> 0 ->> 'confidence' AS float8) AS confidence
        FROM reviews r
        WHERE agent_id = :agent AND source = 'shadow'
          AND created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
          AND jsonb_array_length(judgments) > 0
    )
    SELECT relation, decided_by, least(floor(confidence * 10), 9) / 10 AS band,
           count(*) AS proposed,
           count(*) FILTER (WHERE status = 'accepted') AS accepted,
           count(*) FILTER (WHERE status = 'rejected') AS rejected,
           count(*) FILTER (WHERE status = 'pending') AS pending,
           count(*) FILTER (WHERE status = 'expired') AS expired,
           (array_agg(id ORDER BY created_at DESC))[1:3] AS examples
    FROM proposed
    GROUP BY 1, 2, 3
    ORDER BY 1, 2, 3 DESC
"""


async def read_shadow_report(
    connection: AsyncConnection, agent: AgentId, since: datetime | None
) -> list[dict[str, Any]]:
    return await fetch_rows(connection, _SHADOW_REPORT, {"agent": agent, "since": since})


# --- rows as values ----------------------------------------------------------------------------


def stored_review_from_row(row: Mapping[str, Any]) -> StoredReview:
    return StoredReview(
        proposal=proposal_from_row(row),
        status=row["status"],
        decision_log_id=row["decision_log_id"],
        incoming=decode_incoming(row["incoming"]) if row["incoming"] else None,
    )


def proposal_from_row(row: Mapping[str, Any]) -> Proposal:
    return Proposal(
        review_id=row["id"],
        relation=Relation(row["relation"]),
        sentence=row["sentence"],
        created_at=row["created_at"],
        memory_id=row["memory_id"],
        judgments=decode_judgments(row["judgments"]),
        relied_on=decode_relied_on(row["relied_on"]),
        corrections=decode_corrections(row["said"]),
    )


def plan_from_log_row(row: RowMapping, proposal: Proposal) -> Plan:
    """Return the part of a logged decision's plan that answers show."""
    return Plan(
        operation=Operation(row["operation"]),
        now=row["created_at"],
        decision=Decision(
            relation=Relation(row["relation"]),
            confidence=row["confidence"],
            decided_by=Judge(row["decided_by"]),
            reasoning=row["reasoning"],
            findings=decode_findings(row["signals"]),
        ),
        target=row["target_memory_id"],
        superseded=_list_ended(row["after_state"], proposal),
    )


def _list_ended(states: list[dict[str, Any]], proposal: Proposal) -> tuple[UUID, ...]:
    """Return the memories of the proposal that are ended in these states."""
    beliefs = decode_beliefs(states)
    proposed = [*proposal.targets, proposal.memory_id]
    return tuple(i for i in proposed if i in beliefs and _is_ended(beliefs[i]))


def _is_ended(belief: Belief) -> bool:
    return belief.superseded_by is not None or belief.retracted_at is not None
