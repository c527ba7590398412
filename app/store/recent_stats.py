"""The numbers of a large agent: those that a worker counted, and what changed since.

The worker counts everything now and then, and stores the numbers with the index of the agent. A
read adds what became known since then, and what began or ended to hold since then. Indexes find
both, so no read takes in the whole agent. Strengths fade from moment to moment and are those of the
last count.

The numbers count an erased memory as erased from the start, because nothing says any more what it
was. An erasure changes the stored numbers accordingly (`forget_erased`).
"""

import json
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.strength import HalfLives
from app.domain.version import Status
from app.store.counting import build_is_due
from app.store.engine import fetch_rows, lift_statement_timeout
from app.store.fragments import AS_OF, HOLDS, LATEST, MOMENT, NEVER_SQL, ONE_VALUE, PAST
from app.store.stats import STATUS, count_stats

# --- what changed --------------------------------------------------------------------------------

# What the numbers count of a memory `m` with the belief `b`. A text that was erased has no bytes.
_COUNTED = f"""
    m.id,
    b.chain_id,
    m.slot_hash,
    {ONE_VALUE} AS one_value,
    m.kind,
    b.tier,
    octet_length(m.content) AS bytes,
    {STATUS} AS status
"""


def _changes_by_value_sql(column: str, where: str = "true") -> str:
    """Return how much the number of memories changed for each value, as a JSON object."""
    return f"""
        (
            SELECT coalesce(jsonb_object_agg(value, n), '{{}}')
            FROM (
                SELECT {column} AS value, sum(sign) AS n FROM changes WHERE {where} GROUP BY 1
            ) AS counted
        )
    """


_IS_HOLDING = f"status = '{Status.CURRENT}'"

# Memories `before` and `after` the change, of which `touched` has the ids. Chains and slots count
# as a whole, so the other memories in them count as well.
_CHANGES = f"""
    changes AS MATERIALIZED (
        SELECT -1 AS sign, * FROM before
        UNION ALL
        SELECT 1, * FROM after
    ),
    chains AS (
        SELECT chain_id, n
        FROM (
            SELECT chain_id,
                   bool_or(sign > 0)::integer - bool_or(sign < 0)::integer AS n,
                   count(*) FILTER (WHERE sign > 0) AS touched
            FROM changes
            GROUP BY chain_id
        ) AS changed
        WHERE n <> 0 AND touched >= (
            SELECT count(*) FROM (
                SELECT FROM memories o
                WHERE o.agent_id = :agent AND o.chain_id = changed.chain_id
                LIMIT touched + 1
            ) AS member
        )
    ),
    slots AS (
        SELECT slot_hash,
               count(*) FILTER (WHERE sign < 0) AS before,
               count(*) FILTER (WHERE sign > 0) AS after,
               (
                   SELECT count(*) FROM {LATEST}
                   WHERE m.agent_id = :agent AND m.slot_hash = changes.slot_hash
                     AND {ONE_VALUE} AND {HOLDS} AND NOT m.cold AND m.erased_at IS NULL
                     AND NOT EXISTS (SELECT FROM touched WHERE touched.id = m.id)
               ) AS others
        FROM changes
        WHERE one_value AND {_IS_HOLDING}
        GROUP BY slot_hash
    )
"""

_CHANGED_NUMBERS = f"""
    coalesce((SELECT sum(sign) FROM changes), 0) AS memories,
    coalesce((SELECT sum(sign * bytes) FROM changes), 0) AS text_bytes,
    coalesce((SELECT sum(n) FROM chains), 0) AS chains,
    (
        SELECT count(*) FILTER (WHERE others + after > 1)
             - count(*) FILTER (WHERE others + before > 1)
        FROM slots
    ) AS crowded_slots,
    {_changes_by_value_sql("status")} AS by_status,
    {_changes_by_value_sql("kind", _IS_HOLDING)} AS by_kind,
    {_changes_by_value_sql("tier", _IS_HOLDING)} AS by_tier,
    {_changes_by_value_sql("lifespan", _IS_HOLDING)} AS by_lifespan
"""

