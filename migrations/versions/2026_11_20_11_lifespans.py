"""The project that a memory belongs to, what ends with a session or a project, and how often a memory was used."""

from alembic import op

revision = "2026_11_20_11"
down_revision = "2026_11_20_8"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE memories ADD COLUMN project text")
    op.execute(
        "CREATE INDEX memories_session ON memories (agent_id, session_id) WHERE session_id IS NOT NULL"
    )
    op.execute(
        "CREATE INDEX memories_project ON memories (agent_id, project) WHERE project IS NOT NULL"
    )
    op.execute("""
        ALTER TABLE memory_usage ADD COLUMN use_count bigint NOT NULL DEFAULT 0
            CONSTRAINT memory_usage_use_count_check CHECK (use_count >= 0)
    """)


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE memory_usage DROP COLUMN use_count")
    op.execute("DROP INDEX memories_project")
    op.execute("DROP INDEX memories_session")
    op.execute("ALTER TABLE memories DROP COLUMN project")
