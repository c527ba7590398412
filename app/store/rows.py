"""Rows of the database as values of the domain, and the other way about: what COPY takes for each table, in the order of its types."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from psycopg.types.json import Jsonb

from app.domain.agent import AgentId
from app.domain.fact import FACT_FIELDS, BaseFact, StoredFact, Tier
from app.domain.relationship import Relationship
from app.domain.version import Belief, Version
from app.planning.plan import Insertion, Plan, Review
from app.store.tables import BELIEF_COLUMNS


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


_BELIEF_COLUMN_TYPES: dict[str, str | int] = {
    "valid_from": "timestamptz",
    "asserted_at": "timestamptz",
    "said_until": "timestamptz",
    "retracted_at": "timestamptz",
    "void": "bool",
    "ended_by": "uuid",
    "contradicted_by": "uuid",
    "merged": "bool",
    "tier": "text",
    "valid_until": "timestamptz",
    "superseded_by": "uuid",
    "superseded_at": "timestamptz",
    "known_from": "timestamptz",
}

MEMORY_TYPES: dict[str, str | int] = {
    "agent_id": "text",
    "id": "uuid",
    "chain_id": "uuid",
    "kind": "text",
    "entity": "text",
    "category": "text",
    "key": "text",
    "value": "text",
    "single_valued": "bool",
    "slot_entity": "text",
    "slot_category": "text",
    "slot_key": "text",
    "slot_hash": "bytea",
    "content": "text",
    "details": "jsonb",
    "importance": "float8",
    "confidence": "float8",
    "tags": "text[]",
    "entities": "text[]",
    "sources": "text[]",
    "source": "text",
    "session_id": "text",
    "project": "text",
    "trust": "int2",
    "lifespan": "text",
    "content_hash": "bytea",
    "fuzzy_hash": "bytea",
    "folded_hash": "bytea",
    "value_hash": "bytea",
    "embedding": "vector",
    "language": "oid",  # regconfig travels as an oid
    "created_at": "timestamptz",
    "revision": "int4",
    "merged_from": "uuid[]",
    "derived_entity": "text",
    "derived_key": "text",
    "derived_value": "text",
    "derived_hash": "bytea",
    "look_again": "text",
    **_BELIEF_COLUMN_TYPES,
}

BELIEF_TYPES: dict[str, str | int] = {
    "agent_id": "text",
    "memory_id": "uuid",
    "known_until": "timestamptz",
    **_BELIEF_COLUMN_TYPES,
}

LOG_TYPES: dict[str, str | int] = {
    "agent_id": "text",
    "id": "uuid",
    "operation": "text",
    "source_memory_ids": "uuid[]",
    "target_memory_id": "uuid",
    "relation": "text",
    "confidence": "float8",
    "reasoning": "text",
    "signals": "jsonb",
    "decided_by": "text",
    "incoming": "jsonb",
    "before_state": "jsonb",
    "after_state": "jsonb",
    "model": "text",
    "prompt_version": "text",
    "usage": "jsonb",
    "duration_ms": "float8",
    "session_id": "text",
    "request_id": "text",
    "created_at": "timestamptz",
    "reverts": "uuid",
    "vetoed": "jsonb",
}

LINK_TYPES: dict[str, str | int] = {
    "agent_id": "text",
    "source_id": "uuid",
    "target_id": "uuid",
    "type": "text",
    "log_id": "uuid",
    "created_at": "timestamptz",
}

REVIEW_TYPES: dict[str, str | int] = {
    "agent_id": "text",
    "id": "uuid",
    "status": "text",
    "source": "text",
    "relation": "text",
    "sentence": "text",
    "memory_id": "uuid",
    "log_id": "uuid",
    "judgments": "jsonb",
    "relied_on": "jsonb",
    "created_at": "timestamptz",
    "said": "jsonb",
}


def memory_row(
    agent: AgentId,
    inserted: Insertion,
    vector: NDArray[np.float32],
    language: int,
    look_again: str | None,
) -> tuple[object, ...]:
    fact, version = inserted.fact, inserted.version
    return (
        agent,
        version.id,
        version.chain_id,
        version.kind,
        version.entity,
        version.category,
        version.key,
        fact.value,
        version.single_valued,
        version.slot.entity,
        version.slot.category,
        version.slot.key,
        version.slot.digest,
        fact.content,
        Jsonb(fact.details),
        version.importance,
        fact.confidence,
        list(fact.tags),
        list(fact.entities),
        list(fact.sources),
        fact.source,
        fact.session_id,
        fact.project,
        fact.trust,
        fact.lifespan,
        version.content_hash,
        version.fuzzy_hash,
        version.folded_hash,
        version.value_hash,
        vector,
        language,
        version.created_at,
        version.revision,
        list(fact.merged_from),
        *_derived_slot_values(fact),
        look_again,
        *belief_values(version.belief),
    )


def _derived_slot_values(fact: StoredFact) -> tuple[object, ...]:
    slot = fact.derived
    return (slot.entity, slot.key, slot.value, slot.digest) if slot else (None, None, None, None)


def belief_values(belief: Belief) -> tuple[object, ...]:
    return tuple(getattr(belief, name) for name in BELIEF_COLUMNS)


def belief_row(agent: AgentId, version: Version, known_until: datetime) -> tuple[object, ...]:
    return (agent, version.id, known_until, *belief_values(version.belief))


def relationship_row(
    agent: AgentId, link: Relationship, log_id: UUID, now: datetime
) -> tuple[object, ...]:
    return (agent, link.source, link.target, link.type, log_id, now)


def review_row(
    agent: AgentId, review_id: UUID, review: Review, plan: Plan, log_id: UUID
) -> tuple[object, ...]:
    stored = review.successor or (plan.target if plan.inserted else None)
    written = {version.id: version.revision for version in plan.versions}
    relied_on = {str(i): written.get(i, revision) for i, revision in review.relied_on}
    if stored in written:
        relied_on[str(stored)] = written[stored]
    return (
        agent,
        review_id,
        "pending",
        review.source,
        review.relation,
        review.sentence,
        stored,
        log_id,
        as_json(review.judgments),
        as_json(relied_on),
        plan.now,
        as_json(review.said) if review.said else None,
    )


def log_row(
    agent: AgentId, log_id: UUID, plan: Plan, request: CallInfo, corrected: dict[str, Any] | None
) -> tuple[object, ...]:
    """`corrected`: what the metadata that the plan corrects said before."""
    before = [_version_to_state(c.before) for c in plan.changed]
    if corrected is not None:
        before.append({"id": str(plan.target), "metadata": corrected})
    if plan.unlinked:
        before.append({"links": plan.unlinked})
    after = [
        *(_version_to_state(i.version) | _fact_to_state(i.fact, plan) for i in plan.inserted),
        *(_version_to_state(c.after) for c in plan.changed),
    ]
    if plan.links:
        after.append({"links": plan.links})
    if plan.review:
        after.append({"review": plan.review})
    if plan.settled:
        after.append({"settled": plan.settled})
    if plan.metadata:
        after.append({"id": str(plan.target), "metadata": plan.metadata})
    return (
        agent,
        log_id,
        plan.operation,
        list(plan.touched),
        plan.target,
        plan.decision.relation,
        plan.decision.confidence,
        plan.decision.reasoning,
        as_json(plan.decision.findings),
        plan.decision.decided_by,
        as_json(fact_to_json(plan.incoming, _INCOMING)) if plan.incoming else None,
        as_json(before),
        as_json(after),
        plan.model_cost.model if plan.model_cost else None,
        plan.model_cost.prompt_version if plan.model_cost else None,
        as_json(plan.model_cost) if plan.model_cost else None,
        request.duration_ms,
        (plan.incoming.session_id if plan.incoming else None) or request.session_id,
        request.request_id,
        plan.now,
        plan.reverts,
        as_json(_build_vetoes(plan)),
    )


# Candidates come nearest first, so that what is left out is the least alike.
_MAX_VETOED = 10


def _build_vetoes(plan: Plan) -> list[dict[str, object]]:
    """What the fact was kept apart from though it is alike, each with the first reason."""
    return [
        {"memory_id": j.memory_id, "veto": j.vetoes[0]}
        for j in plan.judgments
        if j.vetoes and j.akin
    ][:_MAX_VETOED]


@cache
def _field_names(of: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(of))


_INCOMING = tuple(name for name in FACT_FIELDS if name != "derived")


def _fact_to_state(fact: StoredFact, plan: Plan) -> dict[str, Any]:
    """A fact as it was stored; its text only where `incoming` does not carry it already."""
    stored = fact_to_json(fact) | ({"look_again": plan.look_again} if plan.look_again else {})
    if plan.incoming is not None and plan.incoming.content == fact.content:
        del stored["content"]
    return stored


def fact_to_json(fact: BaseFact, names: Iterable[str] | None = None) -> dict[str, Any]:
    """A fact as JSON, without what was not said; of these names only."""
    return {
        name: value
        for name in names or FACT_FIELDS
        if (value := getattr(fact, name)) not in (None, (), {})
    }


def _version_to_state(version: Version) -> dict[str, Any]:
    """What replaying the log needs of a version beyond its fact."""
    return {
        "id": version.id,
        "chain_id": version.chain_id,
        "revision": version.revision,
        "created_at": version.created_at,
        "belief": version.belief,
    }


@lru_cache(maxsize=1024)  # most times of an operation are one and the same
def _format_time(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def _to_plain_value(value: object) -> object:
    if isinstance(value, datetime):
        return _format_time(value)
    if isinstance(value, UUID):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {name: getattr(value, name) for name in _field_names(type(value))}
    raise TypeError(f"{type(value).__name__} has no place in the log")


_DUMPS = json.JSONEncoder(default=_to_plain_value, ensure_ascii=False).encode


def as_json(value: object) -> Jsonb:
    """JSON as the log writes it: times in UTC with microseconds."""
    return Jsonb(value, dumps=_DUMPS)
