"""Reviews count how often a context showed them.

What agents end by their answers counts as what judges end, and no signal led to it.
"""

from alembic import op

revision = "2026_11_26_i"
down_revision = "2026_11_26_g"

CLOSURES = """
    CREATE INDEX consolidation_log_closures ON consolidation_log (agent_id, created_at)
    WHERE relation NOT IN ('NONE', 'OVERLAP') AND (
        (decided_by IN ({judges}) AND operation NOT IN ('ADD', 'NOOP', 'AMEND'))
        OR (decided_by = 'sweep' AND (signals <> '[]' OR model IS NOT NULL))
    )
"""
SIGNALS = """
    CREATE INDEX consolidation_log_signals
    ON consolidation_log (agent_id, signal_names, created_at, id)
    INCLUDE (reverted_by)
    WHERE signal_names <> '[]' AND relation NOT IN ('NONE', 'OVERLAP') AND {decided_by}
"""
JUDGES = "'signals', 'judge', 'model'"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE reviews ADD COLUMN shown integer NOT NULL DEFAULT 0")
    replace_indexes(f"{JUDGES}, 'agent'", "decided_by NOT IN ('reviewer', 'agent')")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    replace_indexes(JUDGES, "decided_by <> 'reviewer'")
    op.execute("ALTER TABLE reviews DROP COLUMN shown")


def replace_indexes(judges: str, decided_by: str) -> None:
    op.execute("DROP INDEX consolidation_log_closures, consolidation_log_signals")
    op.execute(CLOSURES.format(judges=judges))
    op.execute(SIGNALS.format(decided_by=decided_by))
