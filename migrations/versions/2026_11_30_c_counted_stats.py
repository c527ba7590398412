"""The stats of a large agent are those that a worker counted last. Nothing is added to them.

So nothing looks for what began or resumed to hold since then, and the known time until which stats
count is in the stats. Stored stats are counted anew: those of another release have strengths of
another time.
"""

from alembic import op

revision = "2026_11_30_c"
down_revision = "2026_11_30_b"

INDEXES = {
    "memories_scheduled": "memories (agent_id, valid_from) WHERE valid_from > created_at",
    "memories_covered": (
        "memories (agent_id, (covered[cardinality(covered)])) WHERE covered <> '{}'"
    ),
}


def forget_stats() -> None:
    op.execute("ALTER TABLE agent_indexes NO FORCE ROW LEVEL SECURITY")
    op.execute("UPDATE agent_indexes SET stats = NULL")
    op.execute("ALTER TABLE agent_indexes FORCE ROW LEVEL SECURITY")


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(f"DROP INDEX {', '.join(INDEXES)}")
    forget_stats()
    op.execute("ALTER TABLE agent_indexes DROP COLUMN stats_until")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    forget_stats()
    op.execute("ALTER TABLE agent_indexes ADD COLUMN stats_until timestamptz")
    for name, rows in INDEXES.items():
        op.execute(f"CREATE INDEX {name} ON {rows}")
