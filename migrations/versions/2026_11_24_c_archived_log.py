"""Create the table in which an erasure edits operations that left the log.

It was a temporary table. On a cluster, a statement cannot join one with the rows of an agent. The
rows of a file come in and go within one transaction, so others always see the table empty.
"""

from alembic import op

revision = "2026_11_24_c"
down_revision = "2026_11_24_a"

SERVICE = "palimpsest_service"
LOG_EDITOR = "palimpsest_log_editor"
OPERATOR = "palimpsest_operator"

# A setting that was reset is an empty string, and no agent has that id.
THE_AGENT = "current_setting('palimpsest.agent', true)"

ARCHIVED_LOG = """
    CREATE TABLE archived_log (
        LIKE consolidation_log,
        CONSTRAINT archived_log_pkey PRIMARY KEY (agent_id, id),
        CONSTRAINT archived_log_agent_fkey FOREIGN KEY (agent_id) REFERENCES agents (agent_id)
    )
"""


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(ARCHIVED_LOG)
    op.execute("ALTER TABLE archived_log DROP COLUMN signal_names")
    op.execute("ALTER TABLE archived_log ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(
        f"CREATE POLICY one_agent ON archived_log TO {SERVICE} USING (agent_id = {THE_AGENT})"
    )
    op.execute(f"CREATE POLICY every_agent ON archived_log FOR SELECT TO {OPERATOR} USING (true)")
    op.execute(f"GRANT SELECT ON archived_log TO {SERVICE}, {OPERATOR}")
    op.execute(f"GRANT INSERT, UPDATE, DELETE ON archived_log TO {LOG_EDITOR}")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("DROP TABLE archived_log")
