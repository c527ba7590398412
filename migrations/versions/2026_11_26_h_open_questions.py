"""Reviews of judges that disagree, reviews that another decision settled, and agents that decide.

The next revision validates the checks, so that writers are not locked out meanwhile.
"""

from collections.abc import Mapping

from alembic import op

revision = "2026_11_26_h"
down_revision = "2026_11_26_f"

STATUSES = "'pending', 'accepted', 'rejected', 'expired'"
SOURCES = "'low_confidence', 'shadow', 'frozen', 'constraint', 'cap', 'trust', 'sweep', 'fallback'"
JUDGES = "'caller', 'rule', 'signals', 'judge', 'model', 'fallback', 'sweep', 'reviewer'"

BEFORE = {
    ("reviews", "status"): STATUSES,
    ("reviews", "source"): SOURCES,
    ("consolidation_log", "decided_by"): JUDGES,
}
AFTER = {
    ("reviews", "status"): f"{STATUSES}, 'overtaken'",
    ("reviews", "source"): f"{SOURCES}, 'judges_disagree'",
    ("consolidation_log", "decided_by"): f"{JUDGES}, 'agent'",
}

# What the older service does not know, in the words that it has.
RENAME = """
    UPDATE reviews SET
        status = CASE status WHEN 'overtaken' THEN 'expired' ELSE status END,
        source = CASE source WHEN 'judges_disagree' THEN 'low_confidence' ELSE source END
    WHERE status = 'overtaken' OR source = 'judges_disagree'
"""


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    replace_checks(AFTER, valid="NOT VALID")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(RENAME)
    replace_checks(BEFORE, valid="")


def replace_checks(allowed: Mapping[tuple[str, str], str], *, valid: str) -> None:
    for (table, column), values in allowed.items():
        name = f"{table}_{column}_check"
        op.execute(
            f"ALTER TABLE {table} DROP CONSTRAINT {name}, "
            f"ADD CONSTRAINT {name} CHECK ({column} IN ({values})) {valid}"
        )