# A memory that did not change may have begun or ended to hold since: it starts, ends, or is covered
# or resumes in the span between the two moments. The clock may have been set back meanwhile.
_TOUCHED = """
    span AS MATERIALIZED (
        SELECT least(stored.as_of, moment.as_of) AS after,
               greatest(stored.as_of, moment.as_of) AS until
        FROM stored, moment
    ),
    touched AS MATERIALIZED (
        SELECT unnest(ids) AS id FROM done
        UNION
        SELECT o.id FROM memories o
        WHERE o.agent_id = :agent
          AND o.valid_until > (SELECT after FROM span)
          AND o.valid_until <= (SELECT until FROM span)
        UNION
        SELECT o.id FROM memories o
        WHERE o.agent_id = :agent
          AND o.valid_from > o.created_at
          AND o.valid_from > (SELECT after FROM span)
          AND o.valid_from <= (SELECT until FROM span)
        UNION
        SELECT o.id FROM memories o
        WHERE o.agent_id = :agent
          AND o.covered <> '{}'
          AND o.covered[cardinality(o.covered)] > (SELECT after FROM span)
    )
"""

_IS_TOUCHED = "m.agent_id = :agent AND m.id = ANY(ARRAY(SELECT id FROM touched))"


def _count_done_sql(column: str) -> str:
    return f"""
        (
            SELECT coalesce(jsonb_object_agg(value, n), '{{}}')
            FROM (SELECT {column} AS value, count(*) AS n FROM done GROUP BY 1) AS counted
        )
    """


# Read the stored numbers of a large agent, and what changed since. Lifespans are corrected in
# place, so the log says what they were before. Numbers that are small in any agent are counted
# anew, by indexes that have nothing else. `is_readable`: no operation since then left the log.
_READ = f"""
    WITH stored AS MATERIALIZED (
        SELECT i.stats, coalesce(i.stats_until, {NEVER_SQL}) AS known_at,
               CAST(i.stats ->> 'as_of' AS timestamptz) AS as_of
        FROM agent_indexes i
        WHERE i.agent_id = :agent AND i.stats IS NOT NULL
    ),
    {MOMENT},
    done AS MATERIALIZED (
        SELECT l.operation, l.decided_by, l.created_at, l.hash, l.before_state, l.after_state,
               l.source_memory_ids || l.target_memory_id AS ids
        FROM consolidation_log l
        WHERE l.agent_id = :agent AND l.created_at > (SELECT known_at FROM stored)
    ),
    {_TOUCHED},
    corrected AS MATERIALIZED (
        SELECT DISTINCT ON (id)
               CAST(s ->> 'id' AS uuid) AS id, s -> 'metadata' ->> 'lifespan' AS lifespan
        FROM done CROSS JOIN LATERAL jsonb_array_elements(done.before_state) AS s
        WHERE s -> 'metadata' ? 'lifespan'
        ORDER BY id, done.created_at
    ),
    before AS (
        WITH moment AS (SELECT as_of, known_at FROM stored)
        SELECT {_COUNTED},
               coalesce(
                   (SELECT c.lifespan FROM corrected c WHERE c.id = m.id), m.lifespan
               ) AS lifespan
        FROM {PAST}
        WHERE {_IS_TOUCHED}
    ),
    after AS (
        SELECT {_COUNTED}, m.lifespan
        FROM {LATEST}
        WHERE {_IS_TOUCHED}
    ),
    {_CHANGES}
    SELECT
        stored.stats,
        {AS_OF} AS as_of,
        NOT EXISTS (
            SELECT FROM folded_operations f
            WHERE f.agent_id = :agent AND f.archive_id IS NOT NULL
              AND f.created_at > stored.known_at
        ) AS is_readable,
        least(
            (
                SELECT l.created_at FROM consolidation_log l WHERE l.agent_id = :agent
                ORDER BY l.created_at LIMIT 1
            ),
            (
                SELECT f.created_at FROM folded_operations f
                WHERE f.agent_id = :agent AND f.archive_id IS NOT NULL
                ORDER BY f.created_at LIMIT 1
            )
        ) AS first_known_at,
        nullif(a.last_known_at, {NEVER_SQL}) AS last_known_at,
        encode(a.log_head, 'hex') AS log_head,
        {_CHANGED_NUMBERS},
        (
            SELECT count(*) FROM memory_beliefs x
            WHERE x.agent_id = :agent AND x.memory_id = ANY(ARRAY(SELECT id FROM touched))
              AND x.known_until > stored.known_at
        ) AS beliefs,
        (
            SELECT coalesce(sum(
                jsonb_array_length(jsonb_path_query_array(done.after_state, '$[*].links[*]'))
                - jsonb_array_length(jsonb_path_query_array(done.before_state, '$[*].links[*]'))
            ), 0)
            FROM done
        ) AS relationships,
        (SELECT count(*) FROM done) AS operations,
        (SELECT count(hash) FROM done) AS log_length,
        {_count_done_sql("operation")} AS by_operation,
        {_count_done_sql("decided_by")} AS by_judge,
        (
            SELECT count(*) FROM memories o WHERE o.agent_id = :agent AND o.look_again IS NOT NULL
        ) AS look_again,
        (
            SELECT coalesce(jsonb_object_agg(value, n), '{{}}')
            FROM (
                SELECT r.status AS value, count(*) AS n FROM reviews r
                WHERE r.agent_id = :agent
                GROUP BY 1
            ) AS counted
        ) AS by_review_status
    FROM stored JOIN agents a ON a.agent_id = :agent
"""

