"""The chain of a version is part of what is believed about it.

An accepted temporary fact joins the chain of what it covers (docs/decisions/0014). What was
believed before this revision stood in the chain in which the version stands now.
"""

from alembic import op

revision = "2026_11_23_a"
down_revision = "2026_11_22_i"

TABLES = ("memories", "memory_beliefs")


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE memory_beliefs ADD chain_id uuid")
    # Forced row-level security hides the rows from their owner too.
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    op.execute("""
        UPDATE memory_beliefs b SET chain_id = m.chain_id
        FROM memories m
        WHERE m.agent_id = b.agent_id AND m.id = b.memory_id
    """)
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE memory_beliefs ALTER chain_id SET NOT NULL")
    op.execute("""
        CREATE INDEX memory_beliefs_elsewhere ON memory_beliefs (agent_id, chain_id)
        WHERE temporary AND chain_id <> memory_id
    """)


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE memory_beliefs DROP chain_id")
