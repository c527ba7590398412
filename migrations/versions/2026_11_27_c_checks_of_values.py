"""Check enumerations and JSON in the database, and note which agents a webhook cannot read.

The next revision validates the checks, so that writers are not locked out meanwhile.
"""

from alembic import op

revision = "2026_11_27_c"
down_revision = "2026_11_27_d"

RELATIONS = "'DUPLICATE', 'UPDATE', 'CONTRADICTION', 'RETRACTION', 'COMPLEMENT', 'OVERLAP', 'NONE'"
OPERATIONS = "'ADD', 'UPDATE', 'DELETE', 'MERGE', 'SUPERSEDE', 'NOOP', 'AMEND', 'REVERT', 'ERASE'"
JUDGES = "'caller', 'rule', 'signals', 'judge', 'model', 'fallback', 'sweep', 'reviewer', 'agent'"


def is_array(column: str) -> str:
    return f"jsonb_typeof({column}) = 'array'"


def is_object(column: str) -> str:
    return f"jsonb_typeof({column}) = 'object'"


CHECKS = {
    "memories": {
        "details": is_object("details"),
        "dated_by": is_object("dated_by"),
    },
    "consolidation_log": {
        "confidence": "confidence BETWEEN 0 AND 1",
        "signals": is_array("signals"),
        "incoming": is_object("incoming"),
        "before_state": is_array("before_state"),
        "after_state": is_array("after_state"),
        "usage": is_object("usage"),
        "opinions": is_array("opinions"),
        "vetoed": is_array("vetoed"),
    },
    "folded_operations": {
        "operation": f"operation IN ({OPERATIONS})",
        "decided_by": f"decided_by IN ({JUDGES})",
    },
    "reviews": {
        "relation": f"relation IN ({RELATIONS})",
        "judgments": is_array("judgments"),
        "relied_on": is_object("relied_on"),
        "said": is_object("said"),
        "incoming": is_object("incoming"),
    },
    "log_checkpoints": {
        "told": is_object("told"),
        "sealed": is_object("sealed"),
    },
    "captures": {"extractor": "extractor IN ('rules', 'model', 'off')"},
    "turns": {
        "offset_minutes": "offset_minutes BETWEEN -1439 AND 1439",
        "skipped": is_array("skipped"),
    },
    "captured_facts": {
        "operation": f"operation IN ({OPERATIONS})",
        "quotes": is_array("quotes"),
    },
    "sweeps": {
        "slot": is_object("slot"),
        "counts": is_object("counts"),
        "findings": is_array("findings"),
    },
    "idempotency_keys": {"headers": is_object("headers")},
    "agent_indexes": {
        "stats": is_object("stats"),
        "insights": is_object("insights"),
    },
}


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    for table, checks in CHECKS.items():
        for column, condition in checks.items():
            name = f"{table}_{column}_check"
            op.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} CHECK ({condition}) NOT VALID")
    op.execute("ALTER TABLE webhook_positions ADD COLUMN unreadable_since timestamptz")
    op.execute("ALTER TABLE webhook_positions ADD COLUMN next_try_at timestamptz")
    op.execute(
        "CREATE INDEX webhook_positions_unreadable ON webhook_positions (agent) "
        "WHERE unreadable_since IS NOT NULL"
    )


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("DROP INDEX webhook_positions_unreadable")
    op.execute("ALTER TABLE webhook_positions DROP COLUMN next_try_at")
    op.execute("ALTER TABLE webhook_positions DROP COLUMN unreadable_since")
    for table, checks in CHECKS.items():
        for column in checks:
            op.execute(f"ALTER TABLE {table} DROP CONSTRAINT {table}_{column}_check")
