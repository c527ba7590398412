"""Agents with a long history, made in the database: what the service would take hours to store."""

import psycopg
from psycopg.types.json import Jsonb

# Lines of 1 to 20 values, five on average. Six in ten are slots that a caller named, the others chains of plain text, of which one in
# twenty is a constraint. A value is one of six, so that some come back.
_LINES = """
    CREATE TEMP TABLE line AS
    SELECT agent, line, uuidv7() AS first_id, 1 + floor(20 * power(random(), 3.65))::int AS length, keyed,
           CASE WHEN dice < 0.05 AND NOT keyed THEN 'constraint' WHEN dice < 0.4 THEN 'preference'
                WHEN dice < 0.5 THEN 'decision' ELSE 'fact' END AS kind,
           sha256(convert_to('slot ' || line, 'UTF8')) AS slot_hash, timestamptz '2020-01-01' + random() * interval '3 years' AS start
    FROM (
        SELECT agent, line, random() < 0.6 AS keyed, random() AS dice
        FROM unnest(%(agents)s::text[], %(lines)s::int[]) AS given (agent, lines), generate_series(1, lines) AS line
    ) AS drawn
"""

# Their values, each known at a moment of its own, not always in the order of valid time. One in 200 was withdrawn.
_VERSIONS = """
    CREATE TEMP TABLE version AS
    SELECT *, CASE WHEN n = 1 THEN first_id ELSE uuidv7() END AS id, timestamptz '2026-01-01' + place * interval '1 ms' AS known_at,
           sha256(convert_to('value ' || drawn, 'UTF8')) AS hash
    FROM (
        SELECT line.*, n, floor(random() * 6)::int AS drawn, random() < 0.005 AND n > 1 AS void,
               start + (n + 0.5 * random()) * interval '100 days' AS valid_from, row_number() OVER (ORDER BY n + random() * 5) AS place
        FROM line, generate_series(1, length) AS n
    ) AS told
"""

_MEMORIES = """
    INSERT INTO memories (agent_id, id, chain_id, kind, entity, category, key, value, slot_entity, slot_category, slot_key, slot_hash,
        content, details, importance, confidence, tags, entities, sources, trust, lifespan, content_hash, fuzzy_hash, folded_hash,
        value_hash, embedding, language, created_at, revision, merged_from, valid_from, asserted_at, void, merged, tier, valid_until,
        superseded_by, superseded_at, known_from)
    SELECT agent, id, first_id, kind, 'user', category, key, value, 'user', category, key, slot_hash,
        'The key ' || line || ' of the user has the value ' || drawn, '{}', 0.5, 1, '{}', '{}', '{}', 50, 'permanent', hash, hash, hash,
        CASE WHEN keyed THEN hash END, %(vector)s::vector, 'english', known_at, 1, '{}', valid_from, known_at, void, false, 'semantic',
        CASE WHEN void THEN valid_from ELSE until END, successor, CASE WHEN successor IS NOT NULL THEN known_at END, known_at
    FROM (
        SELECT version.*, CASE WHEN keyed THEN 'tooling' ELSE '' END AS category, CASE WHEN keyed THEN 'key ' || line END AS key,
               CASE WHEN keyed THEN 'value ' || drawn END AS value, lead(valid_from) OVER later AS until, lead(id) OVER later AS successor
        FROM version WINDOW later AS (PARTITION BY agent, line, void ORDER BY n)
    ) AS settled ORDER BY place
"""

# An operation for each, with states as long as the service's: by rule where a key was given, by signals where it was plain text.
_LOG = """
    INSERT INTO consolidation_log (agent_id, id, operation, source_memory_ids, target_memory_id, relation, confidence, reasoning, signals,
        decided_by, incoming, before_state, after_state, created_at, reverted_by)
    SELECT agent, uuidv7(), CASE WHEN n = 1 THEN 'ADD' ELSE 'UPDATE' END, ARRAY[first_id], id,
        CASE WHEN n = 1 THEN 'NONE' ELSE 'UPDATE' END,
        CASE WHEN n = 1 OR keyed THEN 1 ELSE 0.5 + 0.49 * random() END, 'One value differs where all else agrees, as far as it goes',
        CASE WHEN n = 1 OR keyed THEN '[]' ELSE jsonb_build_array(
            %(finding)s::jsonb || jsonb_build_object('name', (ARRAY['negation', 'antonym', 'correction', 'retraction'])[n %% 4 + 1]),
            %(finding)s::jsonb || jsonb_build_object('name', (ARRAY['value_conflict', 'contrast', 'explicit_change'])[drawn %% 3 + 1])
        ) END,
        CASE WHEN n = 1 OR keyed THEN 'rule' ELSE 'signals' END, %(incoming)s::jsonb,
        CASE WHEN n = 1 THEN '[]' ELSE jsonb_build_array(%(state)s::jsonb) END,
        jsonb_build_array(%(state)s::jsonb || %(incoming)s::jsonb, CASE WHEN n > 1 THEN %(state)s::jsonb ELSE '{}' END), known_at,
        CASE WHEN void THEN uuidv7() END
    FROM version ORDER BY place
"""

