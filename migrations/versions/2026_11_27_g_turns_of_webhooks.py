"""Let whoever looks for webhooks that are due see whose they are: keys take turns."""

from alembic import op

revision = "2026_11_27_g"
down_revision = "2026_11_27_f"

OPERATOR = "palimpsest_operator"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(f"GRANT SELECT (created_by) ON webhooks TO {OPERATOR}")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(f"REVOKE SELECT (created_by) ON webhooks FROM {OPERATOR}")
