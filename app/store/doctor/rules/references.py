"""Rules of what points to what: memories, operations, relationships, reviews."""

from app.store.doctor.rules.rule import Rule
from app.store.fragments import NEVER_SQL

# Find ids of memories in rows and past beliefs that are no memory of the agent.
_MISSING_REFERENCES = """
    SELECT ARRAY[CAST(id AS text), CAST(ref AS text)] AS ids, id, name, ref
    FROM (
        SELECT m.id, r.name, r.ref
        FROM memories m
        CROSS JOIN LATERAL (
            SELECT * FROM (VALUES
                ('chain_id', m.chain_id),
                ('superseded_by', m.superseded_by),
                ('ended_by', m.ended_by),
                ('contradicted_by', m.contradicted_by)
            ) AS named
            UNION ALL
            SELECT 'merged_from', unnest(m.merged_from)
        ) AS r (name, ref)
        WHERE m.agent_id = :agent
        UNION ALL
        SELECT b.memory_id, r.name, r.ref
        FROM memory_beliefs b
        CROSS JOIN LATERAL (VALUES
            ('superseded_by of a past belief', b.superseded_by),
            ('ended_by of a past belief', b.ended_by),
            ('contradicted_by of a past belief', b.contradicted_by)
        ) AS r (name, ref)
        WHERE b.agent_id = :agent
    ) AS named
    WHERE ref IS NOT NULL AND NOT EXISTS (
        SELECT FROM memories o WHERE o.agent_id = :agent AND o.id = named.ref
    )
"""

# Find rings of memories that were declared each other's successors. Around a ring, one at least
# starts no earlier than the successor that was declared for it: the walks begin at those.
_RINGS = """
    WITH RECURSIVE walk AS (
        SELECT m.id AS origin, o.id
        FROM memories m
        JOIN memories o ON o.agent_id = :agent AND o.id = m.ended_by
        WHERE m.agent_id = :agent AND NOT m.void AND NOT o.void AND o.valid_from <= m.valid_from
        UNION
        SELECT w.origin, o.id
        FROM walk w
        JOIN memories m ON m.agent_id = :agent AND m.id = w.id
        JOIN memories o ON o.agent_id = :agent AND o.id = m.ended_by
        WHERE NOT o.void
    )
    SELECT DISTINCT array_agg(CAST(id AS text) ORDER BY id) AS ids,
           string_agg(CAST(id AS text), ', ' ORDER BY id) AS listed
    FROM walk
    GROUP BY origin
    HAVING bool_or(id = origin)
"""

# Find ids of memories in operations that are no memory of the agent.
_MISSING_IN_LOG = """
    SELECT ARRAY[CAST(l.id AS text), CAST(ref AS text)] AS ids, l.id, ref
    FROM consolidation_log l
    CROSS JOIN LATERAL (SELECT unnest(l.source_memory_ids || l.target_memory_id)) AS named (ref)
    WHERE l.agent_id = :agent AND ref IS NOT NULL AND NOT EXISTS (
        SELECT FROM memories o WHERE o.agent_id = :agent AND o.id = named.ref
    )
"""

# Find states without any of the keys that a state has (store/log/state.py).
_UNREADABLE_STATES = """
    SELECT DISTINCT ARRAY[CAST(l.id AS text)] AS ids, l.id
    FROM consolidation_log l
    CROSS JOIN LATERAL jsonb_path_query(l.before_state || l.after_state, '$[*]') AS state
    WHERE l.agent_id = :agent AND NOT state ?| CAST('{id,links,review,settled}' AS text[])
"""

# Find relationships with an end that is no memory of the agent.
_DANGLING_LINKS = """
    SELECT ARRAY[CAST(r.source_id AS text), CAST(r.target_id AS text)] AS ids,
           r.source_id, r.target_id, r.type
    FROM memory_relationships r
    WHERE r.agent_id = :agent AND (
        NOT EXISTS (SELECT FROM memories m WHERE m.agent_id = :agent AND m.id = r.source_id)
        OR NOT EXISTS (SELECT FROM memories m WHERE m.agent_id = :agent AND m.id = r.target_id)
    )
"""

