"""Agents, memories with their beliefs and usage, the consolidation log, and which encoder made the vectors."""

from alembic import op

revision = "2026_11_20_1"
down_revision = None

BELIEF = """
    valid_from timestamptz NOT NULL,
    asserted_at timestamptz NOT NULL,
    said_until timestamptz,
    retracted_at timestamptz,
    void boolean NOT NULL,
    ended_by uuid,
    contradicted_by uuid,
    tier text NOT NULL CONSTRAINT {table}_tier_check CHECK (tier IN ('core', 'semantic')),
    valid_until timestamptz,
    superseded_by uuid,
    superseded_at timestamptz,
    known_from timestamptz NOT NULL,
    CONSTRAINT {table}_interval_check CHECK (valid_until IS NULL OR valid_until >= valid_from),
    CONSTRAINT {table}_void_check CHECK (NOT void OR valid_until = valid_from)
"""


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("CREATE EXTENSION IF NOT EXISTS vector")
    op.execute("""
        CREATE TABLE agents (
            agent_id text PRIMARY KEY CONSTRAINT agents_id_check CHECK (agent_id <> ''),
            created_at timestamptz NOT NULL,
            last_known_at timestamptz NOT NULL
        )
    """)
    op.execute(f"""
        CREATE TABLE memories (
            agent_id text NOT NULL CONSTRAINT memories_agent_fkey REFERENCES agents,
            id uuid NOT NULL,
            chain_id uuid NOT NULL,
            kind text NOT NULL CONSTRAINT memories_kind_check CHECK (kind IN ('fact', 'preference', 'decision', 'constraint')),
            entity text NOT NULL,
            category text NOT NULL,
            key text,
            value text,
            single_valued boolean,
            slot_entity text NOT NULL,
            slot_category text NOT NULL,
            slot_key text,
            slot_hash bytea NOT NULL,
            content text NOT NULL CONSTRAINT memories_content_check CHECK (content <> ''),
            details jsonb NOT NULL,
            importance double precision NOT NULL CONSTRAINT memories_importance_check CHECK (importance BETWEEN 0 AND 1),
            confidence double precision NOT NULL CONSTRAINT memories_confidence_check CHECK (confidence BETWEEN 0 AND 1),
            tags text[] NOT NULL,
            entities text[] NOT NULL,
            sources text[] NOT NULL,
            source text,
            session_id text,
            trust smallint NOT NULL CONSTRAINT memories_trust_check CHECK (trust BETWEEN 0 AND 100),
            lifespan text NOT NULL CONSTRAINT memories_lifespan_check CHECK (lifespan IN ('session', 'project', 'permanent')),
            content_hash bytea NOT NULL,
            fuzzy_hash bytea NOT NULL,
            folded_hash bytea NOT NULL,
            value_hash bytea,
            embedding vector NOT NULL,
            language regconfig NOT NULL,
            lexemes tsvector GENERATED ALWAYS AS (to_tsvector(language, content)) STORED,
            created_at timestamptz NOT NULL,
            revision integer NOT NULL,
            {BELIEF.format(table="memories")},
            CONSTRAINT memories_pkey PRIMARY KEY (agent_id, id),
            CONSTRAINT memories_chain_fkey FOREIGN KEY (agent_id, chain_id) REFERENCES memories,
            CONSTRAINT memories_superseded_by_fkey FOREIGN KEY (agent_id, superseded_by) REFERENCES memories,
            CONSTRAINT memories_ended_by_fkey FOREIGN KEY (agent_id, ended_by) REFERENCES memories,
            CONSTRAINT memories_contradicted_by_fkey FOREIGN KEY (agent_id, contradicted_by) REFERENCES memories
        )
    """)
    # A TOASTed vector costs a second fetch per row and makes the exact scan of an agent ten times slower (DESIGN §8).
    op.execute("ALTER TABLE memories ALTER COLUMN embedding SET STORAGE PLAIN")
    # For the same reason the words stay in the row: beside a vector nearly every row is over the usual 2 kB, and a search reads
    # the words of all of an agent's rows.
    op.execute("ALTER TABLE memories SET (toast_tuple_target = 8160)")
    op.execute("CREATE INDEX memories_chain ON memories (agent_id, chain_id)")
    op.execute("CREATE INDEX memories_fuzzy_hash ON memories (agent_id, fuzzy_hash)")
    op.execute(
        "CREATE INDEX memories_slot ON memories (agent_id, slot_hash) WHERE slot_key IS NOT NULL"
    )
    op.execute("CREATE INDEX memories_valid_until ON memories (agent_id, valid_until)")
    op.execute("CREATE INDEX memories_created ON memories (agent_id, created_at, id)")
    op.execute(
        "CREATE INDEX memories_superseded_by ON memories (agent_id, superseded_by) WHERE superseded_by IS NOT NULL"
    )
    op.execute(f"""
        CREATE TABLE memory_beliefs (
            agent_id text NOT NULL,
            memory_id uuid NOT NULL,
            known_until timestamptz NOT NULL,
            {BELIEF.format(table="memory_beliefs")},
            CONSTRAINT memory_beliefs_pkey PRIMARY KEY (agent_id, memory_id, known_from),
            CONSTRAINT memory_beliefs_known_check CHECK (known_until > known_from),
            CONSTRAINT memory_beliefs_memory_fkey FOREIGN KEY (agent_id, memory_id) REFERENCES memories
        )
    """)
    op.execute(
        "CREATE INDEX memory_beliefs_superseded_by ON memory_beliefs (agent_id, superseded_by) WHERE superseded_by IS NOT NULL"
    )
    op.execute("""
        CREATE TABLE memory_usage (
            agent_id text NOT NULL,
            memory_id uuid NOT NULL,
            access_count bigint NOT NULL,
            last_accessed_at timestamptz,
            last_reinforced_at timestamptz,
            CONSTRAINT memory_usage_pkey PRIMARY KEY (agent_id, memory_id),
            CONSTRAINT memory_usage_memory_fkey FOREIGN KEY (agent_id, memory_id) REFERENCES memories
        )
    """)
    op.execute("""
        CREATE TABLE consolidation_log (
            agent_id text NOT NULL CONSTRAINT consolidation_log_agent_fkey REFERENCES agents,
            id uuid NOT NULL,
            operation text NOT NULL CONSTRAINT consolidation_log_operation_check
                CHECK (operation IN ('ADD', 'UPDATE', 'DELETE', 'MERGE', 'SUPERSEDE', 'NOOP', 'AMEND', 'REVERT', 'ERASE')),
            source_memory_ids uuid[] NOT NULL,
            target_memory_id uuid,
            relation text NOT NULL CONSTRAINT consolidation_log_relation_check
                CHECK (relation IN ('DUPLICATE', 'UPDATE', 'CONTRADICTION', 'RETRACTION', 'COMPLEMENT', 'OVERLAP', 'NONE')),
            confidence double precision NOT NULL,
            reasoning text NOT NULL,
            signals jsonb NOT NULL,
            decided_by text NOT NULL CONSTRAINT consolidation_log_decided_by_check
                CHECK (decided_by IN ('caller', 'rule', 'signals', 'model', 'fallback', 'sweep', 'reviewer')),
            incoming jsonb,
            before_state jsonb NOT NULL,
            after_state jsonb NOT NULL,
            model text,
            prompt_version text,
            usage jsonb,
            duration_ms double precision,
            session_id text,
            request_id text,
            created_at timestamptz NOT NULL,
            CONSTRAINT consolidation_log_pkey PRIMARY KEY (agent_id, id)
        )
    """)
    op.execute(
        "CREATE INDEX consolidation_log_created ON consolidation_log (agent_id, created_at, id)"
    )
    op.execute(
        "CREATE INDEX consolidation_log_target ON consolidation_log (agent_id, target_memory_id)"
    )
    op.execute(
        "CREATE INDEX consolidation_log_sources ON consolidation_log USING gin (source_memory_ids)"
    )
    op.execute("""
        CREATE TABLE encoder (
            the_one boolean PRIMARY KEY CONSTRAINT encoder_the_one_check CHECK (the_one),
            name text NOT NULL,
            dimensions integer NOT NULL CONSTRAINT encoder_dimensions_check CHECK (dimensions > 0)
        )
    """)


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    for table in (
        "encoder",
        "consolidation_log",
        "memory_usage",
        "memory_beliefs",
        "memories",
        "agents",
    ):
        op.execute(f"DROP TABLE {table}")
