"""People in control: what reverts what, reviews that are decided, and the mode of an agent."""

from alembic import op

revision = "2026_11_20_6"
down_revision = "2026_11_20_5"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE consolidation_log ADD COLUMN reverts uuid, ADD COLUMN reverted_by uuid")
    op.execute(
        "CREATE INDEX consolidation_log_request ON consolidation_log (agent_id, request_id) WHERE request_id IS NOT NULL"
    )
    op.execute(
        "CREATE INDEX consolidation_log_session ON consolidation_log (agent_id, session_id) WHERE session_id IS NOT NULL"
    )
    op.execute("""
        ALTER TABLE reviews
            ALTER COLUMN log_id DROP NOT NULL,
            ADD COLUMN said jsonb,
            ADD COLUMN incoming jsonb,
            ADD COLUMN note text,
            ADD COLUMN decided_at timestamptz,
            ADD COLUMN decision_log_id uuid
    """)
    op.execute("""
        ALTER TABLE agents ADD COLUMN mode text CONSTRAINT agents_mode_check CHECK (mode IN ('live', 'shadow', 'frozen'))
    """)


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE agents DROP COLUMN mode")
    op.execute("DELETE FROM reviews WHERE log_id IS NULL")
    op.execute("""
        ALTER TABLE reviews
            ALTER COLUMN log_id SET NOT NULL, DROP COLUMN said, DROP COLUMN incoming, DROP COLUMN note, DROP COLUMN decided_at,
            DROP COLUMN decision_log_id
    """)
    op.execute("DROP INDEX consolidation_log_session")
    op.execute("DROP INDEX consolidation_log_request")
    op.execute("ALTER TABLE consolidation_log DROP COLUMN reverts, DROP COLUMN reverted_by")
