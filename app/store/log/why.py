"""What the story of a memory is told from: the operations on its chain, vetoes and reviews, as far as known at a moment."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.fact import Tier
from app.domain.relation import Finding, Operation, Relation
from app.domain.version import Belief
from app.planning.plan import ReviewDecision, ReviewStatus
from app.planning.why.story import StoryEntry, StoryReview, VetoedMemory
from app.store.engine import fetch_rows
from app.store.log.reverts import relationships_from_states

MAX_APART = 50

_ENTRY = """
    id, operation, source_memory_ids, target_memory_id, relation, confidence, reasoning, signals, decided_by, incoming, before_state,
    after_state, vetoed, created_at, reverts
"""

_ENTRIES = f"""
    SELECT {_ENTRY} FROM consolidation_log
    WHERE agent_id = :agent AND created_at <= :known_at AND (target_memory_id = ANY(:ids) OR source_memory_ids && CAST(:ids AS uuid[]))
    ORDER BY created_at, id
"""


async def list_entries_on(
    connection: AsyncConnection, agent: AgentId, ids: Collection[UUID], known_at: datetime
) -> list[StoryEntry]:
    """The operations that wrote, changed or confirmed any of these memories, oldest first."""
    return [
        _entry_from_row(row)
        for row in await fetch_rows(
            connection, _ENTRIES, {"agent": agent, "ids": list(ids), "known_at": known_at}
        )
    ]


# A fact can be kept apart from a memory only while that is stored, so the log is read from then on.
_APART = f"""
    SELECT {_ENTRY} FROM consolidation_log
    WHERE agent_id = :agent AND created_at > :since AND created_at <= :known_at AND vetoed <> '[]' AND vetoed @> ANY(:vetoed)
    ORDER BY created_at DESC, id DESC LIMIT :limit
"""


async def list_vetoed_entries(
    connection: AsyncConnection,
    agent: AgentId,
    ids: Collection[UUID],
    *,
    since: datetime,
    known_at: datetime,
) -> list[StoryEntry]:
    """The latest operations that kept their fact apart from one of these, MAX_APART at most."""
    named = [Jsonb([{"memory_id": str(i)}]) for i in ids]
    given = {
        "agent": agent,
        "vetoed": named,
        "since": since,
        "known_at": known_at,
        "limit": MAX_APART,
    }
    return [_entry_from_row(row) for row in await fetch_rows(connection, _APART, given)]


_PROPOSALS = """
    SELECT r.id, r.log_id, r.created_at, r.source, r.relation, r.memory_id, r.judgments, r.relied_on, r.incoming, r.status, r.note,
           r.decided_at, r.decision_log_id, d.decided_by AS settled_by
    FROM reviews r LEFT JOIN consolidation_log d ON d.agent_id = :agent AND d.id = r.decision_log_id
    WHERE r.agent_id = :agent AND r.created_at <= :known_at
      AND (r.memory_id = ANY(:ids) OR r.relied_on ?| CAST(CAST(:ids AS uuid[]) AS text[]))
    ORDER BY r.created_at, r.id
"""


async def list_proposals_about(
    connection: AsyncConnection, agent: AgentId, ids: Collection[UUID], known_at: datetime
) -> list[StoryReview]:
    """Reviews of any of these memories, oldest first, as they stand now."""
    return [
        _proposal_from_row(row)
        for row in await fetch_rows(
            connection, _PROPOSALS, {"agent": agent, "ids": list(ids), "known_at": known_at}
        )
    ]


_TEXTS = """
    SELECT id, CASE WHEN erased_at IS NULL THEN content END AS content FROM memories
    WHERE agent_id = :agent AND id = ANY(:ids) AND created_at <= :known_at
