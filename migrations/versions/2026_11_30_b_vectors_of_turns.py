"""Messages can be searched by meaning. A worker makes their vectors, the newest first."""

from alembic import op

revision = "2026_11_30_b"
down_revision = "2026_11_30_a"

# The planner keeps no statistics of what was said. Citus has no such command for its tables.
NO_STATISTICS = """
    DO $$
    BEGIN
        IF to_regclass('pg_catalog.pg_dist_partition') IS NULL THEN
            ALTER TABLE turns ALTER COLUMN embedding SET STATISTICS 0;
        END IF;
    END
    $$
"""


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE turns ADD COLUMN embedding halfvec")
    op.execute(
        "ALTER TABLE turns ADD CONSTRAINT turns_embedding "
        "CHECK (content IS NOT NULL OR embedding IS NULL)"
    )
    op.execute(
        "CREATE INDEX turns_unembedded ON turns (id) "
        "WHERE embedding IS NULL AND content IS NOT NULL"
    )
    op.execute(NO_STATISTICS)


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE turns DROP COLUMN embedding")
