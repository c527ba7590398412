"""Create the whole schema: the service's tables with their indexes, and the job library's tables.

`app/store/tables.py` describes the same tables for the code; a test compares the two.
"""

from pathlib import Path

from alembic import op

revision = "2026_11_21_1"
down_revision = None

# The job library's tables as its present version makes them. A later version of the library
# brings a migration of its own.
JOB_LIBRARY = Path(__file__).parent.parent / "job_library.sql"

# A row of `memories` holds the latest belief about a memory, a row of `memory_beliefs` an earlier
# one.
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
    merged boolean NOT NULL DEFAULT false,
    CONSTRAINT {table}_interval_check CHECK (valid_until IS NULL OR valid_until >= valid_from),
    CONSTRAINT {table}_void_check CHECK (NOT void OR valid_until = valid_from)
"""

AGENTS = """
    CREATE TABLE agents (
        agent_id text PRIMARY KEY CONSTRAINT agents_id_check CHECK (agent_id <> ''),
        created_at timestamptz NOT NULL,
        last_known_at timestamptz NOT NULL,
        last_erased_at timestamptz,
        mode text CONSTRAINT agents_mode_check CHECK (mode IN ('live', 'shadow', 'frozen')),
        log_folded_until timestamptz
    )
"""

# An erased memory keeps its row, without text, hashes and vector. `embedding_next` takes another
# model's vectors while `embedding` is still read.
MEMORIES = f"""
    CREATE TABLE memories (
        agent_id text NOT NULL CONSTRAINT memories_agent_fkey REFERENCES agents,
        id uuid NOT NULL,
        chain_id uuid NOT NULL,
        kind text NOT NULL CONSTRAINT memories_kind_check
            CHECK (kind IN ('fact', 'preference', 'decision', 'constraint')),
        entity text NOT NULL,
        category text NOT NULL,
        key text,
        value text,
        single_valued boolean,
        slot_entity text NOT NULL,
        slot_category text NOT NULL,
        slot_key text,
        slot_hash bytea NOT NULL,
        content text NOT NULL,
        details jsonb NOT NULL,
        importance double precision NOT NULL CONSTRAINT memories_importance_check
            CHECK (importance BETWEEN 0 AND 1),
        confidence double precision NOT NULL CONSTRAINT memories_confidence_check
            CHECK (confidence BETWEEN 0 AND 1),
        tags text[] NOT NULL,
        entities text[] NOT NULL,
        sources text[] NOT NULL,
        source text,
        session_id text,
        trust smallint NOT NULL CONSTRAINT memories_trust_check CHECK (trust BETWEEN 0 AND 100),
        lifespan text NOT NULL CONSTRAINT memories_lifespan_check
            CHECK (lifespan IN ('session', 'project', 'permanent')),
        content_hash bytea NOT NULL,
        fuzzy_hash bytea NOT NULL,
        folded_hash bytea NOT NULL,
        value_hash bytea,
        embedding vector,
        language regconfig NOT NULL,
        lexemes tsvector GENERATED ALWAYS AS (to_tsvector(language, content)) STORED,
        created_at timestamptz NOT NULL,
        revision integer NOT NULL,
        {BELIEF.format(table="memories")},
        merged_from uuid[] NOT NULL DEFAULT '{{}}',
        derived_entity text,
        derived_key text,
        derived_value text,
        derived_hash bytea,
        look_again text,
        erased_at timestamptz,
        embedding_next vector,
        project text,
        cold boolean NOT NULL DEFAULT false,
        CONSTRAINT memories_pkey PRIMARY KEY (agent_id, id),
        CONSTRAINT memories_erased_check CHECK ((erased_at IS NULL) = (content <> '')),
        CONSTRAINT memories_chain_fkey
            FOREIGN KEY (agent_id, chain_id) REFERENCES memories,
        CONSTRAINT memories_superseded_by_fkey
            FOREIGN KEY (agent_id, superseded_by) REFERENCES memories,
        CONSTRAINT memories_ended_by_fkey
            FOREIGN KEY (agent_id, ended_by) REFERENCES memories,
        CONSTRAINT memories_contradicted_by_fkey
            FOREIGN KEY (agent_id, contradicted_by) REFERENCES memories
    )