_ADDED = (
    *("memories", "text_bytes", "chains", "crowded_slots"),
    *("beliefs", "relationships", "operations", "log_length"),
)
_ADDED_BY_VALUE = ("by_status", "by_kind", "by_tier", "by_lifespan", "by_operation", "by_judge")
_READ_ANEW = (
    *("as_of", "first_known_at", "last_known_at", "log_head"),
    *("look_again", "by_review_status"),
)


async def read_stats(
    connection: AsyncConnection, agent: AgentId, half_lives: HalfLives
) -> Mapping[str, Any]:
    """Return the numbers of an agent as `count_stats` does.

    Those of a large agent have `strength_as_of` too, the moment of their strengths.
    """
    if await _is_counted(connection, agent):
        stats = await _read_recent_stats(connection, agent)
        if stats is not None:
            return stats
    return await count_stats(connection, agent, half_lives)


_IS_COUNTED = """
    SELECT EXISTS (
        SELECT FROM agent_indexes i WHERE i.agent_id = :agent AND i.stats IS NOT NULL
    ) AS is_counted
"""


async def _is_counted(connection: AsyncConnection, agent: AgentId) -> bool:
    [row] = await fetch_rows(connection, _IS_COUNTED, {"agent": agent})
    return bool(row["is_counted"])


async def _read_recent_stats(connection: AsyncConnection, agent: AgentId) -> dict[str, Any] | None:
    """Return the stored numbers with what changed since. None if the agent must be counted."""
    rows = await fetch_rows(connection, _READ, {"agent": agent, "as_of": None, "known_at": None})
    if not rows or not rows[0]["is_readable"]:
        return None
    [row] = rows
    stats = _add_changes(row["stats"], row)
    for name in _READ_ANEW:
        stats[name] = row[name]
    stats["strength_as_of"] = datetime.fromisoformat(stats["strength_as_of"])
    return stats


