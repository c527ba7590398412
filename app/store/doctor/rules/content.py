"""Rules about vectors, and about what an erasure must have emptied."""

from pgvector.sqlalchemy import Vector
from sqlalchemy.dialects.postgresql import BYTEA

from app.store.columns import (
    ERASED_WITH_CHAIN,
    ERASED_WITH_MEMORY,
    Wording,
    not_erased_sql,
)
from app.store.doctor.rules.rule import Rule
from app.store.tables import HAS_OPINIONS

# Every vector has the size of the model that the database names, and length 1.
_BROKEN_VECTORS = """
    SELECT ARRAY[CAST(m.id AS text)] AS ids, m.id, what
    FROM memories m
    LEFT JOIN encoder e ON true
    CROSS JOIN LATERAL (
        SELECT CASE
            WHEN e.name IS NULL
            THEN 'a vector of a model that the database does not name'
            WHEN m.embedding IS NULL
            THEN CASE
                WHEN m.erased_at IS NULL THEN 'no vector, so that no search by meaning finds it'
            END
            WHEN vector_dims(m.embedding) <> e.dimensions
            THEN 'a vector of ' || vector_dims(m.embedding) || ' dimensions; those of '
                || e.name || ' have ' || e.dimensions
            WHEN NOT abs(vector_norm(m.embedding) - 1) < 0.001
            THEN 'a vector of length ' || vector_norm(m.embedding) || '; it must be 1'
            WHEN m.embedding_next IS NOT NULL
              AND vector_dims(m.embedding_next) IS DISTINCT FROM e.next_dimensions
            THEN 'a vector for the change of the model that does not fit the next model'
        END
    ) AS w (what)
    WHERE m.agent_id = :agent AND what IS NOT NULL
"""

VECTORS = (Rule("vectors", "Memory {id} has {what}.", _BROKEN_VECTORS),)

_WORDS = [column for column in ERASED_WITH_MEMORY if column.wording is Wording.TEXT]
_VECTORS = [column for column in ERASED_WITH_MEMORY if isinstance(column.type, Vector)]
_HASHES = [column for column in ERASED_WITH_MEMORY if isinstance(column.type, BYTEA)]

_WHOLE_CHAIN_ERASED = """
    NOT EXISTS (
        SELECT FROM memories o
        WHERE o.agent_id = :agent AND o.chain_id = m.chain_id AND o.erased_at IS NULL
    )
"""

# The row of an erased memory is empty, and so is the slot of a chain that is erased as a whole.
_ROWS_NOT_EMPTY = f"""
    SELECT ARRAY[CAST(m.id AS text)] AS ids, m.id, what
    FROM memories m
    CROSS JOIN LATERAL (
        SELECT concat_ws(
            ', ',
            CASE
                WHEN {not_erased_sql(_WORDS)}
                  OR (m.slot_hash = :nowhere AND ({not_erased_sql(ERASED_WITH_CHAIN)}))
                  OR (m.slot_hash <> :nowhere AND {_WHOLE_CHAIN_ERASED})
                THEN 'words'
            END,
            CASE WHEN {not_erased_sql(_VECTORS)} THEN 'a vector' END,
            CASE WHEN {not_erased_sql(_HASHES)} THEN 'hashes' END
        )
    ) AS w (what)
    WHERE m.agent_id = :agent AND m.erased_at IS NOT NULL AND what <> ''
"""

# No state in the log has the words of an erased memory.
_STATES_NOT_EMPTY = """
    SELECT DISTINCT ARRAY[CAST(l.id AS text), CAST(m.id AS text)] AS ids, l.id, m.id AS memory_id
    FROM consolidation_log l
    CROSS JOIN LATERAL jsonb_path_query(l.before_state || l.after_state, '$[*]') AS state
    JOIN memories m
      ON m.agent_id = :agent AND m.erased_at IS NOT NULL AND CAST(m.id AS text) = state ->> 'id'
    WHERE l.agent_id = :agent AND (
        state ?| CAST(:texts AS text[])
        OR state -> 'metadata' ?| CAST(:texts AS text[])
        OR (m.slot_hash = :nowhere AND state ?| CAST(:slot_words AS text[]))
    )
"""

# The fact that came in stays only if a memory that is not erased has its text from there
# (store/redactions.py).
_INCOMING_NOT_EMPTY = """
    SELECT DISTINCT ON (l.id)
        ARRAY[CAST(l.id AS text), CAST(m.id AS text)] AS ids, l.id, m.id AS memory_id
    FROM memories m
    JOIN consolidation_log l
      ON l.agent_id = :agent
     AND l.created_at < m.erased_at
     AND (l.target_memory_id = m.id OR l.source_memory_ids @> ARRAY[m.id])
    WHERE m.agent_id = :agent
      AND m.erased_at IS NOT NULL
      AND l.incoming IS NOT NULL
      AND NOT EXISTS (
          SELECT FROM jsonb_path_query(
              l.after_state, '$[*] ? (exists(@.kind) && !exists(@.content))'
          ) AS state
          JOIN memories o
            ON o.agent_id = :agent AND o.erased_at IS NULL AND CAST(o.id AS text) = state ->> 'id'
      )
"""

# No operation has opinions of judges on an erased memory.
_OPINIONS_NOT_EMPTY = f"""
    SELECT DISTINCT ARRAY[CAST(l.id AS text), CAST(m.id AS text)] AS ids, l.id, m.id AS memory_id
    FROM consolidation_log l
    CROSS JOIN LATERAL jsonb_path_query(coalesce(l.opinions, l.vetoed), '$[*]') AS judged
    JOIN memories m
      ON m.agent_id = :agent AND m.erased_at IS NOT NULL
     AND CAST(m.id AS text) = judged ->> 'memory_id'
    WHERE l.agent_id = :agent AND {HAS_OPINIONS}
"""

# No memory was merged from an erased one, unless it is erased too.
_MERGED_FROM_ERASED = """
    SELECT ARRAY[CAST(m.id AS text), CAST(o.id AS text)] AS ids, m.id, o.id AS source
    FROM memories m
    JOIN memories o
      ON o.agent_id = :agent AND o.id = ANY(m.merged_from) AND o.erased_at IS NOT NULL
    WHERE m.agent_id = :agent AND m.erased_at IS NULL
"""

ERASED = (
    Rule("erased", "Memory {id} is erased, but its row still holds {what}.", _ROWS_NOT_EMPTY),
    Rule(
        "erased",
        "Operation {id} still quotes memory {memory_id}, which is erased.",
        _STATES_NOT_EMPTY,
    ),
    Rule(
        "erased",
        "Operation {id} still holds what came in when it touched memory {memory_id}, "
        "which is erased.",
        _INCOMING_NOT_EMPTY,
    ),
    Rule(
        "erased",
        "Operation {id} still has opinions on memory {memory_id}, which is erased.",
        _OPINIONS_NOT_EMPTY,
    ),
    Rule(
        "erased",
        "Memory {id} was merged from {source}, which is erased; its text may live on there.",
        _MERGED_FROM_ERASED,
    ),
)