"""

# A TOASTed vector costs a second fetch per row and makes the exact scan of an agent ten times
# slower (DESIGN §8).
VECTORS_IN_THE_ROW = "ALTER TABLE memories ALTER COLUMN embedding SET STORAGE PLAIN"

# For the same reason the words stay in the row: with a vector in it nearly every row is over the
# usual 2 kB, and a search reads the words of all of an agent's rows.
WORDS_IN_THE_ROW = "ALTER TABLE memories SET (toast_tuple_target = 8160)"

MEMORY_BELIEFS = f"""
    CREATE TABLE memory_beliefs (
        agent_id text NOT NULL,
        memory_id uuid NOT NULL,
        known_until timestamptz NOT NULL,
        {BELIEF.format(table="memory_beliefs")},
        CONSTRAINT memory_beliefs_pkey PRIMARY KEY (agent_id, memory_id, known_from),
        CONSTRAINT memory_beliefs_known_check CHECK (known_until > known_from),
        CONSTRAINT memory_beliefs_memory_fkey
            FOREIGN KEY (agent_id, memory_id) REFERENCES memories
    )
"""

MEMORY_USAGE = """
    CREATE TABLE memory_usage (
        agent_id text NOT NULL,
        memory_id uuid NOT NULL,
        access_count bigint NOT NULL,
        last_accessed_at timestamptz,
        last_reinforced_at timestamptz,
        use_count bigint NOT NULL DEFAULT 0
            CONSTRAINT memory_usage_use_count_check CHECK (use_count >= 0),
        CONSTRAINT memory_usage_pkey PRIMARY KEY (agent_id, memory_id),
        CONSTRAINT memory_usage_memory_fkey
            FOREIGN KEY (agent_id, memory_id) REFERENCES memories
    )
"""

# `vetoed` is what a fact was kept apart from, next to the decision on it.
CONSOLIDATION_LOG = """
    CREATE TABLE consolidation_log (
        agent_id text NOT NULL CONSTRAINT consolidation_log_agent_fkey REFERENCES agents,
        id uuid NOT NULL,
        operation text NOT NULL CONSTRAINT consolidation_log_operation_check CHECK (operation IN (
            'ADD', 'UPDATE', 'DELETE', 'MERGE', 'SUPERSEDE', 'NOOP', 'AMEND', 'REVERT', 'ERASE'
        )),
        source_memory_ids uuid[] NOT NULL,
        target_memory_id uuid,
        relation text NOT NULL CONSTRAINT consolidation_log_relation_check CHECK (relation IN (
            'DUPLICATE', 'UPDATE', 'CONTRADICTION', 'RETRACTION', 'COMPLEMENT', 'OVERLAP', 'NONE'
        )),
        confidence double precision NOT NULL,
        reasoning text NOT NULL,
        signals jsonb NOT NULL,
        decided_by text NOT NULL CONSTRAINT consolidation_log_decided_by_check
            CHECK (decided_by IN (
                'caller', 'rule', 'signals', 'judge', 'model', 'fallback', 'sweep', 'reviewer'
            )),
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
        reverts uuid,
        reverted_by uuid,
        vetoed jsonb NOT NULL DEFAULT '[]',
        signal_names jsonb
            GENERATED ALWAYS AS (jsonb_path_query_array(signals, '$[*].name')) STORED,
        CONSTRAINT consolidation_log_pkey PRIMARY KEY (agent_id, id)
    )
