"""Index the few rows that lists of a past time and erasures look for among many.

Of what became known after the time of a list, only versions that start before they became known can
have held then. An erasure looks for merged memories, and for operations that quote texts.
"""

from alembic import op

revision = "2026_11_24_d"
down_revision = "2026_11_24_c"

INDEXES = {
    "memories_backdated": (
        "memories (agent_id, created_at, id, valid_from) WHERE valid_from < created_at"
    ),
    "memories_merged": "memories (agent_id, id) WHERE merged_from <> '{}'",
    "consolidation_log_vetoed": "consolidation_log (agent_id, id) WHERE vetoed <> '[]'",
    "consolidation_log_troubled": (
        "consolidation_log (agent_id, id) WHERE jsonb_typeof(usage -> 'trouble') = 'string'"
    ),
}


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    for name, rows in INDEXES.items():
        op.execute(f"CREATE INDEX {name} ON {rows}")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(f"DROP INDEX {', '.join(INDEXES)}")