# Proposals about the first version of a chain, made beside a later one; every fifth is about a constraint where it says so.
_REVIEWS = """
    INSERT INTO reviews (agent_id, id, status, source, relation, memory_id, judgments, relied_on, created_at)
    SELECT agent_id, uuidv7(), (ARRAY['pending', 'accepted', 'rejected', 'expired'])[1 + floor(random() * 4)::int],
        CASE WHEN random() < 0.2 THEN 'constraint' ELSE 'low_confidence' END, 'UPDATE', id,
        jsonb_build_array(jsonb_build_object('memory_id', chain_id, 'relation', 'UPDATE', 'confidence', 0.6, 'reasoning', 'span_conflict',
            'decided_by', 'signals', 'findings', jsonb_build_array(%(finding)s::jsonb), 'vetoes', '[]'::jsonb, 'flag', true,
            'akin', true)),
        jsonb_build_object(chain_id, 1), created_at
    FROM memories ORDER BY md5(id::text) LIMIT %(reviews)s
"""

_LINKS = """
    INSERT INTO memory_relationships (agent_id, source_id, target_id, type, created_at)
    SELECT agent_id, memory_id, CAST(judgments -> 0 ->> 'memory_id' AS uuid), 'contradicts', created_at FROM reviews
    ON CONFLICT DO NOTHING
"""

_BELIEF = dict.fromkeys(
    ("said_until", "retracted_at", "ended_by", "contradicted_by", "valid_until")
) | {
    **dict.fromkeys(
        ("valid_from", "asserted_at", "superseded_at", "known_from"),
        "2026-01-01T00:00:00.000000+00:00",
    ),
    **{
        "void": False,
        "merged": False,
        "tier": "semantic",
        "superseded_by": "01a1f8f8-0000-7000-8000-000000000000",
    },
}
_STATE = {
    "id": "01a1f8f8-0000-7000-8000-000000000000",
    "chain_id": "01a1f8f8-0000-7000-8000-000000000000",
    "revision": 1,
    "created_at": "2026-01-01T00:00:00.000000+00:00",
    "belief": _BELIEF,
}
_INCOMING = {
    "content": "The key of the user has the value that it has since then",
    "entity": "user",
    "category": "tooling",
    "key": "key",
}
_FINDING = {
    "name": "value_conflict",
    "relation": "UPDATE",
    "confidence": 0.998,
    "explanation": "one date differs: 2026-01-05 and 2026-02-05",
}


def make(url: str, lines: dict[str, int], *, dimensions: int) -> None:
    """Agents with so many slots and chains, and five times as many memories and operations, whose rows lie mixed as if stored by turns.

    A review for every twentieth memory.
    """
    given = {
        "agents": list(lines),
        "lines": list(lines.values()),
        "reviews": sum(lines.values()) // 4,
        "vector": str([1.0] + [0.0] * (dimensions - 1)),
        **{"finding": Jsonb(_FINDING), "state": Jsonb(_STATE), "incoming": Jsonb(_INCOMING)},
    }
    with psycopg.connect(url, autocommit=True) as connection:
        with connection.transaction():
            connection.execute("SELECT setseed(0.42)")
            connection.execute(
                "INSERT INTO agents SELECT unnest(%(agents)s::text[]), '2026-01-01', '2026-11-01'",
                given,
            )
            for statement in (_LINES, _VERSIONS, _MEMORIES, _LOG, _REVIEWS, _LINKS):
                connection.execute(statement, given)
        connection.execute("VACUUM ANALYZE")
