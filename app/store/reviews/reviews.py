"""Reviews: changes that wait for a person."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy.engine import RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.fact import Fact, Lifespan
from app.domain.relation import Classify, Decision, Finding, Judge, Judgment, Operation, Relation
from app.planning.plan import Plan, Review
from app.planning.reviews import Proposal
from app.store.engine import fetch_rows
from app.store.log.reverts import fact_from_json
from app.store.memories import After
from app.store.rows import as_json, fact_to_json


@dataclass(frozen=True, slots=True)
class Incoming:
    """A store that was held back, as it was asked for."""

    fact: Fact
    supersedes: tuple[UUID, ...]
    classify: Classify | None


@dataclass(frozen=True, slots=True)
class StoredReview:
    """A stored review: what it proposes, or the store that it holds back."""

    proposal: Proposal
    status: str
    decision_log_id: UUID | None
    incoming: Incoming | None


@dataclass(frozen=True, slots=True)
class ReviewFilters:
    """What reviews are narrowed to. `memory_id`: the fact stored beside, or one that the proposal is about."""

    status: str | None = None
    source: str | None = None
    relation: str | None = None
    memory_id: UUID | None = None
    min_confidence: float | None = None


_CONDITIONS = {
    "status": "status = :status",
    "source": "source = :source",
    "relation": "relation = :relation",
    "memory_id": "(memory_id = :memory_id OR jsonb_exists(relied_on, CAST(CAST(:memory_id AS uuid) AS text)))",
    "min_confidence": "CAST(judgments -> 0 ->> 'confidence' AS float8) >= :min_confidence",
}


def _where_reviews(filters: ReviewFilters) -> tuple[str, dict[str, Any]]:
    given = {
        f.name: value for f in fields(filters) if (value := getattr(filters, f.name)) is not None
    }
    return " AND ".join(["agent_id = :agent", *(_CONDITIONS[name] for name in given)]), given


async def list_reviews(
    connection: AsyncConnection,
    agent: AgentId,
    filters: ReviewFilters,
    *,
    limit: int,
    after: After | None,
) -> list[dict[str, Any]]:
    """Reviews, newest first."""
    where, given = _where_reviews(filters)
    if after is not None:
        where += " AND (created_at, id) < (:after_created_at, :after_id)"
        given |= {"after_created_at": after.created_at, "after_id": after.memory_id}
    statement = (
        f"SELECT * FROM reviews WHERE {where} ORDER BY created_at DESC, id DESC LIMIT :limit"
    )
    return await fetch_rows(connection, statement, {"agent": agent, "limit": limit, **given})


async def find_review_row(
    connection: AsyncConnection, agent: AgentId, review_id: UUID
) -> dict[str, Any] | None:
    rows = await fetch_rows(
        connection,
        "SELECT * FROM reviews WHERE agent_id = :agent AND id = :id",
        {"agent": agent, "id": review_id},
    )
    return rows[0] if rows else None


async def find_stored_review(
    connection: AsyncConnection, agent: AgentId, review_id: UUID
) -> StoredReview | None:
    row = await find_review_row(connection, agent, review_id)
    return stored_review_from_row(row) if row else None


async def list_overdue_reviews(
    connection: AsyncConnection, agent: AgentId, before: datetime
) -> list[StoredReview]:
    """Reviews that wait since before that time."""
    statement = "SELECT * FROM reviews WHERE agent_id = :agent AND status = 'pending' AND created_at < :before ORDER BY created_at LIMIT 1000"
    return [
        stored_review_from_row(row)
        for row in await fetch_rows(connection, statement, {"agent": agent, "before": before})
    ]


# The revisions that the proposal relies on from now on.
_RELY = "UPDATE reviews SET relied_on = :relied_on WHERE agent_id = :agent AND id = :id"


async def set_relied_revisions(
    connection: AsyncConnection, agent: AgentId, review_id: UUID, revisions: Mapping[UUID, int]
) -> None:
    relied_on = Jsonb({str(i): revision for i, revision in revisions.items()})
    await fetch_rows(connection, _RELY, {"agent": agent, "id": review_id, "relied_on": relied_on})


# Its known time is one of the agent's: what is stored when it is accepted begins then.
_HOLD = """
    WITH known AS (UPDATE agents SET last_known_at = :now WHERE agent_id = :agent)
    INSERT INTO reviews (agent_id, id, status, source, relation, sentence, judgments, relied_on, incoming, created_at)
    VALUES (:agent, :id, 'pending', 'frozen', :relation, :sentence, :judgments, :relied_on, :incoming, :now)
"""


async def hold_store(
    connection: AsyncConnection,
    agent: AgentId,
    review_id: UUID,
    incoming: Incoming,
    review: Review | None,
    *,
    now: datetime,
) -> None:
    """Keeps a store back. `review` says what it would do to stored memories, if anything."""
    told = as_json(
        {
            "fact": fact_to_json(incoming.fact),
            "supersedes": incoming.supersedes,
            "classify": incoming.classify,
        }
    )
    await fetch_rows(
        connection,
        _HOLD,
        {"agent": agent, "id": review_id, "incoming": told, "now": now, **_proposal_values(review)},
    )


_HOLD_ON = """
    UPDATE reviews SET relation = :relation, sentence = :sentence, judgments = :judgments, relied_on = :relied_on
    WHERE agent_id = :agent AND id = :id AND status = 'pending'
