"""What a fact was kept apart from, beside the decision on it."""

from alembic import op

revision = "2026_11_20_7"
down_revision = "2026_11_20_6"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE consolidation_log ADD COLUMN vetoed jsonb NOT NULL DEFAULT '[]'")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE consolidation_log DROP COLUMN vetoed")
