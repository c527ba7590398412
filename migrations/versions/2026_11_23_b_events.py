"""Find the review that an operation left by the operation, for the feed of events."""

from alembic import op

revision = "2026_11_23_b"
down_revision = "2026_11_23_a"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("CREATE INDEX reviews_log ON reviews (agent_id, log_id) WHERE log_id IS NOT NULL")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("DROP INDEX reviews_log")
