"""The rows that a plan writes, by column name, and the types that a COPY of them needs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from psycopg.types.json import Jsonb

from app.domain.actor import SERVICE
from app.domain.agent import AgentId
from app.domain.dates.dated_text import DatedBy
from app.domain.fact import FACT_FIELDS, Tier
from app.domain.relation import Decision, Judge, ModelCost, Operation, Relation
from app.domain.relationship import Relationship
from app.domain.version import Belief, Version
from app.planning.not_done import list_judged_memories
from app.planning.plan import Insertion, Plan, Review
from app.store.columns import BELIEF_COLUMNS, MEMORY_COLUMNS, find_copy_type
from app.store.log.state import (
    encode_dated_by,
    encode_fields,
    encode_findings,
    encode_judgments,
    encode_opinions,
    encode_relied_on,
    encode_stated_fact,
    encode_states_after,
    encode_states_before,
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
    """Return the belief in a row of `memories` or `memory_beliefs`."""
    claims = {name: row[name] for name in BELIEF_COLUMNS}
    claims["tier"] = Tier(row["tier"])
    claims["covered"] = tuple(row["covered"])
    return Belief(**claims)


@dataclass(frozen=True, slots=True)
class CallInfo:
    """The call that caused an operation, as the log names it."""

    session_id: str | None = None
    actor: str = SERVICE
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
REVIEW_TYPES = _find_copy_types(
    reviews, "incoming", "note", "decided_at", "decision_log_id", "shown"
)


def _list_memory_columns(names: Iterable[str]) -> list[str]:
    return [name for name in MEMORY_TYPES if name in names]


# A version decides what it states. The fact states the rest of its own fields.
_FROM_VERSION = _list_memory_columns([field.name for field in fields(Version)])
_FROM_FACT = _list_memory_columns(set(FACT_FIELDS) - {*_FROM_VERSION, *BELIEF_COLUMNS})


def memory_row(
    agent: AgentId,
    inserted: Insertion,
    vector: NDArray[np.float32],
    language: int,
    look_again: str | None,
) -> Row:
    fact, version = inserted.fact, inserted.version
    row = belief_values(version.belief)
    for name in _FROM_VERSION:
        row[name] = getattr(version, name)
    for name in _FROM_FACT:
        row[name] = _to_column_value(getattr(fact, name))
    row |= _NO_DERIVED_SLOT
    if fact.derived is not None:
        row["derived_entity"] = fact.derived.entity
        row["derived_key"] = fact.derived.key
        row["derived_value"] = fact.derived.value
        row["derived_hash"] = fact.derived.digest
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
    if isinstance(value, dict):
        return Jsonb(value)
    if isinstance(value, DatedBy):
        return to_jsonb(encode_dated_by(value))
    return value


_NO_DERIVED_SLOT: Row = {
    "derived_entity": None,
    "derived_key": None,
    "derived_value": None,
    "derived_hash": None,
}


def belief_values(belief: Belief) -> Row:
    return {name: _to_column_value(getattr(belief, name)) for name in BELIEF_COLUMNS}


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
    """Return the row of the review that a plan leaves."""
    stored = review.successor
    if stored is None and plan.inserted:
        stored = plan.target
    relied_on = _find_relied_revisions(review, stored, plan)
    return {
        "agent_id": agent,
        "id": review_id,
        "status": "pending",
        "source": review.source,
        "relation": review.relation,
        "memory_id": stored,
        "log_id": log_id,
        "judgments": to_jsonb(encode_judgments(review.judgments)),
        "relied_on": to_jsonb(encode_relied_on(relied_on.items())),
        "created_at": plan.now,
        "said": to_jsonb(review.corrections) if review.corrections else None,
    }


def _find_relied_revisions(review: Review, stored: UUID | None, plan: Plan) -> dict[UUID, int]:
    """Return the revisions that the proposal relies on, as they are after the plan."""
    written = {version.id: version.revision for version in plan.versions}
    relied_on = dict(review.relied_on)
    if stored in written:
        relied_on[stored] = written[stored]
    for memory_id in relied_on.keys() & written.keys():
        relied_on[memory_id] = written[memory_id]
    return relied_on


# Operations from before opinions were logged have vetoes in a column of their own.
_NO_VETOES = to_jsonb([])


def log_row(
    agent: AgentId,
    log_id: UUID,
    plan: Plan,
    call: CallInfo,
    *,
    corrected: dict[str, Any] | None,
    texts: Mapping[UUID, str],
) -> Row:
    """Return the row of an operation.

    `corrected` is the metadata before a correction. `texts` are those of what the plan ends.
    """
    row = _decision_values(plan.decision) | _model_values(plan.model_cost)
    row |= {
        "agent_id": agent,
        "id": log_id,
        "operation": plan.operation,
        "source_memory_ids": list(plan.touched),
        "target_memory_id": plan.target,
        "incoming": None,
        "before_state": to_jsonb(encode_states_before(plan, corrected, texts)),
        "after_state": to_jsonb(encode_states_after(plan)),
        "duration_ms": call.duration_ms,
        "session_id": call.session_id,
        "request_id": call.request_id,
        "actor": call.actor,
        "created_at": plan.now,
        "reverts": plan.reverts,
        "opinions": None,
        "vetoed": _NO_VETOES,
    }
    if judged := list_judged_memories(plan):
        row["opinions"] = to_jsonb(encode_opinions(judged))
    if plan.incoming is not None:
        row["incoming"] = to_jsonb(encode_stated_fact(plan.incoming))
        row["session_id"] = plan.incoming.session_id or call.session_id
    return row


def erasure_row(
    agent: AgentId, log_id: UUID, digests: Mapping[UUID, str], now: datetime, call: CallInfo
) -> Row:
    """Return the row of an erasure, with the digest of each text from the receipt."""
    after = [
        {"id": memory_id, "erased_at": now.isoformat(), "hmac": digest}
        for memory_id, digest in digests.items()
    ]
    decision = Decision.certain(Relation.NONE, Judge.CALLER, "Erased by the caller.")
    return {
        **_decision_values(decision),
        **_model_values(None),
        "agent_id": agent,
        "id": log_id,
        "operation": Operation.ERASE,
        "source_memory_ids": list(digests),
        "target_memory_id": next(iter(digests)) if len(digests) == 1 else None,
        "incoming": None,
        "before_state": to_jsonb([]),
        "after_state": to_jsonb(after),
        "duration_ms": None,
        "session_id": None,
        "request_id": call.request_id,
        "actor": call.actor,
        "created_at": now,
        "reverts": None,
        "opinions": None,
        "vetoed": _NO_VETOES,
    }


def _decision_values(decision: Decision) -> Row:
    return {
        "relation": decision.relation,
        "confidence": decision.confidence,
        "reasoning": decision.reasoning,
        "signals": to_jsonb(encode_findings(decision.findings)),
        "decided_by": decision.decided_by,
    }


def _model_values(cost: ModelCost | None) -> Row:
    if cost is None:
        return {"model": None, "prompt_version": None, "usage": None}
    return {
        "model": cost.model,
        "prompt_version": cost.prompt_version,
        "usage": to_jsonb(encode_fields(cost)),
    }
