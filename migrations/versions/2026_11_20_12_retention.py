"""Retention: cold memories, and what is left in place of archived operations of the log."""

from alembic import op

revision = "2026_11_20_12"
down_revision = "2026_11_20_9"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE memories ADD COLUMN cold boolean NOT NULL DEFAULT false")
    op.execute("CREATE INDEX memories_warm ON memories (agent_id, valid_until) WHERE NOT cold")
    op.execute("ALTER TABLE agents ADD COLUMN log_folded_until timestamptz")
    op.execute(
        "CREATE INDEX consolidation_log_reverts ON consolidation_log (agent_id, reverts) WHERE reverts IS NOT NULL"
    )
    # A review outlives its operation in the log; that it points to a folded one at least, import and doctor see to.
    op.execute("ALTER TABLE reviews DROP CONSTRAINT reviews_log_fkey")
    op.execute("""
        CREATE TABLE log_checkpoints (
            agent_id text NOT NULL,
            memory_id uuid NOT NULL,
            told jsonb NOT NULL,
            sealed jsonb NOT NULL,
            CONSTRAINT log_checkpoints_pkey PRIMARY KEY (agent_id, memory_id),
            CONSTRAINT log_checkpoints_memory_fkey FOREIGN KEY (agent_id, memory_id) REFERENCES memories
        )
    """)
    op.execute("""
        CREATE TABLE log_archives (
            agent_id text NOT NULL CONSTRAINT log_archives_agent_fkey REFERENCES agents,
            id uuid NOT NULL,
            file text,
            sha256 bytea,
            operations integer NOT NULL CONSTRAINT log_archives_operations_check CHECK (operations > 0),
            first_at timestamptz NOT NULL,
            last_at timestamptz NOT NULL,
            CONSTRAINT log_archives_pkey PRIMARY KEY (agent_id, id),
            CONSTRAINT log_archives_file_check CHECK ((file IS NULL) = (sha256 IS NULL))
        )
    """)
    op.execute("""
        CREATE TABLE folded_operations (
            agent_id text NOT NULL CONSTRAINT folded_operations_agent_fkey REFERENCES agents,
            id uuid NOT NULL,
            archive_id uuid,
            operation text NOT NULL,
            decided_by text NOT NULL,
            request_id text,
            memory_ids uuid[] NOT NULL,
            stands boolean NOT NULL,
            proposed boolean NOT NULL,
            created_at timestamptz NOT NULL,
            CONSTRAINT folded_operations_pkey PRIMARY KEY (agent_id, id),
            CONSTRAINT folded_operations_archive_fkey FOREIGN KEY (agent_id, archive_id) REFERENCES log_archives
        )
    """)
    op.execute("CREATE INDEX folded_operations_created ON folded_operations (agent_id, created_at)")
    op.execute(
        "CREATE INDEX folded_operations_undone ON folded_operations (agent_id, created_at) WHERE NOT stands"
    )


def downgrade() -> None:
    """Archived operations stay in their files; reviews forget which one they came from."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    for table in ("folded_operations", "log_archives", "log_checkpoints"):
        op.execute(f"DROP TABLE {table}")
    op.execute("""
        UPDATE reviews r SET log_id = NULL
        WHERE NOT EXISTS (SELECT FROM consolidation_log l WHERE l.agent_id = r.agent_id AND l.id = r.log_id)
    """)
    op.execute("""
        ALTER TABLE reviews
            ADD CONSTRAINT reviews_log_fkey FOREIGN KEY (agent_id, log_id) REFERENCES consolidation_log
    """)
    op.execute("DROP INDEX consolidation_log_reverts")
    op.execute("ALTER TABLE agents DROP COLUMN log_folded_until")
    op.execute("DROP INDEX memories_warm")
    op.execute("ALTER TABLE memories DROP COLUMN cold")
