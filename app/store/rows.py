"""Rows of the database as values of the domain, and the other way about: what COPY takes for each table, in the order of its types."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from psycopg.types.json import Jsonb

from app.domain.agent import AgentId
from app.domain.fact import FACT_FIELDS, StoredFact, Tier
from app.domain.relationship import Relationship
from app.domain.version import Belief, Version
from app.planning.plan import Insertion, Plan, Review
from app.store.columns import BELIEF_COLUMNS, MEMORY_COLUMNS, find_copy_type
from app.store.log.state import (
    encode_findings,
    encode_judgments,
    encode_model_cost,
    encode_relied_on,
    encode_stated_fact,
    encode_states_after,
    encode_states_before,
    encode_vetoes,
    to_jsonb,
)
from app.store.tables import (
    consolidation_log,
    memories,
    memory_beliefs,
    memory_relationships,
    reviews,
)

Row = dict[str, Any]


def belief_from_row(row: Mapping[str, Any]) -> Belief:
    """The belief in a row of `memories` or `memory_beliefs`."""
    claims = {name: row[name] for name in BELIEF_COLUMNS}
    return Belief(**claims | {"tier": Tier(row["tier"])})


@dataclass(frozen=True, slots=True)
class CallInfo:
    """What the log says about the call that caused an operation."""

    session_id: str | None = None
    request_id: str | None = None
    duration_ms: float | None = None


def _find_copy_types(table: sa.Table, *set_later: str) -> dict[str, str]:
    """Return the columns that an insert writes, with their types in a COPY."""
    written = [column for column in table.columns if column.name not in set_later]
    return {column.name: find_copy_type(column) for column in written}


_NOT_INSERTED = [column.name for column in MEMORY_COLUMNS if not column.inserted]

MEMORY_TYPES = _find_copy_types(memories, *_NOT_INSERTED)
BELIEF_TYPES = _find_copy_types(memory_beliefs)
LOG_TYPES = _find_copy_types(consolidation_log, "reverted_by", "signal_names")
LINK_TYPES = _find_copy_types(memory_relationships)
REVIEW_TYPES = _find_copy_types(reviews, "incoming", "note", "decided_at", "decision_log_id")

# A version decides what it states. The fact states the rest of its own fields.
_VERSION_FIELDS = {field.name for field in fields(Version)}
_FROM_VERSION = [name for name in MEMORY_TYPES if name in _VERSION_FIELDS]
_FROM_FACT = [
    name
    for name in MEMORY_TYPES
    if name in FACT_FIELDS and name not in _FROM_VERSION and name not in BELIEF_COLUMNS
]


def memory_row(
    agent: AgentId,
    inserted: Insertion,
    vector: NDArray[np.float32],
    language: int,
    look_again: str | None,
) -> Row:
    fact, version = inserted.fact, inserted.version
    row = belief_values(version.belief)
    row |= {name: getattr(version, name) for name in _FROM_VERSION}
    row |= {name: _to_column_value(getattr(fact, name)) for name in _FROM_FACT}
    row |= _derived_slot_values(fact)
    row["agent_id"] = agent
    row["slot_entity"] = version.slot.entity
    row["slot_category"] = version.slot.category
    row["slot_key"] = version.slot.key
    row["slot_hash"] = version.slot.digest
    row["embedding"] = vector
    row["language"] = language
    row["look_again"] = look_again
    return row


def _to_column_value(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    return Jsonb(value) if isinstance(value, dict) else value


def _derived_slot_values(fact: StoredFact) -> Row:
    slot = fact.derived
    return {
        "derived_entity": slot and slot.entity,
        "derived_key": slot and slot.key,
        "derived_value": slot and slot.value,
        "derived_hash": slot and slot.digest,
    }


def belief_values(belief: Belief) -> Row:
    return {name: getattr(belief, name) for name in BELIEF_COLUMNS}


def belief_row(agent: AgentId, version: Version, known_until: datetime) -> Row:
    own = {"agent_id": agent, "memory_id": version.id, "known_until": known_until}
    return own | belief_values(version.belief)


def relationship_row(agent: AgentId, link: Relationship, log_id: UUID, now: datetime) -> Row:
    return {
        "agent_id": agent,
        "source_id": link.source,
        "target_id": link.target,
        "type": link.type,
        "log_id": log_id,
        "created_at": now,
    }


def review_row(agent: AgentId, review_id: UUID, review: Review, plan: Plan, log_id: UUID) -> Row:
    stored = review.successor or (plan.target if plan.inserted else None)
    written = {version.id: version.revision for version in plan.versions}
    relied_on = {i: written.get(i, revision) for i, revision in review.relied_on}
    if stored in written:
        relied_on[stored] = written[stored]
    return {
        "agent_id": agent,
        "id": review_id,
        "status": "pending",
        "source": review.source,
        "relation": review.relation,
        "sentence": review.sentence,
        "memory_id": stored,
        "log_id": log_id,
        "judgments": to_jsonb(encode_judgments(review.judgments)),
        "relied_on": to_jsonb(encode_relied_on(relied_on.items())),
        "created_at": plan.now,
        "said": to_jsonb(review.corrections) if review.corrections else None,
    }


def log_row(
    agent: AgentId, log_id: UUID, plan: Plan, request: CallInfo, corrected: dict[str, Any] | None
) -> Row:
    """`corrected`: what the metadata that the plan corrects said before."""
    incoming, cost = plan.incoming, plan.model_cost
    return {
        "agent_id": agent,
        "id": log_id,
        "operation": plan.operation,
        "source_memory_ids": list(plan.touched),
        "target_memory_id": plan.target,
        "relation": plan.decision.relation,
        "confidence": plan.decision.confidence,
        "reasoning": plan.decision.reasoning,
        "signals": to_jsonb(encode_findings(plan.decision.findings)),
        "decided_by": plan.decision.decided_by,
        "incoming": to_jsonb(encode_stated_fact(incoming)) if incoming else None,
        "before_state": to_jsonb(encode_states_before(plan, corrected)),
        "after_state": to_jsonb(encode_states_after(plan)),
        "model": cost and cost.model,
        "prompt_version": cost and cost.prompt_version,
        "usage": to_jsonb(encode_model_cost(cost)) if cost else None,
        "duration_ms": request.duration_ms,
        "session_id": (incoming and incoming.session_id) or request.session_id,
        "request_id": request.request_id,
        "created_at": plan.now,
        "reverts": plan.reverts,
        "vetoed": to_jsonb(encode_vetoes(plan.judgments)),
    }