"""


async def find_known_texts(
    connection: AsyncConnection, agent: AgentId, ids: Iterable[UUID], known_at: datetime
) -> dict[UUID, str | None]:
    """The text of each of these that was known then; None where it was erased since."""
    rows = await fetch_rows(
        connection, _TEXTS, {"agent": agent, "ids": list(ids), "known_at": known_at}
    )
    return {row["id"]: row["content"] for row in rows}


# --- rows as values ----------------------------------------------------------------------------------------------------


def _entry_from_row(row: Mapping[str, Any]) -> StoryEntry:
    incoming = row["incoming"] or {}
    return StoryEntry(
        row["id"],
        Operation(row["operation"]),
        row["created_at"],
        Relation(row["relation"]),
        row["confidence"],
        row["decided_by"],
        row["reasoning"],
        findings=_findings_from_json(row["signals"]),
        target=row["target_memory_id"],
        touched=tuple(row["source_memory_ids"]),
        said=incoming.get("content"),
        said_from=_time_from_json(incoming.get("valid_from")),
        before=_beliefs_from_states(row["before_state"]),
        after=_beliefs_from_states(row["after_state"]),
        corrected=_corrections_from_states(row["before_state"], row["after_state"]),
        vetoed=tuple(VetoedMemory(UUID(v["memory_id"]), v["veto"]) for v in row["vetoed"]),
        settled=next(
            (
                _settlement_from_json(state["settled"])
                for state in row["after_state"]
                if "settled" in state
            ),
            None,
        ),
        reverts=row["reverts"],
        links=relationships_from_states(row["after_state"]),
    )


def _findings_from_json(items: Sequence[Mapping[str, Any]]) -> tuple[Finding, ...]:
    return tuple(
        Finding(f["name"], Relation(f["relation"]), f["confidence"], f["explanation"])
        for f in items
    )


_TIMES = (
    "valid_from",
    "asserted_at",
    "said_until",
    "retracted_at",
    "valid_until",
    "superseded_at",
    "known_from",
)
_IDS = ("ended_by", "contradicted_by", "superseded_by")


def _beliefs_from_states(states: Sequence[Mapping[str, Any]]) -> dict[UUID, Belief]:
    return {
        UUID(state["id"]): belief_from_json(state["belief"])
        for state in states
        if "belief" in state
    }


def belief_from_json(state: Mapping[str, Any]) -> Belief:
    """A belief as JSON tells it."""
    times = {name: _time_from_json(state.get(name)) for name in _TIMES}
    ids = {name: state[name] and UUID(state[name]) for name in _IDS}
    return Belief(**{**state, **times, **ids, "tier": Tier(state["tier"])})


def _time_from_json(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _corrections_from_states(
    before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]
) -> dict[str, tuple[Any, Any]]:
    """Metadata before and after, of an operation that corrected any."""
    old = {name: value for state in before for name, value in state.get("metadata", {}).items()}
    new = {name: value for state in after for name, value in state.get("metadata", {}).items()}
    return {name: (old.get(name), value) for name, value in new.items()}


def _settlement_from_json(state: Mapping[str, Any]) -> ReviewDecision:
    return ReviewDecision(
        UUID(state["review_id"]),
        ReviewStatus(state["before"]),
        ReviewStatus(state["after"]),
        state.get("note"),
    )


def _proposal_from_row(row: Mapping[str, Any]) -> StoryReview:
    first: Mapping[str, Any] = row["judgments"][0] if row["judgments"] else {}
    return StoryReview(
        row["id"],
        row["log_id"],
        row["created_at"],
        row["source"],
        Relation(row["relation"]),
        about=tuple(i for i in map(UUID, row["relied_on"]) if i != row["memory_id"]),
        memory_id=row["memory_id"],
        said=(row["incoming"] or {}).get("content"),
        decided_by=first.get("decided_by"),
        confidence=first.get("confidence"),
        reasoning=first.get("reasoning", ""),
        findings=_findings_from_json(first.get("findings", ())),
        status=ReviewStatus(row["status"]),
        note=row["note"],
        decided_at=row["decided_at"],
        decision_log_id=row["decision_log_id"],
        settled_by=row["settled_by"],
    )
