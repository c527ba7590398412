-- The statements that every route sends, as they reach Postgres. `make golden` writes this file.
-- Each route has one representative call or a few. A statement stands in full under the first
-- call that sends it, and by the name of its sender under the others. Parameters that the driver
-- sends by position have the names of their columns here.
--
-- To run a statement in psql, give its parameters values first, as in  \set agent '\'alice\''


-- ===== POST /v1/memories (a first fact) =====

-- POST /v1/memories (a first fact)
-- app/store/engine.py
SELECT
    set_config('role', :role, true),
    set_config('search_path', :search_path, true),
    set_config('palimpsest.agent', :agent, true),
    set_config('timezone', 'UTC', true),
    set_config('jit', 'off', true),
    set_config('statement_timeout', :statement_timeout, true),
    set_config('lock_timeout', :lock_timeout, true),
    set_config('idle_in_transaction_session_timeout', :idle_timeout, true);

-- POST /v1/memories (a first fact)
-- app/store/agent_indexes.py list_indexes
SELECT agent_id, memories, live, counted_at FROM agent_indexes ORDER BY agent_id;

-- POST /v1/memories (a first fact)
-- app/store/comparison.py find_candidates
SELECT
    set_config('role', :role, true),
    set_config('search_path', :search_path, true),
    set_config('palimpsest.agent', :agent, true),
    set_config('timezone', 'UTC', true),
    set_config('jit', 'off', true),
    set_config('statement_timeout', :statement_timeout, true),
    set_config('lock_timeout', :lock_timeout, true),
    set_config('idle_in_transaction_session_timeout', :idle_timeout, true),
    set_config('plan_cache_mode', 'force_generic_plan', true),
    set_config('enable_seqscan', 'off', true);

-- POST /v1/memories (a first fact)
-- app/store/comparison.py find_candidates
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
query_words AS MATERIALIZED (
    SELECT CAST(
        replace(
            CAST(
                plainto_tsquery(
                    CAST(:language AS regconfig), pair_characters(:content, false)
                ) AS text
            ),
            ' & ',
            ' | '
        ) AS tsquery
    ) AS words
),
live AS MATERIALIZED (
    SELECT
        m.id,
        (m.embedding <=> :vector) + 0 AS distance,
        ts_rank(m.lexemes, (SELECT words FROM query_words)) AS rank,
        b.valid_from,
        coalesce(m.derived_hash = :derived, false)
        OR coalesce(m.slot_category = :category, false) AS alike
    FROM
        memories m
    CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
        m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
        m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
    WHERE m.agent_id = :agent AND
        b.valid_from <= (SELECT as_of FROM moment)
        AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
        AND NOT m.cold AND m.erased_at IS NULL AND (SELECT name FROM encoder) = :encoder
),
ranked AS MATERIALIZED (
    SELECT
        id,
        1 - distance + 5.0 * rank AS score,
        1 - distance AS vector,
        rank AS text
    FROM live
    ORDER BY score DESC
    LIMIT :limit
),
best AS MATERIALIZED (
    SELECT * FROM ranked
    UNION ALL
        (
            SELECT id, 0, CAST(NULL AS float8), CAST(NULL AS float8)
            FROM live
            WHERE alike AND id NOT IN (SELECT id FROM ranked)
            ORDER BY valid_from DESC
            LIMIT :alike
        )
)
SELECT 1 AS place, moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, (SELECT name
    FROM encoder) AS encoder, hit.*
FROM moment
LEFT JOIN (
    SELECT
        best.score,
        best.vector AS vector_score,
        best.text AS text_score,
        m.id, m.created_at, m.revision, m.erased_at,
        m.derived_entity, m.derived_key, m.derived_value,
        m.content, m.kind, m.entity, m.category, m.key, m.value, m.single_valued, m.details,
            m.importance, m.confidence, m.tags, m.entities, m.sources, m.source, m.session_id,
            m.project, m.trust, m.lifespan, m.said_at, m.said_in, m.dated_by, m.merged_from,
        b.chain_id, b.valid_from, b.asserted_at, b.said_until, b.retracted_at, b.void, b.ended_by,
            b.contradicted_by, b.merged, b.temporary, b.tier, b.covered, b.valid_until,
            b.superseded_by, b.superseded_at, b.known_from,
        (
            SELECT o.id FROM memories o
            WHERE o.agent_id = :agent AND o.superseded_by = m.id
            ORDER BY o.valid_from DESC, o.id DESC
            LIMIT 1
        )
        AS supersedes_id
    FROM best
    JOIN
        memories m
    CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
        m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
        m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
        ON m.agent_id = :agent AND m.id = best.id
) AS hit ON true
ORDER BY hit.score DESC NULLS LAST, hit.valid_from DESC, hit.id DESC;

-- POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent
SELECT last_known_at, last_erased_at, mode, log_head, closures_counted_from,
    (SELECT name FROM encoder) AS encoder
FROM agents
WHERE agent_id = :agent
    FOR UPDATE;

-- POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent
INSERT INTO agents (agent_id, created_at, last_known_at)
VALUES (:agent, clock_timestamp(), timestamptz '0001-01-01 00:00:00+00')
ON CONFLICT DO NOTHING;

-- POST /v1/memories (a first fact)
-- app/store/chains.py read_near_chains
WITH chain AS MATERIALIZED (
    SELECT chain_id FROM memories
    WHERE agent_id = :agent AND id = ANY(:ids)
    UNION
    SELECT chain_id FROM memories
    WHERE agent_id = :agent AND fuzzy_hash = ANY(:hashes)
    UNION (
        SELECT chain_id FROM memories
        WHERE agent_id = :agent AND slot_key IS NOT NULL AND slot_hash = ANY(:slots)
        LIMIT CAST(:whole AS bigint) + 1
    )
),
counted AS MATERIALIZED (
    SELECT count(*) <= :whole AS are_few FROM (
        SELECT FROM memories
        WHERE agent_id = :agent AND chain_id IN (SELECT chain_id FROM chain)
        LIMIT CAST(:whole AS bigint) + 1
    ) AS version
)
SELECT clock_timestamp() AS clock, are_few, v.*
FROM counted LEFT JOIN (
    SELECT id, created_at, revision, erased_at, entity, category, key, single_valued, slot_entity,
        slot_category, slot_key, session_id, project, kind, importance, trust, lifespan, said_at,
        content_hash, fuzzy_hash, folded_hash, value_hash, chain_id, valid_from, asserted_at,
        said_until, retracted_at, void, ended_by, contradicted_by, merged, temporary, tier,
        covered, valid_until, superseded_by, superseded_at, known_from, dated_by ->> 'from' IS NOT
        NULL AS has_dated_start FROM memories
    WHERE agent_id = :agent AND chain_id IN (SELECT chain_id FROM chain)
        AND (SELECT are_few FROM counted)
) AS v ON true;

-- POST /v1/memories (a first fact)
-- app/store/apply.py apply_plans
WITH part0 AS (INSERT INTO memories (agent_id, id, created_at, revision, entity, category, key,
    single_valued, slot_entity, slot_category, slot_key, slot_hash, content, value, details,
    dated_by, tags, entities, sources, source, session_id, project, kind, importance, confidence,
    trust, lifespan, merged_from, said_at, said_in, content_hash, fuzzy_hash, folded_hash,
    value_hash, embedding, language, derived_entity, derived_key, derived_value, derived_hash,
    look_again, chain_id, valid_from, asserted_at, said_until, retracted_at, void, ended_by,
    contradicted_by, merged, temporary, tier, covered, valid_until, superseded_by, superseded_at,
    known_from) VALUES (:agent_id, :id, :created_at, :revision, :entity, :category, :key,
    :single_valued, :slot_entity, :slot_category, :slot_key, :slot_hash, :content, :value,
    :details, :dated_by, :tags, :entities, :sources, :source, :session_id, :project, :kind,
    :importance, :confidence, :trust, :lifespan, :merged_from, :said_at, :said_in, :content_hash,
    :fuzzy_hash, :folded_hash, :value_hash, :embedding, :language, :derived_entity, :derived_key,
    :derived_value, :derived_hash, :look_again, :chain_id, :valid_from, :asserted_at, :said_until,
    :retracted_at, :void, :ended_by, :contradicted_by, :merged, :temporary, :tier, :covered,
    :valid_until, :superseded_by, :superseded_at, :known_from)), part1 AS (UPDATE agents SET
    last_known_at = :last_known_at, log_head = :log_head WHERE agent_id = :agent_id) INSERT INTO
    consolidation_log (agent_id, id, operation, source_memory_ids, target_memory_id, relation,
    confidence, reasoning, signals, decided_by, incoming, before_state, after_state, model,
    prompt_version, usage, duration_ms, session_id, request_id, created_at, reverts, opinions,
    vetoed, actor, previous_hash, hash, content_digest, content_salt) VALUES (:agent_id, :id,
    :operation, :source_memory_ids, :target_memory_id, :relation, :confidence, :reasoning,
    :signals, :decided_by, :incoming, :before_state, :after_state, :model, :prompt_version, :usage,
    :duration_ms, :session_id, :request_id, :created_at, :reverts, :opinions, :vetoed, :actor,
    :previous_hash, :hash, :content_digest, :content_salt);


-- ===== POST /v1/memories (a new value of a slot) =====
-- app/store/idempotency.py find_idempotency_record: as for POST /v1/memories (a first fact)

-- POST /v1/memories (a new value of a slot)
-- app/store/idempotency.py find_idempotency_record
SELECT fingerprint, status, headers, answer
FROM idempotency_keys
WHERE agent_id = :agent
    AND key_hash = :key_hash
    AND created_at > now() - CAST(:kept_for AS interval);
-- app/store/comparison.py find_candidates: as for POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)
-- app/store/chains.py read_near_chains: as for POST /v1/memories (a first fact)

-- POST /v1/memories (a new value of a slot)
-- app/store/apply.py apply_plans
WITH part0 AS (INSERT INTO memories (agent_id, id, created_at, revision, entity, category, key,
    single_valued, slot_entity, slot_category, slot_key, slot_hash, content, value, details,
    dated_by, tags, entities, sources, source, session_id, project, kind, importance, confidence,
    trust, lifespan, merged_from, said_at, said_in, content_hash, fuzzy_hash, folded_hash,
    value_hash, embedding, language, derived_entity, derived_key, derived_value, derived_hash,
    look_again, chain_id, valid_from, asserted_at, said_until, retracted_at, void, ended_by,
    contradicted_by, merged, temporary, tier, covered, valid_until, superseded_by, superseded_at,
    known_from) VALUES (:agent_id, :id, :created_at, :revision, :entity, :category, :key,
    :single_valued, :slot_entity, :slot_category, :slot_key, :slot_hash, :content, :value,
    :details, :dated_by, :tags, :entities, :sources, :source, :session_id, :project, :kind,
    :importance, :confidence, :trust, :lifespan, :merged_from, :said_at, :said_in, :content_hash,
    :fuzzy_hash, :folded_hash, :value_hash, :embedding, :language, :derived_entity, :derived_key,
    :derived_value, :derived_hash, :look_again, :chain_id, :valid_from, :asserted_at, :said_until,
    :retracted_at, :void, :ended_by, :contradicted_by, :merged, :temporary, :tier, :covered,
    :valid_until, :superseded_by, :superseded_at, :known_from)), part1 AS (
    UPDATE memories SET
        chain_id = :chain_id,
        valid_from = :valid_from,
        asserted_at = :asserted_at,
        said_until = :said_until,
        retracted_at = :retracted_at,
        void = :void,
        ended_by = :ended_by,
        contradicted_by = :contradicted_by,
        merged = :merged,
        temporary = :temporary,
        tier = :tier,
        covered = :covered,
        valid_until = :valid_until,
        superseded_by = :superseded_by,
        superseded_at = :superseded_at,
        known_from = :known_from,
        revision = :revision,
        cold = false
    WHERE agent_id = :agent_id AND id = :id
), part2 AS (INSERT INTO memory_beliefs (agent_id, memory_id, known_until, chain_id, valid_from,
    asserted_at, said_until, retracted_at, void, ended_by, contradicted_by, merged, temporary,
    tier, covered, valid_until, superseded_by, superseded_at, known_from) VALUES (:agent_id,
    :memory_id, :known_until, :chain_id, :valid_from, :asserted_at, :said_until, :retracted_at,
    :void, :ended_by, :contradicted_by, :merged, :temporary, :tier, :covered, :valid_until,
    :superseded_by, :superseded_at, :known_from)), part3 AS (UPDATE agents SET last_known_at =
    :last_known_at, log_head = :log_head WHERE agent_id = :agent_id) INSERT INTO consolidation_log
    (agent_id, id, operation, source_memory_ids, target_memory_id, relation, confidence, reasoning,
    signals, decided_by, incoming, before_state, after_state, model, prompt_version, usage,
    duration_ms, session_id, request_id, created_at, reverts, opinions, vetoed, actor,
    previous_hash, hash, content_digest, content_salt) VALUES (:agent_id, :id, :operation,
    :source_memory_ids, :target_memory_id, :relation, :confidence, :reasoning, :signals,
    :decided_by, :incoming, :before_state, :after_state, :model, :prompt_version, :usage,
    :duration_ms, :session_id, :request_id, :created_at, :reverts, :opinions, :vetoed, :actor,
    :previous_hash, :hash, :content_digest, :content_salt);

-- POST /v1/memories (a new value of a slot)
-- app/store/reviews/reviews.py list_open_reviews_about
SELECT *
FROM reviews
WHERE agent_id = :agent AND status IN ('pending', 'overtaken') AND incoming IS NULL
    AND (memory_id = ANY(:ids) OR relied_on ?| CAST(:named AS text[]))
ORDER BY created_at, id;

-- POST /v1/memories (a new value of a slot)
-- app/store/memories.py find_memories
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, page.*
FROM moment LEFT JOIN (
    SELECT
        m.id, m.created_at, m.revision, m.erased_at,
        m.derived_entity, m.derived_key, m.derived_value,
        m.content, m.kind, m.entity, m.category, m.key, m.value, m.single_valued, m.details,
            m.importance, m.confidence, m.tags, m.entities, m.sources, m.source, m.session_id,
            m.project, m.trust, m.lifespan, m.said_at, m.said_in, m.dated_by, m.merged_from,
        b.chain_id, b.valid_from, b.asserted_at, b.said_until, b.retracted_at, b.void, b.ended_by,
            b.contradicted_by, b.merged, b.temporary, b.tier, b.covered, b.valid_until,
            b.superseded_by, b.superseded_at, b.known_from,
        (
            SELECT u.access_count FROM memory_usage u
            WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <= (SELECT
                known_at FROM moment)
        ) AS access_count, (
            SELECT u.last_reinforced_at FROM memory_usage u
            WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <= (SELECT
                known_at FROM moment)
        ) AS last_reinforced_at, (
            SELECT u.use_count FROM memory_usage u
            WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                (
                    CAST(:used_by AS timestamptz) IS NULL
                    OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                )
        ) AS use_count, (
            SELECT u.last_accessed_at FROM memory_usage u
            WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                (
                    CAST(:used_by AS timestamptz) IS NULL
                    OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                )
        ) AS last_accessed_at,
        (
            SELECT o.id FROM memories o
            WHERE o.agent_id = :agent AND o.superseded_by = m.id
            ORDER BY o.valid_from DESC, o.id DESC
            LIMIT 1
        )
        AS supersedes_id,
        (
            CASE WHEN
            (SELECT EXISTS (SELECT FROM memory_relationships WHERE agent_id = :agent AND type IN
                ('merged_into', 'expands', 'sequential', 'causes', 'enables', 'references')))
            AND m.erased_at IS NULL AND
            b.valid_from <= (SELECT as_of FROM moment)
            AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
            AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 = 0)
            THEN (
                SELECT
                    jsonb_agg(
                        DISTINCT to_jsonb(e) || jsonb_build_object('type', tie.type, 'as_of',
                            (SELECT as_of FROM moment))
                    )
                FROM (
                    SELECT source_id AS memory_id, target_id AS other_id, type, created_at
                    FROM memory_relationships
                    WHERE agent_id = :agent AND type IN ('merged_into', 'expands', 'sequential',
                        'causes', 'enables', 'references')
                    UNION ALL
                    SELECT target_id, source_id, type, created_at
                    FROM memory_relationships
                    WHERE agent_id = :agent AND type IN ('merged_into', 'expands', 'sequential',
                        'causes', 'enables', 'references')
                ) AS tie
                CROSS JOIN LATERAL (
                    SELECT
                        o.id,
                        CASE WHEN o.erased_at <= (SELECT known_at FROM moment) THEN o.erased_at END
                            AS erased_at,
                        b.*
                    FROM
                        memories o
                    CROSS JOIN LATERAL (SELECT o.chain_id, o.valid_from, o.asserted_at,
                        o.said_until, o.retracted_at, o.void, o.ended_by, o.contradicted_by,
                        o.merged, o.temporary, o.tier, o.covered, o.valid_until, o.superseded_by,
                        o.superseded_at, o.known_from) AS b
                    WHERE o.agent_id = :agent AND o.id = tie.other_id
                ) AS e
                WHERE tie.created_at <= (SELECT known_at FROM moment)
                    AND (
                        e.erased_at > tie.created_at
                        OR (
                            (e.void OR coalesce(e.valid_until <= (SELECT as_of FROM moment),
                                false))
                            AND (
                                (NOT e.void AND e.valid_until > tie.created_at)
                                OR EXISTS (
                                    SELECT FROM memory_beliefs x
                                    WHERE x.agent_id = :agent
                                        AND x.memory_id = e.id
                                        AND x.known_until > tie.created_at
                                        AND x.known_until <= e.known_from
                                        AND NOT x.void
                                        AND (e.void OR x.valid_until IS NULL OR x.valid_until >
                                            tie.created_at)
                                )
                            )
                        )
                    )
                    AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
                    AND tie.memory_id = m.id
            ) END
        )
        AS stale_because
    FROM
        memories m
    CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
        m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
        m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
    WHERE m.agent_id = :agent AND m.id = ANY(:ids)
) AS page ON true;

-- POST /v1/memories (a new value of a slot)
-- app/store/relationships.py find_made_stale
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
touched AS (
    SELECT tie.memory_id,
        jsonb_agg(
            DISTINCT to_jsonb(e) || jsonb_build_object('type', tie.type, 'as_of', (SELECT as_of
                FROM moment))
        )
        AS because
    FROM (
        SELECT source_id AS memory_id, target_id AS other_id, type, created_at
        FROM memory_relationships
        WHERE agent_id = :agent AND type IN ('merged_into', 'expands', 'sequential', 'causes',
            'enables', 'references')
        UNION ALL
        SELECT target_id, source_id, type, created_at
        FROM memory_relationships
        WHERE agent_id = :agent AND type IN ('merged_into', 'expands', 'sequential', 'causes',
            'enables', 'references')
    ) AS tie
    CROSS JOIN LATERAL (
        SELECT
            o.id,
            CASE WHEN o.erased_at <= (SELECT known_at FROM moment) THEN o.erased_at END AS
                erased_at,
            b.*
        FROM
            memories o
        CROSS JOIN LATERAL (SELECT o.chain_id, o.valid_from, o.asserted_at, o.said_until,
            o.retracted_at, o.void, o.ended_by, o.contradicted_by, o.merged, o.temporary, o.tier,
            o.covered, o.valid_until, o.superseded_by, o.superseded_at, o.known_from) AS b
        WHERE o.agent_id = :agent AND o.id = tie.other_id
    ) AS e
    WHERE tie.created_at <= (SELECT known_at FROM moment)
        AND (
            e.erased_at > tie.created_at
            OR (
                (e.void OR coalesce(e.valid_until <= (SELECT as_of FROM moment), false))
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
        )
        AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
        AND tie.other_id = ANY(:ended)
        AND
        (SELECT EXISTS (SELECT FROM memory_relationships WHERE agent_id = :agent AND type IN
            ('merged_into', 'expands', 'sequential', 'causes', 'enables', 'references')))
    GROUP BY tie.memory_id
)
SELECT touched.*
FROM touched
CROSS JOIN
    memories m
CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until, m.retracted_at,
    m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier, m.covered, m.valid_until,
    m.superseded_by, m.superseded_at, m.known_from) AS b
WHERE m.agent_id = :agent
    AND m.id = touched.memory_id
    AND m.erased_at IS NULL
    AND
    b.valid_from <= (SELECT as_of FROM moment)
    AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
    AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 = 0)
ORDER BY touched.memory_id;

-- POST /v1/memories (a new value of a slot)
-- app/store/idempotency.py save_idempotency_record
WITH expired AS (
    DELETE FROM idempotency_keys
    WHERE agent_id = :agent AND key_hash IN (
        SELECT key_hash FROM idempotency_keys
        WHERE agent_id = :agent
            AND key_hash <> :key_hash
            AND created_at <= now() - CAST(:kept_for AS interval)
        ORDER BY created_at
        LIMIT :swept
    )
)
INSERT INTO idempotency_keys (
    agent_id, key_hash, fingerprint, status, headers, answer, mentioned_ids, created_at
)
VALUES (
    :agent, :key_hash, :fingerprint, :code, :notes, :answer, CAST(:mentioned AS uuid[]),
    now()
)
ON CONFLICT (agent_id, key_hash) DO UPDATE SET
    fingerprint = excluded.fingerprint,
    status = excluded.status,
    headers = excluded.headers,
    answer = excluded.answer,
    mentioned_ids = excluded.mentioned_ids,
    created_at = excluded.created_at;


-- ===== POST /v1/memories (a dry run) =====
-- app/store/comparison.py find_candidates: as for POST /v1/memories (a first fact)
-- app/store/comparison.py find_candidates: as for POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)
-- app/store/chains.py read_near_chains: as for POST /v1/memories (a first fact)
-- app/store/apply.py apply_plans: as for POST /v1/memories (a new value of a slot)
-- app/store/reviews/reviews.py list_open_reviews_about: as for POST /v1/memories (a new value of a slot)
-- app/store/memories.py find_memories: as for POST /v1/memories (a new value of a slot)
-- app/store/relationships.py find_made_stale: as for POST /v1/memories (a new value of a slot)


-- ===== POST /v1/memories/batch =====
-- app/store/comparison.py find_candidates: as for POST /v1/memories (a first fact)

-- POST /v1/memories/batch
-- app/store/comparison.py find_candidates
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
)
SELECT fact.place, moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, (SELECT name
    FROM encoder) AS encoder, hit.*
FROM moment
CROSS JOIN unnest(
    CAST(:contents AS text[]),
    CAST(:vectors AS vector[]),
    CAST(:derived AS bytea[]),
    CAST(:categories AS text[])
) WITH ORDINALITY AS fact (content, vector, derived, category, place)
LEFT JOIN LATERAL (
    WITH
    query_words AS MATERIALIZED (
        SELECT CAST(
            replace(
                CAST(
                    plainto_tsquery(
                        CAST(:language AS regconfig), pair_characters(fact.content, false)
                    ) AS text
                ),
                ' & ',
                ' | '
            ) AS tsquery
        ) AS words
    ),
    live AS MATERIALIZED (
        SELECT
            m.id,
            (m.embedding <=> fact.vector) + 0 AS distance,
            ts_rank(m.lexemes, (SELECT words FROM query_words)) AS rank,
            b.valid_from,
            coalesce(m.derived_hash = fact.derived, false)
            OR coalesce(m.slot_category = fact.category, false) AS alike
        FROM
            memories m
        CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
            m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
            m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
        WHERE m.agent_id = :agent AND
            b.valid_from <= (SELECT as_of FROM moment)
            AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
            AND NOT m.cold AND m.erased_at IS NULL AND (SELECT name FROM encoder) = :encoder
    ),
    ranked AS MATERIALIZED (
        SELECT
            id,
            1 - distance + 5.0 * rank AS score,
            1 - distance AS vector,
            rank AS text
        FROM live
        ORDER BY score DESC
        LIMIT :limit
    ),
    best AS MATERIALIZED (
        SELECT * FROM ranked
        UNION ALL
            (
                SELECT id, 0, CAST(NULL AS float8), CAST(NULL AS float8)
                FROM live
                WHERE alike AND id NOT IN (SELECT id FROM ranked)
                ORDER BY valid_from DESC
                LIMIT :alike
            )
    )
    SELECT
        best.score,
        best.vector AS vector_score,
        best.text AS text_score,
        m.id, m.created_at, m.revision, m.erased_at,
        m.derived_entity, m.derived_key, m.derived_value,
        m.content, m.kind, m.entity, m.category, m.key, m.value, m.single_valued, m.details,
            m.importance, m.confidence, m.tags, m.entities, m.sources, m.source, m.session_id,
            m.project, m.trust, m.lifespan, m.said_at, m.said_in, m.dated_by, m.merged_from,
        b.chain_id, b.valid_from, b.asserted_at, b.said_until, b.retracted_at, b.void, b.ended_by,
            b.contradicted_by, b.merged, b.temporary, b.tier, b.covered, b.valid_until,
            b.superseded_by, b.superseded_at, b.known_from,
        (
            SELECT o.id FROM memories o
            WHERE o.agent_id = :agent AND o.superseded_by = m.id
            ORDER BY o.valid_from DESC, o.id DESC
            LIMIT 1
        )
        AS supersedes_id
    FROM best
    JOIN
        memories m
    CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
        m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
        m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
        ON m.agent_id = :agent AND m.id = best.id
) AS hit ON true
ORDER BY fact.place, hit.score DESC NULLS LAST, hit.valid_from DESC, hit.id DESC;
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)
-- app/store/chains.py read_near_chains: as for POST /v1/memories (a first fact)

-- POST /v1/memories/batch
-- app/store/apply.py apply_plans
INSERT INTO memories (agent_id, id, created_at, revision, entity, category, key, single_valued,
    slot_entity, slot_category, slot_key, slot_hash, content, value, details, dated_by, tags,
    entities, sources, source, session_id, project, kind, importance, confidence, trust, lifespan,
    merged_from, said_at, said_in, content_hash, fuzzy_hash, folded_hash, value_hash, embedding,
    language, derived_entity, derived_key, derived_value, derived_hash, look_again, chain_id,
    valid_from, asserted_at, said_until, retracted_at, void, ended_by, contradicted_by, merged,
    temporary, tier, covered, valid_until, superseded_by, superseded_at, known_from) VALUES
    (:agent_id, :id, :created_at, :revision, :entity, :category, :key, :single_valued,
    :slot_entity, :slot_category, :slot_key, :slot_hash, :content, :value, :details, :dated_by,
    :tags, :entities, :sources, :source, :session_id, :project, :kind, :importance, :confidence,
    :trust, :lifespan, :merged_from, :said_at, :said_in, :content_hash, :fuzzy_hash, :folded_hash,
    :value_hash, :embedding, :language, :derived_entity, :derived_key, :derived_value,
    :derived_hash, :look_again, :chain_id, :valid_from, :asserted_at, :said_until, :retracted_at,
    :void, :ended_by, :contradicted_by, :merged, :temporary, :tier, :covered, :valid_until,
    :superseded_by, :superseded_at, :known_from);

-- POST /v1/memories/batch
-- app/store/apply.py apply_plans
INSERT INTO consolidation_log (agent_id, id, operation, source_memory_ids, target_memory_id,
    relation, confidence, reasoning, signals, decided_by, incoming, before_state, after_state,
    model, prompt_version, usage, duration_ms, session_id, request_id, created_at, reverts,
    opinions, vetoed, actor, previous_hash, hash, content_digest, content_salt) VALUES (:agent_id,
    :id, :operation, :source_memory_ids, :target_memory_id, :relation, :confidence, :reasoning,
    :signals, :decided_by, :incoming, :before_state, :after_state, :model, :prompt_version, :usage,
    :duration_ms, :session_id, :request_id, :created_at, :reverts, :opinions, :vetoed, :actor,
    :previous_hash, :hash, :content_digest, :content_salt);

-- POST /v1/memories/batch
-- app/store/apply.py apply_plans
UPDATE agents SET last_known_at = :last_known_at, log_head = :log_head WHERE agent_id = :agent_id;


-- ===== POST /v1/memories/{memory_id}/relationships =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)

-- POST /v1/memories/{memory_id}/relationships
-- app/store/chains.py read_chains
SELECT clock_timestamp() AS clock, v.*
FROM (SELECT 1) AS once LEFT JOIN (
    SELECT id, created_at, revision, erased_at, entity, category, key, single_valued, slot_entity,
        slot_category, slot_key, session_id, project, kind, importance, trust, lifespan, said_at,
        content_hash, fuzzy_hash, folded_hash, value_hash, chain_id, valid_from, asserted_at,
        said_until, retracted_at, void, ended_by, contradicted_by, merged, temporary, tier,
        covered, valid_until, superseded_by, superseded_at, known_from, dated_by ->> 'from' IS NOT
        NULL AS has_dated_start FROM memories
    WHERE agent_id = :agent AND chain_id IN (
        SELECT chain_id FROM memories
        WHERE agent_id = :agent AND id = ANY(:ids)
        UNION
        SELECT chain_id FROM memories
        WHERE agent_id = :agent AND superseded_by = ANY(:withdrawable)
        UNION
        SELECT chain_id FROM memories
        WHERE agent_id = :agent AND fuzzy_hash = ANY(:hashes)
        UNION
        SELECT chain_id FROM memories
        WHERE agent_id = :agent AND slot_key IS NOT NULL AND slot_hash = ANY(:slots)
    )
) AS v ON true;

-- POST /v1/memories/{memory_id}/relationships
-- app/store/relationships.py find_relationships
SELECT r.*
FROM unnest(
    CAST(:sources AS uuid[]),
    CAST(:targets AS uuid[]),
    CAST(:types AS text[])
) AS link (source_id, target_id, type)
JOIN memory_relationships r USING (source_id, target_id, type)
WHERE r.agent_id = :agent;

-- POST /v1/memories/{memory_id}/relationships
-- app/store/apply.py apply_plans
WITH part0 AS (INSERT INTO memory_relationships (agent_id, source_id, target_id, type, log_id,
    created_at) VALUES (:agent_id, :source_id, :target_id, :type, :log_id, :created_at)), part1 AS
    (UPDATE agents SET last_known_at = :last_known_at, log_head = :log_head WHERE agent_id =
    :agent_id) INSERT INTO consolidation_log (agent_id, id, operation, source_memory_ids,
    target_memory_id, relation, confidence, reasoning, signals, decided_by, incoming, before_state,
    after_state, model, prompt_version, usage, duration_ms, session_id, request_id, created_at,
    reverts, opinions, vetoed, actor, previous_hash, hash, content_digest, content_salt) VALUES
    (:agent_id, :id, :operation, :source_memory_ids, :target_memory_id, :relation, :confidence,
    :reasoning, :signals, :decided_by, :incoming, :before_state, :after_state, :model,
    :prompt_version, :usage, :duration_ms, :session_id, :request_id, :created_at, :reverts,
    :opinions, :vetoed, :actor, :previous_hash, :hash, :content_digest, :content_salt);


-- ===== GET /v1/memories/{memory_id}/relationships =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/memories/{memory_id}/relationships
-- app/store/relationships.py list_relationships
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
known AS (
    SELECT known_at FROM moment
    WHERE EXISTS (
        SELECT FROM memories m
        WHERE m.agent_id = :agent AND m.id = :id AND m.created_at <= moment.known_at
    )
)
SELECT known.known_at, page.*
FROM known
LEFT JOIN LATERAL (
    SELECT tie.*
    FROM (
        SELECT r.source_id, r.target_id, r.type, r.log_id, r.created_at, r.target_id AS other_id
        FROM memory_relationships r
        WHERE r.agent_id = :agent AND r.source_id = :id
        UNION ALL
        SELECT r.source_id, r.target_id, r.type, r.log_id, r.created_at, r.source_id
        FROM memory_relationships r
        WHERE r.agent_id = :agent AND r.target_id = :id
        UNION ALL
        SELECT r.source_id, r.target_id, r.type, r.log_id, r.created_at, r.target_id
        FROM (
            SELECT
                m.superseded_by AS source_id,
                m.id AS target_id,
                'supersedes' AS type,
                l.id AS log_id,
                m.superseded_at AS created_at
            FROM memories m
            LEFT JOIN consolidation_log l
                ON l.agent_id = :agent AND l.created_at = m.superseded_at
                AND m.id = ANY(l.source_memory_ids)
            WHERE m.agent_id = :agent AND NOT m.merged
                AND m.superseded_by = :id) AS r
        UNION ALL
        SELECT r.source_id, r.target_id, r.type, r.log_id, r.created_at, r.source_id
        FROM (
            SELECT
                m.superseded_by AS source_id,
                m.id AS target_id,
                'supersedes' AS type,
                l.id AS log_id,
                m.superseded_at AS created_at
            FROM memories m
            LEFT JOIN consolidation_log l
                ON l.agent_id = :agent AND l.created_at = m.superseded_at
                AND m.id = ANY(l.source_memory_ids)
            WHERE m.agent_id = :agent AND NOT m.merged
                AND m.id = :id AND m.superseded_by IS NOT NULL) AS r
    ) AS tie
    WHERE tie.created_at <= known.known_at AND (
        CAST(:after_created_at AS timestamptz) IS NULL
        OR (tie.created_at, tie.other_id, tie.type)
        < (:after_created_at, CAST(:after_other_id AS uuid), CAST(:after_type AS text))
    )
    ORDER BY tie.created_at DESC, tie.other_id DESC, tie.type DESC
    LIMIT :limit
) AS page ON true;


-- ===== PATCH /v1/memories/{memory_id} =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)
-- app/store/chains.py read_chains: as for POST /v1/memories/{memory_id}/relationships

-- PATCH /v1/memories/{memory_id}
-- app/store/apply.py apply_plans
SELECT memories.importance
FROM memories
WHERE memories.agent_id = :agent_id_1 AND memories.id = :id_1;

-- PATCH /v1/memories/{memory_id}
-- app/store/apply.py apply_plans
WITH part0 AS (UPDATE agents SET last_known_at = :last_known_at, log_head = :log_head WHERE
    agent_id = :agent_id) INSERT INTO consolidation_log (agent_id, id, operation,
    source_memory_ids, target_memory_id, relation, confidence, reasoning, signals, decided_by,
    incoming, before_state, after_state, model, prompt_version, usage, duration_ms, session_id,
    request_id, created_at, reverts, opinions, vetoed, actor, previous_hash, hash, content_digest,
    content_salt) VALUES (:agent_id, :id, :operation, :source_memory_ids, :target_memory_id,
    :relation, :confidence, :reasoning, :signals, :decided_by, :incoming, :before_state,
    :after_state, :model, :prompt_version, :usage, :duration_ms, :session_id, :request_id,
    :created_at, :reverts, :opinions, :vetoed, :actor, :previous_hash, :hash, :content_digest,
    :content_salt);

-- PATCH /v1/memories/{memory_id}
-- app/store/apply.py apply_plans
UPDATE memories SET revision=(memories.revision + :revision_1), importance=:importance WHERE
    memories.agent_id = :agent_id_1 AND memories.id = :id_1;
-- app/store/memories.py find_memories: as for POST /v1/memories (a new value of a slot)


-- ===== POST /v1/memories/{memory_id}/supersede =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)
-- app/store/chains.py read_chains: as for POST /v1/memories/{memory_id}/relationships

-- POST /v1/memories/{memory_id}/supersede
-- app/store/apply.py apply_plans
SELECT id, content FROM memories
WHERE agent_id = :agent AND id = ANY(:ids) AND erased_at IS NULL;
-- app/store/apply.py apply_plans: as for POST /v1/memories (a new value of a slot)
-- app/store/reviews/reviews.py list_open_reviews_about: as for POST /v1/memories (a new value of a slot)
-- app/store/memories.py find_memories: as for POST /v1/memories (a new value of a slot)
-- app/store/relationships.py find_made_stale: as for POST /v1/memories (a new value of a slot)


-- ===== POST /v1/memories/{memory_id}/retract =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)
-- app/store/chains.py read_chains: as for POST /v1/memories/{memory_id}/relationships
-- app/store/apply.py apply_plans: as for POST /v1/memories/{memory_id}/supersede

-- POST /v1/memories/{memory_id}/retract
-- app/store/apply.py apply_plans
WITH part0 AS (
    UPDATE memories SET
        chain_id = :chain_id,
        valid_from = :valid_from,
        asserted_at = :asserted_at,
        said_until = :said_until,
        retracted_at = :retracted_at,
        void = :void,
        ended_by = :ended_by,
        contradicted_by = :contradicted_by,
        merged = :merged,
        temporary = :temporary,
        tier = :tier,
        covered = :covered,
        valid_until = :valid_until,
        superseded_by = :superseded_by,
        superseded_at = :superseded_at,
        known_from = :known_from,
        revision = :revision,
        cold = false
    WHERE agent_id = :agent_id AND id = :id
), part1 AS (INSERT INTO memory_beliefs (agent_id, memory_id, known_until, chain_id, valid_from,
    asserted_at, said_until, retracted_at, void, ended_by, contradicted_by, merged, temporary,
    tier, covered, valid_until, superseded_by, superseded_at, known_from) VALUES (:agent_id,
    :memory_id, :known_until, :chain_id, :valid_from, :asserted_at, :said_until, :retracted_at,
    :void, :ended_by, :contradicted_by, :merged, :temporary, :tier, :covered, :valid_until,
    :superseded_by, :superseded_at, :known_from)), part2 AS (UPDATE agents SET last_known_at =
    :last_known_at, log_head = :log_head WHERE agent_id = :agent_id) INSERT INTO consolidation_log
    (agent_id, id, operation, source_memory_ids, target_memory_id, relation, confidence, reasoning,
    signals, decided_by, incoming, before_state, after_state, model, prompt_version, usage,
    duration_ms, session_id, request_id, created_at, reverts, opinions, vetoed, actor,
    previous_hash, hash, content_digest, content_salt) VALUES (:agent_id, :id, :operation,
    :source_memory_ids, :target_memory_id, :relation, :confidence, :reasoning, :signals,
    :decided_by, :incoming, :before_state, :after_state, :model, :prompt_version, :usage,
    :duration_ms, :session_id, :request_id, :created_at, :reverts, :opinions, :vetoed, :actor,
    :previous_hash, :hash, :content_digest, :content_salt);
-- app/store/reviews/reviews.py list_open_reviews_about: as for POST /v1/memories (a new value of a slot)
-- app/store/memories.py find_memories: as for POST /v1/memories (a new value of a slot)
-- app/store/relationships.py find_made_stale: as for POST /v1/memories (a new value of a slot)


-- ===== GET /v1/memories/{memory_id} =====
-- app/store/memories.py find_memory: as for POST /v1/memories (a first fact)
-- app/store/memories.py find_memory: as for POST /v1/memories (a new value of a slot)


-- ===== GET /v1/memories/{memory_id}/history =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/memories/{memory_id}/history
-- app/store/succession.py find_line
WITH RECURSIVE
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
own AS MATERIALIZED (
    SELECT b.chain_id FROM
        memories m
    CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
        m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
        m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
    WHERE m.agent_id = :agent AND m.id = :id
),
    later (chain_id, valid_from, asserted_at) AS (
        SELECT chain_id, timestamptz '-infinity', timestamptz '-infinity' FROM own
        UNION
        SELECT eb.chain_id, eb.valid_from, eb.asserted_at
        FROM later w
        CROSS JOIN LATERAL (
            SELECT y.id FROM memories y WHERE y.agent_id = :agent AND y.chain_id = w.chain_id
            UNION ALL SELECT w.chain_id
            UNION ALL
            SELECT x.memory_id FROM memory_beliefs x
            WHERE x.agent_id = :agent AND x.chain_id = w.chain_id
                AND x.temporary AND x.chain_id <> x.memory_id
        ) AS stood (id)
        CROSS JOIN
            memories m
        CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
            m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
            m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
        CROSS JOIN
            memories e
        CROSS JOIN LATERAL (SELECT e.chain_id, e.valid_from, e.asserted_at, e.said_until,
            e.retracted_at, e.void, e.ended_by, e.contradicted_by, e.merged, e.temporary, e.tier,
            e.covered, e.valid_until, e.superseded_by, e.superseded_at, e.known_from) AS eb
        WHERE m.agent_id = :agent AND m.id = stood.id AND b.chain_id = w.chain_id AND
            (b.valid_from, b.asserted_at) >= (w.valid_from, w.asserted_at)
            AND e.agent_id = :agent AND e.id = b.superseded_by AND eb.chain_id <> w.chain_id
    ),
    earlier (chain_id, valid_from, asserted_at) AS (
        SELECT chain_id, timestamptz 'infinity', timestamptz 'infinity' FROM own
        UNION
        SELECT eb.chain_id, eb.valid_from, eb.asserted_at
        FROM earlier w
        CROSS JOIN LATERAL (
            SELECT y.id FROM memories y WHERE y.agent_id = :agent AND y.chain_id = w.chain_id
            UNION ALL SELECT w.chain_id
            UNION ALL
            SELECT x.memory_id FROM memory_beliefs x
            WHERE x.agent_id = :agent AND x.chain_id = w.chain_id
                AND x.temporary AND x.chain_id <> x.memory_id
        ) AS stood (id)
        CROSS JOIN
            memories m
        CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
            m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
            m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
        CROSS JOIN LATERAL (
            SELECT y.id FROM memories y WHERE y.agent_id = :agent AND y.superseded_by = m.id
            UNION ALL
            SELECT x.memory_id FROM memory_beliefs x
            WHERE x.agent_id = :agent AND x.superseded_by = m.id
        ) AS ended (id)
        CROSS JOIN
            memories e
        CROSS JOIN LATERAL (SELECT e.chain_id, e.valid_from, e.asserted_at, e.said_until,
            e.retracted_at, e.void, e.ended_by, e.contradicted_by, e.merged, e.temporary, e.tier,
            e.covered, e.valid_until, e.superseded_by, e.superseded_at, e.known_from) AS eb
        WHERE m.agent_id = :agent AND m.id = stood.id AND b.chain_id = w.chain_id AND
            (b.valid_from, b.asserted_at) <= (w.valid_from, w.asserted_at)
            AND e.agent_id = :agent AND e.id = ended.id
            AND eb.superseded_by = m.id AND eb.chain_id <> w.chain_id
    ),
walked AS (
    (SELECT *, true AS follows FROM later LIMIT 10001)
    UNION ALL
        (SELECT *, false FROM earlier LIMIT 10001)
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, version.*
FROM moment LEFT JOIN (
    SELECT m.id, m.created_at, b.chain_id, b.valid_from, b.asserted_at,
        b.chain_id = (SELECT chain_id FROM own) AS is_own,
        bool_or(w.follows) AND
        b.valid_from <= (SELECT as_of FROM moment)
        AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
        AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 = 0)
        AND m.erased_at IS NULL AS may_be_current
    FROM walked w
    CROSS JOIN LATERAL (
        SELECT y.id FROM memories y WHERE y.agent_id = :agent AND y.chain_id = w.chain_id
        UNION ALL SELECT w.chain_id
        UNION ALL
        SELECT x.memory_id FROM memory_beliefs x
        WHERE x.agent_id = :agent AND x.chain_id = w.chain_id
            AND x.temporary AND x.chain_id <> x.memory_id
    ) AS stood (id)
    CROSS JOIN
        memories m
    CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
        m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
        m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
    WHERE m.agent_id = :agent AND m.id = stood.id AND b.chain_id = w.chain_id AND CASE WHEN
        w.follows THEN (b.valid_from, b.asserted_at) >= (w.valid_from, w.asserted_at) ELSE
        (b.valid_from, b.asserted_at) <= (w.valid_from, w.asserted_at) END
    GROUP BY m.id, m.created_at, m.erased_at, b.chain_id, b.valid_from, b.valid_until,
        b.covered, b.asserted_at
) AS version ON true
ORDER BY valid_from, asserted_at, id;

-- GET /v1/memories/{memory_id}/history
-- app/store/memories.py list_versions
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, page.*
FROM moment LEFT JOIN (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(
                    2000 + octet_length(CAST(
                        json_build_array(page.entity, page.category, page.key, page.content,
                            page.value, page.details, page.dated_by, page.tags, page.entities,
                            page.sources, page.source, page.session_id, page.project,
                            page.stale_because)
                        AS text))
                ) OVER (
                    ORDER BY valid_from, asserted_at, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1
                        PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT
                m.id, m.created_at, m.revision, m.erased_at,
                m.derived_entity, m.derived_key, m.derived_value,
                m.content, m.kind, m.entity, m.category, m.key, m.value, m.single_valued,
                    m.details, m.importance, m.confidence, m.tags, m.entities, m.sources, m.source,
                    m.session_id, m.project, m.trust, m.lifespan, m.said_at, m.said_in, m.dated_by,
                    m.merged_from,
                b.chain_id, b.valid_from, b.asserted_at, b.said_until, b.retracted_at, b.void,
                    b.ended_by, b.contradicted_by, b.merged, b.temporary, b.tier, b.covered,
                    b.valid_until, b.superseded_by, b.superseded_at, b.known_from,
                (
                    SELECT u.access_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS access_count, (
                    SELECT u.last_reinforced_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS last_reinforced_at, (
                    SELECT u.use_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS use_count, (
                    SELECT u.last_accessed_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS last_accessed_at,
                (
                    SELECT o.id FROM (
                        SELECT y.id, y.valid_from FROM memories y
                        WHERE y.agent_id = :agent
                            AND y.superseded_by = m.id
                            AND y.known_from <= (SELECT known_at FROM moment)
                        UNION ALL
                        SELECT y.memory_id, y.valid_from FROM memory_beliefs y
                        WHERE y.agent_id = :agent
                            AND y.superseded_by = m.id
                            AND y.known_from <= (SELECT known_at FROM moment)
                            AND y.known_until > (SELECT known_at FROM moment)
                    ) AS o
                    ORDER BY o.valid_from DESC, o.id DESC
                    LIMIT 1
                )
                AS supersedes_id,
                (
                    CASE WHEN
                    (SELECT EXISTS (SELECT FROM memory_relationships WHERE agent_id = :agent AND
                        type IN ('merged_into', 'expands', 'sequential', 'causes', 'enables',
                        'references')))
                    AND m.erased_at IS NULL AND
                    b.valid_from <= (SELECT as_of FROM moment)
                    AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                    AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) %
                        2 = 0)
                    THEN (
                        SELECT
                            jsonb_agg(
                                DISTINCT to_jsonb(e) || jsonb_build_object('type', tie.type,
                                    'as_of', (SELECT as_of FROM moment))
                            )
                        FROM (
                            SELECT source_id AS memory_id, target_id AS other_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                            UNION ALL
                            SELECT target_id, source_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                        ) AS tie
                        CROSS JOIN LATERAL (
                            SELECT
                                o.id,
                                CASE WHEN o.erased_at <= (SELECT known_at FROM moment) THEN
                                    o.erased_at END AS erased_at,
                                b.*
                            FROM
                                memories o
                            JOIN LATERAL (
                                SELECT o.chain_id, o.valid_from, o.asserted_at, o.said_until,
                                    o.retracted_at, o.void, o.ended_by, o.contradicted_by,
                                    o.merged, o.temporary, o.tier, o.covered, o.valid_until,
                                    o.superseded_by, o.superseded_at, o.known_from
                                WHERE o.known_from <= (SELECT known_at FROM moment)
                                UNION ALL
                                SELECT x.chain_id, x.valid_from, x.asserted_at, x.said_until,
                                    x.retracted_at, x.void, x.ended_by, x.contradicted_by,
                                    x.merged, x.temporary, x.tier, x.covered, x.valid_until,
                                    x.superseded_by, x.superseded_at, x.known_from
                                FROM memory_beliefs x
                                WHERE o.known_from > (SELECT known_at FROM moment)
                                    AND x.agent_id = :agent
                                    AND x.memory_id = o.id
                                    AND x.known_from <= (SELECT known_at FROM moment)
                                    AND x.known_until > (SELECT known_at FROM moment)
                            ) AS b ON true
                            WHERE o.agent_id = :agent AND o.id = tie.other_id
                        ) AS e
                        WHERE tie.created_at <= (SELECT known_at FROM moment)
                            AND (
                                e.erased_at > tie.created_at
                                OR (
                                    (e.void OR coalesce(e.valid_until <= (SELECT as_of FROM
                                        moment), false))
                                    AND (
                                        (NOT e.void AND e.valid_until > tie.created_at)
                                        OR EXISTS (
                                            SELECT FROM memory_beliefs x
                                            WHERE x.agent_id = :agent
                                                AND x.memory_id = e.id
                                                AND x.known_until > tie.created_at
                                                AND x.known_until <= e.known_from
                                                AND NOT x.void
                                                AND (e.void OR x.valid_until IS NULL OR
                                                    x.valid_until > tie.created_at)
                                        )
                                    )
                                )
                            )
                            AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
                            AND tie.memory_id = m.id
                    ) END
                )
                AS stale_because
            FROM
                memories m
            JOIN LATERAL (
                SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until, m.retracted_at,
                    m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
                    m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from
                WHERE m.known_from <= (SELECT known_at FROM moment)
                UNION ALL
                SELECT x.chain_id, x.valid_from, x.asserted_at, x.said_until, x.retracted_at,
                    x.void, x.ended_by, x.contradicted_by, x.merged, x.temporary, x.tier,
                    x.covered, x.valid_until, x.superseded_by, x.superseded_at, x.known_from
                FROM memory_beliefs x
                WHERE m.known_from > (SELECT known_at FROM moment)
                    AND x.agent_id = :agent
                    AND x.memory_id = m.id
                    AND x.known_from <= (SELECT known_at FROM moment)
                    AND x.known_until > (SELECT known_at FROM moment)
            ) AS b ON true
            WHERE m.agent_id = :agent AND m.id = ANY(:ids)
            ORDER BY valid_from, asserted_at, id LIMIT :limit
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
) AS page ON true
ORDER BY valid_from, asserted_at, id;

-- GET /v1/memories/{memory_id}/history
-- app/store/log/entries.py list_operations_on
SELECT operations_on(CAST(:ids AS uuid[])) AS id;

-- GET /v1/memories/{memory_id}/history
-- app/store/log/entries.py list_operations_on
SELECT * FROM (
    SELECT page.*,
        count(*) OVER () AS page_rows,
        coalesce(
            sum(octet_length(CAST(to_json(page) AS text))) OVER (
                ORDER BY created_at, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ), 0
        ) AS bytes_before
    FROM (
        SELECT id, operation, source_memory_ids, target_memory_id, relation, confidence, reasoning,
            decided_by, actor, created_at
        FROM consolidation_log
        WHERE agent_id = :agent AND created_at <= :known_at
            AND (created_at, id) > (:after_created_at, :after_id)
            AND id = ANY(:operations)
        ORDER BY created_at, id
        LIMIT :limit
    ) AS page
) AS sized
WHERE bytes_before < :max_bytes
ORDER BY created_at, id;

-- GET /v1/memories/{memory_id}/history
-- app/store/log/archived.py find_archived_until
SELECT max(created_at) AS until
FROM folded_operations
WHERE agent_id = :agent AND archive_id IS NOT NULL
    AND created_at >= :since AND created_at <= :known_at;


-- ===== GET /v1/memories/{memory_id}/beliefs =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/memories/{memory_id}/beliefs
-- app/store/beliefs.py find_chain_beliefs
WITH chain AS MATERIALIZED (
    SELECT o.chain_id AS id FROM memories o WHERE o.agent_id = :agent AND o.id = :id
),
version AS MATERIALIZED (
    SELECT m.*, count(*) OVER () AS all_versions
    FROM memories m
    WHERE m.agent_id = :agent AND m.id IN (
        SELECT y.id FROM memories y WHERE y.agent_id = :agent AND y.chain_id = (SELECT id FROM
            chain)
        UNION ALL SELECT (SELECT id FROM chain)
        UNION ALL
        SELECT x.memory_id FROM memory_beliefs x
        WHERE x.agent_id = :agent AND x.chain_id = (SELECT id FROM chain)
            AND x.temporary AND x.chain_id <> x.memory_id
    )
    ORDER BY m.created_at DESC, m.id DESC
    LIMIT :versions
)
SELECT
    v.id, v.content, v.kind, v.created_at, v.erased_at, v.all_versions,
    count(*) OVER () AS all_beliefs, belief.*
FROM version v
CROSS JOIN LATERAL (
    SELECT CAST(NULL AS timestamptz) AS known_until, v.chain_id, v.valid_from, v.asserted_at,
        v.said_until, v.retracted_at, v.void, v.ended_by, v.contradicted_by, v.merged, v.temporary,
        v.tier, v.covered, v.valid_until, v.superseded_by, v.superseded_at, v.known_from
    WHERE v.chain_id = (SELECT id FROM chain)
    UNION ALL
    SELECT x.known_until, x.chain_id, x.valid_from, x.asserted_at, x.said_until, x.retracted_at,
        x.void, x.ended_by, x.contradicted_by, x.merged, x.temporary, x.tier, x.covered,
        x.valid_until, x.superseded_by, x.superseded_at, x.known_from
    FROM memory_beliefs x
    WHERE x.agent_id = :agent AND x.memory_id = v.id AND x.chain_id = (SELECT id FROM chain)
) AS belief
ORDER BY belief.known_from DESC, v.created_at DESC, v.id DESC
LIMIT :limit;


-- ===== GET /v1/memories/{memory_id}/why =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/memories/{memory_id}/why
-- app/store/memories.py list_chain
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, page.*
FROM moment LEFT JOIN (
    SELECT
        m.id, m.created_at, m.revision, m.erased_at,
        m.derived_entity, m.derived_key, m.derived_value,
        m.content, m.kind, m.entity, m.category, m.key, m.value, m.single_valued, m.details,
            m.importance, m.confidence, m.tags, m.entities, m.sources, m.source, m.session_id,
            m.project, m.trust, m.lifespan, m.said_at, m.said_in, m.dated_by, m.merged_from,
        b.chain_id, b.valid_from, b.asserted_at, b.said_until, b.retracted_at, b.void, b.ended_by,
            b.contradicted_by, b.merged, b.temporary, b.tier, b.covered, b.valid_until,
            b.superseded_by, b.superseded_at, b.known_from,
        (
            SELECT u.access_count FROM memory_usage u
            WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <= (SELECT
                known_at FROM moment)
        ) AS access_count, (
            SELECT u.last_reinforced_at FROM memory_usage u
            WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <= (SELECT
                known_at FROM moment)
        ) AS last_reinforced_at, (
            SELECT u.use_count FROM memory_usage u
            WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                (
                    CAST(:used_by AS timestamptz) IS NULL
                    OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                )
        ) AS use_count, (
            SELECT u.last_accessed_at FROM memory_usage u
            WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                (
                    CAST(:used_by AS timestamptz) IS NULL
                    OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                )
        ) AS last_accessed_at,
        (
            SELECT o.id FROM memories o
            WHERE o.agent_id = :agent AND o.superseded_by = m.id
            ORDER BY o.valid_from DESC, o.id DESC
            LIMIT 1
        )
        AS supersedes_id,
        (
            CASE WHEN
            (SELECT EXISTS (SELECT FROM memory_relationships WHERE agent_id = :agent AND type IN
                ('merged_into', 'expands', 'sequential', 'causes', 'enables', 'references')))
            AND m.erased_at IS NULL AND
            b.valid_from <= (SELECT as_of FROM moment)
            AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
            AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 = 0)
            THEN (
                SELECT
                    jsonb_agg(
                        DISTINCT to_jsonb(e) || jsonb_build_object('type', tie.type, 'as_of',
                            (SELECT as_of FROM moment))
                    )
                FROM (
                    SELECT source_id AS memory_id, target_id AS other_id, type, created_at
                    FROM memory_relationships
                    WHERE agent_id = :agent AND type IN ('merged_into', 'expands', 'sequential',
                        'causes', 'enables', 'references')
                    UNION ALL
                    SELECT target_id, source_id, type, created_at
                    FROM memory_relationships
                    WHERE agent_id = :agent AND type IN ('merged_into', 'expands', 'sequential',
                        'causes', 'enables', 'references')
                ) AS tie
                CROSS JOIN LATERAL (
                    SELECT
                        o.id,
                        CASE WHEN o.erased_at <= (SELECT known_at FROM moment) THEN o.erased_at END
                            AS erased_at,
                        b.*
                    FROM
                        memories o
                    CROSS JOIN LATERAL (SELECT o.chain_id, o.valid_from, o.asserted_at,
                        o.said_until, o.retracted_at, o.void, o.ended_by, o.contradicted_by,
                        o.merged, o.temporary, o.tier, o.covered, o.valid_until, o.superseded_by,
                        o.superseded_at, o.known_from) AS b
                    WHERE o.agent_id = :agent AND o.id = tie.other_id
                ) AS e
                WHERE tie.created_at <= (SELECT known_at FROM moment)
                    AND (
                        e.erased_at > tie.created_at
                        OR (
                            (e.void OR coalesce(e.valid_until <= (SELECT as_of FROM moment),
                                false))
                            AND (
                                (NOT e.void AND e.valid_until > tie.created_at)
                                OR EXISTS (
                                    SELECT FROM memory_beliefs x
                                    WHERE x.agent_id = :agent
                                        AND x.memory_id = e.id
                                        AND x.known_until > tie.created_at
                                        AND x.known_until <= e.known_from
                                        AND NOT x.void
                                        AND (e.void OR x.valid_until IS NULL OR x.valid_until >
                                            tie.created_at)
                                )
                            )
                        )
                    )
                    AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
                    AND tie.memory_id = m.id
            ) END
        )
        AS stale_because
    FROM
        memories m
    CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
        m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
        m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
    WHERE
        m.agent_id = :agent AND m.chain_id = (
            SELECT o.chain_id FROM memories o WHERE o.agent_id = :agent AND o.id = :id
        )
    ORDER BY b.valid_from, b.asserted_at
) AS page ON true;
-- app/store/log/why.py list_entries_on: as for GET /v1/memories/{memory_id}/history

-- GET /v1/memories/{memory_id}/why
-- app/store/log/why.py list_entries_on
SELECT
    id, operation, source_memory_ids, target_memory_id, relation, confidence, reasoning, signals,
    decided_by, actor, incoming, before_state, after_state, opinions, vetoed,
    created_at, reverts
FROM consolidation_log
WHERE agent_id = :agent AND created_at <= :known_at
    AND id = ANY(:operations)
ORDER BY created_at, id;

-- GET /v1/memories/{memory_id}/why
-- app/store/log/why.py list_judging_entries
SELECT
    id, operation, source_memory_ids, target_memory_id, relation, confidence, reasoning, signals,
    decided_by, actor, incoming, before_state, after_state, opinions, vetoed,
    created_at, reverts
FROM consolidation_log
WHERE agent_id = :agent AND created_at > :since AND created_at <= :known_at
    AND coalesce(opinions, vetoed) <> '[]' AND coalesce(opinions, vetoed) @> ANY(ARRAY(
        SELECT jsonb_build_array(jsonb_build_object('memory_id', id))
        FROM unnest(CAST(:ids AS uuid[])) AS id
    ))
ORDER BY created_at DESC, id DESC
LIMIT :limit;

-- GET /v1/memories/{memory_id}/why
-- app/store/log/why.py list_proposals_about
SELECT r.id, r.log_id, r.created_at, r.source, r.relation, r.memory_id, r.judgments,
    r.relied_on, r.incoming, r.status, r.note, r.decided_at, r.decision_log_id,
    d.decided_by AS settled_by, d.actor AS settling_actor
FROM reviews r
LEFT JOIN consolidation_log d ON d.agent_id = :agent AND d.id = r.decision_log_id
WHERE r.agent_id = :agent AND r.created_at <= :known_at
    AND (r.memory_id = ANY(:ids) OR r.relied_on ?| CAST(CAST(:ids AS uuid[]) AS text[]))
ORDER BY r.created_at, r.id;

-- GET /v1/memories/{memory_id}/why
-- app/store/log/why.py find_known_texts
SELECT id, CASE WHEN erased_at IS NULL THEN content END AS content
FROM memories
WHERE agent_id = :agent AND id = ANY(:ids) AND created_at <= :known_at;
-- app/store/log/archived.py find_archived_until: as for GET /v1/memories/{memory_id}/history

-- GET /v1/memories/{memory_id}/why
-- app/store/captures/captures.py list_facts_of_memory
SELECT f.id, f.turn_id, f.place, f.content, f.quotes, f.operation, f.memory_id, f.log_id,
    f.review_id, f.problem
FROM captured_facts f
JOIN turns t ON t.agent_id = :agent AND t.id = f.turn_id
WHERE f.agent_id = :agent AND f.memory_id = :memory AND t.received_at <= :known_at
ORDER BY f.id
LIMIT 20;


-- ===== POST /v1/search (hybrid) =====
-- app/store/search.py search_memories: as for POST /v1/memories (a first fact)

-- POST /v1/search (hybrid)
-- app/store/search.py search_memories
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
query_words AS MATERIALIZED (
    SELECT CAST(
        replace(
            CAST(
                plainto_tsquery(
                    CAST(:language AS regconfig), pair_characters(:query, false)
                ) AS text
            ),
            ' & ',
            ' | '
        ) AS tsquery
    ) AS words
),
live AS MATERIALIZED (
    SELECT
        m.id, (m.embedding <=> :vector) + 0 AS distance, CASE WHEN m.lexemes @@ (SELECT words FROM
            query_words) THEN m.lexemes END AS lexemes, b.valid_from, 0 AS bonus
    FROM
        memories m
    CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
        m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
        m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
    WHERE m.agent_id = :agent AND
        b.valid_from <= (SELECT as_of FROM moment)
        AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
        AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 = 0)
        AND NOT m.cold AND m.erased_at IS NULL AND (SELECT name FROM encoder) = :encoder
),
word AS MATERIALIZED (
    SELECT lexeme, CAST(quote_lexeme(lexeme) AS tsquery) AS query
    FROM unnest(
        tsvector_to_array(
            to_tsvector(CAST(:language AS regconfig), pair_characters(:query, false))
        )
    ) AS lexeme
),
shared AS MATERIALIZED (
    SELECT live.*, word.lexeme FROM word JOIN live ON live.lexemes @@ word.query
),
weighed AS MATERIALIZED (
    SELECT lexeme, CAST(ln(1 + (texts - frequency + 0.5) / (frequency + 0.5)) AS float8) AS weight
    FROM (SELECT lexeme, count(*) AS frequency FROM shared GROUP BY lexeme) AS counted,
        (SELECT count(*) AS texts FROM live) AS all_texts
),
matching AS MATERIALIZED (
    SELECT
        id,
        min(distance) AS distance,
        max(bonus) AS bonus,
        max(valid_from) AS valid_from,
        sum(weight) / (1 + max(length(lexemes)) / 20.0) AS rank
    FROM shared JOIN weighed USING (lexeme)
    GROUP BY id
),
best AS MATERIALIZED (
    SELECT id, max(score) AS score, max(vector) AS vector, max(text) AS text
    FROM (
        (
            SELECT id, 1 - distance + bonus AS score, 1 - distance AS vector, 0 AS text
            FROM live
            ORDER BY distance - bonus
            LIMIT greatest(:limit, 10)
        )
        UNION ALL
        SELECT id, 1 - distance + bonus + 0.03 * rank, 1 - distance, rank
        FROM matching
    ) AS scored
    GROUP BY id
    ORDER BY score DESC, vector DESC
    LIMIT greatest(:limit, 10)
),
outranked AS (
    SELECT
        CAST(judgment ->> 'memory_id' AS uuid) AS id,
        min(best.score) AS score
    FROM best
    JOIN reviews AS review
        ON review.agent_id = :agent
        AND review.memory_id = best.id
        AND review.status = 'pending'
    CROSS JOIN jsonb_array_elements(review.judgments) AS judgment
    WHERE review.relation IN ('UPDATE', 'CONTRADICTION', 'RETRACTION') AND review.source NOT IN
        ('constraint', 'trust')
    GROUP BY 1
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, (SELECT name FROM encoder)
    AS encoder,
    EXISTS (SELECT FROM reviews r WHERE r.agent_id = :agent AND r.status = 'pending')
    AS has_waiting, hit.*
FROM moment
LEFT JOIN (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(
                    2000 + octet_length(CAST(
                        json_build_array(page.entity, page.category, page.key, page.content,
                            page.value, page.details, page.dated_by, page.tags, page.entities,
                            page.sources, page.source, page.session_id, page.project,
                            page.stale_because)
                        AS text))
                ) OVER (
                    ORDER BY
                        band,
                        is_outranked,
                        is_alike DESC,
                        CASE WHEN is_alike THEN created_at END DESC,
                        score DESC NULLS LAST,
                        valid_from DESC,
                        id DESC
                        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT *
            FROM (
                SELECT *,
                    exp(11.0 * score) / (
                        SELECT exp(4.5) + sum(exp(11.0 * competing.score))
                        FROM (SELECT score FROM best ORDER BY score DESC LIMIT 10) AS competing
                    )
                    AS chance FROM (
                        SELECT *, coalesce(
                            vector_score >= first_value(vector_score) OVER (
                                PARTITION BY band ORDER BY is_outranked, score DESC, vector_score
                                    DESC
                            ) - 0.045,
                            true
                        ) AS is_alike
                        FROM (
                            SELECT *, floor(
                                (max(score) OVER () - score)
                                / greatest(0.07 * max(score) OVER (), 1e-9)
                            ) AS band
                            FROM (
                                SELECT
                                    least(best.score, outranked.score) AS score, outranked.id IS
                                        NOT NULL AS is_outranked,
                                    best.vector AS vector_score,
                                    best.text AS text_score,
                                    m.id, m.created_at, m.revision, m.erased_at,
                                    m.derived_entity, m.derived_key, m.derived_value,
                                    m.content, m.kind, m.entity, m.category, m.key, m.value,
                                        m.single_valued, m.details, m.importance, m.confidence,
                                        m.tags, m.entities, m.sources, m.source, m.session_id,
                                        m.project, m.trust, m.lifespan, m.said_at, m.said_in,
                                        m.dated_by, m.merged_from,
                                    b.chain_id, b.valid_from, b.asserted_at, b.said_until,
                                        b.retracted_at, b.void, b.ended_by, b.contradicted_by,
                                        b.merged, b.temporary, b.tier, b.covered, b.valid_until,
                                        b.superseded_by, b.superseded_at, b.known_from,
                                    (
                                        SELECT u.access_count FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            u.last_reinforced_at <= (SELECT known_at FROM moment)
                                    ) AS access_count, (
                                        SELECT u.last_reinforced_at FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            u.last_reinforced_at <= (SELECT known_at FROM moment)
                                    ) AS last_reinforced_at, (
                                        SELECT u.use_count FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            (
                                                CAST(:used_by AS timestamptz) IS NULL
                                                OR u.last_accessed_at <= CAST(:used_by AS
                                                    timestamptz)
                                            )
                                    ) AS use_count, (
                                        SELECT u.last_accessed_at FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            (
                                                CAST(:used_by AS timestamptz) IS NULL
                                                OR u.last_accessed_at <= CAST(:used_by AS
                                                    timestamptz)
                                            )
                                    ) AS last_accessed_at,
                                    (
                                        SELECT o.id FROM memories o
                                        WHERE o.agent_id = :agent AND o.superseded_by = m.id
                                        ORDER BY o.valid_from DESC, o.id DESC
                                        LIMIT 1
                                    )
                                    AS supersedes_id,
                                    (
                                        CASE WHEN
                                        (SELECT EXISTS (SELECT FROM memory_relationships WHERE
                                            agent_id = :agent AND type IN ('merged_into',
                                            'expands', 'sequential', 'causes', 'enables',
                                            'references')))
                                        AND m.erased_at IS NULL AND
                                        b.valid_from <= (SELECT as_of FROM moment)
                                        AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of
                                            FROM moment))
                                        AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM
                                            moment), b.covered) % 2 = 0)
                                        THEN (
                                            SELECT
                                                jsonb_agg(
                                                    DISTINCT to_jsonb(e) ||
                                                        jsonb_build_object('type', tie.type,
                                                        'as_of', (SELECT as_of FROM moment))
                                                )
                                            FROM (
                                                SELECT source_id AS memory_id, target_id AS
                                                    other_id, type, created_at
                                                FROM memory_relationships
                                                WHERE agent_id = :agent AND type IN ('merged_into',
                                                    'expands', 'sequential', 'causes', 'enables',
                                                    'references')
                                                UNION ALL
                                                SELECT target_id, source_id, type, created_at
                                                FROM memory_relationships
                                                WHERE agent_id = :agent AND type IN ('merged_into',
                                                    'expands', 'sequential', 'causes', 'enables',
                                                    'references')
                                            ) AS tie
                                            CROSS JOIN LATERAL (
                                                SELECT
                                                    o.id,
                                                    CASE WHEN o.erased_at <= (SELECT known_at FROM
                                                        moment) THEN o.erased_at END AS erased_at,
                                                    b.*
                                                FROM
                                                    memories o
                                                CROSS JOIN LATERAL (SELECT o.chain_id,
                                                    o.valid_from, o.asserted_at, o.said_until,
                                                    o.retracted_at, o.void, o.ended_by,
                                                    o.contradicted_by, o.merged, o.temporary,
                                                    o.tier, o.covered, o.valid_until,
                                                    o.superseded_by, o.superseded_at, o.known_from)
                                                    AS b
                                                WHERE o.agent_id = :agent AND o.id = tie.other_id
                                            ) AS e
                                            WHERE tie.created_at <= (SELECT known_at FROM moment)
                                                AND (
                                                    e.erased_at > tie.created_at
                                                    OR (
                                                        (e.void OR coalesce(e.valid_until <=
                                                            (SELECT as_of FROM moment), false))
                                                        AND (
                                                            (NOT e.void AND e.valid_until >
                                                                tie.created_at)
                                                            OR EXISTS (
                                                                SELECT FROM memory_beliefs x
                                                                WHERE x.agent_id = :agent
                                                                    AND x.memory_id = e.id
                                                                    AND x.known_until >
                                                                        tie.created_at
                                                                    AND x.known_until <=
                                                                        e.known_from
                                                                    AND NOT x.void
                                                                    AND (e.void OR x.valid_until IS
                                                                        NULL OR x.valid_until >
                                                                        tie.created_at)
                                                            )
                                                        )
                                                    )
                                                )
                                                AND (e.void OR e.superseded_by IS DISTINCT FROM
                                                    tie.memory_id)
                                                AND tie.memory_id = m.id
                                        ) END
                                    )
                                    AS stale_because
                                FROM best
                                JOIN
                                    memories m
                                CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at,
                                    m.said_until, m.retracted_at, m.void, m.ended_by,
                                    m.contradicted_by, m.merged, m.temporary, m.tier, m.covered,
                                    m.valid_until, m.superseded_by, m.superseded_at, m.known_from)
                                    AS b
                                    ON m.agent_id = :agent AND m.id = best.id
                                LEFT JOIN outranked ON outranked.id = best.id
                            ) AS scored
                        ) AS banded
                    ) AS ranked
            ) AS weighed
            WHERE chance >= :min_score
            ORDER BY
                band,
                is_outranked,
                is_alike DESC,
                CASE WHEN is_alike THEN created_at END DESC,
                score DESC NULLS LAST,
                valid_from DESC,
                id DESC
            LIMIT :limit
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
) AS hit ON true
ORDER BY
    band,
    is_outranked,
    is_alike DESC,
    CASE WHEN is_alike THEN created_at END DESC,
    score DESC NULLS LAST,
    valid_from DESC,
    id DESC;


-- ===== POST /v1/search (vector) =====
-- app/store/search.py search_memories: as for POST /v1/memories (a first fact)

-- POST /v1/search (vector)
-- app/store/search.py search_memories
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
live AS MATERIALIZED (
    SELECT
        m.id, (m.embedding <=> :vector) + 0 AS distance, NULL AS lexemes, b.valid_from, 0 AS bonus
    FROM
        memories m
    CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
        m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
        m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
    WHERE m.agent_id = :agent AND
        b.valid_from <= (SELECT as_of FROM moment)
        AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
        AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 = 0)
        AND NOT m.cold AND m.erased_at IS NULL AND (SELECT name FROM encoder) = :encoder
),
best AS MATERIALIZED (
    SELECT
        id,
        1 - distance + bonus AS score,
        1 - distance AS vector,
        CAST(NULL AS float8) AS text
    FROM live
    ORDER BY distance - bonus
    LIMIT greatest(:limit, 10)
),
outranked AS (
    SELECT
        CAST(judgment ->> 'memory_id' AS uuid) AS id,
        min(best.score) AS score
    FROM best
    JOIN reviews AS review
        ON review.agent_id = :agent
        AND review.memory_id = best.id
        AND review.status = 'pending'
    CROSS JOIN jsonb_array_elements(review.judgments) AS judgment
    WHERE review.relation IN ('UPDATE', 'CONTRADICTION', 'RETRACTION') AND review.source NOT IN
        ('constraint', 'trust')
    GROUP BY 1
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, (SELECT name FROM encoder)
    AS encoder,
    EXISTS (SELECT FROM reviews r WHERE r.agent_id = :agent AND r.status = 'pending')
    AS has_waiting, hit.*
FROM moment
LEFT JOIN (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(
                    2000 + octet_length(CAST(
                        json_build_array(page.entity, page.category, page.key, page.content,
                            page.value, page.details, page.dated_by, page.tags, page.entities,
                            page.sources, page.source, page.session_id, page.project,
                            page.stale_because)
                        AS text))
                ) OVER (
                    ORDER BY
                        band,
                        is_outranked,
                        is_alike DESC,
                        CASE WHEN is_alike THEN created_at END DESC,
                        score DESC NULLS LAST,
                        valid_from DESC,
                        id DESC
                        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT *
            FROM (
                SELECT *,
                    exp(12.8 * score) / (
                        SELECT exp(4.8) + sum(exp(12.8 * competing.score))
                        FROM (SELECT score FROM best ORDER BY score DESC LIMIT 10) AS competing
                    )
                    AS chance FROM (
                        SELECT *, coalesce(
                            vector_score >= first_value(vector_score) OVER (
                                PARTITION BY band ORDER BY is_outranked, score DESC, vector_score
                                    DESC
                            ) - 0.045,
                            true
                        ) AS is_alike
                        FROM (
                            SELECT *, floor(
                                (max(score) OVER () - score)
                                / greatest(0.07 * max(score) OVER (), 1e-9)
                            ) AS band
                            FROM (
                                SELECT
                                    least(best.score, outranked.score) AS score, outranked.id IS
                                        NOT NULL AS is_outranked,
                                    best.vector AS vector_score,
                                    best.text AS text_score,
                                    m.id, m.created_at, m.revision, m.erased_at,
                                    m.derived_entity, m.derived_key, m.derived_value,
                                    m.content, m.kind, m.entity, m.category, m.key, m.value,
                                        m.single_valued, m.details, m.importance, m.confidence,
                                        m.tags, m.entities, m.sources, m.source, m.session_id,
                                        m.project, m.trust, m.lifespan, m.said_at, m.said_in,
                                        m.dated_by, m.merged_from,
                                    b.chain_id, b.valid_from, b.asserted_at, b.said_until,
                                        b.retracted_at, b.void, b.ended_by, b.contradicted_by,
                                        b.merged, b.temporary, b.tier, b.covered, b.valid_until,
                                        b.superseded_by, b.superseded_at, b.known_from,
                                    (
                                        SELECT u.access_count FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            u.last_reinforced_at <= (SELECT known_at FROM moment)
                                    ) AS access_count, (
                                        SELECT u.last_reinforced_at FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            u.last_reinforced_at <= (SELECT known_at FROM moment)
                                    ) AS last_reinforced_at, (
                                        SELECT u.use_count FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            (
                                                CAST(:used_by AS timestamptz) IS NULL
                                                OR u.last_accessed_at <= CAST(:used_by AS
                                                    timestamptz)
                                            )
                                    ) AS use_count, (
                                        SELECT u.last_accessed_at FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            (
                                                CAST(:used_by AS timestamptz) IS NULL
                                                OR u.last_accessed_at <= CAST(:used_by AS
                                                    timestamptz)
                                            )
                                    ) AS last_accessed_at,
                                    (
                                        SELECT o.id FROM memories o
                                        WHERE o.agent_id = :agent AND o.superseded_by = m.id
                                        ORDER BY o.valid_from DESC, o.id DESC
                                        LIMIT 1
                                    )
                                    AS supersedes_id,
                                    (
                                        CASE WHEN
                                        (SELECT EXISTS (SELECT FROM memory_relationships WHERE
                                            agent_id = :agent AND type IN ('merged_into',
                                            'expands', 'sequential', 'causes', 'enables',
                                            'references')))
                                        AND m.erased_at IS NULL AND
                                        b.valid_from <= (SELECT as_of FROM moment)
                                        AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of
                                            FROM moment))
                                        AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM
                                            moment), b.covered) % 2 = 0)
                                        THEN (
                                            SELECT
                                                jsonb_agg(
                                                    DISTINCT to_jsonb(e) ||
                                                        jsonb_build_object('type', tie.type,
                                                        'as_of', (SELECT as_of FROM moment))
                                                )
                                            FROM (
                                                SELECT source_id AS memory_id, target_id AS
                                                    other_id, type, created_at
                                                FROM memory_relationships
                                                WHERE agent_id = :agent AND type IN ('merged_into',
                                                    'expands', 'sequential', 'causes', 'enables',
                                                    'references')
                                                UNION ALL
                                                SELECT target_id, source_id, type, created_at
                                                FROM memory_relationships
                                                WHERE agent_id = :agent AND type IN ('merged_into',
                                                    'expands', 'sequential', 'causes', 'enables',
                                                    'references')
                                            ) AS tie
                                            CROSS JOIN LATERAL (
                                                SELECT
                                                    o.id,
                                                    CASE WHEN o.erased_at <= (SELECT known_at FROM
                                                        moment) THEN o.erased_at END AS erased_at,
                                                    b.*
                                                FROM
                                                    memories o
                                                CROSS JOIN LATERAL (SELECT o.chain_id,
                                                    o.valid_from, o.asserted_at, o.said_until,
                                                    o.retracted_at, o.void, o.ended_by,
                                                    o.contradicted_by, o.merged, o.temporary,
                                                    o.tier, o.covered, o.valid_until,
                                                    o.superseded_by, o.superseded_at, o.known_from)
                                                    AS b
                                                WHERE o.agent_id = :agent AND o.id = tie.other_id
                                            ) AS e
                                            WHERE tie.created_at <= (SELECT known_at FROM moment)
                                                AND (
                                                    e.erased_at > tie.created_at
                                                    OR (
                                                        (e.void OR coalesce(e.valid_until <=
                                                            (SELECT as_of FROM moment), false))
                                                        AND (
                                                            (NOT e.void AND e.valid_until >
                                                                tie.created_at)
                                                            OR EXISTS (
                                                                SELECT FROM memory_beliefs x
                                                                WHERE x.agent_id = :agent
                                                                    AND x.memory_id = e.id
                                                                    AND x.known_until >
                                                                        tie.created_at
                                                                    AND x.known_until <=
                                                                        e.known_from
                                                                    AND NOT x.void
                                                                    AND (e.void OR x.valid_until IS
                                                                        NULL OR x.valid_until >
                                                                        tie.created_at)
                                                            )
                                                        )
                                                    )
                                                )
                                                AND (e.void OR e.superseded_by IS DISTINCT FROM
                                                    tie.memory_id)
                                                AND tie.memory_id = m.id
                                        ) END
                                    )
                                    AS stale_because
                                FROM best
                                JOIN
                                    memories m
                                CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at,
                                    m.said_until, m.retracted_at, m.void, m.ended_by,
                                    m.contradicted_by, m.merged, m.temporary, m.tier, m.covered,
                                    m.valid_until, m.superseded_by, m.superseded_at, m.known_from)
                                    AS b
                                    ON m.agent_id = :agent AND m.id = best.id
                                LEFT JOIN outranked ON outranked.id = best.id
                            ) AS scored
                        ) AS banded
                    ) AS ranked
            ) AS weighed
            WHERE chance >= :min_score
            ORDER BY
                band,
                is_outranked,
                is_alike DESC,
                CASE WHEN is_alike THEN created_at END DESC,
                score DESC NULLS LAST,
                valid_from DESC,
                id DESC
            LIMIT :limit
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
) AS hit ON true
ORDER BY
    band,
    is_outranked,
    is_alike DESC,
    CASE WHEN is_alike THEN created_at END DESC,
    score DESC NULLS LAST,
    valid_from DESC,
    id DESC;


-- ===== POST /v1/search (text) =====
-- app/store/search.py search_memories: as for POST /v1/memories (a first fact)

-- POST /v1/search (text)
-- app/store/search.py search_memories
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
query_words AS MATERIALIZED (
    SELECT CAST(
        replace(
            CAST(
                plainto_tsquery(
                    CAST(:language AS regconfig), pair_characters(:query, false)
                ) AS text
            ),
            ' & ',
            ' | '
        ) AS tsquery
    ) AS words
),
live AS MATERIALIZED (
    SELECT
        m.id, CAST(NULL AS float8) AS distance, CASE WHEN m.lexemes @@ (SELECT words FROM
            query_words) THEN m.lexemes END AS lexemes, b.valid_from, 0 AS bonus
    FROM
        memories m
    CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
        m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
        m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
    WHERE m.agent_id = :agent AND
        b.valid_from <= (SELECT as_of FROM moment)
        AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
        AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 = 0)
        AND NOT m.cold AND m.erased_at IS NULL
),
word AS MATERIALIZED (
    SELECT lexeme, CAST(quote_lexeme(lexeme) AS tsquery) AS query
    FROM unnest(
        tsvector_to_array(
            to_tsvector(CAST(:language AS regconfig), pair_characters(:query, false))
        )
    ) AS lexeme
),
shared AS MATERIALIZED (
    SELECT live.*, word.lexeme FROM word JOIN live ON live.lexemes @@ word.query
),
weighed AS MATERIALIZED (
    SELECT lexeme, CAST(ln(1 + (texts - frequency + 0.5) / (frequency + 0.5)) AS float8) AS weight
    FROM (SELECT lexeme, count(*) AS frequency FROM shared GROUP BY lexeme) AS counted,
        (SELECT count(*) AS texts FROM live) AS all_texts
),
matching AS MATERIALIZED (
    SELECT
        id,
        min(distance) AS distance,
        max(bonus) AS bonus,
        max(valid_from) AS valid_from,
        sum(weight) / (1 + max(length(lexemes)) / 20.0) AS rank
    FROM shared JOIN weighed USING (lexeme)
    GROUP BY id
),
best AS MATERIALIZED (
    SELECT
        id,
        rank + 12 * bonus AS score,
        CAST(NULL AS float8) AS vector,
        rank AS text
    FROM matching
    ORDER BY score DESC, valid_from DESC
    LIMIT greatest(:limit, 10)
),
outranked AS (
    SELECT
        CAST(judgment ->> 'memory_id' AS uuid) AS id,
        min(best.score) AS score
    FROM best
    JOIN reviews AS review
        ON review.agent_id = :agent
        AND review.memory_id = best.id
        AND review.status = 'pending'
    CROSS JOIN jsonb_array_elements(review.judgments) AS judgment
    WHERE review.relation IN ('UPDATE', 'CONTRADICTION', 'RETRACTION') AND review.source NOT IN
        ('constraint', 'trust')
    GROUP BY 1
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, (SELECT name FROM encoder)
    AS encoder,
    EXISTS (SELECT FROM reviews r WHERE r.agent_id = :agent AND r.status = 'pending')
    AS has_waiting, hit.*
FROM moment
LEFT JOIN (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(
                    2000 + octet_length(CAST(
                        json_build_array(page.entity, page.category, page.key, page.content,
                            page.value, page.details, page.dated_by, page.tags, page.entities,
                            page.sources, page.source, page.session_id, page.project,
                            page.stale_because)
                        AS text))
                ) OVER (
                    ORDER BY
                        band,
                        is_outranked,
                        is_alike DESC,
                        CASE WHEN is_alike THEN created_at END DESC,
                        score DESC NULLS LAST,
                        valid_from DESC,
                        id DESC
                        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT *
            FROM (
                SELECT *,
                    exp(0.9 * score) / (
                        SELECT exp(2.0) + sum(exp(0.9 * competing.score))
                        FROM (SELECT score FROM best ORDER BY score DESC LIMIT 10) AS competing
                    )
                    AS chance FROM (
                        SELECT *, coalesce(
                            vector_score >= first_value(vector_score) OVER (
                                PARTITION BY band ORDER BY is_outranked, score DESC, vector_score
                                    DESC
                            ) - 0.045,
                            true
                        ) AS is_alike
                        FROM (
                            SELECT *, floor(
                                (max(score) OVER () - score)
                                / greatest(0.07 * max(score) OVER (), 1e-9)
                            ) AS band
                            FROM (
                                SELECT
                                    least(best.score, outranked.score) AS score, outranked.id IS
                                        NOT NULL AS is_outranked,
                                    best.vector AS vector_score,
                                    best.text AS text_score,
                                    m.id, m.created_at, m.revision, m.erased_at,
                                    m.derived_entity, m.derived_key, m.derived_value,
                                    m.content, m.kind, m.entity, m.category, m.key, m.value,
                                        m.single_valued, m.details, m.importance, m.confidence,
                                        m.tags, m.entities, m.sources, m.source, m.session_id,
                                        m.project, m.trust, m.lifespan, m.said_at, m.said_in,
                                        m.dated_by, m.merged_from,
                                    b.chain_id, b.valid_from, b.asserted_at, b.said_until,
                                        b.retracted_at, b.void, b.ended_by, b.contradicted_by,
                                        b.merged, b.temporary, b.tier, b.covered, b.valid_until,
                                        b.superseded_by, b.superseded_at, b.known_from,
                                    (
                                        SELECT u.access_count FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            u.last_reinforced_at <= (SELECT known_at FROM moment)
                                    ) AS access_count, (
                                        SELECT u.last_reinforced_at FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            u.last_reinforced_at <= (SELECT known_at FROM moment)
                                    ) AS last_reinforced_at, (
                                        SELECT u.use_count FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            (
                                                CAST(:used_by AS timestamptz) IS NULL
                                                OR u.last_accessed_at <= CAST(:used_by AS
                                                    timestamptz)
                                            )
                                    ) AS use_count, (
                                        SELECT u.last_accessed_at FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            (
                                                CAST(:used_by AS timestamptz) IS NULL
                                                OR u.last_accessed_at <= CAST(:used_by AS
                                                    timestamptz)
                                            )
                                    ) AS last_accessed_at,
                                    (
                                        SELECT o.id FROM memories o
                                        WHERE o.agent_id = :agent AND o.superseded_by = m.id
                                        ORDER BY o.valid_from DESC, o.id DESC
                                        LIMIT 1
                                    )
                                    AS supersedes_id,
                                    (
                                        CASE WHEN
                                        (SELECT EXISTS (SELECT FROM memory_relationships WHERE
                                            agent_id = :agent AND type IN ('merged_into',
                                            'expands', 'sequential', 'causes', 'enables',
                                            'references')))
                                        AND m.erased_at IS NULL AND
                                        b.valid_from <= (SELECT as_of FROM moment)
                                        AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of
                                            FROM moment))
                                        AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM
                                            moment), b.covered) % 2 = 0)
                                        THEN (
                                            SELECT
                                                jsonb_agg(
                                                    DISTINCT to_jsonb(e) ||
                                                        jsonb_build_object('type', tie.type,
                                                        'as_of', (SELECT as_of FROM moment))
                                                )
                                            FROM (
                                                SELECT source_id AS memory_id, target_id AS
                                                    other_id, type, created_at
                                                FROM memory_relationships
                                                WHERE agent_id = :agent AND type IN ('merged_into',
                                                    'expands', 'sequential', 'causes', 'enables',
                                                    'references')
                                                UNION ALL
                                                SELECT target_id, source_id, type, created_at
                                                FROM memory_relationships
                                                WHERE agent_id = :agent AND type IN ('merged_into',
                                                    'expands', 'sequential', 'causes', 'enables',
                                                    'references')
                                            ) AS tie
                                            CROSS JOIN LATERAL (
                                                SELECT
                                                    o.id,
                                                    CASE WHEN o.erased_at <= (SELECT known_at FROM
                                                        moment) THEN o.erased_at END AS erased_at,
                                                    b.*
                                                FROM
                                                    memories o
                                                CROSS JOIN LATERAL (SELECT o.chain_id,
                                                    o.valid_from, o.asserted_at, o.said_until,
                                                    o.retracted_at, o.void, o.ended_by,
                                                    o.contradicted_by, o.merged, o.temporary,
                                                    o.tier, o.covered, o.valid_until,
                                                    o.superseded_by, o.superseded_at, o.known_from)
                                                    AS b
                                                WHERE o.agent_id = :agent AND o.id = tie.other_id
                                            ) AS e
                                            WHERE tie.created_at <= (SELECT known_at FROM moment)
                                                AND (
                                                    e.erased_at > tie.created_at
                                                    OR (
                                                        (e.void OR coalesce(e.valid_until <=
                                                            (SELECT as_of FROM moment), false))
                                                        AND (
                                                            (NOT e.void AND e.valid_until >
                                                                tie.created_at)
                                                            OR EXISTS (
                                                                SELECT FROM memory_beliefs x
                                                                WHERE x.agent_id = :agent
                                                                    AND x.memory_id = e.id
                                                                    AND x.known_until >
                                                                        tie.created_at
                                                                    AND x.known_until <=
                                                                        e.known_from
                                                                    AND NOT x.void
                                                                    AND (e.void OR x.valid_until IS
                                                                        NULL OR x.valid_until >
                                                                        tie.created_at)
                                                            )
                                                        )
                                                    )
                                                )
                                                AND (e.void OR e.superseded_by IS DISTINCT FROM
                                                    tie.memory_id)
                                                AND tie.memory_id = m.id
                                        ) END
                                    )
                                    AS stale_because
                                FROM best
                                JOIN
                                    memories m
                                CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at,
                                    m.said_until, m.retracted_at, m.void, m.ended_by,
                                    m.contradicted_by, m.merged, m.temporary, m.tier, m.covered,
                                    m.valid_until, m.superseded_by, m.superseded_at, m.known_from)
                                    AS b
                                    ON m.agent_id = :agent AND m.id = best.id
                                LEFT JOIN outranked ON outranked.id = best.id
                            ) AS scored
                        ) AS banded
                    ) AS ranked
            ) AS weighed
            WHERE chance >= :min_score
            ORDER BY
                band,
                is_outranked,
                is_alike DESC,
                CASE WHEN is_alike THEN created_at END DESC,
                score DESC NULLS LAST,
                valid_from DESC,
                id DESC
            LIMIT :limit
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
) AS hit ON true
ORDER BY
    band,
    is_outranked,
    is_alike DESC,
    CASE WHEN is_alike THEN created_at END DESC,
    score DESC NULLS LAST,
    valid_from DESC,
    id DESC;


-- ===== POST /v1/search (hybrid, in the past) =====
-- app/store/search.py search_memories: as for POST /v1/memories (a first fact)

-- POST /v1/search (hybrid, in the past)
-- app/store/search.py search_memories
SELECT
    (SELECT last_known_at FROM agents WHERE agent_id = :agent) AS last,
    clock_timestamp() AS now,
    current_setting('transaction_read_only')::boolean AS is_read_only;

-- POST /v1/search (hybrid, in the past)
-- app/store/search.py search_memories
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
query_words AS MATERIALIZED (
    SELECT CAST(
        replace(
            CAST(
                plainto_tsquery(
                    CAST(:language AS regconfig), pair_characters(:query, false)
                ) AS text
            ),
            ' & ',
            ' | '
        ) AS tsquery
    ) AS words
),
live AS MATERIALIZED (
    SELECT
        m.id, (m.embedding <=> :vector) + 0 AS distance, CASE WHEN m.lexemes @@ (SELECT words FROM
            query_words) THEN m.lexemes END AS lexemes, b.valid_from, 0 AS bonus
    FROM
        memories m
    JOIN LATERAL (
        SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until, m.retracted_at, m.void,
            m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier, m.covered, m.valid_until,
            m.superseded_by, m.superseded_at, m.known_from
        WHERE m.known_from <= (SELECT known_at FROM moment)
        UNION ALL
        SELECT x.chain_id, x.valid_from, x.asserted_at, x.said_until, x.retracted_at, x.void,
            x.ended_by, x.contradicted_by, x.merged, x.temporary, x.tier, x.covered, x.valid_until,
            x.superseded_by, x.superseded_at, x.known_from
        FROM memory_beliefs x
        WHERE m.known_from > (SELECT known_at FROM moment)
            AND x.agent_id = :agent
            AND x.memory_id = m.id
            AND x.known_from <= (SELECT known_at FROM moment)
            AND x.known_until > (SELECT known_at FROM moment)
    ) AS b ON true
    WHERE m.agent_id = :agent AND
        b.valid_from <= (SELECT as_of FROM moment)
        AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
        AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 = 0)
        AND m.erased_at IS NULL AND (SELECT name FROM encoder) = :encoder
),
word AS MATERIALIZED (
    SELECT lexeme, CAST(quote_lexeme(lexeme) AS tsquery) AS query
    FROM unnest(
        tsvector_to_array(
            to_tsvector(CAST(:language AS regconfig), pair_characters(:query, false))
        )
    ) AS lexeme
),
shared AS MATERIALIZED (
    SELECT live.*, word.lexeme FROM word JOIN live ON live.lexemes @@ word.query
),
weighed AS MATERIALIZED (
    SELECT lexeme, CAST(ln(1 + (texts - frequency + 0.5) / (frequency + 0.5)) AS float8) AS weight
    FROM (SELECT lexeme, count(*) AS frequency FROM shared GROUP BY lexeme) AS counted,
        (SELECT count(*) AS texts FROM live) AS all_texts
),
matching AS MATERIALIZED (
    SELECT
        id,
        min(distance) AS distance,
        max(bonus) AS bonus,
        max(valid_from) AS valid_from,
        sum(weight) / (1 + max(length(lexemes)) / 20.0) AS rank
    FROM shared JOIN weighed USING (lexeme)
    GROUP BY id
),
best AS MATERIALIZED (
    SELECT id, max(score) AS score, max(vector) AS vector, max(text) AS text
    FROM (
        (
            SELECT id, 1 - distance + bonus AS score, 1 - distance AS vector, 0 AS text
            FROM live
            ORDER BY distance - bonus
            LIMIT greatest(:limit, 10)
        )
        UNION ALL
        SELECT id, 1 - distance + bonus + 0.03 * rank, 1 - distance, rank
        FROM matching
    ) AS scored
    GROUP BY id
    ORDER BY score DESC, vector DESC
    LIMIT greatest(:limit, 10)
),
outranked AS (
    SELECT
        CAST(judgment ->> 'memory_id' AS uuid) AS id,
        min(best.score) AS score
    FROM best
    JOIN reviews AS review
        ON review.agent_id = :agent
        AND review.memory_id = best.id
        AND review.status = 'pending'
    CROSS JOIN jsonb_array_elements(review.judgments) AS judgment
    WHERE review.relation IN ('UPDATE', 'CONTRADICTION', 'RETRACTION') AND review.source NOT IN
        ('constraint', 'trust')
    GROUP BY 1
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, (SELECT name FROM encoder)
    AS encoder,
    EXISTS (SELECT FROM reviews r WHERE r.agent_id = :agent AND r.status = 'pending')
    AS has_waiting, hit.*
FROM moment
LEFT JOIN (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(
                    2000 + octet_length(CAST(
                        json_build_array(page.entity, page.category, page.key, page.content,
                            page.value, page.details, page.dated_by, page.tags, page.entities,
                            page.sources, page.source, page.session_id, page.project,
                            page.stale_because)
                        AS text))
                ) OVER (
                    ORDER BY
                        band,
                        is_outranked,
                        is_alike DESC,
                        CASE WHEN is_alike THEN created_at END DESC,
                        score DESC NULLS LAST,
                        valid_from DESC,
                        id DESC
                        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT *
            FROM (
                SELECT *,
                    exp(11.0 * score) / (
                        SELECT exp(4.5) + sum(exp(11.0 * competing.score))
                        FROM (SELECT score FROM best ORDER BY score DESC LIMIT 10) AS competing
                    )
                    AS chance FROM (
                        SELECT *, coalesce(
                            vector_score >= first_value(vector_score) OVER (
                                PARTITION BY band ORDER BY is_outranked, score DESC, vector_score
                                    DESC
                            ) - 0.045,
                            true
                        ) AS is_alike
                        FROM (
                            SELECT *, floor(
                                (max(score) OVER () - score)
                                / greatest(0.07 * max(score) OVER (), 1e-9)
                            ) AS band
                            FROM (
                                SELECT
                                    least(best.score, outranked.score) AS score, outranked.id IS
                                        NOT NULL AS is_outranked,
                                    best.vector AS vector_score,
                                    best.text AS text_score,
                                    m.id, m.created_at, m.revision, m.erased_at,
                                    m.derived_entity, m.derived_key, m.derived_value,
                                    m.content, m.kind, m.entity, m.category, m.key, m.value,
                                        m.single_valued, m.details, m.importance, m.confidence,
                                        m.tags, m.entities, m.sources, m.source, m.session_id,
                                        m.project, m.trust, m.lifespan, m.said_at, m.said_in,
                                        m.dated_by, m.merged_from,
                                    b.chain_id, b.valid_from, b.asserted_at, b.said_until,
                                        b.retracted_at, b.void, b.ended_by, b.contradicted_by,
                                        b.merged, b.temporary, b.tier, b.covered, b.valid_until,
                                        b.superseded_by, b.superseded_at, b.known_from,
                                    (
                                        SELECT u.access_count FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            u.last_reinforced_at <= (SELECT known_at FROM moment)
                                    ) AS access_count, (
                                        SELECT u.last_reinforced_at FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            u.last_reinforced_at <= (SELECT known_at FROM moment)
                                    ) AS last_reinforced_at, (
                                        SELECT u.use_count FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            (
                                                CAST(:used_by AS timestamptz) IS NULL
                                                OR u.last_accessed_at <= CAST(:used_by AS
                                                    timestamptz)
                                            )
                                    ) AS use_count, (
                                        SELECT u.last_accessed_at FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            (
                                                CAST(:used_by AS timestamptz) IS NULL
                                                OR u.last_accessed_at <= CAST(:used_by AS
                                                    timestamptz)
                                            )
                                    ) AS last_accessed_at,
                                    (
                                        SELECT o.id FROM (
                                            SELECT y.id, y.valid_from FROM memories y
                                            WHERE y.agent_id = :agent
                                                AND y.superseded_by = m.id
                                                AND y.known_from <= (SELECT known_at FROM moment)
                                            UNION ALL
                                            SELECT y.memory_id, y.valid_from FROM memory_beliefs y
                                            WHERE y.agent_id = :agent
                                                AND y.superseded_by = m.id
                                                AND y.known_from <= (SELECT known_at FROM moment)
                                                AND y.known_until > (SELECT known_at FROM moment)
                                        ) AS o
                                        ORDER BY o.valid_from DESC, o.id DESC
                                        LIMIT 1
                                    )
                                    AS supersedes_id,
                                    (
                                        CASE WHEN
                                        (SELECT EXISTS (SELECT FROM memory_relationships WHERE
                                            agent_id = :agent AND type IN ('merged_into',
                                            'expands', 'sequential', 'causes', 'enables',
                                            'references')))
                                        AND m.erased_at IS NULL AND
                                        b.valid_from <= (SELECT as_of FROM moment)
                                        AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of
                                            FROM moment))
                                        AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM
                                            moment), b.covered) % 2 = 0)
                                        THEN (
                                            SELECT
                                                jsonb_agg(
                                                    DISTINCT to_jsonb(e) ||
                                                        jsonb_build_object('type', tie.type,
                                                        'as_of', (SELECT as_of FROM moment))
                                                )
                                            FROM (
                                                SELECT source_id AS memory_id, target_id AS
                                                    other_id, type, created_at
                                                FROM memory_relationships
                                                WHERE agent_id = :agent AND type IN ('merged_into',
                                                    'expands', 'sequential', 'causes', 'enables',
                                                    'references')
                                                UNION ALL
                                                SELECT target_id, source_id, type, created_at
                                                FROM memory_relationships
                                                WHERE agent_id = :agent AND type IN ('merged_into',
                                                    'expands', 'sequential', 'causes', 'enables',
                                                    'references')
                                            ) AS tie
                                            CROSS JOIN LATERAL (
                                                SELECT
                                                    o.id,
                                                    CASE WHEN o.erased_at <= (SELECT known_at FROM
                                                        moment) THEN o.erased_at END AS erased_at,
                                                    b.*
                                                FROM
                                                    memories o
                                                JOIN LATERAL (
                                                    SELECT o.chain_id, o.valid_from, o.asserted_at,
                                                        o.said_until, o.retracted_at, o.void,
                                                        o.ended_by, o.contradicted_by, o.merged,
                                                        o.temporary, o.tier, o.covered,
                                                        o.valid_until, o.superseded_by,
                                                        o.superseded_at, o.known_from
                                                    WHERE o.known_from <= (SELECT known_at FROM
                                                        moment)
                                                    UNION ALL
                                                    SELECT x.chain_id, x.valid_from, x.asserted_at,
                                                        x.said_until, x.retracted_at, x.void,
                                                        x.ended_by, x.contradicted_by, x.merged,
                                                        x.temporary, x.tier, x.covered,
                                                        x.valid_until, x.superseded_by,
                                                        x.superseded_at, x.known_from
                                                    FROM memory_beliefs x
                                                    WHERE o.known_from > (SELECT known_at FROM
                                                        moment)
                                                        AND x.agent_id = :agent
                                                        AND x.memory_id = o.id
                                                        AND x.known_from <= (SELECT known_at FROM
                                                            moment)
                                                        AND x.known_until > (SELECT known_at FROM
                                                            moment)
                                                ) AS b ON true
                                                WHERE o.agent_id = :agent AND o.id = tie.other_id
                                            ) AS e
                                            WHERE tie.created_at <= (SELECT known_at FROM moment)
                                                AND (
                                                    e.erased_at > tie.created_at
                                                    OR (
                                                        (e.void OR coalesce(e.valid_until <=
                                                            (SELECT as_of FROM moment), false))
                                                        AND (
                                                            (NOT e.void AND e.valid_until >
                                                                tie.created_at)
                                                            OR EXISTS (
                                                                SELECT FROM memory_beliefs x
                                                                WHERE x.agent_id = :agent
                                                                    AND x.memory_id = e.id
                                                                    AND x.known_until >
                                                                        tie.created_at
                                                                    AND x.known_until <=
                                                                        e.known_from
                                                                    AND NOT x.void
                                                                    AND (e.void OR x.valid_until IS
                                                                        NULL OR x.valid_until >
                                                                        tie.created_at)
                                                            )
                                                        )
                                                    )
                                                )
                                                AND (e.void OR e.superseded_by IS DISTINCT FROM
                                                    tie.memory_id)
                                                AND tie.memory_id = m.id
                                        ) END
                                    )
                                    AS stale_because
                                FROM best
                                JOIN
                                    memories m
                                JOIN LATERAL (
                                    SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
                                        m.retracted_at, m.void, m.ended_by, m.contradicted_by,
                                        m.merged, m.temporary, m.tier, m.covered, m.valid_until,
                                        m.superseded_by, m.superseded_at, m.known_from
                                    WHERE m.known_from <= (SELECT known_at FROM moment)
                                    UNION ALL
                                    SELECT x.chain_id, x.valid_from, x.asserted_at, x.said_until,
                                        x.retracted_at, x.void, x.ended_by, x.contradicted_by,
                                        x.merged, x.temporary, x.tier, x.covered, x.valid_until,
                                        x.superseded_by, x.superseded_at, x.known_from
                                    FROM memory_beliefs x
                                    WHERE m.known_from > (SELECT known_at FROM moment)
                                        AND x.agent_id = :agent
                                        AND x.memory_id = m.id
                                        AND x.known_from <= (SELECT known_at FROM moment)
                                        AND x.known_until > (SELECT known_at FROM moment)
                                ) AS b ON true
                                    ON m.agent_id = :agent AND m.id = best.id
                                LEFT JOIN outranked ON outranked.id = best.id
                            ) AS scored
                        ) AS banded
                    ) AS ranked
            ) AS weighed
            WHERE chance >= :min_score
            ORDER BY
                band,
                is_outranked,
                is_alike DESC,
                CASE WHEN is_alike THEN created_at END DESC,
                score DESC NULLS LAST,
                valid_from DESC,
                id DESC
            LIMIT :limit
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
) AS hit ON true
ORDER BY
    band,
    is_outranked,
    is_alike DESC,
    CASE WHEN is_alike THEN created_at END DESC,
    score DESC NULLS LAST,
    valid_from DESC,
    id DESC;


-- ===== GET /v1/search =====
-- app/store/search.py search_memories: as for POST /v1/memories (a first fact)
-- app/store/search.py search_memories: as for POST /v1/search (hybrid)


-- ===== GET /v1/search (of a year) =====
-- app/store/agents.py read_clock_and_zone: as for POST /v1/memories (a first fact)

-- GET /v1/search (of a year)
-- app/store/agents.py read_clock_and_zone
SELECT clock_timestamp() AS clock,
    (SELECT timezone FROM agents WHERE agent_id = :agent) AS timezone;

-- GET /v1/search (of a year)
-- app/store/search.py search_memories
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
query_words AS MATERIALIZED (
    SELECT CAST(
        replace(
            CAST(
                plainto_tsquery(
                    CAST(:language AS regconfig), pair_characters(:query, false)
                ) AS text
            ),
            ' & ',
            ' | '
        ) AS tsquery
    ) AS words
),
live AS MATERIALIZED (
    SELECT
        m.id, (m.embedding <=> :vector) + 0 AS distance, CASE WHEN m.lexemes @@ (SELECT words FROM
            query_words) THEN m.lexemes END AS lexemes, b.valid_from,
        CASE
        WHEN NOT (
            NOT b.void
            AND b.valid_from < coalesce(CAST(:window_end AS timestamptz), 'infinity')
            AND coalesce(b.valid_until, 'infinity')
            > coalesce(CAST(:window_start AS timestamptz), '-infinity')
        ) THEN 0
        WHEN b.valid_from >= coalesce(CAST(:window_start AS timestamptz), '-infinity')
        OR b.valid_until <= coalesce(CAST(:window_end AS timestamptz), 'infinity')
        THEN 0.14
        ELSE 0.06
        END
        AS bonus
    FROM
        memories m
    CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
        m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
        m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
    WHERE m.agent_id = :agent AND (
        b.valid_from <= (SELECT as_of FROM moment)
        AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
        AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 = 0)
        OR (
            NOT b.void
            AND b.valid_from < coalesce(CAST(:window_end AS timestamptz), 'infinity')
            AND coalesce(b.valid_until, 'infinity')
            > coalesce(CAST(:window_start AS timestamptz), '-infinity')
    )) AND m.erased_at IS NULL AND (SELECT name FROM encoder) = :encoder
),
word AS MATERIALIZED (
    SELECT lexeme, CAST(quote_lexeme(lexeme) AS tsquery) AS query
    FROM unnest(
        tsvector_to_array(
            to_tsvector(CAST(:language AS regconfig), pair_characters(:query, false))
        )
    ) AS lexeme
),
shared AS MATERIALIZED (
    SELECT live.*, word.lexeme FROM word JOIN live ON live.lexemes @@ word.query
),
weighed AS MATERIALIZED (
    SELECT lexeme, CAST(ln(1 + (texts - frequency + 0.5) / (frequency + 0.5)) AS float8) AS weight
    FROM (SELECT lexeme, count(*) AS frequency FROM shared GROUP BY lexeme) AS counted,
        (SELECT count(*) AS texts FROM live) AS all_texts
),
matching AS MATERIALIZED (
    SELECT
        id,
        min(distance) AS distance,
        max(bonus) AS bonus,
        max(valid_from) AS valid_from,
        sum(weight) / (1 + max(length(lexemes)) / 20.0) AS rank
    FROM shared JOIN weighed USING (lexeme)
    GROUP BY id
),
best AS MATERIALIZED (
    SELECT id, max(score) AS score, max(vector) AS vector, max(text) AS text
    FROM (
        (
            SELECT id, 1 - distance + bonus AS score, 1 - distance AS vector, 0 AS text
            FROM live
            ORDER BY distance - bonus
            LIMIT greatest(:limit, 10)
        )
        UNION ALL
        SELECT id, 1 - distance + bonus + 0.03 * rank, 1 - distance, rank
        FROM matching
    ) AS scored
    GROUP BY id
    ORDER BY score DESC, vector DESC
    LIMIT greatest(:limit, 10)
),
outranked AS (
    SELECT
        CAST(judgment ->> 'memory_id' AS uuid) AS id,
        min(best.score) AS score
    FROM best
    JOIN reviews AS review
        ON review.agent_id = :agent
        AND review.memory_id = best.id
        AND review.status = 'pending'
    CROSS JOIN jsonb_array_elements(review.judgments) AS judgment
    WHERE review.relation IN ('UPDATE', 'CONTRADICTION', 'RETRACTION') AND review.source NOT IN
        ('constraint', 'trust')
    GROUP BY 1
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, (SELECT name FROM encoder)
    AS encoder,
    EXISTS (SELECT FROM reviews r WHERE r.agent_id = :agent AND r.status = 'pending')
    AS has_waiting, hit.*
FROM moment
LEFT JOIN (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(
                    2000 + octet_length(CAST(
                        json_build_array(page.entity, page.category, page.key, page.content,
                            page.value, page.details, page.dated_by, page.tags, page.entities,
                            page.sources, page.source, page.session_id, page.project,
                            page.stale_because)
                        AS text))
                ) OVER (
                    ORDER BY
                        band,
                        is_outranked,
                        is_alike DESC,
                        CASE WHEN is_alike THEN created_at END DESC,
                        score DESC NULLS LAST,
                        valid_from DESC,
                        id DESC
                        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT *
            FROM (
                SELECT *,
                    exp(11.0 * score) / (
                        SELECT exp(4.5) + sum(exp(11.0 * competing.score))
                        FROM (SELECT score FROM best ORDER BY score DESC LIMIT 10) AS competing
                    )
                    AS chance FROM (
                        SELECT *, coalesce(
                            vector_score >= first_value(vector_score) OVER (
                                PARTITION BY band ORDER BY is_outranked, score DESC, vector_score
                                    DESC
                            ) - 0.045,
                            true
                        ) AS is_alike
                        FROM (
                            SELECT *, floor(
                                (max(score) OVER () - score)
                                / greatest(0.07 * max(score) OVER (), 1e-9)
                            ) AS band
                            FROM (
                                SELECT
                                    least(best.score, outranked.score) AS score, outranked.id IS
                                        NOT NULL AS is_outranked,
                                    best.vector AS vector_score,
                                    best.text AS text_score,
                                    m.id, m.created_at, m.revision, m.erased_at,
                                    m.derived_entity, m.derived_key, m.derived_value,
                                    m.content, m.kind, m.entity, m.category, m.key, m.value,
                                        m.single_valued, m.details, m.importance, m.confidence,
                                        m.tags, m.entities, m.sources, m.source, m.session_id,
                                        m.project, m.trust, m.lifespan, m.said_at, m.said_in,
                                        m.dated_by, m.merged_from,
                                    b.chain_id, b.valid_from, b.asserted_at, b.said_until,
                                        b.retracted_at, b.void, b.ended_by, b.contradicted_by,
                                        b.merged, b.temporary, b.tier, b.covered, b.valid_until,
                                        b.superseded_by, b.superseded_at, b.known_from,
                                    (
                                        SELECT u.access_count FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            u.last_reinforced_at <= (SELECT known_at FROM moment)
                                    ) AS access_count, (
                                        SELECT u.last_reinforced_at FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            u.last_reinforced_at <= (SELECT known_at FROM moment)
                                    ) AS last_reinforced_at, (
                                        SELECT u.use_count FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            (
                                                CAST(:used_by AS timestamptz) IS NULL
                                                OR u.last_accessed_at <= CAST(:used_by AS
                                                    timestamptz)
                                            )
                                    ) AS use_count, (
                                        SELECT u.last_accessed_at FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            (
                                                CAST(:used_by AS timestamptz) IS NULL
                                                OR u.last_accessed_at <= CAST(:used_by AS
                                                    timestamptz)
                                            )
                                    ) AS last_accessed_at,
                                    (
                                        SELECT o.id FROM memories o
                                        WHERE o.agent_id = :agent AND o.superseded_by = m.id
                                        ORDER BY o.valid_from DESC, o.id DESC
                                        LIMIT 1
                                    )
                                    AS supersedes_id,
                                    (
                                        CASE WHEN
                                        (SELECT EXISTS (SELECT FROM memory_relationships WHERE
                                            agent_id = :agent AND type IN ('merged_into',
                                            'expands', 'sequential', 'causes', 'enables',
                                            'references')))
                                        AND m.erased_at IS NULL AND
                                        b.valid_from <= (SELECT as_of FROM moment)
                                        AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of
                                            FROM moment))
                                        AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM
                                            moment), b.covered) % 2 = 0)
                                        THEN (
                                            SELECT
                                                jsonb_agg(
                                                    DISTINCT to_jsonb(e) ||
                                                        jsonb_build_object('type', tie.type,
                                                        'as_of', (SELECT as_of FROM moment))
                                                )
                                            FROM (
                                                SELECT source_id AS memory_id, target_id AS
                                                    other_id, type, created_at
                                                FROM memory_relationships
                                                WHERE agent_id = :agent AND type IN ('merged_into',
                                                    'expands', 'sequential', 'causes', 'enables',
                                                    'references')
                                                UNION ALL
                                                SELECT target_id, source_id, type, created_at
                                                FROM memory_relationships
                                                WHERE agent_id = :agent AND type IN ('merged_into',
                                                    'expands', 'sequential', 'causes', 'enables',
                                                    'references')
                                            ) AS tie
                                            CROSS JOIN LATERAL (
                                                SELECT
                                                    o.id,
                                                    CASE WHEN o.erased_at <= (SELECT known_at FROM
                                                        moment) THEN o.erased_at END AS erased_at,
                                                    b.*
                                                FROM
                                                    memories o
                                                CROSS JOIN LATERAL (SELECT o.chain_id,
                                                    o.valid_from, o.asserted_at, o.said_until,
                                                    o.retracted_at, o.void, o.ended_by,
                                                    o.contradicted_by, o.merged, o.temporary,
                                                    o.tier, o.covered, o.valid_until,
                                                    o.superseded_by, o.superseded_at, o.known_from)
                                                    AS b
                                                WHERE o.agent_id = :agent AND o.id = tie.other_id
                                            ) AS e
                                            WHERE tie.created_at <= (SELECT known_at FROM moment)
                                                AND (
                                                    e.erased_at > tie.created_at
                                                    OR (
                                                        (e.void OR coalesce(e.valid_until <=
                                                            (SELECT as_of FROM moment), false))
                                                        AND (
                                                            (NOT e.void AND e.valid_until >
                                                                tie.created_at)
                                                            OR EXISTS (
                                                                SELECT FROM memory_beliefs x
                                                                WHERE x.agent_id = :agent
                                                                    AND x.memory_id = e.id
                                                                    AND x.known_until >
                                                                        tie.created_at
                                                                    AND x.known_until <=
                                                                        e.known_from
                                                                    AND NOT x.void
                                                                    AND (e.void OR x.valid_until IS
                                                                        NULL OR x.valid_until >
                                                                        tie.created_at)
                                                            )
                                                        )
                                                    )
                                                )
                                                AND (e.void OR e.superseded_by IS DISTINCT FROM
                                                    tie.memory_id)
                                                AND tie.memory_id = m.id
                                        ) END
                                    )
                                    AS stale_because
                                FROM best
                                JOIN
                                    memories m
                                CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at,
                                    m.said_until, m.retracted_at, m.void, m.ended_by,
                                    m.contradicted_by, m.merged, m.temporary, m.tier, m.covered,
                                    m.valid_until, m.superseded_by, m.superseded_at, m.known_from)
                                    AS b
                                    ON m.agent_id = :agent AND m.id = best.id
                                LEFT JOIN outranked ON outranked.id = best.id
                            ) AS scored
                        ) AS banded
                    ) AS ranked
            ) AS weighed
            WHERE chance >= :min_score
            ORDER BY
                band,
                is_outranked,
                is_alike DESC,
                CASE WHEN is_alike THEN created_at END DESC,
                score DESC NULLS LAST,
                valid_from DESC,
                id DESC
            LIMIT :limit
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
) AS hit ON true
ORDER BY
    band,
    is_outranked,
    is_alike DESC,
    CASE WHEN is_alike THEN created_at END DESC,
    score DESC NULLS LAST,
    valid_from DESC,
    id DESC;


-- ===== GET /v1/memories =====
-- app/store/memories.py list_memories: as for POST /v1/memories (a first fact)

-- GET /v1/memories
-- app/store/memories.py list_memories
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, page.*
FROM moment LEFT JOIN (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(
                    2000 + octet_length(CAST(
                        json_build_array(page.entity, page.category, page.key, page.content,
                            page.value, page.details, page.dated_by, page.tags, page.entities,
                            page.sources, page.source, page.session_id, page.project,
                            page.stale_because)
                        AS text))
                ) OVER (
                    ORDER BY created_at DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1
                        PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT
                m.id, m.created_at, m.revision, m.erased_at,
                m.derived_entity, m.derived_key, m.derived_value,
                m.content, m.kind, m.entity, m.category, m.key, m.value, m.single_valued,
                    m.details, m.importance, m.confidence, m.tags, m.entities, m.sources, m.source,
                    m.session_id, m.project, m.trust, m.lifespan, m.said_at, m.said_in, m.dated_by,
                    m.merged_from,
                b.chain_id, b.valid_from, b.asserted_at, b.said_until, b.retracted_at, b.void,
                    b.ended_by, b.contradicted_by, b.merged, b.temporary, b.tier, b.covered,
                    b.valid_until, b.superseded_by, b.superseded_at, b.known_from,
                (
                    SELECT u.access_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS access_count, (
                    SELECT u.last_reinforced_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS last_reinforced_at, (
                    SELECT u.use_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS use_count, (
                    SELECT u.last_accessed_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS last_accessed_at,
                (
                    SELECT o.id FROM memories o
                    WHERE o.agent_id = :agent AND o.superseded_by = m.id
                    ORDER BY o.valid_from DESC, o.id DESC
                    LIMIT 1
                )
                AS supersedes_id,
                (
                    CASE WHEN
                    (SELECT EXISTS (SELECT FROM memory_relationships WHERE agent_id = :agent AND
                        type IN ('merged_into', 'expands', 'sequential', 'causes', 'enables',
                        'references')))
                    AND m.erased_at IS NULL AND
                    b.valid_from <= (SELECT as_of FROM moment)
                    AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                    AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) %
                        2 = 0)
                    THEN (
                        SELECT
                            jsonb_agg(
                                DISTINCT to_jsonb(e) || jsonb_build_object('type', tie.type,
                                    'as_of', (SELECT as_of FROM moment))
                            )
                        FROM (
                            SELECT source_id AS memory_id, target_id AS other_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                            UNION ALL
                            SELECT target_id, source_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                        ) AS tie
                        CROSS JOIN LATERAL (
                            SELECT
                                o.id,
                                CASE WHEN o.erased_at <= (SELECT known_at FROM moment) THEN
                                    o.erased_at END AS erased_at,
                                b.*
                            FROM
                                memories o
                            CROSS JOIN LATERAL (SELECT o.chain_id, o.valid_from, o.asserted_at,
                                o.said_until, o.retracted_at, o.void, o.ended_by,
                                o.contradicted_by, o.merged, o.temporary, o.tier, o.covered,
                                o.valid_until, o.superseded_by, o.superseded_at, o.known_from) AS b
                            WHERE o.agent_id = :agent AND o.id = tie.other_id
                        ) AS e
                        WHERE tie.created_at <= (SELECT known_at FROM moment)
                            AND (
                                e.erased_at > tie.created_at
                                OR (
                                    (e.void OR coalesce(e.valid_until <= (SELECT as_of FROM
                                        moment), false))
                                    AND (
                                        (NOT e.void AND e.valid_until > tie.created_at)
                                        OR EXISTS (
                                            SELECT FROM memory_beliefs x
                                            WHERE x.agent_id = :agent
                                                AND x.memory_id = e.id
                                                AND x.known_until > tie.created_at
                                                AND x.known_until <= e.known_from
                                                AND NOT x.void
                                                AND (e.void OR x.valid_until IS NULL OR
                                                    x.valid_until > tie.created_at)
                                        )
                                    )
                                )
                            )
                            AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
                            AND tie.memory_id = m.id
                    ) END
                )
                AS stale_because
            FROM
                memories m
            CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
                m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary,
                m.tier, m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from)
                AS b
            WHERE m.agent_id = :agent AND
                b.valid_from <= (SELECT as_of FROM moment)
                AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 =
                    0)
                AND NOT m.cold AND m.erased_at IS NULL
            ORDER BY created_at DESC, id DESC LIMIT :limit
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
) AS page ON true
ORDER BY created_at DESC, id DESC;


-- ===== GET /v1/memories (narrowed) =====
-- app/store/memories.py list_memories: as for POST /v1/memories (a first fact)

-- GET /v1/memories (narrowed)
-- app/store/memories.py list_memories
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, page.*
FROM moment LEFT JOIN (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(
                    2000 + octet_length(CAST(
                        json_build_array(page.entity, page.category, page.key, page.content,
                            page.value, page.details, page.dated_by, page.tags, page.entities,
                            page.sources, page.source, page.session_id, page.project,
                            page.stale_because)
                        AS text))
                ) OVER (
                    ORDER BY created_at DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1
                        PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT
                m.id, m.created_at, m.revision, m.erased_at,
                m.derived_entity, m.derived_key, m.derived_value,
                m.content, m.kind, m.entity, m.category, m.key, m.value, m.single_valued,
                    m.details, m.importance, m.confidence, m.tags, m.entities, m.sources, m.source,
                    m.session_id, m.project, m.trust, m.lifespan, m.said_at, m.said_in, m.dated_by,
                    m.merged_from,
                b.chain_id, b.valid_from, b.asserted_at, b.said_until, b.retracted_at, b.void,
                    b.ended_by, b.contradicted_by, b.merged, b.temporary, b.tier, b.covered,
                    b.valid_until, b.superseded_by, b.superseded_at, b.known_from,
                (
                    SELECT u.access_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS access_count, (
                    SELECT u.last_reinforced_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS last_reinforced_at, (
                    SELECT u.use_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS use_count, (
                    SELECT u.last_accessed_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS last_accessed_at,
                (
                    SELECT o.id FROM memories o
                    WHERE o.agent_id = :agent AND o.superseded_by = m.id
                    ORDER BY o.valid_from DESC, o.id DESC
                    LIMIT 1
                )
                AS supersedes_id,
                (
                    CASE WHEN
                    (SELECT EXISTS (SELECT FROM memory_relationships WHERE agent_id = :agent AND
                        type IN ('merged_into', 'expands', 'sequential', 'causes', 'enables',
                        'references')))
                    AND m.erased_at IS NULL AND
                    b.valid_from <= (SELECT as_of FROM moment)
                    AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                    AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) %
                        2 = 0)
                    THEN (
                        SELECT
                            jsonb_agg(
                                DISTINCT to_jsonb(e) || jsonb_build_object('type', tie.type,
                                    'as_of', (SELECT as_of FROM moment))
                            )
                        FROM (
                            SELECT source_id AS memory_id, target_id AS other_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                            UNION ALL
                            SELECT target_id, source_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                        ) AS tie
                        CROSS JOIN LATERAL (
                            SELECT
                                o.id,
                                CASE WHEN o.erased_at <= (SELECT known_at FROM moment) THEN
                                    o.erased_at END AS erased_at,
                                b.*
                            FROM
                                memories o
                            CROSS JOIN LATERAL (SELECT o.chain_id, o.valid_from, o.asserted_at,
                                o.said_until, o.retracted_at, o.void, o.ended_by,
                                o.contradicted_by, o.merged, o.temporary, o.tier, o.covered,
                                o.valid_until, o.superseded_by, o.superseded_at, o.known_from) AS b
                            WHERE o.agent_id = :agent AND o.id = tie.other_id
                        ) AS e
                        WHERE tie.created_at <= (SELECT known_at FROM moment)
                            AND (
                                e.erased_at > tie.created_at
                                OR (
                                    (e.void OR coalesce(e.valid_until <= (SELECT as_of FROM
                                        moment), false))
                                    AND (
                                        (NOT e.void AND e.valid_until > tie.created_at)
                                        OR EXISTS (
                                            SELECT FROM memory_beliefs x
                                            WHERE x.agent_id = :agent
                                                AND x.memory_id = e.id
                                                AND x.known_until > tie.created_at
                                                AND x.known_until <= e.known_from
                                                AND NOT x.void
                                                AND (e.void OR x.valid_until IS NULL OR
                                                    x.valid_until > tie.created_at)
                                        )
                                    )
                                )
                            )
                            AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
                            AND tie.memory_id = m.id
                    ) END
                )
                AS stale_because
            FROM
                memories m
            CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
                m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary,
                m.tier, m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from)
                AS b
            WHERE m.agent_id = :agent AND
                b.valid_from <= (SELECT as_of FROM moment)
                AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 =
                    0)
                AND NOT m.cold AND m.erased_at IS NULL AND NOT
                (
                    m.erased_at IS NULL
                    AND
                    b.valid_from <= (SELECT as_of FROM moment)
                    AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                    AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) %
                        2 = 0)
                    AND m.id = ANY(ARRAY(
                        SELECT tie.memory_id
                        FROM (
                            SELECT source_id AS memory_id, target_id AS other_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                            UNION ALL
                            SELECT target_id, source_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                        ) AS tie
                        CROSS JOIN LATERAL (
                            SELECT
                                o.id,
                                CASE WHEN o.erased_at <= (SELECT known_at FROM moment) THEN
                                    o.erased_at END AS erased_at,
                                b.*
                            FROM
                                memories o
                            CROSS JOIN LATERAL (SELECT o.chain_id, o.valid_from, o.asserted_at,
                                o.said_until, o.retracted_at, o.void, o.ended_by,
                                o.contradicted_by, o.merged, o.temporary, o.tier, o.covered,
                                o.valid_until, o.superseded_by, o.superseded_at, o.known_from) AS b
                            WHERE o.agent_id = :agent AND o.id = tie.other_id
                        ) AS e
                        WHERE tie.created_at <= (SELECT known_at FROM moment)
                            AND (
                                e.erased_at > tie.created_at
                                OR (
                                    (e.void OR coalesce(e.valid_until <= (SELECT as_of FROM
                                        moment), false))
                                    AND (
                                        (NOT e.void AND e.valid_until > tie.created_at)
                                        OR EXISTS (
                                            SELECT FROM memory_beliefs x
                                            WHERE x.agent_id = :agent
                                                AND x.memory_id = e.id
                                                AND x.known_until > tie.created_at
                                                AND x.known_until <= e.known_from
                                                AND NOT x.void
                                                AND (e.void OR x.valid_until IS NULL OR
                                                    x.valid_until > tie.created_at)
                                        )
                                    )
                                )
                            )
                            AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
                    ))
                )
                AND m.slot_category = :category AND m.tags && CAST(:tags_any AS text[]) AND m.kind
                    = :kind
            ORDER BY created_at DESC, id DESC LIMIT :limit
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
) AS page ON true
ORDER BY created_at DESC, id DESC;


-- ===== GET /v1/memories (in the past) =====
-- app/store/memories.py list_memories: as for POST /v1/memories (a first fact)
-- app/store/memories.py list_memories: as for POST /v1/search (hybrid, in the past)

-- GET /v1/memories (in the past)
-- app/store/memories.py list_memories
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, page.*
FROM moment LEFT JOIN (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(
                    2000 + octet_length(CAST(
                        json_build_array(page.entity, page.category, page.key, page.content,
                            page.value, page.details, page.dated_by, page.tags, page.entities,
                            page.sources, page.source, page.session_id, page.project,
                            page.stale_because)
                        AS text))
                ) OVER (
                    ORDER BY created_at DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1
                        PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT
                m.id, m.created_at, m.revision, m.erased_at,
                m.derived_entity, m.derived_key, m.derived_value,
                m.content, m.kind, m.entity, m.category, m.key, m.value, m.single_valued,
                    m.details, m.importance, m.confidence, m.tags, m.entities, m.sources, m.source,
                    m.session_id, m.project, m.trust, m.lifespan, m.said_at, m.said_in, m.dated_by,
                    m.merged_from,
                b.chain_id, b.valid_from, b.asserted_at, b.said_until, b.retracted_at, b.void,
                    b.ended_by, b.contradicted_by, b.merged, b.temporary, b.tier, b.covered,
                    b.valid_until, b.superseded_by, b.superseded_at, b.known_from,
                (
                    SELECT u.access_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS access_count, (
                    SELECT u.last_reinforced_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS last_reinforced_at, (
                    SELECT u.use_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS use_count, (
                    SELECT u.last_accessed_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS last_accessed_at,
                (
                    SELECT o.id FROM (
                        SELECT y.id, y.valid_from FROM memories y
                        WHERE y.agent_id = :agent
                            AND y.superseded_by = m.id
                            AND y.known_from <= (SELECT known_at FROM moment)
                        UNION ALL
                        SELECT y.memory_id, y.valid_from FROM memory_beliefs y
                        WHERE y.agent_id = :agent
                            AND y.superseded_by = m.id
                            AND y.known_from <= (SELECT known_at FROM moment)
                            AND y.known_until > (SELECT known_at FROM moment)
                    ) AS o
                    ORDER BY o.valid_from DESC, o.id DESC
                    LIMIT 1
                )
                AS supersedes_id,
                (
                    CASE WHEN
                    (SELECT EXISTS (SELECT FROM memory_relationships WHERE agent_id = :agent AND
                        type IN ('merged_into', 'expands', 'sequential', 'causes', 'enables',
                        'references')))
                    AND m.erased_at IS NULL AND
                    b.valid_from <= (SELECT as_of FROM moment)
                    AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                    AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) %
                        2 = 0)
                    THEN (
                        SELECT
                            jsonb_agg(
                                DISTINCT to_jsonb(e) || jsonb_build_object('type', tie.type,
                                    'as_of', (SELECT as_of FROM moment))
                            )
                        FROM (
                            SELECT source_id AS memory_id, target_id AS other_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                            UNION ALL
                            SELECT target_id, source_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                        ) AS tie
                        CROSS JOIN LATERAL (
                            SELECT
                                o.id,
                                CASE WHEN o.erased_at <= (SELECT known_at FROM moment) THEN
                                    o.erased_at END AS erased_at,
                                b.*
                            FROM
                                memories o
                            JOIN LATERAL (
                                SELECT o.chain_id, o.valid_from, o.asserted_at, o.said_until,
                                    o.retracted_at, o.void, o.ended_by, o.contradicted_by,
                                    o.merged, o.temporary, o.tier, o.covered, o.valid_until,
                                    o.superseded_by, o.superseded_at, o.known_from
                                WHERE o.known_from <= (SELECT known_at FROM moment)
                                UNION ALL
                                SELECT x.chain_id, x.valid_from, x.asserted_at, x.said_until,
                                    x.retracted_at, x.void, x.ended_by, x.contradicted_by,
                                    x.merged, x.temporary, x.tier, x.covered, x.valid_until,
                                    x.superseded_by, x.superseded_at, x.known_from
                                FROM memory_beliefs x
                                WHERE o.known_from > (SELECT known_at FROM moment)
                                    AND x.agent_id = :agent
                                    AND x.memory_id = o.id
                                    AND x.known_from <= (SELECT known_at FROM moment)
                                    AND x.known_until > (SELECT known_at FROM moment)
                            ) AS b ON true
                            WHERE o.agent_id = :agent AND o.id = tie.other_id
                        ) AS e
                        WHERE tie.created_at <= (SELECT known_at FROM moment)
                            AND (
                                e.erased_at > tie.created_at
                                OR (
                                    (e.void OR coalesce(e.valid_until <= (SELECT as_of FROM
                                        moment), false))
                                    AND (
                                        (NOT e.void AND e.valid_until > tie.created_at)
                                        OR EXISTS (
                                            SELECT FROM memory_beliefs x
                                            WHERE x.agent_id = :agent
                                                AND x.memory_id = e.id
                                                AND x.known_until > tie.created_at
                                                AND x.known_until <= e.known_from
                                                AND NOT x.void
                                                AND (e.void OR x.valid_until IS NULL OR
                                                    x.valid_until > tie.created_at)
                                        )
                                    )
                                )
                            )
                            AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
                            AND tie.memory_id = m.id
                    ) END
                )
                AS stale_because
            FROM
                memories m
            JOIN LATERAL (
                SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until, m.retracted_at,
                    m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
                    m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from
                WHERE m.known_from <= (SELECT known_at FROM moment)
                UNION ALL
                SELECT x.chain_id, x.valid_from, x.asserted_at, x.said_until, x.retracted_at,
                    x.void, x.ended_by, x.contradicted_by, x.merged, x.temporary, x.tier,
                    x.covered, x.valid_until, x.superseded_by, x.superseded_at, x.known_from
                FROM memory_beliefs x
                WHERE m.known_from > (SELECT known_at FROM moment)
                    AND x.agent_id = :agent
                    AND x.memory_id = m.id
                    AND x.known_from <= (SELECT known_at FROM moment)
                    AND x.known_until > (SELECT known_at FROM moment)
            ) AS b ON true
            WHERE m.agent_id = :agent AND
                b.valid_from <= (SELECT as_of FROM moment)
                AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 =
                    0)
                AND m.created_at <= (SELECT known_at FROM moment)
            ORDER BY created_at DESC, id DESC LIMIT :limit
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
) AS page ON true
ORDER BY created_at DESC, id DESC;


-- ===== GET /v1/memories (by all that is known since) =====
-- app/store/memories.py list_memories: as for POST /v1/memories (a first fact)

-- GET /v1/memories (by all that is known since)
-- app/store/memories.py list_memories
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, page.*
FROM moment LEFT JOIN (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(
                    2000 + octet_length(CAST(
                        json_build_array(page.entity, page.category, page.key, page.content,
                            page.value, page.details, page.dated_by, page.tags, page.entities,
                            page.sources, page.source, page.session_id, page.project,
                            page.stale_because)
                        AS text))
                ) OVER (
                    ORDER BY created_at DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1
                        PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT
                m.id, m.created_at, m.revision, m.erased_at,
                m.derived_entity, m.derived_key, m.derived_value,
                m.content, m.kind, m.entity, m.category, m.key, m.value, m.single_valued,
                    m.details, m.importance, m.confidence, m.tags, m.entities, m.sources, m.source,
                    m.session_id, m.project, m.trust, m.lifespan, m.said_at, m.said_in, m.dated_by,
                    m.merged_from,
                b.chain_id, b.valid_from, b.asserted_at, b.said_until, b.retracted_at, b.void,
                    b.ended_by, b.contradicted_by, b.merged, b.temporary, b.tier, b.covered,
                    b.valid_until, b.superseded_by, b.superseded_at, b.known_from,
                (
                    SELECT u.access_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS access_count, (
                    SELECT u.last_reinforced_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS last_reinforced_at, (
                    SELECT u.use_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS use_count, (
                    SELECT u.last_accessed_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS last_accessed_at,
                (
                    SELECT o.id FROM memories o
                    WHERE o.agent_id = :agent AND o.superseded_by = m.id
                    ORDER BY o.valid_from DESC, o.id DESC
                    LIMIT 1
                )
                AS supersedes_id,
                (
                    CASE WHEN
                    (SELECT EXISTS (SELECT FROM memory_relationships WHERE agent_id = :agent AND
                        type IN ('merged_into', 'expands', 'sequential', 'causes', 'enables',
                        'references')))
                    AND m.erased_at IS NULL AND
                    b.valid_from <= (SELECT as_of FROM moment)
                    AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                    AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) %
                        2 = 0)
                    THEN (
                        SELECT
                            jsonb_agg(
                                DISTINCT to_jsonb(e) || jsonb_build_object('type', tie.type,
                                    'as_of', (SELECT as_of FROM moment))
                            )
                        FROM (
                            SELECT source_id AS memory_id, target_id AS other_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                            UNION ALL
                            SELECT target_id, source_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                        ) AS tie
                        CROSS JOIN LATERAL (
                            SELECT
                                o.id,
                                CASE WHEN o.erased_at <= (SELECT known_at FROM moment) THEN
                                    o.erased_at END AS erased_at,
                                b.*
                            FROM
                                memories o
                            CROSS JOIN LATERAL (SELECT o.chain_id, o.valid_from, o.asserted_at,
                                o.said_until, o.retracted_at, o.void, o.ended_by,
                                o.contradicted_by, o.merged, o.temporary, o.tier, o.covered,
                                o.valid_until, o.superseded_by, o.superseded_at, o.known_from) AS b
                            WHERE o.agent_id = :agent AND o.id = tie.other_id
                        ) AS e
                        WHERE tie.created_at <= (SELECT known_at FROM moment)
                            AND (
                                e.erased_at > tie.created_at
                                OR (
                                    (e.void OR coalesce(e.valid_until <= (SELECT as_of FROM
                                        moment), false))
                                    AND (
                                        (NOT e.void AND e.valid_until > tie.created_at)
                                        OR EXISTS (
                                            SELECT FROM memory_beliefs x
                                            WHERE x.agent_id = :agent
                                                AND x.memory_id = e.id
                                                AND x.known_until > tie.created_at
                                                AND x.known_until <= e.known_from
                                                AND NOT x.void
                                                AND (e.void OR x.valid_until IS NULL OR
                                                    x.valid_until > tie.created_at)
                                        )
                                    )
                                )
                            )
                            AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
                            AND tie.memory_id = m.id
                    ) END
                )
                AS stale_because
            FROM
                memories m
            CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
                m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary,
                m.tier, m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from)
                AS b
            WHERE m.agent_id = :agent AND m.id = ANY(ARRAY(
                SELECT id FROM (
                    (SELECT m.id, m.created_at FROM
                        memories m
                        CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at,
                            m.said_until, m.retracted_at, m.void, m.ended_by, m.contradicted_by,
                            m.merged, m.temporary, m.tier, m.covered, m.valid_until,
                            m.superseded_by, m.superseded_at, m.known_from) AS b
                        WHERE m.agent_id = :agent AND
                            b.valid_from <= (SELECT as_of FROM moment)
                            AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM
                                moment))
                            AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment),
                                b.covered) % 2 = 0)
                            AND m.created_at <= (SELECT as_of FROM moment) ORDER BY created_at
                                DESC, id DESC LIMIT :limit)
                    UNION ALL
                        (SELECT m.id, m.created_at FROM
                            memories m
                            CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at,
                                m.said_until, m.retracted_at, m.void, m.ended_by,
                                m.contradicted_by, m.merged, m.temporary, m.tier, m.covered,
                                m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
                            WHERE m.agent_id = :agent AND
                                b.valid_from <= (SELECT as_of FROM moment)
                                AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM
                                    moment))
                                AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment),
                                    b.covered) % 2 = 0)
                                AND m.created_at > (SELECT as_of FROM moment) AND m.valid_from <
                                    m.created_at ORDER BY created_at DESC, id DESC LIMIT :limit)
                ) AS chosen
                ORDER BY created_at DESC, id DESC LIMIT :limit
            ))
            ORDER BY created_at DESC, id DESC LIMIT :limit
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
) AS page ON true
ORDER BY created_at DESC, id DESC;


-- ===== GET /v1/memories (by strength) =====
-- app/store/memories.py list_strongest: as for POST /v1/memories (a first fact)

-- GET /v1/memories (by strength)
-- app/store/memories.py list_strongest
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
live AS MATERIALIZED (
    SELECT m.id,
        greatest(
            CASE b.tier WHEN 'core' THEN CAST(0.6 AS float8) END,
            greatest(m.importance, 1e-09) * power(CAST(0.5 AS float8),
                least(greatest(
                    CAST(
                        extract(epoch FROM (SELECT as_of FROM moment) - greatest(m.created_at,
                            b.valid_from, u.last_reinforced_at))
                        - extract(epoch FROM
                            greatest(coalesce(u.last_accessed_at - greatest(m.created_at,
                                b.valid_from, u.last_reinforced_at), interval '0'), interval '0')
                        ) / 2
                        AS float8
                    ) / 86400
                    , 0) / (
                        (
                            CASE b.tier
                            WHEN 'core' THEN CASE m.kind
                            WHEN 'fact' THEN CAST(:half_life_core_fact AS float8)
                            WHEN 'preference' THEN CAST(:half_life_core_preference AS float8)
                            WHEN 'decision' THEN CAST(:half_life_core_decision AS float8)
                            WHEN 'constraint' THEN CAST(:half_life_core_constraint AS float8)
                            END
                            ELSE CASE m.kind
                            WHEN 'fact' THEN CAST(:half_life_semantic_fact AS float8)
                            WHEN 'preference' THEN CAST(:half_life_semantic_preference AS float8)
                            WHEN 'decision' THEN CAST(:half_life_semantic_decision AS float8)
                            WHEN 'constraint' THEN CAST(:half_life_semantic_constraint AS float8)
                            END
                            END
                        ) * (1 + ln(1 + least(
                            coalesce(u.access_count, 0)
                            + coalesce(u.use_count, 0) / CAST(10 AS float8)
                            , 100)))
                    ), 60.0)
            )
        )
        AS strength,
        m.kind IS NOT DISTINCT FROM CAST(:first AS text) AS is_first
    FROM
        memories m
    CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
        m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
        m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
    LEFT JOIN LATERAL (
        SELECT CASE WHEN u.last_reinforced_at <= (SELECT known_at FROM moment) THEN u.access_count
            END AS access_count,
            CASE WHEN u.last_reinforced_at <= (SELECT known_at FROM moment) THEN
                u.last_reinforced_at END AS last_reinforced_at,
            CASE WHEN
            (
                CAST(:used_by AS timestamptz) IS NULL
                OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
            )
            THEN u.use_count END AS use_count,
            CASE WHEN
            (
                CAST(:used_by AS timestamptz) IS NULL
                OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
            )
            THEN u.last_accessed_at END AS last_accessed_at
        FROM memory_usage u
        WHERE u.agent_id = :agent AND u.memory_id = m.id
    ) AS u ON true
    WHERE m.agent_id = :agent AND
        b.valid_from <= (SELECT as_of FROM moment)
        AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
        AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 = 0)
        AND NOT m.cold AND m.erased_at IS NULL
),
top AS (
    SELECT * FROM live
    ORDER BY is_first DESC, strength DESC, id DESC
    LIMIT :limit
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at,
    (SELECT count(*) FROM live) AS live, hit.*
FROM moment LEFT JOIN (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(
                    2000 + octet_length(CAST(
                        json_build_array(page.entity, page.category, page.key, page.content,
                            page.value, page.details, page.dated_by, page.tags, page.entities,
                            page.sources, page.source, page.session_id, page.project,
                            page.stale_because)
                        AS text))
                ) OVER (
                    ORDER BY is_first DESC, strength DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING
                        AND 1 PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT top.strength, top.is_first,
                m.id, m.created_at, m.revision, m.erased_at,
                m.derived_entity, m.derived_key, m.derived_value,
                m.content, m.kind, m.entity, m.category, m.key, m.value, m.single_valued,
                    m.details, m.importance, m.confidence, m.tags, m.entities, m.sources, m.source,
                    m.session_id, m.project, m.trust, m.lifespan, m.said_at, m.said_in, m.dated_by,
                    m.merged_from,
                b.chain_id, b.valid_from, b.asserted_at, b.said_until, b.retracted_at, b.void,
                    b.ended_by, b.contradicted_by, b.merged, b.temporary, b.tier, b.covered,
                    b.valid_until, b.superseded_by, b.superseded_at, b.known_from,
                (
                    SELECT u.access_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS access_count, (
                    SELECT u.last_reinforced_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS last_reinforced_at, (
                    SELECT u.use_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS use_count, (
                    SELECT u.last_accessed_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS last_accessed_at,
                (
                    SELECT o.id FROM memories o
                    WHERE o.agent_id = :agent AND o.superseded_by = m.id
                    ORDER BY o.valid_from DESC, o.id DESC
                    LIMIT 1
                )
                AS supersedes_id,
                (
                    CASE WHEN
                    (SELECT EXISTS (SELECT FROM memory_relationships WHERE agent_id = :agent AND
                        type IN ('merged_into', 'expands', 'sequential', 'causes', 'enables',
                        'references')))
                    AND m.erased_at IS NULL AND
                    b.valid_from <= (SELECT as_of FROM moment)
                    AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                    AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) %
                        2 = 0)
                    THEN (
                        SELECT
                            jsonb_agg(
                                DISTINCT to_jsonb(e) || jsonb_build_object('type', tie.type,
                                    'as_of', (SELECT as_of FROM moment))
                            )
                        FROM (
                            SELECT source_id AS memory_id, target_id AS other_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                            UNION ALL
                            SELECT target_id, source_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                        ) AS tie
                        CROSS JOIN LATERAL (
                            SELECT
                                o.id,
                                CASE WHEN o.erased_at <= (SELECT known_at FROM moment) THEN
                                    o.erased_at END AS erased_at,
                                b.*
                            FROM
                                memories o
                            CROSS JOIN LATERAL (SELECT o.chain_id, o.valid_from, o.asserted_at,
                                o.said_until, o.retracted_at, o.void, o.ended_by,
                                o.contradicted_by, o.merged, o.temporary, o.tier, o.covered,
                                o.valid_until, o.superseded_by, o.superseded_at, o.known_from) AS b
                            WHERE o.agent_id = :agent AND o.id = tie.other_id
                        ) AS e
                        WHERE tie.created_at <= (SELECT known_at FROM moment)
                            AND (
                                e.erased_at > tie.created_at
                                OR (
                                    (e.void OR coalesce(e.valid_until <= (SELECT as_of FROM
                                        moment), false))
                                    AND (
                                        (NOT e.void AND e.valid_until > tie.created_at)
                                        OR EXISTS (
                                            SELECT FROM memory_beliefs x
                                            WHERE x.agent_id = :agent
                                                AND x.memory_id = e.id
                                                AND x.known_until > tie.created_at
                                                AND x.known_until <= e.known_from
                                                AND NOT x.void
                                                AND (e.void OR x.valid_until IS NULL OR
                                                    x.valid_until > tie.created_at)
                                        )
                                    )
                                )
                            )
                            AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
                            AND tie.memory_id = m.id
                    ) END
                )
                AS stale_because
            FROM top JOIN
                memories m
            CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
                m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary,
                m.tier, m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from)
                AS b
                ON m.agent_id = :agent AND m.id = top.id
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
) AS hit ON true
ORDER BY is_first DESC, strength DESC, id DESC;


-- ===== GET /v1/preferences/{category}/{key} =====
-- app/store/memories.py find_holding_in_slot: as for POST /v1/memories (a first fact)

-- GET /v1/preferences/{category}/{key}
-- app/store/memories.py find_holding_in_slot
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, page.*
FROM moment LEFT JOIN (
    SELECT
        m.id, m.created_at, m.revision, m.erased_at,
        m.derived_entity, m.derived_key, m.derived_value,
        m.content, m.kind, m.entity, m.category, m.key, m.value, m.single_valued, m.details,
            m.importance, m.confidence, m.tags, m.entities, m.sources, m.source, m.session_id,
            m.project, m.trust, m.lifespan, m.said_at, m.said_in, m.dated_by, m.merged_from,
        b.chain_id, b.valid_from, b.asserted_at, b.said_until, b.retracted_at, b.void, b.ended_by,
            b.contradicted_by, b.merged, b.temporary, b.tier, b.covered, b.valid_until,
            b.superseded_by, b.superseded_at, b.known_from,
        (
            SELECT u.access_count FROM memory_usage u
            WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <= (SELECT
                known_at FROM moment)
        ) AS access_count, (
            SELECT u.last_reinforced_at FROM memory_usage u
            WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <= (SELECT
                known_at FROM moment)
        ) AS last_reinforced_at, (
            SELECT u.use_count FROM memory_usage u
            WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                (
                    CAST(:used_by AS timestamptz) IS NULL
                    OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                )
        ) AS use_count, (
            SELECT u.last_accessed_at FROM memory_usage u
            WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                (
                    CAST(:used_by AS timestamptz) IS NULL
                    OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                )
        ) AS last_accessed_at,
        (
            SELECT o.id FROM memories o
            WHERE o.agent_id = :agent AND o.superseded_by = m.id
            ORDER BY o.valid_from DESC, o.id DESC
            LIMIT 1
        )
        AS supersedes_id,
        (
            CASE WHEN
            (SELECT EXISTS (SELECT FROM memory_relationships WHERE agent_id = :agent AND type IN
                ('merged_into', 'expands', 'sequential', 'causes', 'enables', 'references')))
            AND m.erased_at IS NULL AND
            b.valid_from <= (SELECT as_of FROM moment)
            AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
            AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 = 0)
            THEN (
                SELECT
                    jsonb_agg(
                        DISTINCT to_jsonb(e) || jsonb_build_object('type', tie.type, 'as_of',
                            (SELECT as_of FROM moment))
                    )
                FROM (
                    SELECT source_id AS memory_id, target_id AS other_id, type, created_at
                    FROM memory_relationships
                    WHERE agent_id = :agent AND type IN ('merged_into', 'expands', 'sequential',
                        'causes', 'enables', 'references')
                    UNION ALL
                    SELECT target_id, source_id, type, created_at
                    FROM memory_relationships
                    WHERE agent_id = :agent AND type IN ('merged_into', 'expands', 'sequential',
                        'causes', 'enables', 'references')
                ) AS tie
                CROSS JOIN LATERAL (
                    SELECT
                        o.id,
                        CASE WHEN o.erased_at <= (SELECT known_at FROM moment) THEN o.erased_at END
                            AS erased_at,
                        b.*
                    FROM
                        memories o
                    CROSS JOIN LATERAL (SELECT o.chain_id, o.valid_from, o.asserted_at,
                        o.said_until, o.retracted_at, o.void, o.ended_by, o.contradicted_by,
                        o.merged, o.temporary, o.tier, o.covered, o.valid_until, o.superseded_by,
                        o.superseded_at, o.known_from) AS b
                    WHERE o.agent_id = :agent AND o.id = tie.other_id
                ) AS e
                WHERE tie.created_at <= (SELECT known_at FROM moment)
                    AND (
                        e.erased_at > tie.created_at
                        OR (
                            (e.void OR coalesce(e.valid_until <= (SELECT as_of FROM moment),
                                false))
                            AND (
                                (NOT e.void AND e.valid_until > tie.created_at)
                                OR EXISTS (
                                    SELECT FROM memory_beliefs x
                                    WHERE x.agent_id = :agent
                                        AND x.memory_id = e.id
                                        AND x.known_until > tie.created_at
                                        AND x.known_until <= e.known_from
                                        AND NOT x.void
                                        AND (e.void OR x.valid_until IS NULL OR x.valid_until >
                                            tie.created_at)
                                )
                            )
                        )
                    )
                    AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
                    AND tie.memory_id = m.id
            ) END
        )
        AS stale_because
    FROM
        memories m
    CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
        m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
        m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
    WHERE m.agent_id = :agent AND
        b.valid_from <= (SELECT as_of FROM moment)
        AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
        AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 = 0)
        AND NOT m.cold AND m.erased_at IS NULL AND m.kind = :kind AND m.slot_key IS NOT NULL AND
            m.slot_hash = :slot
    ORDER BY m.trust DESC, b.valid_from DESC, m.id DESC LIMIT 1
) AS page ON true;


-- ===== GET /v1/preferences/{key} =====
-- app/store/memories.py find_holding_in_slot: as for POST /v1/memories (a first fact)
-- app/store/memories.py find_holding_in_slot: as for GET /v1/preferences/{category}/{key}


-- ===== GET /v1/context =====
-- app/store/memories.py list_strongest: as for POST /v1/memories (a first fact)
-- app/store/memories.py list_strongest: as for GET /v1/memories (by strength)

-- GET /v1/context
-- app/store/reviews/reviews.py find_waiting_reviews
SELECT id, memory_id, relied_on
FROM reviews
WHERE agent_id = :agent AND status = 'pending'
    AND (memory_id = ANY(:ids) OR relied_on ?| CAST(:named AS text[]))
ORDER BY created_at, id;

-- GET /v1/context
-- app/store/value_lines.py list_value_lines
SELECT
    m.id,
    m.chain_id,
    m.created_at,
    m.value_hash,
    m.folded_hash,
    m.erased_at,
    b.valid_from,
    b.asserted_at,
    CASE WHEN slot_key IS NOT NULL AND kind <> 'constraint' AND single_valued IS NOT false THEN
        m.slot_hash END AS slot
FROM memories m
JOIN LATERAL (
    SELECT m.void, m.valid_from, m.asserted_at
    WHERE m.known_from <= :known_at
    UNION ALL
    SELECT x.void, x.valid_from, x.asserted_at
    FROM memory_beliefs x
    WHERE m.known_from > :known_at
        AND x.agent_id = :agent
        AND x.memory_id = m.id
        AND x.known_from <= :known_at
        AND x.known_until > :known_at
) AS b ON NOT b.void
WHERE m.agent_id = :agent AND m.id IN (
    SELECT id FROM memories
    WHERE agent_id = :agent AND chain_id IN (
        SELECT chain_id FROM memories
        WHERE agent_id = :agent AND chain_id = ANY(:chains)
        GROUP BY chain_id
        HAVING count(*) >= :at_least
    )
    UNION
    SELECT id FROM memories
    WHERE agent_id = :agent AND slot_key IS NOT NULL AND slot_hash IN (
        SELECT slot_hash FROM memories
        WHERE agent_id = :agent AND slot_key IS NOT NULL AND slot_hash = ANY(:slots)
        GROUP BY slot_hash
        HAVING count(*) >= :at_least
    )
);


-- ===== GET /v1/context (with a query) =====
-- app/store/search.py search_memories: as for POST /v1/memories (a first fact)
-- app/store/search.py search_memories: as for POST /v1/search (hybrid)

-- GET /v1/context (with a query)
-- app/store/captures/search.py search_turns
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
query_words AS MATERIALIZED (
    SELECT CAST(
        replace(
            CAST(
                plainto_tsquery(
                    CAST(:language AS regconfig), pair_characters(:query, false)
                ) AS text
            ),
            ' & ',
            ' | '
        ) AS tsquery
    ) AS words
),
live AS MATERIALIZED (
    SELECT
        t.id,
        coalesce(t.session_id, CAST(t.capture_id AS text)) AS talk,
        CASE WHEN (SELECT name FROM encoder) = :encoder THEN t.embedding <=> CAST(CAST(:vector AS
            vector) AS halfvec) END AS distance,
        CASE WHEN t.lexemes @@ (SELECT words FROM query_words) THEN t.lexemes END
        AS lexemes,
        t.said_at AS valid_from,
        CASE
        WHEN :has_window
        AND t.said_at >= coalesce(CAST(:window_start AS timestamptz), '-infinity')
        AND t.said_at < coalesce(CAST(:window_end AS timestamptz), 'infinity')
        THEN 0.1
        ELSE 0
        END AS bonus
    FROM turns t
    WHERE t.agent_id = :agent
        AND t.content IS NOT NULL
        AND NOT starts_with(t.content, '[left out: ')
        AND t.said_at <= coalesce(CAST(:as_of AS timestamptz), 'infinity')
        AND t.received_at <= coalesce(CAST(:known_at AS timestamptz), 'infinity')
        AND t.session_id IS NOT DISTINCT FROM coalesce(CAST(:session AS text), t.session_id)
),
    have_vectors AS MATERIALIZED (SELECT count(distance) * 2 >= count(*) AS yes FROM live),
word AS MATERIALIZED (
    SELECT lexeme, CAST(quote_lexeme(lexeme) AS tsquery) AS query
    FROM unnest(
        tsvector_to_array(
            to_tsvector(CAST(:language AS regconfig), pair_characters(:query, false))
        )
    ) AS lexeme
),
shared AS MATERIALIZED (
    SELECT live.*, word.lexeme FROM word JOIN live ON live.lexemes @@ word.query
),
weighed AS MATERIALIZED (
    SELECT lexeme, CAST(ln(1 + (texts - frequency + 0.5) / (frequency + 0.5)) AS float8) AS weight
    FROM (SELECT lexeme, count(*) AS frequency FROM shared GROUP BY lexeme) AS counted,
        (SELECT count(*) AS texts FROM live) AS all_texts
),
matching AS MATERIALIZED (
    SELECT
        id,
        min(distance) AS distance,
        max(bonus) AS bonus,
        max(valid_from) AS valid_from,
        sum(weight) / (1 + max(length(lexemes)) / 20.0) AS rank
    FROM shared JOIN weighed USING (lexeme)
    GROUP BY id
),
ranked AS MATERIALIZED (
    SELECT
        id,
        max(talk) AS talk,
        1 - max(distance) AS similarity,
        sum(rank) AS rank,
        max(bonus) AS bonus,
        max(said_at) AS said_at
    FROM (
        SELECT id, talk, distance, CAST(0 AS float8) AS rank, bonus, valid_from AS said_at
        FROM live
        UNION ALL
        SELECT id, NULL, NULL, rank, NULL, NULL FROM matching
    ) AS parts
    GROUP BY id
),
best AS MATERIALIZED (
    SELECT id, score
    FROM (
        SELECT id, said_at, CASE WHEN (SELECT yes FROM have_vectors) THEN coalesce(similarity, 0) +
            0.04 * (
            rank + 0.25 * (
                coalesce(lag(rank) OVER in_order, 0) + coalesce(lead(rank) OVER in_order, 0)
            )
        ) + bonus ELSE nullif(
            rank + 0.25 * (
                coalesce(lag(rank) OVER in_order, 0) + coalesce(lead(rank) OVER in_order, 0)
            )
            , 0) + 12 * bonus END AS score
        FROM ranked
        WINDOW in_order AS (PARTITION BY talk ORDER BY said_at, id)
    ) AS scored
    WHERE score > 0
    ORDER BY score DESC, said_at DESC
    LIMIT greatest(:limit, 10)
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, hit.*
FROM moment
LEFT JOIN (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(octet_length(page.content)) OVER (
                    ORDER BY score DESC, said_at DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1
                        PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT
                t.id, t.capture_id, t.session_id, t.role, t.name, t.content, t.said_at,
                CASE WHEN (SELECT yes FROM have_vectors) THEN
                exp(9.8 * score) / (
                    SELECT exp(5.4) + sum(exp(9.8 * competing.score))
                    FROM (SELECT score FROM best ORDER BY score DESC LIMIT 10) AS competing
                )
                ELSE
                exp(0.9 * score) / (
                    SELECT exp(2.0) + sum(exp(0.9 * competing.score))
                    FROM (SELECT score FROM best ORDER BY score DESC LIMIT 10) AS competing
                )
                END AS score
            FROM best JOIN turns t ON t.agent_id = :agent AND t.id = best.id
            WHERE NOT :unread OR NOT EXISTS (
                SELECT FROM captured_facts f
                WHERE f.agent_id = :agent AND f.turn_id = t.id AND f.memory_id IS NOT NULL
            )
            ORDER BY score DESC, t.said_at DESC
            LIMIT :limit
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
) AS hit ON true
ORDER BY score DESC, said_at DESC;

-- GET /v1/context (with a query)
-- app/store/memories.py list_strongest
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
live AS MATERIALIZED (
    SELECT m.id,
        greatest(
            CASE b.tier WHEN 'core' THEN CAST(0.6 AS float8) END,
            greatest(m.importance, 1e-09) * power(CAST(0.5 AS float8),
                least(greatest(
                    CAST(
                        extract(epoch FROM (SELECT as_of FROM moment) - greatest(m.created_at,
                            b.valid_from, u.last_reinforced_at))
                        - extract(epoch FROM
                            greatest(coalesce(u.last_accessed_at - greatest(m.created_at,
                                b.valid_from, u.last_reinforced_at), interval '0'), interval '0')
                        ) / 2
                        AS float8
                    ) / 86400
                    , 0) / (
                        (
                            CASE b.tier
                            WHEN 'core' THEN CASE m.kind
                            WHEN 'fact' THEN CAST(:half_life_core_fact AS float8)
                            WHEN 'preference' THEN CAST(:half_life_core_preference AS float8)
                            WHEN 'decision' THEN CAST(:half_life_core_decision AS float8)
                            WHEN 'constraint' THEN CAST(:half_life_core_constraint AS float8)
                            END
                            ELSE CASE m.kind
                            WHEN 'fact' THEN CAST(:half_life_semantic_fact AS float8)
                            WHEN 'preference' THEN CAST(:half_life_semantic_preference AS float8)
                            WHEN 'decision' THEN CAST(:half_life_semantic_decision AS float8)
                            WHEN 'constraint' THEN CAST(:half_life_semantic_constraint AS float8)
                            END
                            END
                        ) * (1 + ln(1 + least(
                            coalesce(u.access_count, 0)
                            + coalesce(u.use_count, 0) / CAST(10 AS float8)
                            , 100)))
                    ), 60.0)
            )
        )
        AS strength,
        m.kind IS NOT DISTINCT FROM CAST(:first AS text) AS is_first
    FROM
        memories m
    CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
        m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
        m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
    LEFT JOIN LATERAL (
        SELECT CASE WHEN u.last_reinforced_at <= (SELECT known_at FROM moment) THEN u.access_count
            END AS access_count,
            CASE WHEN u.last_reinforced_at <= (SELECT known_at FROM moment) THEN
                u.last_reinforced_at END AS last_reinforced_at,
            CASE WHEN
            (
                CAST(:used_by AS timestamptz) IS NULL
                OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
            )
            THEN u.use_count END AS use_count,
            CASE WHEN
            (
                CAST(:used_by AS timestamptz) IS NULL
                OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
            )
            THEN u.last_accessed_at END AS last_accessed_at
        FROM memory_usage u
        WHERE u.agent_id = :agent AND u.memory_id = m.id
    ) AS u ON true
    WHERE m.agent_id = :agent AND
        b.valid_from <= (SELECT as_of FROM moment)
        AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
        AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 = 0)
        AND NOT m.cold AND m.erased_at IS NULL AND (m.kind = :first OR b.tier = 'core')
),
top AS (
    SELECT * FROM live
    ORDER BY is_first DESC, strength DESC, id DESC
    LIMIT :limit
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at,
    (SELECT count(*) FROM
        memories m
        CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
            m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
            m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
        WHERE m.agent_id = :agent AND
            b.valid_from <= (SELECT as_of FROM moment)
            AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
            AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 = 0)
            AND NOT m.cold AND m.erased_at IS NULL) AS live, hit.*
FROM moment LEFT JOIN (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(
                    2000 + octet_length(CAST(
                        json_build_array(page.entity, page.category, page.key, page.content,
                            page.value, page.details, page.dated_by, page.tags, page.entities,
                            page.sources, page.source, page.session_id, page.project,
                            page.stale_because)
                        AS text))
                ) OVER (
                    ORDER BY is_first DESC, strength DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING
                        AND 1 PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT top.strength, top.is_first,
                m.id, m.created_at, m.revision, m.erased_at,
                m.derived_entity, m.derived_key, m.derived_value,
                m.content, m.kind, m.entity, m.category, m.key, m.value, m.single_valued,
                    m.details, m.importance, m.confidence, m.tags, m.entities, m.sources, m.source,
                    m.session_id, m.project, m.trust, m.lifespan, m.said_at, m.said_in, m.dated_by,
                    m.merged_from,
                b.chain_id, b.valid_from, b.asserted_at, b.said_until, b.retracted_at, b.void,
                    b.ended_by, b.contradicted_by, b.merged, b.temporary, b.tier, b.covered,
                    b.valid_until, b.superseded_by, b.superseded_at, b.known_from,
                (
                    SELECT u.access_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS access_count, (
                    SELECT u.last_reinforced_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS last_reinforced_at, (
                    SELECT u.use_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS use_count, (
                    SELECT u.last_accessed_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS last_accessed_at,
                (
                    SELECT o.id FROM memories o
                    WHERE o.agent_id = :agent AND o.superseded_by = m.id
                    ORDER BY o.valid_from DESC, o.id DESC
                    LIMIT 1
                )
                AS supersedes_id,
                (
                    CASE WHEN
                    (SELECT EXISTS (SELECT FROM memory_relationships WHERE agent_id = :agent AND
                        type IN ('merged_into', 'expands', 'sequential', 'causes', 'enables',
                        'references')))
                    AND m.erased_at IS NULL AND
                    b.valid_from <= (SELECT as_of FROM moment)
                    AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                    AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) %
                        2 = 0)
                    THEN (
                        SELECT
                            jsonb_agg(
                                DISTINCT to_jsonb(e) || jsonb_build_object('type', tie.type,
                                    'as_of', (SELECT as_of FROM moment))
                            )
                        FROM (
                            SELECT source_id AS memory_id, target_id AS other_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                            UNION ALL
                            SELECT target_id, source_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                        ) AS tie
                        CROSS JOIN LATERAL (
                            SELECT
                                o.id,
                                CASE WHEN o.erased_at <= (SELECT known_at FROM moment) THEN
                                    o.erased_at END AS erased_at,
                                b.*
                            FROM
                                memories o
                            CROSS JOIN LATERAL (SELECT o.chain_id, o.valid_from, o.asserted_at,
                                o.said_until, o.retracted_at, o.void, o.ended_by,
                                o.contradicted_by, o.merged, o.temporary, o.tier, o.covered,
                                o.valid_until, o.superseded_by, o.superseded_at, o.known_from) AS b
                            WHERE o.agent_id = :agent AND o.id = tie.other_id
                        ) AS e
                        WHERE tie.created_at <= (SELECT known_at FROM moment)
                            AND (
                                e.erased_at > tie.created_at
                                OR (
                                    (e.void OR coalesce(e.valid_until <= (SELECT as_of FROM
                                        moment), false))
                                    AND (
                                        (NOT e.void AND e.valid_until > tie.created_at)
                                        OR EXISTS (
                                            SELECT FROM memory_beliefs x
                                            WHERE x.agent_id = :agent
                                                AND x.memory_id = e.id
                                                AND x.known_until > tie.created_at
                                                AND x.known_until <= e.known_from
                                                AND NOT x.void
                                                AND (e.void OR x.valid_until IS NULL OR
                                                    x.valid_until > tie.created_at)
                                        )
                                    )
                                )
                            )
                            AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
                            AND tie.memory_id = m.id
                    ) END
                )
                AS stale_because
            FROM top JOIN
                memories m
            CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
                m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary,
                m.tier, m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from)
                AS b
                ON m.agent_id = :agent AND m.id = top.id
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
) AS hit ON true
ORDER BY is_first DESC, strength DESC, id DESC;
-- app/store/value_lines.py list_value_lines: as for GET /v1/context


-- ===== GET /v1/log =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/log
-- app/store/log/entries.py list_log
WITH examined AS NOT MATERIALIZED (
    SELECT * FROM consolidation_log
    WHERE agent_id = :agent
    ORDER BY created_at DESC, id DESC
    LIMIT 10000
),
page AS MATERIALIZED (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(octet_length(CAST(to_json(page) AS text))) OVER (
                    ORDER BY created_at DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1
                        PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT *, (jsonb_path_query_first(after_state, '$[*].review.source') #>> '{}') AS
                review, encode(hash, 'hex') AS chain_hash
            FROM examined
            WHERE true
            ORDER BY created_at DESC, id DESC
            LIMIT :limit
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
),
last AS MATERIALIZED (
    SELECT created_at, id FROM examined
    WHERE (SELECT count(*) FROM page) < :limit
    ORDER BY created_at DESC, id DESC
        OFFSET 9999 LIMIT 1
)
SELECT page.*, last.created_at AS last_created_at, last.id AS last_id
FROM (SELECT 1) AS once LEFT JOIN last ON true LEFT JOIN page ON true
ORDER BY page.created_at DESC, page.id DESC;


-- ===== GET /v1/log (narrowed) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/log (narrowed)
-- app/store/log/entries.py list_log
WITH examined AS NOT MATERIALIZED (
    SELECT * FROM consolidation_log
    WHERE agent_id = :agent AND session_id = :session_id
    ORDER BY created_at DESC, id DESC
    LIMIT 10000
),
page AS MATERIALIZED (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(octet_length(CAST(to_json(page) AS text))) OVER (
                    ORDER BY created_at DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1
                        PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT *, (jsonb_path_query_first(after_state, '$[*].review.source') #>> '{}') AS
                review, encode(hash, 'hex') AS chain_hash
            FROM examined
            WHERE operation = :operation
            ORDER BY created_at DESC, id DESC
            LIMIT :limit
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
),
last AS MATERIALIZED (
    SELECT created_at, id FROM examined
    WHERE (SELECT count(*) FROM page) < :limit
    ORDER BY created_at DESC, id DESC
        OFFSET 9999 LIMIT 1
)
SELECT page.*, last.created_at AS last_created_at, last.id AS last_id
FROM (SELECT 1) AS once LEFT JOIN last ON true LEFT JOIN page ON true
ORDER BY page.created_at DESC, page.id DESC;


-- ===== GET /v1/log/{log_id} =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/log/{log_id}
-- app/store/log/entries.py find_log_entry
SELECT *, (jsonb_path_query_first(after_state, '$[*].review.source') #>> '{}') AS review,
    encode(hash, 'hex') AS chain_hash
FROM consolidation_log
WHERE agent_id = :agent AND id = :id;


-- ===== GET /v1/events =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/events
-- app/store/log/events.py find_last_archived
SELECT created_at, id FROM folded_operations
WHERE agent_id = :agent AND archive_id IS NOT NULL
    AND (created_at, id) > (:after_at, :after_id)
ORDER BY created_at DESC, id DESC
LIMIT 1;

-- GET /v1/events
-- app/store/log/events.py list_events
SELECT
    l.id,
    l.created_at AS at,
    l.operation,
    l.relation,
    l.target_memory_id AS memory_id,
    l.source_memory_ids AS memory_ids,
    ARRAY(
        SELECT CAST(after ->> 'id' AS uuid)
        FROM jsonb_array_elements(l.after_state) AS after
        WHERE after #>> '{belief,superseded_by}' IS NOT NULL
            AND NOT EXISTS (
                SELECT FROM jsonb_array_elements(l.before_state) AS before
                WHERE before ->> 'id' = after ->> 'id'
                    AND before #>> '{belief,superseded_by}' IS NOT NULL
            )
    ) AS superseded,
    (SELECT r.id FROM reviews r WHERE r.agent_id = :agent AND r.log_id = l.id) AS review_id,
    CAST(
        jsonb_path_query_first(l.after_state, '$[*].settled.review_id') #>> '{}' AS uuid
    ) AS decided_review_id,
    l.reverts,
    l.decided_by,
    l.actor
FROM consolidation_log l
WHERE l.agent_id = :agent AND (l.created_at, l.id) > (:after_at, :after_id)
    AND (CAST(:operations AS text[]) = '{}' OR l.operation = ANY(CAST(:operations AS text[])))
ORDER BY l.created_at, l.id
LIMIT :limit;

-- GET /v1/events
-- app/store/log/events.py get_last_position
(
    SELECT created_at, id FROM consolidation_log WHERE agent_id = :agent
    ORDER BY created_at DESC, id DESC
    LIMIT 1
)
UNION ALL
    (
        SELECT created_at, id FROM folded_operations WHERE agent_id = :agent
        ORDER BY created_at DESC, id DESC
        LIMIT 1
    )
ORDER BY created_at DESC, id DESC
LIMIT 1;


-- ===== GET /v1/events (after one) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/events (after one)
-- app/store/log/events.py find_position
SELECT created_at, id FROM consolidation_log WHERE agent_id = :agent AND id = :id
UNION ALL
SELECT created_at, id FROM folded_operations WHERE agent_id = :agent AND id = :id
LIMIT 1;
-- app/store/log/events.py find_last_archived: as for GET /v1/events
-- app/store/log/events.py list_events: as for GET /v1/events
-- app/store/log/events.py get_last_position: as for GET /v1/events


-- ===== GET /v1/events (from now on) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/log/events.py get_last_position: as for GET /v1/events


-- ===== POST /v1/log/{log_id}/revert =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)

-- POST /v1/log/{log_id}/revert
-- app/store/log/reverts.py find_done_operations
WITH RECURSIVE undid AS (
    SELECT id AS by, id, created_at, reverts, operation, relation, target_memory_id,
        reverted_by, 0 AS depth
    FROM consolidation_log
    WHERE agent_id = :agent AND id = ANY(:ids)
    UNION ALL
    SELECT u.by, l.id, l.created_at, l.reverts, l.operation, l.relation, l.target_memory_id,
        l.reverted_by, u.depth + 1
    FROM undid u
    JOIN consolidation_log l
        ON l.agent_id = :agent AND l.id = u.reverts AND l.created_at < u.created_at
)
SELECT l.id, l.operation, l.relation, l.created_at, l.incoming, l.before_state, l.after_state,
    l.reverted_by, duplicate.target_memory_id AS confirmed,
    duplicate.depth % 2 = 1 AS taken_back,
    line.ids AS line, line.undone AS line_undone
FROM consolidation_log l
JOIN (
    SELECT by, array_agg(id ORDER BY depth) AS ids,
        array_agg(reverted_by IS NOT NULL ORDER BY depth) AS undone
    FROM undid
    GROUP BY by
) line ON line.by = l.id
LEFT JOIN undid duplicate
    ON duplicate.by = l.id
    AND duplicate.operation = 'NOOP' AND duplicate.relation = 'DUPLICATE'
WHERE l.agent_id = :agent AND l.id = ANY(:ids)
ORDER BY l.created_at DESC, l.id DESC;

-- POST /v1/log/{log_id}/revert
-- app/store/log/archived.py refuse_archived
SELECT f.id, f.created_at, a.file
FROM folded_operations f
JOIN log_archives a ON a.agent_id = :agent AND a.id = f.archive_id
WHERE f.agent_id = :agent AND f.id = ANY(:ids)
ORDER BY f.created_at DESC
LIMIT 1;

-- POST /v1/log/{log_id}/revert
-- app/store/log/archived.py refuse_archived_dependents
SELECT id
FROM folded_operations
WHERE agent_id = :agent AND created_at > :after AND archive_id IS NOT NULL AND stands
    AND operation NOT IN ('ERASE', 'REVERT') AND memory_ids && CAST(:ids AS uuid[])
ORDER BY created_at DESC
LIMIT 1;
-- app/store/log/reverts.py list_dependents: as for GET /v1/memories/{memory_id}/history

-- POST /v1/log/{log_id}/revert
-- app/store/log/reverts.py list_dependents
SELECT id
FROM consolidation_log
WHERE agent_id = :agent AND created_at > :after AND reverted_by IS NULL
    AND operation NOT IN ('ERASE', 'REVERT') AND
    id = ANY(:operations)
    AND (NOT jsonb_path_exists(before_state || after_state, '$[*].links')
        OR jsonb_path_exists(before_state || after_state, '$[*].id'))
ORDER BY created_at DESC, id DESC;
-- app/store/chains.py read_chains: as for POST /v1/memories/{memory_id}/relationships
-- app/store/apply.py apply_plans: as for POST /v1/memories/{memory_id}/retract

-- POST /v1/log/{log_id}/revert
-- app/store/apply.py apply_plans
WITH RECURSIVE undone AS (
    SELECT id, reverts, created_at, CAST(:by AS uuid) AS by, true AS is_undone
    FROM consolidation_log
    WHERE agent_id = :agent AND id = :reverts
    UNION ALL
    SELECT l.id, l.reverts, l.created_at, undone.id, NOT undone.is_undone
    FROM undone
    JOIN consolidation_log l ON l.agent_id = :agent AND l.id = undone.reverts
)
UPDATE consolidation_log l
SET reverted_by = CASE WHEN undone.is_undone THEN undone.by END
FROM undone
WHERE l.agent_id = :agent
    AND l.id = undone.id
    AND l.id = ANY(ARRAY(SELECT id FROM undone));

-- POST /v1/log/{log_id}/revert
-- app/store/apply.py apply_plans
WITH RECURSIVE undone AS (
    SELECT id, reverts, created_at, CAST(:by AS uuid) AS by, true AS is_undone
    FROM consolidation_log
    WHERE agent_id = :agent AND id = :reverts
    UNION ALL
    SELECT l.id, l.reverts, l.created_at, undone.id, NOT undone.is_undone
    FROM undone
    JOIN consolidation_log l ON l.agent_id = :agent AND l.id = undone.reverts
)
UPDATE reviews r SET
    status = CASE WHEN undone.is_undone THEN 'overtaken' ELSE 'pending' END,
    decided_at = CASE WHEN undone.is_undone THEN CAST(:now AS timestamptz) END,
    decision_log_id = CASE WHEN undone.is_undone THEN undone.by END
FROM undone
WHERE r.agent_id = :agent
    AND r.created_at = undone.created_at
    AND r.log_id = undone.id
    AND (r.status = 'pending') = undone.is_undone
    AND r.status IN ('pending', 'overtaken', 'expired')
    AND (
        undone.is_undone
        OR r.decision_log_id IN (SELECT id FROM undone) AND NOT EXISTS (
            SELECT FROM memories m
            WHERE m.agent_id = :agent
                AND m.erased_at IS NOT NULL
                AND m.id IN (SELECT CAST(jsonb_object_keys(r.relied_on) AS uuid))
        )
    );

-- POST /v1/log/{log_id}/revert
-- app/store/apply.py apply_plans
UPDATE memory_usage SET access_count = access_count - 1
WHERE agent_id = :agent AND memory_id = :unconfirmed;
-- app/store/reviews/reviews.py list_open_reviews_about: as for POST /v1/memories (a new value of a slot)
-- app/store/memories.py find_memories: as for POST /v1/memories (a new value of a slot)


-- ===== GET /v1/reviews =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/reviews
-- app/store/engine.py
SELECT clock_timestamp() AS now;

-- GET /v1/reviews
-- app/store/reviews/reviews.py list_overdue_reviews
SELECT *
FROM reviews
WHERE agent_id = :agent AND status = 'pending' AND created_at < :before
ORDER BY created_at
LIMIT 1000;

-- GET /v1/reviews
-- app/store/reviews/reviews.py list_reviews
SELECT * FROM (
    SELECT page.*,
        count(*) OVER () AS page_rows,
        coalesce(
            sum(octet_length(CAST(to_json(page) AS text))) OVER (
                ORDER BY created_at DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ), 0
        ) AS bytes_before
    FROM (SELECT * FROM reviews WHERE agent_id = :agent ORDER BY created_at DESC, id DESC LIMIT
        :limit) AS page
) AS sized
WHERE bytes_before < :max_bytes
ORDER BY created_at DESC, id DESC;

-- GET /v1/reviews
-- app/store/reviews/reviews.py read_questions
SELECT
    m.id, m.content, m.kind, m.trust, m.erased_at, m.created_at, m.said_at,
    m.chain_id, m.valid_from, m.asserted_at, m.said_until, m.retracted_at, m.void, m.ended_by,
        m.contradicted_by, m.merged, m.temporary, m.tier, m.covered, m.valid_until,
        m.superseded_by, m.superseded_at, m.known_from
FROM memories m
WHERE m.agent_id = :agent AND m.id = ANY(:ids);


-- ===== GET /v1/reviews (narrowed) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/engine.py: as for GET /v1/reviews
-- app/store/reviews/reviews.py list_overdue_reviews: as for GET /v1/reviews

-- GET /v1/reviews (narrowed)
-- app/store/reviews/reviews.py list_reviews
SELECT * FROM (
    SELECT page.*,
        count(*) OVER () AS page_rows,
        coalesce(
            sum(octet_length(CAST(to_json(page) AS text))) OVER (
                ORDER BY created_at DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ), 0
        ) AS bytes_before
    FROM (SELECT * FROM reviews WHERE agent_id = :agent AND source = :source AND CAST(judgments ->
        0 ->> 'confidence' AS float8) >= :min_confidence ORDER BY created_at DESC, id DESC LIMIT
        :limit) AS page
) AS sized
WHERE bytes_before < :max_bytes
ORDER BY created_at DESC, id DESC;
-- app/store/reviews/reviews.py read_questions: as for GET /v1/reviews


-- ===== GET /v1/reviews/{review_id} =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/reviews/{review_id}
-- app/store/reviews/reviews.py find_review_row
SELECT * FROM reviews WHERE agent_id = :agent AND id = :id;
-- app/store/reviews/reviews.py read_questions: as for GET /v1/reviews
-- app/store/reviews/reviews.py read_questions: as for GET /v1/reviews
-- app/store/chains.py read_chains: as for POST /v1/memories/{memory_id}/relationships
-- app/store/memories.py find_memories: as for POST /v1/memories (a new value of a slot)


-- ===== POST /v1/reviews/{review_id}/reject =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/engine.py: as for GET /v1/reviews
-- app/store/reviews/reviews.py list_overdue_reviews: as for GET /v1/reviews
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)
-- app/store/reviews/reviews.py find_stored_review: as for GET /v1/reviews/{review_id}
-- app/store/apply.py apply_plans: as for PATCH /v1/memories/{memory_id}

-- POST /v1/reviews/{review_id}/reject
-- app/store/apply.py apply_plans
UPDATE reviews r SET
    status = :status,
    note = :note,
    decided_at = :decided_at,
    decision_log_id = :log_id,
    memory_id = CASE WHEN incoming IS NULL THEN memory_id ELSE :memory_id END,
    shown = CASE
    WHEN :status = 'pending' AND EXISTS (
        SELECT FROM consolidation_log l
        WHERE l.agent_id = :agent AND l.id = r.decision_log_id AND l.decided_by = 'agent'
    ) THEN greatest(shown, :shown_at_most)
    ELSE shown
    END
WHERE agent_id = :agent AND id = :id;
-- app/store/memories.py find_memories: as for POST /v1/memories (a new value of a slot)


-- ===== POST /v1/reviews/{review_id}/accept =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/engine.py: as for GET /v1/reviews
-- app/store/reviews/reviews.py list_overdue_reviews: as for GET /v1/reviews
-- app/store/reviews/reviews.py find_stored_review: as for GET /v1/reviews/{review_id}
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)
-- app/store/chains.py read_chains: as for POST /v1/memories/{memory_id}/relationships
-- app/store/apply.py apply_plans: as for POST /v1/memories/{memory_id}/supersede
-- app/store/apply.py apply_plans: as for POST /v1/memories/{memory_id}/retract
-- app/store/apply.py apply_plans: as for POST /v1/reviews/{review_id}/reject
-- app/store/reviews/reviews.py list_open_reviews_about: as for POST /v1/memories (a new value of a slot)
-- app/store/memories.py find_memories: as for POST /v1/memories (a new value of a slot)
-- app/store/relationships.py find_made_stale: as for POST /v1/memories (a new value of a slot)


-- ===== POST /v1/reviews/decide =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- POST /v1/reviews/decide
-- app/store/reviews/reviews.py list_reviews
SELECT * FROM (
    SELECT page.*,
        count(*) OVER () AS page_rows,
        coalesce(
            sum(octet_length(CAST(to_json(page) AS text))) OVER (
                ORDER BY created_at DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ), 0
        ) AS bytes_before
    FROM (SELECT * FROM reviews WHERE agent_id = :agent AND status = :status AND source = :source
        ORDER BY created_at DESC, id DESC LIMIT :limit) AS page
) AS sized
WHERE bytes_before < :max_bytes
ORDER BY created_at DESC, id DESC;
-- app/store/engine.py: as for GET /v1/reviews
-- app/store/reviews/reviews.py list_overdue_reviews: as for GET /v1/reviews
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)
-- app/store/reviews/reviews.py find_stored_review: as for GET /v1/reviews/{review_id}
-- app/store/apply.py apply_plans: as for PATCH /v1/memories/{memory_id}
-- app/store/apply.py apply_plans: as for POST /v1/reviews/{review_id}/reject
-- app/store/memories.py find_memories: as for POST /v1/memories (a new value of a slot)


-- ===== POST /v1/reviews/answers =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/reviews/agent_questions.py find_by_handle: as for GET /v1/reviews/{review_id}
-- app/store/engine.py: as for GET /v1/reviews
-- app/store/reviews/reviews.py list_overdue_reviews: as for GET /v1/reviews
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)
-- app/store/log/entries.py find_log_entry: as for GET /v1/log/{log_id}
-- app/store/memories.py find_memories: as for POST /v1/memories (a new value of a slot)


-- ===== GET /v1/shadow/report =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/shadow/report
-- app/store/reviews/reviews.py read_shadow_report
WITH proposed AS (
    SELECT r.*,
        judgments -> 0 ->> 'decided_by' AS decided_by,
        CAST(judgments -> 0 ->> 'confidence' AS float8) AS confidence
    FROM reviews r
    WHERE agent_id = :agent AND source = 'shadow'
        AND created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
        AND jsonb_array_length(judgments) > 0
)
SELECT relation, decided_by, least(floor(confidence * 10), 9) / 10 AS band,
    count(*) AS proposed,
    count(*) FILTER (WHERE status = 'accepted') AS accepted,
    count(*) FILTER (WHERE status = 'rejected') AS rejected,
    count(*) FILTER (WHERE status = 'pending') AS pending,
    count(*) FILTER (WHERE status = 'expired') AS expired,
    count(*) FILTER (WHERE status = 'overtaken') AS overtaken,
    (array_agg(id ORDER BY created_at DESC))[1:3] AS examples
FROM proposed
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3 DESC;


-- ===== GET /v1/agents =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/agents
-- app/store/agents.py list_agents
SELECT
    a.agent_id,
    a.created_at,
    a.mode,
    a.timezone,
    nullif(a.last_known_at, timestamptz '0001-01-01 00:00:00+00') AS last_known_at,
    coalesce(CAST(i.stats ->> 'memories' AS bigint), 0) + (
        SELECT count(*) FROM memories m
        WHERE m.agent_id = a.agent_id AND m.created_at > (
            SELECT coalesce(CAST(i.stats ->> 'last_known_at' AS timestamptz), timestamptz
                '0001-01-01 00:00:00+00')
        )
    ) AS memories
FROM agents a
LEFT JOIN agent_indexes i ON i.agent_id = a.agent_id
WHERE (a.last_known_at > timestamptz '0001-01-01 00:00:00+00' OR a.mode IS NOT NULL OR a.timezone
    IS NOT NULL) AND a.agent_id > :after AND (
    a.agent_id = ANY(CAST(:ids AS text[]))
    OR EXISTS (
        SELECT FROM unnest(CAST(:beginnings AS text[])) AS beginning
        WHERE starts_with(a.agent_id, beginning) AND a.agent_id <> beginning
    )
)
ORDER BY a.agent_id
LIMIT :limit;


-- ===== GET /v1/actor =====
-- no statement


-- ===== GET /v1/agents/{agent_id} =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/agents/{agent_id}
-- app/store/agents.py find_agent
SELECT
    a.agent_id,
    a.created_at,
    a.mode,
    a.timezone,
    nullif(a.last_known_at, timestamptz '0001-01-01 00:00:00+00') AS last_known_at,
    coalesce(CAST(i.stats ->> 'memories' AS bigint), 0) + (
        SELECT count(*) FROM memories m
        WHERE m.agent_id = :agent AND m.created_at > (
            SELECT coalesce(CAST(i.stats ->> 'last_known_at' AS timestamptz), timestamptz
                '0001-01-01 00:00:00+00')
        )
    ) AS memories
FROM agents a
LEFT JOIN agent_indexes i ON i.agent_id = :agent
WHERE (a.last_known_at > timestamptz '0001-01-01 00:00:00+00' OR a.mode IS NOT NULL OR a.timezone
    IS NOT NULL) AND a.agent_id = :agent;


-- ===== PATCH /v1/agents/{agent_id} =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)

-- PATCH /v1/agents/{agent_id}
-- app/store/engine.py
SELECT
    set_config('role', :role, true),
    set_config('palimpsest.agent', :agent, true);

-- PATCH /v1/agents/{agent_id}
-- app/store/agents.py change_agent
INSERT INTO agents AS a (agent_id, created_at, last_known_at, mode, timezone)
VALUES (:agent, clock_timestamp(), timestamptz '0001-01-01 00:00:00+00', :mode, :timezone)
ON CONFLICT (agent_id) DO UPDATE SET
    mode = CASE WHEN :sets_mode THEN excluded.mode ELSE a.mode END,
    timezone = CASE WHEN :sets_timezone THEN excluded.timezone ELSE a.timezone END;

-- PATCH /v1/agents/{agent_id}
-- app/store/agents.py change_agent
SELECT
    a.agent_id,
    a.created_at,
    a.mode,
    a.timezone,
    nullif(a.last_known_at, timestamptz '0001-01-01 00:00:00+00') AS last_known_at,
    coalesce(CAST(i.stats ->> 'memories' AS bigint), 0) + (
        SELECT count(*) FROM memories m
        WHERE m.agent_id = :agent AND m.created_at > (
            SELECT coalesce(CAST(i.stats ->> 'last_known_at' AS timestamptz), timestamptz
                '0001-01-01 00:00:00+00')
        )
    ) AS memories
FROM agents a
LEFT JOIN agent_indexes i ON i.agent_id = :agent
WHERE a.agent_id = :agent;


-- ===== GET /v1/agents/{agent_id}/stats =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/agents/{agent_id}/stats
-- app/store/agents.py is_seen
SELECT true AS is_seen FROM agents a WHERE (a.last_known_at > timestamptz '0001-01-01 00:00:00+00'
    OR a.mode IS NOT NULL OR a.timezone IS NOT NULL) AND a.agent_id = :agent;

-- GET /v1/agents/{agent_id}/stats
-- app/store/stats.py read_stats
SELECT i.stats FROM agent_indexes i WHERE i.agent_id = :agent AND i.stats IS NOT NULL;

-- GET /v1/agents/{agent_id}/stats
-- app/store/stats.py read_stats
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
version AS MATERIALIZED (
    SELECT
        m.kind,
        b.tier,
        m.lifespan,
        m.chain_id,
        m.slot_hash,
        m.look_again,
        octet_length(m.content) AS bytes,
        CASE
        WHEN m.erased_at IS NOT NULL THEN 'erased'
        WHEN b.void THEN 'reverted'
        WHEN b.valid_from > (SELECT as_of FROM moment) THEN 'scheduled'
        WHEN
        b.valid_from <= (SELECT as_of FROM moment)
        AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
        AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 = 0)
        THEN 'current'
        WHEN coalesce(b.valid_until > (SELECT as_of FROM moment), true) THEN 'covered'
        WHEN b.superseded_by IS NOT NULL AND b.merged THEN 'merged'
        WHEN b.superseded_by IS NOT NULL THEN 'superseded'
        WHEN b.retracted_at <= coalesce(b.said_until, b.retracted_at) THEN 'retracted'
        ELSE 'expired'
        END
        AS status,
        slot_key IS NOT NULL AND kind <> 'constraint' AND single_valued IS NOT false AS one_value,
        greatest(
            CASE b.tier WHEN 'core' THEN CAST(0.6 AS float8) END,
            greatest(m.importance, 1e-09) * power(CAST(0.5 AS float8),
                least(greatest(
                    CAST(
                        extract(epoch FROM (SELECT as_of FROM moment) - greatest(m.created_at,
                            b.valid_from, u.last_reinforced_at))
                        - extract(epoch FROM
                            greatest(coalesce(u.last_accessed_at - greatest(m.created_at,
                                b.valid_from, u.last_reinforced_at), interval '0'), interval '0')
                        ) / 2
                        AS float8
                    ) / 86400
                    , 0) / (
                        (
                            CASE b.tier
                            WHEN 'core' THEN CASE m.kind
                            WHEN 'fact' THEN CAST(:half_life_core_fact AS float8)
                            WHEN 'preference' THEN CAST(:half_life_core_preference AS float8)
                            WHEN 'decision' THEN CAST(:half_life_core_decision AS float8)
                            WHEN 'constraint' THEN CAST(:half_life_core_constraint AS float8)
                            END
                            ELSE CASE m.kind
                            WHEN 'fact' THEN CAST(:half_life_semantic_fact AS float8)
                            WHEN 'preference' THEN CAST(:half_life_semantic_preference AS float8)
                            WHEN 'decision' THEN CAST(:half_life_semantic_decision AS float8)
                            WHEN 'constraint' THEN CAST(:half_life_semantic_constraint AS float8)
                            END
                            END
                        ) * (1 + ln(1 + least(
                            coalesce(u.access_count, 0)
                            + coalesce(u.use_count, 0) / CAST(10 AS float8)
                            , 100)))
                    ), 60.0)
            )
        )
        AS strength
    FROM
        memories m
    CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
        m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
        m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
    LEFT JOIN LATERAL (
        SELECT CASE WHEN u.last_reinforced_at <= (SELECT known_at FROM moment) THEN u.access_count
            END AS access_count,
            CASE WHEN u.last_reinforced_at <= (SELECT known_at FROM moment) THEN
                u.last_reinforced_at END AS last_reinforced_at,
            CASE WHEN
            (
                CAST(:used_by AS timestamptz) IS NULL
                OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
            )
            THEN u.use_count END AS use_count,
            CASE WHEN
            (
                CAST(:used_by AS timestamptz) IS NULL
                OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
            )
            THEN u.last_accessed_at END AS last_accessed_at
        FROM memory_usage u
        WHERE u.agent_id = :agent AND u.memory_id = m.id
    ) AS u ON true
    WHERE m.agent_id = :agent
),
done AS (
    SELECT operation, decided_by, created_at, hash
    FROM consolidation_log
    WHERE agent_id = :agent
    UNION ALL
    SELECT operation, decided_by, created_at, hash
    FROM folded_operations
    WHERE agent_id = :agent AND archive_id IS NOT NULL
),
    holding AS (SELECT * FROM version WHERE status = 'current'),
crowded_slots AS (
    SELECT FROM holding
    WHERE one_value
    GROUP BY slot_hash
    HAVING count(*) > 1
)
SELECT
    (SELECT as_of FROM moment) AS as_of,
    (SELECT min(created_at) FROM done) AS first_known_at,
    (
        SELECT nullif(last_known_at, timestamptz '0001-01-01 00:00:00+00')
        FROM agents
        WHERE agent_id = :agent
    ) AS last_known_at,
    (SELECT count(*) FROM version) AS memories,
    (
        SELECT coalesce(jsonb_object_agg(value, n), '{}')
        FROM (
            SELECT status AS value, count(*) AS n
            FROM version
            WHERE true
            GROUP BY 1
        ) AS counted
    )
    AS by_status,
    (
        SELECT coalesce(jsonb_object_agg(value, n), '{}')
        FROM (
            SELECT kind AS value, count(*) AS n
            FROM holding
            WHERE true
            GROUP BY 1
        ) AS counted
    )
    AS by_kind,
    (
        SELECT coalesce(jsonb_object_agg(value, n), '{}')
        FROM (
            SELECT tier AS value, count(*) AS n
            FROM holding
            WHERE true
            GROUP BY 1
        ) AS counted
    )
    AS by_tier,
    (
        SELECT coalesce(jsonb_object_agg(value, n), '{}')
        FROM (
            SELECT lifespan AS value, count(*) AS n
            FROM holding
            WHERE true
            GROUP BY 1
        ) AS counted
    )
    AS by_lifespan,
    (SELECT count(DISTINCT chain_id) FROM version) AS chains,
    (SELECT count(*) FROM crowded_slots) AS crowded_slots,
    (SELECT count(*) FROM memory_beliefs WHERE agent_id = :agent) AS beliefs,
    (SELECT count(*) FROM memory_relationships WHERE agent_id = :agent) AS relationships,
    (SELECT count(*) FROM version WHERE look_again IS NOT NULL) AS look_again,
    (SELECT coalesce(sum(bytes), 0) FROM version) AS text_bytes,
    (SELECT count(*) FROM done) AS operations,
    (SELECT encode(log_head, 'hex') FROM agents WHERE agent_id = :agent) AS log_head,
    (SELECT count(hash) FROM done) AS log_length,
    (
        SELECT coalesce(jsonb_object_agg(value, n), '{}')
        FROM (
            SELECT operation AS value, count(*) AS n
            FROM done
            WHERE true
            GROUP BY 1
        ) AS counted
    )
    AS by_operation,
    (
        SELECT coalesce(jsonb_object_agg(value, n), '{}')
        FROM (
            SELECT decided_by AS value, count(*) AS n
            FROM done
            WHERE true
            GROUP BY 1
        ) AS counted
    )
    AS by_judge,
    (
        SELECT coalesce(jsonb_object_agg(value, n), '{}')
        FROM (
            SELECT status AS value, count(*) AS n
            FROM reviews
            WHERE agent_id = :agent
            GROUP BY 1
        ) AS counted
    )
    AS by_review_status,
    (SELECT avg(strength) FROM holding) AS mean_strength,
    (
        SELECT percentile_cont(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY strength)
        FROM holding
    ) AS quartiles;


-- ===== POST /v1/sweeps =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)

-- POST /v1/sweeps
-- app/store/sweeps/runs.py create_sweep
WITH agent AS (
    INSERT INTO agents (agent_id, created_at, last_known_at)
    VALUES (:agent, clock_timestamp(), timestamptz '0001-01-01 00:00:00+00')
    ON CONFLICT DO NOTHING
)
INSERT INTO sweeps (
    agent_id, id, status, origin, slot, slot_hash, since, dry_run,
    examined, counts, findings, failures, created_at
)
VALUES (
    :agent, :id, 'queued', :origin, :slot, :slot_hash, :since, :dry_run,
    0, '{}', '[]', 0, clock_timestamp()
)
RETURNING *;

-- POST /v1/sweeps
-- app/store/sweeps/queue.py defer_sweep
;

-- POST /v1/sweeps
-- app/store/sweeps/queue.py defer_sweep
SELECT set_config('role', :value, true), set_config('search_path', :value, true);


-- ===== GET /v1/sweeps =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/sweeps
-- app/store/sweeps/runs.py list_sweeps
SELECT
    id, status, origin, slot, since, dry_run, total, examined, counts, error,
    created_at, started_at, finished_at
FROM sweeps
WHERE agent_id = :agent
ORDER BY created_at DESC, id DESC
LIMIT :limit;


-- ===== GET /v1/sweeps/{sweep_id} =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/sweeps/{sweep_id}
-- app/store/sweeps/runs.py find_sweep
SELECT * FROM sweeps WHERE agent_id = :agent AND id = :id;


-- ===== POST /v1/sweeps/{sweep_id}/cancel =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)

-- POST /v1/sweeps/{sweep_id}/cancel
-- app/store/sweeps/runs.py cancel_open_sweep
UPDATE sweeps SET status = 'cancelled', finished_at = clock.now
FROM (SELECT clock_timestamp() AS now) AS clock
WHERE agent_id = :agent AND id = :id AND status IN ('queued', 'running');
-- app/store/sweeps/runs.py cancel_open_sweep: as for GET /v1/sweeps/{sweep_id}


-- ===== GET /v1/doctor =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT ARRAY[CAST(id AS text)] AS ids, id
FROM (
    SELECT id
    FROM memories
    WHERE agent_id = :agent
        AND (
            least(valid_from, valid_until, asserted_at, said_until, retracted_at, superseded_at,
                known_from, created_at, erased_at) < timestamptz '0001-01-01 00:00:00+00'
            OR greatest(valid_from, valid_until, asserted_at, said_until, retracted_at,
                superseded_at, known_from, created_at, erased_at) > '9999-12-31 23:59:59.999999+00'
        )
    UNION
    SELECT memory_id
    FROM memory_beliefs
    WHERE agent_id = :agent AND (
        least(valid_from, valid_until, asserted_at, said_until, retracted_at, superseded_at,
            known_from, known_until) < timestamptz '0001-01-01 00:00:00+00'
        OR greatest(valid_from, valid_until, asserted_at, said_until, retracted_at, superseded_at,
            known_from, known_until) > '9999-12-31 23:59:59.999999+00'
    )
    UNION
    SELECT memory_id
    FROM memory_usage
    WHERE agent_id = :agent
        AND (
            least(last_reinforced_at, last_accessed_at) < timestamptz '0001-01-01 00:00:00+00'
            OR greatest(last_reinforced_at, last_accessed_at) > '9999-12-31 23:59:59.999999+00'
        )
) AS unreadable;

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT ARRAY[CAST(id AS text)] AS ids, id
FROM consolidation_log
WHERE agent_id = :agent AND (
    least(created_at) < timestamptz '0001-01-01 00:00:00+00'
    OR greatest(created_at) > '9999-12-31 23:59:59.999999+00'
);

-- GET /v1/doctor
-- app/store/doctor/values.py stream_value_faults
SELECT CAST(ARRAY[] AS text[]) AS ids, mode
FROM agents
WHERE agent_id = :agent;

-- GET /v1/doctor
-- app/store/doctor/values.py stream_value_faults
SELECT CAST(ARRAY[CAST(id AS text)] AS text[]) AS ids, CAST(details AS text) AS details,
    CAST(dated_by AS text) AS dated_by, kind, tier, lifespan
FROM memories
WHERE agent_id = :agent;

-- GET /v1/doctor
-- app/store/doctor/values.py stream_value_faults
SELECT CAST(ARRAY[CAST(memory_id AS text)] AS text[]) AS ids, tier
FROM memory_beliefs
WHERE agent_id = :agent;

-- GET /v1/doctor
-- app/store/doctor/values.py stream_value_faults
SELECT CAST(ARRAY[CAST(id AS text)] AS text[]) AS ids, CAST(signals AS text) AS signals,
    CAST(incoming AS text) AS incoming, CAST(before_state AS text) AS before_state,
    CAST(after_state AS text) AS after_state, CAST(usage AS text) AS usage, CAST(opinions AS text)
    AS opinions, CAST(vetoed AS text) AS vetoed, operation, relation, decided_by
FROM consolidation_log
WHERE agent_id = :agent;

-- GET /v1/doctor
-- app/store/doctor/values.py stream_value_faults
SELECT CAST(ARRAY[CAST(id AS text)] AS text[]) AS ids, operation, decided_by
FROM folded_operations
WHERE agent_id = :agent;

-- GET /v1/doctor
-- app/store/doctor/values.py stream_value_faults
SELECT CAST(ARRAY[CAST(source_id AS text)] AS text[]) AS ids, type
FROM memory_relationships
WHERE agent_id = :agent;

-- GET /v1/doctor
-- app/store/doctor/values.py stream_value_faults
SELECT CAST(ARRAY[CAST(id AS text)] AS text[]) AS ids, CAST(judgments AS text) AS judgments,
    CAST(relied_on AS text) AS relied_on, CAST(said AS text) AS said, CAST(incoming AS text) AS
    incoming, status, source, relation
FROM reviews
WHERE agent_id = :agent;

-- GET /v1/doctor
-- app/store/doctor/values.py stream_value_faults
SELECT CAST(ARRAY[CAST(memory_id AS text)] AS text[]) AS ids, CAST(told AS text) AS told,
    CAST(sealed AS text) AS sealed
FROM log_checkpoints
WHERE agent_id = :agent;

-- GET /v1/doctor
-- app/store/doctor/values.py stream_value_faults
SELECT CAST(ARRAY[CAST(id AS text)] AS text[]) AS ids, state, extract, extractor
FROM captures
WHERE agent_id = :agent;

-- GET /v1/doctor
-- app/store/doctor/values.py stream_value_faults
SELECT CAST(ARRAY[CAST(id AS text)] AS text[]) AS ids, CAST(skipped AS text) AS skipped, role
FROM turns
WHERE agent_id = :agent;

-- GET /v1/doctor
-- app/store/doctor/values.py stream_value_faults
SELECT CAST(ARRAY[CAST(id AS text)] AS text[]) AS ids, CAST(quotes AS text) AS quotes, operation
FROM captured_facts
WHERE agent_id = :agent;

-- GET /v1/doctor
-- app/store/doctor/values.py stream_value_faults
SELECT CAST(ARRAY[CAST(id AS text)] AS text[]) AS ids, CAST(slot AS text) AS slot, CAST(counts AS
    text) AS counts, CAST(findings AS text) AS findings, status, origin
FROM sweeps
WHERE agent_id = :agent;

-- GET /v1/doctor
-- app/store/doctor/values.py stream_value_faults
SELECT CAST(ARRAY[] AS text[]) AS ids, CAST(headers AS text) AS headers
FROM idempotency_keys
WHERE agent_id = :agent;

-- GET /v1/doctor
-- app/store/doctor/values.py stream_value_faults
SELECT CAST(ARRAY[] AS text[]) AS ids, CAST(stats AS text) AS stats, CAST(insights AS text) AS
    insights
FROM agent_indexes
WHERE agent_id = :agent;

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
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
WHERE a.agent_id = :agent AND l.created_at > a.last_known_at;

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
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
WHERE a.agent_id = :agent AND l.told IS DISTINCT FROM a.last_erased_at;

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
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
);

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT array_agg(CAST(id AS text)) AS ids, string_agg(CAST(id AS text), ', ') AS listed,
    created_at
FROM (
    SELECT id, created_at FROM consolidation_log WHERE agent_id = :agent
    UNION
    SELECT id, created_at FROM folded_operations WHERE agent_id = :agent
) AS operations
GROUP BY created_at
HAVING count(DISTINCT id) > 1;

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT ARRAY[CAST(id AS text), CAST(next_id AS text)] AS ids, id, next_id
FROM (
    SELECT id, valid_until, lead(id) OVER w AS next_id, lead(valid_from) OVER w AS next_from
    FROM memories
    WHERE agent_id = :agent AND NOT void AND NOT temporary
        AND valid_until IS DISTINCT FROM valid_from
    WINDOW w AS (PARTITION BY chain_id ORDER BY valid_from, asserted_at)
) AS line
WHERE next_id IS NOT NULL AND (valid_until IS NULL OR valid_until > next_from);

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
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
WHERE known_from <> due;

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
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
);

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
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
HAVING bool_or(id = origin);

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT ARRAY[CAST(l.id AS text), CAST(ref AS text)] AS ids, l.id, ref
FROM consolidation_log l
CROSS JOIN LATERAL (SELECT unnest(l.source_memory_ids || l.target_memory_id)) AS named (ref)
WHERE l.agent_id = :agent AND ref IS NOT NULL AND NOT EXISTS (
    SELECT FROM memories o WHERE o.agent_id = :agent AND o.id = named.ref
);

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT DISTINCT ARRAY[CAST(l.id AS text)] AS ids, l.id
FROM consolidation_log l
CROSS JOIN LATERAL jsonb_path_query(l.before_state || l.after_state, '$[*]') AS state
WHERE l.agent_id = :agent AND NOT state ?| CAST('{id,links,review,settled}' AS text[]);

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT ARRAY[CAST(r.source_id AS text), CAST(r.target_id AS text)] AS ids,
    r.source_id, r.target_id, r.type
FROM memory_relationships r
WHERE r.agent_id = :agent AND (
    NOT EXISTS (SELECT FROM memories m WHERE m.agent_id = :agent AND m.id = r.source_id)
    OR NOT EXISTS (SELECT FROM memories m WHERE m.agent_id = :agent AND m.id = r.target_id)
);

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
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
            timestamptz '0001-01-01 00:00:00+00'
        )
        UNION ALL
        SELECT CAST(c.memory_id AS text), link ->> 'target', link ->> 'type',
            CASE WHEN pg_input_is_valid(link ->> 'log_id', 'uuid')
            THEN CAST(link ->> 'log_id' AS uuid) END,
            true, timestamptz '0001-01-01 00:00:00+00'
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
    END;

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
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
WHERE r.agent_id = :agent AND ref IS NOT NULL AND NOT is_there;

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
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
WHERE NOT EXISTS (SELECT FROM reviews r WHERE r.agent_id = :agent AND r.log_id = l.id);

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
WITH folded AS (
    SELECT coalesce(
        (SELECT log_folded_until FROM agents WHERE agent_id = :agent),
        timestamptz '0001-01-01 00:00:00+00'
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
    END;

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT ARRAY[CAST(id AS text), CAST(decision_log_id AS text)] AS ids, id, decision_log_id
FROM reviews
WHERE agent_id = :agent AND status = 'pending' AND decision_log_id IS NOT NULL;

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
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
WHERE m.agent_id = :agent AND what IS NOT NULL;

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT ARRAY[CAST(m.id AS text)] AS ids, m.id, what
FROM memories m
CROSS JOIN LATERAL (
    SELECT concat_ws(
        ', ',
        CASE
        WHEN m.content IS DISTINCT FROM ''
        OR m.value IS DISTINCT FROM NULL
        OR m.details IS DISTINCT FROM '{}'
        OR m.dated_by IS DISTINCT FROM NULL
        OR m.tags IS DISTINCT FROM '{}'
        OR m.entities IS DISTINCT FROM '{}'
        OR m.sources IS DISTINCT FROM '{}'
        OR m.source IS DISTINCT FROM NULL
        OR m.session_id IS DISTINCT FROM NULL
        OR m.project IS DISTINCT FROM NULL
        OR m.derived_entity IS DISTINCT FROM NULL
        OR m.derived_key IS DISTINCT FROM NULL
        OR m.derived_value IS DISTINCT FROM NULL
        OR m.look_again IS DISTINCT FROM NULL
        OR (m.slot_hash = :nowhere AND (m.entity IS DISTINCT FROM ''
            OR m.category IS DISTINCT FROM ''
            OR m.key IS DISTINCT FROM NULL
            OR m.single_valued IS DISTINCT FROM NULL
            OR m.slot_entity IS DISTINCT FROM ''
            OR m.slot_category IS DISTINCT FROM ''
            OR m.slot_key IS DISTINCT FROM NULL
            OR m.slot_hash IS DISTINCT FROM :nowhere))
        OR (m.slot_hash <> :nowhere AND
            NOT EXISTS (
                SELECT FROM memories o
                WHERE o.agent_id = :agent AND o.chain_id = m.chain_id AND o.erased_at IS NULL
            )
        )
        THEN 'words'
        END,
        CASE WHEN m.embedding IS DISTINCT FROM NULL
        OR m.embedding_next IS DISTINCT FROM NULL THEN 'a vector' END,
        CASE WHEN m.content_hash IS DISTINCT FROM ''
        OR m.fuzzy_hash IS DISTINCT FROM ''
        OR m.folded_hash IS DISTINCT FROM ''
        OR m.value_hash IS DISTINCT FROM NULL
        OR m.derived_hash IS DISTINCT FROM NULL THEN 'hashes' END
    )
) AS w (what)
WHERE m.agent_id = :agent AND m.erased_at IS NOT NULL AND what <> '';

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT DISTINCT ARRAY[CAST(l.id AS text), CAST(m.id AS text)] AS ids, l.id, m.id AS memory_id
FROM consolidation_log l
CROSS JOIN LATERAL jsonb_path_query(l.before_state || l.after_state, '$[*]') AS state
JOIN memories m
    ON m.agent_id = :agent AND m.erased_at IS NOT NULL AND CAST(m.id AS text) = state ->> 'id'
WHERE l.agent_id = :agent AND (
    state ?| CAST(:texts AS text[])
    OR state -> 'metadata' ?| CAST(:texts AS text[])
    OR (m.slot_hash = :nowhere AND state ?| CAST(:slot_words AS text[]))
);

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
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
    );

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT DISTINCT ARRAY[CAST(l.id AS text), CAST(m.id AS text)] AS ids, l.id, m.id AS memory_id
FROM consolidation_log l
CROSS JOIN LATERAL jsonb_path_query(coalesce(l.opinions, l.vetoed), '$[*]') AS judged
JOIN memories m
    ON m.agent_id = :agent AND m.erased_at IS NOT NULL
    AND CAST(m.id AS text) = judged ->> 'memory_id'
WHERE l.agent_id = :agent AND coalesce(opinions, vetoed) <> '[]';

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT ARRAY[CAST(m.id AS text), CAST(o.id AS text)] AS ids, m.id, o.id AS source
FROM memories m
JOIN memories o
    ON o.agent_id = :agent AND o.id = ANY(m.merged_from) AND o.erased_at IS NOT NULL
WHERE m.agent_id = :agent AND m.erased_at IS NULL;

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT ARRAY[CAST(id AS text)] AS ids, id
FROM memories
WHERE agent_id = :agent AND cold
    AND (valid_until IS NULL OR valid_until > clock_timestamp());

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT CAST('{}' AS text[]) AS ids, f.told, a.log_folded_until AS stated
FROM agents a
CROSS JOIN LATERAL (
    SELECT max(created_at) AS told FROM folded_operations WHERE agent_id = :agent
) AS f
WHERE a.agent_id = :agent AND f.told IS DISTINCT FROM a.log_folded_until;

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT ARRAY[CAST(l.id AS text)] AS ids, l.id
FROM consolidation_log l
JOIN agents a ON a.agent_id = :agent
WHERE l.agent_id = :agent AND l.created_at <= a.log_folded_until AND NOT EXISTS (
    SELECT FROM folded_operations f
    WHERE f.agent_id = :agent AND f.id = l.id AND f.archive_id IS NULL
);

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT ARRAY[CAST(f.id AS text)] AS ids, f.id
FROM folded_operations f
WHERE f.agent_id = :agent AND f.archive_id IS NULL AND NOT EXISTS (
    SELECT FROM consolidation_log l WHERE l.agent_id = :agent AND l.id = f.id
);

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT ARRAY[CAST(a.id AS text)] AS ids, a.id, a.operations AS stated, f.known
FROM log_archives a
CROSS JOIN LATERAL (
    SELECT count(*) AS known
    FROM folded_operations
    WHERE agent_id = :agent AND archive_id = a.id
) AS f
WHERE a.agent_id = :agent AND a.operations <> f.known;

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT ARRAY[CAST(f.id AS text), CAST(ref AS text)] AS ids, f.id, ref
FROM folded_operations f
CROSS JOIN LATERAL unnest(f.memory_ids) AS ref
WHERE f.agent_id = :agent AND NOT EXISTS (
    SELECT FROM memories m WHERE m.agent_id = :agent AND m.id = ref
);

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT ARRAY[CAST(m.id AS text)] AS ids, m.id
FROM log_checkpoints c
JOIN memories m ON m.agent_id = :agent AND m.id = c.memory_id
WHERE c.agent_id = :agent AND m.erased_at IS NOT NULL AND c.sealed <> '{}';

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT ARRAY[CAST(id AS text)] AS ids, id
FROM (
    SELECT id, previous_hash, lag(hash) OVER (ORDER BY created_at, id) AS before
    FROM (
        SELECT id, operation, created_at, previous_hash, hash
        FROM consolidation_log
        WHERE agent_id = :agent
        UNION ALL
        SELECT id, operation, created_at, previous_hash, hash
        FROM folded_operations
        WHERE agent_id = :agent AND archive_id IS NOT NULL
    ) AS links
) AS pairs
WHERE previous_hash <> coalesce(before,
    decode('0000000000000000000000000000000000000000000000000000000000000000', 'hex'));

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT ARRAY[CAST(id AS text)] AS ids, id
FROM (
    SELECT id, hash, count(hash) OVER (ORDER BY created_at, id) AS linked_before
    FROM (
        SELECT id, operation, created_at, previous_hash, hash
        FROM consolidation_log
        WHERE agent_id = :agent
        UNION ALL
        SELECT id, operation, created_at, previous_hash, hash
        FROM folded_operations
        WHERE agent_id = :agent AND archive_id IS NOT NULL
    ) AS links
) AS counted
WHERE hash IS NULL AND linked_before > 0;

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT CAST('{}' AS text[]) AS ids
FROM agents a
WHERE a.agent_id = :agent AND a.log_head IS DISTINCT FROM (
    SELECT hash FROM (
        SELECT id, operation, created_at, previous_hash, hash
        FROM consolidation_log
        WHERE agent_id = :agent
        UNION ALL
        SELECT id, operation, created_at, previous_hash, hash
        FROM folded_operations
        WHERE agent_id = :agent AND archive_id IS NOT NULL
    ) AS links ORDER BY created_at DESC, id DESC LIMIT 1
);

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT ARRAY[CAST(id AS text)] AS ids, id
FROM consolidation_log
WHERE agent_id = :agent AND hash IS NOT NULL AND content_salt IS NULL
    AND created_at >= coalesce(
        (SELECT max(created_at) FROM (
            SELECT id, operation, created_at, previous_hash, hash
            FROM consolidation_log
            WHERE agent_id = :agent
            UNION ALL
            SELECT id, operation, created_at, previous_hash, hash
            FROM folded_operations
            WHERE agent_id = :agent AND archive_id IS NOT NULL
        ) AS links WHERE operation = 'ERASE'),
        '-infinity'
    );

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT ARRAY[CAST(c.id AS text), CAST(c.log_id AS text)] AS ids, c.id, c.log_id
FROM captured_facts c
WHERE c.agent_id = :agent AND c.log_id IS NOT NULL
    AND NOT EXISTS (
        SELECT FROM consolidation_log l WHERE l.agent_id = :agent AND l.id = c.log_id
    )
    AND NOT EXISTS (
        SELECT FROM folded_operations f
        WHERE f.agent_id = :agent AND f.id = c.log_id AND f.archive_id IS NOT NULL
    );

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT DISTINCT ARRAY[CAST(c.id AS text)] AS ids, c.id
FROM captures c
JOIN turns t ON t.agent_id = :agent AND t.capture_id = c.id
WHERE c.agent_id = :agent AND c.state = 'done' AND NOT t.done;

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT ARRAY[CAST(c.id AS text), CAST(m.id AS text)] AS ids, c.id, m.id AS memory_id
FROM captured_facts c
JOIN memories m
    ON m.agent_id = :agent AND m.id = c.memory_id AND m.erased_at IS NOT NULL
WHERE c.agent_id = :agent AND c.content IS NOT NULL;

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT DISTINCT ARRAY[CAST(t.id AS text), CAST(m.id AS text)] AS ids, t.id, m.id AS memory_id
FROM captured_facts c
JOIN memories m
    ON m.agent_id = :agent AND m.id = c.memory_id AND m.erased_at IS NOT NULL
CROSS JOIN LATERAL jsonb_to_recordset(c.quotes)
    AS q (turn_id uuid, "start" integer, "end" integer)
JOIN turns t ON t.agent_id = :agent AND t.id = q.turn_id
WHERE c.agent_id = :agent AND substr(t.content, q.start + 1, q.end - q.start) ~ '[^ ]';

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT ARRAY[CAST(m.id AS text)] AS ids, m.id
FROM agent_indexes a
JOIN memories m ON m.agent_id = :agent
    AND (m.created_at, m.id) <= (a.covers_until, a.covers_id)
WHERE a.agent_id = :agent AND m.erased_at IS NULL AND NOT EXISTS (
    SELECT FROM indexed_memories i WHERE i.agent_id = :agent AND i.id = m.id
);

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT ARRAY[CAST(i.id AS text)] AS ids, i.id
FROM indexed_memories i
WHERE i.agent_id = :agent AND NOT EXISTS (
    SELECT FROM memories m
    WHERE m.agent_id = :agent AND m.id = i.id AND m.erased_at IS NULL
);

-- GET /v1/doctor
-- app/store/doctor/rules/__init__.py stream_faults
SELECT CAST('{}' AS text[]) AS ids, min(unreadable_since) AS since
FROM webhook_positions
WHERE agent = :agent AND unreadable_since IS NOT NULL
HAVING count(*) > 0;

-- GET /v1/doctor
-- app/store/doctor/reads.py stream_stored_memories
SELECT log_folded_until FROM agents WHERE agent_id = :agent;

-- GET /v1/doctor
-- app/store/doctor/reads.py stream_stored_memories
SELECT CAST(id AS text) AS memory_id, created_at, revision, erased_at, entity, category, key,
    single_valued, slot_entity, slot_category, slot_key, slot_hash, content, value, details,
    dated_by, tags, entities, sources, source, session_id, project, kind, importance, confidence,
    trust, lifespan, merged_from, said_at, said_in, content_hash, fuzzy_hash, folded_hash,
    value_hash, derived_hash, look_again, cold, chain_id, valid_from, asserted_at, said_until,
    retracted_at, void, ended_by, contradicted_by, merged, temporary, tier, covered, valid_until,
    superseded_by, superseded_at, known_from,
    CASE WHEN derived_key IS NOT NULL THEN jsonb_build_object(
        'entity', derived_entity, 'key', derived_key, 'value', derived_value
    ) END AS derived
FROM memories
WHERE agent_id = :agent
ORDER BY id;

-- GET /v1/doctor
-- app/store/doctor/reads.py stream_stored_memories
SELECT *, CAST(memory_id AS text) AS memory_id
FROM memory_beliefs b
WHERE agent_id = :agent
ORDER BY b.memory_id, known_from;

-- GET /v1/doctor
-- app/store/doctor/reads.py stream_stored_memories
SELECT *, CAST(memory_id AS text) AS memory_id
FROM memory_usage u
WHERE agent_id = :agent
ORDER BY u.memory_id;

-- GET /v1/doctor
-- app/store/doctor/reads.py stream_stored_memories
WITH RECURSIVE confirmed AS (
    SELECT id, operation, target_memory_id, created_at, 1 AS times
    FROM consolidation_log
    WHERE agent_id = :agent AND operation = 'NOOP' AND relation = 'DUPLICATE'
        AND target_memory_id IS NOT NULL AND created_at <= :until
    UNION
    SELECT l.id, l.operation, c.target_memory_id, l.created_at, -c.times
    FROM confirmed c
    JOIN consolidation_log l ON l.agent_id = :agent AND l.reverts = c.id
)
SELECT * FROM (
    SELECT state ->> 'id' AS memory_id, l.id AS log_id, l.operation, l.created_at AS at,
        state, before, place, 0 AS confirmed, l.incoming ->> 'content' AS content
    FROM consolidation_log l
    CROSS JOIN LATERAL (
        SELECT true, b.*
        FROM jsonb_path_query(l.before_state, '$[*]') WITH ORDINALITY AS b
        UNION ALL
        SELECT false, a.*
        FROM jsonb_path_query(l.after_state, '$[*]') WITH ORDINALITY AS a
    ) AS states (before, state, place)
    WHERE l.agent_id = :agent AND l.created_at > :after AND l.created_at <= :until
        AND state ->> 'id' IS NOT NULL
    UNION ALL
    SELECT CAST(target_memory_id AS text), id, operation, created_at,
        '{}', false, 0, times, NULL
    FROM confirmed
    WHERE created_at > :after AND created_at <= :until
) AS steps
ORDER BY memory_id COLLATE "C", at, log_id, before DESC, place;

-- GET /v1/doctor
-- app/store/doctor/reads.py stream_stored_memories
SELECT *, CAST(memory_id AS text) AS memory_id
FROM log_checkpoints c
WHERE agent_id = :agent
ORDER BY c.memory_id;

-- GET /v1/doctor
-- app/store/doctor/reads.py stream_chains
SELECT id, created_at, revision, erased_at, entity, category, key, single_valued, slot_entity,
    slot_category, slot_key, session_id, project, kind, importance, trust, lifespan, said_at,
    content_hash, fuzzy_hash, folded_hash, value_hash, chain_id, valid_from, asserted_at,
    said_until, retracted_at, void, ended_by, contradicted_by, merged, temporary, tier, covered,
    valid_until, superseded_by, superseded_at, known_from, dated_by ->> 'from' IS NOT NULL AS
    has_dated_start
FROM memories
WHERE agent_id = :agent
ORDER BY chain_id, created_at, id;

-- GET /v1/doctor
-- app/store/doctor/reads.py list_reverts
SELECT id, operation, reverts, reverted_by
FROM consolidation_log l
WHERE agent_id = :agent AND (
    reverts IS NOT NULL OR reverted_by IS NOT NULL OR operation = 'REVERT'
    OR EXISTS (
        SELECT FROM consolidation_log u WHERE u.agent_id = :agent AND u.reverts = l.id
    )
)
ORDER BY created_at DESC, id DESC;

-- GET /v1/doctor
-- app/store/engine.py
SELECT encode(k.key_hash, 'hex') AS key_hash, k.fingerprint, k.status, k.headers, k.answer,
    k.mentioned_ids, ARRAY(
        SELECT CAST(m.id AS text)
        FROM memories m
        WHERE m.agent_id = :agent AND m.id = ANY(k.mentioned_ids) AND m.erased_at IS NOT NULL
    ) AS erased
FROM idempotency_keys k
WHERE k.agent_id = :agent
ORDER BY k.key_hash;

-- GET /v1/doctor
-- app/store/engine.py
SELECT actor, confidence, created_at, decided_by, duration_ms, id, model, operation,
    prompt_version, relation, request_id, reverts, source_memory_ids, target_memory_id,
    after_state, before_state, incoming, opinions, reasoning, session_id, signals, usage, vetoed,
    previous_hash, hash, content_digest, content_salt
FROM consolidation_log
WHERE agent_id = :agent AND hash IS NOT NULL
ORDER BY created_at, id;
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/doctor
-- app/store/log/archived.py list_archive_files
SELECT id, file, sha256
FROM log_archives
WHERE agent_id = :agent AND file IS NOT NULL
ORDER BY first_at, id;


-- ===== GET /v1/insights =====
-- app/store/insights/scope.py open_insights_snapshot: as for POST /v1/memories (a first fact)

-- GET /v1/insights
-- app/store/insights/scope.py open_insights_snapshot
SELECT
    set_config('work_mem', '64MB', true),
    set_config('jit', 'off', true),
    set_config('plan_cache_mode', 'force_custom_plan', true);

-- GET /v1/insights
-- app/store/memories.py read_moment
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
)
SELECT as_of, known_at FROM moment;

-- GET /v1/insights
-- app/store/insights/counted.py find_counted_insights
SELECT section, i.insights_as_of, CAST(i.insights -> section AS text) AS rows
FROM agent_indexes i
CROSS JOIN unnest(CAST(:sections AS text[])) AS section
WHERE i.agent_id = :agent AND i.insights IS NOT NULL;

-- GET /v1/insights
-- app/store/insights/scope.py narrow_scope
SELECT greatest(
    (
        SELECT created_at FROM (
            SELECT created_at FROM memories
            WHERE agent_id = :agent AND true AND
                (
                    created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                    AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
                )
            ORDER BY created_at DESC, id DESC
            LIMIT :examined + 1
        ) AS memories
        ORDER BY created_at DESC
            OFFSET :examined LIMIT 1
    ),
    (
        SELECT created_at FROM (
            SELECT created_at FROM consolidation_log
            WHERE agent_id = :agent AND true AND
                (
                    created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                    AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
                )
            ORDER BY created_at DESC, id DESC
            LIMIT :examined + 1
        ) AS consolidation_log
        ORDER BY created_at DESC
            OFFSET :examined LIMIT 1
    ),
    (
        SELECT created_at FROM (
            SELECT newest.created_at
            FROM (VALUES ('pending'), ('accepted'), ('rejected'), ('expired'), ('overtaken')) AS
                one (status)
            CROSS JOIN LATERAL (
                SELECT created_at FROM reviews
                WHERE agent_id = :agent AND status = one.status AND
                    (
                        created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                        AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
                    )
                ORDER BY created_at DESC, id DESC
                LIMIT :examined + 1
            ) AS newest
        ) AS reviews
        ORDER BY created_at DESC
            OFFSET :examined LIMIT 1
    )
) + interval '1 microsecond' AS since
FROM agent_indexes
WHERE agent_id = :agent;
-- app/store/log/archived.py find_archived_until: as for GET /v1/memories/{memory_id}/history

-- GET /v1/insights
-- app/store/insights/counted.py read_section
WITH top AS (
    SELECT
        line,
        CASE WHEN octet_length(line) = 16 THEN CAST(encode(line, 'hex') AS uuid) END AS chain_id,
        kind,
        count(*) AS changes,
        min(valid_from) AS first_changed_at,
        max(valid_from) AS last_changed_at
    FROM (
        SELECT slot_hash AS line, kind, valid_from
        FROM (
            SELECT
                slot_hash,
                id,
                kind,
                valid_from,
                asserted_at,
                created_at,
                coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id)) AS value,
                lag(coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id))) OVER line AS
                    value_before
            FROM memories
            WHERE agent_id = :agent AND NOT void AND slot_key IS NOT NULL AND kind <> 'constraint'
                AND single_valued IS NOT false
            WINDOW line AS (PARTITION BY slot_hash ORDER BY valid_from, asserted_at, id)
        ) AS step
        WHERE value <> value_before AND
            (
                created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
            )
        UNION ALL
        SELECT uuid_send(chain_id) AS line, kind, valid_from
        FROM (
            SELECT
                chain_id,
                id,
                kind,
                valid_from,
                asserted_at,
                created_at,
                coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id)) AS value,
                lag(coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id))) OVER line AS
                    value_before
            FROM memories
            WHERE agent_id = :agent AND NOT void AND NOT (slot_key IS NOT NULL AND kind <>
                'constraint' AND single_valued IS NOT false)
            WINDOW line AS (PARTITION BY chain_id ORDER BY valid_from, asserted_at, id)
        ) AS step
        WHERE value <> value_before AND
            (
                created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
            )
    ) AS change
    GROUP BY line, kind
    ORDER BY changes DESC, last_changed_at DESC, line, kind
    LIMIT :limit
)
SELECT top.*, whole.ids AS memory_ids, whole.versions, whole.current, last.*
FROM top
CROSS JOIN LATERAL (
    SELECT
        (array_agg(id ORDER BY valid_from DESC, asserted_at DESC, id DESC))[1:20] AS ids,
        count(*) AS versions,
        (
            array_agg(id ORDER BY valid_from DESC, asserted_at DESC, id DESC) FILTER (
                WHERE
                    member.valid_from <= :as_of
                    AND (member.valid_until IS NULL OR member.valid_until > :as_of)
                    AND (member.covered = '{}' OR width_bucket(:as_of, member.covered) % 2 = 0)
            )
        )[1] AS current
    FROM (
        SELECT id, valid_from, valid_until, covered, asserted_at
        FROM memories
        WHERE agent_id = :agent AND NOT void AND slot_key IS NOT NULL AND kind <> 'constraint' AND
            single_valued IS NOT false AND slot_hash = top.line
        UNION ALL
        SELECT id, valid_from, valid_until, covered, asserted_at
        FROM memories
        WHERE agent_id = :agent AND NOT void AND NOT (slot_key IS NOT NULL AND kind <> 'constraint'
            AND single_valued IS NOT false) AND chain_id = top.chain_id
    ) AS member
) AS whole
JOIN (
    SELECT
        id AS last_id,
        entity,
        category,
        key,
        CASE WHEN erased_at IS NULL THEN content END AS content
    FROM memories
    WHERE agent_id = :agent
) AS last ON last.last_id = whole.ids[1]
ORDER BY changes DESC, last_changed_at DESC, line, kind;

-- GET /v1/insights
-- app/store/insights/counted.py read_section
WITH top AS (
    SELECT line,
        CASE WHEN octet_length(line) = 16 THEN CAST(encode(line, 'hex') AS uuid) END AS chain_id
        , count(*) AS returns, max(valid_from) AS again_from
    FROM (
        SELECT
            slot_hash AS line,
            id,
            kind,
            valid_from,
            first_id,
            first_from,
            between_id,
            between_from
        FROM (
            SELECT
                slot_hash,
                id,
                kind,
                valid_from,
                created_at,
                value,
                lag(value, 2) OVER run AS first_value,
                lag(id, 2) OVER run AS first_id,
                lag(valid_from, 2) OVER run AS first_from,
                lag(id) OVER run AS between_id,
                lag(valid_from) OVER run AS between_from
            FROM (
                SELECT
                    slot_hash,
                    id,
                    kind,
                    valid_from,
                    asserted_at,
                    created_at,
                    coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id)) AS value,
                    lag(coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id))) OVER line AS
                        value_before
                FROM memories
                WHERE agent_id = :agent AND NOT void AND slot_key IS NOT NULL AND kind <>
                    'constraint' AND single_valued IS NOT false
                WINDOW line AS (PARTITION BY slot_hash ORDER BY valid_from, asserted_at, id)
            ) AS step
            WHERE value IS DISTINCT FROM value_before
            WINDOW run AS (PARTITION BY slot_hash ORDER BY valid_from, asserted_at, id)
        ) AS run
        WHERE value = first_value AND
            (
                created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
            )
        UNION ALL
        SELECT
            uuid_send(chain_id) AS line,
            id,
            kind,
            valid_from,
            first_id,
            first_from,
            between_id,
            between_from
        FROM (
            SELECT
                chain_id,
                id,
                kind,
                valid_from,
                created_at,
                value,
                lag(value, 2) OVER run AS first_value,
                lag(id, 2) OVER run AS first_id,
                lag(valid_from, 2) OVER run AS first_from,
                lag(id) OVER run AS between_id,
                lag(valid_from) OVER run AS between_from
            FROM (
                SELECT
                    chain_id,
                    id,
                    kind,
                    valid_from,
                    asserted_at,
                    created_at,
                    coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id)) AS value,
                    lag(coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id))) OVER line AS
                        value_before
                FROM memories
                WHERE agent_id = :agent AND NOT void AND NOT (slot_key IS NOT NULL AND kind <>
                    'constraint' AND single_valued IS NOT false)
                WINDOW line AS (PARTITION BY chain_id ORDER BY valid_from, asserted_at, id)
            ) AS step
            WHERE value IS DISTINCT FROM value_before
            WINDOW run AS (PARTITION BY chain_id ORDER BY valid_from, asserted_at, id)
        ) AS run
        WHERE value = first_value AND
            (
                created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
            )
    ) AS returned
    GROUP BY line
    ORDER BY returns DESC, again_from DESC, line
    LIMIT :limit
)
SELECT top.*, latest.*, whole.current, last.*
FROM top
CROSS JOIN LATERAL (
    SELECT
        (array_agg(id ORDER BY valid_from DESC, id DESC))[1:20] AS memory_ids,
        (array_agg(kind ORDER BY valid_from DESC, id DESC))[1] AS kind,
        (array_agg(first_id ORDER BY valid_from DESC, id DESC))[1] AS first_id,
        (array_agg(first_from ORDER BY valid_from DESC, id DESC))[1] AS first_from,
        (array_agg(between_id ORDER BY valid_from DESC, id DESC))[1] AS between_id,
        (array_agg(between_from ORDER BY valid_from DESC, id DESC))[1] AS between_from
    FROM (
        SELECT
            slot_hash AS line,
            id,
            kind,
            valid_from,
            first_id,
            first_from,
            between_id,
            between_from
        FROM (
            SELECT
                slot_hash,
                id,
                kind,
                valid_from,
                created_at,
                value,
                lag(value, 2) OVER run AS first_value,
                lag(id, 2) OVER run AS first_id,
                lag(valid_from, 2) OVER run AS first_from,
                lag(id) OVER run AS between_id,
                lag(valid_from) OVER run AS between_from
            FROM (
                SELECT
                    slot_hash,
                    id,
                    kind,
                    valid_from,
                    asserted_at,
                    created_at,
                    coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id)) AS value,
                    lag(coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id))) OVER line AS
                        value_before
                FROM memories
                WHERE agent_id = :agent AND NOT void AND slot_key IS NOT NULL AND kind <>
                    'constraint' AND single_valued IS NOT false AND slot_hash = top.line
                WINDOW line AS (PARTITION BY slot_hash ORDER BY valid_from, asserted_at, id)
            ) AS step
            WHERE value IS DISTINCT FROM value_before
            WINDOW run AS (PARTITION BY slot_hash ORDER BY valid_from, asserted_at, id)
        ) AS run
        WHERE value = first_value AND
            (
                created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
            )
        UNION ALL
        SELECT
            uuid_send(chain_id) AS line,
            id,
            kind,
            valid_from,
            first_id,
            first_from,
            between_id,
            between_from
        FROM (
            SELECT
                chain_id,
                id,
                kind,
                valid_from,
                created_at,
                value,
                lag(value, 2) OVER run AS first_value,
                lag(id, 2) OVER run AS first_id,
                lag(valid_from, 2) OVER run AS first_from,
                lag(id) OVER run AS between_id,
                lag(valid_from) OVER run AS between_from
            FROM (
                SELECT
                    chain_id,
                    id,
                    kind,
                    valid_from,
                    asserted_at,
                    created_at,
                    coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id)) AS value,
                    lag(coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id))) OVER line AS
                        value_before
                FROM memories
                WHERE agent_id = :agent AND NOT void AND NOT (slot_key IS NOT NULL AND kind <>
                    'constraint' AND single_valued IS NOT false) AND chain_id = top.chain_id
                WINDOW line AS (PARTITION BY chain_id ORDER BY valid_from, asserted_at, id)
            ) AS step
            WHERE value IS DISTINCT FROM value_before
            WINDOW run AS (PARTITION BY chain_id ORDER BY valid_from, asserted_at, id)
        ) AS run
        WHERE value = first_value AND
            (
                created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
            )
    ) AS returned
) AS latest
CROSS JOIN LATERAL (
    SELECT
        (array_agg(id ORDER BY valid_from DESC, asserted_at DESC, id DESC))[1:20] AS ids,
        count(*) AS versions,
        (
            array_agg(id ORDER BY valid_from DESC, asserted_at DESC, id DESC) FILTER (
                WHERE
                    member.valid_from <= :as_of
                    AND (member.valid_until IS NULL OR member.valid_until > :as_of)
                    AND (member.covered = '{}' OR width_bucket(:as_of, member.covered) % 2 = 0)
            )
        )[1] AS current
    FROM (
        SELECT id, valid_from, valid_until, covered, asserted_at
        FROM memories
        WHERE agent_id = :agent AND NOT void AND slot_key IS NOT NULL AND kind <> 'constraint' AND
            single_valued IS NOT false AND slot_hash = top.line
        UNION ALL
        SELECT id, valid_from, valid_until, covered, asserted_at
        FROM memories
        WHERE agent_id = :agent AND NOT void AND NOT (slot_key IS NOT NULL AND kind <> 'constraint'
            AND single_valued IS NOT false) AND chain_id = top.chain_id
    ) AS member
) AS whole
JOIN (
    SELECT
        id AS last_id,
        entity,
        category,
        key,
        CASE WHEN erased_at IS NULL THEN content END AS content
    FROM memories
    WHERE agent_id = :agent
) AS last ON last.last_id = whole.ids[1]
ORDER BY returns DESC, again_from DESC, line;

-- GET /v1/insights
-- app/store/insights/counted.py read_section
WITH lives AS MATERIALIZED (
    SELECT
        slot_hash AS line,
        id,
        kind,
        valid_from,
        CASE
        WHEN valid_until <= :as_of
        THEN date_part('epoch', valid_until - valid_from) / 86400
        END AS days
    FROM memories WHERE agent_id = :agent
        AND NOT void AND slot_key IS NOT NULL AND kind <> 'constraint' AND single_valued IS NOT
            false
        AND valid_from <= :as_of
        AND (valid_until IS NULL OR valid_until > valid_from)
        AND
        (
            created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
            AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
        )
    UNION ALL
    SELECT
        uuid_send(chain_id) AS line,
        id,
        kind,
        valid_from,
        CASE
        WHEN valid_until <= :as_of
        THEN date_part('epoch', valid_until - valid_from) / 86400
        END AS days
    FROM memories WHERE agent_id = :agent
        AND NOT void AND NOT (slot_key IS NOT NULL AND kind <> 'constraint' AND single_valued IS
            NOT false)
        AND valid_from <= :as_of
        AND (valid_until IS NULL OR valid_until > valid_from)
        AND
        (
            created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
            AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
        )
),
kinds AS (
    SELECT kind, count(days) AS ended, count(*) - count(days) AS open, avg(days) AS mean_days,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY days) AS median_days
    FROM lives
    GROUP BY kind
),
shortest AS (
    SELECT line, count(days) AS ended, count(*) - count(days) AS open, avg(days) AS mean_days
    FROM lives
    GROUP BY line
    HAVING count(days) > 0
    ORDER BY mean_days, ended DESC, line
    LIMIT :limit
),
top AS (
    SELECT
        line,
        CASE WHEN octet_length(line) = 16 THEN CAST(encode(line, 'hex') AS uuid) END AS chain_id,
        ended,
        open,
        mean_days,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY days) AS median_days,
        (array_agg(id ORDER BY valid_from DESC, id DESC))[1:20] AS memory_ids
    FROM shortest
    JOIN lives USING (line)
    WHERE days IS NOT NULL
    GROUP BY line, ended, open, mean_days
)
SELECT
    kind,
    CAST(NULL AS bytea) AS line,
    CAST(NULL AS uuid) AS chain_id,
    ended,
    open,
    mean_days,
    median_days,
    memory_ids,
    CAST(NULL AS uuid) AS current,
    CAST(NULL AS uuid) AS last_id,
    CAST(NULL AS text) AS entity,
    CAST(NULL AS text) AS category,
    CAST(NULL AS text) AS key,
    CAST(NULL AS text) AS content
FROM kinds
CROSS JOIN LATERAL (
    SELECT array_agg(id ORDER BY valid_from DESC, id DESC) AS memory_ids
    FROM (
        SELECT id, valid_from
        FROM lives
        WHERE lives.kind = kinds.kind AND days IS NOT NULL
        ORDER BY valid_from DESC, id DESC
        LIMIT 20
    ) AS newest
) AS ids
UNION ALL
SELECT
    NULL,
    line,
    chain_id,
    ended,
    open,
    mean_days,
    median_days,
    memory_ids,
    current,
    last_id,
    entity,
    category,
    key,
    content
FROM top
CROSS JOIN LATERAL (
    SELECT
        (array_agg(id ORDER BY valid_from DESC, asserted_at DESC, id DESC))[1:20] AS ids,
        count(*) AS versions,
        (
            array_agg(id ORDER BY valid_from DESC, asserted_at DESC, id DESC) FILTER (
                WHERE
                    member.valid_from <= :as_of
                    AND (member.valid_until IS NULL OR member.valid_until > :as_of)
                    AND (member.covered = '{}' OR width_bucket(:as_of, member.covered) % 2 = 0)
            )
        )[1] AS current
    FROM (
        SELECT id, valid_from, valid_until, covered, asserted_at
        FROM memories
        WHERE agent_id = :agent AND NOT void AND slot_key IS NOT NULL AND kind <> 'constraint' AND
            single_valued IS NOT false AND slot_hash = top.line
        UNION ALL
        SELECT id, valid_from, valid_until, covered, asserted_at
        FROM memories
        WHERE agent_id = :agent AND NOT void AND NOT (slot_key IS NOT NULL AND kind <> 'constraint'
            AND single_valued IS NOT false) AND chain_id = top.chain_id
    ) AS member
) AS whole
JOIN (
    SELECT
        id AS last_id,
        entity,
        category,
        key,
        CASE WHEN erased_at IS NULL THEN content END AS content
    FROM memories
    WHERE agent_id = :agent
) AS last ON last.last_id = whole.ids[1]
ORDER BY kind NULLS LAST, mean_days, ended DESC, line;

-- GET /v1/insights
-- app/store/insights/counted.py read_section
WITH bands AS (
    SELECT
        decided_by,
        band,
        count(*) AS decided,
        count(*) FILTER (WHERE retires) AS retired,
        count(*) FILTER (WHERE retires AND reverted) AS reverted
    FROM (
        SELECT
            id,
            decided_by,
            width_bucket(confidence, CAST(:thresholds AS float8[])) AS band,
            created_at,
            operation IN ('UPDATE', 'DELETE', 'SUPERSEDE') AS retires,
            reverted_by IS NOT NULL AS reverted
        FROM consolidation_log WHERE agent_id = :agent
            AND decided_by NOT IN ('caller', 'reviewer') AND (operation <> 'NOOP' OR relation <>
                'NONE')
            AND
            (
                created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
            )
    ) AS decided
    GROUP BY decided_by, band
    ORDER BY reverted DESC, retired DESC, decided_by, band DESC
    LIMIT :limit
)
SELECT
    bands.*,
    ARRAY(
        SELECT id
        FROM (
            SELECT
                id,
                decided_by,
                width_bucket(confidence, CAST(:thresholds AS float8[])) AS band,
                created_at,
                operation IN ('UPDATE', 'DELETE', 'SUPERSEDE') AS retires,
                reverted_by IS NOT NULL AS reverted
            FROM consolidation_log WHERE agent_id = :agent
                AND decided_by NOT IN ('caller', 'reviewer') AND (operation <> 'NOOP' OR relation
                    <> 'NONE')
                AND
                (
                    created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                    AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
                )
        ) AS one
        WHERE one.decided_by = bands.decided_by AND one.band = bands.band AND retires
        ORDER BY one.reverted DESC, created_at DESC, id DESC
        LIMIT 20
    ) AS log_ids
FROM bands
ORDER BY reverted DESC, retired DESC, decided_by, band DESC;

-- GET /v1/insights
-- app/store/insights/counted.py read_section
WITH combined AS (
    SELECT
        signal_names,
        count(*) FILTER (WHERE NOT reverted) AS stand,
        count(*) FILTER (WHERE reverted) AS reverted
    FROM (
        SELECT id, signal_names, created_at, reverted_by IS NOT NULL AS reverted
        FROM consolidation_log WHERE agent_id = :agent
            AND signal_names <> '[]'
            AND relation NOT IN ('NONE', 'OVERLAP') AND decided_by NOT IN ('reviewer', 'agent')
            AND
            (
                created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
            )
    ) AS operation
    GROUP BY signal_names
),
operations AS (
    SELECT
        name,
        CAST(sum(stand) AS bigint) AS stand,
        CAST(sum(reverted) AS bigint) AS reverted
    FROM combined
    CROSS JOIN LATERAL (
        SELECT DISTINCT jsonb_array_elements_text(signal_names)
    ) AS named (name)
    GROUP BY name
),
newest AS MATERIALIZED (
    SELECT *
    FROM (
        SELECT
            *,
            row_number() OVER (
                PARTITION BY signal_names, reverted ORDER BY created_at DESC, id DESC
            ) AS place
        FROM (
            SELECT id, signal_names, created_at, reverted_by IS NOT NULL AS reverted
            FROM consolidation_log WHERE agent_id = :agent
                AND signal_names <> '[]'
                AND relation NOT IN ('NONE', 'OVERLAP') AND decided_by NOT IN ('reviewer', 'agent')
                AND
                (
                    created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                    AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
                )
        ) AS operation
    ) AS placed
    WHERE place <= 20
),
proposed AS MATERIALIZED (
    SELECT name, r.id, r.status, r.created_at
    FROM reviews r
    CROSS JOIN LATERAL (
        SELECT DISTINCT signal #>> '{}'
        FROM jsonb_path_query(r.judgments, '$[*].findings[*].name') AS signal
    ) AS named (name)
    WHERE r.agent_id = :agent
        AND r.status IN ('pending', 'accepted', 'rejected', 'expired', 'overtaken')
        AND r.source <> 'frozen'
        AND
        (
            r.created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
            AND r.created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
        )
),
proposals AS (
    SELECT
        name,
        count(*) FILTER (WHERE status = 'accepted') AS accepted,
        count(*) FILTER (WHERE status = 'rejected') AS rejected,
        count(*) FILTER (WHERE status IN ('expired', 'overtaken')) AS expired,
        count(*) FILTER (WHERE status = 'pending') AS pending
    FROM proposed
    GROUP BY name
),
overruled AS (
    SELECT name, count(*) AS overruled
    FROM consolidation_log l
    CROSS JOIN LATERAL (
        SELECT DISTINCT signal #>> '{}'
        FROM jsonb_path_query(l.opinions,
            '$[*] ? (@.not_done.reason == "gate_closed" || @.not_done.reason == "model_none" || @.not_done.reason == "objected" || @.not_done.reason == "veto").signals[*]')
            AS signal
    ) AS named (name)
    WHERE l.agent_id = :agent
        AND coalesce(opinions, vetoed) <> '[]'
        AND
        (
            l.created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
            AND l.created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
        )
    GROUP BY name
),
counted AS (
    SELECT
        name,
        coalesce(stand, 0) AS stand,
        coalesce(o.reverted, 0) AS reverted,
        coalesce(accepted, 0) AS accepted,
        coalesce(rejected, 0) AS rejected,
        coalesce(expired, 0) AS expired,
        coalesce(pending, 0) AS pending,
        coalesce(overruled, 0) AS overruled
    FROM operations o
    FULL JOIN proposals p USING (name)
    FULL JOIN overruled v USING (name)
),
worst AS (
    SELECT
        *,
        reverted + rejected AS wrong,
        CAST(reverted + rejected AS float8)
        / nullif(stand + reverted + accepted + rejected, 0) AS error_rate
    FROM counted
    ORDER BY error_rate DESC NULLS LAST, wrong DESC, name
    LIMIT :limit
)
SELECT
    worst.*,
    ARRAY(
        SELECT id
        FROM newest
        WHERE jsonb_exists(newest.signal_names, worst.name)
        ORDER BY newest.reverted DESC, created_at DESC, id DESC
        LIMIT 20
    ) AS log_ids,
    ARRAY(
        SELECT id
        FROM proposed
        WHERE proposed.name = worst.name
        ORDER BY status = 'rejected' DESC, created_at DESC, id DESC
        LIMIT 20
    ) AS review_ids
FROM worst
ORDER BY error_rate DESC NULLS LAST, wrong DESC, name;

-- GET /v1/insights
-- app/store/insights/counted.py read_section
WITH binding AS MATERIALIZED (
    SELECT
        m.id,
        m.valid_from,
        m.created_at,
        greatest(
            m.created_at,
            (
                SELECT u.last_reinforced_at
                FROM memory_usage u
                WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.access_count > 0
            ),
            (
                SELECT max(l.created_at)
                FROM consolidation_log l
                WHERE l.agent_id = :agent
                    AND l.target_memory_id = m.id
                    AND l.operation = 'AMEND'
                    AND l.reverted_by IS NULL
                    AND NOT jsonb_path_exists(l.after_state, '$[*].links')
            )
        ) AS affirmed_at
    FROM memories m
    WHERE m.agent_id = :agent
        AND kind = 'constraint'
        AND NOT void
        AND NOT (slot_key IS NOT NULL AND kind <> 'constraint' AND single_valued IS NOT false)
        AND
        m.valid_from <= :as_of
        AND (m.valid_until IS NULL OR m.valid_until > :as_of)
        AND (m.covered = '{}' OR width_bucket(:as_of, m.covered) % 2 = 0)
        AND NOT m.cold
),
contradicting AS (
    SELECT
        r.target_id AS id,
        count(*) AS contradictions,
        (array_agg(r.source_id ORDER BY r.created_at DESC, r.source_id DESC))[1:20]
        AS contradicted_by
    FROM memory_relationships r
    JOIN binding ON binding.id = r.target_id
    JOIN memories f
        ON f.agent_id = :agent
        AND f.id = r.source_id
        AND NOT f.void
        AND f.created_at > binding.created_at
    WHERE r.agent_id = :agent
        AND r.type = 'contradicts'
        AND
        (
            r.created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
            AND r.created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
        )
    GROUP BY r.target_id
),
proposed AS (
    SELECT
        about.id,
        count(*) FILTER (WHERE r.status = 'pending') AS pending,
        count(*) FILTER (WHERE r.status = 'rejected') AS rejected,
        (array_agg(r.id ORDER BY r.created_at DESC, r.id DESC))[1:20] AS review_ids
    FROM reviews r
    CROSS JOIN LATERAL (
        SELECT DISTINCT named #>> '{}'
        FROM jsonb_path_query(r.judgments, '$[*].memory_id') AS named
    ) AS about (id)
    WHERE r.agent_id = :agent
        AND r.status IN ('pending', 'rejected')
        AND r.relation IN ('UPDATE', 'CONTRADICTION', 'RETRACTION')
        AND r.source <> 'frozen'
        AND
        (
            r.created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
            AND r.created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
        )
    GROUP BY about.id
),
stale AS (
    SELECT
        binding.id,
        valid_from,
        affirmed_at,
        affirmed_at <= CAST(:as_of AS timestamptz) - make_interval(days => :stale_days)
        AS is_old,
        CAST(
            floor(date_part('epoch', CAST(:as_of AS timestamptz) - affirmed_at) / 86400) AS int
        ) AS days,
        coalesce(contradictions, 0) AS contradictions,
        coalesce(contradicted_by, '{}') AS contradicted_by,
        coalesce(pending, 0) AS pending,
        coalesce(rejected, 0) AS rejected,
        coalesce(review_ids, '{}') AS review_ids
    FROM binding
    LEFT JOIN contradicting USING (id)
    LEFT JOIN proposed ON proposed.id = CAST(binding.id AS text)
),
top AS (
    SELECT * FROM stale
    WHERE is_old OR contradictions > 0 OR pending > 0 OR rejected > 0
    ORDER BY contradictions + pending + rejected DESC, affirmed_at, id
    LIMIT :limit
)
SELECT
    top.*,
    entity,
    category,
    key,
    CASE WHEN erased_at IS NULL THEN content END AS content
FROM top
JOIN memories m ON m.agent_id = :agent AND m.id = top.id
ORDER BY contradictions + pending + rejected DESC, affirmed_at, top.id;

-- GET /v1/insights
-- app/store/insights/counted.py read_section
WITH chains AS MATERIALIZED (
    SELECT chain_id, count(*) AS length
    FROM (
        SELECT chain_id
        FROM memories WHERE agent_id = :agent
            AND NOT void AND slot_key IS NOT NULL AND kind <> 'constraint' AND single_valued IS NOT
                false
            AND
            (
                created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
            )
        UNION ALL
        SELECT chain_id
        FROM memories WHERE agent_id = :agent
            AND NOT void AND NOT (slot_key IS NOT NULL AND kind <> 'constraint' AND single_valued
                IS NOT false)
            AND
            (
                created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
            )
    ) AS version
    GROUP BY chain_id
),
top AS (
    SELECT chain_id, length
    FROM chains
    ORDER BY length DESC, chain_id DESC
    LIMIT :limit
)
SELECT *
FROM (
    SELECT
        length,
        count(*) AS chains,
        CAST(NULL AS uuid) AS chain_id,
        CAST(NULL AS uuid[]) AS memory_ids,
        CAST(NULL AS text) AS kind,
        CAST(NULL AS text) AS entity,
        CAST(NULL AS text) AS category,
        CAST(NULL AS text) AS key,
        CAST(NULL AS text) AS content
    FROM chains
    GROUP BY length
    UNION ALL
    SELECT
        length,
        NULL,
        top.chain_id,
        ids,
        kind,
        entity,
        category,
        key,
        CASE WHEN erased_at IS NULL THEN content END
    FROM top
    CROSS JOIN LATERAL (
        SELECT (array_agg(id ORDER BY valid_from DESC, asserted_at DESC, id DESC))[1:20] AS ids
        FROM memories
        WHERE agent_id = :agent
            AND chain_id = top.chain_id
            AND NOT void
            AND
            (
                created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
            )
    ) AS whole
    JOIN memories AS last ON last.agent_id = :agent AND last.id = ids[1]
) AS lengths
ORDER BY
    chains IS NULL,
    CASE WHEN chains IS NULL THEN -length ELSE length END,
    chain_id DESC;


-- ===== GET /livez =====
-- no statement


-- ===== GET /readyz =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /readyz
-- app/store/ranking.py check_encoder
SELECT (SELECT name FROM encoder) AS encoder;

-- GET /readyz
-- app/store/engine.py
SELECT current_setting('transaction_read_only')::boolean AS is_read_only;


-- ===== GET /metrics =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /metrics
-- app/store/webhooks.py count_unreadable
SELECT count(DISTINCT agent) AS agents
FROM webhook_positions
WHERE unreadable_since IS NOT NULL;


-- ===== GET /version =====
-- no statement


-- ===== POST /v1/messages (a dry run) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/engine.py: as for GET /v1/reviews

-- POST /v1/messages (a dry run)
-- app/store/captures/captures.py find_messages
SELECT id, capture_id, position, message_id, role, name, content, said_at, done, skipped,
    offset_minutes
FROM turns
WHERE agent_id = :agent AND session_id = :session AND message_id = ANY(:messages);

-- POST /v1/messages (a dry run)
-- app/store/captures/captures.py list_earlier_turns
SELECT id, capture_id, position, message_id, role, name, content, said_at, done, skipped,
    offset_minutes
FROM turns
WHERE agent_id = :agent AND session_id = :session AND id < :before AND content IS NOT NULL
ORDER BY id DESC
LIMIT :limit;

-- POST /v1/messages (a dry run)
-- app/store/captures/captures.py find_stored_hashes
SELECT DISTINCT fuzzy_hash
FROM memories m
WHERE agent_id = :agent AND fuzzy_hash = ANY(:hashes) AND erased_at IS NULL AND NOT void
    AND
    m.valid_from <= clock_timestamp()
    AND (m.valid_until IS NULL OR m.valid_until > clock_timestamp())
    AND (m.covered = '{}' OR width_bucket(clock_timestamp(), m.covered) % 2 = 0);
-- app/store/comparison.py find_candidates: as for POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)
-- app/store/chains.py read_near_chains: as for POST /v1/memories (a first fact)

-- POST /v1/messages (a dry run)
-- app/store/apply.py apply_plans
WITH part0 AS (INSERT INTO memories (agent_id, id, created_at, revision, entity, category, key,
    single_valued, slot_entity, slot_category, slot_key, slot_hash, content, value, details,
    dated_by, tags, entities, sources, source, session_id, project, kind, importance, confidence,
    trust, lifespan, merged_from, said_at, said_in, content_hash, fuzzy_hash, folded_hash,
    value_hash, embedding, language, derived_entity, derived_key, derived_value, derived_hash,
    look_again, chain_id, valid_from, asserted_at, said_until, retracted_at, void, ended_by,
    contradicted_by, merged, temporary, tier, covered, valid_until, superseded_by, superseded_at,
    known_from) VALUES (:agent_id, :id, :created_at, :revision, :entity, :category, :key,
    :single_valued, :slot_entity, :slot_category, :slot_key, :slot_hash, :content, :value,
    :details, :dated_by, :tags, :entities, :sources, :source, :session_id, :project, :kind,
    :importance, :confidence, :trust, :lifespan, :merged_from, :said_at, :said_in, :content_hash,
    :fuzzy_hash, :folded_hash, :value_hash, :embedding, :language, :derived_entity, :derived_key,
    :derived_value, :derived_hash, :look_again, :chain_id, :valid_from, :asserted_at, :said_until,
    :retracted_at, :void, :ended_by, :contradicted_by, :merged, :temporary, :tier, :covered,
    :valid_until, :superseded_by, :superseded_at, :known_from)), part1 AS (INSERT INTO
    memory_relationships (agent_id, source_id, target_id, type, log_id, created_at) VALUES
    (:agent_id, :source_id, :target_id, :type, :log_id, :created_at)), part2 AS (UPDATE agents SET
    last_known_at = :last_known_at, log_head = :log_head WHERE agent_id = :agent_id) INSERT INTO
    consolidation_log (agent_id, id, operation, source_memory_ids, target_memory_id, relation,
    confidence, reasoning, signals, decided_by, incoming, before_state, after_state, model,
    prompt_version, usage, duration_ms, session_id, request_id, created_at, reverts, opinions,
    vetoed, actor, previous_hash, hash, content_digest, content_salt) VALUES (:agent_id, :id,
    :operation, :source_memory_ids, :target_memory_id, :relation, :confidence, :reasoning,
    :signals, :decided_by, :incoming, :before_state, :after_state, :model, :prompt_version, :usage,
    :duration_ms, :session_id, :request_id, :created_at, :reverts, :opinions, :vetoed, :actor,
    :previous_hash, :hash, :content_digest, :content_salt);

-- POST /v1/messages (a dry run)
-- app/store/captures/captures.py list_facts
SELECT id, turn_id, place, content, quotes, operation, memory_id, log_id, review_id, problem
FROM captured_facts
WHERE agent_id = :agent AND turn_id = ANY(:turns)
ORDER BY turn_id, place;


-- ===== POST /v1/messages (a fact) =====
-- app/store/idempotency.py find_idempotency_record: as for POST /v1/memories (a first fact)
-- app/store/idempotency.py find_idempotency_record: as for POST /v1/memories (a new value of a slot)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)

-- POST /v1/messages (a fact)
-- app/store/captures/captures.py find_capture
SELECT id, session_id, state, extract, split, trust, may_end_stated, actor, turns, repeated,
    redacted, received_at, request_id, due_at, extractor, trouble, error, finished_at FROM captures
    WHERE agent_id = :agent AND id = :id;
-- app/store/engine.py: as for GET /v1/reviews
-- app/store/captures/captures.py find_messages: as for POST /v1/messages (a dry run)

-- POST /v1/messages (a fact)
-- app/store/captures/captures.py lock_collecting_capture
SELECT id, session_id, state, extract, split, trust, may_end_stated, actor, turns, repeated,
    redacted, received_at, request_id, due_at, extractor, trouble, error, finished_at
FROM captures
WHERE agent_id = :agent AND session_id = :session AND state = 'pending'
    AND due_at IS NOT NULL AND runner IS NULL
    AND extract = :extract AND split = :split AND trust = :trust
    AND may_end_stated = :may_end_stated AND actor = :actor
ORDER BY id DESC
LIMIT 1
    FOR UPDATE;

-- POST /v1/messages (a fact)
-- app/store/captures/captures.py create_capture
INSERT INTO captures (agent_id, id, session_id, state, extract, split, trust, may_end_stated,
    actor, request_id, turns, repeated, redacted, received_at, due_at, failures) VALUES (:agent_id,
    :id, :session_id, :state, :extract, :split, :trust, :may_end_stated, :actor, :request_id,
    :turns, :repeated, :redacted, :received_at, :due_at, :failures);

-- POST /v1/messages (a fact)
-- app/store/captures/captures.py create_capture
INSERT INTO turns (agent_id, id, capture_id, position, session_id, message_id, role, name, content,
    said_at, offset_minutes, received_at, done, skipped, language) VALUES (:agent_id, :id,
    :capture_id, :position, :session_id, :message_id, :role, :name, :content, :said_at,
    :offset_minutes, :received_at, :done, :skipped, :language);

-- POST /v1/messages (a fact)
-- app/store/captures/captures.py list_turns
SELECT id, capture_id, position, message_id, role, name, content, said_at, done, skipped,
    offset_minutes
FROM turns
WHERE agent_id = :agent AND capture_id = :capture
ORDER BY position;
-- app/store/captures/captures.py list_facts: as for POST /v1/messages (a dry run)

-- POST /v1/messages (a fact)
-- app/store/captures/runs.py reopen_failed_captures
UPDATE captures SET state = 'pending', failures = 0, alive_at = NULL, finished_at = NULL
WHERE agent_id = :agent AND id = ANY(:ids) AND state = 'failed'
RETURNING id;

-- POST /v1/messages (a fact)
-- app/store/captures/runs.py claim_capture
UPDATE captures SET runner = :runner, alive_at = clock.now, due_at = NULL
FROM (
    SELECT clock_timestamp() AS now,
        clock_timestamp() - CAST(:lease AS interval) AS lease_end
) AS clock
WHERE agent_id = :agent AND id = :id AND state = 'pending'
    AND (due_at IS NULL OR due_at <= clock.now)
    AND (alive_at IS NULL OR alive_at <= clock.lease_end)
RETURNING id;
-- app/store/captures/captures.py list_earlier_turns: as for POST /v1/messages (a dry run)
-- app/store/captures/captures.py find_stored_hashes: as for POST /v1/messages (a dry run)
-- app/store/comparison.py find_candidates: as for POST /v1/memories (a first fact)

-- POST /v1/messages (a fact)
-- app/store/captures/runs.py count_open_turns
SELECT count(*) AS open
FROM turns t
JOIN captures c ON c.agent_id = :agent AND c.id = t.capture_id
WHERE t.agent_id = :agent AND t.id = ANY(:ids) AND NOT t.done
    AND c.runner = :runner AND c.state = 'pending';
-- app/store/chains.py read_near_chains: as for POST /v1/memories (a first fact)
-- app/store/apply.py apply_plans: as for POST /v1/messages (a dry run)

-- POST /v1/messages (a fact)
-- app/store/captures/runs.py finish_turns
UPDATE turns t SET done = true, skipped = CAST(r.skipped AS jsonb)
FROM unnest(CAST(:ids AS uuid[]), CAST(:skipped AS text[])) AS r (id, skipped)
WHERE t.agent_id = :agent AND t.id = r.id;

-- POST /v1/messages (a fact)
-- app/store/captures/runs.py finish_turns
INSERT INTO captured_facts (agent_id, id, turn_id, place, content, quotes, operation, memory_id,
    log_id, review_id, problem) VALUES (:agent_id, :id, :turn_id, :place, :content, :quotes,
    :operation, :memory_id, :log_id, :review_id, :problem);

-- POST /v1/messages (a fact)
-- app/store/captures/runs.py save_progress
UPDATE captures SET
    extractor = CASE WHEN extractor = 'network' THEN extractor ELSE :extractor END,
    trouble = coalesce(trouble, :trouble),
    failures = 0
WHERE agent_id = :agent AND id = :id;

-- POST /v1/messages (a fact)
-- app/store/captures/runs.py save_progress
UPDATE captures c SET state = 'done', finished_at = clock.now, error = NULL
FROM (SELECT clock_timestamp() AS now) AS clock
WHERE agent_id = :agent AND id = :id AND state = 'pending'
    AND NOT EXISTS (
        SELECT FROM turns t WHERE t.agent_id = :agent AND t.capture_id = c.id AND NOT t.done
    );
-- app/store/idempotency.py save_idempotency_record: as for POST /v1/memories (a new value of a slot)


-- ===== POST /v1/messages (sent again) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)
-- app/store/captures/captures.py find_capture: as for POST /v1/messages (a fact)
-- app/store/engine.py: as for GET /v1/reviews
-- app/store/captures/captures.py find_messages: as for POST /v1/messages (a dry run)
-- app/store/captures/captures.py create_capture: as for POST /v1/messages (a fact)
-- app/store/captures/runs.py finish_turns: as for POST /v1/messages (a fact)
-- app/store/captures/runs.py save_progress: as for POST /v1/messages (a fact)
-- app/store/captures/runs.py save_progress: as for POST /v1/messages (a fact)
-- app/store/captures/captures.py list_turns: as for POST /v1/messages (a fact)
-- app/store/captures/captures.py list_facts: as for POST /v1/messages (a dry run)

-- POST /v1/messages (sent again)
-- app/store/captures/captures.py find_turns
SELECT id, capture_id, position, message_id, role, name, content, said_at, done, skipped,
    offset_minutes FROM turns WHERE agent_id = :agent AND id = ANY(:ids);
-- app/store/captures/runs.py reopen_failed_captures: as for POST /v1/messages (a fact)


-- ===== POST /v1/messages (for a worker) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)
-- app/store/captures/captures.py find_capture: as for POST /v1/messages (a fact)
-- app/store/engine.py: as for GET /v1/reviews
-- app/store/captures/captures.py find_messages: as for POST /v1/messages (a dry run)
-- app/store/captures/captures.py lock_collecting_capture: as for POST /v1/messages (a fact)
-- app/store/captures/captures.py create_capture: as for POST /v1/messages (a fact)
-- app/store/captures/captures.py create_capture: as for POST /v1/messages (a fact)
-- app/store/captures/captures.py list_turns: as for POST /v1/messages (a fact)
-- app/store/captures/captures.py list_facts: as for POST /v1/messages (a dry run)
-- app/store/captures/runs.py reopen_failed_captures: as for POST /v1/messages (a fact)


-- ===== GET /v1/captures =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/captures
-- app/store/captures/captures.py list_captures
SELECT id, session_id, state, extract, split, trust, may_end_stated, actor, turns, repeated,
    redacted, received_at, request_id, due_at, extractor, trouble, error, finished_at, received_at
    AS created_at, (
    SELECT count(*) FROM turns t
    WHERE t.agent_id = :agent AND t.capture_id = c.id AND t.done
) AS done
FROM captures c
WHERE agent_id = :agent
ORDER BY received_at DESC, id DESC
LIMIT :limit;


-- ===== GET /v1/captures (filtered) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/captures (filtered)
-- app/store/captures/captures.py list_captures
SELECT id, session_id, state, extract, split, trust, may_end_stated, actor, turns, repeated,
    redacted, received_at, request_id, due_at, extractor, trouble, error, finished_at, received_at
    AS created_at, (
    SELECT count(*) FROM turns t
    WHERE t.agent_id = :agent AND t.capture_id = c.id AND t.done
) AS done
FROM captures c
WHERE agent_id = :agent AND session_id = :session AND state = :state
ORDER BY received_at DESC, id DESC
LIMIT :limit;


-- ===== GET /v1/captures/{capture_id} =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/captures/captures.py find_capture: as for POST /v1/messages (a fact)
-- app/store/captures/captures.py list_turns: as for POST /v1/messages (a fact)
-- app/store/captures/captures.py list_facts: as for POST /v1/messages (a dry run)


-- ===== POST /v1/captures/{capture_id}/undo =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/captures/captures.py find_capture: as for POST /v1/messages (a fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)

-- POST /v1/captures/{capture_id}/undo
-- app/store/log/archived.py refuse_archived_selection
SELECT max(created_at) AS until, count(*) AS operations
FROM folded_operations
WHERE agent_id = :agent AND archive_id IS NOT NULL AND stands
    AND operation NOT IN ('REVERT', 'ERASE') AND true AND id IN (
        SELECT f.log_id
        FROM turns t
        JOIN captured_facts f ON f.agent_id = :agent AND f.turn_id = t.id
        WHERE t.agent_id = :agent AND t.capture_id = :capture_id
    );

-- POST /v1/captures/{capture_id}/undo
-- app/store/log/reverts.py list_standing_operations
SELECT l.id
FROM consolidation_log l
WHERE l.agent_id = :agent AND l.id IN (
    SELECT f.log_id
    FROM turns t
    JOIN captured_facts f ON f.agent_id = :agent AND f.turn_id = t.id
    WHERE t.agent_id = :agent AND t.capture_id = :capture_id
) AND l.operation <> 'ERASE'
    AND (
        l.reverted_by IS NULL
        OR EXISTS (
            SELECT FROM consolidation_log r
            WHERE r.agent_id = :agent AND r.id IN (
                SELECT f.log_id
                FROM turns t
                JOIN captured_facts f ON f.agent_id = :agent AND f.turn_id = t.id
                WHERE t.agent_id = :agent AND t.capture_id = :capture_id
            ) AND r.id = l.reverted_by AND r.reverted_by IS NULL
                AND r.incoming IS NOT NULL
        )
    )
    AND (
        l.operation <> 'REVERT'
        OR l.incoming IS NOT NULL
        OR NOT EXISTS (
            SELECT FROM consolidation_log u
            WHERE u.agent_id = :agent AND u.id IN (
                SELECT f.log_id
                FROM turns t
                JOIN captured_facts f ON f.agent_id = :agent AND f.turn_id = t.id
                WHERE t.agent_id = :agent AND t.capture_id = :capture_id
            ) AND u.id = l.reverts
        )
    )
ORDER BY l.created_at DESC, l.id DESC
LIMIT :limit;
-- app/store/log/reverts.py find_done_operations: as for POST /v1/log/{log_id}/revert
-- app/store/log/archived.py refuse_archived: as for POST /v1/log/{log_id}/revert
-- app/store/log/archived.py refuse_archived_dependents: as for POST /v1/log/{log_id}/revert
-- app/store/log/reverts.py list_dependents: as for GET /v1/memories/{memory_id}/history
-- app/store/log/reverts.py list_dependents: as for POST /v1/log/{log_id}/revert
-- app/store/chains.py read_chains: as for POST /v1/memories/{memory_id}/relationships
-- app/store/apply.py apply_plans: as for POST /v1/memories/{memory_id}/supersede
-- app/store/apply.py apply_plans: as for POST /v1/memories/{memory_id}/retract
-- app/store/apply.py apply_plans: as for POST /v1/log/{log_id}/revert
-- app/store/apply.py apply_plans: as for POST /v1/log/{log_id}/revert
-- app/store/apply.py apply_plans: as for POST /v1/log/{log_id}/revert

-- POST /v1/captures/{capture_id}/undo
-- app/store/apply.py apply_plans
DELETE FROM memory_relationships
WHERE agent_id = :agent_id AND source_id = :source_id AND target_id = :target_id AND type = :type;
-- app/store/reviews/reviews.py list_open_reviews_about: as for POST /v1/memories (a new value of a slot)
-- app/store/memories.py find_memories: as for POST /v1/memories (a new value of a slot)
-- app/store/relationships.py find_made_stale: as for POST /v1/memories (a new value of a slot)


-- ===== GET /v1/export =====
-- app/store/transfer/exports.py stream_blocks: as for POST /v1/memories (a first fact)

-- GET /v1/export
-- app/store/transfer/exports.py stream_blocks
SELECT set_on_every_node(:setting, :value);

-- GET /v1/export
-- app/store/transfer/exports.py stream_blocks
SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS created_at,
    to_char(last_known_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS last_known_at,
    to_char(last_erased_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS last_erased_at,
    mode AS mode, to_char(log_folded_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS
    log_folded_until, encode(log_head, 'hex') AS log_head, timezone AS timezone,
    to_char(closures_counted_from AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS
    closures_counted_from FROM agents WHERE agent_id = :agent_id;

-- GET /v1/export
-- app/store/transfer/exports.py stream_blocks
SELECT name AS encoder, dimensions FROM encoder;

-- GET /v1/export
-- app/store/transfer/exports.py stream_blocks
COPY (
    SELECT row_to_json(line)::text, substring(vector_send(t.embedding) FROM 5)
    FROM memories t
    CROSS JOIN LATERAL (
        SELECT 'memory' AS type, id AS id, to_char(created_at AT TIME ZONE 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS created_at, revision AS revision, to_char(erased_at
            AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS erased_at, entity AS entity,
            category AS category, key AS key, single_valued AS single_valued, slot_entity AS
            slot_entity, slot_category AS slot_category, slot_key AS slot_key, encode(slot_hash,
            'hex') AS slot_hash, content AS content, value AS value, details AS details, dated_by
            AS dated_by, tags AS tags, entities AS entities, sources AS sources, source AS source,
            session_id AS session_id, project AS project, kind AS kind, importance AS importance,
            confidence AS confidence, trust AS trust, lifespan AS lifespan, merged_from AS
            merged_from, to_char(said_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS
            said_at, said_in AS said_in, encode(content_hash, 'hex') AS content_hash,
            encode(fuzzy_hash, 'hex') AS fuzzy_hash, encode(folded_hash, 'hex') AS folded_hash,
            encode(value_hash, 'hex') AS value_hash, language::text AS language, derived_entity AS
            derived_entity, derived_key AS derived_key, derived_value AS derived_value,
            encode(derived_hash, 'hex') AS derived_hash, look_again AS look_again, chain_id AS
            chain_id, to_char(valid_from AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS
            valid_from, to_char(asserted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS
            asserted_at, to_char(said_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS
            said_until, to_char(retracted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
            AS retracted_at, void AS void, ended_by AS ended_by, contradicted_by AS
            contradicted_by, merged AS merged, temporary AS temporary, tier AS tier, covered AS
            covered, to_char(valid_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS
            valid_until, superseded_by AS superseded_by, to_char(superseded_at AT TIME ZONE 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS superseded_at, to_char(known_from AT TIME ZONE
            'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS known_from
    ) AS line
    WHERE t.agent_id = :agent_id
    ORDER BY t.created_at, t.id
) TO STDOUT (FORMAT BINARY);

-- GET /v1/export
-- app/store/transfer/exports.py stream_blocks
COPY (
    SELECT row_to_json(line)::text, NULL::bytea
    FROM memory_beliefs t
    CROSS JOIN LATERAL (
        SELECT 'belief' AS type, memory_id AS memory_id, to_char(known_until AT TIME ZONE 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS known_until, chain_id AS chain_id,
            to_char(valid_from AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS valid_from,
            to_char(asserted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS
            asserted_at, to_char(said_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS
            said_until, to_char(retracted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
            AS retracted_at, void AS void, ended_by AS ended_by, contradicted_by AS
            contradicted_by, merged AS merged, temporary AS temporary, tier AS tier, covered AS
            covered, to_char(valid_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS
            valid_until, superseded_by AS superseded_by, to_char(superseded_at AT TIME ZONE 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS superseded_at, to_char(known_from AT TIME ZONE
            'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS known_from
    ) AS line
    WHERE t.agent_id = :agent_id
    ORDER BY t.memory_id, t.known_from
) TO STDOUT (FORMAT BINARY);

-- GET /v1/export
-- app/store/transfer/exports.py stream_blocks
COPY (
    SELECT row_to_json(line)::text, NULL::bytea
    FROM memory_usage t
    CROSS JOIN LATERAL (
        SELECT 'usage' AS type, memory_id AS memory_id, access_count AS access_count,
            to_char(last_accessed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS
            last_accessed_at, to_char(last_reinforced_at AT TIME ZONE 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS last_reinforced_at, use_count AS use_count
    ) AS line
    WHERE t.agent_id = :agent_id
    ORDER BY t.memory_id
) TO STDOUT (FORMAT BINARY);

-- GET /v1/export
-- app/store/transfer/exports.py stream_blocks
COPY (
    SELECT row_to_json(line)::text, NULL::bytea
    FROM consolidation_log t
    CROSS JOIN LATERAL (
        SELECT 'operation' AS type, id AS id, operation AS operation, source_memory_ids AS
            source_memory_ids, target_memory_id AS target_memory_id, relation AS relation,
            confidence AS confidence, reasoning AS reasoning, signals AS signals, decided_by AS
            decided_by, incoming AS incoming, before_state AS before_state, after_state AS
            after_state, model AS model, prompt_version AS prompt_version, usage AS usage,
            duration_ms AS duration_ms, session_id AS session_id, request_id AS request_id,
            to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS created_at,
            reverts AS reverts, reverted_by AS reverted_by, opinions AS opinions, vetoed AS vetoed,
            actor AS actor, encode(previous_hash, 'hex') AS previous_hash, encode(hash, 'hex') AS
            hash, encode(content_digest, 'hex') AS content_digest, encode(content_salt, 'hex') AS
            content_salt
    ) AS line
    WHERE t.agent_id = :agent_id
    ORDER BY t.created_at, t.id
) TO STDOUT (FORMAT BINARY);

-- GET /v1/export
-- app/store/transfer/exports.py stream_blocks
COPY (
    SELECT row_to_json(line)::text, NULL::bytea
    FROM log_checkpoints t
    CROSS JOIN LATERAL (
        SELECT 'checkpoint' AS type, memory_id AS memory_id, told AS told, sealed AS sealed
    ) AS line
    WHERE t.agent_id = :agent_id
    ORDER BY t.memory_id
) TO STDOUT (FORMAT BINARY);

-- GET /v1/export
-- app/store/transfer/exports.py stream_blocks
COPY (
    SELECT row_to_json(line)::text, NULL::bytea
    FROM log_archives t
    CROSS JOIN LATERAL (
        SELECT 'archive' AS type, id AS id, operations AS operations, to_char(first_at AT TIME ZONE
            'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS first_at, to_char(last_at AT TIME ZONE
            'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS last_at
    ) AS line
    WHERE t.agent_id = :agent_id
    ORDER BY t.id
) TO STDOUT (FORMAT BINARY);

-- GET /v1/export
-- app/store/transfer/exports.py stream_blocks
COPY (
    SELECT row_to_json(line)::text, NULL::bytea
    FROM folded_operations t
    CROSS JOIN LATERAL (
        SELECT 'folded' AS type, id AS id, archive_id AS archive_id, operation AS operation,
            decided_by AS decided_by, request_id AS request_id, memory_ids AS memory_ids, stands AS
            stands, proposed AS proposed, to_char(created_at AT TIME ZONE 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS created_at, actor AS actor, encode(previous_hash,
            'hex') AS previous_hash, encode(hash, 'hex') AS hash
    ) AS line
    WHERE t.agent_id = :agent_id
    ORDER BY t.id
) TO STDOUT (FORMAT BINARY);

-- GET /v1/export
-- app/store/transfer/exports.py stream_blocks
COPY (
    SELECT row_to_json(line)::text, NULL::bytea
    FROM memory_relationships t
    CROSS JOIN LATERAL (
        SELECT 'relationship' AS type, source_id AS source_id, target_id AS target_id, type AS
            relationship_type, log_id AS log_id, to_char(created_at AT TIME ZONE 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS created_at
    ) AS line
    WHERE t.agent_id = :agent_id
    ORDER BY t.source_id, t.target_id, t.type
) TO STDOUT (FORMAT BINARY);

-- GET /v1/export
-- app/store/transfer/exports.py stream_blocks
COPY (
    SELECT row_to_json(line)::text, NULL::bytea
    FROM reviews t
    CROSS JOIN LATERAL (
        SELECT 'review' AS type, id AS id, status AS status, source AS source, relation AS
            relation, memory_id AS memory_id, log_id AS log_id, judgments AS judgments, relied_on
            AS relied_on, to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
            AS created_at, said AS said, incoming AS incoming, note AS note, to_char(decided_at AT
            TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS decided_at, decision_log_id AS
            decision_log_id
    ) AS line
    WHERE t.agent_id = :agent_id
    ORDER BY t.id
) TO STDOUT (FORMAT BINARY);

-- GET /v1/export
-- app/store/transfer/exports.py stream_blocks
COPY (
    SELECT row_to_json(line)::text, NULL::bytea
    FROM captures t
    CROSS JOIN LATERAL (
        SELECT 'capture' AS type, id AS id, session_id AS session_id, state AS state, extract AS
            extract, split AS split, trust AS trust, may_end_stated AS may_end_stated, extractor AS
            extractor, trouble AS trouble, actor AS actor, request_id AS request_id, turns AS
            turns, repeated AS repeated, redacted AS redacted, to_char(received_at AT TIME ZONE
            'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS received_at, to_char(finished_at AT TIME
            ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS finished_at, failures AS failures,
            error AS error
    ) AS line
    WHERE t.agent_id = :agent_id
    ORDER BY t.id
) TO STDOUT (FORMAT BINARY);

-- GET /v1/export
-- app/store/transfer/exports.py stream_blocks
COPY (
    SELECT row_to_json(line)::text, NULL::bytea
    FROM turns t
    CROSS JOIN LATERAL (
        SELECT 'turn' AS type, id AS id, capture_id AS capture_id, position AS position, session_id
            AS session_id, message_id AS message_id, role AS role, name AS name, content AS
            content, to_char(said_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS
            said_at, offset_minutes AS offset_minutes, to_char(received_at AT TIME ZONE 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS received_at, done AS done, skipped AS skipped,
            language::text AS language
    ) AS line
    WHERE t.agent_id = :agent_id
    ORDER BY t.id
) TO STDOUT (FORMAT BINARY);

-- GET /v1/export
-- app/store/transfer/exports.py stream_blocks
COPY (
    SELECT row_to_json(line)::text, NULL::bytea
    FROM captured_facts t
    CROSS JOIN LATERAL (
        SELECT 'captured' AS type, id AS id, turn_id AS turn_id, place AS place, content AS
            content, quotes AS quotes, operation AS operation, memory_id AS memory_id, log_id AS
            log_id, review_id AS review_id, problem AS problem
    ) AS line
    WHERE t.agent_id = :agent_id
    ORDER BY t.id
) TO STDOUT (FORMAT BINARY);


-- ===== GET /v1/export (with vectors) =====
-- app/store/transfer/exports.py stream_blocks: as for POST /v1/memories (a first fact)
-- app/store/transfer/exports.py stream_blocks: as for GET /v1/export
-- app/store/transfer/exports.py stream_blocks: as for GET /v1/export
-- app/store/transfer/exports.py stream_blocks: as for GET /v1/export
-- app/store/transfer/exports.py stream_blocks: as for GET /v1/export
-- app/store/transfer/exports.py stream_blocks: as for GET /v1/export
-- app/store/transfer/exports.py stream_blocks: as for GET /v1/export
-- app/store/transfer/exports.py stream_blocks: as for GET /v1/export
-- app/store/transfer/exports.py stream_blocks: as for GET /v1/export
-- app/store/transfer/exports.py stream_blocks: as for GET /v1/export
-- app/store/transfer/exports.py stream_blocks: as for GET /v1/export
-- app/store/transfer/exports.py stream_blocks: as for GET /v1/export
-- app/store/transfer/exports.py stream_blocks: as for GET /v1/export
-- app/store/transfer/exports.py stream_blocks: as for GET /v1/export
-- app/store/transfer/exports.py stream_blocks: as for GET /v1/export
-- app/store/transfer/exports.py stream_blocks: as for GET /v1/export


-- ===== POST /v1/import (a history) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)

-- POST /v1/import (a history)
-- app/store/engine.py
DISCARD PLANS;
-- app/store/chains.py read_near_chains: as for POST /v1/memories (a first fact)
-- app/store/apply.py apply_plans: as for POST /v1/memories (a first fact)


-- ===== POST /v1/import (an export) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- POST /v1/import (an export)
-- app/store/transfer/imports.py read_import_target
SELECT clock_timestamp() AS clock,
    NOT EXISTS (SELECT FROM memories WHERE agent_id = :agent)
    AND NOT EXISTS (SELECT FROM consolidation_log WHERE agent_id = :agent)
    AND NOT EXISTS (SELECT FROM folded_operations WHERE agent_id = :agent)
    AND NOT EXISTS (SELECT FROM captures WHERE agent_id = :agent) AS empty;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py read_import_target
SELECT json_object_agg(oid::regconfig::text, oid::bigint) AS oids FROM pg_ts_config;
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)
-- app/store/engine.py: as for GET /v1/export
-- app/store/engine.py: as for POST /v1/import (a history)

-- POST /v1/import (an export)
-- app/store/transfer/imports.py set_agent
UPDATE agents SET created_at = :created_at, last_known_at = :last_known_at, last_erased_at =
    :last_erased_at, mode = :mode, log_folded_until = :log_folded_until, log_head = :log_head,
    timezone = :timezone, closures_counted_from = :closures_counted_from WHERE agent_id = :agent_id;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
CREATE TEMP TABLE IF NOT EXISTS incoming_memories (LIKE memories INCLUDING DEFAULTS INCLUDING
    CONSTRAINTS, CONSTRAINT memories_pkey PRIMARY KEY (agent_id, id)) ON COMMIT DROP;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
COPY incoming_memories (agent_id, id, created_at, revision, erased_at, entity, category, key,
    single_valued, slot_entity, slot_category, slot_key, slot_hash, content, value, details,
    dated_by, tags, entities, sources, source, session_id, project, kind, importance, confidence,
    trust, lifespan, merged_from, said_at, said_in, content_hash, fuzzy_hash, folded_hash,
    value_hash, embedding, language, derived_entity, derived_key, derived_value, derived_hash,
    look_again, chain_id, valid_from, asserted_at, said_until, retracted_at, void, ended_by,
    contradicted_by, merged, temporary, tier, covered, valid_until, superseded_by, superseded_at,
    known_from) FROM STDIN (FORMAT BINARY);

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
SELECT chain_id AS id FROM incoming_memories WHERE chain_id IS NOT NULL
    EXCEPT
    (SELECT id FROM memories WHERE agent_id = :agent UNION ALL SELECT id FROM incoming_memories)
LIMIT 1;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
SELECT contradicted_by AS id FROM incoming_memories WHERE contradicted_by IS NOT NULL
    EXCEPT
    (SELECT id FROM memories WHERE agent_id = :agent UNION ALL SELECT id FROM incoming_memories)
LIMIT 1;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
SELECT ended_by AS id FROM incoming_memories WHERE ended_by IS NOT NULL
    EXCEPT
    (SELECT id FROM memories WHERE agent_id = :agent UNION ALL SELECT id FROM incoming_memories)
LIMIT 1;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
SELECT superseded_by AS id FROM incoming_memories WHERE superseded_by IS NOT NULL
    EXCEPT
    (SELECT id FROM memories WHERE agent_id = :agent UNION ALL SELECT id FROM incoming_memories)
LIMIT 1;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
INSERT INTO memories (agent_id, id, created_at, revision, erased_at, entity, category, key,
    single_valued, slot_entity, slot_category, slot_key, slot_hash, content, value, details,
    dated_by, tags, entities, sources, source, session_id, project, kind, importance, confidence,
    trust, lifespan, merged_from, said_at, said_in, content_hash, fuzzy_hash, folded_hash,
    value_hash, embedding, language, derived_entity, derived_key, derived_value, derived_hash,
    look_again, chain_id, valid_from, asserted_at, said_until, retracted_at, void, ended_by,
    contradicted_by, merged, temporary, tier, covered, valid_until, superseded_by, superseded_at,
    known_from) SELECT agent_id, id, created_at, revision, erased_at, entity, category, key,
    single_valued, slot_entity, slot_category, slot_key, slot_hash, content, value, details,
    dated_by, tags, entities, sources, source, session_id, project, kind, importance, confidence,
    trust, lifespan, merged_from, said_at, said_in, content_hash, fuzzy_hash, folded_hash,
    value_hash, embedding, language, derived_entity, derived_key, derived_value, derived_hash,
    look_again, chain_id, valid_from, asserted_at, said_until, retracted_at, void, ended_by,
    contradicted_by, merged, temporary, tier, covered, valid_until, superseded_by, superseded_at,
    known_from FROM incoming_memories;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
TRUNCATE incoming_memories;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
CREATE TEMP TABLE IF NOT EXISTS incoming_memory_beliefs (LIKE memory_beliefs INCLUDING DEFAULTS
    INCLUDING CONSTRAINTS, CONSTRAINT memory_beliefs_pkey PRIMARY KEY (agent_id, memory_id,
    known_from)) ON COMMIT DROP;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
COPY incoming_memory_beliefs (agent_id, memory_id, known_until, chain_id, valid_from, asserted_at,
    said_until, retracted_at, void, ended_by, contradicted_by, merged, temporary, tier, covered,
    valid_until, superseded_by, superseded_at, known_from) FROM STDIN (FORMAT BINARY);

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
SELECT memory_id AS id FROM incoming_memory_beliefs WHERE memory_id IS NOT NULL
    EXCEPT
    (SELECT id FROM memories WHERE agent_id = :agent )
LIMIT 1;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
INSERT INTO memory_beliefs (agent_id, memory_id, known_until, chain_id, valid_from, asserted_at,
    said_until, retracted_at, void, ended_by, contradicted_by, merged, temporary, tier, covered,
    valid_until, superseded_by, superseded_at, known_from) SELECT agent_id, memory_id, known_until,
    chain_id, valid_from, asserted_at, said_until, retracted_at, void, ended_by, contradicted_by,
    merged, temporary, tier, covered, valid_until, superseded_by, superseded_at, known_from FROM
    incoming_memory_beliefs;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
TRUNCATE incoming_memory_beliefs;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
CREATE TEMP TABLE IF NOT EXISTS incoming_consolidation_log (LIKE consolidation_log INCLUDING
    DEFAULTS INCLUDING CONSTRAINTS, CONSTRAINT consolidation_log_pkey PRIMARY KEY (agent_id, id))
    ON COMMIT DROP;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
COPY incoming_consolidation_log (agent_id, id, operation, source_memory_ids, target_memory_id,
    relation, confidence, reasoning, signals, decided_by, incoming, before_state, after_state,
    model, prompt_version, usage, duration_ms, session_id, request_id, created_at, reverts,
    reverted_by, opinions, vetoed, actor, previous_hash, hash, content_digest, content_salt) FROM
    STDIN (FORMAT BINARY);

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
INSERT INTO consolidation_log (agent_id, id, operation, source_memory_ids, target_memory_id,
    relation, confidence, reasoning, signals, decided_by, incoming, before_state, after_state,
    model, prompt_version, usage, duration_ms, session_id, request_id, created_at, reverts,
    reverted_by, opinions, vetoed, actor, previous_hash, hash, content_digest, content_salt) SELECT
    agent_id, id, operation, source_memory_ids, target_memory_id, relation, confidence, reasoning,
    signals, decided_by, incoming, before_state, after_state, model, prompt_version, usage,
    duration_ms, session_id, request_id, created_at, reverts, reverted_by, opinions, vetoed, actor,
    previous_hash, hash, content_digest, content_salt FROM incoming_consolidation_log;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
TRUNCATE incoming_consolidation_log;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
CREATE TEMP TABLE IF NOT EXISTS incoming_memory_relationships (LIKE memory_relationships INCLUDING
    DEFAULTS INCLUDING CONSTRAINTS, CONSTRAINT memory_relationships_pkey PRIMARY KEY (agent_id,
    source_id, target_id, type)) ON COMMIT DROP;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
COPY incoming_memory_relationships (agent_id, source_id, target_id, type, log_id, created_at) FROM
    STDIN (FORMAT BINARY);

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
SELECT source_id AS id FROM incoming_memory_relationships WHERE source_id IS NOT NULL
    EXCEPT
    (SELECT id FROM memories WHERE agent_id = :agent )
LIMIT 1;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
SELECT target_id AS id FROM incoming_memory_relationships WHERE target_id IS NOT NULL
    EXCEPT
    (SELECT id FROM memories WHERE agent_id = :agent )
LIMIT 1;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
INSERT INTO memory_relationships (agent_id, source_id, target_id, type, log_id, created_at) SELECT
    agent_id, source_id, target_id, type, log_id, created_at FROM incoming_memory_relationships;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
TRUNCATE incoming_memory_relationships;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
CREATE TEMP TABLE IF NOT EXISTS incoming_reviews (LIKE reviews INCLUDING DEFAULTS INCLUDING
    CONSTRAINTS, CONSTRAINT reviews_pkey PRIMARY KEY (agent_id, id)) ON COMMIT DROP;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
COPY incoming_reviews (agent_id, id, status, source, relation, memory_id, log_id, judgments,
    relied_on, created_at, said, incoming, note, decided_at, decision_log_id) FROM STDIN (FORMAT
    BINARY);

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
SELECT memory_id AS id FROM incoming_reviews WHERE memory_id IS NOT NULL
    EXCEPT
    (SELECT id FROM memories WHERE agent_id = :agent )
LIMIT 1;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
INSERT INTO reviews (agent_id, id, status, source, relation, memory_id, log_id, judgments,
    relied_on, created_at, said, incoming, note, decided_at, decision_log_id) SELECT agent_id, id,
    status, source, relation, memory_id, log_id, judgments, relied_on, created_at, said, incoming,
    note, decided_at, decision_log_id FROM incoming_reviews;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
TRUNCATE incoming_reviews;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
CREATE TEMP TABLE IF NOT EXISTS incoming_captures (LIKE captures INCLUDING DEFAULTS INCLUDING
    CONSTRAINTS, CONSTRAINT captures_pkey PRIMARY KEY (agent_id, id)) ON COMMIT DROP;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
COPY incoming_captures (agent_id, id, session_id, state, extract, split, trust, may_end_stated,
    extractor, trouble, actor, request_id, turns, repeated, redacted, received_at, finished_at,
    failures, error) FROM STDIN (FORMAT BINARY);

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
INSERT INTO captures (agent_id, id, session_id, state, extract, split, trust, may_end_stated,
    extractor, trouble, actor, request_id, turns, repeated, redacted, received_at, finished_at,
    failures, error) SELECT agent_id, id, session_id, state, extract, split, trust, may_end_stated,
    extractor, trouble, actor, request_id, turns, repeated, redacted, received_at, finished_at,
    failures, error FROM incoming_captures;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
TRUNCATE incoming_captures;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
CREATE TEMP TABLE IF NOT EXISTS incoming_turns (LIKE turns INCLUDING DEFAULTS INCLUDING
    CONSTRAINTS, CONSTRAINT turns_pkey PRIMARY KEY (agent_id, id)) ON COMMIT DROP;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
COPY incoming_turns (agent_id, id, capture_id, position, session_id, message_id, role, name,
    content, said_at, offset_minutes, received_at, done, skipped, language) FROM STDIN (FORMAT
    BINARY);

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
SELECT capture_id AS id FROM incoming_turns WHERE capture_id IS NOT NULL
    EXCEPT
    (SELECT id FROM captures WHERE agent_id = :agent )
LIMIT 1;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
INSERT INTO turns (agent_id, id, capture_id, position, session_id, message_id, role, name, content,
    said_at, offset_minutes, received_at, done, skipped, language) SELECT agent_id, id, capture_id,
    position, session_id, message_id, role, name, content, said_at, offset_minutes, received_at,
    done, skipped, language FROM incoming_turns;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
TRUNCATE incoming_turns;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
CREATE TEMP TABLE IF NOT EXISTS incoming_captured_facts (LIKE captured_facts INCLUDING DEFAULTS
    INCLUDING CONSTRAINTS, CONSTRAINT captured_facts_pkey PRIMARY KEY (agent_id, id)) ON COMMIT
    DROP;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
COPY incoming_captured_facts (agent_id, id, turn_id, place, content, quotes, operation, memory_id,
    log_id, review_id, problem) FROM STDIN (FORMAT BINARY);

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
SELECT memory_id AS id FROM incoming_captured_facts WHERE memory_id IS NOT NULL
    EXCEPT
    (SELECT id FROM memories WHERE agent_id = :agent )
LIMIT 1;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
SELECT turn_id AS id FROM incoming_captured_facts WHERE turn_id IS NOT NULL
    EXCEPT
    (SELECT id FROM turns WHERE agent_id = :agent )
LIMIT 1;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
INSERT INTO captured_facts (agent_id, id, turn_id, place, content, quotes, operation, memory_id,
    log_id, review_id, problem) SELECT agent_id, id, turn_id, place, content, quotes, operation,
    memory_id, log_id, review_id, problem FROM incoming_captured_facts;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py insert_rows
TRUNCATE incoming_captured_facts;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py check_imported_history
SELECT m.id
FROM memories m
WHERE m.agent_id = :agent
    AND NOT EXISTS (
        SELECT FROM consolidation_log l
        WHERE l.agent_id = :agent AND l.created_at = m.created_at
            AND (l.target_memory_id = m.id OR m.id = ANY(l.source_memory_ids))
    )
    AND NOT EXISTS (
        SELECT FROM folded_operations f
        WHERE f.agent_id = :agent AND f.created_at = m.created_at
            AND f.memory_ids @> ARRAY[m.id]
    )
LIMIT 1;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py check_imported_history
SELECT r.log_id AS id
FROM reviews r
WHERE r.agent_id = :agent AND r.log_id IS NOT NULL
    AND NOT EXISTS (
        SELECT FROM consolidation_log l WHERE l.agent_id = :agent AND l.id = r.log_id
    )
    AND NOT EXISTS (
        SELECT FROM folded_operations f
        WHERE f.agent_id = :agent AND f.id = r.log_id AND f.archive_id IS NOT NULL
    )
LIMIT 1;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py check_imported_history
SELECT quote ->> 'turn_id' AS id
FROM captured_facts f
CROSS JOIN LATERAL jsonb_array_elements(f.quotes) AS quote
WHERE f.agent_id = :agent
    AND NOT EXISTS (
        SELECT FROM turns t
        WHERE t.agent_id = :agent AND t.id = CAST(quote ->> 'turn_id' AS uuid)
    )
LIMIT 1;

-- POST /v1/import (an export)
-- app/store/transfer/imports.py check_imported_history
SELECT id
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
LIMIT 1;

-- POST /v1/import (an export)
-- app/store/chains.py group_by_chain
SELECT id, created_at, revision, erased_at, entity, category, key, single_valued, slot_entity,
    slot_category, slot_key, session_id, project, kind, importance, trust, lifespan, said_at,
    content_hash, fuzzy_hash, folded_hash, value_hash, chain_id, valid_from, asserted_at,
    said_until, retracted_at, void, ended_by, contradicted_by, merged, temporary, tier, covered,
    valid_until, superseded_by, superseded_at, known_from, dated_by ->> 'from' IS NOT NULL AS
    has_dated_start
FROM memories
WHERE agent_id = :agent AND chain_id IN (
    SELECT chain_id
    FROM memories
    WHERE agent_id = :agent
    GROUP BY chain_id
    HAVING count(*) > 1 OR NOT bool_and(
        id = chain_id
        AND said_until IS NULL
        AND retracted_at IS NULL
        AND NOT void
        AND ended_by IS NULL
        AND valid_until IS NULL
        AND superseded_by IS NULL
        AND covered = '{}'
    )
)
ORDER BY chain_id, created_at, id;


-- ===== DELETE /v1/memories/{memory_id} =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)
-- app/store/chains.py read_chains: as for POST /v1/memories/{memory_id}/relationships
-- app/store/apply.py apply_plans: as for POST /v1/memories/{memory_id}/supersede
-- app/store/apply.py apply_plans: as for POST /v1/memories/{memory_id}/retract
-- app/store/reviews/reviews.py list_open_reviews_about: as for POST /v1/memories (a new value of a slot)
-- app/store/memories.py find_memories: as for POST /v1/memories (a new value of a slot)
-- app/store/relationships.py find_made_stale: as for POST /v1/memories (a new value of a slot)


-- ===== POST /v1/sessions/{session_id}/end =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)
-- app/store/engine.py: as for GET /v1/reviews

-- POST /v1/sessions/{session_id}/end
-- app/store/lifespans.py list_ids_to_end
SELECT id
FROM memories
WHERE agent_id = :agent
    AND session_id = :name
    AND erased_at IS NULL
    AND NOT void
    AND (valid_until IS NULL OR valid_until > greatest(:at, valid_from))
    AND lifespan = :lifespan
ORDER BY chain_id, created_at, id;
-- app/store/chains.py read_chains: as for POST /v1/memories/{memory_id}/relationships
-- app/store/apply.py apply_plans: as for POST /v1/memories/{memory_id}/supersede
-- app/store/apply.py apply_plans: as for POST /v1/memories/{memory_id}/retract
-- app/store/reviews/reviews.py list_open_reviews_about: as for POST /v1/memories (a new value of a slot)

-- POST /v1/sessions/{session_id}/end
-- app/store/lifespans.py count_going_on
SELECT count(*) AS going_on
FROM memories
WHERE agent_id = :agent
    AND session_id = :name
    AND erased_at IS NULL
    AND NOT void
    AND (valid_until IS NULL OR valid_until > greatest(:at, valid_from));


-- ===== POST /v1/projects/{project}/end =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)
-- app/store/engine.py: as for GET /v1/reviews

-- POST /v1/projects/{project}/end
-- app/store/lifespans.py list_ids_to_end
SELECT id
FROM memories
WHERE agent_id = :agent
    AND project = :name
    AND erased_at IS NULL
    AND NOT void
    AND (valid_until IS NULL OR valid_until > greatest(:at, valid_from))
    AND lifespan = :lifespan
ORDER BY chain_id, created_at, id;
-- app/store/chains.py read_chains: as for POST /v1/memories/{memory_id}/relationships
-- app/store/apply.py apply_plans: as for POST /v1/memories/{memory_id}/supersede
-- app/store/apply.py apply_plans: as for POST /v1/memories/{memory_id}/retract
-- app/store/reviews/reviews.py list_open_reviews_about: as for POST /v1/memories (a new value of a slot)

-- POST /v1/projects/{project}/end
-- app/store/lifespans.py count_going_on
SELECT count(*) AS going_on
FROM memories
WHERE agent_id = :agent
    AND project = :name
    AND erased_at IS NULL
    AND NOT void
    AND (valid_until IS NULL OR valid_until > greatest(:at, valid_from));


-- ===== POST /v1/reverts =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)

-- POST /v1/reverts
-- app/store/log/archived.py refuse_archived_selection
SELECT max(created_at) AS until, count(*) AS operations
FROM folded_operations
WHERE agent_id = :agent AND archive_id IS NOT NULL AND stands
    AND operation NOT IN ('REVERT', 'ERASE') AND true;

-- POST /v1/reverts
-- app/store/log/reverts.py list_standing_operations
SELECT l.id
FROM consolidation_log l
WHERE l.agent_id = :agent AND l.session_id = :session_id AND l.operation <> 'ERASE'
    AND (
        l.reverted_by IS NULL
        OR EXISTS (
            SELECT FROM consolidation_log r
            WHERE r.agent_id = :agent AND r.session_id = :session_id AND r.id = l.reverted_by AND
                r.reverted_by IS NULL
                AND r.incoming IS NOT NULL
        )
    )
    AND (
        l.operation <> 'REVERT'
        OR l.incoming IS NOT NULL
        OR NOT EXISTS (
            SELECT FROM consolidation_log u
            WHERE u.agent_id = :agent AND u.session_id = :session_id AND u.id = l.reverts
        )
    )
ORDER BY l.created_at DESC, l.id DESC
LIMIT :limit;
-- app/store/log/reverts.py find_done_operations: as for POST /v1/log/{log_id}/revert
-- app/store/log/archived.py refuse_archived: as for POST /v1/log/{log_id}/revert
-- app/store/log/archived.py refuse_archived_dependents: as for POST /v1/log/{log_id}/revert
-- app/store/log/reverts.py list_dependents: as for GET /v1/memories/{memory_id}/history
-- app/store/log/reverts.py list_dependents: as for POST /v1/log/{log_id}/revert
-- app/store/chains.py read_chains: as for POST /v1/memories/{memory_id}/relationships
-- app/store/apply.py apply_plans: as for POST /v1/memories/{memory_id}/supersede

-- POST /v1/reverts
-- app/store/apply.py apply_plans
UPDATE memories SET
    chain_id = :chain_id,
    valid_from = :valid_from,
    asserted_at = :asserted_at,
    said_until = :said_until,
    retracted_at = :retracted_at,
    void = :void,
    ended_by = :ended_by,
    contradicted_by = :contradicted_by,
    merged = :merged,
    temporary = :temporary,
    tier = :tier,
    covered = :covered,
    valid_until = :valid_until,
    superseded_by = :superseded_by,
    superseded_at = :superseded_at,
    known_from = :known_from,
    revision = :revision,
    cold = false
WHERE agent_id = :agent_id AND id = :id;

-- POST /v1/reverts
-- app/store/apply.py apply_plans
INSERT INTO memory_beliefs (agent_id, memory_id, known_until, chain_id, valid_from, asserted_at,
    said_until, retracted_at, void, ended_by, contradicted_by, merged, temporary, tier, covered,
    valid_until, superseded_by, superseded_at, known_from) VALUES (:agent_id, :memory_id,
    :known_until, :chain_id, :valid_from, :asserted_at, :said_until, :retracted_at, :void,
    :ended_by, :contradicted_by, :merged, :temporary, :tier, :covered, :valid_until,
    :superseded_by, :superseded_at, :known_from);
-- app/store/apply.py apply_plans: as for POST /v1/memories/batch
-- app/store/apply.py apply_plans: as for POST /v1/memories/batch
-- app/store/apply.py apply_plans: as for POST /v1/log/{log_id}/revert
-- app/store/apply.py apply_plans: as for POST /v1/log/{log_id}/revert
-- app/store/apply.py apply_plans: as for POST /v1/log/{log_id}/revert
-- app/store/reviews/reviews.py list_open_reviews_about: as for POST /v1/memories (a new value of a slot)
-- app/store/memories.py find_memories: as for POST /v1/memories (a new value of a slot)
-- app/store/relationships.py find_made_stale: as for POST /v1/memories (a new value of a slot)


-- ===== DELETE /v1/memories/{memory_id} (erase) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)
-- app/store/engine.py: as for GET /v1/export
-- app/store/log/archived.py list_archive_files: as for GET /v1/doctor

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py list_ids_in_chain
SELECT id FROM memories
WHERE agent_id = :agent
    AND chain_id = (SELECT chain_id FROM memories WHERE agent_id = :agent AND id = :id);
-- app/store/chains.py read_chains: as for POST /v1/memories/{memory_id}/relationships

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py find_merge_descendants
WITH RECURSIVE merged AS (
    SELECT id, merged_from FROM memories
    WHERE agent_id = :agent AND merged_from <> '{}' AND merged_from && :ids
        AND erased_at IS NULL
    UNION
    SELECT m.id, m.merged_from
    FROM memories m JOIN merged ON m.merged_from @> ARRAY[merged.id]
    WHERE m.agent_id = :agent AND m.merged_from <> '{}' AND m.erased_at IS NULL
)
SELECT id FROM merged WHERE id <> ALL(:ids) ORDER BY id;

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py stream_unerased_texts
SELECT id, content FROM memories
WHERE agent_id = :agent AND id = ANY(:ids) AND erased_at IS NULL
ORDER BY id;

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories
UPDATE sweeps SET
    slot = NULL,
    slot_hash = NULL,
    status = CASE WHEN status IN ('queued', 'running') THEN 'cancelled' ELSE status END,
    finished_at = coalesce(finished_at, clock.now)
FROM (SELECT clock_timestamp() AS now) AS clock
WHERE agent_id = :agent AND slot_hash IS NOT NULL AND (
    :everything
    OR slot_hash IN (
        SELECT slot_hash FROM memories WHERE agent_id = :agent AND id = ANY(:ids)
    )
)
RETURNING id;

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories
UPDATE memories SET
    content = '',
    value = NULL,
    details = '{}',
    dated_by = NULL,
    tags = '{}',
    entities = '{}',
    sources = '{}',
    source = NULL,
    session_id = NULL,
    project = NULL,
    content_hash = '',
    fuzzy_hash = '',
    folded_hash = '',
    value_hash = NULL,
    embedding = NULL,
    embedding_next = NULL,
    derived_entity = NULL,
    derived_key = NULL,
    derived_value = NULL,
    derived_hash = NULL,
    look_again = NULL,
    erased_at = :now,
    revision = revision + 1
WHERE agent_id = :agent AND id = ANY(:ids) AND erased_at IS NULL;

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories
DELETE FROM frequent_words f
WHERE f.agent_id = :agent AND f.word IN (
    SELECT hashtextextended(words.lexeme, 0)
    FROM indexed_memories i CROSS JOIN unnest(i.lexemes) AS words
    WHERE i.agent_id = :agent AND i.id = ANY(:ids)
);

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories
DELETE FROM indexed_memories WHERE agent_id = :agent AND id = ANY(:ids);

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories
SELECT DISTINCT chain_id FROM memories
WHERE agent_id = :agent AND id = ANY(:ids) AND erased_at = :now;

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories
SELECT DISTINCT chain_id FROM memories
WHERE agent_id = :agent AND chain_id = ANY(:chains) AND erased_at IS NULL;

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories
UPDATE memories SET
    entity = '',
    category = '',
    key = NULL,
    single_valued = NULL,
    slot_entity = '',
    slot_category = '',
    slot_key = NULL,
    slot_hash = :nowhere
WHERE agent_id = :agent AND chain_id = ANY(:chains)
RETURNING id;

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories
UPDATE agent_indexes SET insights = NULL, insights_ids = NULL
WHERE agent_id = :agent AND EXISTS (
    SELECT unnest(insights_ids) INTERSECT SELECT unnest(CAST(:ids AS uuid[]))
);

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories
UPDATE log_checkpoints SET sealed = '{}' WHERE agent_id = :agent AND memory_id = ANY(:ids);

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories
UPDATE captured_facts SET content = NULL
WHERE agent_id = :agent AND (
    memory_id = ANY(:ids)
    OR memory_id IS NULL AND log_id IN (
        SELECT id FROM consolidation_log
        WHERE agent_id = :agent
            AND (target_memory_id = ANY(:ids) OR source_memory_ids && :ids)
        UNION ALL
        SELECT id FROM folded_operations WHERE agent_id = :agent AND memory_ids && :ids
    )
    OR lower(content) IN (SELECT lower(quote) FROM unnest(CAST(:quotes AS text[])) AS quote)
)
RETURNING quotes;

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories
SELECT id, capture_id, content
FROM turns
WHERE agent_id = :agent AND content IS NOT NULL
    AND (CAST(:after AS uuid) IS NULL OR id > :after)
ORDER BY id
LIMIT :limit;

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories
UPDATE captures SET runner = NULL, alive_at = NULL WHERE agent_id = :agent AND state = 'pending';

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories
UPDATE captures SET trouble = 'erased' WHERE agent_id = :agent AND trouble IS NOT NULL;
-- app/store/erasures.py erase_memories: as for GET /v1/memories/{memory_id}/history

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories
WITH quotes AS MATERIALIZED (
    SELECT lower(quote) AS quote FROM unnest(CAST(:quotes AS text[])) AS quote
),
    -- Many operations have the same words, so each wording is searched once.
quoting AS (
    SELECT words FROM (
        SELECT DISTINCT lower(l.reasoning || CAST(l.signals AS text) || coalesce(CAST(l.usage AS
            text), '')) AS words FROM consolidation_log l WHERE l.agent_id = :agent
    ) AS wordings
    WHERE EXISTS (SELECT 1 FROM quotes WHERE strpos(words, quote) > 0)
)
SELECT r.log_id AS id FROM memory_relationships r
WHERE r.agent_id = :agent
    AND (r.source_id = ANY(:ids) OR r.target_id = ANY(:ids))
    AND r.log_id IS NOT NULL
UNION
SELECT v.log_id FROM reviews v
WHERE v.agent_id = :agent
    AND (v.memory_id = ANY(:ids) OR v.relied_on ?| CAST(CAST(:ids AS uuid[]) AS text[]))
UNION
SELECT l.id FROM consolidation_log l
WHERE l.agent_id = :agent AND l.session_id = :session
UNION
SELECT l.id FROM consolidation_log l JOIN quoting ON quoting.words = lower(l.reasoning ||
    CAST(l.signals AS text) || coalesce(CAST(l.usage AS text), ''))
WHERE l.agent_id = :agent
UNION
SELECT l.id FROM consolidation_log l
WHERE l.agent_id = :agent
    AND l.operation IN ('NOOP', 'DELETE', 'AMEND')
    AND lower(l.incoming ->> 'content') IN (SELECT quote FROM quotes);

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories
UPDATE idempotency_keys SET answer = NULL, fingerprint = NULL
WHERE agent_id = :agent AND (
    :everything
    OR mentioned_ids && CAST(:ids AS uuid[])
    OR mentioned_ids && CAST(:operations AS uuid[])
    OR mentioned_ids && CAST(:captures AS uuid[])
    OR mentioned_ids && (
        SELECT array_agg(id) FROM reviews WHERE agent_id = :agent AND (
            :everything
            OR memory_id = ANY(:ids)
            OR relied_on ?| CAST(CAST(:ids AS uuid[]) AS text[])
            OR log_id = ANY(:operations)
            OR decision_log_id = ANY(:operations)
            OR incoming -> 'fact' ->> 'session_id' = :session
            OR lower(incoming -> 'fact' ->> 'content') IN (
                SELECT lower(quote) FROM unnest(CAST(:quotes AS text[])) AS quote
            )
        )
    )
);

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories
UPDATE reviews SET
    status = CASE
    WHEN status = 'pending' AND NOT (
        NOT :everything
        AND status = 'pending'
        AND relation <> 'DUPLICATE'
        AND incoming IS NOT NULL
        AND incoming -> 'fact' ->> 'session_id' IS DISTINCT FROM coalesce(:session, '')
    ) AND NOT (
        NOT :everything
        AND source IN ('low_confidence', 'judges_disagree')
        AND NOT coalesce(memory_id = ANY(:ids), false)
        AND EXISTS (
            SELECT FROM jsonb_path_query(judgments, '$[*] ? (@.type() == "object")') AS j
            JOIN memories m ON m.agent_id = :agent AND m.id = CASE WHEN pg_input_is_valid(j ->>
                'memory_id', 'uuid') THEN CAST(j ->> 'memory_id' AS uuid) END
            WHERE m.erased_at IS NULL
        )
    )
    THEN 'overtaken'
    ELSE status
    END,
    note = NULL,
    said = said - CAST(:texts AS text[]),
    incoming = CASE
    WHEN NOT (
        NOT :everything
        AND status = 'pending'
        AND relation <> 'DUPLICATE'
        AND incoming IS NOT NULL
        AND incoming -> 'fact' ->> 'session_id' IS DISTINCT FROM coalesce(:session, '')
    ) AND (memory_id IS NULL OR memory_id = ANY(:ids)) THEN NULL
    ELSE incoming
    END,
    judgments = (
        SELECT coalesce(
            jsonb_agg(
                j || '{"reasoning": "", "findings": [], "vetoes": [], "opinions": []}'
                || '{"new_text": null}'
            ),
            '[]'
        )
        FROM jsonb_path_query(judgments, '$[*] ? (@.type() == "object")') AS j
    )
WHERE agent_id = :agent AND (
    :everything
    OR memory_id = ANY(:ids)
    OR relied_on ?| CAST(CAST(:ids AS uuid[]) AS text[])
    OR log_id = ANY(:operations)
    OR decision_log_id = ANY(:operations)
    OR incoming -> 'fact' ->> 'session_id' = :session
    OR lower(incoming -> 'fact' ->> 'content') IN (
        SELECT lower(quote) FROM unnest(CAST(:quotes AS text[])) AS quote
    )
);

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories
WITH stands AS (
    SELECT l.id, EXISTS (
        SELECT 1 FROM jsonb_path_query(l.after_state, '$[*] ? (@.type() == "object")') AS s
        LEFT JOIN LATERAL (
            SELECT id, erased_at, slot_hash FROM memories
            WHERE agent_id = :agent AND id = CASE WHEN pg_input_is_valid(s ->> 'id', 'uuid') THEN
                CAST(s ->> 'id' AS uuid) END
            LIMIT 1
        ) AS m ON true
        WHERE m.id IS NOT NULL
            AND m.erased_at IS NULL
            AND s ? 'belief'
            AND NOT s ? 'content'
            AND NOT EXISTS (
                SELECT 1 FROM jsonb_path_query(l.before_state, '$[*] ? (@.type() == "object")') AS
                    b
                WHERE b ->> 'id' = s ->> 'id'
            )
    ) AS incoming
    FROM consolidation_log l
    WHERE l.agent_id = :agent AND (:everything OR l.id = ANY(:operations))
)
UPDATE consolidation_log l SET
    before_state = (
        SELECT coalesce(jsonb_agg(CASE
            WHEN s ? 'review' THEN
            s #- '{review,judgments}' #- '{review,incoming}'
            #- '{review,said,content}'
            #- '{review,said,value}'
            #- '{review,said,details}'
            #- '{review,said,dated_by}'
            #- '{review,said,tags}'
            #- '{review,said,entities}'
            #- '{review,said,sources}'
            #- '{review,said,source}'
            #- '{review,said,session_id}'
            #- '{review,said,project}'
            #- '{review,said,derived}'
            #- '{review,said,look_again}'
            WHEN s ? 'settled' THEN
            jsonb_set(s, '{settled,note}', 'null')
            WHEN NOT s ? 'id' OR m.erased_at IS NULL THEN
            s
            ELSE
            (CASE
                WHEN jsonb_typeof(s -> 'metadata') = 'object'
                THEN jsonb_set(s, '{metadata}', (s -> 'metadata') - CAST(:texts AS text[]))
                ELSE s - 'metadata'
                END)
            - CAST(:texts AS text[])
            - CASE
            WHEN m.slot_hash = :nowhere THEN CAST(:slot_words AS text[])
            ELSE '{}'
            END
            END ORDER BY place), '[]')
        FROM jsonb_path_query(l.before_state, '$[*] ? (@.type() == "object")') WITH ORDINALITY AS e
            (s, place)
        LEFT JOIN LATERAL (
            SELECT id, erased_at, slot_hash FROM memories
            WHERE agent_id = :agent AND id = CASE WHEN pg_input_is_valid(s ->> 'id', 'uuid') THEN
                CAST(s ->> 'id' AS uuid) END
            LIMIT 1
        ) AS m ON true
    ),
    after_state = (
        SELECT coalesce(jsonb_agg(CASE
            WHEN s ? 'review' THEN
            s #- '{review,judgments}' #- '{review,incoming}'
            #- '{review,said,content}'
            #- '{review,said,value}'
            #- '{review,said,details}'
            #- '{review,said,dated_by}'
            #- '{review,said,tags}'
            #- '{review,said,entities}'
            #- '{review,said,sources}'
            #- '{review,said,source}'
            #- '{review,said,session_id}'
            #- '{review,said,project}'
            #- '{review,said,derived}'
            #- '{review,said,look_again}'
            WHEN s ? 'settled' THEN
            jsonb_set(s, '{settled,note}', 'null')
            WHEN NOT s ? 'id' OR m.erased_at IS NULL THEN
            s
            ELSE
            (CASE
                WHEN jsonb_typeof(s -> 'metadata') = 'object'
                THEN jsonb_set(s, '{metadata}', (s -> 'metadata') - CAST(:texts AS text[]))
                ELSE s - 'metadata'
                END)
            - CAST(:texts AS text[])
            - CASE
            WHEN m.slot_hash = :nowhere THEN CAST(:slot_words AS text[])
            ELSE '{}'
            END
            END ORDER BY place), '[]')
        FROM jsonb_path_query(l.after_state, '$[*] ? (@.type() == "object")') WITH ORDINALITY AS e
            (s, place)
        LEFT JOIN LATERAL (
            SELECT id, erased_at, slot_hash FROM memories
            WHERE agent_id = :agent AND id = CASE WHEN pg_input_is_valid(s ->> 'id', 'uuid') THEN
                CAST(s ->> 'id' AS uuid) END
            LIMIT 1
        ) AS m ON true
    ),
    incoming = CASE WHEN stands.incoming THEN l.incoming END,
    session_id = CASE WHEN stands.incoming THEN l.session_id END,
    reasoning = CASE
    WHEN l.operation = 'ERASE' THEN l.reasoning
    ELSE 'Its wording was erased with what it spoke of.'
    END,
    signals = (
        SELECT coalesce(jsonb_agg(f || '{"explanation": ""}'), '[]')
        FROM jsonb_path_query(l.signals, '$[*] ? (@.type() == "object")') AS f
    ),
    opinions = NULL,
    vetoed = '[]',
    content_salt = NULL
FROM stands
WHERE l.agent_id = :agent AND l.id = stands.id;

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories
UPDATE consolidation_log l SET
    opinions = (
        SELECT jsonb_agg(o ORDER BY place)
        FROM jsonb_path_query(l.opinions, '$[*] ? (@.type() == "object")') WITH ORDINALITY AS e (o,
            place)
        WHERE NOT (
            o ->> 'memory_id' = ANY(CAST(CAST(:ids AS uuid[]) AS text[]))
            OR EXISTS (
                SELECT 1
                FROM jsonb_path_query(o, 'strict $.** ? (@.type() == "string")') AS words
                CROSS JOIN unnest(CAST(:quotes AS text[])) AS quote
                WHERE strpos(lower(words #>> '{}'), lower(quote)) > 0
            )
        )
    ),
    vetoed = coalesce((
        SELECT jsonb_agg(o ORDER BY place)
        FROM jsonb_path_query(l.vetoed, '$[*] ? (@.type() == "object")') WITH ORDINALITY AS e (o,
            place)
        WHERE NOT (
            o ->> 'memory_id' = ANY(CAST(CAST(:ids AS uuid[]) AS text[]))
            OR EXISTS (
                SELECT 1
                FROM jsonb_path_query(o, 'strict $.** ? (@.type() == "string")') AS words
                CROSS JOIN unnest(CAST(:quotes AS text[])) AS quote
                WHERE strpos(lower(words #>> '{}'), lower(quote)) > 0
            )
        )
    ), '[]'),
    content_salt = NULL
WHERE l.agent_id = :agent
    AND coalesce(opinions, vetoed) <> '[]'
    AND EXISTS (
        SELECT 1 FROM jsonb_path_query(coalesce(l.opinions, l.vetoed),
            '$[*] ? (@.type() == "object")') AS o
        WHERE
            o ->> 'memory_id' = ANY(CAST(CAST(:ids AS uuid[]) AS text[]))
            OR EXISTS (
                SELECT 1
                FROM jsonb_path_query(o, 'strict $.** ? (@.type() == "string")') AS words
                CROSS JOIN unnest(CAST(:quotes AS text[])) AS quote
                WHERE strpos(lower(words #>> '{}'), lower(quote)) > 0
            )
    );

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories
UPDATE consolidation_log SET
    usage = jsonb_set(usage, '{trouble}', '"erased"'),
    content_salt = NULL
WHERE agent_id = :agent AND jsonb_typeof(usage -> 'trouble') = 'string';
-- app/store/erasures.py log_erasure: as for POST /v1/memories/batch

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py log_erasure
UPDATE agents
SET last_known_at = :now, last_erased_at = :now, log_head = :log_head
WHERE agent_id = :agent;

-- DELETE /v1/memories/{memory_id} (erase)
-- app/store/statistics.py refresh_text_statistics
SELECT refresh_text_statistics();


-- ===== POST /v1/erasures =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)
-- app/store/engine.py: as for GET /v1/export
-- app/store/log/archived.py list_archive_files: as for GET /v1/doctor

-- POST /v1/erasures
-- app/store/erasures.py list_ids_of_agent
SELECT id FROM memories
WHERE agent_id = :agent AND (CAST(:session AS text) IS NULL OR session_id = :session);
-- app/store/chains.py read_chains: as for POST /v1/memories/{memory_id}/relationships
-- app/store/erasures.py find_merge_descendants: as for DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py stream_unerased_texts: as for DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories: as for DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories: as for DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories: as for DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories: as for DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories: as for DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories: as for DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories: as for DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories: as for DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories: as for DELETE /v1/memories/{memory_id} (erase)

-- POST /v1/erasures
-- app/store/erasures.py erase_memories
WITH emptied AS (
    UPDATE turns SET
        content = NULL, name = NULL, embedding = NULL, skipped = '[]', done = true
    WHERE agent_id = :agent AND (:everything OR session_id = :session)
    RETURNING id, capture_id
),
facts AS (
    UPDATE captured_facts SET content = NULL
    WHERE agent_id = :agent AND turn_id IN (SELECT id FROM emptied)
)
SELECT DISTINCT capture_id FROM emptied;

-- POST /v1/erasures
-- app/store/erasures.py erase_memories
UPDATE turns SET session_id = NULL, message_id = NULL
WHERE agent_id = :agent AND (:everything OR session_id = :session);

-- POST /v1/erasures
-- app/store/erasures.py erase_memories
UPDATE captures SET session_id = NULL
WHERE agent_id = :agent AND (:everything OR session_id = :session);
-- app/store/erasures.py erase_memories: as for DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories: as for DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories: as for DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories: as for DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories: as for GET /v1/memories/{memory_id}/history
-- app/store/erasures.py erase_memories: as for DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories: as for DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories: as for DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories: as for DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories: as for DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py erase_memories: as for DELETE /v1/memories/{memory_id} (erase)
-- app/store/erasures.py log_erasure: as for POST /v1/memories/batch
-- app/store/erasures.py log_erasure: as for DELETE /v1/memories/{memory_id} (erase)
-- app/store/statistics.py refresh_text_statistics: as for DELETE /v1/memories/{memory_id} (erase)


-- ===== POST /v1/keys =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/engine.py: as for GET /v1/reviews

-- POST /v1/keys
-- app/store/keys.py insert_key
INSERT INTO api_keys (
    id, secret_hash, name, scopes, agents, trust_ceiling,
    created_at, created_by, expires_at, revoked_at, last_used_at
)
VALUES (
    :id, :secret_hash, :name, CAST(:scopes AS text[]), CAST(:agents AS text[]), :trust_ceiling,
    :created_at, :created_by, :expires_at, NULL, NULL
);


-- ===== GET /v1/keys =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/keys
-- app/store/keys.py stream_keys
SELECT
    id, secret_hash, name, scopes, agents, trust_ceiling,
    created_at, created_by, expires_at, revoked_at, last_used_at
FROM api_keys
WHERE id > :after
ORDER BY id;


-- ===== GET /v1/memories (with an issued key) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/memories (with an issued key)
-- app/store/keys.py find_keys
SELECT id AS presented_id, NULL AS audience,
    id, secret_hash, name, scopes, agents, trust_ceiling,
    created_at, created_by, expires_at, revoked_at, last_used_at
FROM api_keys
WHERE id = ANY(CAST(:ids AS text[]))
UNION ALL
SELECT
    grants.access_id, grants.audience, keys.id, grants.access_hash, keys.name, grants.scopes,
    ARRAY[grants.agent], keys.trust_ceiling, keys.created_at, keys.created_by,
    least(keys.expires_at, grants.access_expires_at), keys.revoked_at, keys.last_used_at
FROM oauth_grants AS grants
JOIN api_keys AS keys ON keys.id = grants.key_id
WHERE grants.access_id = ANY(CAST(:ids AS text[]));
-- app/store/memories.py list_memories: as for POST /v1/memories (a first fact)
-- app/store/memories.py list_memories: as for GET /v1/memories


-- ===== POST /v1/keys/{key_id}/rotate =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- POST /v1/keys/{key_id}/rotate
-- app/store/keys.py lock_key
SELECT
    id, secret_hash, name, scopes, agents, trust_ceiling,
    created_at, created_by, expires_at, revoked_at, last_used_at
FROM api_keys
WHERE id = :id
    FOR UPDATE;
-- app/store/engine.py: as for GET /v1/reviews
-- app/store/keys.py insert_key: as for POST /v1/keys

-- POST /v1/keys/{key_id}/rotate
-- app/store/keys.py end_key
UPDATE api_keys SET expires_at = least(expires_at, :at)
WHERE id = :id;

-- POST /v1/keys/{key_id}/rotate
-- app/store/webhooks.py hand_webhooks_over
UPDATE webhooks SET created_by = :new, expires_at = :expires_at
FROM (SELECT clock_timestamp() AS now) AS clock
WHERE created_by = :old AND (expires_at IS NULL OR expires_at > clock.now);


-- ===== DELETE /v1/keys/{key_id} =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/keys.py lock_key: as for POST /v1/keys/{key_id}/rotate
-- app/store/engine.py: as for GET /v1/reviews

-- DELETE /v1/keys/{key_id}
-- app/store/keys.py revoke_key
UPDATE api_keys SET revoked_at = coalesce(revoked_at, :now)
WHERE id = :id
RETURNING
    id, secret_hash, name, scopes, agents, trust_ceiling,
    created_at, created_by, expires_at, revoked_at, last_used_at;

-- DELETE /v1/keys/{key_id}
-- app/store/webhooks.py end_webhooks
UPDATE webhooks SET expires_at = least(expires_at, :at)
WHERE created_by = :actor;


-- ===== POST /v1/webhooks =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/engine.py: as for GET /v1/reviews

-- POST /v1/webhooks
-- app/store/webhooks.py insert_webhook
INSERT INTO webhooks (
    id, agents, url, operations, secret, created_at, created_by, expires_at, failures
)
VALUES (
    :id, :agents, :url, CAST(:operations AS text[]), :secret,
    :created_at, :created_by, :expires_at, 0
);


-- ===== POST /v1/webhooks/{webhook_id}/ping =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- POST /v1/webhooks/{webhook_id}/ping
-- app/store/webhooks.py lock_webhook
SELECT
    id, agents, url, operations, secret, created_at, created_by, expires_at,
    failures, next_try_at, disabled_at, disabled_because
FROM webhooks WHERE id = :id FOR UPDATE;

-- POST /v1/webhooks/{webhook_id}/ping
-- app/store/webhooks.py remember_delivery
INSERT INTO webhook_deliveries (
    webhook_id, id, message_id, type, agent, attempt, at, status, problem, duration_ms
)
VALUES (
    :webhook, :id, :message_id, :type, :agent, :attempt, :at, :status, :problem, :duration_ms
);

-- POST /v1/webhooks/{webhook_id}/ping
-- app/store/webhooks.py remember_delivery
DELETE FROM webhook_deliveries
WHERE webhook_id = :webhook AND id <= (
    SELECT id FROM webhook_deliveries WHERE webhook_id = :webhook
    ORDER BY id DESC
        OFFSET :remembered LIMIT 1
);


-- ===== POST /v1/webhooks/{webhook_id}/enable =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/webhooks.py lock_webhook: as for POST /v1/webhooks/{webhook_id}/ping

-- POST /v1/webhooks/{webhook_id}/enable
-- app/store/webhooks.py enable_webhook
UPDATE webhook_positions SET next_try_at = NULL
WHERE webhook_id = :webhook AND unreadable_since IS NOT NULL;

-- POST /v1/webhooks/{webhook_id}/enable
-- app/store/webhooks.py enable_webhook
UPDATE webhooks SET
    failures = 0, next_try_at = NULL, disabled_at = NULL, disabled_because = NULL,
    created_by = CASE WHEN expires_at <= clock.now THEN :actor ELSE created_by END,
    expires_at = CASE
    WHEN expires_at <= clock.now THEN CAST(:actor_expires_at AS timestamptz)
    ELSE expires_at
    END
FROM (SELECT clock_timestamp() AS now) AS clock
WHERE id = :id
RETURNING
    id, agents, url, operations, secret, created_at, created_by, expires_at,
    failures, next_try_at, disabled_at, disabled_because;


-- ===== GET /v1/webhooks =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- GET /v1/webhooks
-- app/store/webhooks.py list_webhooks
SELECT
    id, agents, url, operations, secret, created_at, created_by, expires_at,
    failures, next_try_at, disabled_at, disabled_because
FROM webhooks WHERE id > :after ORDER BY id;


-- ===== GET /v1/webhooks/{webhook_id} =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/webhooks.py lock_webhook: as for POST /v1/webhooks/{webhook_id}/ping

-- GET /v1/webhooks/{webhook_id}
-- app/store/webhooks.py list_deliveries
SELECT webhook_id, id, message_id, type, agent, attempt, at, status, problem, duration_ms
FROM webhook_deliveries
WHERE webhook_id = :webhook
ORDER BY id DESC
LIMIT :limit;

-- GET /v1/webhooks/{webhook_id}
-- app/store/webhooks.py list_unreadable
SELECT agent, unreadable_since AS since, next_try_at
FROM webhook_positions
WHERE webhook_id = :webhook AND unreadable_since IS NOT NULL
ORDER BY unreadable_since, agent
LIMIT :limit;


-- ===== DELETE /v1/webhooks/{webhook_id} =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/webhooks.py lock_webhook: as for POST /v1/webhooks/{webhook_id}/ping

-- DELETE /v1/webhooks/{webhook_id}
-- app/store/webhooks.py delete_webhook
DELETE FROM webhooks WHERE id = :id;


-- ===== a worker: what retention would do =====

-- a worker: what retention would do
-- app/store/engine.py
select pg_catalog.version();

-- a worker: what retention would do
-- app/store/engine.py
select current_schema();

-- a worker: what retention would do
-- app/store/engine.py
show transaction isolation level;

-- a worker: what retention would do
-- app/store/engine.py
show standard_conforming_strings;

-- a worker: what retention would do
-- app/store/engine.py
SELECT
    pg_backend_pid() AS pid,
    EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS on_cluster,
    set_config('search_path',
        concat_ws(
            ', ',
            quote_ident(CAST(:schema AS text)),
            (
                SELECT quote_ident(nspname)
                FROM pg_extension JOIN pg_namespace AS n ON n.oid = extnamespace
                WHERE extname = 'vector' AND nspname <> CAST(:schema AS text)
            ),
            'pg_temp'
        )
        , true) AS search_path;
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- a worker: what retention would do
-- app/store/log/retention.py count_coolable
SELECT count(*) AS rows FROM (
    SELECT id
    FROM memories
    WHERE agent_id = :agent AND NOT cold
        AND valid_until <= clock_timestamp() - CAST(:after AS interval)
        AND known_from <= clock_timestamp() - CAST(:after AS interval)
) AS counted;

-- a worker: what retention would do
-- app/store/log/retention.py count_leaving
SELECT max(created_at) AS until, count(*) AS operations
FROM consolidation_log
WHERE agent_id = :agent AND created_at < clock_timestamp() - CAST(:age AS interval);

-- a worker: what retention would do
-- app/store/log/retention.py count_leaving
SELECT count(*) AS rows FROM (
    WITH RECURSIVE needed AS (
        SELECT l.id, l.reverts
        FROM consolidation_log l
        JOIN reviews r ON r.agent_id = :agent AND r.log_id = l.id
        WHERE l.agent_id = :agent AND r.status = 'pending'
        UNION
        SELECT id, reverts
        FROM consolidation_log
        WHERE agent_id = :agent AND created_at > :until AND reverts IS NOT NULL
        UNION
        SELECT l.id, l.reverts
        FROM needed
        JOIN consolidation_log l ON l.agent_id = :agent AND l.id = needed.reverts
    )
    SELECT id, created_at
    FROM consolidation_log l
    WHERE agent_id = :agent AND created_at <= :until
        AND NOT EXISTS (SELECT FROM needed WHERE needed.id = l.id)
    ORDER BY created_at, id
) AS counted;

-- a worker: what retention would do
-- app/store/captures/retention.py count_expired_turns
SELECT count(*) AS turns FROM (
    SELECT id
    FROM turns
    WHERE agent_id = :agent AND content IS NOT NULL
        AND received_at <= clock_timestamp() - CAST(:after AS interval)
) AS expired;
-- app/store/log/archived.py list_archive_files: as for GET /v1/doctor

-- a worker: what retention would do
-- app/store/log/retention.py count_expired_answers
SELECT count(*) AS rows FROM (
    SELECT key_hash
    FROM idempotency_keys
    WHERE agent_id = :agent AND created_at <= now() - CAST(:kept_for AS interval)
) AS counted;


-- ===== a worker: retention =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)
-- app/store/engine.py: as for GET /v1/export

-- a worker: retention
-- app/store/log/retention.py cool_memories
SELECT id
FROM memories
WHERE agent_id = :agent AND NOT cold
    AND valid_until <= clock_timestamp() - CAST(:after AS interval)
    AND known_from <= clock_timestamp() - CAST(:after AS interval)
LIMIT :limit;

-- a worker: retention
-- app/store/log/retention.py cool_memories
UPDATE memories SET cold = true WHERE agent_id = :agent AND id = ANY(:ids);

-- a worker: retention
-- app/store/log/retention.py remove_expired_answers
DELETE FROM idempotency_keys
WHERE agent_id = :agent AND key_hash IN (
    SELECT key_hash
    FROM idempotency_keys
    WHERE agent_id = :agent AND created_at <= now() - CAST(:kept_for AS interval)
)
RETURNING key_hash;
-- app/store/log/archived.py list_archive_files: as for GET /v1/doctor

-- a worker: retention
-- app/store/captures/retention.py empty_expired_turns
WITH emptied AS (
    UPDATE turns t SET
        content = NULL, name = NULL, embedding = NULL, skipped = '[]', done = true
    FROM (
        SELECT id
        FROM turns
        WHERE agent_id = :agent AND content IS NOT NULL
            AND received_at <= clock_timestamp() - CAST(:after AS interval)
        LIMIT :limit) AS expired
    WHERE t.agent_id = :agent AND t.id = expired.id
    RETURNING t.id, t.capture_id
),
facts AS (
    UPDATE captured_facts SET content = NULL
    WHERE agent_id = :agent AND turn_id IN (SELECT id FROM emptied)
),
troubles AS (
    UPDATE captures SET trouble = NULL
    WHERE agent_id = :agent AND id IN (SELECT capture_id FROM emptied)
)
SELECT count(*) AS turns FROM emptied;

-- a worker: retention
-- app/store/log/retention.py find_next_batch
SELECT coalesce(a.log_folded_until, timestamptz '0001-01-01 00:00:00+00') AS after, (
    SELECT max(created_at) FROM (
        SELECT created_at
        FROM consolidation_log l
        WHERE l.agent_id = :agent
            AND l.created_at > coalesce(a.log_folded_until, timestamptz '0001-01-01 00:00:00+00')
            AND l.created_at < clock_timestamp() - CAST(:age AS interval)
        ORDER BY created_at
        LIMIT :limit
    ) AS next
) AS until
FROM agents a
WHERE a.agent_id = :agent;

-- a worker: retention
-- app/store/log/retention.py find_next_batch
WITH RECURSIVE needed AS (
    SELECT l.id, l.reverts
    FROM consolidation_log l
    JOIN reviews r ON r.agent_id = :agent AND r.log_id = l.id
    WHERE l.agent_id = :agent AND r.status = 'pending'
    UNION
    SELECT id, reverts
    FROM consolidation_log
    WHERE agent_id = :agent AND created_at > :until AND reverts IS NOT NULL
    UNION
    SELECT l.id, l.reverts
    FROM needed
    JOIN consolidation_log l ON l.agent_id = :agent AND l.id = needed.reverts
)
SELECT id, created_at
FROM consolidation_log l
WHERE agent_id = :agent AND created_at <= :until
    AND NOT EXISTS (SELECT FROM needed WHERE needed.id = l.id)
ORDER BY created_at, id;
-- app/store/log/retention.py fold_log: as for GET /v1/doctor

-- a worker: retention
-- app/store/log/retention.py fold_log
SELECT link ->> 'source' AS source, link ->> 'target' AS target, link ->> 'type' AS type,
    CAST(l.id AS text) AS log_id, made
FROM consolidation_log l
CROSS JOIN LATERAL (VALUES (false, l.before_state), (true, l.after_state))
    AS side (made, states)
CROSS JOIN LATERAL jsonb_path_query(side.states, '$[*].links[*]') AS link
WHERE l.agent_id = :agent AND l.created_at > :after AND l.created_at <= :until
ORDER BY l.created_at, made;

-- a worker: retention
-- app/store/log/retention.py fold_log
SELECT CAST(id AS text) AS id, erased_at IS NOT NULL AS erased
FROM memories
WHERE agent_id = :agent AND id = ANY(CAST(:ids AS uuid[]));

-- a worker: retention
-- app/store/log/retention.py fold_log
SELECT CAST(memory_id AS text) AS memory_id, told, sealed
FROM log_checkpoints
WHERE agent_id = :agent AND memory_id = ANY(CAST(:ids AS uuid[]));

-- a worker: retention
-- app/store/log/retention.py fold_log
INSERT INTO log_checkpoints (agent_id, memory_id, told, sealed) VALUES (:agent_id, :memory_id,
    :told, :sealed)
ON CONFLICT (agent_id, memory_id)
    DO UPDATE SET told = excluded.told, sealed = excluded.sealed;

-- a worker: retention
-- app/store/log/retention.py fold_log
UPDATE agents SET log_folded_until = :until WHERE agent_id = :agent;

-- a worker: retention
-- app/store/log/archive_files.py write_file
SELECT row_to_json(line)::text AS line
FROM consolidation_log t
CROSS JOIN LATERAL (SELECT 'operation' AS type, id AS id, operation AS operation, source_memory_ids
    AS source_memory_ids, target_memory_id AS target_memory_id, relation AS relation, confidence AS
    confidence, reasoning AS reasoning, signals AS signals, decided_by AS decided_by, incoming AS
    incoming, before_state AS before_state, after_state AS after_state, model AS model,
    prompt_version AS prompt_version, usage AS usage, duration_ms AS duration_ms, session_id AS
    session_id, request_id AS request_id, to_char(created_at AT TIME ZONE 'UTC',
    'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS created_at, reverts AS reverts, reverted_by AS reverted_by,
    opinions AS opinions, vetoed AS vetoed, actor AS actor, encode(previous_hash, 'hex') AS
    previous_hash, encode(hash, 'hex') AS hash, encode(content_digest, 'hex') AS content_digest,
    encode(content_salt, 'hex') AS content_salt) AS line
WHERE t.agent_id = :agent AND t.id = ANY(:ids)
ORDER BY t.created_at, t.id;

-- a worker: retention
-- app/store/log/retention.py remove_from_log
INSERT INTO log_archives (agent_id, id, file, sha256, operations, first_at, last_at)
VALUES (:agent, :archive, :file, :sha256, :operations, :first_at, :last_at);

-- a worker: retention
-- app/store/log/retention.py remove_from_log
INSERT INTO folded_operations (
    agent_id, id, archive_id, operation, decided_by, request_id, actor, memory_ids,
    stands, proposed, created_at, previous_hash, hash
)
SELECT agent_id, id, CASE WHEN id = ANY(:ids) THEN CAST(:archive AS uuid) END,
    operation, decided_by, request_id, actor,
    array_remove(source_memory_ids || target_memory_id, NULL), reverted_by IS NULL,
    jsonb_path_exists(after_state, '$[*].review'), created_at, previous_hash, hash
FROM consolidation_log
WHERE agent_id = :agent AND created_at <= :until
ON CONFLICT (agent_id, id)
    DO UPDATE SET archive_id = excluded.archive_id, stands = excluded.stands;

-- a worker: retention
-- app/store/log/retention.py remove_from_log
DELETE FROM consolidation_log WHERE agent_id = :agent AND id = ANY(:ids);
-- app/store/log/retention.py count_coolable: as for a worker: what retention would do
-- app/store/log/retention.py count_leaving: as for a worker: what retention would do
-- app/store/captures/retention.py count_expired_turns: as for a worker: what retention would do
-- app/store/log/retention.py count_expired_answers: as for a worker: what retention would do


-- ===== a worker: an index =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)

-- a worker: an index
-- app/store/agent_indexes.py read_dimensions
SELECT dimensions FROM encoder;
-- app/store/agent_indexes.py fill_table: as for GET /v1/export

-- a worker: an index
-- app/store/agent_indexes.py fill_table
SELECT create_index_table();

-- a worker: an index
-- app/store/agent_indexes.py fill_table
SELECT m.created_at, m.id FROM memories m
WHERE m.agent_id = :agent
ORDER BY m.created_at DESC, m.id DESC
LIMIT 1;

-- a worker: an index
-- app/store/agent_indexes.py fill_table
SELECT name_index_table() AS name;

-- a worker: an index
-- app/store/agent_indexes.py fill_table
INSERT INTO indexed_memories_6384e2b2184bcbf5
SELECT
    m.agent_id, m.id, m.created_at, m.slot_category,
    CAST(m.embedding AS halfvec), m.lexemes
FROM memories m
WHERE m.agent_id = :agent AND m.erased_at IS NULL
    AND (m.created_at, m.id) <= (:created_at, :id) ORDER BY m.created_at, m.id;

-- a worker: an index
-- app/store/agent_indexes.py build_indexes
SET LOCAL max_parallel_maintenance_workers = 0;

-- a worker: an index
-- app/store/agent_indexes.py build_indexes
SELECT build_index_table(:dimensions, :memory);

-- a worker: an index
-- app/store/agent_indexes.py attach_table
SELECT FROM agents WHERE agent_id = :agent FOR UPDATE;

-- a worker: an index
-- app/store/agent_indexes.py attach_table
DELETE FROM indexed_memories_6384e2b2184bcbf5 AS i
    USING memories m
WHERE i.agent_id = :agent AND m.agent_id = :agent AND m.id = i.id
    AND m.erased_at IS NOT NULL;

-- a worker: an index
-- app/store/agent_indexes.py attach_table
SELECT attach_index_table();

-- a worker: an index
-- app/store/agent_indexes.py attach_table
INSERT INTO agent_indexes (
    agent_id, covers_until, covers_id, memories, live, built_at, counted_at
)
VALUES (:agent, :covers_until, :covers_id, 0, 0, clock_timestamp(), clock_timestamp());

-- a worker: an index
-- app/store/agent_indexes.py count_index
UPDATE agent_indexes SET
    memories = (SELECT count(*) FROM indexed_memories i WHERE i.agent_id = :agent),
    live = (
        SELECT count(*) FROM memories m
        WHERE m.agent_id = :agent AND NOT m.cold
            AND (m.valid_until IS NULL OR m.valid_until > clock.now)
    ),
    counted_at = clock.now
FROM (SELECT clock_timestamp() AS now) AS clock
WHERE agent_id = :agent
RETURNING memories, live;

-- a worker: an index
-- app/store/agent_indexes.py count_index
DELETE FROM frequent_words WHERE agent_id = :agent;

-- a worker: an index
-- app/store/agent_indexes.py count_index
INSERT INTO frequent_words (agent_id, word, memories)
SELECT :agent, hashtextextended(counted.word, 0), sum(counted.ndoc)
FROM ts_stat(
    'SELECT lexemes FROM indexed_memories WHERE agent_id = ' || quote_literal(:agent)
) AS counted
WHERE counted.ndoc >= :at_least
GROUP BY 2;

-- a worker: an index
-- app/store/stats.py refresh_stats
SELECT
    (
        counted.at IS NULL OR (
            (
                a.last_known_at > counted.until
                OR counted.at < clock.now - interval '1 day'
            )
            AND counted.at < clock.now - 100 * i.stats_seconds * interval '1 second'
        )
    )
    AS is_due
FROM agent_indexes i
JOIN agents a ON a.agent_id = :agent
CROSS JOIN (SELECT clock_timestamp() AS now) AS clock
CROSS JOIN LATERAL (
    SELECT CAST(i.stats ->> 'as_of' AS timestamptz) AS at,
        CAST(i.stats ->> 'last_known_at' AS timestamptz) AS until
) AS counted
WHERE i.agent_id = :agent;
-- app/store/stats.py refresh_stats: as for GET /v1/agents/{agent_id}/stats

-- a worker: an index
-- app/store/stats.py refresh_stats
UPDATE agent_indexes SET stats = CAST(:stats AS jsonb), stats_seconds = :seconds
WHERE agent_id = :agent;

-- a worker: an index
-- app/store/counted_strengths.py refresh_strengths
SELECT
    (
        i.strengths_as_of IS NULL OR (
            (
                a.last_known_at > i.strengths_as_of
                OR i.strengths_as_of < clock.now - interval '1 day'
            )
            AND i.strengths_as_of < clock.now - 100 * i.strengths_seconds * interval '1 second'
        )
    )
    AS is_due,
    i.strengths_as_of,
    greatest(clock.now, a.last_known_at) AS as_of,
    a.last_known_at AS counted_until
FROM agent_indexes i
JOIN agents a ON a.agent_id = :agent
CROSS JOIN (SELECT clock_timestamp() AS now) AS clock
WHERE i.agent_id = :agent;

-- a worker: an index
-- app/store/counted_strengths.py refresh_strengths
WITH moment AS (
    SELECT CAST(:strength_as_of AS timestamptz) AS as_of,
        CAST(:counted_until AS timestamptz) AS known_at
),
placed AS (
    SELECT id, strength, row_number() OVER (ORDER BY strength DESC, id DESC) - 1 AS place
    FROM (
        SELECT m.id,
            greatest(
                CASE b.tier WHEN 'core' THEN CAST(0.6 AS float8) END,
                greatest(m.importance, 1e-09) * power(CAST(0.5 AS float8),
                    least(greatest(
                        CAST(
                            extract(epoch FROM CAST(:strength_as_of AS timestamptz) -
                                greatest(m.created_at, b.valid_from, u.last_reinforced_at))
                            - extract(epoch FROM
                                greatest(coalesce(u.last_accessed_at - greatest(m.created_at,
                                    b.valid_from, u.last_reinforced_at), interval '0'), interval
                                    '0')
                            ) / 2
                            AS float8
                        ) / 86400
                        , 0) / (
                            (
                                CASE b.tier
                                WHEN 'core' THEN CASE m.kind
                                WHEN 'fact' THEN CAST(:half_life_core_fact AS float8)
                                WHEN 'preference' THEN CAST(:half_life_core_preference AS float8)
                                WHEN 'decision' THEN CAST(:half_life_core_decision AS float8)
                                WHEN 'constraint' THEN CAST(:half_life_core_constraint AS float8)
                                END
                                ELSE CASE m.kind
                                WHEN 'fact' THEN CAST(:half_life_semantic_fact AS float8)
                                WHEN 'preference' THEN CAST(:half_life_semantic_preference AS
                                    float8)
                                WHEN 'decision' THEN CAST(:half_life_semantic_decision AS float8)
                                WHEN 'constraint' THEN CAST(:half_life_semantic_constraint AS
                                    float8)
                                END
                                END
                            ) * (1 + ln(1 + least(
                                coalesce(u.access_count, 0)
                                + coalesce(u.use_count, 0) / CAST(10 AS float8)
                                , 100)))
                        ), 60.0)
                )
            )
            AS strength
        FROM
            memories m
        CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
            m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
            m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
        LEFT JOIN LATERAL (
            SELECT CASE WHEN u.last_reinforced_at <= (SELECT known_at FROM moment) THEN
                u.access_count END AS access_count,
                CASE WHEN u.last_reinforced_at <= (SELECT known_at FROM moment) THEN
                    u.last_reinforced_at END AS last_reinforced_at,
                CASE WHEN
                (
                    CAST(:used_by AS timestamptz) IS NULL
                    OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                )
                THEN u.use_count END AS use_count,
                CASE WHEN
                (
                    CAST(:used_by AS timestamptz) IS NULL
                    OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                )
                THEN u.last_accessed_at END AS last_accessed_at
            FROM memory_usage u
            WHERE u.agent_id = :agent AND u.memory_id = m.id
        ) AS u ON true
        WHERE m.agent_id = :agent AND m.created_at <= :counted_until
    ) AS one
)
INSERT INTO counted_strengths (
    agent_id, as_of, place, counted_until, ids, strengths, last_strength, last_id
)
SELECT :agent, CAST(:strength_as_of AS timestamptz), place / :part_size, :counted_until,
    array_agg(id ORDER BY placed.place),
    array_agg(strength ORDER BY placed.place),
    min(strength),
    (array_agg(id ORDER BY placed.place DESC))[1]
FROM placed
GROUP BY 3;

-- a worker: an index
-- app/store/counted_strengths.py refresh_strengths
UPDATE agent_indexes SET strengths_as_of = :as_of, strengths_seconds = :seconds
WHERE agent_id = :agent;

-- a worker: an index
-- app/store/counted_strengths.py refresh_strengths
DELETE FROM counted_strengths
WHERE agent_id = :agent AND as_of < coalesce(CAST(:before AS timestamptz), 'infinity');

-- a worker: an index
-- app/store/insights/counted.py refresh_insights
SELECT
    (
        i.insights_as_of IS NULL OR (
            (
                a.last_known_at > i.insights_as_of
                OR i.insights_as_of < clock.now - interval '1 day'
            )
            AND i.insights_as_of < clock.now - 100 * i.insights_seconds * interval '1 second'
        )
    )
    AS is_due, a.last_erased_at
FROM agent_indexes i
JOIN agents a ON a.agent_id = :agent
CROSS JOIN (SELECT clock_timestamp() AS now) AS clock
WHERE i.agent_id = :agent;
-- app/store/insights/counted.py refresh_insights: as for POST /v1/memories (a first fact)
-- app/store/insights/counted.py refresh_insights: as for GET /v1/insights
-- app/store/insights/counted.py refresh_insights: as for GET /v1/insights
-- app/store/insights/counted.py refresh_insights: as for GET /v1/insights
-- app/store/insights/counted.py refresh_insights: as for GET /v1/insights
-- app/store/insights/counted.py refresh_insights: as for GET /v1/insights
-- app/store/insights/counted.py refresh_insights: as for GET /v1/insights
-- app/store/insights/counted.py refresh_insights: as for GET /v1/insights
-- app/store/insights/counted.py refresh_insights: as for GET /v1/insights

-- a worker: an index
-- app/store/insights/counted.py refresh_insights
SELECT last_erased_at FROM agents WHERE agent_id = :agent FOR SHARE;

-- a worker: an index
-- app/store/insights/counted.py refresh_insights
UPDATE agent_indexes
SET insights = CAST(:insights AS jsonb),
    insights_ids = :ids,
    insights_as_of = :as_of,
    insights_seconds = :seconds
WHERE agent_id = :agent;


-- ===== POST /v1/search (of a large agent) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/agent_indexes.py list_indexes: as for POST /v1/memories (a first fact)
-- app/store/search.py search_memories: as for POST /v1/memories (a first fact)

-- POST /v1/search (of a large agent)
-- app/store/search.py search_memories
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
query_words AS MATERIALIZED (
    SELECT CAST(
        replace(
            CAST(
                plainto_tsquery(
                    CAST(:language AS regconfig), pair_characters(:query, false)
                ) AS text
            ),
            ' & ',
            ' | '
        ) AS tsquery
    ) AS words ,
        choose_words(
            CAST(:language AS regconfig),
            pair_characters(:query, false),
            :chosen_least,
            :chosen_most
        ) AS chosen
),
found AS MATERIALIZED (
    SELECT id, bool_or(is_near) AS is_near, bool_or(is_worded) AS is_worded
    FROM (
        SELECT id, true AS is_near, false AS is_worded
        FROM find_nearest_indexed(:vector, :reach) AS id
        WHERE (SELECT name FROM encoder) = :encoder
        UNION ALL
        SELECT id, false AS is_near, true AS is_worded
        FROM find_indexed_by_words(
            (SELECT chosen FROM query_words),
            (SELECT words FROM query_words),
            :vector,
            :reach,
            :read_most
        ) AS id
        UNION ALL
        SELECT m.id, false, false
        FROM memories m
        WHERE m.agent_id = :agent AND (m.created_at, m.id) > (
            SELECT i.covers_until, i.covers_id FROM agent_indexes i WHERE i.agent_id = :agent
        )
    ) AS part
    GROUP BY id
),
live AS MATERIALIZED (
    SELECT
        m.id, (m.embedding <=> :vector) + 0 AS distance, CASE WHEN m.lexemes @@ (SELECT chosen FROM
            query_words) THEN m.lexemes END AS lexemes, b.valid_from, 0 AS bonus
        , found.is_near, found.is_worded
    FROM found CROSS JOIN
        memories m
    CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
        m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
        m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
    WHERE m.agent_id = :agent AND
        b.valid_from <= (SELECT as_of FROM moment)
        AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
        AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 = 0)
        AND NOT m.cold AND m.erased_at IS NULL AND m.id = found.id AND (SELECT name FROM encoder) =
            :encoder
),
word AS MATERIALIZED (
    SELECT lexeme, CAST(quote_lexeme(lexeme) AS tsquery) AS query
    FROM unnest(
        tsvector_to_array(
            to_tsvector(CAST(:language AS regconfig), pair_characters(:query, false))
        )
    ) AS lexeme
),
shared AS MATERIALIZED (
    SELECT live.*, word.lexeme FROM word JOIN live ON live.lexemes @@ word.query
),
weighed AS MATERIALIZED (
    SELECT lexeme, CAST(ln(1 + (texts - frequency + 0.5) / (frequency + 0.5)) AS float8) AS weight
    FROM (
        SELECT
            word.lexeme,
            coalesce(f.memories, 20) AS frequency,
            greatest(f.memories, 20, (
                SELECT i.memories FROM agent_indexes i WHERE i.agent_id = :agent
            )) AS texts
        FROM word
        LEFT JOIN frequent_words f
            ON f.agent_id = :agent AND f.word = hashtextextended(word.lexeme, 0)
    ) AS counted
),
matching AS MATERIALIZED (
    SELECT
        id,
        min(distance) AS distance,
        max(bonus) AS bonus,
        max(valid_from) AS valid_from,
        sum(weight) / (1 + max(length(lexemes)) / 20.0) AS rank
    FROM shared JOIN weighed USING (lexeme)
    GROUP BY id
),
best AS MATERIALIZED (
    SELECT id, max(score) AS score, max(vector) AS vector, max(text) AS text
    FROM (
        (
            SELECT id, 1 - distance + bonus AS score, 1 - distance AS vector, 0 AS text
            FROM live
            ORDER BY distance - bonus
            LIMIT greatest(:limit, 10)
        )
        UNION ALL
        SELECT id, 1 - distance + bonus + 0.03 * rank, 1 - distance, rank
        FROM matching
    ) AS scored
    GROUP BY id
    ORDER BY score DESC, vector DESC
    LIMIT greatest(:limit, 10)
),
outranked AS (
    SELECT
        CAST(judgment ->> 'memory_id' AS uuid) AS id,
        min(best.score) AS score
    FROM best
    JOIN reviews AS review
        ON review.agent_id = :agent
        AND review.memory_id = best.id
        AND review.status = 'pending'
    CROSS JOIN jsonb_array_elements(review.judgments) AS judgment
    WHERE review.relation IN ('UPDATE', 'CONTRADICTION', 'RETRACTION') AND review.source NOT IN
        ('constraint', 'trust')
    GROUP BY 1
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, (SELECT name FROM encoder)
    AS encoder,
    EXISTS (SELECT FROM agent_indexes i WHERE i.agent_id = :agent) AS is_indexed,
    (SELECT count(*) FROM found WHERE is_near) AS near_found,
    (SELECT count(*) FROM live WHERE is_near) AS near_passed,
    (SELECT count(*) FROM found WHERE is_worded) AS worded_found,
    (SELECT count(*) FROM live WHERE is_worded) AS worded_passed,
    EXISTS (SELECT FROM reviews r WHERE r.agent_id = :agent AND r.status = 'pending')
    AS has_waiting, hit.*
FROM moment
LEFT JOIN (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(
                    2000 + octet_length(CAST(
                        json_build_array(page.entity, page.category, page.key, page.content,
                            page.value, page.details, page.dated_by, page.tags, page.entities,
                            page.sources, page.source, page.session_id, page.project,
                            page.stale_because)
                        AS text))
                ) OVER (
                    ORDER BY
                        band,
                        is_outranked,
                        is_alike DESC,
                        CASE WHEN is_alike THEN created_at END DESC,
                        score DESC NULLS LAST,
                        valid_from DESC,
                        id DESC
                        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT *
            FROM (
                SELECT *,
                    exp(11.0 * score) / (
                        SELECT exp(4.5) + sum(exp(11.0 * competing.score))
                        FROM (SELECT score FROM best ORDER BY score DESC LIMIT 10) AS competing
                    )
                    AS chance FROM (
                        SELECT *, coalesce(
                            vector_score >= first_value(vector_score) OVER (
                                PARTITION BY band ORDER BY is_outranked, score DESC, vector_score
                                    DESC
                            ) - 0.045,
                            true
                        ) AS is_alike
                        FROM (
                            SELECT *, floor(
                                (max(score) OVER () - score)
                                / greatest(0.07 * max(score) OVER (), 1e-9)
                            ) AS band
                            FROM (
                                SELECT
                                    least(best.score, outranked.score) AS score, outranked.id IS
                                        NOT NULL AS is_outranked,
                                    best.vector AS vector_score,
                                    best.text AS text_score,
                                    m.id, m.created_at, m.revision, m.erased_at,
                                    m.derived_entity, m.derived_key, m.derived_value,
                                    m.content, m.kind, m.entity, m.category, m.key, m.value,
                                        m.single_valued, m.details, m.importance, m.confidence,
                                        m.tags, m.entities, m.sources, m.source, m.session_id,
                                        m.project, m.trust, m.lifespan, m.said_at, m.said_in,
                                        m.dated_by, m.merged_from,
                                    b.chain_id, b.valid_from, b.asserted_at, b.said_until,
                                        b.retracted_at, b.void, b.ended_by, b.contradicted_by,
                                        b.merged, b.temporary, b.tier, b.covered, b.valid_until,
                                        b.superseded_by, b.superseded_at, b.known_from,
                                    (
                                        SELECT u.access_count FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            u.last_reinforced_at <= (SELECT known_at FROM moment)
                                    ) AS access_count, (
                                        SELECT u.last_reinforced_at FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            u.last_reinforced_at <= (SELECT known_at FROM moment)
                                    ) AS last_reinforced_at, (
                                        SELECT u.use_count FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            (
                                                CAST(:used_by AS timestamptz) IS NULL
                                                OR u.last_accessed_at <= CAST(:used_by AS
                                                    timestamptz)
                                            )
                                    ) AS use_count, (
                                        SELECT u.last_accessed_at FROM memory_usage u
                                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                                            (
                                                CAST(:used_by AS timestamptz) IS NULL
                                                OR u.last_accessed_at <= CAST(:used_by AS
                                                    timestamptz)
                                            )
                                    ) AS last_accessed_at,
                                    (
                                        SELECT o.id FROM memories o
                                        WHERE o.agent_id = :agent AND o.superseded_by = m.id
                                        ORDER BY o.valid_from DESC, o.id DESC
                                        LIMIT 1
                                    )
                                    AS supersedes_id,
                                    (
                                        CASE WHEN
                                        (SELECT EXISTS (SELECT FROM memory_relationships WHERE
                                            agent_id = :agent AND type IN ('merged_into',
                                            'expands', 'sequential', 'causes', 'enables',
                                            'references')))
                                        AND m.erased_at IS NULL AND
                                        b.valid_from <= (SELECT as_of FROM moment)
                                        AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of
                                            FROM moment))
                                        AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM
                                            moment), b.covered) % 2 = 0)
                                        THEN (
                                            SELECT
                                                jsonb_agg(
                                                    DISTINCT to_jsonb(e) ||
                                                        jsonb_build_object('type', tie.type,
                                                        'as_of', (SELECT as_of FROM moment))
                                                )
                                            FROM (
                                                SELECT source_id AS memory_id, target_id AS
                                                    other_id, type, created_at
                                                FROM memory_relationships
                                                WHERE agent_id = :agent AND type IN ('merged_into',
                                                    'expands', 'sequential', 'causes', 'enables',
                                                    'references')
                                                UNION ALL
                                                SELECT target_id, source_id, type, created_at
                                                FROM memory_relationships
                                                WHERE agent_id = :agent AND type IN ('merged_into',
                                                    'expands', 'sequential', 'causes', 'enables',
                                                    'references')
                                            ) AS tie
                                            CROSS JOIN LATERAL (
                                                SELECT
                                                    o.id,
                                                    CASE WHEN o.erased_at <= (SELECT known_at FROM
                                                        moment) THEN o.erased_at END AS erased_at,
                                                    b.*
                                                FROM
                                                    memories o
                                                CROSS JOIN LATERAL (SELECT o.chain_id,
                                                    o.valid_from, o.asserted_at, o.said_until,
                                                    o.retracted_at, o.void, o.ended_by,
                                                    o.contradicted_by, o.merged, o.temporary,
                                                    o.tier, o.covered, o.valid_until,
                                                    o.superseded_by, o.superseded_at, o.known_from)
                                                    AS b
                                                WHERE o.agent_id = :agent AND o.id = tie.other_id
                                            ) AS e
                                            WHERE tie.created_at <= (SELECT known_at FROM moment)
                                                AND (
                                                    e.erased_at > tie.created_at
                                                    OR (
                                                        (e.void OR coalesce(e.valid_until <=
                                                            (SELECT as_of FROM moment), false))
                                                        AND (
                                                            (NOT e.void AND e.valid_until >
                                                                tie.created_at)
                                                            OR EXISTS (
                                                                SELECT FROM memory_beliefs x
                                                                WHERE x.agent_id = :agent
                                                                    AND x.memory_id = e.id
                                                                    AND x.known_until >
                                                                        tie.created_at
                                                                    AND x.known_until <=
                                                                        e.known_from
                                                                    AND NOT x.void
                                                                    AND (e.void OR x.valid_until IS
                                                                        NULL OR x.valid_until >
                                                                        tie.created_at)
                                                            )
                                                        )
                                                    )
                                                )
                                                AND (e.void OR e.superseded_by IS DISTINCT FROM
                                                    tie.memory_id)
                                                AND tie.memory_id = m.id
                                        ) END
                                    )
                                    AS stale_because
                                FROM best
                                JOIN
                                    memories m
                                CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at,
                                    m.said_until, m.retracted_at, m.void, m.ended_by,
                                    m.contradicted_by, m.merged, m.temporary, m.tier, m.covered,
                                    m.valid_until, m.superseded_by, m.superseded_at, m.known_from)
                                    AS b
                                    ON m.agent_id = :agent AND m.id = best.id
                                LEFT JOIN outranked ON outranked.id = best.id
                            ) AS scored
                        ) AS banded
                    ) AS ranked
            ) AS weighed
            WHERE chance >= :min_score
            ORDER BY
                band,
                is_outranked,
                is_alike DESC,
                CASE WHEN is_alike THEN created_at END DESC,
                score DESC NULLS LAST,
                valid_from DESC,
                id DESC
            LIMIT :limit
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
) AS hit ON true
ORDER BY
    band,
    is_outranked,
    is_alike DESC,
    CASE WHEN is_alike THEN created_at END DESC,
    score DESC NULLS LAST,
    valid_from DESC,
    id DESC;


-- ===== POST /v1/memories (of a large agent) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/agent_indexes.py list_indexes: as for POST /v1/memories (a first fact)
-- app/store/comparison.py find_candidates: as for POST /v1/memories (a first fact)

-- POST /v1/memories (of a large agent)
-- app/store/comparison.py find_candidates
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
query_words AS MATERIALIZED (
    SELECT CAST(
        replace(
            CAST(
                plainto_tsquery(
                    CAST(:language AS regconfig), pair_characters(:content, false)
                ) AS text
            ),
            ' & ',
            ' | '
        ) AS tsquery
    ) AS words ,
        choose_words(
            CAST(:language AS regconfig),
            pair_characters(:content, false),
            :chosen_least,
            :chosen_most
        ) AS chosen
),
found AS MATERIALIZED (
    SELECT id, bool_or(is_near) AS is_near, bool_or(is_worded) AS is_worded
    FROM (
        SELECT id, true AS is_near, false AS is_worded
        FROM find_nearest_indexed(:vector, :reach) AS id
        WHERE (SELECT name FROM encoder) = :encoder
        UNION ALL
        SELECT id, false AS is_near, true AS is_worded
        FROM find_indexed_by_words(
            (SELECT chosen FROM query_words),
            (SELECT words FROM query_words),
            :vector,
            :reach,
            :read_most
        ) AS id
        UNION ALL
        SELECT m.id, false, false
        FROM memories m
        WHERE m.agent_id = :agent AND (m.created_at, m.id) > (
            SELECT i.covers_until, i.covers_id FROM agent_indexes i WHERE i.agent_id = :agent
        )
        UNION ALL SELECT other.id, false, false FROM (
            SELECT m.id FROM memories m
            WHERE m.agent_id = :agent AND m.derived_hash = :derived
            ORDER BY m.created_at DESC
            LIMIT 20
        ) AS other UNION ALL SELECT other.id, false, false FROM (SELECT id FROM
            find_indexed_of_category(:category, 20) AS id) AS other) AS part
    GROUP BY id
),
live AS MATERIALIZED (
    SELECT
        m.id,
        (m.embedding <=> :vector) + 0 AS distance,
        CASE WHEN m.lexemes @@ (SELECT chosen FROM query_words) THEN ts_rank(m.lexemes, (SELECT
            words FROM query_words)) ELSE 0 END AS rank,
        b.valid_from,
        coalesce(m.derived_hash = :derived, false)
        OR coalesce(m.slot_category = :category, false) AS alike
        , found.is_near, found.is_worded
    FROM found CROSS JOIN
        memories m
    CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
        m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
        m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
    WHERE m.agent_id = :agent AND
        b.valid_from <= (SELECT as_of FROM moment)
        AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
        AND NOT m.cold AND m.erased_at IS NULL AND m.id = found.id AND (SELECT name FROM encoder) =
            :encoder
),
ranked AS MATERIALIZED (
    SELECT
        id,
        1 - distance + 5.0 * rank AS score,
        1 - distance AS vector,
        rank AS text
    FROM live
    ORDER BY score DESC
    LIMIT :limit
),
best AS MATERIALIZED (
    SELECT * FROM ranked
    UNION ALL
        (
            SELECT id, 0, CAST(NULL AS float8), CAST(NULL AS float8)
            FROM live
            WHERE alike AND id NOT IN (SELECT id FROM ranked)
            ORDER BY valid_from DESC
            LIMIT :alike
        )
)
SELECT 1 AS place, moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, (SELECT name
    FROM encoder) AS encoder, hit.*
FROM moment
LEFT JOIN (
    SELECT
        best.score,
        best.vector AS vector_score,
        best.text AS text_score,
        m.id, m.created_at, m.revision, m.erased_at,
        m.derived_entity, m.derived_key, m.derived_value,
        m.content, m.kind, m.entity, m.category, m.key, m.value, m.single_valued, m.details,
            m.importance, m.confidence, m.tags, m.entities, m.sources, m.source, m.session_id,
            m.project, m.trust, m.lifespan, m.said_at, m.said_in, m.dated_by, m.merged_from,
        b.chain_id, b.valid_from, b.asserted_at, b.said_until, b.retracted_at, b.void, b.ended_by,
            b.contradicted_by, b.merged, b.temporary, b.tier, b.covered, b.valid_until,
            b.superseded_by, b.superseded_at, b.known_from,
        (
            SELECT o.id FROM memories o
            WHERE o.agent_id = :agent AND o.superseded_by = m.id
            ORDER BY o.valid_from DESC, o.id DESC
            LIMIT 1
        )
        AS supersedes_id,
        EXISTS (SELECT FROM agent_indexes i WHERE i.agent_id = :agent) AS is_indexed,
        (SELECT count(*) FROM found WHERE is_near) AS near_found,
        (SELECT count(*) FROM live WHERE is_near) AS near_passed,
        (SELECT count(*) FROM found WHERE is_worded) AS worded_found,
        (SELECT count(*) FROM live WHERE is_worded) AS worded_passed
    FROM best
    JOIN
        memories m
    CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
        m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
        m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
        ON m.agent_id = :agent AND m.id = best.id
) AS hit ON true
ORDER BY hit.score DESC NULLS LAST, hit.valid_from DESC, hit.id DESC;
-- app/store/chains.py lock_agent: as for POST /v1/memories (a first fact)
-- app/store/chains.py read_near_chains: as for POST /v1/memories (a first fact)
-- app/store/apply.py apply_plans: as for POST /v1/memories (a first fact)


-- ===== GET /v1/context (of a large agent) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/agent_indexes.py list_indexes: as for POST /v1/memories (a first fact)
-- app/store/memories.py list_probably_strongest: as for POST /v1/memories (a first fact)

-- GET /v1/context (of a large agent)
-- app/store/memories.py list_probably_strongest
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
strong AS MATERIALIZED (
    (SELECT m.id FROM memories m
        WHERE m.agent_id = :agent AND m.kind = 'constraint' AND NOT m.cold
        ORDER BY m.created_at DESC LIMIT 500)
    UNION
        (SELECT m.id FROM memories m
            WHERE m.agent_id = :agent AND m.tier = 'core' AND NOT m.cold
            ORDER BY m.created_at DESC LIMIT 500)
    UNION
        (SELECT m.id FROM memories m
            WHERE m.agent_id = :agent AND m.importance > 0.5 AND NOT m.cold
            ORDER BY m.importance DESC, m.created_at DESC LIMIT 500)
    UNION
        (SELECT u.memory_id FROM memory_usage u
            WHERE u.agent_id = :agent AND u.last_accessed_at IS NOT NULL
            ORDER BY u.last_accessed_at DESC LIMIT 500)
    UNION
        (SELECT m.id FROM memories m
            WHERE m.agent_id = :agent
            ORDER BY m.created_at DESC LIMIT 500)
),
live AS MATERIALIZED (
    SELECT m.id,
        greatest(
            CASE b.tier WHEN 'core' THEN CAST(0.6 AS float8) END,
            greatest(m.importance, 1e-09) * power(CAST(0.5 AS float8),
                least(greatest(
                    CAST(
                        extract(epoch FROM (SELECT as_of FROM moment) - greatest(m.created_at,
                            b.valid_from, u.last_reinforced_at))
                        - extract(epoch FROM
                            greatest(coalesce(u.last_accessed_at - greatest(m.created_at,
                                b.valid_from, u.last_reinforced_at), interval '0'), interval '0')
                        ) / 2
                        AS float8
                    ) / 86400
                    , 0) / (
                        (
                            CASE b.tier
                            WHEN 'core' THEN CASE m.kind
                            WHEN 'fact' THEN CAST(:half_life_core_fact AS float8)
                            WHEN 'preference' THEN CAST(:half_life_core_preference AS float8)
                            WHEN 'decision' THEN CAST(:half_life_core_decision AS float8)
                            WHEN 'constraint' THEN CAST(:half_life_core_constraint AS float8)
                            END
                            ELSE CASE m.kind
                            WHEN 'fact' THEN CAST(:half_life_semantic_fact AS float8)
                            WHEN 'preference' THEN CAST(:half_life_semantic_preference AS float8)
                            WHEN 'decision' THEN CAST(:half_life_semantic_decision AS float8)
                            WHEN 'constraint' THEN CAST(:half_life_semantic_constraint AS float8)
                            END
                            END
                        ) * (1 + ln(1 + least(
                            coalesce(u.access_count, 0)
                            + coalesce(u.use_count, 0) / CAST(10 AS float8)
                            , 100)))
                    ), 60.0)
            )
        )
        AS strength,
        m.kind IS NOT DISTINCT FROM CAST(:first AS text) AS is_first
    FROM strong CROSS JOIN
        memories m
    CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
        m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
        m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from) AS b
    LEFT JOIN LATERAL (
        SELECT CASE WHEN u.last_reinforced_at <= (SELECT known_at FROM moment) THEN u.access_count
            END AS access_count,
            CASE WHEN u.last_reinforced_at <= (SELECT known_at FROM moment) THEN
                u.last_reinforced_at END AS last_reinforced_at,
            CASE WHEN
            (
                CAST(:used_by AS timestamptz) IS NULL
                OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
            )
            THEN u.use_count END AS use_count,
            CASE WHEN
            (
                CAST(:used_by AS timestamptz) IS NULL
                OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
            )
            THEN u.last_accessed_at END AS last_accessed_at
        FROM memory_usage u
        WHERE u.agent_id = :agent AND u.memory_id = m.id
    ) AS u ON true
    WHERE m.agent_id = :agent AND
        b.valid_from <= (SELECT as_of FROM moment)
        AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
        AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 = 0)
        AND NOT m.cold AND m.erased_at IS NULL AND m.id = strong.id
),
top AS (
    SELECT * FROM live
    ORDER BY is_first DESC, strength DESC, id DESC
    LIMIT :limit
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at,
    (
        SELECT count(*)
        FROM (
            SELECT FROM
                memories m
            CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
                m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary,
                m.tier, m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from)
                AS b
            WHERE m.agent_id = :agent AND
                b.valid_from <= (SELECT as_of FROM moment)
                AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 =
                    0)
                AND NOT m.cold AND m.erased_at IS NULL
            ORDER BY m.created_at DESC, m.id DESC
            LIMIT 3000
        ) AS counted
    ) AS live, hit.*
FROM moment LEFT JOIN (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(
                    2000 + octet_length(CAST(
                        json_build_array(page.entity, page.category, page.key, page.content,
                            page.value, page.details, page.dated_by, page.tags, page.entities,
                            page.sources, page.source, page.session_id, page.project,
                            page.stale_because)
                        AS text))
                ) OVER (
                    ORDER BY is_first DESC, strength DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING
                        AND 1 PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT top.strength, top.is_first,
                m.id, m.created_at, m.revision, m.erased_at,
                m.derived_entity, m.derived_key, m.derived_value,
                m.content, m.kind, m.entity, m.category, m.key, m.value, m.single_valued,
                    m.details, m.importance, m.confidence, m.tags, m.entities, m.sources, m.source,
                    m.session_id, m.project, m.trust, m.lifespan, m.said_at, m.said_in, m.dated_by,
                    m.merged_from,
                b.chain_id, b.valid_from, b.asserted_at, b.said_until, b.retracted_at, b.void,
                    b.ended_by, b.contradicted_by, b.merged, b.temporary, b.tier, b.covered,
                    b.valid_until, b.superseded_by, b.superseded_at, b.known_from,
                (
                    SELECT u.access_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS access_count, (
                    SELECT u.last_reinforced_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS last_reinforced_at, (
                    SELECT u.use_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS use_count, (
                    SELECT u.last_accessed_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS last_accessed_at,
                (
                    SELECT o.id FROM memories o
                    WHERE o.agent_id = :agent AND o.superseded_by = m.id
                    ORDER BY o.valid_from DESC, o.id DESC
                    LIMIT 1
                )
                AS supersedes_id,
                (
                    CASE WHEN
                    (SELECT EXISTS (SELECT FROM memory_relationships WHERE agent_id = :agent AND
                        type IN ('merged_into', 'expands', 'sequential', 'causes', 'enables',
                        'references')))
                    AND m.erased_at IS NULL AND
                    b.valid_from <= (SELECT as_of FROM moment)
                    AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                    AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) %
                        2 = 0)
                    THEN (
                        SELECT
                            jsonb_agg(
                                DISTINCT to_jsonb(e) || jsonb_build_object('type', tie.type,
                                    'as_of', (SELECT as_of FROM moment))
                            )
                        FROM (
                            SELECT source_id AS memory_id, target_id AS other_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                            UNION ALL
                            SELECT target_id, source_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                        ) AS tie
                        CROSS JOIN LATERAL (
                            SELECT
                                o.id,
                                CASE WHEN o.erased_at <= (SELECT known_at FROM moment) THEN
                                    o.erased_at END AS erased_at,
                                b.*
                            FROM
                                memories o
                            CROSS JOIN LATERAL (SELECT o.chain_id, o.valid_from, o.asserted_at,
                                o.said_until, o.retracted_at, o.void, o.ended_by,
                                o.contradicted_by, o.merged, o.temporary, o.tier, o.covered,
                                o.valid_until, o.superseded_by, o.superseded_at, o.known_from) AS b
                            WHERE o.agent_id = :agent AND o.id = tie.other_id
                        ) AS e
                        WHERE tie.created_at <= (SELECT known_at FROM moment)
                            AND (
                                e.erased_at > tie.created_at
                                OR (
                                    (e.void OR coalesce(e.valid_until <= (SELECT as_of FROM
                                        moment), false))
                                    AND (
                                        (NOT e.void AND e.valid_until > tie.created_at)
                                        OR EXISTS (
                                            SELECT FROM memory_beliefs x
                                            WHERE x.agent_id = :agent
                                                AND x.memory_id = e.id
                                                AND x.known_until > tie.created_at
                                                AND x.known_until <= e.known_from
                                                AND NOT x.void
                                                AND (e.void OR x.valid_until IS NULL OR
                                                    x.valid_until > tie.created_at)
                                        )
                                    )
                                )
                            )
                            AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
                            AND tie.memory_id = m.id
                    ) END
                )
                AS stale_because
            FROM top JOIN
                memories m
            CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
                m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary,
                m.tier, m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from)
                AS b
                ON m.agent_id = :agent AND m.id = top.id
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
) AS hit ON true
ORDER BY is_first DESC, strength DESC, id DESC;
-- app/store/reviews/reviews.py find_waiting_reviews: as for GET /v1/context
-- app/store/value_lines.py list_value_lines: as for GET /v1/context


-- ===== GET /v1/memories (of a large agent) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/agent_indexes.py list_indexes: as for POST /v1/memories (a first fact)
-- app/store/walks.py walk_newest: as for POST /v1/memories (a first fact)

-- GET /v1/memories (of a large agent)
-- app/store/walks.py walk_newest
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
    way AS NOT MATERIALIZED (SELECT m.* FROM memories m WHERE m.agent_id = :agent ORDER BY
        created_at DESC, id DESC LIMIT :examined),
page AS MATERIALIZED (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(
                    2000 + octet_length(CAST(
                        json_build_array(page.entity, page.category, page.key, page.content,
                            page.value, page.details, page.dated_by, page.tags, page.entities,
                            page.sources, page.source, page.session_id, page.project,
                            page.stale_because)
                        AS text))
                ) OVER (
                    ORDER BY created_at DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1
                        PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT
                m.id, m.created_at, m.revision, m.erased_at,
                m.derived_entity, m.derived_key, m.derived_value,
                m.content, m.kind, m.entity, m.category, m.key, m.value, m.single_valued,
                    m.details, m.importance, m.confidence, m.tags, m.entities, m.sources, m.source,
                    m.session_id, m.project, m.trust, m.lifespan, m.said_at, m.said_in, m.dated_by,
                    m.merged_from,
                b.chain_id, b.valid_from, b.asserted_at, b.said_until, b.retracted_at, b.void,
                    b.ended_by, b.contradicted_by, b.merged, b.temporary, b.tier, b.covered,
                    b.valid_until, b.superseded_by, b.superseded_at, b.known_from,
                (
                    SELECT u.access_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS access_count, (
                    SELECT u.last_reinforced_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS last_reinforced_at, (
                    SELECT u.use_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS use_count, (
                    SELECT u.last_accessed_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS last_accessed_at,
                (
                    SELECT o.id FROM memories o
                    WHERE o.agent_id = :agent AND o.superseded_by = m.id
                    ORDER BY o.valid_from DESC, o.id DESC
                    LIMIT 1
                )
                AS supersedes_id,
                (
                    CASE WHEN
                    (SELECT EXISTS (SELECT FROM memory_relationships WHERE agent_id = :agent AND
                        type IN ('merged_into', 'expands', 'sequential', 'causes', 'enables',
                        'references')))
                    AND m.erased_at IS NULL AND
                    b.valid_from <= (SELECT as_of FROM moment)
                    AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                    AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) %
                        2 = 0)
                    THEN (
                        SELECT
                            jsonb_agg(
                                DISTINCT to_jsonb(e) || jsonb_build_object('type', tie.type,
                                    'as_of', (SELECT as_of FROM moment))
                            )
                        FROM (
                            SELECT source_id AS memory_id, target_id AS other_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                            UNION ALL
                            SELECT target_id, source_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                        ) AS tie
                        CROSS JOIN LATERAL (
                            SELECT
                                o.id,
                                CASE WHEN o.erased_at <= (SELECT known_at FROM moment) THEN
                                    o.erased_at END AS erased_at,
                                b.*
                            FROM
                                memories o
                            CROSS JOIN LATERAL (SELECT o.chain_id, o.valid_from, o.asserted_at,
                                o.said_until, o.retracted_at, o.void, o.ended_by,
                                o.contradicted_by, o.merged, o.temporary, o.tier, o.covered,
                                o.valid_until, o.superseded_by, o.superseded_at, o.known_from) AS b
                            WHERE o.agent_id = :agent AND o.id = tie.other_id
                        ) AS e
                        WHERE tie.created_at <= (SELECT known_at FROM moment)
                            AND (
                                e.erased_at > tie.created_at
                                OR (
                                    (e.void OR coalesce(e.valid_until <= (SELECT as_of FROM
                                        moment), false))
                                    AND (
                                        (NOT e.void AND e.valid_until > tie.created_at)
                                        OR EXISTS (
                                            SELECT FROM memory_beliefs x
                                            WHERE x.agent_id = :agent
                                                AND x.memory_id = e.id
                                                AND x.known_until > tie.created_at
                                                AND x.known_until <= e.known_from
                                                AND NOT x.void
                                                AND (e.void OR x.valid_until IS NULL OR
                                                    x.valid_until > tie.created_at)
                                        )
                                    )
                                )
                            )
                            AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
                            AND tie.memory_id = m.id
                    ) END
                )
                AS stale_because
            FROM
                way m
            CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
                m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary,
                m.tier, m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from)
                AS b
            WHERE
                b.valid_from <= (SELECT as_of FROM moment)
                AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 =
                    0)
                AND NOT m.cold AND m.erased_at IS NULL
            ORDER BY m.created_at DESC, m.id DESC
            LIMIT :limit
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
),
last AS MATERIALIZED (
    SELECT created_at, id FROM way
    WHERE (SELECT count(*) FROM page) < :limit
    ORDER BY created_at DESC, id DESC
        OFFSET :examined - 1 LIMIT 1
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, page.*, last.id AS
    last_id,
    NULL AS last_strength,
    (
        SELECT m.created_at FROM memories m WHERE m.agent_id = :agent AND m.id = last.id
    ) AS last_created_at
FROM moment LEFT JOIN last ON true LEFT JOIN page ON true
ORDER BY page.created_at DESC, page.id DESC;


-- ===== GET /v1/memories (of a large agent, page 2) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/agent_indexes.py list_indexes: as for POST /v1/memories (a first fact)
-- app/store/walks.py walk_newest: as for POST /v1/memories (a first fact)

-- GET /v1/memories (of a large agent, page 2)
-- app/store/walks.py walk_newest
SELECT count(*) <= :few AS are_few
FROM (SELECT m.id FROM memories m WHERE m.agent_id = :agent AND m.created_at <= :known_at LIMIT
    :few + 1) AS counted;

-- GET /v1/memories (of a large agent, page 2)
-- app/store/walks.py walk_newest
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
    way AS NOT MATERIALIZED (SELECT m.* FROM memories m WHERE m.agent_id = :agent AND m.created_at
        <= (SELECT known_at FROM moment) AND (m.created_at, m.id) < (:after_created_at, :after_id)
        AND m.id = ANY(ARRAY(SELECT m.id FROM memories m WHERE m.agent_id = :agent AND m.created_at
        <= :known_at)) ORDER BY created_at DESC, id DESC LIMIT :examined),
page AS MATERIALIZED (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(
                    2000 + octet_length(CAST(
                        json_build_array(page.entity, page.category, page.key, page.content,
                            page.value, page.details, page.dated_by, page.tags, page.entities,
                            page.sources, page.source, page.session_id, page.project,
                            page.stale_because)
                        AS text))
                ) OVER (
                    ORDER BY created_at DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1
                        PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT
                m.id, m.created_at, m.revision, m.erased_at,
                m.derived_entity, m.derived_key, m.derived_value,
                m.content, m.kind, m.entity, m.category, m.key, m.value, m.single_valued,
                    m.details, m.importance, m.confidence, m.tags, m.entities, m.sources, m.source,
                    m.session_id, m.project, m.trust, m.lifespan, m.said_at, m.said_in, m.dated_by,
                    m.merged_from,
                b.chain_id, b.valid_from, b.asserted_at, b.said_until, b.retracted_at, b.void,
                    b.ended_by, b.contradicted_by, b.merged, b.temporary, b.tier, b.covered,
                    b.valid_until, b.superseded_by, b.superseded_at, b.known_from,
                (
                    SELECT u.access_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS access_count, (
                    SELECT u.last_reinforced_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS last_reinforced_at, (
                    SELECT u.use_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS use_count, (
                    SELECT u.last_accessed_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS last_accessed_at,
                (
                    SELECT o.id FROM (
                        SELECT y.id, y.valid_from FROM memories y
                        WHERE y.agent_id = :agent
                            AND y.superseded_by = m.id
                            AND y.known_from <= (SELECT known_at FROM moment)
                        UNION ALL
                        SELECT y.memory_id, y.valid_from FROM memory_beliefs y
                        WHERE y.agent_id = :agent
                            AND y.superseded_by = m.id
                            AND y.known_from <= (SELECT known_at FROM moment)
                            AND y.known_until > (SELECT known_at FROM moment)
                    ) AS o
                    ORDER BY o.valid_from DESC, o.id DESC
                    LIMIT 1
                )
                AS supersedes_id,
                (
                    CASE WHEN
                    (SELECT EXISTS (SELECT FROM memory_relationships WHERE agent_id = :agent AND
                        type IN ('merged_into', 'expands', 'sequential', 'causes', 'enables',
                        'references')))
                    AND m.erased_at IS NULL AND
                    b.valid_from <= (SELECT as_of FROM moment)
                    AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                    AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) %
                        2 = 0)
                    THEN (
                        SELECT
                            jsonb_agg(
                                DISTINCT to_jsonb(e) || jsonb_build_object('type', tie.type,
                                    'as_of', (SELECT as_of FROM moment))
                            )
                        FROM (
                            SELECT source_id AS memory_id, target_id AS other_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                            UNION ALL
                            SELECT target_id, source_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                        ) AS tie
                        CROSS JOIN LATERAL (
                            SELECT
                                o.id,
                                CASE WHEN o.erased_at <= (SELECT known_at FROM moment) THEN
                                    o.erased_at END AS erased_at,
                                b.*
                            FROM
                                memories o
                            JOIN LATERAL (
                                SELECT o.chain_id, o.valid_from, o.asserted_at, o.said_until,
                                    o.retracted_at, o.void, o.ended_by, o.contradicted_by,
                                    o.merged, o.temporary, o.tier, o.covered, o.valid_until,
                                    o.superseded_by, o.superseded_at, o.known_from
                                WHERE o.known_from <= (SELECT known_at FROM moment)
                                UNION ALL
                                SELECT x.chain_id, x.valid_from, x.asserted_at, x.said_until,
                                    x.retracted_at, x.void, x.ended_by, x.contradicted_by,
                                    x.merged, x.temporary, x.tier, x.covered, x.valid_until,
                                    x.superseded_by, x.superseded_at, x.known_from
                                FROM memory_beliefs x
                                WHERE o.known_from > (SELECT known_at FROM moment)
                                    AND x.agent_id = :agent
                                    AND x.memory_id = o.id
                                    AND x.known_from <= (SELECT known_at FROM moment)
                                    AND x.known_until > (SELECT known_at FROM moment)
                            ) AS b ON true
                            WHERE o.agent_id = :agent AND o.id = tie.other_id
                        ) AS e
                        WHERE tie.created_at <= (SELECT known_at FROM moment)
                            AND (
                                e.erased_at > tie.created_at
                                OR (
                                    (e.void OR coalesce(e.valid_until <= (SELECT as_of FROM
                                        moment), false))
                                    AND (
                                        (NOT e.void AND e.valid_until > tie.created_at)
                                        OR EXISTS (
                                            SELECT FROM memory_beliefs x
                                            WHERE x.agent_id = :agent
                                                AND x.memory_id = e.id
                                                AND x.known_until > tie.created_at
                                                AND x.known_until <= e.known_from
                                                AND NOT x.void
                                                AND (e.void OR x.valid_until IS NULL OR
                                                    x.valid_until > tie.created_at)
                                        )
                                    )
                                )
                            )
                            AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
                            AND tie.memory_id = m.id
                    ) END
                )
                AS stale_because
            FROM
                way m
            JOIN LATERAL (
                SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until, m.retracted_at,
                    m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
                    m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from
                WHERE m.known_from <= (SELECT known_at FROM moment)
                UNION ALL
                SELECT x.chain_id, x.valid_from, x.asserted_at, x.said_until, x.retracted_at,
                    x.void, x.ended_by, x.contradicted_by, x.merged, x.temporary, x.tier,
                    x.covered, x.valid_until, x.superseded_by, x.superseded_at, x.known_from
                FROM memory_beliefs x
                WHERE m.known_from > (SELECT known_at FROM moment)
                    AND x.agent_id = :agent
                    AND x.memory_id = m.id
                    AND x.known_from <= (SELECT known_at FROM moment)
                    AND x.known_until > (SELECT known_at FROM moment)
            ) AS b ON true
            WHERE
                b.valid_from <= (SELECT as_of FROM moment)
                AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 =
                    0)
                AND m.erased_at IS NULL
            ORDER BY m.created_at DESC, m.id DESC
            LIMIT :limit
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
),
last AS MATERIALIZED (
    SELECT created_at, id FROM way
    WHERE (SELECT count(*) FROM page) < :limit
    ORDER BY created_at DESC, id DESC
        OFFSET :examined - 1 LIMIT 1
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, page.*, last.id AS
    last_id,
    NULL AS last_strength,
    (
        SELECT m.created_at FROM memories m WHERE m.agent_id = :agent AND m.id = last.id
    ) AS last_created_at
FROM moment LEFT JOIN last ON true LEFT JOIN page ON true
ORDER BY page.created_at DESC, page.id DESC;


-- ===== GET /v1/memories (of a large agent, then) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/agent_indexes.py list_indexes: as for POST /v1/memories (a first fact)
-- app/store/walks.py walk_newest: as for POST /v1/memories (a first fact)

-- GET /v1/memories (of a large agent, then)
-- app/store/walks.py walk_newest
SELECT count(*) <= :few AS are_few
FROM (SELECT m.id FROM memories m WHERE m.agent_id = :agent AND m.valid_from <= :as_of AND
    m.revision >= 0 LIMIT :few + 1) AS counted;

-- GET /v1/memories (of a large agent, then)
-- app/store/walks.py walk_newest
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
    way AS NOT MATERIALIZED (
        SELECT * FROM (
            (SELECT m.* FROM memories m WHERE m.agent_id = :agent AND m.id = ANY(ARRAY(SELECT m.id
                FROM memories m WHERE m.agent_id = :agent AND m.valid_from <= :as_of AND m.revision
                >= 0)) AND m.created_at > (SELECT as_of FROM moment) AND m.valid_from <
                m.created_at ORDER BY created_at DESC, id DESC LIMIT :examined)
            UNION ALL
                (SELECT m.* FROM memories m WHERE m.agent_id = :agent AND m.id = ANY(ARRAY(SELECT
                    m.id FROM memories m WHERE m.agent_id = :agent AND m.valid_from <= :as_of AND
                    m.revision >= 0)) AND m.created_at <= (SELECT as_of FROM moment) ORDER BY
                    created_at DESC, id DESC LIMIT :examined)
        ) AS chosen
        ORDER BY created_at DESC, id DESC LIMIT :examined
    ),
page AS MATERIALIZED (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(
                    2000 + octet_length(CAST(
                        json_build_array(page.entity, page.category, page.key, page.content,
                            page.value, page.details, page.dated_by, page.tags, page.entities,
                            page.sources, page.source, page.session_id, page.project,
                            page.stale_because)
                        AS text))
                ) OVER (
                    ORDER BY created_at DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1
                        PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT
                m.id, m.created_at, m.revision, m.erased_at,
                m.derived_entity, m.derived_key, m.derived_value,
                m.content, m.kind, m.entity, m.category, m.key, m.value, m.single_valued,
                    m.details, m.importance, m.confidence, m.tags, m.entities, m.sources, m.source,
                    m.session_id, m.project, m.trust, m.lifespan, m.said_at, m.said_in, m.dated_by,
                    m.merged_from,
                b.chain_id, b.valid_from, b.asserted_at, b.said_until, b.retracted_at, b.void,
                    b.ended_by, b.contradicted_by, b.merged, b.temporary, b.tier, b.covered,
                    b.valid_until, b.superseded_by, b.superseded_at, b.known_from,
                (
                    SELECT u.access_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS access_count, (
                    SELECT u.last_reinforced_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS last_reinforced_at, (
                    SELECT u.use_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS use_count, (
                    SELECT u.last_accessed_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS last_accessed_at,
                (
                    SELECT o.id FROM memories o
                    WHERE o.agent_id = :agent AND o.superseded_by = m.id
                    ORDER BY o.valid_from DESC, o.id DESC
                    LIMIT 1
                )
                AS supersedes_id,
                (
                    CASE WHEN
                    (SELECT EXISTS (SELECT FROM memory_relationships WHERE agent_id = :agent AND
                        type IN ('merged_into', 'expands', 'sequential', 'causes', 'enables',
                        'references')))
                    AND m.erased_at IS NULL AND
                    b.valid_from <= (SELECT as_of FROM moment)
                    AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                    AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) %
                        2 = 0)
                    THEN (
                        SELECT
                            jsonb_agg(
                                DISTINCT to_jsonb(e) || jsonb_build_object('type', tie.type,
                                    'as_of', (SELECT as_of FROM moment))
                            )
                        FROM (
                            SELECT source_id AS memory_id, target_id AS other_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                            UNION ALL
                            SELECT target_id, source_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                        ) AS tie
                        CROSS JOIN LATERAL (
                            SELECT
                                o.id,
                                CASE WHEN o.erased_at <= (SELECT known_at FROM moment) THEN
                                    o.erased_at END AS erased_at,
                                b.*
                            FROM
                                memories o
                            CROSS JOIN LATERAL (SELECT o.chain_id, o.valid_from, o.asserted_at,
                                o.said_until, o.retracted_at, o.void, o.ended_by,
                                o.contradicted_by, o.merged, o.temporary, o.tier, o.covered,
                                o.valid_until, o.superseded_by, o.superseded_at, o.known_from) AS b
                            WHERE o.agent_id = :agent AND o.id = tie.other_id
                        ) AS e
                        WHERE tie.created_at <= (SELECT known_at FROM moment)
                            AND (
                                e.erased_at > tie.created_at
                                OR (
                                    (e.void OR coalesce(e.valid_until <= (SELECT as_of FROM
                                        moment), false))
                                    AND (
                                        (NOT e.void AND e.valid_until > tie.created_at)
                                        OR EXISTS (
                                            SELECT FROM memory_beliefs x
                                            WHERE x.agent_id = :agent
                                                AND x.memory_id = e.id
                                                AND x.known_until > tie.created_at
                                                AND x.known_until <= e.known_from
                                                AND NOT x.void
                                                AND (e.void OR x.valid_until IS NULL OR
                                                    x.valid_until > tie.created_at)
                                        )
                                    )
                                )
                            )
                            AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
                            AND tie.memory_id = m.id
                    ) END
                )
                AS stale_because
            FROM
                way m
            CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
                m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary,
                m.tier, m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from)
                AS b
            WHERE
                b.valid_from <= (SELECT as_of FROM moment)
                AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 =
                    0)
            ORDER BY m.created_at DESC, m.id DESC
            LIMIT :limit
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
),
last AS MATERIALIZED (
    SELECT created_at, id FROM way
    WHERE (SELECT count(*) FROM page) < :limit
    ORDER BY created_at DESC, id DESC
        OFFSET :examined - 1 LIMIT 1
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, page.*, last.id AS
    last_id,
    NULL AS last_strength,
    (
        SELECT m.created_at FROM memories m WHERE m.agent_id = :agent AND m.id = last.id
    ) AS last_created_at
FROM moment LEFT JOIN last ON true LEFT JOIN page ON true
ORDER BY page.created_at DESC, page.id DESC;


-- ===== GET /v1/memories (of a large agent, then, page 2) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/agent_indexes.py list_indexes: as for POST /v1/memories (a first fact)
-- app/store/walks.py walk_newest: as for POST /v1/memories (a first fact)
-- app/store/walks.py walk_newest: as for GET /v1/memories (of a large agent, page 2)

-- GET /v1/memories (of a large agent, then, page 2)
-- app/store/walks.py walk_newest
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
    way AS NOT MATERIALIZED (SELECT m.* FROM memories m WHERE m.agent_id = :agent AND m.created_at
        <= (SELECT known_at FROM moment) AND (m.created_at, m.id) < (:after_created_at, :after_id)
        AND m.id = ANY(ARRAY(SELECT m.id FROM memories m WHERE m.agent_id = :agent AND m.created_at
        <= :known_at)) ORDER BY created_at DESC, id DESC LIMIT :examined),
page AS MATERIALIZED (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(
                    2000 + octet_length(CAST(
                        json_build_array(page.entity, page.category, page.key, page.content,
                            page.value, page.details, page.dated_by, page.tags, page.entities,
                            page.sources, page.source, page.session_id, page.project,
                            page.stale_because)
                        AS text))
                ) OVER (
                    ORDER BY created_at DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1
                        PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT
                m.id, m.created_at, m.revision, m.erased_at,
                m.derived_entity, m.derived_key, m.derived_value,
                m.content, m.kind, m.entity, m.category, m.key, m.value, m.single_valued,
                    m.details, m.importance, m.confidence, m.tags, m.entities, m.sources, m.source,
                    m.session_id, m.project, m.trust, m.lifespan, m.said_at, m.said_in, m.dated_by,
                    m.merged_from,
                b.chain_id, b.valid_from, b.asserted_at, b.said_until, b.retracted_at, b.void,
                    b.ended_by, b.contradicted_by, b.merged, b.temporary, b.tier, b.covered,
                    b.valid_until, b.superseded_by, b.superseded_at, b.known_from,
                (
                    SELECT u.access_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS access_count, (
                    SELECT u.last_reinforced_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS last_reinforced_at, (
                    SELECT u.use_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS use_count, (
                    SELECT u.last_accessed_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS last_accessed_at,
                (
                    SELECT o.id FROM (
                        SELECT y.id, y.valid_from FROM memories y
                        WHERE y.agent_id = :agent
                            AND y.superseded_by = m.id
                            AND y.known_from <= (SELECT known_at FROM moment)
                        UNION ALL
                        SELECT y.memory_id, y.valid_from FROM memory_beliefs y
                        WHERE y.agent_id = :agent
                            AND y.superseded_by = m.id
                            AND y.known_from <= (SELECT known_at FROM moment)
                            AND y.known_until > (SELECT known_at FROM moment)
                    ) AS o
                    ORDER BY o.valid_from DESC, o.id DESC
                    LIMIT 1
                )
                AS supersedes_id,
                (
                    CASE WHEN
                    (SELECT EXISTS (SELECT FROM memory_relationships WHERE agent_id = :agent AND
                        type IN ('merged_into', 'expands', 'sequential', 'causes', 'enables',
                        'references')))
                    AND m.erased_at IS NULL AND
                    b.valid_from <= (SELECT as_of FROM moment)
                    AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                    AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) %
                        2 = 0)
                    THEN (
                        SELECT
                            jsonb_agg(
                                DISTINCT to_jsonb(e) || jsonb_build_object('type', tie.type,
                                    'as_of', (SELECT as_of FROM moment))
                            )
                        FROM (
                            SELECT source_id AS memory_id, target_id AS other_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                            UNION ALL
                            SELECT target_id, source_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                        ) AS tie
                        CROSS JOIN LATERAL (
                            SELECT
                                o.id,
                                CASE WHEN o.erased_at <= (SELECT known_at FROM moment) THEN
                                    o.erased_at END AS erased_at,
                                b.*
                            FROM
                                memories o
                            JOIN LATERAL (
                                SELECT o.chain_id, o.valid_from, o.asserted_at, o.said_until,
                                    o.retracted_at, o.void, o.ended_by, o.contradicted_by,
                                    o.merged, o.temporary, o.tier, o.covered, o.valid_until,
                                    o.superseded_by, o.superseded_at, o.known_from
                                WHERE o.known_from <= (SELECT known_at FROM moment)
                                UNION ALL
                                SELECT x.chain_id, x.valid_from, x.asserted_at, x.said_until,
                                    x.retracted_at, x.void, x.ended_by, x.contradicted_by,
                                    x.merged, x.temporary, x.tier, x.covered, x.valid_until,
                                    x.superseded_by, x.superseded_at, x.known_from
                                FROM memory_beliefs x
                                WHERE o.known_from > (SELECT known_at FROM moment)
                                    AND x.agent_id = :agent
                                    AND x.memory_id = o.id
                                    AND x.known_from <= (SELECT known_at FROM moment)
                                    AND x.known_until > (SELECT known_at FROM moment)
                            ) AS b ON true
                            WHERE o.agent_id = :agent AND o.id = tie.other_id
                        ) AS e
                        WHERE tie.created_at <= (SELECT known_at FROM moment)
                            AND (
                                e.erased_at > tie.created_at
                                OR (
                                    (e.void OR coalesce(e.valid_until <= (SELECT as_of FROM
                                        moment), false))
                                    AND (
                                        (NOT e.void AND e.valid_until > tie.created_at)
                                        OR EXISTS (
                                            SELECT FROM memory_beliefs x
                                            WHERE x.agent_id = :agent
                                                AND x.memory_id = e.id
                                                AND x.known_until > tie.created_at
                                                AND x.known_until <= e.known_from
                                                AND NOT x.void
                                                AND (e.void OR x.valid_until IS NULL OR
                                                    x.valid_until > tie.created_at)
                                        )
                                    )
                                )
                            )
                            AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
                            AND tie.memory_id = m.id
                    ) END
                )
                AS stale_because
            FROM
                way m
            JOIN LATERAL (
                SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until, m.retracted_at,
                    m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
                    m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from
                WHERE m.known_from <= (SELECT known_at FROM moment)
                UNION ALL
                SELECT x.chain_id, x.valid_from, x.asserted_at, x.said_until, x.retracted_at,
                    x.void, x.ended_by, x.contradicted_by, x.merged, x.temporary, x.tier,
                    x.covered, x.valid_until, x.superseded_by, x.superseded_at, x.known_from
                FROM memory_beliefs x
                WHERE m.known_from > (SELECT known_at FROM moment)
                    AND x.agent_id = :agent
                    AND x.memory_id = m.id
                    AND x.known_from <= (SELECT known_at FROM moment)
                    AND x.known_until > (SELECT known_at FROM moment)
            ) AS b ON true
            WHERE
                b.valid_from <= (SELECT as_of FROM moment)
                AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 =
                    0)
            ORDER BY m.created_at DESC, m.id DESC
            LIMIT :limit
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
),
last AS MATERIALIZED (
    SELECT created_at, id FROM way
    WHERE (SELECT count(*) FROM page) < :limit
    ORDER BY created_at DESC, id DESC
        OFFSET :examined - 1 LIMIT 1
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, page.*, last.id AS
    last_id,
    NULL AS last_strength,
    (
        SELECT m.created_at FROM memories m WHERE m.agent_id = :agent AND m.id = last.id
    ) AS last_created_at
FROM moment LEFT JOIN last ON true LEFT JOIN page ON true
ORDER BY page.created_at DESC, page.id DESC;


-- ===== GET /v1/memories (of a large agent, as believed then) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/agent_indexes.py list_indexes: as for POST /v1/memories (a first fact)
-- app/store/walks.py walk_newest: as for POST /v1/memories (a first fact)
-- app/store/walks.py walk_newest: as for GET /v1/memories (of a large agent, page 2)
-- app/store/walks.py walk_newest: as for POST /v1/search (hybrid, in the past)

-- GET /v1/memories (of a large agent, as believed then)
-- app/store/walks.py walk_newest
SELECT FROM agents WHERE agent_id = :agent FOR KEY SHARE;

-- GET /v1/memories (of a large agent, as believed then)
-- app/store/walks.py walk_newest
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
    way AS NOT MATERIALIZED (SELECT m.* FROM memories m WHERE m.agent_id = :agent AND m.created_at
        <= (SELECT known_at FROM moment) AND m.id = ANY(ARRAY(SELECT m.id FROM memories m WHERE
        m.agent_id = :agent AND m.created_at <= :known_at)) ORDER BY created_at DESC, id DESC LIMIT
        :examined),
page AS MATERIALIZED (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(
                    2000 + octet_length(CAST(
                        json_build_array(page.entity, page.category, page.key, page.content,
                            page.value, page.details, page.dated_by, page.tags, page.entities,
                            page.sources, page.source, page.session_id, page.project,
                            page.stale_because)
                        AS text))
                ) OVER (
                    ORDER BY created_at DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1
                        PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT
                m.id, m.created_at, m.revision, m.erased_at,
                m.derived_entity, m.derived_key, m.derived_value,
                m.content, m.kind, m.entity, m.category, m.key, m.value, m.single_valued,
                    m.details, m.importance, m.confidence, m.tags, m.entities, m.sources, m.source,
                    m.session_id, m.project, m.trust, m.lifespan, m.said_at, m.said_in, m.dated_by,
                    m.merged_from,
                b.chain_id, b.valid_from, b.asserted_at, b.said_until, b.retracted_at, b.void,
                    b.ended_by, b.contradicted_by, b.merged, b.temporary, b.tier, b.covered,
                    b.valid_until, b.superseded_by, b.superseded_at, b.known_from,
                (
                    SELECT u.access_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS access_count, (
                    SELECT u.last_reinforced_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS last_reinforced_at, (
                    SELECT u.use_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS use_count, (
                    SELECT u.last_accessed_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS last_accessed_at,
                (
                    SELECT o.id FROM (
                        SELECT y.id, y.valid_from FROM memories y
                        WHERE y.agent_id = :agent
                            AND y.superseded_by = m.id
                            AND y.known_from <= (SELECT known_at FROM moment)
                        UNION ALL
                        SELECT y.memory_id, y.valid_from FROM memory_beliefs y
                        WHERE y.agent_id = :agent
                            AND y.superseded_by = m.id
                            AND y.known_from <= (SELECT known_at FROM moment)
                            AND y.known_until > (SELECT known_at FROM moment)
                    ) AS o
                    ORDER BY o.valid_from DESC, o.id DESC
                    LIMIT 1
                )
                AS supersedes_id,
                (
                    CASE WHEN
                    (SELECT EXISTS (SELECT FROM memory_relationships WHERE agent_id = :agent AND
                        type IN ('merged_into', 'expands', 'sequential', 'causes', 'enables',
                        'references')))
                    AND m.erased_at IS NULL AND
                    b.valid_from <= (SELECT as_of FROM moment)
                    AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                    AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) %
                        2 = 0)
                    THEN (
                        SELECT
                            jsonb_agg(
                                DISTINCT to_jsonb(e) || jsonb_build_object('type', tie.type,
                                    'as_of', (SELECT as_of FROM moment))
                            )
                        FROM (
                            SELECT source_id AS memory_id, target_id AS other_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                            UNION ALL
                            SELECT target_id, source_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                        ) AS tie
                        CROSS JOIN LATERAL (
                            SELECT
                                o.id,
                                CASE WHEN o.erased_at <= (SELECT known_at FROM moment) THEN
                                    o.erased_at END AS erased_at,
                                b.*
                            FROM
                                memories o
                            JOIN LATERAL (
                                SELECT o.chain_id, o.valid_from, o.asserted_at, o.said_until,
                                    o.retracted_at, o.void, o.ended_by, o.contradicted_by,
                                    o.merged, o.temporary, o.tier, o.covered, o.valid_until,
                                    o.superseded_by, o.superseded_at, o.known_from
                                WHERE o.known_from <= (SELECT known_at FROM moment)
                                UNION ALL
                                SELECT x.chain_id, x.valid_from, x.asserted_at, x.said_until,
                                    x.retracted_at, x.void, x.ended_by, x.contradicted_by,
                                    x.merged, x.temporary, x.tier, x.covered, x.valid_until,
                                    x.superseded_by, x.superseded_at, x.known_from
                                FROM memory_beliefs x
                                WHERE o.known_from > (SELECT known_at FROM moment)
                                    AND x.agent_id = :agent
                                    AND x.memory_id = o.id
                                    AND x.known_from <= (SELECT known_at FROM moment)
                                    AND x.known_until > (SELECT known_at FROM moment)
                            ) AS b ON true
                            WHERE o.agent_id = :agent AND o.id = tie.other_id
                        ) AS e
                        WHERE tie.created_at <= (SELECT known_at FROM moment)
                            AND (
                                e.erased_at > tie.created_at
                                OR (
                                    (e.void OR coalesce(e.valid_until <= (SELECT as_of FROM
                                        moment), false))
                                    AND (
                                        (NOT e.void AND e.valid_until > tie.created_at)
                                        OR EXISTS (
                                            SELECT FROM memory_beliefs x
                                            WHERE x.agent_id = :agent
                                                AND x.memory_id = e.id
                                                AND x.known_until > tie.created_at
                                                AND x.known_until <= e.known_from
                                                AND NOT x.void
                                                AND (e.void OR x.valid_until IS NULL OR
                                                    x.valid_until > tie.created_at)
                                        )
                                    )
                                )
                            )
                            AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
                            AND tie.memory_id = m.id
                    ) END
                )
                AS stale_because
            FROM
                way m
            JOIN LATERAL (
                SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until, m.retracted_at,
                    m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
                    m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from
                WHERE m.known_from <= (SELECT known_at FROM moment)
                UNION ALL
                SELECT x.chain_id, x.valid_from, x.asserted_at, x.said_until, x.retracted_at,
                    x.void, x.ended_by, x.contradicted_by, x.merged, x.temporary, x.tier,
                    x.covered, x.valid_until, x.superseded_by, x.superseded_at, x.known_from
                FROM memory_beliefs x
                WHERE m.known_from > (SELECT known_at FROM moment)
                    AND x.agent_id = :agent
                    AND x.memory_id = m.id
                    AND x.known_from <= (SELECT known_at FROM moment)
                    AND x.known_until > (SELECT known_at FROM moment)
            ) AS b ON true
            WHERE
                b.valid_from <= (SELECT as_of FROM moment)
                AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 =
                    0)
            ORDER BY m.created_at DESC, m.id DESC
            LIMIT :limit
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
),
last AS MATERIALIZED (
    SELECT created_at, id FROM way
    WHERE (SELECT count(*) FROM page) < :limit
    ORDER BY created_at DESC, id DESC
        OFFSET :examined - 1 LIMIT 1
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, page.*, last.id AS
    last_id,
    NULL AS last_strength,
    (
        SELECT m.created_at FROM memories m WHERE m.agent_id = :agent AND m.id = last.id
    ) AS last_created_at
FROM moment LEFT JOIN last ON true LEFT JOIN page ON true
ORDER BY page.created_at DESC, page.id DESC;


-- ===== GET /v1/memories (of a large agent, as believed then, page 2) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/agent_indexes.py list_indexes: as for POST /v1/memories (a first fact)
-- app/store/walks.py walk_newest: as for POST /v1/memories (a first fact)
-- app/store/walks.py walk_newest: as for GET /v1/memories (of a large agent, page 2)
-- app/store/walks.py walk_newest: as for POST /v1/search (hybrid, in the past)
-- app/store/walks.py walk_newest: as for GET /v1/memories (of a large agent, as believed then)
-- app/store/walks.py walk_newest: as for GET /v1/memories (of a large agent, then, page 2)


-- ===== GET /v1/memories (of a session of a large agent) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/agent_indexes.py list_indexes: as for POST /v1/memories (a first fact)
-- app/store/walks.py walk_newest: as for POST /v1/memories (a first fact)

-- GET /v1/memories (of a session of a large agent)
-- app/store/walks.py walk_newest
SELECT count(*) <= :few AS are_few
FROM (SELECT m.id FROM memories m WHERE m.agent_id = :agent AND m.session_id = :session_id LIMIT
    :few + 1) AS counted;

-- GET /v1/memories (of a session of a large agent)
-- app/store/walks.py walk_newest
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
    way AS NOT MATERIALIZED (SELECT m.* FROM memories m WHERE m.agent_id = :agent AND m.id =
        ANY(ARRAY(SELECT m.id FROM memories m WHERE m.agent_id = :agent AND m.session_id =
        :session_id)) ORDER BY created_at DESC, id DESC LIMIT :examined),
page AS MATERIALIZED (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(
                    2000 + octet_length(CAST(
                        json_build_array(page.entity, page.category, page.key, page.content,
                            page.value, page.details, page.dated_by, page.tags, page.entities,
                            page.sources, page.source, page.session_id, page.project,
                            page.stale_because)
                        AS text))
                ) OVER (
                    ORDER BY created_at DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1
                        PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT
                m.id, m.created_at, m.revision, m.erased_at,
                m.derived_entity, m.derived_key, m.derived_value,
                m.content, m.kind, m.entity, m.category, m.key, m.value, m.single_valued,
                    m.details, m.importance, m.confidence, m.tags, m.entities, m.sources, m.source,
                    m.session_id, m.project, m.trust, m.lifespan, m.said_at, m.said_in, m.dated_by,
                    m.merged_from,
                b.chain_id, b.valid_from, b.asserted_at, b.said_until, b.retracted_at, b.void,
                    b.ended_by, b.contradicted_by, b.merged, b.temporary, b.tier, b.covered,
                    b.valid_until, b.superseded_by, b.superseded_at, b.known_from,
                (
                    SELECT u.access_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS access_count, (
                    SELECT u.last_reinforced_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS last_reinforced_at, (
                    SELECT u.use_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS use_count, (
                    SELECT u.last_accessed_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS last_accessed_at,
                (
                    SELECT o.id FROM memories o
                    WHERE o.agent_id = :agent AND o.superseded_by = m.id
                    ORDER BY o.valid_from DESC, o.id DESC
                    LIMIT 1
                )
                AS supersedes_id,
                (
                    CASE WHEN
                    (SELECT EXISTS (SELECT FROM memory_relationships WHERE agent_id = :agent AND
                        type IN ('merged_into', 'expands', 'sequential', 'causes', 'enables',
                        'references')))
                    AND m.erased_at IS NULL AND
                    b.valid_from <= (SELECT as_of FROM moment)
                    AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                    AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) %
                        2 = 0)
                    THEN (
                        SELECT
                            jsonb_agg(
                                DISTINCT to_jsonb(e) || jsonb_build_object('type', tie.type,
                                    'as_of', (SELECT as_of FROM moment))
                            )
                        FROM (
                            SELECT source_id AS memory_id, target_id AS other_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                            UNION ALL
                            SELECT target_id, source_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                        ) AS tie
                        CROSS JOIN LATERAL (
                            SELECT
                                o.id,
                                CASE WHEN o.erased_at <= (SELECT known_at FROM moment) THEN
                                    o.erased_at END AS erased_at,
                                b.*
                            FROM
                                memories o
                            CROSS JOIN LATERAL (SELECT o.chain_id, o.valid_from, o.asserted_at,
                                o.said_until, o.retracted_at, o.void, o.ended_by,
                                o.contradicted_by, o.merged, o.temporary, o.tier, o.covered,
                                o.valid_until, o.superseded_by, o.superseded_at, o.known_from) AS b
                            WHERE o.agent_id = :agent AND o.id = tie.other_id
                        ) AS e
                        WHERE tie.created_at <= (SELECT known_at FROM moment)
                            AND (
                                e.erased_at > tie.created_at
                                OR (
                                    (e.void OR coalesce(e.valid_until <= (SELECT as_of FROM
                                        moment), false))
                                    AND (
                                        (NOT e.void AND e.valid_until > tie.created_at)
                                        OR EXISTS (
                                            SELECT FROM memory_beliefs x
                                            WHERE x.agent_id = :agent
                                                AND x.memory_id = e.id
                                                AND x.known_until > tie.created_at
                                                AND x.known_until <= e.known_from
                                                AND NOT x.void
                                                AND (e.void OR x.valid_until IS NULL OR
                                                    x.valid_until > tie.created_at)
                                        )
                                    )
                                )
                            )
                            AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
                            AND tie.memory_id = m.id
                    ) END
                )
                AS stale_because
            FROM
                way m
            CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
                m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary,
                m.tier, m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from)
                AS b
            WHERE
                b.valid_from <= (SELECT as_of FROM moment)
                AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 =
                    0)
                AND NOT m.cold AND m.erased_at IS NULL AND m.session_id = :session_id
            ORDER BY m.created_at DESC, m.id DESC
            LIMIT :limit
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
),
last AS MATERIALIZED (
    SELECT created_at, id FROM way
    WHERE (SELECT count(*) FROM page) < :limit
    ORDER BY created_at DESC, id DESC
        OFFSET :examined - 1 LIMIT 1
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, page.*, last.id AS
    last_id,
    NULL AS last_strength,
    (
        SELECT m.created_at FROM memories m WHERE m.agent_id = :agent AND m.id = last.id
    ) AS last_created_at
FROM moment LEFT JOIN last ON true LEFT JOIN page ON true
ORDER BY page.created_at DESC, page.id DESC;


-- ===== GET /v1/memories (of what is stale in a large agent) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/agent_indexes.py list_indexes: as for POST /v1/memories (a first fact)
-- app/store/walks.py walk_newest: as for POST /v1/memories (a first fact)

-- GET /v1/memories (of what is stale in a large agent)
-- app/store/walks.py walk_newest
SELECT count(*) <= :few AS are_few
FROM (SELECT m.id FROM memories m WHERE m.agent_id = :agent AND m.id IN (
    SELECT r.source_id FROM memory_relationships r WHERE r.agent_id = :agent AND type IN
        ('merged_into', 'expands', 'sequential', 'causes', 'enables', 'references')
    UNION ALL
    SELECT r.target_id FROM memory_relationships r WHERE r.agent_id = :agent AND type IN
        ('merged_into', 'expands', 'sequential', 'causes', 'enables', 'references')
) LIMIT :few + 1) AS counted;

-- GET /v1/memories (of what is stale in a large agent)
-- app/store/walks.py walk_newest
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
    way AS NOT MATERIALIZED (SELECT m.* FROM memories m WHERE m.agent_id = :agent AND m.id =
        ANY(ARRAY(SELECT m.id FROM memories m WHERE m.agent_id = :agent AND m.id IN (
        SELECT r.source_id FROM memory_relationships r WHERE r.agent_id = :agent AND type IN
            ('merged_into', 'expands', 'sequential', 'causes', 'enables', 'references')
        UNION ALL
        SELECT r.target_id FROM memory_relationships r WHERE r.agent_id = :agent AND type IN
            ('merged_into', 'expands', 'sequential', 'causes', 'enables', 'references')
    ))) ORDER BY created_at DESC, id DESC LIMIT :examined),
page AS MATERIALIZED (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(
                    2000 + octet_length(CAST(
                        json_build_array(page.entity, page.category, page.key, page.content,
                            page.value, page.details, page.dated_by, page.tags, page.entities,
                            page.sources, page.source, page.session_id, page.project,
                            page.stale_because)
                        AS text))
                ) OVER (
                    ORDER BY created_at DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1
                        PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT
                m.id, m.created_at, m.revision, m.erased_at,
                m.derived_entity, m.derived_key, m.derived_value,
                m.content, m.kind, m.entity, m.category, m.key, m.value, m.single_valued,
                    m.details, m.importance, m.confidence, m.tags, m.entities, m.sources, m.source,
                    m.session_id, m.project, m.trust, m.lifespan, m.said_at, m.said_in, m.dated_by,
                    m.merged_from,
                b.chain_id, b.valid_from, b.asserted_at, b.said_until, b.retracted_at, b.void,
                    b.ended_by, b.contradicted_by, b.merged, b.temporary, b.tier, b.covered,
                    b.valid_until, b.superseded_by, b.superseded_at, b.known_from,
                (
                    SELECT u.access_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS access_count, (
                    SELECT u.last_reinforced_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at <=
                        (SELECT known_at FROM moment)
                ) AS last_reinforced_at, (
                    SELECT u.use_count FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS use_count, (
                    SELECT u.last_accessed_at FROM memory_usage u
                    WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                        (
                            CAST(:used_by AS timestamptz) IS NULL
                            OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                        )
                ) AS last_accessed_at,
                (
                    SELECT o.id FROM memories o
                    WHERE o.agent_id = :agent AND o.superseded_by = m.id
                    ORDER BY o.valid_from DESC, o.id DESC
                    LIMIT 1
                )
                AS supersedes_id,
                (
                    CASE WHEN
                    (SELECT EXISTS (SELECT FROM memory_relationships WHERE agent_id = :agent AND
                        type IN ('merged_into', 'expands', 'sequential', 'causes', 'enables',
                        'references')))
                    AND m.erased_at IS NULL AND
                    b.valid_from <= (SELECT as_of FROM moment)
                    AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                    AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) %
                        2 = 0)
                    THEN (
                        SELECT
                            jsonb_agg(
                                DISTINCT to_jsonb(e) || jsonb_build_object('type', tie.type,
                                    'as_of', (SELECT as_of FROM moment))
                            )
                        FROM (
                            SELECT source_id AS memory_id, target_id AS other_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                            UNION ALL
                            SELECT target_id, source_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                        ) AS tie
                        CROSS JOIN LATERAL (
                            SELECT
                                o.id,
                                CASE WHEN o.erased_at <= (SELECT known_at FROM moment) THEN
                                    o.erased_at END AS erased_at,
                                b.*
                            FROM
                                memories o
                            CROSS JOIN LATERAL (SELECT o.chain_id, o.valid_from, o.asserted_at,
                                o.said_until, o.retracted_at, o.void, o.ended_by,
                                o.contradicted_by, o.merged, o.temporary, o.tier, o.covered,
                                o.valid_until, o.superseded_by, o.superseded_at, o.known_from) AS b
                            WHERE o.agent_id = :agent AND o.id = tie.other_id
                        ) AS e
                        WHERE tie.created_at <= (SELECT known_at FROM moment)
                            AND (
                                e.erased_at > tie.created_at
                                OR (
                                    (e.void OR coalesce(e.valid_until <= (SELECT as_of FROM
                                        moment), false))
                                    AND (
                                        (NOT e.void AND e.valid_until > tie.created_at)
                                        OR EXISTS (
                                            SELECT FROM memory_beliefs x
                                            WHERE x.agent_id = :agent
                                                AND x.memory_id = e.id
                                                AND x.known_until > tie.created_at
                                                AND x.known_until <= e.known_from
                                                AND NOT x.void
                                                AND (e.void OR x.valid_until IS NULL OR
                                                    x.valid_until > tie.created_at)
                                        )
                                    )
                                )
                            )
                            AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
                            AND tie.memory_id = m.id
                    ) END
                )
                AS stale_because
            FROM
                way m
            CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
                m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary,
                m.tier, m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from)
                AS b
            WHERE
                b.valid_from <= (SELECT as_of FROM moment)
                AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) % 2 =
                    0)
                AND NOT m.cold AND m.erased_at IS NULL AND
                (
                    m.erased_at IS NULL
                    AND
                    b.valid_from <= (SELECT as_of FROM moment)
                    AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                    AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) %
                        2 = 0)
                    AND m.id = ANY(ARRAY(
                        SELECT tie.memory_id
                        FROM (
                            SELECT source_id AS memory_id, target_id AS other_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                            UNION ALL
                            SELECT target_id, source_id, type, created_at
                            FROM memory_relationships
                            WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                'sequential', 'causes', 'enables', 'references')
                        ) AS tie
                        CROSS JOIN LATERAL (
                            SELECT
                                o.id,
                                CASE WHEN o.erased_at <= (SELECT known_at FROM moment) THEN
                                    o.erased_at END AS erased_at,
                                b.*
                            FROM
                                memories o
                            CROSS JOIN LATERAL (SELECT o.chain_id, o.valid_from, o.asserted_at,
                                o.said_until, o.retracted_at, o.void, o.ended_by,
                                o.contradicted_by, o.merged, o.temporary, o.tier, o.covered,
                                o.valid_until, o.superseded_by, o.superseded_at, o.known_from) AS b
                            WHERE o.agent_id = :agent AND o.id = tie.other_id
                        ) AS e
                        WHERE tie.created_at <= (SELECT known_at FROM moment)
                            AND (
                                e.erased_at > tie.created_at
                                OR (
                                    (e.void OR coalesce(e.valid_until <= (SELECT as_of FROM
                                        moment), false))
                                    AND (
                                        (NOT e.void AND e.valid_until > tie.created_at)
                                        OR EXISTS (
                                            SELECT FROM memory_beliefs x
                                            WHERE x.agent_id = :agent
                                                AND x.memory_id = e.id
                                                AND x.known_until > tie.created_at
                                                AND x.known_until <= e.known_from
                                                AND NOT x.void
                                                AND (e.void OR x.valid_until IS NULL OR
                                                    x.valid_until > tie.created_at)
                                        )
                                    )
                                )
                            )
                            AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
                    ))
                )
            ORDER BY m.created_at DESC, m.id DESC
            LIMIT :limit
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
),
last AS MATERIALIZED (
    SELECT created_at, id FROM way
    WHERE (SELECT count(*) FROM page) < :limit
    ORDER BY created_at DESC, id DESC
        OFFSET :examined - 1 LIMIT 1
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, page.*, last.id AS
    last_id,
    NULL AS last_strength,
    (
        SELECT m.created_at FROM memories m WHERE m.agent_id = :agent AND m.id = last.id
    ) AS last_created_at
FROM moment LEFT JOIN last ON true LEFT JOIN page ON true
ORDER BY page.created_at DESC, page.id DESC;


-- ===== GET /v1/memories (of a large agent, by strength) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/agent_indexes.py list_indexes: as for POST /v1/memories (a first fact)
-- app/store/counted_strengths.py find_counted_strengths: as for POST /v1/memories (a first fact)

-- GET /v1/memories (of a large agent, by strength)
-- app/store/counted_strengths.py find_counted_strengths
SELECT p.as_of, p.counted_until
FROM agent_indexes i
JOIN counted_strengths p
    ON p.agent_id = :agent
    AND p.as_of = coalesce(CAST(:as_of AS timestamptz), i.strengths_as_of)
    AND p.place = 0
WHERE i.agent_id = :agent;

-- GET /v1/memories (of a large agent, by strength)
-- app/store/walks.py walk_strongest
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
    way AS NOT MATERIALIZED (
        SELECT strength, id FROM (
            SELECT one.strength, one.id
            FROM (
                SELECT p.ids, p.strengths FROM counted_strengths p
                WHERE p.agent_id = :agent AND p.as_of = :strength_as_of
                ORDER BY p.place
                LIMIT :parts
            ) AS part
            CROSS JOIN LATERAL unnest(part.ids, part.strengths) AS one (id, strength)
            UNION ALL
            SELECT
                greatest(
                    CASE b.tier WHEN 'core' THEN CAST(0.6 AS float8) END,
                    greatest(m.importance, 1e-09) * power(CAST(0.5 AS float8),
                        least(greatest(
                            CAST(
                                extract(epoch FROM CAST(:strength_as_of AS timestamptz) -
                                    greatest(m.created_at, b.valid_from, u.last_reinforced_at))
                                - extract(epoch FROM
                                    greatest(coalesce(u.last_accessed_at - greatest(m.created_at,
                                        b.valid_from, u.last_reinforced_at), interval '0'),
                                        interval '0')
                                ) / 2
                                AS float8
                            ) / 86400
                            , 0) / (
                                (
                                    CASE b.tier
                                    WHEN 'core' THEN CASE m.kind
                                    WHEN 'fact' THEN CAST(:half_life_core_fact AS float8)
                                    WHEN 'preference' THEN CAST(:half_life_core_preference AS
                                        float8)
                                    WHEN 'decision' THEN CAST(:half_life_core_decision AS float8)
                                    WHEN 'constraint' THEN CAST(:half_life_core_constraint AS
                                        float8)
                                    END
                                    ELSE CASE m.kind
                                    WHEN 'fact' THEN CAST(:half_life_semantic_fact AS float8)
                                    WHEN 'preference' THEN CAST(:half_life_semantic_preference AS
                                        float8)
                                    WHEN 'decision' THEN CAST(:half_life_semantic_decision AS
                                        float8)
                                    WHEN 'constraint' THEN CAST(:half_life_semantic_constraint AS
                                        float8)
                                    END
                                    END
                                ) * (1 + ln(1 + least(
                                    coalesce(u.access_count, 0)
                                    + coalesce(u.use_count, 0) / CAST(10 AS float8)
                                    , 100)))
                            ), 60.0)
                    )
                )
                , m.id
            FROM
                memories m
            CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
                m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary,
                m.tier, m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from)
                AS b
            LEFT JOIN LATERAL (
                SELECT CASE WHEN u.last_reinforced_at <= (SELECT known_at FROM moment) THEN
                    u.access_count END AS access_count,
                    CASE WHEN u.last_reinforced_at <= (SELECT known_at FROM moment) THEN
                        u.last_reinforced_at END AS last_reinforced_at,
                    CASE WHEN
                    (
                        CAST(:used_by AS timestamptz) IS NULL
                        OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                    )
                    THEN u.use_count END AS use_count,
                    CASE WHEN
                    (
                        CAST(:used_by AS timestamptz) IS NULL
                        OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                    )
                    THEN u.last_accessed_at END AS last_accessed_at
                FROM memory_usage u
                WHERE u.agent_id = :agent AND u.memory_id = m.id
            ) AS u ON true
            WHERE m.agent_id = :agent AND m.created_at > :counted_until
        ) AS counted
        ORDER BY strength DESC, id DESC
        LIMIT :examined
    ),
page AS MATERIALIZED (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(
                    2000 + octet_length(CAST(
                        json_build_array(page.entity, page.category, page.key, page.content,
                            page.value, page.details, page.dated_by, page.tags, page.entities,
                            page.sources, page.source, page.session_id, page.project,
                            page.stale_because)
                        AS text))
                ) OVER (
                    ORDER BY strength DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1
                        PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT way.strength, hit.*
            FROM way
            CROSS JOIN LATERAL (
                SELECT
                    m.id, m.created_at, m.revision, m.erased_at,
                    m.derived_entity, m.derived_key, m.derived_value,
                    m.content, m.kind, m.entity, m.category, m.key, m.value, m.single_valued,
                        m.details, m.importance, m.confidence, m.tags, m.entities, m.sources,
                        m.source, m.session_id, m.project, m.trust, m.lifespan, m.said_at,
                        m.said_in, m.dated_by, m.merged_from,
                    b.chain_id, b.valid_from, b.asserted_at, b.said_until, b.retracted_at, b.void,
                        b.ended_by, b.contradicted_by, b.merged, b.temporary, b.tier, b.covered,
                        b.valid_until, b.superseded_by, b.superseded_at, b.known_from,
                    (
                        SELECT u.access_count FROM memory_usage u
                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at
                            <= (SELECT known_at FROM moment)
                    ) AS access_count, (
                        SELECT u.last_reinforced_at FROM memory_usage u
                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at
                            <= (SELECT known_at FROM moment)
                    ) AS last_reinforced_at, (
                        SELECT u.use_count FROM memory_usage u
                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                            (
                                CAST(:used_by AS timestamptz) IS NULL
                                OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                            )
                    ) AS use_count, (
                        SELECT u.last_accessed_at FROM memory_usage u
                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                            (
                                CAST(:used_by AS timestamptz) IS NULL
                                OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                            )
                    ) AS last_accessed_at,
                    (
                        SELECT o.id FROM memories o
                        WHERE o.agent_id = :agent AND o.superseded_by = m.id
                        ORDER BY o.valid_from DESC, o.id DESC
                        LIMIT 1
                    )
                    AS supersedes_id,
                    (
                        CASE WHEN
                        (SELECT EXISTS (SELECT FROM memory_relationships WHERE agent_id = :agent
                            AND type IN ('merged_into', 'expands', 'sequential', 'causes',
                            'enables', 'references')))
                        AND m.erased_at IS NULL AND
                        b.valid_from <= (SELECT as_of FROM moment)
                        AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                        AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment),
                            b.covered) % 2 = 0)
                        THEN (
                            SELECT
                                jsonb_agg(
                                    DISTINCT to_jsonb(e) || jsonb_build_object('type', tie.type,
                                        'as_of', (SELECT as_of FROM moment))
                                )
                            FROM (
                                SELECT source_id AS memory_id, target_id AS other_id, type,
                                    created_at
                                FROM memory_relationships
                                WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                    'sequential', 'causes', 'enables', 'references')
                                UNION ALL
                                SELECT target_id, source_id, type, created_at
                                FROM memory_relationships
                                WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                    'sequential', 'causes', 'enables', 'references')
                            ) AS tie
                            CROSS JOIN LATERAL (
                                SELECT
                                    o.id,
                                    CASE WHEN o.erased_at <= (SELECT known_at FROM moment) THEN
                                        o.erased_at END AS erased_at,
                                    b.*
                                FROM
                                    memories o
                                CROSS JOIN LATERAL (SELECT o.chain_id, o.valid_from, o.asserted_at,
                                    o.said_until, o.retracted_at, o.void, o.ended_by,
                                    o.contradicted_by, o.merged, o.temporary, o.tier, o.covered,
                                    o.valid_until, o.superseded_by, o.superseded_at, o.known_from)
                                    AS b
                                WHERE o.agent_id = :agent AND o.id = tie.other_id
                            ) AS e
                            WHERE tie.created_at <= (SELECT known_at FROM moment)
                                AND (
                                    e.erased_at > tie.created_at
                                    OR (
                                        (e.void OR coalesce(e.valid_until <= (SELECT as_of FROM
                                            moment), false))
                                        AND (
                                            (NOT e.void AND e.valid_until > tie.created_at)
                                            OR EXISTS (
                                                SELECT FROM memory_beliefs x
                                                WHERE x.agent_id = :agent
                                                    AND x.memory_id = e.id
                                                    AND x.known_until > tie.created_at
                                                    AND x.known_until <= e.known_from
                                                    AND NOT x.void
                                                    AND (e.void OR x.valid_until IS NULL OR
                                                        x.valid_until > tie.created_at)
                                            )
                                        )
                                    )
                                )
                                AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
                                AND tie.memory_id = m.id
                        ) END
                    )
                    AS stale_because
                FROM
                    memories m
                CROSS JOIN LATERAL (SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until,
                    m.retracted_at, m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary,
                    m.tier, m.covered, m.valid_until, m.superseded_by, m.superseded_at,
                    m.known_from) AS b
                WHERE m.agent_id = :agent AND
                    b.valid_from <= (SELECT as_of FROM moment)
                    AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                    AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) %
                        2 = 0)
                    AND NOT m.cold AND m.erased_at IS NULL AND m.id = way.id
                    OFFSET 0
            ) AS hit
            ORDER BY way.strength DESC, way.id DESC
            LIMIT :limit
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
),
last AS MATERIALIZED (
    SELECT strength, id FROM way
    WHERE (SELECT count(*) FROM page) < :limit
    ORDER BY strength DESC, id DESC
        OFFSET :examined - 1 LIMIT 1
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, page.*, last.id AS
    last_id,
    last.strength AS last_strength,
    (
        SELECT m.created_at FROM memories m WHERE m.agent_id = :agent AND m.id = last.id
    ) AS last_created_at
FROM moment LEFT JOIN last ON true LEFT JOIN page ON true
ORDER BY page.strength DESC, page.id DESC;


-- ===== GET /v1/memories (of a large agent, by strength, page 2) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/agent_indexes.py list_indexes: as for POST /v1/memories (a first fact)
-- app/store/counted_strengths.py find_counted_strengths: as for POST /v1/memories (a first fact)
-- app/store/counted_strengths.py find_counted_strengths: as for GET /v1/memories (of a large agent, by strength)

-- GET /v1/memories (of a large agent, by strength, page 2)
-- app/store/walks.py walk_strongest
WITH
moment AS MATERIALIZED (
    SELECT
        coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
        coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
        (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
),
    way AS NOT MATERIALIZED (
        SELECT strength, id FROM (
            SELECT one.strength, one.id
            FROM (
                SELECT p.ids, p.strengths FROM counted_strengths p
                WHERE p.agent_id = :agent AND p.as_of = :strength_as_of AND (p.last_strength,
                    p.last_id) < (:after_strength, :after_id)
                ORDER BY p.place
                LIMIT :parts
            ) AS part
            CROSS JOIN LATERAL unnest(part.ids, part.strengths) AS one (id, strength)
            UNION ALL
            SELECT
                greatest(
                    CASE b.tier WHEN 'core' THEN CAST(0.6 AS float8) END,
                    greatest(m.importance, 1e-09) * power(CAST(0.5 AS float8),
                        least(greatest(
                            CAST(
                                extract(epoch FROM CAST(:strength_as_of AS timestamptz) -
                                    greatest(m.created_at, b.valid_from, u.last_reinforced_at))
                                - extract(epoch FROM
                                    greatest(coalesce(u.last_accessed_at - greatest(m.created_at,
                                        b.valid_from, u.last_reinforced_at), interval '0'),
                                        interval '0')
                                ) / 2
                                AS float8
                            ) / 86400
                            , 0) / (
                                (
                                    CASE b.tier
                                    WHEN 'core' THEN CASE m.kind
                                    WHEN 'fact' THEN CAST(:half_life_core_fact AS float8)
                                    WHEN 'preference' THEN CAST(:half_life_core_preference AS
                                        float8)
                                    WHEN 'decision' THEN CAST(:half_life_core_decision AS float8)
                                    WHEN 'constraint' THEN CAST(:half_life_core_constraint AS
                                        float8)
                                    END
                                    ELSE CASE m.kind
                                    WHEN 'fact' THEN CAST(:half_life_semantic_fact AS float8)
                                    WHEN 'preference' THEN CAST(:half_life_semantic_preference AS
                                        float8)
                                    WHEN 'decision' THEN CAST(:half_life_semantic_decision AS
                                        float8)
                                    WHEN 'constraint' THEN CAST(:half_life_semantic_constraint AS
                                        float8)
                                    END
                                    END
                                ) * (1 + ln(1 + least(
                                    coalesce(u.access_count, 0)
                                    + coalesce(u.use_count, 0) / CAST(10 AS float8)
                                    , 100)))
                            ), 60.0)
                    )
                )
                , m.id
            FROM
                memories m
            JOIN LATERAL (
                SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until, m.retracted_at,
                    m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
                    m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from
                WHERE m.known_from <= (SELECT known_at FROM moment)
                UNION ALL
                SELECT x.chain_id, x.valid_from, x.asserted_at, x.said_until, x.retracted_at,
                    x.void, x.ended_by, x.contradicted_by, x.merged, x.temporary, x.tier,
                    x.covered, x.valid_until, x.superseded_by, x.superseded_at, x.known_from
                FROM memory_beliefs x
                WHERE m.known_from > (SELECT known_at FROM moment)
                    AND x.agent_id = :agent
                    AND x.memory_id = m.id
                    AND x.known_from <= (SELECT known_at FROM moment)
                    AND x.known_until > (SELECT known_at FROM moment)
            ) AS b ON true
            LEFT JOIN LATERAL (
                SELECT CASE WHEN u.last_reinforced_at <= (SELECT known_at FROM moment) THEN
                    u.access_count END AS access_count,
                    CASE WHEN u.last_reinforced_at <= (SELECT known_at FROM moment) THEN
                        u.last_reinforced_at END AS last_reinforced_at,
                    CASE WHEN
                    (
                        CAST(:used_by AS timestamptz) IS NULL
                        OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                    )
                    THEN u.use_count END AS use_count,
                    CASE WHEN
                    (
                        CAST(:used_by AS timestamptz) IS NULL
                        OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                    )
                    THEN u.last_accessed_at END AS last_accessed_at
                FROM memory_usage u
                WHERE u.agent_id = :agent AND u.memory_id = m.id
            ) AS u ON true
            WHERE m.agent_id = :agent AND m.created_at > :counted_until AND m.created_at <= (SELECT
                known_at FROM moment)
        ) AS counted
        WHERE (strength, id) < (:after_strength, :after_id)
        ORDER BY strength DESC, id DESC
        LIMIT :examined
    ),
page AS MATERIALIZED (
    SELECT * FROM (
        SELECT page.*,
            count(*) OVER () AS page_rows,
            coalesce(
                sum(
                    2000 + octet_length(CAST(
                        json_build_array(page.entity, page.category, page.key, page.content,
                            page.value, page.details, page.dated_by, page.tags, page.entities,
                            page.sources, page.source, page.session_id, page.project,
                            page.stale_because)
                        AS text))
                ) OVER (
                    ORDER BY strength DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1
                        PRECEDING
                ), 0
            ) AS bytes_before
        FROM (
            SELECT way.strength, hit.*
            FROM way
            CROSS JOIN LATERAL (
                SELECT
                    m.id, m.created_at, m.revision, m.erased_at,
                    m.derived_entity, m.derived_key, m.derived_value,
                    m.content, m.kind, m.entity, m.category, m.key, m.value, m.single_valued,
                        m.details, m.importance, m.confidence, m.tags, m.entities, m.sources,
                        m.source, m.session_id, m.project, m.trust, m.lifespan, m.said_at,
                        m.said_in, m.dated_by, m.merged_from,
                    b.chain_id, b.valid_from, b.asserted_at, b.said_until, b.retracted_at, b.void,
                        b.ended_by, b.contradicted_by, b.merged, b.temporary, b.tier, b.covered,
                        b.valid_until, b.superseded_by, b.superseded_at, b.known_from,
                    (
                        SELECT u.access_count FROM memory_usage u
                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at
                            <= (SELECT known_at FROM moment)
                    ) AS access_count, (
                        SELECT u.last_reinforced_at FROM memory_usage u
                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND u.last_reinforced_at
                            <= (SELECT known_at FROM moment)
                    ) AS last_reinforced_at, (
                        SELECT u.use_count FROM memory_usage u
                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                            (
                                CAST(:used_by AS timestamptz) IS NULL
                                OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                            )
                    ) AS use_count, (
                        SELECT u.last_accessed_at FROM memory_usage u
                        WHERE u.agent_id = :agent AND u.memory_id = m.id AND
                            (
                                CAST(:used_by AS timestamptz) IS NULL
                                OR u.last_accessed_at <= CAST(:used_by AS timestamptz)
                            )
                    ) AS last_accessed_at,
                    (
                        SELECT o.id FROM (
                            SELECT y.id, y.valid_from FROM memories y
                            WHERE y.agent_id = :agent
                                AND y.superseded_by = m.id
                                AND y.known_from <= (SELECT known_at FROM moment)
                            UNION ALL
                            SELECT y.memory_id, y.valid_from FROM memory_beliefs y
                            WHERE y.agent_id = :agent
                                AND y.superseded_by = m.id
                                AND y.known_from <= (SELECT known_at FROM moment)
                                AND y.known_until > (SELECT known_at FROM moment)
                        ) AS o
                        ORDER BY o.valid_from DESC, o.id DESC
                        LIMIT 1
                    )
                    AS supersedes_id,
                    (
                        CASE WHEN
                        (SELECT EXISTS (SELECT FROM memory_relationships WHERE agent_id = :agent
                            AND type IN ('merged_into', 'expands', 'sequential', 'causes',
                            'enables', 'references')))
                        AND m.erased_at IS NULL AND
                        b.valid_from <= (SELECT as_of FROM moment)
                        AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                        AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment),
                            b.covered) % 2 = 0)
                        THEN (
                            SELECT
                                jsonb_agg(
                                    DISTINCT to_jsonb(e) || jsonb_build_object('type', tie.type,
                                        'as_of', (SELECT as_of FROM moment))
                                )
                            FROM (
                                SELECT source_id AS memory_id, target_id AS other_id, type,
                                    created_at
                                FROM memory_relationships
                                WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                    'sequential', 'causes', 'enables', 'references')
                                UNION ALL
                                SELECT target_id, source_id, type, created_at
                                FROM memory_relationships
                                WHERE agent_id = :agent AND type IN ('merged_into', 'expands',
                                    'sequential', 'causes', 'enables', 'references')
                            ) AS tie
                            CROSS JOIN LATERAL (
                                SELECT
                                    o.id,
                                    CASE WHEN o.erased_at <= (SELECT known_at FROM moment) THEN
                                        o.erased_at END AS erased_at,
                                    b.*
                                FROM
                                    memories o
                                JOIN LATERAL (
                                    SELECT o.chain_id, o.valid_from, o.asserted_at, o.said_until,
                                        o.retracted_at, o.void, o.ended_by, o.contradicted_by,
                                        o.merged, o.temporary, o.tier, o.covered, o.valid_until,
                                        o.superseded_by, o.superseded_at, o.known_from
                                    WHERE o.known_from <= (SELECT known_at FROM moment)
                                    UNION ALL
                                    SELECT x.chain_id, x.valid_from, x.asserted_at, x.said_until,
                                        x.retracted_at, x.void, x.ended_by, x.contradicted_by,
                                        x.merged, x.temporary, x.tier, x.covered, x.valid_until,
                                        x.superseded_by, x.superseded_at, x.known_from
                                    FROM memory_beliefs x
                                    WHERE o.known_from > (SELECT known_at FROM moment)
                                        AND x.agent_id = :agent
                                        AND x.memory_id = o.id
                                        AND x.known_from <= (SELECT known_at FROM moment)
                                        AND x.known_until > (SELECT known_at FROM moment)
                                ) AS b ON true
                                WHERE o.agent_id = :agent AND o.id = tie.other_id
                            ) AS e
                            WHERE tie.created_at <= (SELECT known_at FROM moment)
                                AND (
                                    e.erased_at > tie.created_at
                                    OR (
                                        (e.void OR coalesce(e.valid_until <= (SELECT as_of FROM
                                            moment), false))
                                        AND (
                                            (NOT e.void AND e.valid_until > tie.created_at)
                                            OR EXISTS (
                                                SELECT FROM memory_beliefs x
                                                WHERE x.agent_id = :agent
                                                    AND x.memory_id = e.id
                                                    AND x.known_until > tie.created_at
                                                    AND x.known_until <= e.known_from
                                                    AND NOT x.void
                                                    AND (e.void OR x.valid_until IS NULL OR
                                                        x.valid_until > tie.created_at)
                                            )
                                        )
                                    )
                                )
                                AND (e.void OR e.superseded_by IS DISTINCT FROM tie.memory_id)
                                AND tie.memory_id = m.id
                        ) END
                    )
                    AS stale_because
                FROM
                    memories m
                JOIN LATERAL (
                    SELECT m.chain_id, m.valid_from, m.asserted_at, m.said_until, m.retracted_at,
                        m.void, m.ended_by, m.contradicted_by, m.merged, m.temporary, m.tier,
                        m.covered, m.valid_until, m.superseded_by, m.superseded_at, m.known_from
                    WHERE m.known_from <= (SELECT known_at FROM moment)
                    UNION ALL
                    SELECT x.chain_id, x.valid_from, x.asserted_at, x.said_until, x.retracted_at,
                        x.void, x.ended_by, x.contradicted_by, x.merged, x.temporary, x.tier,
                        x.covered, x.valid_until, x.superseded_by, x.superseded_at, x.known_from
                    FROM memory_beliefs x
                    WHERE m.known_from > (SELECT known_at FROM moment)
                        AND x.agent_id = :agent
                        AND x.memory_id = m.id
                        AND x.known_from <= (SELECT known_at FROM moment)
                        AND x.known_until > (SELECT known_at FROM moment)
                ) AS b ON true
                WHERE m.agent_id = :agent AND
                    b.valid_from <= (SELECT as_of FROM moment)
                    AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))
                    AND (b.covered = '{}' OR width_bucket((SELECT as_of FROM moment), b.covered) %
                        2 = 0)
                    AND m.erased_at IS NULL AND m.id = way.id
                    OFFSET 0
            ) AS hit
            ORDER BY way.strength DESC, way.id DESC
            LIMIT :limit
        ) AS page
    ) AS sized
    WHERE bytes_before < :max_bytes
),
last AS MATERIALIZED (
    SELECT strength, id FROM way
    WHERE (SELECT count(*) FROM page) < :limit
    ORDER BY strength DESC, id DESC
        OFFSET :examined - 1 LIMIT 1
)
SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, page.*, last.id AS
    last_id,
    last.strength AS last_strength,
    (
        SELECT m.created_at FROM memories m WHERE m.agent_id = :agent AND m.id = last.id
    ) AS last_created_at
FROM moment LEFT JOIN last ON true LEFT JOIN page ON true
ORDER BY page.strength DESC, page.id DESC;


-- ===== GET /v1/insights (of a large agent) =====
-- app/store/insights/scope.py open_insights_snapshot: as for POST /v1/memories (a first fact)
-- app/store/insights/scope.py open_insights_snapshot: as for GET /v1/insights
-- app/store/memories.py read_moment: as for GET /v1/insights
-- app/store/insights/counted.py find_counted_insights: as for GET /v1/insights

-- GET /v1/insights (of a large agent)
-- app/store/insights/scope.py narrow_scope
SELECT greatest(
    (
        SELECT created_at FROM (
            SELECT newest.created_at
            FROM (VALUES ('pending'), ('accepted'), ('rejected'), ('expired'), ('overtaken')) AS
                one (status)
            CROSS JOIN LATERAL (
                SELECT created_at FROM reviews
                WHERE agent_id = :agent AND status = one.status AND
                    (
                        created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                        AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
                    )
                ORDER BY created_at DESC, id DESC
                LIMIT :examined + 1
            ) AS newest
        ) AS reviews
        ORDER BY created_at DESC
            OFFSET :examined LIMIT 1
    )
) + interval '1 microsecond' AS since
FROM agent_indexes
WHERE agent_id = :agent;
-- app/store/log/archived.py find_archived_until: as for GET /v1/memories/{memory_id}/history
-- app/store/insights/counted.py read_section: as for GET /v1/insights


-- ===== GET /v1/insights (of a window of a large agent) =====
-- app/store/insights/scope.py open_insights_snapshot: as for POST /v1/memories (a first fact)
-- app/store/insights/scope.py open_insights_snapshot: as for GET /v1/insights
-- app/store/memories.py read_moment: as for GET /v1/insights
-- app/store/insights/scope.py narrow_scope: as for GET /v1/insights
-- app/store/log/archived.py find_archived_until: as for GET /v1/memories/{memory_id}/history

-- GET /v1/insights (of a window of a large agent)
-- app/store/insights/counted.py read_section
WITH
examined AS MATERIALIZED (
    SELECT
        id,
        chain_id,
        slot_hash,
        slot_key,
        single_valued,
        kind,
        value_hash,
        folded_hash,
        valid_from,
        valid_until,
        asserted_at,
        created_at,
        void
    FROM memories
    WHERE agent_id = :agent AND id = ANY(ARRAY(
        SELECT id FROM memories
        WHERE agent_id = :agent AND
            (
                created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
            )
    ))
)
    , top AS (
        SELECT
            line,
            CASE WHEN octet_length(line) = 16 THEN CAST(encode(line, 'hex') AS uuid) END AS
                chain_id,
            kind,
            count(*) AS changes,
            min(valid_from) AS first_changed_at,
            max(valid_from) AS last_changed_at
        FROM (
            SELECT slot_hash AS line, kind, valid_from
            FROM (
                SELECT
                    slot_hash,
                    id,
                    kind,
                    valid_from,
                    asserted_at,
                    created_at,
                    coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id)) AS value,
                    (
                        SELECT coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id))
                        FROM memories
                        WHERE agent_id = :agent
                            AND NOT void AND slot_key IS NOT NULL AND kind <> 'constraint' AND
                                single_valued IS NOT false
                            AND slot_hash = step.slot_hash
                            AND (valid_from, asserted_at, id) < (step.valid_from, step.asserted_at,
                                step.id)
                            AND true
                        ORDER BY valid_from DESC, asserted_at DESC, id DESC
                        LIMIT 1
                    )
                    AS value_before
                FROM examined AS step
                WHERE NOT void AND slot_key IS NOT NULL AND kind <> 'constraint' AND single_valued
                    IS NOT false
            ) AS step
            WHERE value <> value_before AND
                (
                    created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                    AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
                )
            UNION ALL
            SELECT uuid_send(chain_id) AS line, kind, valid_from
            FROM (
                SELECT
                    chain_id,
                    id,
                    kind,
                    valid_from,
                    asserted_at,
                    created_at,
                    coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id)) AS value,
                    (
                        SELECT coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id))
                        FROM memories
                        WHERE agent_id = :agent
                            AND NOT void AND NOT (slot_key IS NOT NULL AND kind <> 'constraint' AND
                                single_valued IS NOT false)
                            AND chain_id = step.chain_id
                            AND (valid_from, asserted_at, id) < (step.valid_from, step.asserted_at,
                                step.id)
                            AND true
                        ORDER BY valid_from DESC, asserted_at DESC, id DESC
                        LIMIT 1
                    )
                    AS value_before
                FROM examined AS step
                WHERE NOT void AND NOT (slot_key IS NOT NULL AND kind <> 'constraint' AND
                    single_valued IS NOT false)
            ) AS step
            WHERE value <> value_before AND
                (
                    created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                    AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
                )
        ) AS change
        GROUP BY line, kind
        ORDER BY changes DESC, last_changed_at DESC, line, kind
        LIMIT :limit
    )
SELECT top.*, whole.ids AS memory_ids, whole.versions, whole.current, last.*
FROM top
CROSS JOIN LATERAL (
    SELECT
        (array_agg(id ORDER BY valid_from DESC, asserted_at DESC, id DESC))[1:20] AS ids,
        count(*) AS versions,
        (
            array_agg(id ORDER BY valid_from DESC, asserted_at DESC, id DESC) FILTER (
                WHERE
                    member.valid_from <= :as_of
                    AND (member.valid_until IS NULL OR member.valid_until > :as_of)
                    AND (member.covered = '{}' OR width_bucket(:as_of, member.covered) % 2 = 0)
            )
        )[1] AS current
    FROM (
        SELECT id, valid_from, valid_until, covered, asserted_at
        FROM memories
        WHERE agent_id = :agent AND NOT void AND slot_key IS NOT NULL AND kind <> 'constraint' AND
            single_valued IS NOT false AND slot_hash = top.line
        UNION ALL
        SELECT id, valid_from, valid_until, covered, asserted_at
        FROM memories
        WHERE agent_id = :agent AND NOT void AND NOT (slot_key IS NOT NULL AND kind <> 'constraint'
            AND single_valued IS NOT false) AND chain_id = top.chain_id
    ) AS member
) AS whole
JOIN (
    SELECT
        id AS last_id,
        entity,
        category,
        key,
        CASE WHEN erased_at IS NULL THEN content END AS content
    FROM memories
    WHERE agent_id = :agent
) AS last ON last.last_id = whole.ids[1]
ORDER BY changes DESC, last_changed_at DESC, line, kind;

-- GET /v1/insights (of a window of a large agent)
-- app/store/insights/counted.py read_section
WITH
examined AS MATERIALIZED (
    SELECT
        id,
        chain_id,
        slot_hash,
        slot_key,
        single_valued,
        kind,
        value_hash,
        folded_hash,
        valid_from,
        valid_until,
        asserted_at,
        created_at,
        void
    FROM memories
    WHERE agent_id = :agent AND id = ANY(ARRAY(
        SELECT id FROM memories
        WHERE agent_id = :agent AND
            (
                created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
            )
    ))
)
    , top AS (
        SELECT line,
            CASE WHEN octet_length(line) = 16 THEN CAST(encode(line, 'hex') AS uuid) END AS
                chain_id
            , count(*) AS returns, max(valid_from) AS again_from
        FROM (
            SELECT slot_hash AS line, valid_from
            FROM (
                SELECT
                    slot_hash,
                    id,
                    kind,
                    valid_from,
                    asserted_at,
                    created_at,
                    coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id)) AS value,
                    (
                        SELECT coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id))
                        FROM memories
                        WHERE agent_id = :agent
                            AND NOT void AND slot_key IS NOT NULL AND kind <> 'constraint' AND
                                single_valued IS NOT false
                            AND slot_hash = step.slot_hash
                            AND (valid_from, asserted_at, id) < (step.valid_from, step.asserted_at,
                                step.id)
                            AND true
                        ORDER BY valid_from DESC, asserted_at DESC, id DESC
                        LIMIT 1
                    )
                    AS value_before
                FROM examined AS step
                WHERE NOT void AND slot_key IS NOT NULL AND kind <> 'constraint' AND single_valued
                    IS NOT false
            ) AS step
            WHERE value <> value_before AND value =
                (
                    SELECT coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id))
                    FROM memories
                    WHERE agent_id = :agent
                        AND NOT void AND slot_key IS NOT NULL AND kind <> 'constraint' AND
                            single_valued IS NOT false
                        AND slot_hash = step.slot_hash
                        AND (valid_from, asserted_at, id) < (step.valid_from, step.asserted_at,
                            step.id)
                        AND coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id)) <>
                            step.value_before
                    ORDER BY valid_from DESC, asserted_at DESC, id DESC
                    LIMIT 1
                )
            UNION ALL
            SELECT uuid_send(chain_id) AS line, valid_from
            FROM (
                SELECT
                    chain_id,
                    id,
                    kind,
                    valid_from,
                    asserted_at,
                    created_at,
                    coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id)) AS value,
                    (
                        SELECT coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id))
                        FROM memories
                        WHERE agent_id = :agent
                            AND NOT void AND NOT (slot_key IS NOT NULL AND kind <> 'constraint' AND
                                single_valued IS NOT false)
                            AND chain_id = step.chain_id
                            AND (valid_from, asserted_at, id) < (step.valid_from, step.asserted_at,
                                step.id)
                            AND true
                        ORDER BY valid_from DESC, asserted_at DESC, id DESC
                        LIMIT 1
                    )
                    AS value_before
                FROM examined AS step
                WHERE NOT void AND NOT (slot_key IS NOT NULL AND kind <> 'constraint' AND
                    single_valued IS NOT false)
            ) AS step
            WHERE value <> value_before AND value =
                (
                    SELECT coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id))
                    FROM memories
                    WHERE agent_id = :agent
                        AND NOT void AND NOT (slot_key IS NOT NULL AND kind <> 'constraint' AND
                            single_valued IS NOT false)
                        AND chain_id = step.chain_id
                        AND (valid_from, asserted_at, id) < (step.valid_from, step.asserted_at,
                            step.id)
                        AND coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id)) <>
                            step.value_before
                    ORDER BY valid_from DESC, asserted_at DESC, id DESC
                    LIMIT 1
                )
        ) AS returned
        GROUP BY line
        ORDER BY returns DESC, again_from DESC, line
        LIMIT :limit
    )
SELECT top.*, latest.*, whole.current, last.*
FROM top
CROSS JOIN LATERAL (
    SELECT
        (array_agg(id ORDER BY valid_from DESC, id DESC))[1:20] AS memory_ids,
        (array_agg(kind ORDER BY valid_from DESC, id DESC))[1] AS kind,
        (array_agg(first_id ORDER BY valid_from DESC, id DESC))[1] AS first_id,
        (array_agg(first_from ORDER BY valid_from DESC, id DESC))[1] AS first_from,
        (array_agg(between_id ORDER BY valid_from DESC, id DESC))[1] AS between_id,
        (array_agg(between_from ORDER BY valid_from DESC, id DESC))[1] AS between_from
    FROM (
        SELECT
            slot_hash AS line,
            id,
            kind,
            valid_from,
            first_id,
            first_from,
            between_id,
            between_from
        FROM (
            SELECT
                slot_hash,
                id,
                kind,
                valid_from,
                created_at,
                value,
                lag(value, 2) OVER run AS first_value,
                lag(id, 2) OVER run AS first_id,
                lag(valid_from, 2) OVER run AS first_from,
                lag(id) OVER run AS between_id,
                lag(valid_from) OVER run AS between_from
            FROM (
                SELECT
                    slot_hash,
                    id,
                    kind,
                    valid_from,
                    asserted_at,
                    created_at,
                    coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id)) AS value,
                    lag(coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id))) OVER line AS
                        value_before
                FROM memories
                WHERE agent_id = :agent AND NOT void AND slot_key IS NOT NULL AND kind <>
                    'constraint' AND single_valued IS NOT false AND slot_hash = top.line
                WINDOW line AS (PARTITION BY slot_hash ORDER BY valid_from, asserted_at, id)
            ) AS step
            WHERE value IS DISTINCT FROM value_before
            WINDOW run AS (PARTITION BY slot_hash ORDER BY valid_from, asserted_at, id)
        ) AS run
        WHERE value = first_value AND
            (
                created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
            )
        UNION ALL
        SELECT
            uuid_send(chain_id) AS line,
            id,
            kind,
            valid_from,
            first_id,
            first_from,
            between_id,
            between_from
        FROM (
            SELECT
                chain_id,
                id,
                kind,
                valid_from,
                created_at,
                value,
                lag(value, 2) OVER run AS first_value,
                lag(id, 2) OVER run AS first_id,
                lag(valid_from, 2) OVER run AS first_from,
                lag(id) OVER run AS between_id,
                lag(valid_from) OVER run AS between_from
            FROM (
                SELECT
                    chain_id,
                    id,
                    kind,
                    valid_from,
                    asserted_at,
                    created_at,
                    coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id)) AS value,
                    lag(coalesce(value_hash, nullif(folded_hash, ''), uuid_send(id))) OVER line AS
                        value_before
                FROM memories
                WHERE agent_id = :agent AND NOT void AND NOT (slot_key IS NOT NULL AND kind <>
                    'constraint' AND single_valued IS NOT false) AND chain_id = top.chain_id
                WINDOW line AS (PARTITION BY chain_id ORDER BY valid_from, asserted_at, id)
            ) AS step
            WHERE value IS DISTINCT FROM value_before
            WINDOW run AS (PARTITION BY chain_id ORDER BY valid_from, asserted_at, id)
        ) AS run
        WHERE value = first_value AND
            (
                created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
            )
    ) AS returned
) AS latest
CROSS JOIN LATERAL (
    SELECT
        (array_agg(id ORDER BY valid_from DESC, asserted_at DESC, id DESC))[1:20] AS ids,
        count(*) AS versions,
        (
            array_agg(id ORDER BY valid_from DESC, asserted_at DESC, id DESC) FILTER (
                WHERE
                    member.valid_from <= :as_of
                    AND (member.valid_until IS NULL OR member.valid_until > :as_of)
                    AND (member.covered = '{}' OR width_bucket(:as_of, member.covered) % 2 = 0)
            )
        )[1] AS current
    FROM (
        SELECT id, valid_from, valid_until, covered, asserted_at
        FROM memories
        WHERE agent_id = :agent AND NOT void AND slot_key IS NOT NULL AND kind <> 'constraint' AND
            single_valued IS NOT false AND slot_hash = top.line
        UNION ALL
        SELECT id, valid_from, valid_until, covered, asserted_at
        FROM memories
        WHERE agent_id = :agent AND NOT void AND NOT (slot_key IS NOT NULL AND kind <> 'constraint'
            AND single_valued IS NOT false) AND chain_id = top.chain_id
    ) AS member
) AS whole
JOIN (
    SELECT
        id AS last_id,
        entity,
        category,
        key,
        CASE WHEN erased_at IS NULL THEN content END AS content
    FROM memories
    WHERE agent_id = :agent
) AS last ON last.last_id = whole.ids[1]
ORDER BY returns DESC, again_from DESC, line;

-- GET /v1/insights (of a window of a large agent)
-- app/store/insights/counted.py read_section
WITH
examined AS MATERIALIZED (
    SELECT
        id,
        chain_id,
        slot_hash,
        slot_key,
        single_valued,
        kind,
        value_hash,
        folded_hash,
        valid_from,
        valid_until,
        asserted_at,
        created_at,
        void
    FROM memories
    WHERE agent_id = :agent AND id = ANY(ARRAY(
        SELECT id FROM memories
        WHERE agent_id = :agent AND
            (
                created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
            )
    ))
)
    , lives AS MATERIALIZED (
        SELECT
            slot_hash AS line,
            id,
            kind,
            valid_from,
            CASE
            WHEN valid_until <= :as_of
            THEN date_part('epoch', valid_until - valid_from) / 86400
            END AS days
        FROM examined WHERE true
            AND NOT void AND slot_key IS NOT NULL AND kind <> 'constraint' AND single_valued IS NOT
                false
            AND valid_from <= :as_of
            AND (valid_until IS NULL OR valid_until > valid_from)
            AND
            (
                created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
            )
        UNION ALL
        SELECT
            uuid_send(chain_id) AS line,
            id,
            kind,
            valid_from,
            CASE
            WHEN valid_until <= :as_of
            THEN date_part('epoch', valid_until - valid_from) / 86400
            END AS days
        FROM examined WHERE true
            AND NOT void AND NOT (slot_key IS NOT NULL AND kind <> 'constraint' AND single_valued
                IS NOT false)
            AND valid_from <= :as_of
            AND (valid_until IS NULL OR valid_until > valid_from)
            AND
            (
                created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
            )
    ),
kinds AS (
    SELECT kind, count(days) AS ended, count(*) - count(days) AS open, avg(days) AS mean_days,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY days) AS median_days
    FROM lives
    GROUP BY kind
),
shortest AS (
    SELECT line, count(days) AS ended, count(*) - count(days) AS open, avg(days) AS mean_days
    FROM lives
    GROUP BY line
    HAVING count(days) > 0
    ORDER BY mean_days, ended DESC, line
    LIMIT :limit
),
top AS (
    SELECT
        line,
        CASE WHEN octet_length(line) = 16 THEN CAST(encode(line, 'hex') AS uuid) END AS chain_id,
        ended,
        open,
        mean_days,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY days) AS median_days,
        (array_agg(id ORDER BY valid_from DESC, id DESC))[1:20] AS memory_ids
    FROM shortest
    JOIN lives USING (line)
    WHERE days IS NOT NULL
    GROUP BY line, ended, open, mean_days
)
SELECT
    kind,
    CAST(NULL AS bytea) AS line,
    CAST(NULL AS uuid) AS chain_id,
    ended,
    open,
    mean_days,
    median_days,
    memory_ids,
    CAST(NULL AS uuid) AS current,
    CAST(NULL AS uuid) AS last_id,
    CAST(NULL AS text) AS entity,
    CAST(NULL AS text) AS category,
    CAST(NULL AS text) AS key,
    CAST(NULL AS text) AS content
FROM kinds
CROSS JOIN LATERAL (
    SELECT array_agg(id ORDER BY valid_from DESC, id DESC) AS memory_ids
    FROM (
        SELECT id, valid_from
        FROM lives
        WHERE lives.kind = kinds.kind AND days IS NOT NULL
        ORDER BY valid_from DESC, id DESC
        LIMIT 20
    ) AS newest
) AS ids
UNION ALL
SELECT
    NULL,
    line,
    chain_id,
    ended,
    open,
    mean_days,
    median_days,
    memory_ids,
    current,
    last_id,
    entity,
    category,
    key,
    content
FROM top
CROSS JOIN LATERAL (
    SELECT
        (array_agg(id ORDER BY valid_from DESC, asserted_at DESC, id DESC))[1:20] AS ids,
        count(*) AS versions,
        (
            array_agg(id ORDER BY valid_from DESC, asserted_at DESC, id DESC) FILTER (
                WHERE
                    member.valid_from <= :as_of
                    AND (member.valid_until IS NULL OR member.valid_until > :as_of)
                    AND (member.covered = '{}' OR width_bucket(:as_of, member.covered) % 2 = 0)
            )
        )[1] AS current
    FROM (
        SELECT id, valid_from, valid_until, covered, asserted_at
        FROM memories
        WHERE agent_id = :agent AND NOT void AND slot_key IS NOT NULL AND kind <> 'constraint' AND
            single_valued IS NOT false AND slot_hash = top.line
        UNION ALL
        SELECT id, valid_from, valid_until, covered, asserted_at
        FROM memories
        WHERE agent_id = :agent AND NOT void AND NOT (slot_key IS NOT NULL AND kind <> 'constraint'
            AND single_valued IS NOT false) AND chain_id = top.chain_id
    ) AS member
) AS whole
JOIN (
    SELECT
        id AS last_id,
        entity,
        category,
        key,
        CASE WHEN erased_at IS NULL THEN content END AS content
    FROM memories
    WHERE agent_id = :agent
) AS last ON last.last_id = whole.ids[1]
ORDER BY kind NULLS LAST, mean_days, ended DESC, line;

-- GET /v1/insights (of a window of a large agent)
-- app/store/insights/counted.py read_section
WITH
examined AS MATERIALIZED (
    SELECT
        id,
        operation,
        relation,
        confidence,
        decided_by,
        signal_names,
        created_at,
        reverted_by
    FROM consolidation_log
    WHERE agent_id = :agent AND id = ANY(ARRAY(
        SELECT id FROM consolidation_log
        WHERE agent_id = :agent AND
            (
                created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
            )
    ))
)
    , decided AS MATERIALIZED (
        SELECT
            id,
            decided_by,
            width_bucket(confidence, CAST(:thresholds AS float8[])) AS band,
            created_at,
            operation IN ('UPDATE', 'DELETE', 'SUPERSEDE') AS retires,
            reverted_by IS NOT NULL AS reverted
        FROM examined WHERE true
            AND decided_by NOT IN ('caller', 'reviewer') AND (operation <> 'NOOP' OR relation <>
                'NONE')
            AND
            (
                created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
            )
    ), bands AS (
        SELECT
            decided_by,
            band,
            count(*) AS decided,
            count(*) FILTER (WHERE retires) AS retired,
            count(*) FILTER (WHERE retires AND reverted) AS reverted
        FROM (SELECT * FROM decided) AS decided
        GROUP BY decided_by, band
        ORDER BY reverted DESC, retired DESC, decided_by, band DESC
        LIMIT :limit
    )
SELECT
    bands.*,
    ARRAY(
        SELECT id
        FROM (SELECT * FROM decided) AS one
        WHERE one.decided_by = bands.decided_by AND one.band = bands.band AND retires
        ORDER BY one.reverted DESC, created_at DESC, id DESC
        LIMIT 20
    ) AS log_ids
FROM bands
ORDER BY reverted DESC, retired DESC, decided_by, band DESC;

-- GET /v1/insights (of a window of a large agent)
-- app/store/insights/counted.py read_section
WITH
examined AS MATERIALIZED (
    SELECT
        id,
        operation,
        relation,
        confidence,
        decided_by,
        signal_names,
        created_at,
        reverted_by
    FROM consolidation_log
    WHERE agent_id = :agent AND id = ANY(ARRAY(
        SELECT id FROM consolidation_log
        WHERE agent_id = :agent AND
            (
                created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
            )
    ))
)
    , combined AS (
        SELECT
            signal_names,
            count(*) FILTER (WHERE NOT reverted) AS stand,
            count(*) FILTER (WHERE reverted) AS reverted
        FROM (
            SELECT id, signal_names, created_at, reverted_by IS NOT NULL AS reverted
            FROM examined WHERE true
                AND signal_names <> '[]'
                AND relation NOT IN ('NONE', 'OVERLAP') AND decided_by NOT IN ('reviewer', 'agent')
                AND
                (
                    created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                    AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
                )
        ) AS operation
        GROUP BY signal_names
    ),
operations AS (
    SELECT
        name,
        CAST(sum(stand) AS bigint) AS stand,
        CAST(sum(reverted) AS bigint) AS reverted
    FROM combined
    CROSS JOIN LATERAL (
        SELECT DISTINCT jsonb_array_elements_text(signal_names)
    ) AS named (name)
    GROUP BY name
),
newest AS MATERIALIZED (
    SELECT *
    FROM (
        SELECT
            *,
            row_number() OVER (
                PARTITION BY signal_names, reverted ORDER BY created_at DESC, id DESC
            ) AS place
        FROM (
            SELECT id, signal_names, created_at, reverted_by IS NOT NULL AS reverted
            FROM examined WHERE true
                AND signal_names <> '[]'
                AND relation NOT IN ('NONE', 'OVERLAP') AND decided_by NOT IN ('reviewer', 'agent')
                AND
                (
                    created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                    AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
                )
        ) AS operation
    ) AS placed
    WHERE place <= 20
),
proposed AS MATERIALIZED (
    SELECT name, r.id, r.status, r.created_at
    FROM reviews r
    CROSS JOIN LATERAL (
        SELECT DISTINCT signal #>> '{}'
        FROM jsonb_path_query(r.judgments, '$[*].findings[*].name') AS signal
    ) AS named (name)
    WHERE r.agent_id = :agent
        AND r.status IN ('pending', 'accepted', 'rejected', 'expired', 'overtaken')
        AND r.source <> 'frozen'
        AND
        (
            r.created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
            AND r.created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
        )
),
proposals AS (
    SELECT
        name,
        count(*) FILTER (WHERE status = 'accepted') AS accepted,
        count(*) FILTER (WHERE status = 'rejected') AS rejected,
        count(*) FILTER (WHERE status IN ('expired', 'overtaken')) AS expired,
        count(*) FILTER (WHERE status = 'pending') AS pending
    FROM proposed
    GROUP BY name
),
overruled AS (
    SELECT name, count(*) AS overruled
    FROM consolidation_log l
    CROSS JOIN LATERAL (
        SELECT DISTINCT signal #>> '{}'
        FROM jsonb_path_query(l.opinions,
            '$[*] ? (@.not_done.reason == "gate_closed" || @.not_done.reason == "model_none" || @.not_done.reason == "objected" || @.not_done.reason == "veto").signals[*]')
            AS signal
    ) AS named (name)
    WHERE l.agent_id = :agent
        AND coalesce(opinions, vetoed) <> '[]'
        AND
        (
            l.created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
            AND l.created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
        )
    GROUP BY name
),
counted AS (
    SELECT
        name,
        coalesce(stand, 0) AS stand,
        coalesce(o.reverted, 0) AS reverted,
        coalesce(accepted, 0) AS accepted,
        coalesce(rejected, 0) AS rejected,
        coalesce(expired, 0) AS expired,
        coalesce(pending, 0) AS pending,
        coalesce(overruled, 0) AS overruled
    FROM operations o
    FULL JOIN proposals p USING (name)
    FULL JOIN overruled v USING (name)
),
worst AS (
    SELECT
        *,
        reverted + rejected AS wrong,
        CAST(reverted + rejected AS float8)
        / nullif(stand + reverted + accepted + rejected, 0) AS error_rate
    FROM counted
    ORDER BY error_rate DESC NULLS LAST, wrong DESC, name
    LIMIT :limit
)
SELECT
    worst.*,
    ARRAY(
        SELECT id
        FROM newest
        WHERE jsonb_exists(newest.signal_names, worst.name)
        ORDER BY newest.reverted DESC, created_at DESC, id DESC
        LIMIT 20
    ) AS log_ids,
    ARRAY(
        SELECT id
        FROM proposed
        WHERE proposed.name = worst.name
        ORDER BY status = 'rejected' DESC, created_at DESC, id DESC
        LIMIT 20
    ) AS review_ids
FROM worst
ORDER BY error_rate DESC NULLS LAST, wrong DESC, name;
-- app/store/insights/counted.py read_section: as for GET /v1/insights

-- GET /v1/insights (of a window of a large agent)
-- app/store/insights/counted.py read_section
WITH
examined AS MATERIALIZED (
    SELECT
        id,
        chain_id,
        slot_hash,
        slot_key,
        single_valued,
        kind,
        value_hash,
        folded_hash,
        valid_from,
        valid_until,
        asserted_at,
        created_at,
        void
    FROM memories
    WHERE agent_id = :agent AND id = ANY(ARRAY(
        SELECT id FROM memories
        WHERE agent_id = :agent AND
            (
                created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
            )
    ))
)
    , chains AS MATERIALIZED (
        SELECT chain_id, count(*) AS length
        FROM (
            SELECT chain_id
            FROM examined WHERE true
                AND NOT void AND slot_key IS NOT NULL AND kind <> 'constraint' AND single_valued IS
                    NOT false
                AND
                (
                    created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                    AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
                )
            UNION ALL
            SELECT chain_id
            FROM examined WHERE true
                AND NOT void AND NOT (slot_key IS NOT NULL AND kind <> 'constraint' AND
                    single_valued IS NOT false)
                AND
                (
                    created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                    AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
                )
        ) AS version
        GROUP BY chain_id
    ),
top AS (
    SELECT chain_id, length
    FROM chains
    ORDER BY length DESC, chain_id DESC
    LIMIT :limit
)
SELECT *
FROM (
    SELECT
        length,
        count(*) AS chains,
        CAST(NULL AS uuid) AS chain_id,
        CAST(NULL AS uuid[]) AS memory_ids,
        CAST(NULL AS text) AS kind,
        CAST(NULL AS text) AS entity,
        CAST(NULL AS text) AS category,
        CAST(NULL AS text) AS key,
        CAST(NULL AS text) AS content
    FROM chains
    GROUP BY length
    UNION ALL
    SELECT
        length,
        NULL,
        top.chain_id,
        ids,
        kind,
        entity,
        category,
        key,
        CASE WHEN erased_at IS NULL THEN content END
    FROM top
    CROSS JOIN LATERAL (
        SELECT (array_agg(id ORDER BY valid_from DESC, asserted_at DESC, id DESC))[1:20] AS ids
        FROM memories
        WHERE agent_id = :agent
            AND chain_id = top.chain_id
            AND NOT void
            AND
            (
                created_at >= coalesce(CAST(:since AS timestamptz), '-infinity')
                AND created_at < coalesce(CAST(:until AS timestamptz), 'infinity')
            )
    ) AS whole
    JOIN memories AS last ON last.agent_id = :agent AND last.id = ids[1]
) AS lengths
ORDER BY
    chains IS NULL,
    CASE WHEN chains IS NULL THEN -length ELSE length END,
    chain_id DESC;


-- ===== GET /v1/agents/{agent_id}/stats (of a large agent) =====
-- app/store/engine.py: as for POST /v1/memories (a first fact)
-- app/store/agents.py is_seen: as for GET /v1/agents/{agent_id}/stats
-- app/store/stats.py read_stats: as for GET /v1/agents/{agent_id}/stats
