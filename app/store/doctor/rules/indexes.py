"""Rules of the index of a large agent: it has what it says it has, and nothing erased."""

from app.store.doctor.rules.rule import Rule

# Find memories up to the end of the index that are not in it.
_NOT_INDEXED = """
    SELECT ARRAY[CAST(m.id AS text)] AS ids, m.id
    FROM agent_indexes a
    JOIN memories m ON m.agent_id = :agent
        AND (m.created_at, m.id) <= (a.covers_until, a.covers_id)
    WHERE a.agent_id = :agent AND m.erased_at IS NULL AND NOT EXISTS (
        SELECT FROM indexed_memories i WHERE i.agent_id = :agent AND i.id = m.id
    )
"""

# Find what the index has of erased memories, or of none.
_ONLY_INDEXED = """
    SELECT ARRAY[CAST(i.id AS text)] AS ids, i.id
    FROM indexed_memories i
    WHERE i.agent_id = :agent AND NOT EXISTS (
        SELECT FROM memories m
        WHERE m.agent_id = :agent AND m.id = i.id AND m.erased_at IS NULL
    )
"""

INDEXES = (
    Rule(
        "indexes",
        "The agent's index should have memory {id}, and does not: searches miss it.",
        _NOT_INDEXED,
    ),
    Rule(
        "indexes",
        "The agent's index has memory {id}, which is erased or not there.",
        _ONLY_INDEXED,
    ),
)
