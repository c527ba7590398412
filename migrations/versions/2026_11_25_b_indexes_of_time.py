"""Index the memories that begin or resume later than they became known.

The stats of a large agent add what began to hold since they were counted. Ends have an index.
Stored stats that say nothing of erasures since then cannot be added to: they are counted anew.
"""

from alembic import op

revision = "2026_11_25_b"
down_revision = "2026_11_25_a"

INDEXES = {
    "memories_scheduled": "memories (agent_id, valid_from) WHERE valid_from > created_at",
    "memories_covered": (
        "memories (agent_id, (covered[cardinality(covered)])) WHERE covered <> '{}'"
    ),
}


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    for name, rows in INDEXES.items():
        op.execute(f"CREATE INDEX {name} ON {rows}")
    op.execute("ALTER TABLE agent_indexes NO FORCE ROW LEVEL SECURITY")
    op.execute("UPDATE agent_indexes SET stats = NULL")
    op.execute("ALTER TABLE agent_indexes FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(f"DROP INDEX {', '.join(INDEXES)}")
