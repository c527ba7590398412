"""The rows of reviews: changes that wait for a person, and stores that wait."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.fact import Kind
from app.domain.relation import Decision, Judge, Operation, Relation
from app.domain.version import choose_told_time
from app.planning.overtaken import find_ended_targets
from app.planning.plan import Plan, Review, ReviewSource, ReviewStatus
from app.planning.question_text import NamedMemory, Question, build_question
from app.planning.reviews import Proposal, build_held_review
from app.store.bounded import bound_page
from app.store.engine import fetch_rows, read_clock
from app.store.fragments import list_belief_columns
from app.store.log.state import (
    Incoming,
    decode_beliefs,
    decode_corrections,
    decode_findings,
    decode_incoming,
    decode_judgments,
    decode_relied_ids,
    decode_relied_on,
    encode_incoming,
    encode_judgments,
    encode_relied_on,
    to_jsonb,
)
from app.store.memories import After
from app.store.rows import belief_from_row


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
    values = {name: value for name, value in asdict(filters).items() if value is not None}
    conditions = ["agent_id = :agent", *(_CONDITIONS[name] for name in values)]
    if after is not None:
        conditions.append("(created_at, id) < (:after_created_at, :after_id)")
        values |= {"after_created_at": after.created_at, "after_id": after.memory_id}
    order = "created_at DESC, id DESC"
    where = " AND ".join(conditions)
    page = f"SELECT * FROM reviews WHERE {where} ORDER BY {order} LIMIT :limit"
    statement = f"{bound_page(page, order)} ORDER BY {order}"
    values |= {"agent": agent, "limit": limit, "max_bytes": max_bytes}
    return await fetch_rows(connection, statement, values)


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


# List the reviews that wait, or were overtaken, in favour of these memories or about them.
_OPEN_ABOUT = """
    SELECT *
    FROM reviews
    WHERE agent_id = :agent AND status IN ('pending', 'overtaken') AND incoming IS NULL
      AND (memory_id = ANY(:ids) OR relied_on ?| CAST(:named AS text[]))
    ORDER BY created_at, id
"""


async def list_open_reviews_about(
    connection: AsyncConnection, agent: AgentId, memory_ids: Collection[UUID]
) -> list[StoredReview]:
    """Return the reviews that a change of these memories may close or open again."""
    values = {"agent": agent, "ids": list(memory_ids), "named": list(map(str, memory_ids))}
    return list(map(stored_review_from_row, await fetch_rows(connection, _OPEN_ABOUT, values)))


# List the reviews that wait and concern these memories, oldest first.
_WAITING_ABOUT = """
    SELECT id, memory_id, relied_on
    FROM reviews
    WHERE agent_id = :agent AND status = 'pending'
      AND (memory_id = ANY(:ids) OR relied_on ?| CAST(:named AS text[]))
    ORDER BY created_at, id
"""


async def find_waiting_reviews(
    connection: AsyncConnection, agent: AgentId, memory_ids: Collection[UUID]
) -> dict[UUID, list[UUID]]:
    """Return, for each of these memories that are in question, the reviews that wait.

    For an agent without reviews that wait, one look into an index says so.
    """
    values = {"agent": agent, "ids": list(memory_ids), "named": list(map(str, memory_ids))}
    waiting: dict[UUID, list[UUID]] = {}
    for row in await fetch_rows(connection, _WAITING_ABOUT, values):
        concerned = {row["memory_id"], *decode_relied_ids(row["relied_on"])}
        for memory_id in concerned.intersection(memory_ids):
            waiting.setdefault(memory_id, []).append(row["id"])
    return waiting


async def read_questions(
    connection: AsyncConnection, agent: AgentId, stored: Sequence[StoredReview]
) -> list[Question]:
    """Return the question of each review. One that waits asks only about what still stands."""
    named = await find_all_named(connection, agent, stored)
    now = await read_clock(connection)
    return [ask_about_standing(review, named, now) for review in stored]


# Read the texts of memories that reviews name, and what is believed about them.
_NAMED = f"""
    SELECT
        m.id, m.content, m.kind, m.trust, m.erased_at, m.created_at, m.said_at,
        {list_belief_columns("m")}
    FROM memories m
    WHERE m.agent_id = :agent AND m.id = ANY(:ids)
"""


async def find_all_named(
    connection: AsyncConnection, agent: AgentId, stored: Iterable[StoredReview]
) -> dict[UUID, NamedMemory]:
    """Return the memories that the reviews name and that are not erased."""
    ids = {memory_id for review in stored for memory_id in review.proposal.ids}
    named: dict[UUID, NamedMemory] = {}
    if not ids:
        return named
    for row in await fetch_rows(connection, _NAMED, {"agent": agent, "ids": list(ids)}):
        if row["erased_at"] is None:
            belief = belief_from_row(row)
            told_at = choose_told_time(row["said_at"], row["created_at"])
            named[row["id"]] = NamedMemory(
                content=row["content"],
                kind=Kind(row["kind"]),
                trust=row["trust"],
                belief=belief,
                is_dated=belief.valid_from != told_at,
            )
    return named


def ask_about_standing(
    review: StoredReview, named: Mapping[UUID, NamedMemory], now: datetime
) -> Question:
    """Return the question of a review about those of its candidates that still stand."""
    held_content = review.incoming.fact.content if review.incoming else None
    ended = find_ended_targets(review.proposal, named, now)
    is_left = review.status == ReviewStatus.PENDING and ended != set(review.proposal.targets)
    gone = ended if is_left else set()
    return build_question(review.proposal, named, frozenset(gone), held_content=held_content)


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
        judgments = :judgments,
        relied_on = :relied_on
    WHERE agent_id = :agent AND id = :id AND status = 'pending'
"""


async def update_hold_proposal(
    connection: AsyncConnection, agent: AgentId, review_id: UUID, review: Review | None
) -> None:
    """Replace the proposal of a store that waits; None if it would change no memory now."""
    proposal = build_held_review(review)
    values = {
        "agent": agent,
        "id": review_id,
        "relation": proposal.relation,
        "judgments": to_jsonb(encode_judgments(proposal.judgments)),
        "relied_on": to_jsonb(encode_relied_on(proposal.relied_on)),
    }
    await fetch_rows(connection, _UPDATE_PROPOSAL, values)


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
           count(*) FILTER (WHERE status = 'overtaken') AS overtaken,
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
        created_at=row["created_at"],
        memory_id=row["memory_id"],
        judgments=decode_judgments(row["judgments"]),
        relied_on=decode_relied_on(row["relied_on"]),
        corrections=decode_corrections(row["said"]),
        source=ReviewSource(row["source"]),
    )


def plan_from_log_row(row: Mapping[str, Any], proposal: Proposal) -> Plan:
    """Return the part of a logged decision's plan that answers show."""
    beliefs = decode_beliefs(row["after_state"])
    ended = []
    for memory_id in (*proposal.targets, proposal.memory_id):
        if memory_id in beliefs:
            belief = beliefs[memory_id]
            if belief.superseded_by is not None or belief.retracted_at is not None:
                ended.append(memory_id)
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
        superseded=tuple(ended),
    )
