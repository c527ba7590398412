"""Let no look-up of a memory's counters take the index that lists what was used last.

While the table is empty, Postgres finds both of its indexes equally good. A plan made then read all
counters of the agent at each look-up.
"""

from alembic import op

revision = "2026_11_28_a"
down_revision = "2026_11_27_k"


def upgrade() -> None:
    _build_index("WHERE last_accessed_at IS NOT NULL")


def downgrade() -> None:
    _build_index("")


def _build_index(condition: str) -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(
        f"CREATE INDEX used_memories ON memory_usage (agent_id, last_accessed_at) {condition}"
    )
    op.execute("DROP INDEX memory_usage_used")
    op.execute("ALTER INDEX used_memories RENAME TO memory_usage_used")