# Compare relationships with the log. The last operation that names a relationship made it (it is
# in the states after) or removed it (it is in the states before). Checkpoints name those that were
# made by folded operations.
_LINKS_UNLIKE_LOG = f"""
    WITH logged AS (
        SELECT DISTINCT ON (source, target, type) source, target, type, log_id, made
        FROM (
            SELECT link ->> 'source' AS source, link ->> 'target' AS target,
                   link ->> 'type' AS type, l.id AS log_id, made, l.created_at AS at
            FROM consolidation_log l
            CROSS JOIN LATERAL (VALUES (false, l.before_state), (true, l.after_state))
                AS side (made, states)
            CROSS JOIN LATERAL jsonb_path_query(side.states, '$[*].links[*]') AS link
            WHERE l.agent_id = :agent AND l.created_at > coalesce(
                (SELECT log_folded_until FROM agents WHERE agent_id = :agent),
                {NEVER_SQL}
            )
            UNION ALL
            SELECT CAST(c.memory_id AS text), link ->> 'target', link ->> 'type',
                   CASE WHEN pg_input_is_valid(link ->> 'log_id', 'uuid')
                       THEN CAST(link ->> 'log_id' AS uuid) END,
                   true, {NEVER_SQL}
            FROM log_checkpoints c
            CROSS JOIN LATERAL jsonb_path_query(c.told, '$.links[*]') AS link
            WHERE c.agent_id = :agent
        ) AS changes
        ORDER BY source, target, type, at DESC, made DESC
    ), stored AS (
        SELECT CAST(source_id AS text) AS source, CAST(target_id AS text) AS target, type, log_id
        FROM memory_relationships
        WHERE agent_id = :agent
    )
    SELECT array_remove(ARRAY[source, target, CAST(CASE
               WHEN s.type IS NULL OR NOT t.made THEN t.log_id
               ELSE s.log_id
           END AS text)], NULL) AS ids,
           source, target, type,
           CASE
               WHEN s.type IS NULL
                   THEN 'was made by operation ' || t.log_id || ', but is not stored'
               WHEN t.made IS FALSE
                   THEN 'was undone by operation ' || t.log_id || ', but is stored'
               WHEN s.log_id IS NULL
                   THEN 'is of no operation'
               ELSE 'is said to be of operation ' || s.log_id || ', which does not tell of it'
           END AS what
    FROM logged t
    FULL JOIN stored s USING (source, target, type)
    WHERE CASE
        WHEN s.type IS NULL THEN t.made
        ELSE t.made IS NOT TRUE OR t.log_id IS DISTINCT FROM s.log_id
    END
"""

# Find ids in reviews that are no memory or operation of the agent. An operation may be archived.
_MISSING_IN_REVIEWS = """
    SELECT ARRAY[CAST(r.id AS text), ref] AS ids, r.id, what, ref
    FROM reviews r
    CROSS JOIN LATERAL (
        SELECT 'memory', CAST(r.memory_id AS text), EXISTS (
            SELECT FROM memories m WHERE m.agent_id = :agent AND m.id = r.memory_id
        )
        UNION ALL
        SELECT 'operation', CAST(log_id AS text),
               EXISTS (SELECT FROM consolidation_log l WHERE l.agent_id = :agent AND l.id = log_id)
               OR EXISTS (
                   SELECT FROM folded_operations f
                   WHERE f.agent_id = :agent AND f.id = log_id AND f.archive_id IS NOT NULL
               )
        FROM unnest(ARRAY[r.log_id, r.decision_log_id]) AS log_id
        UNION ALL
        SELECT 'memory', relied,
               CASE WHEN pg_input_is_valid(relied, 'uuid') THEN EXISTS (
                   SELECT FROM memories m
                   WHERE m.agent_id = :agent AND m.id = CAST(relied AS uuid)
               ) ELSE false END
        FROM jsonb_path_query(r.relied_on, '$.keyvalue().key', '{}', true) AS key
        CROSS JOIN LATERAL (SELECT key #>> '{}') AS k (relied)
        WHERE r.status = 'pending'
    ) AS named (what, ref, is_there)
    WHERE r.agent_id = :agent AND ref IS NOT NULL AND NOT is_there
"""

