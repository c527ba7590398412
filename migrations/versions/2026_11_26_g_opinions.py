"""The log has the opinions of all judges, those that lost included.

They stand in place of `vetoed`, which had the vetoes alone. Earlier operations keep theirs, because
their hashes are computed from it. Going down drops the opinions, which the doctor then misses.
"""

from alembic import op

revision = "2026_11_26_g"
down_revision = "2026_11_26_h2"

INDEX = (
    "consolidation_log_opinions ON consolidation_log (agent_id, created_at, id) "
    "WHERE coalesce(opinions, vetoed) <> '[]'"
)
OLD_INDEX = "consolidation_log_vetoed ON consolidation_log (agent_id, id) WHERE vetoed <> '[]'"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE consolidation_log ADD COLUMN opinions jsonb")
    op.execute("ALTER TABLE archived_log ADD COLUMN opinions jsonb")
    op.execute(f"CREATE INDEX {INDEX}")
    op.execute("DROP INDEX consolidation_log_vetoed")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(f"CREATE INDEX {OLD_INDEX}")
    op.execute("DROP INDEX consolidation_log_opinions")
    op.execute("ALTER TABLE archived_log DROP COLUMN opinions")
    op.execute("ALTER TABLE consolidation_log DROP COLUMN opinions")
