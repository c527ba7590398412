"""What the story of a memory is told from: the operations on its chain, vetoes and reviews, as far as known at a moment."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.memory import AgentId, Belief, Operation, Tier
from app.domain.plan import ReviewStatus, Settlement
from app.domain.relation import Finding, Relation
from app.domain.story import Entry, Proposal, Vetoed
from app.store.engine import fetch
from app.store.undoing import links_told

MAX_APART = 50

_ENTRY = """
    id, operation, source_memory_ids, target_memory_id, relation, confidence, reasoning, signals, decided_by, incoming, before_state,
    after_state, vetoed, created_at, reverts
"""

_ENTRIES = f"""
    SELECT {_ENTRY} FROM consolidation_log
    WHERE agent_id = :agent AND created_at <= :known_at AND (target_memory_id = ANY(:ids) OR source_memory_ids && CAST(:ids AS uuid[]))
    ORDER BY created_at, id
"""  # noqa: S608 - column names from constants


async def entries_on(connection: AsyncConnection, agent: AgentId, ids: Collection[UUID], known_at: datetime) -> list[Entry]:
    """The operations that wrote, changed or confirmed any of these memories, oldest first."""
    return [_entry(row) for row in await fetch(connection, _ENTRIES, {"agent": agent, "ids": list(ids), "known_at": known_at})]


# A fact can be kept apart from a memory only while that is stored, so the log is read from then on.
_APART = f"""
    SELECT {_ENTRY} FROM consolidation_log
    WHERE agent_id = :agent AND created_at > :since AND created_at <= :known_at AND vetoed <> '[]' AND vetoed @> ANY(:vetoed)
    ORDER BY created_at DESC, id DESC LIMIT :limit
"""  # noqa: S608 - column names from constants


async def entries_apart(
    connection: AsyncConnection, agent: AgentId, ids: Collection[UUID], *, since: datetime, known_at: datetime
) -> list[Entry]:
    """The latest operations that kept their fact apart from one of these, MAX_APART at most."""
    named = [Jsonb([{"memory_id": str(i)}]) for i in ids]
    given = {"agent": agent, "vetoed": named, "since": since, "known_at": known_at, "limit": MAX_APART}
    return [_entry(row) for row in await fetch(connection, _APART, given)]


_PROPOSALS = """
    SELECT r.id, r.log_id, r.created_at, r.source, r.relation, r.memory_id, r.judgments, r.relied_on, r.incoming, r.status, r.note,
           r.decided_at, r.decision_log_id, d.decided_by AS settled_by
    FROM reviews r LEFT JOIN consolidation_log d ON d.agent_id = :agent AND d.id = r.decision_log_id
    WHERE r.agent_id = :agent AND r.created_at <= :known_at
      AND (r.memory_id = ANY(:ids) OR r.relied_on ?| CAST(CAST(:ids AS uuid[]) AS text[]))
    ORDER BY r.created_at, r.id
"""


async def proposals_about(connection: AsyncConnection, agent: AgentId, ids: Collection[UUID], known_at: datetime) -> list[Proposal]:
    """Reviews of any of these memories, oldest first, as they stand now."""
    return [_proposal(row) for row in await fetch(connection, _PROPOSALS, {"agent": agent, "ids": list(ids), "known_at": known_at})]


_TEXTS = """
    SELECT id, CASE WHEN erased_at IS NULL THEN content END AS content FROM memories
    WHERE agent_id = :agent AND id = ANY(:ids) AND created_at <= :known_at
"""


async def texts_of(connection: AsyncConnection, agent: AgentId, ids: Iterable[UUID], known_at: datetime) -> dict[UUID, str | None]:
    """The text of each of these that was known then; None where it was erased since."""
    rows = await fetch(connection, _TEXTS, {"agent": agent, "ids": list(ids), "known_at": known_at})
    return {row["id"]: row["content"] for row in rows}


# --- rows as values ----------------------------------------------------------------------------------------------------


def _entry(row: Mapping[str, Any]) -> Entry:
    incoming = row["incoming"] or {}
    return Entry(
        row["id"],
        Operation(row["operation"]),
        row["created_at"],
        Relation(row["relation"]),
        row["confidence"],
        row["decided_by"],
        row["reasoning"],
        findings=_findings(row["signals"]),
        target=row["target_memory_id"],
        touched=tuple(row["source_memory_ids"]),
        said=incoming.get("content"),
        said_from=_time(incoming.get("valid_from")),
        before=_beliefs(row["before_state"]),
        after=_beliefs(row["after_state"]),
        corrected=_corrected(row["before_state"], row["after_state"]),
        vetoed=tuple(Vetoed(UUID(v["memory_id"]), v["veto"]) for v in row["vetoed"]),
        settled=next((_settlement(state["settled"]) for state in row["after_state"] if "settled" in state), None),
        reverts=row["reverts"],
        links=links_told(row["after_state"]),
    )


def _findings(told: Sequence[Mapping[str, Any]]) -> tuple[Finding, ...]:
    return tuple(Finding(f["name"], Relation(f["relation"]), f["confidence"], f["explanation"]) for f in told)


_TIMES = ("valid_from", "asserted_at", "said_until", "retracted_at", "valid_until", "superseded_at", "known_from")
_IDS = ("ended_by", "contradicted_by", "superseded_by")


def _beliefs(states: Sequence[Mapping[str, Any]]) -> dict[UUID, Belief]:
    return {UUID(state["id"]): belief_told(state["belief"]) for state in states if "belief" in state}


def belief_told(said: Mapping[str, Any]) -> Belief:
    """A belief as JSON tells it."""
    times = {name: _time(said.get(name)) for name in _TIMES}
    ids = {name: said[name] and UUID(said[name]) for name in _IDS}
    return Belief(**{**said, **times, **ids, "tier": Tier(said["tier"])})


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _corrected(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> dict[str, tuple[Any, Any]]:
    """Metadata before and after, of an operation that corrected any."""
    old = {name: value for state in before for name, value in state.get("metadata", {}).items()}
    new = {name: value for state in after for name, value in state.get("metadata", {}).items()}
    return {name: (old.get(name), value) for name, value in new.items()}


def _settlement(state: Mapping[str, Any]) -> Settlement:
    return Settlement(UUID(state["review_id"]), ReviewStatus(state["before"]), ReviewStatus(state["after"]), state.get("note"))


def _proposal(row: Mapping[str, Any]) -> Proposal:
    first: Mapping[str, Any] = row["judgments"][0] if row["judgments"] else {}
    return Proposal(
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
        findings=_findings(first.get("findings", ())),
        status=ReviewStatus(row["status"]),
        note=row["note"],
        decided_at=row["decided_at"],
        decision_log_id=row["decision_log_id"],
        settled_by=row["settled_by"],
    )