"""

MEMORY_RELATIONSHIPS = """
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
        CONSTRAINT memory_relationships_pkey
            PRIMARY KEY (agent_id, source_id, target_id, type),
        CONSTRAINT memory_relationships_source_fkey
            FOREIGN KEY (agent_id, source_id) REFERENCES memories,
        CONSTRAINT memory_relationships_target_fkey
            FOREIGN KEY (agent_id, target_id) REFERENCES memories
    )
"""

# A review outlives its operation in the log, so `log_id` references nothing. Import and doctor
# see to it that it names an operation of the log or a folded one.
REVIEWS = """
    CREATE TABLE reviews (
        agent_id text NOT NULL CONSTRAINT reviews_agent_fkey REFERENCES agents,
        id uuid NOT NULL,
        status text NOT NULL CONSTRAINT reviews_status_check
            CHECK (status IN ('pending', 'accepted', 'rejected', 'expired')),
        source text NOT NULL CONSTRAINT reviews_source_check CHECK (source IN (
            'low_confidence', 'shadow', 'frozen', 'constraint', 'cap', 'trust', 'sweep', 'fallback'
        )),
        relation text NOT NULL,
        sentence text NOT NULL,
        memory_id uuid,
        log_id uuid,
        judgments jsonb NOT NULL,
        relied_on jsonb NOT NULL,
        created_at timestamptz NOT NULL,
        said jsonb,
        incoming jsonb,
        note text,
        decided_at timestamptz,
        decision_log_id uuid,
        CONSTRAINT reviews_pkey PRIMARY KEY (agent_id, id),
        CONSTRAINT reviews_memory_fkey
            FOREIGN KEY (agent_id, memory_id) REFERENCES memories
    )
"""

# What the archived operations of the log left of each memory.
LOG_CHECKPOINTS = """
    CREATE TABLE log_checkpoints (
        agent_id text NOT NULL,
        memory_id uuid NOT NULL,
        told jsonb NOT NULL,
        sealed jsonb NOT NULL,
        CONSTRAINT log_checkpoints_pkey PRIMARY KEY (agent_id, memory_id),
        CONSTRAINT log_checkpoints_memory_fkey
            FOREIGN KEY (agent_id, memory_id) REFERENCES memories
    )
"""

LOG_ARCHIVES = """
    CREATE TABLE log_archives (
        agent_id text NOT NULL CONSTRAINT log_archives_agent_fkey REFERENCES agents,
        id uuid NOT NULL,
        file text,
        sha256 bytea,
        operations integer NOT NULL
            CONSTRAINT log_archives_operations_check CHECK (operations > 0),
        first_at timestamptz NOT NULL,
        last_at timestamptz NOT NULL,
        CONSTRAINT log_archives_pkey PRIMARY KEY (agent_id, id),
        CONSTRAINT log_archives_file_check CHECK ((file IS NULL) = (sha256 IS NULL))
    )
"""

FOLDED_OPERATIONS = """
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
        CONSTRAINT folded_operations_archive_fkey
            FOREIGN KEY (agent_id, archive_id) REFERENCES log_archives
    )
"""

SWEEPS = """
    CREATE TABLE sweeps (
        agent_id text NOT NULL CONSTRAINT sweeps_agent_fkey REFERENCES agents,
        id uuid NOT NULL,
        status text NOT NULL CONSTRAINT sweeps_status_check
            CHECK (status IN ('queued', 'running', 'done', 'failed', 'cancelled')),
        origin text NOT NULL CONSTRAINT sweeps_origin_check
            CHECK (origin IN ('store', 'request', 'schedule')),
        slot jsonb,
        slot_hash bytea,
        since timestamptz,
        dry_run boolean NOT NULL,
        total integer,
        examined integer NOT NULL,
        counts jsonb NOT NULL,
        findings jsonb NOT NULL,
        place uuid,
        runner uuid,
        alive_at timestamptz,
        failures integer NOT NULL,
        error text,
        created_at timestamptz NOT NULL,
        started_at timestamptz,
        finished_at timestamptz,
        CONSTRAINT sweeps_pkey PRIMARY KEY (agent_id, id)
    )
