"""Validate the checks that earlier revisions added, and index captures by their arrival.

To validate a check, Postgres reads the whole table, but readers and writers go on meanwhile. The
revision that adds a check locks them out, so it adds the check without looking at any row.
"""

from alembic import op

revision = "2026_11_22_i"
down_revision = "2026_11_22_h"

CHECKS = {
    "consolidation_log": "consolidation_log_chain_check",
    "memories": "memories_covered_check",
    "memory_beliefs": "memory_beliefs_covered_check",
}


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    for table, check in CHECKS.items():
        op.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {check}")
    op.execute("CREATE INDEX captures_received ON captures (agent_id, received_at, id)")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("DROP INDEX captures_received")
