"""Reads for the story of a memory: operations on its chain, opinions, reviews and texts."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.relation import Operation, Relation
from app.planning.opinions import build_judged_memory
from app.planning.plan import ReviewStatus
from app.planning.why.story import StoryEntry, StoryReview
from app.store.engine import fetch_rows
from app.store.log.state import (
    decode_beliefs,
    decode_fact,
    decode_findings,
    decode_incoming,
    decode_judgments,
    decode_links,
    decode_metadata,
    decode_opinions,
    decode_relied_ids,
    decode_settled,
)
from app.store.log.touching import find_operations_touching
from app.store.tables import HAS_OPINIONS
from app.turns import iterate_in_turns

MAX_JUDGING_ENTRIES = 50

_ENTRY_COLUMNS = """
    id, operation, source_memory_ids, target_memory_id, relation, confidence, reasoning, signals,
    decided_by, actor, incoming, before_state, after_state, opinions, vetoed,
    created_at, reverts
"""

# List the operations on some memories up to a known time, oldest first.
_ENTRIES = f"""
    SELECT {_ENTRY_COLUMNS}
    FROM consolidation_log
    WHERE agent_id = :agent AND created_at <= :known_at
      AND id = ANY(:operations)
    ORDER BY created_at, id
"""


async def list_entries_on(
    connection: AsyncConnection, agent: AgentId, ids: Collection[UUID], known_at: datetime
) -> list[StoryEntry]:
    """Return the operations that wrote, changed or confirmed these memories, oldest first."""
    operations = await find_operations_touching(connection, agent, ids)
    values = {"agent": agent, "operations": operations, "known_at": known_at}
    rows = await fetch_rows(connection, _ENTRIES, values)
    return [_entry_from_row(row) async for row in iterate_in_turns(rows)]


# List the latest operations with opinions on some memories. Only a stored memory can be judged, so
# the log is read from the time when the first of them was stored.
_JUDGING_ENTRIES = f"""
    SELECT {_ENTRY_COLUMNS}
    FROM consolidation_log
    WHERE agent_id = :agent AND created_at > :since AND created_at <= :known_at
      AND {HAS_OPINIONS} AND coalesce(opinions, vetoed) @> ANY(ARRAY(
          SELECT jsonb_build_array(jsonb_build_object('memory_id', id))
          FROM unnest(CAST(:ids AS uuid[])) AS id
      ))
    ORDER BY created_at DESC, id DESC
    LIMIT :limit
"""


async def list_judging_entries(
    connection: AsyncConnection,
    agent: AgentId,
    ids: Collection[UUID],
    *,
    since: datetime,
    known_at: datetime,
) -> list[StoryEntry]:
    """Return the latest operations with opinions on these memories, newest first.

    There are MAX_JUDGING_ENTRIES at most.
    """
    values = {
        "agent": agent,
        "ids": list(ids),
        "since": since,
        "known_at": known_at,
        "limit": MAX_JUDGING_ENTRIES,
    }
    rows = await fetch_rows(connection, _JUDGING_ENTRIES, values)
    return [_entry_from_row(row) async for row in iterate_in_turns(rows)]


# List the reviews in favour of some memories or about them, oldest first, with who decided each.
_PROPOSALS = """
    SELECT r.id, r.log_id, r.created_at, r.source, r.relation, r.memory_id, r.judgments,
           r.relied_on, r.incoming, r.status, r.note, r.decided_at, r.decision_log_id,
           d.decided_by AS settled_by, d.actor AS settling_actor
    FROM reviews r
    LEFT JOIN consolidation_log d ON d.agent_id = :agent AND d.id = r.decision_log_id
    WHERE r.agent_id = :agent AND r.created_at <= :known_at
      AND (r.memory_id = ANY(:ids) OR r.relied_on ?| CAST(CAST(:ids AS uuid[]) AS text[]))
    ORDER BY r.created_at, r.id
"""


async def list_proposals_about(
    connection: AsyncConnection, agent: AgentId, ids: Collection[UUID], known_at: datetime
) -> list[StoryReview]:
    """Return the reviews of these memories, oldest first, in their present state."""
    values = {"agent": agent, "ids": list(ids), "known_at": known_at}
    rows = await fetch_rows(connection, _PROPOSALS, values)
    return [_proposal_from_row(row) async for row in iterate_in_turns(rows)]


# Read the texts of the memories that were known at a time, without erased texts.
_TEXTS = """
    SELECT id, CASE WHEN erased_at IS NULL THEN content END AS content
    FROM memories
    WHERE agent_id = :agent AND id = ANY(:ids) AND created_at <= :known_at
"""


async def find_known_texts(
    connection: AsyncConnection, agent: AgentId, ids: Iterable[UUID], known_at: datetime
) -> dict[UUID, str | None]:
    """Return the text of each of these memories that was known then; None if it is erased."""
    values = {"agent": agent, "ids": list(ids), "known_at": known_at}
    rows = await fetch_rows(connection, _TEXTS, values)
    return {row["id"]: row["content"] for row in rows}


# --- rows as values ----------------------------------------------------------------------------


def _entry_from_row(row: Mapping[str, Any]) -> StoryEntry:
    incoming = decode_fact(row["incoming"]) if row["incoming"] else None
    old, new = decode_metadata(row["before_state"]), decode_metadata(row["after_state"])
    old_values, new_values = old[1] if old else {}, new[1] if new else {}
    corrected = {name: (old_values.get(name), value) for name, value in new_values.items()}
    return StoryEntry(
        log_id=row["id"],
        operation=Operation(row["operation"]),
        at=row["created_at"],
        relation=Relation(row["relation"]),
        confidence=row["confidence"],
        decided_by=row["decided_by"],
        actor=row["actor"],
        reasoning=row["reasoning"],
        findings=decode_findings(row["signals"]),
        target=row["target_memory_id"],
        touched=tuple(row["source_memory_ids"]),
        incoming_text=incoming.content if incoming else None,
        incoming_from=incoming.valid_from if incoming else None,
        before=decode_beliefs(row["before_state"]),
        after=decode_beliefs(row["after_state"]),
        corrected=corrected,
        judged=decode_opinions(row),
        settled=decode_settled(row["after_state"]),
        reverts=row["reverts"],
        links=decode_links(row["after_state"]),
    )


def _proposal_from_row(row: Mapping[str, Any]) -> StoryReview:
    judgments = decode_judgments(row["judgments"])
    judgment = judgments[0] if judgments else None
    relied_on = decode_relied_ids(row["relied_on"])
    incoming = decode_incoming(row["incoming"]) if row["incoming"] else None
    return StoryReview(
        review_id=row["id"],
        log_id=row["log_id"],
        at=row["created_at"],
        source=row["source"],
        relation=Relation(row["relation"]),
        about=tuple(memory_id for memory_id in relied_on if memory_id != row["memory_id"]),
        memory_id=row["memory_id"],
        incoming_text=incoming.fact.content if incoming else None,
        decided_by=judgment.decided_by if judgment else None,
        confidence=judgment.confidence if judgment else None,
        reasoning=judgment.reasoning if judgment else "",
        findings=judgment.findings if judgment else (),
        judged=tuple(build_judged_memory(each, None) for each in judgments),
        status=ReviewStatus(row["status"]),
        note=row["note"],
        decided_at=row["decided_at"],
        decision_log_id=row["decision_log_id"],
        settled_by=row["settled_by"],
        settling_actor=row["settling_actor"],
    )