"""

# Erase takes the answer, which repeats the stored text, and the fingerprint, which is a hash of
# the text that was sent.
IDEMPOTENCY_KEYS = """
    CREATE TABLE idempotency_keys (
        agent_id text NOT NULL CONSTRAINT idempotency_keys_agent_fkey REFERENCES agents,
        key text NOT NULL CONSTRAINT idempotency_keys_key_check CHECK (key <> ''),
        fingerprint bytea,
        status smallint NOT NULL,
        headers jsonb NOT NULL,
        answer bytea,
        mentioned_ids uuid[] NOT NULL,
        created_at timestamptz NOT NULL,
        CONSTRAINT idempotency_keys_pkey PRIMARY KEY (agent_id, key),
        CONSTRAINT idempotency_keys_fingerprint_check
            CHECK (fingerprint IS NOT NULL OR answer IS NULL)
    )
"""

# One row: the model that made the database's vectors, and the one that is to replace it.
ENCODER = """
    CREATE TABLE encoder (
        the_one boolean PRIMARY KEY CONSTRAINT encoder_the_one_check CHECK (the_one),
        name text NOT NULL,
        dimensions integer NOT NULL
            CONSTRAINT encoder_dimensions_check CHECK (dimensions > 0),
        next_name text,
        next_dimensions integer
            CONSTRAINT encoder_next_dimensions_check CHECK (next_dimensions > 0),
        CONSTRAINT encoder_next_check CHECK ((next_name IS NULL) = (next_dimensions IS NULL))
    )
