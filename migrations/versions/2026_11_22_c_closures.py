"""Index the operations by which judges end memories, so that their number within an hour is read
at once. `app/store/tables.py` says which operations these are."""

from alembic import op

revision = "2026_11_22_c"
down_revision = "2026_11_22_b"

CLOSURES = """
    CREATE INDEX consolidation_log_closures ON consolidation_log (agent_id, created_at)
    WHERE relation NOT IN ('NONE', 'OVERLAP') AND (
        (decided_by IN ('signals', 'judge', 'model') AND operation NOT IN ('ADD', 'NOOP', 'AMEND'))
        OR (decided_by = 'sweep' AND (signals <> '[]' OR model IS NOT NULL))
    )
"""


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(CLOSURES)


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("DROP INDEX consolidation_log_closures")
