"""The reviews in a memory's favour, which a sweep asks for with every batch."""

from alembic import op

revision = "2026_11_20_13"
down_revision = "2026_11_20_12"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("CREATE INDEX reviews_memory ON reviews (agent_id, memory_id)")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("DROP INDEX reviews_memory")
