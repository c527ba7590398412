"""Facts for a while: a temporary version covers what comes before it in its chain, which resumes.

Versions that are stored already are not temporary, whatever end they state, so nothing changes for
them.
"""

from alembic import op

revision = "2026_11_22_e"
down_revision = "2026_11_22_d"

TABLES = ("memories", "memory_beliefs")


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    for table in TABLES:
        op.execute(f"""
            ALTER TABLE {table}
                ADD temporary boolean NOT NULL DEFAULT false,
                ADD covered timestamptz[] NOT NULL DEFAULT '{{}}',
                ADD CONSTRAINT {table}_covered_check CHECK (cardinality(covered) % 2 = 0)
                    NOT VALID
        """)


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} DROP temporary, DROP covered")
