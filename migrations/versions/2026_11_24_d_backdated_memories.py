"""Index the versions that start before they became known.

A list of what held at a past time needs only these of all that became known since.
"""

from alembic import op

revision = "2026_11_24_d"
down_revision = "2026_11_24_c"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("""
        CREATE INDEX memories_backdated ON memories (agent_id, created_at, id, valid_from)
        WHERE valid_from < created_at
    """)


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("DROP INDEX memories_backdated")
