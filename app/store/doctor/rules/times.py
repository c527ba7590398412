"""Rules of both axes of time: times out of range, known times, chains and beliefs."""

from app.planning.audit.faults import Remedy, RemedyTable
from app.store.doctor.rules.rule import Rule
from app.store.fragments import NEVER_SQL


def _is_out_of_range_sql(*columns: str) -> str:
    """Return the condition that a time is outside the years 1 to 9999, as infinity is.

    Python cannot read such a time.
    """
    listed = ", ".join(columns)
    return f"""(
        least({listed}) < {NEVER_SQL}
        OR greatest({listed}) > '9999-12-31 23:59:59.999999+00'
    )"""


_BELIEF_TIMES = (
    "valid_from",
    "valid_until",
    "asserted_at",
    "said_until",
    "retracted_at",
    "superseded_at",
    "known_from",
)

# Find memories with a time that cannot be read.
_UNREADABLE_MEMORIES = f"""
    SELECT ARRAY[CAST(id AS text)] AS ids, id
    FROM (
        SELECT id
        FROM memories
        WHERE agent_id = :agent
          AND {_is_out_of_range_sql(*_BELIEF_TIMES, "created_at", "erased_at")}
        UNION
        SELECT memory_id
        FROM memory_beliefs
        WHERE agent_id = :agent AND {_is_out_of_range_sql(*_BELIEF_TIMES, "known_until")}
        UNION
        SELECT memory_id
        FROM memory_usage
        WHERE agent_id = :agent
          AND {_is_out_of_range_sql("last_reinforced_at", "last_accessed_at")}
    ) AS unreadable
"""

# Find operations with a time that cannot be read.
_UNREADABLE_OPERATIONS = f"""
    SELECT ARRAY[CAST(id AS text)] AS ids, id
    FROM consolidation_log
    WHERE agent_id = :agent AND {_is_out_of_range_sql("created_at")}
"""

# Compare the agent's last known time with its last operation or review.
_WRONG_LAST_KNOWN = """
    SELECT ARRAY[CAST(l.id AS text)] AS ids, l.id, l.created_at AS told,
           a.last_known_at AS stated
    FROM agents a
    CROSS JOIN LATERAL (
        (
            SELECT id, created_at
            FROM consolidation_log
            WHERE agent_id = :agent
            ORDER BY created_at DESC, id DESC
            LIMIT 1
        )
        UNION ALL
        (
            SELECT id, created_at
            FROM folded_operations
            WHERE agent_id = :agent
            ORDER BY created_at DESC
            LIMIT 1
        )
        UNION ALL
        (
            SELECT id, created_at
            FROM reviews
            WHERE agent_id = :agent
            ORDER BY created_at DESC
            LIMIT 1
        )
        ORDER BY created_at DESC
        LIMIT 1
    ) AS l
    WHERE a.agent_id = :agent AND l.created_at > a.last_known_at
"""

# Compare the agent's last erasure with the log.
_WRONG_LAST_ERASED = """
    SELECT CAST('{}' AS text[]) AS ids, l.told, a.last_erased_at AS stated
    FROM agents a
    CROSS JOIN LATERAL (
        SELECT max(created_at) AS told
        FROM (
            SELECT created_at
            FROM consolidation_log
            WHERE agent_id = :agent AND operation = 'ERASE'
            UNION ALL
            SELECT created_at
            FROM folded_operations
            WHERE agent_id = :agent AND operation = 'ERASE'
        ) AS erasures
    ) AS l
    WHERE a.agent_id = :agent AND l.told IS DISTINCT FROM a.last_erased_at
"""

# Find known times after the last operation of the agent.
_TOO_LATE = """
    SELECT ARRAY[CAST(id AS text)] AS ids, id, what, at
    FROM (
        SELECT id, 'Memory' AS what,
               greatest(created_at, asserted_at, superseded_at, known_from, erased_at) AS at
        FROM memories
        WHERE agent_id = :agent
        UNION ALL
        SELECT memory_id, 'A past belief of memory',
               greatest(asserted_at, superseded_at, known_until)
        FROM memory_beliefs
        WHERE agent_id = :agent
        UNION ALL
        SELECT memory_id, 'A confirmation of memory', last_reinforced_at
        FROM memory_usage
        WHERE agent_id = :agent
    ) AS dated
    WHERE at > (
        SELECT greatest(a.last_known_at, (
            SELECT max(created_at) FROM consolidation_log WHERE agent_id = :agent
        ))
        FROM agents a
        WHERE a.agent_id = :agent
    )
"""

