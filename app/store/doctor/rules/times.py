"""Rules of both axes of time: what can be read at all, known times, chains, beliefs."""

from app.planning.audit.checks import Remedy, RemedyTable
from app.store.doctor.rules.rule import Rule


def _is_out_of_range_sql(*columns: str) -> str:
    """Whether one of the times lies outside the years 1 to 9999, as infinity does. They could not even be read."""
    listed = ", ".join(columns)
    return f"(least({listed}) < '0001-01-01 00:00:00+00' OR greatest({listed}) > '9999-12-31 23:59:59.999999+00')"


_PLACE = (
    "valid_from",
    "valid_until",
    "asserted_at",
    "said_until",
    "retracted_at",
    "superseded_at",
    "known_from",
)

READABLE = (
    Rule(
        "times",
        "Memory {id} holds a time outside the years 1 to 9999. Nothing else of this agent was checked.",
        f"""
        SELECT ARRAY[CAST(id AS text)] AS ids, id FROM (
            SELECT id FROM memories WHERE agent_id = :agent AND {_is_out_of_range_sql(*_PLACE, "created_at", "erased_at")}
            UNION SELECT memory_id FROM memory_beliefs WHERE agent_id = :agent AND {_is_out_of_range_sql(*_PLACE, "known_until")}
            UNION SELECT memory_id FROM memory_usage WHERE agent_id = :agent AND {_is_out_of_range_sql("last_reinforced_at", "last_accessed_at")}
        ) AS found
        """,
    ),
    Rule(
        "times",
        "Operation {id} has a known time outside the years 1 to 9999. Nothing else of this agent was checked.",
        f"SELECT ARRAY[CAST(id AS text)] AS ids, id FROM consolidation_log WHERE agent_id = :agent AND {_is_out_of_range_sql('created_at')}",
    ),
)

IN_TIME = (
    Rule(
        "agents",
        "The agent was last written to at {told}, by operation or review {id}; its row says at {stated}.",
        """
        SELECT ARRAY[CAST(l.id AS text)] AS ids, l.id, l.created_at AS told, a.last_known_at AS stated
        FROM agents a CROSS JOIN LATERAL (
            (SELECT id, created_at FROM consolidation_log WHERE agent_id = a.agent_id ORDER BY created_at DESC, id DESC LIMIT 1)
            UNION ALL
            (SELECT id, created_at FROM folded_operations WHERE agent_id = a.agent_id ORDER BY created_at DESC LIMIT 1)
            UNION ALL
            (SELECT id, created_at FROM reviews WHERE agent_id = a.agent_id ORDER BY created_at DESC LIMIT 1)
            ORDER BY created_at DESC LIMIT 1
        ) AS l WHERE a.agent_id = :agent AND l.created_at > a.last_known_at
        """,
        lambda row: Remedy(RemedyTable.AGENT, None, {"last_known_at": row["told"]}),
    ),
    Rule(
        "agents",
        "The agent was last erased from at {told}; its row says at {stated}.",
        """
        SELECT CAST('{}' AS text[]) AS ids, l.told, a.last_erased_at AS stated
        FROM agents a CROSS JOIN LATERAL (
            SELECT max(created_at) AS told FROM (
                SELECT created_at FROM consolidation_log WHERE agent_id = a.agent_id AND operation = 'ERASE'
                UNION ALL SELECT created_at FROM folded_operations WHERE agent_id = a.agent_id AND operation = 'ERASE'
            ) AS erasures
        ) AS l WHERE a.agent_id = :agent AND l.told IS DISTINCT FROM a.last_erased_at
        """,
        lambda row: Remedy(RemedyTable.AGENT, None, {"last_erased_at": row["told"]}),
    ),
    Rule(
        "known_times",
        "{what} {id} is dated {at}, after the last operation of its agent.",
        """
        SELECT ARRAY[CAST(id AS text)] AS ids, id, what, at FROM (
            SELECT id, 'Memory' AS what, greatest(created_at, asserted_at, superseded_at, known_from, erased_at) AS at
            FROM memories WHERE agent_id = :agent
            UNION ALL SELECT memory_id, 'A past belief of memory', greatest(asserted_at, superseded_at, known_until)
            FROM memory_beliefs WHERE agent_id = :agent
            UNION ALL SELECT memory_id, 'A confirmation of memory', last_reinforced_at FROM memory_usage WHERE agent_id = :agent
        ) AS dated
        WHERE at > (
            SELECT greatest(a.last_known_at, (SELECT max(created_at) FROM consolidation_log WHERE agent_id = :agent))
            FROM agents a WHERE a.agent_id = :agent
        )
        """,
    ),
    Rule(
        "known_times",
        "Operations {listed} have the same known time, {created_at}.",
        """
        SELECT array_agg(CAST(id AS text)) AS ids, string_agg(CAST(id AS text), ', ') AS listed, created_at FROM (
            SELECT id, created_at FROM consolidation_log WHERE agent_id = :agent
            UNION SELECT id, created_at FROM folded_operations WHERE agent_id = :agent
        ) AS done GROUP BY created_at HAVING count(DISTINCT id) > 1
        """,
    ),
    Rule(
        "chains",
        "Memory {id} overlaps {next_id} in valid time, though both are versions of one fact.",
        """
        SELECT ARRAY[CAST(id AS text), CAST(next_id AS text)] AS ids, id, next_id FROM (
            SELECT id, valid_until, lead(id) OVER w AS next_id, lead(valid_from) OVER w AS next_from
            FROM memories WHERE agent_id = :agent AND NOT void AND valid_until IS DISTINCT FROM valid_from
            WINDOW w AS (PARTITION BY chain_id ORDER BY valid_from, asserted_at)
        ) AS line WHERE next_id IS NOT NULL AND (valid_until IS NULL OR valid_until > next_from)
        """,
    ),
    Rule(
        "beliefs",
        "A belief of memory {id} begins at {known_from}; it should at {due}, so that known time has no gap and no overlap.",
        """
        SELECT ARRAY[CAST(id AS text)] AS ids, id, known_from, due FROM (
            SELECT id, known_from,
                   coalesce(lag(known_until) OVER (PARTITION BY id ORDER BY known_from, known_until NULLS LAST), created_at) AS due
            FROM (
                SELECT id, created_at, known_from, CAST(NULL AS timestamptz) AS known_until FROM memories WHERE agent_id = :agent
                UNION ALL
                SELECT m.id, m.created_at, b.known_from, b.known_until
                FROM memory_beliefs b JOIN memories m ON m.agent_id = b.agent_id AND m.id = b.memory_id WHERE b.agent_id = :agent
            ) AS held
        ) AS beliefs WHERE known_from <> due
        """,
    ),
)
