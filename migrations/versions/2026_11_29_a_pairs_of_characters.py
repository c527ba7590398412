"""Index writing without spaces by pairs of characters: Chinese, Japanese, Korean and Thai.

Postgres takes what stands between two spaces or marks for one word. Agents of many memories get
their own index again with the next sweep. The whole table of memories is written anew, and nobody
reads it meanwhile.
"""

from alembic import op

revision = "2026_11_29_a"
down_revision = "2026_11_28_b"

# Thai, signs such as "々", Japanese syllables, Chinese characters, Korean and narrow syllables.
UNSPACED = r"\u0e00-\u0e7f\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff66-\uff9f"

# Return the text with pairs of such characters as words: of "東京都に" these are 東京, 都に and
# 京都. One that stands alone stays as it is. With `singles`, each character is a word besides.
PAIR_CHARACTERS = f"""
    CREATE FUNCTION pair_characters(content text, singles boolean) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
        SELECT CASE
            WHEN content !~ '[{UNSPACED}]' THEN content
            ELSE regexp_replace(
                    content,
                    '([{UNSPACED}]{{2}})|(?<=[{UNSPACED}])[{UNSPACED}]|([{UNSPACED}])',
                    ' \\1\\2 ',
                    'g'
                )
                || regexp_replace(
                    regexp_replace(
                        regexp_replace(content, '[^{UNSPACED}]+', ' ', 'g'), '(^| ).', ' ', 'g'
                    ),
                    '([^ ]{{2}})|[^ ]', '\\1 ', 'g'
                )
                || CASE
                    WHEN singles
                    THEN regexp_replace(content, '[^{UNSPACED}]*([{UNSPACED}]?)', '\\1 ', 'g')
                    ELSE ''
                END
        END
    $$
"""

# The planner keeps no statistics of what was told. Citus has no such command for its tables.
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
    _index("pair_characters(content, true)")


def downgrade() -> None:
    _index("content")
    op.execute("DROP FUNCTION pair_characters(text, boolean)")


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