# Find operations that left a review which is not stored.
_MISSING_REVIEWS = """
    SELECT ARRAY[CAST(l.id AS text)] AS ids, l.id
    FROM (
        SELECT id
        FROM consolidation_log
        WHERE agent_id = :agent AND jsonb_path_exists(after_state, '$[*].review')
        UNION
        SELECT id
        FROM folded_operations
        WHERE agent_id = :agent AND proposed
    ) AS l
    WHERE NOT EXISTS (SELECT FROM reviews r WHERE r.agent_id = :agent AND r.log_id = l.id)
"""

# Compare the status of reviews with the last operation that decided each. Archived operations
# cannot be compared. Two changes of a review have no such operation: a revert of the store that
# left it, and an erasure.
_REVIEWS_UNLIKE_LOG = f"""
    WITH folded AS (
        SELECT coalesce(
            (SELECT log_folded_until FROM agents WHERE agent_id = :agent),
            {NEVER_SQL}
        ) AS until
    ), last AS (
        SELECT DISTINCT ON (review_id) settled ->> 'review_id' AS review_id,
               settled ->> 'after' AS status, l.id AS log_id
        FROM consolidation_log l
        CROSS JOIN LATERAL jsonb_path_query(l.after_state, '$[*].settled') AS settled
        WHERE l.agent_id = :agent AND l.created_at > (SELECT until FROM folded)
        ORDER BY review_id, l.created_at DESC
    )
    SELECT array_remove(ARRAY[CAST(r.id AS text), CAST(last.log_id AS text)], NULL) AS ids,
           r.id, r.status,
           CASE
               WHEN r.decision_log_id IS NULL AND r.status <> 'pending'
                   THEN 'names no operation that decided it'
               WHEN last.log_id IS NULL THEN 'no operation says so'
               ELSE 'operation ' || last.log_id || ' says ' || last.status
           END AS what
    FROM reviews r
    LEFT JOIN last ON last.review_id = CAST(r.id AS text)
    WHERE r.agent_id = :agent AND CASE
        WHEN r.status = 'pending' THEN last.status <> 'pending'
        WHEN r.status IN ('expired', 'overtaken') THEN last.status IN ('accepted', 'rejected')
        ELSE r.decision_log_id IS NULL OR last.status <> r.status
            OR last.status IS NULL
                AND coalesce(r.decided_at > (SELECT until FROM folded), true)
        END
"""

# Find reviews that wait although they name the operation that decided them.
_DECIDED_BUT_PENDING = """
    SELECT ARRAY[CAST(id AS text), CAST(decision_log_id AS text)] AS ids, id, decision_log_id
    FROM reviews
    WHERE agent_id = :agent AND status = 'pending' AND decision_log_id IS NOT NULL
"""

REFERENCES = (
    Rule(
        "references",
        "Memory {id} names {ref} in {name}, which this agent does not have.",
        _MISSING_REFERENCES,
    ),
    Rule(
        "rings",
        "Memories {listed} were superseded by each other, in a ring, so that none of them holds "
        "in the end: undo one of these supersessions, or store anew what holds.",
        _RINGS,
    ),
    Rule(
        "log",
        "Operation {id} names memory {ref}, which this agent does not have.",
        _MISSING_IN_LOG,
    ),
    Rule(
        "log",
        "Operation {id} holds a state of which nothing can be read.",
        _UNREADABLE_STATES,
    ),
    Rule(
        "links",
        "A link points from {source_id} to {target_id} ({type}), of which this agent does not "
        "have both.",
        _DANGLING_LINKS,
    ),
    Rule(
        "links",
        "The link from {source} to {target} ({type}) {what}.",
        _LINKS_UNLIKE_LOG,
    ),
    Rule(
        "reviews",
        "Review {id} is about {what} {ref}, which this agent does not have.",
        _MISSING_IN_REVIEWS,
    ),
    Rule(
        "reviews",
        "Operation {id} proposed a change, but its review is not stored.",
        _MISSING_REVIEWS,
    ),
    Rule(
        "reviews",
        "Review {id} is {status}, but {what}.",
        _REVIEWS_UNLIKE_LOG,
    ),
    Rule(
        "reviews",
        "Review {id} waits for a decision, but operation {decision_log_id} is said to have "
        "decided it.",
        _DECIDED_BUT_PENDING,
    ),
)
