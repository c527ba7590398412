"""Remember which facts were split from one sentence."""

from alembic import op

revision = "2026_11_22_h"
down_revision = "2026_11_22_g"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE memories ADD COLUMN said_in uuid")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE memories DROP COLUMN said_in")
