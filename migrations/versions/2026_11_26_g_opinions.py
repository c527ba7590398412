"""The log has the opinions of all judges, those that lost included.

They stand in place of `vetoed`, which had the vetoes alone. Operations from before keep it, because
their hashes are computed from it; new ones leave it out.
"""

from alembic import op

revision = "2026_11_26_g"
down_revision = "2026_11_26_b"

LOGS = ("consolidation_log", "archived_log")
INDEX = (
    "consolidation_log_opinions ON consolidation_log (agent_id, created_at, id) "
    "WHERE coalesce(opinions, vetoed) <> '[]'"
)
OLD_INDEX = "consolidation_log_vetoed ON consolidation_log (agent_id, id) WHERE vetoed <> '[]'"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    for log in LOGS:
        op.execute(f"ALTER TABLE {log} ADD COLUMN opinions jsonb")
        op.execute(f"ALTER TABLE {log} ALTER COLUMN vetoed DROP NOT NULL")
        op.execute(f"ALTER TABLE {log} ALTER COLUMN vetoed DROP DEFAULT")
    op.execute(f"CREATE INDEX {INDEX}")
    op.execute("DROP INDEX consolidation_log_vetoed")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("DROP INDEX consolidation_log_opinions")
    for log in LOGS:
        # An UPDATE would see no row, because row-level security holds for the owner too.
        op.execute(
            f"ALTER TABLE {log} "
            "ALTER COLUMN vetoed TYPE jsonb USING coalesce(vetoed, CAST('[]' AS jsonb))"
        )
        op.execute(f"ALTER TABLE {log} ALTER COLUMN vetoed SET NOT NULL")
        op.execute(f"ALTER TABLE {log} DROP COLUMN opinions")
    op.execute("ALTER TABLE consolidation_log ALTER COLUMN vetoed SET DEFAULT '[]'")
    op.execute(f"CREATE INDEX {OLD_INDEX}")
