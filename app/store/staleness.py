"""Which memories are stale, and because of what: the one predicate, in the pieces that reads are made of.

A link binds (domain/links.BINDING) in both directions. Where one of its ends has ended, the other is stale while it holds, unless it
is what took the place of the ended one. Only news counts: an end that was there when the link was made was seen by whoever made it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from app.domain.relationship import LinkType
from app.domain.timeline import compute_status
from app.domain.version import StalenessCause, Status
from app.store.believed import build_belief_from_sql
from app.store.log.state import decode_belief
from app.store.tables import BINDS

# Whether the agent has any link that binds. An index answers it, and it is asked once in a statement.
ANY_BINDS = (
    f"(SELECT EXISTS (SELECT FROM memory_relationships WHERE agent_id = :agent AND {BINDS}))"
)

_AS_OF = "(SELECT as_of FROM moment)"
_KNOWN_AT = "(SELECT known_at FROM moment)"

# Ended at the moment, and since the link was made: it was erased; or its end lies after the link, or it was believed otherwise at
# some time since then. "coalesce", because an end that is not known would have past beliefs looked up for nothing.
_ENDED_SINCE = f"""
    e.erased_at > tie.created_at
    OR ((e.void OR coalesce(e.valid_until <= {_AS_OF}, false)) AND (
        (NOT e.void AND e.valid_until > tie.created_at)
        OR EXISTS (
            SELECT FROM memory_beliefs p
            WHERE p.agent_id = :agent AND p.memory_id = e.id AND p.known_until > tie.created_at AND p.known_until <= e.known_from
              AND NOT p.void AND (e.void OR p.valid_until IS NULL OR p.valid_until > tie.created_at)
        )
    ))
"""


def broken_relationships_sql(*, past: bool) -> str:
    """FROM and WHERE of links that bind, whose other end `e` has ended: `tie.memory_id` is stale where it holds."""
    return f"""
        FROM (
            SELECT source_id AS memory_id, target_id AS other_id, type, created_at
            FROM memory_relationships WHERE agent_id = :agent AND {BINDS}
            UNION ALL
            SELECT target_id, source_id, type, created_at
            FROM memory_relationships WHERE agent_id = :agent AND {BINDS}
        ) AS tie CROSS JOIN LATERAL (
            SELECT o.id, CASE WHEN o.erased_at <= {_KNOWN_AT} THEN o.erased_at END AS erased_at, b.* FROM {build_belief_from_sql("o", "b", past=past)}
            WHERE o.agent_id = :agent AND o.id = tie.other_id
        ) AS e
        WHERE tie.created_at <= {_KNOWN_AT} AND ({_ENDED_SINCE}) AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
    """


# What is told of the ended ones; `ended_in` reads it.
TOLD = f"jsonb_agg(DISTINCT to_jsonb(e) || jsonb_build_object('type', tie.type, 'as_of', {_AS_OF}))"


def stale_because_sql(*, past: bool, holds: str) -> str:
    """The column that tells what a memory `m` rests on and what has ended; NULL where nothing. `holds`: whether `m` does."""
    return f"""
        (CASE WHEN {ANY_BINDS} AND m.erased_at IS NULL AND {holds} THEN (SELECT {TOLD} {broken_relationships_sql(past=past)} AND tie.memory_id = m.id) END)
    """


def is_stale_sql(*, past: bool, holds: str) -> str:
    """The condition on a memory `m` of being stale. The links are gone through once, not once for every memory."""
    return f"(m.erased_at IS NULL AND {holds} AND m.id = ANY(ARRAY(SELECT tie.memory_id {broken_relationships_sql(past=past)})))"


def ended_list_from_json(items: Sequence[Mapping[str, Any]] | None) -> tuple[StalenessCause, ...]:
    """What TOLD tells, earliest end first."""
    return tuple(
        sorted(
            map(_ended_from_json, items or ()),
            key=lambda ended: (ended.ended_at, ended.memory_id, ended.type),
        )
    )


def _ended_from_json(item: Mapping[str, Any]) -> StalenessCause:
    memory_id, link = UUID(item["id"]), LinkType(item["type"])
    if item["erased_at"]:
        return StalenessCause(
            memory_id, link, Status.ERASED, datetime.fromisoformat(item["erased_at"])
        )
    belief = decode_belief(item)
    ended_at = belief.known_from if belief.void else belief.valid_until
    assert ended_at is not None
    return StalenessCause(
        memory_id, link, compute_status(belief, datetime.fromisoformat(item["as_of"])), ended_at
    )
