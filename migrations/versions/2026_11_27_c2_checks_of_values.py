"""Validate the checks that the revision before added. Writers go on meanwhile.

Only an import can have left values that break one. No read can answer them, so what stands for
nothing takes their place. The doctor then says which operations are not as they were logged.
"""

from collections.abc import Mapping

import sqlalchemy as sa
from alembic import op

revision = "2026_11_27_c2"
down_revision = "2026_11_27_c"

# What takes the place of a value that breaks the check of its column.
EMPTY = {
    "memories": {
        "details": "'{}'",
        "dated_by": "NULL",
    },
    "consolidation_log": {
        "confidence": "1",
        "signals": "'[]'",
        "incoming": "NULL",
        "before_state": "'[]'",
        "after_state": "'[]'",
        "usage": "NULL",
        "opinions": "NULL",
        "vetoed": "'[]'",
    },
    "folded_operations": {
        "operation": "'NOOP'",
        "decided_by": "'rule'",
    },
    "reviews": {
        "relation": "'NONE'",
        "judgments": "'[]'",
        "relied_on": "'{}'",
        "said": "NULL",
        "incoming": "NULL",
    },
    "log_checkpoints": {
        "told": "'{}'",
        "sealed": "'{}'",
    },
    "captures": {
        "extractor": "NULL",
    },
    "turns": {
        "offset_minutes": "NULL",
        "skipped": "'[]'",
    },
    "captured_facts": {
        "operation": "NULL",
        "quotes": "'[]'",
    },
    "sweeps": {
        "slot": "NULL",
        "counts": "'{}'",
        "findings": "'[]'",
    },
    "idempotency_keys": {
        "headers": "'{}'",
    },
    "agent_indexes": {
        "stats": "NULL",
        "insights": "NULL",
    },
}

CONDITION = sa.text("""
    SELECT pg_get_expr(conbin, conrelid) FROM pg_constraint
    WHERE conrelid = CAST(:table AS regclass) AND conname = :check
""")


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    for table, columns in EMPTY.items():
        try:
            with op.get_bind().begin_nested():
                validate_checks(table, columns)
        except sa.exc.IntegrityError:
            empty_broken_values(table, columns)
            validate_checks(table, columns)


def validate_checks(table: str, columns: Mapping[str, str]) -> None:
    for column in columns:
        op.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {table}_{column}_check")


def empty_broken_values(table: str, columns: Mapping[str, str]) -> None:
    conditions = {column: read_condition(table, f"{table}_{column}_check") for column in columns}
    changes = [
        f"{column} = CASE WHEN NOT ({condition}) THEN {columns[column]} ELSE {column} END"
        for column, condition in conditions.items()
    ]
    broken = [f"NOT ({condition})" for condition in conditions.values()]
    # Forced row-level security hides the rows from their owner too.
    op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    op.execute(f"UPDATE {table} SET {', '.join(changes)} WHERE {' OR '.join(broken)}")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")


def read_condition(table: str, check: str) -> str:
    return str(op.get_bind().execute(CONDITION, {"table": table, "check": check}).scalar_one())


def downgrade() -> None:
    """A check that is valid stays valid."""
