"""Plans that are kept for a whole session, made while a table is still empty."""

import psycopg


def test_counters_are_looked_up_by_their_key_even_if_planned_while_there_are_none(
    database_url: str,
) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("ANALYZE memory_usage")
        connection.execute("SET LOCAL enable_seqscan = off")
        connection.execute("SET LOCAL plan_cache_mode = 'force_generic_plan'")
        connection.execute(
            "PREPARE counter AS SELECT use_count FROM memory_usage"
            " WHERE agent_id = $1 AND memory_id = $2"
        )
        plan = connection.execute("EXPLAIN EXECUTE counter('fox', gen_random_uuid())").fetchall()
    assert "memory_usage_pkey" in str(plan)
