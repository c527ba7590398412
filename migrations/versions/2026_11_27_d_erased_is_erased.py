"""Texts stay out of the planner's statistics, and idempotency keys are stored as hashes.

ANALYZE copies values of columns into `pg_statistic`, where they outlived an erasure. Columns of
texts have no statistics any more unless the planner needs them; erasing makes those anew. ANALYZE
never removes the statistics of a column that has none from now on, so they are removed here.
"""

from alembic import op

revision = "2026_11_27_d"
down_revision = "2026_11_27_a"

LOG_EDITOR = "palimpsest_log_editor"
OPERATOR = "palimpsest_operator"

# Everything that erasing empties: texts, and what is made from them.
TEXTS = {
    "memories": (
        *("entity", "category", "key", "slot_entity", "slot_category", "slot_key", "slot_hash"),
        *("content", "value", "details", "dated_by", "tags", "entities", "sources", "source"),
        *("session_id", "project", "content_hash", "fuzzy_hash", "folded_hash", "value_hash"),
        *("embedding", "embedding_next", "lexemes", "derived_entity", "derived_key"),
        *("derived_value", "derived_hash", "look_again"),
    ),
    "consolidation_log": (
        *("content_salt", "reasoning", "signals", "incoming", "before_state", "after_state"),
        *("usage", "session_id", "opinions", "vetoed"),
    ),
    "reviews": ("judgments", "said", "incoming", "note"),
    "log_checkpoints": ("sealed",),
    "sweeps": ("slot", "slot_hash"),
    "captures": ("session_id", "trouble"),
    "turns": ("session_id", "message_id", "name", "content"),
    "captured_facts": ("content",),
    "idempotency_keys": ("fingerprint", "answer"),
    "agent_indexes": ("insights",),
    "indexed_memories": ("slot_category", "embedding", "lexemes"),
}

# An index is searched by these columns, or has only the rows in which they have a value.
ESTIMATED = {
    "memories": {
        *("slot_key", "slot_hash", "session_id", "project", "fuzzy_hash", "derived_hash"),
        "look_again",
    },
    "consolidation_log": {"session_id"},
    "turns": {"session_id", "message_id", "content"},
}


def list_values(columns: dict[str, list[str]]) -> str:
    return ", ".join(f"('{table}', '{name}')" for table in columns for name in columns[table])


EVERY_TEXT = list_values({table: list(names) for table, names in TEXTS.items()})
NOT_ESTIMATED = list_values(
    {
        table: [name for name in names if name not in ESTIMATED.get(table, ())]
        for table, names in TEXTS.items()
    }
)

# Before Postgres 18 only a superuser can remove statistics. For any other owner, the columns of
# tables that were analyzed keep theirs, and erasing makes them anew, as on a Citus cluster.
REMOVE_STATISTICS = f"""
    DO $$
    DECLARE
        may_clear CONSTANT boolean := current_setting('server_version_num')::integer >= 180000;
        may_delete CONSTANT boolean := current_setting('is_superuser')::boolean;
        one record;
    BEGIN
        IF to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL THEN
            RETURN;
        END IF;
        FOR one IN
            SELECT c.oid, c.relname, c.reltuples, a.attnum, a.attname
            FROM (VALUES {NOT_ESTIMATED}) AS of_text (relation, name)
            JOIN pg_class c ON c.oid = CAST(of_text.relation AS regclass)
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = of_text.name
            WHERE may_clear OR may_delete OR c.reltuples < 0
        LOOP
            EXECUTE format(
                'ALTER TABLE ONLY %I ALTER COLUMN %I SET STATISTICS 0', one.relname, one.attname
            );
            IF may_clear THEN
                PERFORM pg_clear_attribute_stats(
                    current_schema(), one.relname, one.attname, inherited
                ) FROM (VALUES (false), (true)) AS kinds (inherited);
            ELSIF may_delete THEN
                DELETE FROM pg_statistic WHERE starelid = one.oid AND staattnum = one.attnum;
            END IF;
        END LOOP;
    END
    $$
"""

RESTORE_STATISTICS = f"""
    DO $$
    DECLARE
        one record;
    BEGIN
        FOR one IN SELECT * FROM (VALUES {NOT_ESTIMATED}) AS of_text (relation, name) LOOP
            EXECUTE format(
                'ALTER TABLE ONLY %I ALTER COLUMN %I SET STATISTICS -1', one.relation, one.name
            );
        END LOOP;
    END
    $$
"""

