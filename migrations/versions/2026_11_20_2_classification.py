"""What classification writes: merges, derived slots, marks for another look, relationships, reviews."""

from alembic import op

revision = "2026_11_20_2"
down_revision = "2026_11_20_1"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("""
        ALTER TABLE memories
            ADD COLUMN merged boolean NOT NULL DEFAULT false,
            ADD COLUMN merged_from uuid[] NOT NULL DEFAULT '{}',
            ADD COLUMN derived_entity text,
            ADD COLUMN derived_key text,
            ADD COLUMN derived_value text,
            ADD COLUMN derived_hash bytea,
            ADD COLUMN look_again text
    """)
    op.execute("ALTER TABLE memory_beliefs ADD COLUMN merged boolean NOT NULL DEFAULT false")
    op.execute(
        "CREATE INDEX memories_derived ON memories (agent_id, derived_hash) WHERE derived_hash IS NOT NULL"
    )
    op.execute(
        "CREATE INDEX memories_look_again ON memories (agent_id, id) WHERE look_again IS NOT NULL"
    )
    op.execute("""
        CREATE TABLE memory_relationships (
            agent_id text NOT NULL,
            source_id uuid NOT NULL,
            target_id uuid NOT NULL,
            type text NOT NULL CONSTRAINT memory_relationships_type_check CHECK (type IN (
                'references', 'contradicts', 'expands', 'similar', 'sequential',
                'causes', 'enables', 'supersedes', 'merged_into', 'related_to'
            )),
            log_id uuid,
            created_at timestamptz NOT NULL,
            CONSTRAINT memory_relationships_pkey PRIMARY KEY (agent_id, source_id, target_id, type),
            CONSTRAINT memory_relationships_source_fkey FOREIGN KEY (agent_id, source_id) REFERENCES memories,
            CONSTRAINT memory_relationships_target_fkey FOREIGN KEY (agent_id, target_id) REFERENCES memories
        )
    """)
    op.execute(
        "CREATE INDEX memory_relationships_target ON memory_relationships (agent_id, target_id)"
    )
    op.execute("""
        CREATE TABLE reviews (
            agent_id text NOT NULL CONSTRAINT reviews_agent_fkey REFERENCES agents,
            id uuid NOT NULL,
            status text NOT NULL CONSTRAINT reviews_status_check CHECK (status IN ('pending', 'accepted', 'rejected', 'expired')),
            source text NOT NULL CONSTRAINT reviews_source_check CHECK (source IN
                ('low_confidence', 'shadow', 'frozen', 'constraint', 'cap', 'trust', 'sweep', 'fallback')),
            relation text NOT NULL,
            sentence text NOT NULL,
            memory_id uuid,
            log_id uuid NOT NULL,
            judgments jsonb NOT NULL,
            relied_on jsonb NOT NULL,
            created_at timestamptz NOT NULL,
            CONSTRAINT reviews_pkey PRIMARY KEY (agent_id, id),
            CONSTRAINT reviews_memory_fkey FOREIGN KEY (agent_id, memory_id) REFERENCES memories,
            CONSTRAINT reviews_log_fkey FOREIGN KEY (agent_id, log_id) REFERENCES consolidation_log
        )
    """)
    op.execute("CREATE INDEX reviews_created ON reviews (agent_id, status, created_at, id)")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("DROP TABLE reviews")
    op.execute("DROP TABLE memory_relationships")
    op.execute("ALTER TABLE memory_beliefs DROP COLUMN merged")
    op.execute("""
        ALTER TABLE memories DROP COLUMN merged, DROP COLUMN merged_from, DROP COLUMN derived_entity, DROP COLUMN derived_key,
            DROP COLUMN derived_value, DROP COLUMN derived_hash, DROP COLUMN look_again
    """)
