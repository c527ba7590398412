"""Index writing without spaces by pairs of characters: Chinese, Japanese, Korean and Thai.

Postgres takes a whole sentence of such writing for one word. Agents of many memories get their own
index again with the next sweep.
"""

from alembic import op

revision = "2026_11_29_a"
down_revision = "2026_11_28_b"

# Thai, Japanese syllables, Chinese characters, and Korean syllables.
UNSPACED = r"\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"

# Return the text with its pairs of such characters as words: "東京都" becomes "東京 都 京都". The
# first half has the pairs from the first character of each run on, the second those from the next.
# A word of one character is found only where a run ends with it or is it.
PAIR_CHARACTERS = f"""
    CREATE FUNCTION pair_characters(content text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
        SELECT CASE
            WHEN content !~ '[{UNSPACED}]' THEN content
            ELSE regexp_replace(content, '([{UNSPACED}]{{1,2}})', ' \\1 ', 'g')
                || regexp_replace(
                    regexp_replace(
                        regexp_replace(content, '[^{UNSPACED}]+', ' ', 'g'), '(^| ).', ' ', 'g'
                    ),
                    '([^ ]{{2}})|[^ ]', '\\1 ', 'g'
                )
        END
    $$
"""

# What the service stores of others stands in no statistics. Citus does without this command.
NO_STATISTICS = """
    DO $$
    BEGIN
        IF to_regclass('pg_catalog.pg_dist_partition') IS NULL THEN
            ALTER TABLE memories ALTER COLUMN lexemes SET STATISTICS 0;
        END IF;
    END
    $$
"""


def upgrade() -> None:
    op.execute(PAIR_CHARACTERS)
    _index("pair_characters(content)")


def downgrade() -> None:
    _index("content")
    op.execute("DROP FUNCTION pair_characters(text)")


def _index(words: str) -> None:
    """Make the words of all memories again."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE memories DROP COLUMN lexemes")
    op.execute(
        "ALTER TABLE memories ADD COLUMN lexemes tsvector"
        f" GENERATED ALWAYS AS (to_tsvector(language, {words})) STORED"
    )
    op.execute(NO_STATISTICS)
    op.execute("SELECT drop_every_index_table()")