# Make the statistics of texts anew, in the transaction that erases. A new row of them replaces what
# was erased once that transaction commits.
REFRESH_TEXT_STATISTICS = f"""
    CREATE FUNCTION refresh_text_statistics() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT
    SET default_statistics_target = 10
    AS $$
    DECLARE
        one record;
    BEGIN
        FOR one IN
            SELECT
                a.attrelid::regclass AS name,
                string_agg(quote_ident(a.attname), ', ') AS columns
            FROM (VALUES {EVERY_TEXT}) AS of_text (relation, name)
            JOIN pg_attribute a
                ON a.attrelid = CAST(of_text.relation AS regclass) AND a.attname = of_text.name
            WHERE a.attstattarget IS DISTINCT FROM 0
            GROUP BY a.attrelid
            ORDER BY a.attrelid
        LOOP
            EXECUTE format('ANALYZE %s (%s)', one.name, one.columns);
        END LOOP;
    END
    $$
"""

# Build the indexes of an agent's own table. A vector stays in its row if it fits there. Nothing but
# an index searches for words, vectors and categories there, so the planner needs no statistics.
BUILD_INDEXES = """
    CREATE OR REPLACE FUNCTION build_index_table(dimensions integer, memory text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
    AS $$
    DECLARE
        own name := name_index_table();
    BEGIN
        PERFORM set_config('maintenance_work_mem', memory, true);
        EXECUTE format('ALTER TABLE %I ADD PRIMARY KEY (id)', own);
        EXECUTE format('CREATE INDEX ON %I (created_at)', own);
        EXECUTE format('CREATE INDEX ON %I (slot_category, created_at)', own);
        EXECUTE format('CREATE INDEX ON %I USING gin (lexemes) WITH (fastupdate = off)', own);
        EXECUTE format(
            'CREATE INDEX{embedding} ON %I USING hnsw ((embedding::halfvec(%s)) halfvec_cosine_ops)'
            ' WITH (m = 16, ef_construction = 100)',
            {own}own, dimensions
        );
        {no_statistics}
        EXECUTE format('ANALYZE %I', own);
    END
    $$
"""
NO_STATISTICS = """
        EXECUTE format(
            'ALTER TABLE %I ALTER COLUMN slot_category SET STATISTICS 0,'
            ' ALTER COLUMN embedding SET STATISTICS 0, ALTER COLUMN lexemes SET STATISTICS 0',
            own
        );
        EXECUTE format('ALTER INDEX %I ALTER COLUMN 1 SET STATISTICS 0', own || '_embedding');
"""
FIND_BY_WORDS = (
    "find_indexed_by_words(tsquery, tsquery, vector, integer, integer)",
    "count_indexed_by_words(tsquery, integer)",
)

HASH_KEYS = (
    "ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_key_check",
    """
    ALTER TABLE idempotency_keys
        ALTER COLUMN key TYPE bytea USING sha256(convert_to(key, 'UTF8'))
    """,
    "ALTER TABLE idempotency_keys RENAME COLUMN key TO key_hash",
)

# The keys themselves are gone, so that no retry gets its answer.
FORGET_KEYS = (
    "ALTER TABLE idempotency_keys RENAME COLUMN key_hash TO key",
    "ALTER TABLE idempotency_keys ALTER COLUMN key TYPE text USING encode(key, 'hex')",
    "ALTER TABLE idempotency_keys ADD CONSTRAINT idempotency_keys_key_check CHECK (key <> '')",
)


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(REMOVE_STATISTICS)
    op.execute(REFRESH_TEXT_STATISTICS)
    op.execute("REVOKE ALL ON FUNCTION refresh_text_statistics() FROM PUBLIC")
    op.execute(f"GRANT EXECUTE ON FUNCTION refresh_text_statistics() TO {LOG_EDITOR}")
    embedding = {"embedding": " %I", "own": "own || '_embedding', "}
    op.execute(fill_in(BUILD_INDEXES, **embedding, no_statistics=NO_STATISTICS))
    # Workers build them again, without statistics of texts.
    op.execute("SELECT drop_every_index_table()")
    # Without statistics, the planner might read a whole table rather than the index of words.
    set_on_functions("SET enable_seqscan = off")
    for statement in HASH_KEYS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    for statement in FORGET_KEYS:
        op.execute(statement)
    set_on_functions("RESET enable_seqscan")
    op.execute(fill_in(BUILD_INDEXES, embedding="", own="", no_statistics=""))
    op.execute("DROP FUNCTION refresh_text_statistics()")
    op.execute(RESTORE_STATISTICS)


def fill_in(function: str, **places: str) -> str:
    for name, text in places.items():
        function = function.replace(f"{{{name}}}", text)
    return function


def set_on_functions(change: str) -> None:
    """Change the functions that search for words. The operator owns them."""
    op.execute(f"SET LOCAL ROLE {OPERATOR}")
    for signature in FIND_BY_WORDS:
        op.execute(f"ALTER FUNCTION {signature} {change}")
    op.execute("RESET ROLE")
