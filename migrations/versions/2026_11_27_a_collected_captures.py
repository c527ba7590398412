"""A capture may wait for further messages of its session, so that all are read at once."""

from alembic import op

revision = "2026_11_27_a"
down_revision = "2026_11_26_j"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE captures ADD COLUMN due_at timestamptz")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE captures DROP COLUMN due_at")