"""


async def update_hold_proposal(
    connection: AsyncConnection, agent: AgentId, review_id: UUID, review: Review | None
) -> None:
    """Says anew what a store that is kept back would do to stored memories, if anything."""
    await fetch_rows(
        connection, _HOLD_ON, {"agent": agent, "id": review_id, **_proposal_values(review)}
    )


def _proposal_values(review: Review | None) -> dict[str, Any]:
    return {
        "relation": review.relation if review else Relation.NONE,
        "sentence": "Accepting stores this fact." + (f" {review.sentence}" if review else ""),
        "judgments": as_json(list(review.judgments) if review else []),
        "relied_on": Jsonb(
            {str(i): revision for i, revision in review.relied_on} if review else {}
        ),
    }


# What shadow mode would have changed, and what people thought of it, by relation, judge and confidence band of a tenth.
_REPORT = """
    WITH proposed AS (
        SELECT r.*, judgments -> 0 ->> 'decided_by' AS decided_by, CAST(judgments -> 0 ->> 'confidence' AS float8) AS confidence
        FROM reviews r WHERE agent_id = :agent AND source = 'shadow'
          AND created_at >= coalesce(CAST(:since AS timestamptz), '-infinity') AND jsonb_array_length(judgments) > 0
    )
    SELECT relation, decided_by, least(floor(confidence * 10), 9) / 10 AS band,
        count(*) AS proposed,
        count(*) FILTER (WHERE status = 'accepted') AS accepted,
        count(*) FILTER (WHERE status = 'rejected') AS rejected,
        count(*) FILTER (WHERE status = 'pending') AS pending,
        count(*) FILTER (WHERE status = 'expired') AS expired,
        (array_agg(id ORDER BY created_at DESC))[1:3] AS examples
    FROM proposed GROUP BY 1, 2, 3 ORDER BY 1, 2, 3 DESC
"""


async def read_shadow_report(
    connection: AsyncConnection, agent: AgentId, since: datetime | None
) -> list[dict[str, Any]]:
    return await fetch_rows(connection, _REPORT, {"agent": agent, "since": since})


# --- a row as a value ---------------------------------------------------------------------------------------------------


def stored_review_from_row(row: Mapping[str, Any]) -> StoredReview:
    held = row["incoming"]
    return StoredReview(
        proposal_from_row(row),
        row["status"],
        row["decision_log_id"],
        _incoming_from_json(held) if held else None,
    )


def _incoming_from_json(stored: Mapping[str, Any]) -> Incoming:
    classify = stored["classify"]
    return Incoming(
        fact_from_json(stored["fact"]),
        tuple(UUID(i) for i in stored["supersedes"]),
        Classify(classify) if classify else None,
    )


def proposal_from_row(row: Mapping[str, Any]) -> Proposal:
    said = row["said"]
    return Proposal(
        row["id"],
        Relation(row["relation"]),
        row["sentence"],
        row["created_at"],
        row["memory_id"],
        tuple(_judgment_from_json(j) for j in row["judgments"]),
        tuple((UUID(i), revision) for i, revision in row["relied_on"].items()),
        {name: value and _SAID[name](value) for name, value in said.items()} if said else None,
    )


_SAID: dict[str, Callable[[str], Any]] = {
    "valid_from": datetime.fromisoformat,
    "said_until": datetime.fromisoformat,
    "retracted_at": datetime.fromisoformat,
    "lifespan": Lifespan,
    "session_id": str,
    "project": str,
}


def _judgment_from_json(stored: Mapping[str, Any]) -> Judgment:
    return Judgment(
        UUID(stored["memory_id"]),
        Relation(stored["relation"]),
        stored["confidence"],
        stored["reasoning"],
        Judge(stored["decided_by"]),
        tuple(_finding_from_json(f) for f in stored["findings"]),
        tuple(stored["vetoes"]),
        stored.get("flag", False),
    )


def _finding_from_json(stored: Mapping[str, Any]) -> Finding:
    return Finding(
        stored["name"], Relation(stored["relation"]), stored["confidence"], stored["explanation"]
    )


def plan_from_log_row(row: RowMapping, proposal: Proposal) -> Plan:
    """What a logged decision did, as far as an answer tells it."""
    ended = {
        s["id"]
        for s in row["after_state"]
        if s.get("belief", {}).get("superseded_by") or s.get("belief", {}).get("retracted_at")
    }
    findings = tuple(_finding_from_json(f) for f in row["signals"])
    decision = Decision(
        Relation(row["relation"]),
        row["confidence"],
        Judge(row["decided_by"]),
        row["reasoning"],
        findings,
    )
    superseded = tuple(
        i
        for i in (*proposal.targets, *([proposal.memory_id] if proposal.memory_id else []))
        if str(i) in ended
    )
    return Plan(
        Operation(row["operation"]),
        row["created_at"],
        decision,
        target=row["target_memory_id"],
        superseded=superseded,
    )
