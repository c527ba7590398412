"""The one predicate of staleness, in the pieces that reads are made of.

A link that binds (`domain/relationship.BINDING`) does so in both directions. If the memory at one
of its ends has ended, the memory at the other end is stale while it holds. It is not stale if it
took the place of the ended one. Only news counts: whoever made the link saw an end that was there
already.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from app.domain.relationship import LinkType
from app.domain.timeline import compute_status
from app.domain.version import StalenessCause, Status
from app.store.fragments import AS_OF, KNOWN_AT, build_latest_source, build_past_source
from app.store.log.state import decode_belief
from app.store.tables import BINDS

# Whether the agent has any link that binds. An index answers it, once in a statement.
ANY_BINDS = f"""
    (SELECT EXISTS (SELECT FROM memory_relationships WHERE agent_id = :agent AND {BINDS}))
"""

# The memory `e` has ended at the moment, and that is news since the link was made. Either it was
# erased since then; or its end lies after the link; or something else was believed about it at
# some time since then. Without "coalesce", an end that is not known would have past beliefs
# looked up for nothing.
_ENDED_SINCE = f"""
    e.erased_at > tie.created_at
    OR (
        (e.void OR coalesce(e.valid_until <= {AS_OF}, false))
        AND (
            (NOT e.void AND e.valid_until > tie.created_at)
            OR EXISTS (
                SELECT FROM memory_beliefs x
                WHERE x.agent_id = :agent
                    AND x.memory_id = e.id
                    AND x.known_until > tie.created_at
                    AND x.known_until <= e.known_from
                    AND NOT x.void
                    AND (e.void OR x.valid_until IS NULL OR x.valid_until > tie.created_at)
            )
        )
    )
"""


def broken_relationships_sql(*, past: bool) -> str:
    """Return FROM and WHERE of the links that bind, from ends that have ended.

    `e` has ended, and `tie.memory_id` is stale if it holds.
    """
    source = build_past_source("o", "b") if past else build_latest_source("o", "b")
    return f"""
        FROM (
            SELECT source_id AS memory_id, target_id AS other_id, type, created_at
            FROM memory_relationships
            WHERE agent_id = :agent AND {BINDS}
            UNION ALL
            SELECT target_id, source_id, type, created_at
            FROM memory_relationships
            WHERE agent_id = :agent AND {BINDS}
        ) AS tie
        CROSS JOIN LATERAL (
            SELECT
                o.id,
                CASE WHEN o.erased_at <= {KNOWN_AT} THEN o.erased_at END AS erased_at,
                b.*
            FROM {source}
            WHERE o.agent_id = :agent AND o.id = tie.other_id
        ) AS e
        WHERE tie.created_at <= {KNOWN_AT}
            AND ({_ENDED_SINCE})
            AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
    """


# The ended memories as a JSON array; `ended_list_from_json` reads it.
CAUSES = f"""
    jsonb_agg(
        DISTINCT to_jsonb(e) || jsonb_build_object('type', tie.type, 'as_of', {AS_OF})
    )
"""


def stale_because_sql(*, past: bool, holds: str) -> str:
    """Return the column of the ended memories that `m` rests on, NULL if there is none.

    `holds` is the condition that `m` holds.
    """
    return f"""
        (
            CASE WHEN {ANY_BINDS} AND m.erased_at IS NULL AND {holds} THEN (
                SELECT {CAUSES}
                {broken_relationships_sql(past=past)}
                AND tie.memory_id = m.id
            ) END
        )
    """


def is_stale_sql(*, past: bool, holds: str) -> str:
    """Return the condition that a memory `m` is stale.

    A statement goes through the links once, not once for every memory.
    """
    return f"""
        (
            m.erased_at IS NULL
            AND {holds}
            AND m.id = ANY(ARRAY(
                SELECT tie.memory_id
                {broken_relationships_sql(past=past)}
            ))
        )
    """


def ended_list_from_json(items: Sequence[Mapping[str, Any]] | None) -> tuple[StalenessCause, ...]:
    """Return the ended memories in a value of CAUSES, earliest end first."""
    causes = [_cause_from_json(item) for item in items or ()]
    causes.sort(key=lambda cause: (cause.ended_at, cause.memory_id, cause.type))
    return tuple(causes)


def _cause_from_json(item: Mapping[str, Any]) -> StalenessCause:
    memory_id = UUID(item["id"])
    link = LinkType(item["type"])
    if item["erased_at"]:
        erased_at = datetime.fromisoformat(item["erased_at"])
        return StalenessCause(memory_id, link, Status.ERASED, erased_at)
    belief = decode_belief(item)
    ended_at = belief.known_from if belief.void else belief.valid_until
    assert ended_at is not None
    status = compute_status(belief, datetime.fromisoformat(item["as_of"]))
    return StalenessCause(memory_id, link, status, ended_at)
