"""After an import, the planner's statistics are refreshed from fewer rows, and for fewer columns.

Whole statistics of 10,000 memories took a second, for which the caller of the import waited. Those
of the columns that an index has are enough for plans. Autovacuum makes the others a minute later,
because Postgres counts rows as analyzed only if all columns are.
"""

from alembic import op

revision = "2026_11_26_b"
down_revision = "2026_11_26_a"

# A table that somebody else works on is left to autovacuum. Only its owner may analyze a table.
REFRESH_INDEXED = """
    CREATE OR REPLACE FUNCTION refresh_statistics() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT
    SET default_statistics_target = 10
    AS $$
    DECLARE
        one record;
    BEGIN
        FOR one IN
            SELECT
                i.indrelid::regclass AS name,
                string_agg(DISTINCT quote_ident(a.attname), ', ') AS columns
            FROM pg_index i
            JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
            WHERE i.indrelid = ANY(CAST(ARRAY[
                'memories', 'memory_beliefs', 'memory_usage', 'memory_relationships',
                'consolidation_log', 'reviews'
            ] AS regclass[]))
            GROUP BY i.indrelid
        LOOP
            EXECUTE format('ANALYZE (SKIP_LOCKED) %s (%s)', one.name, one.columns);
        END LOOP;
    END
    $$
"""

REFRESH_ALL = """
    CREATE OR REPLACE FUNCTION refresh_statistics() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
    AS $$
    BEGIN
        ANALYZE (SKIP_LOCKED)
            memories, memory_beliefs, memory_usage, memory_relationships, consolidation_log,
            reviews;
    END
    $$
"""


def upgrade() -> None:
    op.execute(REFRESH_INDEXED)


def downgrade() -> None:
    op.execute(REFRESH_ALL)
