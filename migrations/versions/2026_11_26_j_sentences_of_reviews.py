"""Reviews are told in words when they are read, so the sentence that was stored goes.

It named memories by their ids, and nothing showed it. Going down leaves it empty.
"""

from alembic import op

revision = "2026_11_26_j"
down_revision = "2026_11_26_i"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE reviews DROP COLUMN sentence")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE reviews ADD COLUMN sentence text NOT NULL DEFAULT ''")
    op.execute("ALTER TABLE reviews ALTER COLUMN sentence DROP DEFAULT")
