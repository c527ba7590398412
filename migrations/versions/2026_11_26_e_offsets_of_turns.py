"""A turn keeps the offset in which it was said: its dates begin at the midnight of its speaker."""

from alembic import op

revision = "2026_11_26_e"
down_revision = "2026_11_26_d"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE turns ADD COLUMN offset_minutes smallint")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE turns DROP COLUMN offset_minutes")
