"""An agent says from when the endings by judges count against the cap of an hour.

What the history that a trusted caller loads has ended counts for nothing.
"""

from alembic import op

revision = "2026_11_26_f"
down_revision = "2026_11_26_e"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE agents ADD COLUMN closures_counted_from timestamptz")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE agents DROP COLUMN closures_counted_from")