"""

# A slot with these holds one value at a time.
ONE_VALUE = "slot_key IS NOT NULL AND kind <> 'constraint' AND single_valued IS NOT false"

# `memories_of_slots`, `memories_of_chains`, `consolidation_log_signals` and
# `consolidation_log_decided` are covering indexes for insights: a memory with its vector and an
# operation with its states fill a quarter of a page each, so that reading the rows of a large
# agent takes ten times as long as reading the few columns that insights are about.
INDEXES = (
    "memories_chain ON memories (agent_id, chain_id)",
    "memories_fuzzy_hash ON memories (agent_id, fuzzy_hash)",
    "memories_slot ON memories (agent_id, slot_hash) WHERE slot_key IS NOT NULL",
    "memories_valid_until ON memories (agent_id, valid_until)",
    "memories_warm ON memories (agent_id, valid_until) WHERE NOT cold",
    "memories_created ON memories (agent_id, created_at, id)",
    "memories_derived ON memories (agent_id, derived_hash) WHERE derived_hash IS NOT NULL",
    "memories_session ON memories (agent_id, session_id) WHERE session_id IS NOT NULL",
    "memories_project ON memories (agent_id, project) WHERE project IS NOT NULL",
    "memories_look_again ON memories (agent_id, id) WHERE look_again IS NOT NULL",
    "memories_superseded_by ON memories (agent_id, superseded_by) WHERE superseded_by IS NOT NULL",
    f"""
        memories_of_slots ON memories (agent_id, slot_hash, valid_from, asserted_at, id)
        INCLUDE (chain_id, kind, value_hash, folded_hash, valid_until, created_at)
        WHERE NOT void AND {ONE_VALUE}
    """,
    f"""
        memories_of_chains ON memories (agent_id, chain_id, valid_from, asserted_at, id)
        INCLUDE (kind, value_hash, folded_hash, valid_until, created_at)
        WHERE NOT void AND NOT ({ONE_VALUE})
    """,
    """
        memory_beliefs_superseded_by ON memory_beliefs (agent_id, superseded_by)
        WHERE superseded_by IS NOT NULL
    """,
    "consolidation_log_created ON consolidation_log (agent_id, created_at, id)",
    "consolidation_log_target ON consolidation_log (agent_id, target_memory_id)",
    "consolidation_log_sources ON consolidation_log USING gin (source_memory_ids)",
    "consolidation_log_reverts ON consolidation_log (agent_id, reverts) WHERE reverts IS NOT NULL",
    """
        consolidation_log_request ON consolidation_log (agent_id, request_id)
        WHERE request_id IS NOT NULL
    """,
    """
        consolidation_log_session ON consolidation_log (agent_id, session_id)
        WHERE session_id IS NOT NULL
    """,
    """
        consolidation_log_signals ON consolidation_log (agent_id, signal_names, created_at, id)
        INCLUDE (reverted_by)
        WHERE signal_names <> '[]' AND relation NOT IN ('NONE', 'OVERLAP')
            AND decided_by <> 'reviewer'
    """,
    """
        consolidation_log_decided
        ON consolidation_log (agent_id, decided_by, confidence, created_at, id)
        INCLUDE (operation, reverted_by)
        WHERE decided_by NOT IN ('caller', 'reviewer')
            AND (operation <> 'NOOP' OR relation <> 'NONE')
    """,
    "memory_relationships_target ON memory_relationships (agent_id, target_id)",
    """
        memory_relationships_binding ON memory_relationships (agent_id)
        WHERE type IN
            ('merged_into', 'expands', 'sequential', 'causes', 'enables', 'references')
    """,
    "reviews_created ON reviews (agent_id, status, created_at, id)",
    "reviews_memory ON reviews (agent_id, memory_id)",
    "folded_operations_created ON folded_operations (agent_id, created_at)",
    "folded_operations_undone ON folded_operations (agent_id, created_at) WHERE NOT stands",
    "sweeps_created ON sweeps (agent_id, created_at, id)",
    "sweeps_open ON sweeps (agent_id, id) WHERE status IN ('queued', 'running')",
    "idempotency_keys_created ON idempotency_keys (agent_id, created_at)",
)


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(AGENTS)
    op.execute(MEMORIES)
    op.execute(VECTORS_IN_THE_ROW)
    op.execute(WORDS_IN_THE_ROW)
    op.execute(MEMORY_BELIEFS)
    op.execute(MEMORY_USAGE)
    op.execute(CONSOLIDATION_LOG)
    op.execute(MEMORY_RELATIONSHIPS)
    op.execute(REVIEWS)
    op.execute(LOG_CHECKPOINTS)
    op.execute(LOG_ARCHIVES)
    op.execute(FOLDED_OPERATIONS)
    op.execute(SWEEPS)
    op.execute(IDEMPOTENCY_KEYS)
    op.execute(ENCODER)
    for index in INDEXES:
        op.execute(f"CREATE INDEX {index}")
    create_job_library_tables()


def create_job_library_tables() -> None:
    connection = op.get_bind()
    path = connection.exec_driver_sql("SELECT current_setting('search_path')").scalar()
    op.execute("CREATE SCHEMA jobs")
    op.execute("SET LOCAL search_path TO jobs")
    # The file holds many statements. Only the driver itself takes them all at once.
    connection.connection.cursor().execute(JOB_LIBRARY.read_text())
    connection.exec_driver_sql("SELECT set_config('search_path', %(path)s, true)", {"path": path})


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("DROP SCHEMA jobs CASCADE")
    op.execute("DROP TABLE encoder")
    op.execute("DROP TABLE idempotency_keys")
    op.execute("DROP TABLE sweeps")
    op.execute("DROP TABLE folded_operations")
    op.execute("DROP TABLE log_archives")
    op.execute("DROP TABLE log_checkpoints")
    op.execute("DROP TABLE reviews")
    op.execute("DROP TABLE memory_relationships")
    op.execute("DROP TABLE consolidation_log")
    op.execute("DROP TABLE memory_usage")
    op.execute("DROP TABLE memory_beliefs")
    op.execute("DROP TABLE memories")
    op.execute("DROP TABLE agents")
