"""Messages can be searched by their words, and by who said them."""

from alembic import op

revision = "2026_11_30_a"
down_revision = "2026_11_29_a"

LEXEMES = "to_tsvector(language, pair_characters(coalesce(name || ' ', '') || content, true))"


# The planner keeps no statistics of what was said. Citus has no such command for its tables.
NO_STATISTICS = """
    DO $$
    BEGIN
        IF to_regclass('pg_catalog.pg_dist_partition') IS NULL THEN
            ALTER TABLE turns ALTER COLUMN lexemes SET STATISTICS 0;
        END IF;
    END
    $$
"""


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE turns ADD COLUMN language regconfig NOT NULL DEFAULT 'english'")
    op.execute("ALTER TABLE turns ALTER COLUMN language DROP DEFAULT")
    op.execute(
        f"ALTER TABLE turns ADD COLUMN lexemes tsvector GENERATED ALWAYS AS ({LEXEMES}) STORED"
    )
    op.execute(NO_STATISTICS)


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE turns DROP COLUMN lexemes, DROP COLUMN language")
