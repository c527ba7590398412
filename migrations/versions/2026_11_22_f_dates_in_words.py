"""Remember when words were spoken, the words that date a memory, and the time zone of an agent."""

from alembic import op

revision = "2026_11_22_f"
down_revision = "2026_11_22_d"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE memories ADD COLUMN said_at timestamptz, ADD COLUMN dated_by jsonb")
    op.execute("ALTER TABLE agents ADD COLUMN timezone text")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE agents DROP COLUMN timezone")
    op.execute("ALTER TABLE memories DROP COLUMN dated_by, DROP COLUMN said_at")