def _add_changes(stats: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers, to which the changes are added as far as they name them."""
    added = dict(stats)
    for name in _ADDED:
        if name in changes:
            added[name] = stats[name] + int(changes[name])
    for name in _ADDED_BY_VALUE:
        if name in changes:
            added[name] = _add_counts(stats[name], changes[name])
    return added


def _add_counts(counts: Mapping[str, int], changes: Mapping[str, int]) -> dict[str, int]:
    """Return the counts with the changes added. A count of zero is left out."""
    added = {value: counts.get(value, 0) + changes.get(value, 0) for value in {*counts, *changes}}
    return {value: count for value, count in added.items() if count}


# --- counting ------------------------------------------------------------------------------------

# What does a large agent need? It is counted anew if it wrote since the last count, and each day,
# for at most a hundredth of the time. Until then, what changed is added when it wrote.
_READ_NEED = f"""
    SELECT
        {build_is_due("counted.at", "i.stats_seconds")} AS is_due,
        i.stats_until IS DISTINCT FROM nullif(a.last_known_at, {NEVER_SQL}) AS has_changed,
        a.last_erased_at
    FROM agent_indexes i
    JOIN agents a ON a.agent_id = :agent
    CROSS JOIN (SELECT clock_timestamp() AS now) AS clock
    CROSS JOIN LATERAL (
        SELECT CAST(i.stats ->> 'strength_as_of' AS timestamptz) AS at
    ) AS counted
    WHERE i.agent_id = :agent
"""

# Wait for a write under way, and read when the last erasure was.
_LOCK_ERASURES = "SELECT last_erased_at FROM agents WHERE agent_id = :agent FOR SHARE"

# Store the numbers. Counting them took so many seconds, unless changes were added alone.
_STORE = """
    UPDATE agent_indexes
    SET stats = CAST(:stats AS jsonb),
        stats_until = :until,
        stats_seconds = coalesce(CAST(:seconds AS float8), stats_seconds)
    WHERE agent_id = :agent
"""


async def refresh_stats(connection: AsyncConnection, agent: AgentId, half_lives: HalfLives) -> None:
    """Count the numbers of a large agent anew if it is time, else add what changed.

    The result is dropped if something was erased meanwhile. The next call works on what is left.
    """
    rows = await fetch_rows(connection, _READ_NEED, {"agent": agent})
    if not rows:
        return
    [need] = rows
    stats, seconds = None, None
    if not need["is_due"]:
        if not need["has_changed"]:
            return
        stats = await _read_recent_stats(connection, agent)
    if stats is None:
        await lift_statement_timeout(connection)
        started = time.monotonic()
        stats = await count_stats(connection, agent, half_lives)
        stats["strength_as_of"] = stats["as_of"]
        seconds = time.monotonic() - started
    [lock] = await fetch_rows(connection, _LOCK_ERASURES, {"agent": agent})
    if lock["last_erased_at"] == need["last_erased_at"]:
        await _store_stats(connection, agent, stats, seconds=seconds)


async def _store_stats(
    connection: AsyncConnection,
    agent: AgentId,
    stats: Mapping[str, Any],
    *,
    seconds: float | None = None,
) -> None:
    values = {
        "agent": agent,
        "stats": json.dumps(stats, default=str),
        "until": stats["last_known_at"],
        "seconds": seconds,
    }
    await fetch_rows(connection, _STORE, values)


# --- erasing -------------------------------------------------------------------------------------

# Read how the numbers change if these memories are erased.
_READ_ERASURE = f"""
    WITH {MOMENT},
    touched AS MATERIALIZED (SELECT unnest(CAST(:ids AS uuid[])) AS id),
    before AS (
        SELECT {_COUNTED}, m.lifespan
        FROM {LATEST}
        WHERE {_IS_TOUCHED}
    ),
    after AS (
        SELECT id, chain_id, slot_hash, one_value, kind, tier, 0 AS bytes,
               '{Status.ERASED}' AS status, lifespan
        FROM before
    ),
    {_CHANGES}
    SELECT {_CHANGED_NUMBERS}
"""


async def forget_erased(connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID]) -> None:
    """Count memories of a large agent as erased, before they are. The agent is locked."""
    if not await _is_counted(connection, agent):
        return
    stats = await _read_recent_stats(connection, agent)
    if stats is None:
        await forget_stats(connection, agent)
        return
    as_of = stats["as_of"]
    values = {"agent": agent, "ids": list(ids), "as_of": as_of, "known_at": None}
    [changes] = await fetch_rows(connection, _READ_ERASURE, values)
    await _store_stats(connection, agent, _add_changes(stats, changes))


_FORGET = "UPDATE agent_indexes SET stats = NULL WHERE agent_id = :agent"


async def forget_stats(connection: AsyncConnection, agent: AgentId) -> None:
    """Forget the stored numbers of a large agent. They are counted anew."""
    await fetch_rows(connection, _FORGET, {"agent": agent})