# Find operations with the same known time.
_SAME_KNOWN_TIME = """
    SELECT array_agg(CAST(id AS text)) AS ids, string_agg(CAST(id AS text), ', ') AS listed,
           created_at
    FROM (
        SELECT id, created_at FROM consolidation_log WHERE agent_id = :agent
        UNION
        SELECT id, created_at FROM folded_operations WHERE agent_id = :agent
    ) AS operations
    GROUP BY created_at
    HAVING count(DISTINCT id) > 1
"""

# Find versions of a chain that overlap in valid time. Temporary versions overlap with what they
# cover; their places are checked with their chain (planning/audit/chain_checks.py).
_OVERLAPS = """
    SELECT ARRAY[CAST(id AS text), CAST(next_id AS text)] AS ids, id, next_id
    FROM (
        SELECT id, valid_until, lead(id) OVER w AS next_id, lead(valid_from) OVER w AS next_from
        FROM memories
        WHERE agent_id = :agent AND NOT void AND NOT temporary
            AND valid_until IS DISTINCT FROM valid_from
        WINDOW w AS (PARTITION BY chain_id ORDER BY valid_from, asserted_at)
    ) AS line
    WHERE next_id IS NOT NULL AND (valid_until IS NULL OR valid_until > next_from)
"""

# Find beliefs that do not begin when the one before them ends.
_BROKEN_BELIEFS = """
    SELECT ARRAY[CAST(id AS text)] AS ids, id, known_from, due
    FROM (
        SELECT id, known_from,
               coalesce(
                   lag(known_until) OVER (
                       PARTITION BY id ORDER BY known_from, known_until NULLS LAST
                   ),
                   created_at
               ) AS due
        FROM (
            SELECT id, created_at, known_from, CAST(NULL AS timestamptz) AS known_until
            FROM memories
            WHERE agent_id = :agent
            UNION ALL
            SELECT m.id, m.created_at, b.known_from, b.known_until
            FROM memory_beliefs b
            JOIN memories m ON m.agent_id = :agent AND m.id = b.memory_id
            WHERE b.agent_id = :agent
        ) AS spans
    ) AS beliefs
    WHERE known_from <> due
"""

READABLE = (
    Rule(
        "times",
        "Memory {id} holds a time outside the years 1 to 9999. Nothing else of this agent was "
        "checked.",
        _UNREADABLE_MEMORIES,
    ),
    Rule(
        "times",
        "Operation {id} has a known time outside the years 1 to 9999. Nothing else of this agent "
        "was checked.",
        _UNREADABLE_OPERATIONS,
    ),
)

IN_TIME = (
    Rule(
        check="agents",
        sentence="The agent was last written to at {told}, by operation or review {id}; its row "
        "says at {stated}.",
        statement=_WRONG_LAST_KNOWN,
        remedy=lambda row: Remedy(RemedyTable.AGENT, None, {"last_known_at": row["told"]}),
    ),
    Rule(
        check="agents",
        sentence="The agent was last erased from at {told}; its row says at {stated}.",
        statement=_WRONG_LAST_ERASED,
        remedy=lambda row: Remedy(RemedyTable.AGENT, None, {"last_erased_at": row["told"]}),
    ),
    Rule(
        "known_times",
        "{what} {id} is dated {at}, after the last operation of its agent.",
        _TOO_LATE,
    ),
    Rule(
        "known_times",
        "Operations {listed} have the same known time, {created_at}.",
        _SAME_KNOWN_TIME,
    ),
    Rule(
        "chains",
        "Memory {id} overlaps {next_id} in valid time, though both are versions of one fact.",
        _OVERLAPS,
    ),
    Rule(
        "beliefs",
        "A belief of memory {id} begins at {known_from}; it should at {due}, so that known time "
        "has no gap and no overlap.",
        _BROKEN_BELIEFS,
    ),
)
