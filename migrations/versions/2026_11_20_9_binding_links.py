"""An agent without links by which a memory rests on another is seen to have none at once."""

from alembic import op

revision = "2026_11_20_9"
down_revision = "2026_11_20_10"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("""
        CREATE INDEX memory_relationships_binding ON memory_relationships (agent_id)
        WHERE type IN ('merged_into', 'expands', 'sequential', 'causes', 'enables', 'references')
    """)


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("DROP INDEX memory_relationships_binding")
