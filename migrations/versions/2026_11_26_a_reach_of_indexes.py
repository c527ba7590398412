"""A large agent's index is searched for less.

Its graph was searched for 200 neighbours at least. With 100, the ten nearest are found as well, in
half of the time. To count how many memories have several frequent words takes up to 25 ms with
1,000,000 memories, so frequent words choose nothing for a fact (docs/decisions/0017).
"""

from alembic import op

revision = "2026_11_26_a"
down_revision = "2026_11_25_c"

SERVICE = "palimpsest_service"
OPERATOR = "palimpsest_operator"
SIGNATURE = "find_nearest_indexed(vector, integer)"

# Find the memories whose vectors are the nearest to a vector.
FIND_NEAREST = """
    CREATE FUNCTION find_nearest_indexed(query vector, most integer) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 200
    SET search_path FROM CURRENT
    SET enable_seqscan = off
    AS $$
    BEGIN
        PERFORM
            set_config('hnsw.ef_search', least(greatest(most, {fewest}), 1000)::text, true),
            set_config('hnsw.iterative_scan', 'relaxed_order', true);
        RETURN QUERY EXECUTE format(
            'SELECT id FROM indexed_memories WHERE agent_id = %1$L'
            ' ORDER BY (embedding::halfvec(%2$s)) <=> $1::halfvec(%2$s) LIMIT %3$s',
            current_setting('palimpsest.agent', true), vector_dims(query), most
        ) USING query;
    END
    $$
"""

# Choose the words of a text by which memories are found: rarest first, as long as they are in no
# more than `most` memories together. Where the rarest word alone is in more, memories must have
# several: rarest first, as many words as bring the number down to that. Words go together, so their
# number is counted. A word that leaves fewer than `fewest` memories is not among them. If `fewest`
# is NULL, frequent words choose nothing.
CHOOSE_WORDS = """
    CREATE OR REPLACE FUNCTION choose_words(
        language regconfig, content text, fewest integer, most integer
    ) RETURNS tsquery
    LANGUAGE plpgsql STABLE SET search_path FROM CURRENT
    AS $$
    DECLARE
        chosen tsquery := ''::tsquery;
        size bigint := 0;
        narrowed bigint;
        one record;
    BEGIN
        FOR one IN
            SELECT
                CAST(quote_lexeme(lexeme) AS tsquery) AS word,
                coalesce(f.memories, 0) AS memories
            FROM unnest(tsvector_to_array(to_tsvector(language, content))) AS lexeme
            LEFT JOIN frequent_words f
                ON f.agent_id = current_setting('palimpsest.agent', true)
                AND f.word = hashtextextended(lexeme, 0)
            ORDER BY 2, lexeme
        LOOP
            IF numnode(chosen) = 0 THEN
                EXIT WHEN fewest IS NULL AND one.memories > most;
                chosen := one.word;
                size := one.memories;
            ELSIF size > most THEN
                narrowed := count_indexed_by_words(chosen && one.word, most + 1);
                IF narrowed >= fewest THEN
                    chosen := chosen && one.word;
                    size := narrowed;
                END IF;
            ELSE
                size := size + one.memories;
                EXIT WHEN size > most;
                chosen := chosen || one.word;
            END IF;
        END LOOP;
        RETURN chosen;
    END
    $$
"""
CHOOSES_NOTHING = "EXIT WHEN fewest IS NULL AND one.memories > most;"


def upgrade() -> None:
    replace_find_nearest(fewest=1)
    op.execute(CHOOSE_WORDS)


def downgrade() -> None:
    op.execute(CHOOSE_WORDS.replace(CHOOSES_NOTHING, ""))
    replace_find_nearest(fewest=200)


def replace_find_nearest(*, fewest: int) -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(f"SET LOCAL ROLE {OPERATOR}")  # the owner of the function
    op.execute(f"DROP FUNCTION {SIGNATURE}")
    op.execute("RESET ROLE")
    op.execute(FIND_NEAREST.replace("{fewest}", str(fewest)))
    op.execute(f"REVOKE ALL ON FUNCTION {SIGNATURE} FROM PUBLIC")
    op.execute(f"GRANT EXECUTE ON FUNCTION {SIGNATURE} TO {SERVICE}")
    # An owner must have the right to create it.
    schema = op.get_bind().exec_driver_sql("SELECT quote_ident(current_schema())").scalar()
    op.execute(f"GRANT CREATE ON SCHEMA {schema} TO {OPERATOR}")
    op.execute(f"ALTER FUNCTION {SIGNATURE} OWNER TO {OPERATOR}")
    op.execute(f"REVOKE CREATE ON SCHEMA {schema} FROM {OPERATOR}")
