"""Validate the checks that the revision before added. Writers go on meanwhile."""

from alembic import op

revision = "2026_11_26_h2"
down_revision = "2026_11_26_h"

CHECKS = {
    "reviews_status_check": "reviews",
    "reviews_source_check": "reviews",
    "consolidation_log_decided_by_check": "consolidation_log",
}


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    for check, table in CHECKS.items():
        op.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {check}")


def downgrade() -> None:
    """A check that is valid stays valid."""
