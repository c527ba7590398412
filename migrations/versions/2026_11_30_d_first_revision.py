"""Create the whole schema: tables with their indexes, functions, rights, and the job library.

`app/store/tables.py` describes the same tables for the code; a test compares the two.
`palimpsest migrate` makes the roles first (`app/store/roles.py`), because they belong to the whole
server. Roles and the job library's schema have their names for the schema `public` here.

Row-level security is forced, so it binds the owner of the tables too, and no policy lets the owner
see a row. A later migration that reads or changes rows of agents puts
`ALTER TABLE … NO FORCE ROW LEVEL SECURITY` before and `FORCE` after that.
"""

from pathlib import Path

from alembic import op

revision = "2026_11_30_d"
down_revision = None

FOLDER = Path(__file__).parent.parent

FUNCTIONS = FOLDER / "functions.sql"

# The job library's tables as its present version makes them. A later version of the library
# brings a migration of its own.
JOB_LIBRARY = FOLDER / "job_library.sql"

SERVICE = "palimpsest_service"
LOG_EDITOR = "palimpsest_log_editor"
OPERATOR = "palimpsest_operator"
JOBS = "palimpsest_jobs"
KEYS = "palimpsest_keys"

# A setting that was reset is an empty string, and no agent has that id.
THE_AGENT = "current_setting('palimpsest.agent', true)"

OPERATIONS = "'ADD', 'UPDATE', 'DELETE', 'MERGE', 'SUPERSEDE', 'NOOP', 'AMEND', 'REVERT', 'ERASE'"
RELATIONS = "'DUPLICATE', 'UPDATE', 'CONTRADICTION', 'RETRACTION', 'COMPLEMENT', 'OVERLAP', 'NONE'"
DECIDERS = "'caller', 'rule', 'signals', 'judge', 'model', 'fallback', 'sweep', 'reviewer', 'agent'"

# --- words -------------------------------------------------------------------------------------

# Thai, signs such as "々", Japanese syllables, Chinese characters, Korean and narrow syllables.
UNSPACED = r"\u0e00-\u0e7f\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff66-\uff9f"

# Return the text with pairs of such characters as words: of "東京都に" these are 東京, 都に and
# 京都. One that stands alone stays as it is. With `singles`, each character is a word besides.
# Postgres takes what stands between two spaces or marks for one word.
PAIR_CHARACTERS = f"""
    CREATE FUNCTION pair_characters(content text, singles boolean) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
        SELECT CASE
            WHEN content !~ '[{UNSPACED}]' THEN content
            ELSE regexp_replace(
                    content,
                    '([{UNSPACED}]{{2}})|(?<=[{UNSPACED}])[{UNSPACED}]|([{UNSPACED}])',
                    ' \\1\\2 ',
                    'g'
                )
                || regexp_replace(
                    regexp_replace(
                        regexp_replace(content, '[^{UNSPACED}]+', ' ', 'g'), '(^| ).', ' ', 'g'
                    ),
                    '([^ ]{{2}})|[^ ]', '\\1 ', 'g'
                )
                || CASE
                    WHEN singles
                    THEN regexp_replace(content, '[^{UNSPACED}]*([{UNSPACED}]?)', '\\1 ', 'g')
                    ELSE ''
                END
        END
    $$
"""

# --- agents and memories -----------------------------------------------------------------------

# The endings by judges count against the cap of an hour from `closures_counted_from` on: what the
# history that a trusted caller loads has ended counts for nothing.
AGENTS = """
    CREATE TABLE agents (
        agent_id text PRIMARY KEY CONSTRAINT agents_id_check CHECK (agent_id <> ''),
        created_at timestamptz NOT NULL,
        last_known_at timestamptz NOT NULL,
        last_erased_at timestamptz,
        mode text CONSTRAINT agents_mode_check CHECK (mode IN ('live', 'shadow', 'frozen')),
        log_folded_until timestamptz,
        log_head bytea,
        timezone text,
        closures_counted_from timestamptz
    )
"""

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

# A temporary version covers what comes before it in its chain, which resumes. `covered` has the
# start and the end of each time in which a version was covered.
COVERED = """
    temporary boolean NOT NULL DEFAULT false,
    covered timestamptz[] NOT NULL DEFAULT '{{}}'
        CONSTRAINT {table}_covered_check CHECK (cardinality(covered) % 2 = 0)
"""

# An erased memory keeps its row, without text, hashes and vector. `embedding_next` takes another
# model's vectors while `embedding` is still read. `dated_by` has the words that date a memory;
# facts that were split from one sentence share `said_in`.
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
        details jsonb NOT NULL CONSTRAINT memories_details_check
            CHECK (jsonb_typeof(details) = 'object'),
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
        {COVERED.format(table="memories")},
        said_at timestamptz,
        dated_by jsonb CONSTRAINT memories_dated_by_check
            CHECK (jsonb_typeof(dated_by) = 'object'),
        said_in uuid,
        lexemes tsvector
            GENERATED ALWAYS AS (to_tsvector(language, pair_characters(content, true))) STORED,
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

# The chain of a version is part of what is believed about it: an accepted temporary fact joins the
# chain of what it covers (docs/decisions/0014).
MEMORY_BELIEFS = f"""
    CREATE TABLE memory_beliefs (
        agent_id text NOT NULL,
        memory_id uuid NOT NULL,
        known_until timestamptz NOT NULL,
        {BELIEF.format(table="memory_beliefs")},
        {COVERED.format(table="memory_beliefs")},
        chain_id uuid NOT NULL,
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

# A slot with these holds one value at a time.
ONE_VALUE = "slot_key IS NOT NULL AND kind <> 'constraint' AND single_valued IS NOT false"

INDEXES_OF_MEMORIES = (
    "memories_chain ON memories (agent_id, chain_id)",
    "memories_fuzzy_hash ON memories (agent_id, fuzzy_hash)",
    "memories_slot ON memories (agent_id, slot_hash) WHERE slot_key IS NOT NULL",
    "memories_warm ON memories (agent_id, valid_until) WHERE NOT cold",
    "memories_created ON memories (agent_id, created_at, id)",
    "memories_derived ON memories (agent_id, derived_hash) WHERE derived_hash IS NOT NULL",
    "memories_session ON memories (agent_id, session_id) WHERE session_id IS NOT NULL",
    "memories_project ON memories (agent_id, project) WHERE project IS NOT NULL",
    "memories_look_again ON memories (agent_id, id) WHERE look_again IS NOT NULL",
    "memories_superseded_by ON memories (agent_id, superseded_by) WHERE superseded_by IS NOT NULL",
    # What had begun by a time, so that a read of a time with few memories is quick. Every memory is
    # in it. The condition keeps statements about the present from it, for which it would be the
    # worse index, though the planner cannot know that.
    "memories_valid_from ON memories (agent_id, valid_from) WHERE revision >= 0",
    # Of what became known after the time of a list, only versions that start before they became
    # known can have held then.
    """
        memories_backdated ON memories (agent_id, created_at, id, valid_from)
        WHERE valid_from < created_at
    """,
    # An erasure looks for merged memories.
    "memories_merged ON memories (agent_id, id) WHERE merged_from <> '{}'",
    # What a context may begin with. These are few of an agent's memories, so the indexes are small.
    """
        memories_constraints ON memories (agent_id, created_at)
        WHERE kind = 'constraint' AND NOT cold
    """,
    "memories_core ON memories (agent_id, created_at) WHERE tier = 'core' AND NOT cold",
    """
        memories_important ON memories (agent_id, importance, created_at)
        WHERE importance > 0.5 AND NOT cold
    """,
    # What was used last, as well. The condition keeps look-ups of a memory's counters from it:
    # while the table is empty, Postgres finds both of its indexes equally good, and a plan made
    # then read all counters of the agent at each look-up.
    """
        memory_usage_used ON memory_usage (agent_id, last_accessed_at)
        WHERE last_accessed_at IS NOT NULL
    """,
    # Covering indexes for insights: a memory with its vector fills a quarter of a page, so that
    # reading the rows of a large agent takes ten times as long as reading the few columns that
    # insights are about.
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
    # Temporary versions may leave the chains of others.
    """
        memory_beliefs_elsewhere ON memory_beliefs (agent_id, chain_id)
        WHERE temporary AND chain_id <> memory_id
    """,
    "memory_relationships_target ON memory_relationships (agent_id, target_id)",
    """
        memory_relationships_binding ON memory_relationships (agent_id)
        WHERE type IN
            ('merged_into', 'expands', 'sequential', 'causes', 'enables', 'references')
    """,
)

# --- the log -----------------------------------------------------------------------------------

# `opinions` are those of all judges, next to the decision. Only operations that an import brings
# from before there were any have something in `vetoed`. The log of an agent is a chain of hashes:
# the columns of a link are all there or all missing. The salt goes when the content is erased.
CONSOLIDATION_LOG = f"""
    CREATE TABLE consolidation_log (
        agent_id text NOT NULL CONSTRAINT consolidation_log_agent_fkey REFERENCES agents,
        id uuid NOT NULL,
        operation text NOT NULL CONSTRAINT consolidation_log_operation_check
            CHECK (operation IN ({OPERATIONS})),
        source_memory_ids uuid[] NOT NULL,
        target_memory_id uuid,
        relation text NOT NULL CONSTRAINT consolidation_log_relation_check
            CHECK (relation IN ({RELATIONS})),
        confidence double precision NOT NULL CONSTRAINT consolidation_log_confidence_check
            CHECK (confidence BETWEEN 0 AND 1),
        reasoning text NOT NULL,
        signals jsonb NOT NULL CONSTRAINT consolidation_log_signals_check
            CHECK (jsonb_typeof(signals) = 'array'),
        decided_by text NOT NULL CONSTRAINT consolidation_log_decided_by_check
            CHECK (decided_by IN ({DECIDERS})),
        incoming jsonb CONSTRAINT consolidation_log_incoming_check
            CHECK (jsonb_typeof(incoming) = 'object'),
        before_state jsonb NOT NULL CONSTRAINT consolidation_log_before_state_check
            CHECK (jsonb_typeof(before_state) = 'array'),
        after_state jsonb NOT NULL CONSTRAINT consolidation_log_after_state_check
            CHECK (jsonb_typeof(after_state) = 'array'),
        model text,
        prompt_version text,
        usage jsonb CONSTRAINT consolidation_log_usage_check
            CHECK (jsonb_typeof(usage) = 'object'),
        duration_ms double precision,
        session_id text,
        request_id text,
        created_at timestamptz NOT NULL,
        reverts uuid,
        reverted_by uuid,
        vetoed jsonb NOT NULL DEFAULT '[]' CONSTRAINT consolidation_log_vetoed_check
            CHECK (jsonb_typeof(vetoed) = 'array'),
        signal_names jsonb
            GENERATED ALWAYS AS (jsonb_path_query_array(signals, '$[*].name')) STORED,
        actor text,
        previous_hash bytea,
        hash bytea,
        content_digest bytea,
        content_salt bytea,
        opinions jsonb CONSTRAINT consolidation_log_opinions_check
            CHECK (jsonb_typeof(opinions) = 'array'),
        CONSTRAINT consolidation_log_pkey PRIMARY KEY (agent_id, id),
        CONSTRAINT consolidation_log_chain_check
            CHECK (num_nonnulls(previous_hash, hash, content_digest) IN (0, 3))
    )
"""

# What the archived operations of the log left of each memory.
LOG_CHECKPOINTS = """
    CREATE TABLE log_checkpoints (
        agent_id text NOT NULL,
        memory_id uuid NOT NULL,
        told jsonb NOT NULL CONSTRAINT log_checkpoints_told_check
            CHECK (jsonb_typeof(told) = 'object'),
        sealed jsonb NOT NULL CONSTRAINT log_checkpoints_sealed_check
            CHECK (jsonb_typeof(sealed) = 'object'),
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

FOLDED_OPERATIONS = f"""
    CREATE TABLE folded_operations (
        agent_id text NOT NULL CONSTRAINT folded_operations_agent_fkey REFERENCES agents,
        id uuid NOT NULL,
        archive_id uuid,
        operation text NOT NULL CONSTRAINT folded_operations_operation_check
            CHECK (operation IN ({OPERATIONS})),
        decided_by text NOT NULL CONSTRAINT folded_operations_decided_by_check
            CHECK (decided_by IN ({DECIDERS})),
        request_id text,
        memory_ids uuid[] NOT NULL,
        stands boolean NOT NULL,
        proposed boolean NOT NULL,
        created_at timestamptz NOT NULL,
        actor text,
        previous_hash bytea,
        hash bytea,
        CONSTRAINT folded_operations_pkey PRIMARY KEY (agent_id, id),
        CONSTRAINT folded_operations_archive_fkey
            FOREIGN KEY (agent_id, archive_id) REFERENCES log_archives
    )
"""

# The table in which an erasure edits operations that left the log. It is no temporary table:
# on a cluster no statement can join one with the rows of an agent. The rows of a file come in and
# go within one transaction, so others always see the table empty.
ARCHIVED_LOG = """
    CREATE TABLE archived_log (
        LIKE consolidation_log,
        CONSTRAINT archived_log_pkey PRIMARY KEY (agent_id, id),
        CONSTRAINT archived_log_agent_fkey FOREIGN KEY (agent_id) REFERENCES agents
    )
"""
WITHOUT_NAMES = "ALTER TABLE archived_log DROP COLUMN signal_names"

# `app/store/tables.py` has the conditions of these indexes in words.
INDEXES_OF_LOG = (
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
    # The number of operations within an hour by which judges end memories.
    """
        consolidation_log_closures ON consolidation_log (agent_id, created_at)
        WHERE relation NOT IN ('NONE', 'OVERLAP') AND (
            (decided_by IN ('signals', 'judge', 'model', 'agent')
                AND operation NOT IN ('ADD', 'NOOP', 'AMEND'))
            OR (decided_by = 'sweep' AND (signals <> '[]' OR model IS NOT NULL))
        )
    """,
    # Two covering indexes for insights, as of memories: an operation with its states fills a
    # quarter of a page, too.
    """
        consolidation_log_signals ON consolidation_log (agent_id, signal_names, created_at, id)
        INCLUDE (reverted_by)
        WHERE signal_names <> '[]' AND relation NOT IN ('NONE', 'OVERLAP')
            AND decided_by NOT IN ('reviewer', 'agent')
    """,
    """
        consolidation_log_decided
        ON consolidation_log (agent_id, decided_by, confidence, created_at, id)
        INCLUDE (operation, reverted_by)
        WHERE decided_by NOT IN ('caller', 'reviewer')
            AND (operation <> 'NOOP' OR relation <> 'NONE')
    """,
    # An erasure looks for operations that quote texts.
    """
        consolidation_log_opinions ON consolidation_log (agent_id, created_at, id)
        WHERE coalesce(opinions, vetoed) <> '[]'
    """,
    """
        consolidation_log_troubled ON consolidation_log (agent_id, id)
        WHERE jsonb_typeof(usage -> 'trouble') = 'string'
    """,
    "folded_operations_created ON folded_operations (agent_id, created_at)",
    "folded_operations_undone ON folded_operations (agent_id, created_at) WHERE NOT stands",
)

# --- reviews -----------------------------------------------------------------------------------

# A review outlives its operation in the log, so `log_id` references nothing. Import and doctor
# see to it that it names an operation of the log or a folded one. `shown` counts how often a
# context showed the review.
REVIEWS = f"""
    CREATE TABLE reviews (
        agent_id text NOT NULL CONSTRAINT reviews_agent_fkey REFERENCES agents,
        id uuid NOT NULL,
        status text NOT NULL CONSTRAINT reviews_status_check
            CHECK (status IN ('pending', 'accepted', 'rejected', 'expired', 'overtaken')),
        source text NOT NULL CONSTRAINT reviews_source_check CHECK (source IN (
            'low_confidence', 'shadow', 'frozen', 'constraint', 'cap', 'trust', 'sweep',
            'fallback', 'judges_disagree'
        )),
        relation text NOT NULL CONSTRAINT reviews_relation_check
            CHECK (relation IN ({RELATIONS})),
        memory_id uuid,
        log_id uuid,
        judgments jsonb NOT NULL CONSTRAINT reviews_judgments_check
            CHECK (jsonb_typeof(judgments) = 'array'),
        relied_on jsonb NOT NULL CONSTRAINT reviews_relied_on_check
            CHECK (jsonb_typeof(relied_on) = 'object'),
        created_at timestamptz NOT NULL,
        said jsonb CONSTRAINT reviews_said_check CHECK (jsonb_typeof(said) = 'object'),
        incoming jsonb CONSTRAINT reviews_incoming_check
            CHECK (jsonb_typeof(incoming) = 'object'),
        note text,
        decided_at timestamptz,
        decision_log_id uuid,
        shown integer NOT NULL DEFAULT 0,
        CONSTRAINT reviews_pkey PRIMARY KEY (agent_id, id),
        CONSTRAINT reviews_memory_fkey
            FOREIGN KEY (agent_id, memory_id) REFERENCES memories
    )
"""

INDEXES_OF_REVIEWS = (
    "reviews_created ON reviews (agent_id, status, created_at, id)",
    "reviews_memory ON reviews (agent_id, memory_id)",
    # The review that an operation left, for the feed of events.
    "reviews_log ON reviews (agent_id, log_id) WHERE log_id IS NOT NULL",
)

# --- sweeps ------------------------------------------------------------------------------------

SWEEPS = """
    CREATE TABLE sweeps (
        agent_id text NOT NULL CONSTRAINT sweeps_agent_fkey REFERENCES agents,
        id uuid NOT NULL,
        status text NOT NULL CONSTRAINT sweeps_status_check
            CHECK (status IN ('queued', 'running', 'done', 'failed', 'cancelled')),
        origin text NOT NULL CONSTRAINT sweeps_origin_check
            CHECK (origin IN ('store', 'request', 'schedule')),
        slot jsonb CONSTRAINT sweeps_slot_check CHECK (jsonb_typeof(slot) = 'object'),
        slot_hash bytea,
        since timestamptz,
        dry_run boolean NOT NULL,
        total integer,
        examined integer NOT NULL,
        counts jsonb NOT NULL CONSTRAINT sweeps_counts_check
            CHECK (jsonb_typeof(counts) = 'object'),
        findings jsonb NOT NULL CONSTRAINT sweeps_findings_check
            CHECK (jsonb_typeof(findings) = 'array'),
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

INDEXES_OF_SWEEPS = (
    "sweeps_created ON sweeps (agent_id, created_at, id)",
    "sweeps_open ON sweeps (agent_id, id) WHERE status IN ('queued', 'running')",
)

# --- captures ----------------------------------------------------------------------------------

# The messages that facts are read from: a capture holds those of one call. It may wait until
# `due_at` for further messages of its session, so that all are read at once.
CAPTURES = """
    CREATE TABLE captures (
        agent_id text NOT NULL CONSTRAINT captures_agent_fkey REFERENCES agents,
        id uuid NOT NULL,
        session_id text,
        state text NOT NULL CONSTRAINT captures_state
            CHECK (state IN ('pending', 'done', 'failed')),
        extract text NOT NULL CONSTRAINT captures_extract
            CHECK (extract IN ('network', 'model', 'off')),
        split boolean NOT NULL,
        trust smallint NOT NULL CONSTRAINT captures_trust CHECK (trust BETWEEN 0 AND 100),
        may_end_stated boolean NOT NULL,
        extractor text CONSTRAINT captures_extractor_check
            CHECK (extractor IN ('network', 'model', 'off')),
        trouble text,
        actor text NOT NULL,
        request_id text,
        turns integer NOT NULL,
        repeated integer NOT NULL,
        redacted integer NOT NULL,
        received_at timestamptz NOT NULL,
        finished_at timestamptz,
        runner uuid,
        alive_at timestamptz,
        failures integer NOT NULL,
        error text,
        due_at timestamptz,
        CONSTRAINT captures_pkey PRIMARY KEY (agent_id, id)
    )
"""

# The dates of a turn begin at the midnight of its speaker: `offset_minutes` is the offset in which
# it was said. Messages are searched by their words, by who said them, and by meaning; a worker
# makes their vectors, the newest first.
TURNS = """
    CREATE TABLE turns (
        agent_id text NOT NULL,
        id uuid NOT NULL,
        capture_id uuid NOT NULL,
        position integer NOT NULL,
        session_id text,
        message_id text,
        role text NOT NULL CONSTRAINT turns_role
            CHECK (role IN ('user', 'assistant', 'system', 'tool')),
        name text,
        content text,
        said_at timestamptz NOT NULL,
        received_at timestamptz NOT NULL,
        done boolean NOT NULL,
        skipped jsonb NOT NULL CONSTRAINT turns_skipped_check
            CHECK (jsonb_typeof(skipped) = 'array'),
        offset_minutes smallint CONSTRAINT turns_offset_minutes_check
            CHECK (offset_minutes BETWEEN -1439 AND 1439),
        language regconfig NOT NULL,
        lexemes tsvector GENERATED ALWAYS AS (
            to_tsvector(language, pair_characters(coalesce(name || ' ', '') || content, true))
        ) STORED,
        embedding halfvec,
        CONSTRAINT turns_pkey PRIMARY KEY (agent_id, id),
        CONSTRAINT turns_position UNIQUE (agent_id, capture_id, position),
        CONSTRAINT turns_capture_fkey FOREIGN KEY (agent_id, capture_id) REFERENCES captures,
        CONSTRAINT turns_open CHECK (done OR content IS NOT NULL),
        CONSTRAINT turns_embedding CHECK (content IS NOT NULL OR embedding IS NULL)
    )
"""

CAPTURED_FACTS = f"""
    CREATE TABLE captured_facts (
        agent_id text NOT NULL,
        id uuid NOT NULL,
        turn_id uuid NOT NULL,
        place integer NOT NULL,
        content text,
        quotes jsonb NOT NULL CONSTRAINT captured_facts_quotes_check
            CHECK (jsonb_typeof(quotes) = 'array'),
        operation text CONSTRAINT captured_facts_operation_check
            CHECK (operation IN ({OPERATIONS})),
        memory_id uuid,
        log_id uuid,
        review_id uuid,
        problem text,
        CONSTRAINT captured_facts_pkey PRIMARY KEY (agent_id, id),
        CONSTRAINT captured_facts_turn_fkey FOREIGN KEY (agent_id, turn_id) REFERENCES turns,
        CONSTRAINT captured_facts_memory_fkey
            FOREIGN KEY (agent_id, memory_id) REFERENCES memories
    )
"""

INDEXES_OF_CAPTURES = (
    "captures_open ON captures (agent_id, id) WHERE state = 'pending'",
    "captures_received ON captures (agent_id, received_at, id)",
    "turns_session ON turns (agent_id, session_id, id)",
    "turns_received ON turns (agent_id, received_at) WHERE content IS NOT NULL",
    "turns_unembedded ON turns (id) WHERE embedding IS NULL AND content IS NOT NULL",
    "captured_facts_turn ON captured_facts (agent_id, turn_id, place)",
    "captured_facts_memory ON captured_facts (agent_id, memory_id)",
)

UNIQUE_MESSAGES = """
    CREATE UNIQUE INDEX turns_message ON turns (agent_id, session_id, message_id)
    WHERE message_id IS NOT NULL
"""

# --- retries -----------------------------------------------------------------------------------

# Erase takes the answer, which repeats the stored text, and the fingerprint, which is a hash of
# the text that was sent. Of a key only its hash is stored.
IDEMPOTENCY_KEYS = """
    CREATE TABLE idempotency_keys (
        agent_id text NOT NULL CONSTRAINT idempotency_keys_agent_fkey REFERENCES agents,
        key_hash bytea CONSTRAINT idempotency_keys_key_not_null NOT NULL,
        fingerprint bytea,
        status smallint NOT NULL,
        headers jsonb NOT NULL CONSTRAINT idempotency_keys_headers_check
            CHECK (jsonb_typeof(headers) = 'object'),
        answer bytea,
        mentioned_ids uuid[] NOT NULL,
        created_at timestamptz NOT NULL,
        CONSTRAINT idempotency_keys_pkey PRIMARY KEY (agent_id, key_hash),
        CONSTRAINT idempotency_keys_fingerprint_check
            CHECK (fingerprint IS NOT NULL OR answer IS NULL)
    )
"""

INDEXES_OF_RETRIES = ("idempotency_keys_created ON idempotency_keys (agent_id, created_at)",)

# --- the database as a whole -------------------------------------------------------------------
# Of these tables, no agent comes first in the keys.

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

# The secret itself is nowhere: a caller sees it once, when the key is issued.
API_KEYS = """
    CREATE TABLE api_keys (
        id text CONSTRAINT api_keys_pkey PRIMARY KEY
            CONSTRAINT api_keys_id_check CHECK (id ~ '^[0-9a-f]{16}$'),
        secret_hash bytea NOT NULL
            CONSTRAINT api_keys_secret_hash_check CHECK (octet_length(secret_hash) = 32),
        name text NOT NULL,
        scopes text[] NOT NULL CONSTRAINT api_keys_scopes_check
            CHECK (scopes <@ ARRAY['read', 'write', 'review', 'erase', 'admin']),
        agents text[] NOT NULL,
        trust_ceiling smallint NOT NULL CONSTRAINT api_keys_trust_ceiling_check
            CHECK (trust_ceiling BETWEEN 0 AND 100),
        created_at timestamptz NOT NULL,
        created_by text NOT NULL,
        expires_at timestamptz,
        revoked_at timestamptz,
        last_used_at timestamptz
    )
"""

# The key of a session is encrypted under its cookie, of which only the hash is here.
CONSOLE_SESSIONS = """
    CREATE TABLE console_sessions (
        cookie_hash bytea CONSTRAINT console_sessions_pkey PRIMARY KEY
            CONSTRAINT console_sessions_cookie_hash_check CHECK (octet_length(cookie_hash) = 32),
        sealed_key bytea NOT NULL,
        actor text NOT NULL,
        expires_at timestamptz NOT NULL
    )
"""

# A webhook may be for many agents, and ends with the key that created it. The secret itself is
# stored, because it signs what is sent. `failures` counts those in a row.
WEBHOOKS = """
    CREATE TABLE webhooks (
        id uuid CONSTRAINT webhooks_pkey PRIMARY KEY,
        agents text NOT NULL,
        url text NOT NULL,
        operations text[] NOT NULL,
        secret bytea NOT NULL
            CONSTRAINT webhooks_secret_check CHECK (octet_length(secret) BETWEEN 24 AND 64),
        created_at timestamptz NOT NULL,
        created_by text NOT NULL,
        failures integer NOT NULL,
        next_try_at timestamptz,
        disabled_at timestamptz,
        disabled_because text,
        runner uuid,
        alive_at timestamptz,
        expires_at timestamptz
    )
"""

# How far a webhook has come with an agent. Without a row, it begins when it was created.
WEBHOOK_POSITIONS = """
    CREATE TABLE webhook_positions (
        webhook_id uuid NOT NULL CONSTRAINT webhook_positions_webhook_fkey
            REFERENCES webhooks ON DELETE CASCADE,
        agent text NOT NULL,
        at timestamptz NOT NULL,
        id uuid NOT NULL,
        unreadable_since timestamptz,
        next_try_at timestamptz,
        CONSTRAINT webhook_positions_pkey PRIMARY KEY (webhook_id, agent)
    )
"""

# The last tries of each webhook. A ping has no agent.
WEBHOOK_DELIVERIES = """
    CREATE TABLE webhook_deliveries (
        webhook_id uuid NOT NULL CONSTRAINT webhook_deliveries_webhook_fkey
            REFERENCES webhooks ON DELETE CASCADE,
        id uuid NOT NULL,
        message_id text NOT NULL,
        type text NOT NULL,
        agent text,
        attempt integer NOT NULL,
        at timestamptz NOT NULL,
        status smallint,
        problem text,
        duration_ms double precision NOT NULL,
        CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (webhook_id, id)
    )
"""

INDEXES_OF_WEBHOOKS = (
    """
        webhook_positions_unreadable ON webhook_positions (agent)
        WHERE unreadable_since IS NOT NULL
    """,
)

# --- indexes of large agents -------------------------------------------------------------------
# A large agent has a table of its own (docs/decisions/0017), a partition of `indexed_memories`,
# with a copy of what search needs of each memory and an HNSW, a text and two btree indexes over it.
# So no agent pays for the index of another, and no write of a memory touches one.

# An agent that has an index. The index has the memories up to (`covers_until`, `covers_id`), in
# order of `created_at` and id. `memories` and `live` are the numbers of memories in it, and of
# those that held, when it was last counted. `stats` are the agent's figures. `insights` are the
# rows of each section as of `insights_as_of`, and name the memories, operations and reviews in
# `insights_ids`. `…_seconds` are those that counting took.
AGENT_INDEXES = """
    CREATE TABLE agent_indexes (
        agent_id text NOT NULL CONSTRAINT agent_indexes_pkey PRIMARY KEY
            CONSTRAINT agent_indexes_agent_fkey REFERENCES agents,
        covers_until timestamptz NOT NULL,
        covers_id uuid NOT NULL,
        memories bigint NOT NULL,
        live bigint NOT NULL,
        built_at timestamptz NOT NULL,
        counted_at timestamptz NOT NULL,
        stats jsonb CONSTRAINT agent_indexes_stats_check CHECK (jsonb_typeof(stats) = 'object'),
        stats_seconds double precision,
        strengths_as_of timestamptz,
        strengths_seconds double precision,
        insights jsonb CONSTRAINT agent_indexes_insights_check
            CHECK (jsonb_typeof(insights) = 'object'),
        insights_ids uuid[],
        insights_as_of timestamptz,
        insights_seconds double precision
    )
"""

INDEXED_MEMORIES = """
    CREATE TABLE indexed_memories (
        agent_id text NOT NULL,
        id uuid NOT NULL,
        created_at timestamptz NOT NULL,
        slot_category text NOT NULL,
        embedding halfvec NOT NULL,
        lexemes tsvector NOT NULL
    ) PARTITION BY LIST (agent_id)
"""

# The words that many memories of an agent have. A word is known by its hash alone, so that nothing
# has to be erased here.
FREQUENT_WORDS = """
    CREATE TABLE frequent_words (
        agent_id text NOT NULL CONSTRAINT frequent_words_agent_fkey REFERENCES agents,
        word bigint NOT NULL,
        memories bigint NOT NULL,
        CONSTRAINT frequent_words_pkey PRIMARY KEY (agent_id, word)
    )
"""

# The memories of an agent, the strongest first, as of a time: a thousand in a row. All that became
# known until `counted_until` are there. `last_strength` and `last_id` are the last ones of the row.
COUNTED_STRENGTHS = """
    CREATE TABLE counted_strengths (
        agent_id text NOT NULL CONSTRAINT counted_strengths_agent_fkey REFERENCES agents,
        as_of timestamptz NOT NULL,
        place integer NOT NULL,
        counted_until timestamptz NOT NULL,
        ids uuid[] NOT NULL,
        strengths double precision[] NOT NULL,
        last_strength double precision NOT NULL,
        last_id uuid NOT NULL,
        CONSTRAINT counted_strengths_pkey PRIMARY KEY (agent_id, as_of, place)
    )
"""

# --- statistics --------------------------------------------------------------------------------
# ANALYZE copies values of columns into `pg_statistic`, where they would outlive an erasure. So
# columns of texts have no statistics unless the planner needs them. Erasing makes those anew.

# Everything that erasing empties: texts, and what is made from them.
TEXTS = {
    "memories": (
        *("entity", "category", "key", "slot_entity", "slot_category", "slot_key", "slot_hash"),
        *("content", "value", "details", "dated_by", "tags", "entities", "sources", "source"),
        *("session_id", "project", "content_hash", "fuzzy_hash", "folded_hash", "value_hash"),
        *("embedding", "embedding_next", "lexemes", "derived_entity", "derived_key"),
        *("derived_value", "derived_hash", "look_again"),
    ),
    "consolidation_log": (
        *("content_salt", "reasoning", "signals", "incoming", "before_state", "after_state"),
        *("usage", "session_id", "opinions", "vetoed"),
    ),
    "reviews": ("judgments", "said", "incoming", "note"),
    "log_checkpoints": ("sealed",),
    "sweeps": ("slot", "slot_hash"),
    "captures": ("session_id", "trouble"),
    "turns": ("session_id", "message_id", "name", "content"),
    "captured_facts": ("content",),
    "idempotency_keys": ("fingerprint", "answer"),
    "agent_indexes": ("insights",),
    "indexed_memories": ("slot_category", "embedding", "lexemes"),
}

# What else is made from texts, of which one server has no statistics.
MADE_FROM_TURNS = ("lexemes", "embedding")

# An index is searched by these columns, or has only the rows in which they have a value.
ESTIMATED = {
    "memories": {
        *("slot_key", "slot_hash", "session_id", "project", "fuzzy_hash", "derived_hash"),
        "look_again",
    },
    "consolidation_log": {"session_id"},
    "turns": {"session_id", "message_id", "content"},
}

EVERY_TEXT = ", ".join(f"('{table}', '{name}')" for table, names in TEXTS.items() for name in names)

# Make the statistics of texts anew, in the transaction that erases. A new row of them replaces what
# was erased once that transaction commits.
REFRESH_TEXT_STATISTICS = f"""
    CREATE FUNCTION refresh_text_statistics() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT
    SET default_statistics_target = 10
    AS $$
    DECLARE
        one record;
    BEGIN
        FOR one IN
            SELECT
                a.attrelid::regclass AS name,
                string_agg(quote_ident(a.attname), ', ') AS columns
            FROM (VALUES {EVERY_TEXT}) AS of_text (relation, name)
            JOIN pg_attribute a
                ON a.attrelid = CAST(of_text.relation AS regclass) AND a.attname = of_text.name
            WHERE a.attstattarget IS DISTINCT FROM 0
            GROUP BY a.attrelid
            ORDER BY a.attrelid
        LOOP
            EXECUTE format('ANALYZE %s (%s)', one.name, one.columns);
        END LOOP;
    END
    $$
"""

# --- rights ------------------------------------------------------------------------------------

# The tables that hold agents, and what the service may do there. The log's editor may do the same.
PRIVILEGES = {
    "agents": "SELECT, INSERT, UPDATE",
    "memories": "SELECT, INSERT, UPDATE",
    "memory_beliefs": "SELECT, INSERT, UPDATE",
    "memory_usage": "SELECT, INSERT, UPDATE",
    "memory_relationships": "SELECT, INSERT, UPDATE, DELETE",
    "consolidation_log": "SELECT, INSERT",
    "log_checkpoints": "SELECT, INSERT",
    "log_archives": "SELECT, INSERT",
    "folded_operations": "SELECT, INSERT",
    "archived_log": "SELECT",
    "reviews": "SELECT, INSERT, UPDATE",
    "sweeps": "SELECT, INSERT, UPDATE, DELETE",
    "captures": "SELECT, INSERT, UPDATE",
    "turns": "SELECT, INSERT, UPDATE",
    "captured_facts": "SELECT, INSERT, UPDATE",
    "idempotency_keys": "SELECT, INSERT, UPDATE, DELETE",
    "agent_indexes": "SELECT, INSERT, UPDATE, DELETE",
    "indexed_memories": "SELECT, INSERT, DELETE",
    "frequent_words": "SELECT, INSERT, DELETE",
    "counted_strengths": "SELECT, INSERT, DELETE",
}

# What only the log's editor may do.
EDITING = {
    "consolidation_log": "UPDATE, DELETE",
    "log_checkpoints": "UPDATE",
    "log_archives": "UPDATE",
    "folded_operations": "UPDATE",
    "archived_log": "INSERT, UPDATE, DELETE",
}

# The operator, who finds the webhooks that are due and whose they are, because keys take turns,
# sees neither addresses nor secrets.
FOUND_BY_OPERATOR = (
    "id, agents, created_at, created_by, next_try_at, disabled_at, alive_at, expires_at"
)

# Who may call a function, other than its owner. Everybody may call those that are not here.
CALLERS = {
    "claim_encoder(text, integer, text)": OPERATOR,
    "refresh_statistics()": OPERATOR,
    "refresh_text_statistics()": LOG_EDITOR,
    "set_vector_storage(text, text)": None,
    "drop_every_index_table()": None,
    "name_index_table()": SERVICE,
    "create_index_table()": SERVICE,
    "build_index_table(integer, text)": SERVICE,
    "attach_index_table()": SERVICE,
    "drop_index_table()": SERVICE,
    "quote_lexeme(text)": SERVICE,
    "choose_words(regconfig, text, integer, integer)": SERVICE,
}

# The functions of the operator, which the service may call.
OF_OPERATOR = (
    "operations_on(uuid[])",
    "find_nearest_indexed(vector, integer)",
    "find_indexed_by_words(tsquery, tsquery, vector, integer, integer)",
    "find_indexed_of_category(text, integer)",
    "count_indexed_by_words(tsquery, integer)",
)

OF_EVERYBODY = (
    "pair_characters(text, boolean)",
    "set_on_every_node(text, text)",
    "move_incoming(text, text, text[])",
)

# --- up ----------------------------------------------------------------------------------------

TABLES = {
    "agents": AGENTS,
    "memories": MEMORIES,
    "memory_beliefs": MEMORY_BELIEFS,
    "memory_usage": MEMORY_USAGE,
    "memory_relationships": MEMORY_RELATIONSHIPS,
    "consolidation_log": CONSOLIDATION_LOG,
    "log_checkpoints": LOG_CHECKPOINTS,
    "log_archives": LOG_ARCHIVES,
    "folded_operations": FOLDED_OPERATIONS,
    "archived_log": ARCHIVED_LOG,
    "reviews": REVIEWS,
    "sweeps": SWEEPS,
    "captures": CAPTURES,
    "turns": TURNS,
    "captured_facts": CAPTURED_FACTS,
    "idempotency_keys": IDEMPOTENCY_KEYS,
    "encoder": ENCODER,
    "api_keys": API_KEYS,
    "console_sessions": CONSOLE_SESSIONS,
    "webhooks": WEBHOOKS,
    "webhook_positions": WEBHOOK_POSITIONS,
    "webhook_deliveries": WEBHOOK_DELIVERIES,
    "agent_indexes": AGENT_INDEXES,
    "indexed_memories": INDEXED_MEMORIES,
    "frequent_words": FREQUENT_WORDS,
    "counted_strengths": COUNTED_STRENGTHS,
}

INDEXES = (
    *INDEXES_OF_MEMORIES,
    *INDEXES_OF_LOG,
    *INDEXES_OF_REVIEWS,
    *INDEXES_OF_SWEEPS,
    *INDEXES_OF_CAPTURES,
    *INDEXES_OF_RETRIES,
    *INDEXES_OF_WEBHOOKS,
)


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(PAIR_CHARACTERS)
    for create in TABLES.values():
        op.execute(create)
    for change in (VECTORS_IN_THE_ROW, WORDS_IN_THE_ROW, WITHOUT_NAMES):
        op.execute(change)
    for index in INDEXES:
        op.execute(f"CREATE INDEX {index}")
    op.execute(UNIQUE_MESSAGES)
    op.execute(FUNCTIONS.read_text())
    op.execute(REFRESH_TEXT_STATISTICS)
    keep_texts_out_of_statistics()
    create_job_library_tables()
    isolate_agents()
    isolate_keys()
    isolate_webhooks()
    hide_encoder()
    op.execute(f"GRANT SELECT ON alembic_version TO {OPERATOR}")
    # Many rows come in through a temporary table, because row-level security rules out COPY.
    op.execute(f"GRANT TEMPORARY ON DATABASE {read_name('current_database()')} TO {SERVICE}")
    open_queue()
    open_functions()


def keep_texts_out_of_statistics() -> None:
    """Citus has no such command for its tables."""
    cluster = "SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL"
    if op.get_bind().exec_driver_sql(cluster).scalar():
        return
    for table, names in (*TEXTS.items(), ("turns", MADE_FROM_TURNS)):
        for name in names:
            if name not in ESTIMATED.get(table, ()):
                op.execute(f"ALTER TABLE ONLY {table} ALTER COLUMN {name} SET STATISTICS 0")


def create_job_library_tables() -> None:
    connection = op.get_bind()
    path = connection.exec_driver_sql("SELECT current_setting('search_path')").scalar()
    op.execute("CREATE SCHEMA jobs")
    op.execute("SET LOCAL search_path TO jobs")
    # It goes to the driver as it is: SQLAlchemy looks for parameters in what it is given.
    connection.connection.cursor().execute(JOB_LIBRARY.read_text())
    connection.exec_driver_sql("SELECT set_config('search_path', %(path)s, true)", {"path": path})


def isolate_agents() -> None:
    """Isolate agents, under roles that are neither owner nor superuser."""
    for table, privileges in PRIVILEGES.items():
        force_row_security(table)
        op.execute(
            f"CREATE POLICY one_agent ON {table} TO {SERVICE} USING (agent_id = {THE_AGENT})"
        )
        op.execute(f"CREATE POLICY every_agent ON {table} FOR SELECT TO {OPERATOR} USING (true)")
        op.execute(f"GRANT {privileges} ON {table} TO {SERVICE}")
        op.execute(f"GRANT SELECT ON {table} TO {OPERATOR}")
    for table, privileges in EDITING.items():
        op.execute(f"GRANT {privileges} ON {table} TO {LOG_EDITOR}")


def force_row_security(table: str) -> None:
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")


def isolate_keys() -> None:
    for table in ("api_keys", "console_sessions"):
        force_row_security(table)
    op.execute(f"CREATE POLICY every_key ON api_keys TO {KEYS} USING (true)")
    op.execute(f"CREATE POLICY every_session ON console_sessions TO {KEYS} USING (true)")
    op.execute(f"GRANT SELECT, INSERT, UPDATE ON api_keys TO {KEYS}")
    op.execute(f"GRANT SELECT, INSERT, DELETE ON console_sessions TO {KEYS}")


def isolate_webhooks() -> None:
    """Let the role of keys read and write webhooks. Erasing an agent removes its own ones."""
    for table in ("webhooks", "webhook_positions", "webhook_deliveries"):
        force_row_security(table)
        op.execute(f"CREATE POLICY every_webhook ON {table} TO {KEYS} USING (true)")
        op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {KEYS}")
    for table in ("webhooks", "webhook_positions"):
        op.execute(f"CREATE POLICY every_agent ON {table} FOR SELECT TO {OPERATOR} USING (true)")
    op.execute(f"GRANT SELECT ({FOUND_BY_OPERATOR}) ON webhooks TO {OPERATOR}")
    op.execute(f"GRANT SELECT ON webhook_positions TO {OPERATOR}")
    op.execute(f"CREATE POLICY one_agent ON webhooks TO {SERVICE} USING (agents = {THE_AGENT})")
    op.execute(f"GRANT SELECT (agents), DELETE ON webhooks TO {SERVICE}")


def hide_encoder() -> None:
    """Show the encoder only to a transaction that has an agent, so that none sees any row."""
    op.execute("ALTER TABLE encoder ENABLE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY some_agent ON encoder TO {SERVICE} USING ({THE_AGENT} <> '')")
    op.execute(f"CREATE POLICY every_agent ON encoder FOR SELECT TO {OPERATOR} USING (true)")
    op.execute(f"GRANT SELECT ON encoder TO {SERVICE}, {OPERATOR}")


def open_queue() -> None:
    op.execute(f"GRANT USAGE ON SCHEMA jobs TO {JOBS}")
    op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA jobs TO {JOBS}")
    op.execute(f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA jobs TO {JOBS}")


def open_functions() -> None:
    for signature, role in {**CALLERS, **dict.fromkeys(OF_OPERATOR, SERVICE)}.items():
        op.execute(f"REVOKE ALL ON FUNCTION {signature} FROM PUBLIC")
        if role:
            op.execute(f"GRANT EXECUTE ON FUNCTION {signature} TO {role}")
    # An owner must have the right to create a function.
    schema = read_name("current_schema()")
    op.execute(f"GRANT CREATE ON SCHEMA {schema} TO {OPERATOR}")
    for signature in OF_OPERATOR:
        op.execute(f"ALTER FUNCTION {signature} OWNER TO {OPERATOR}")
    op.execute(f"REVOKE CREATE ON SCHEMA {schema} FROM {OPERATOR}")


def read_name(expression: str) -> str:
    """Return the name that an expression of SQL gives, quoted."""
    name: str = op.get_bind().exec_driver_sql(f"SELECT quote_ident({expression})").scalar()
    return name


# --- down --------------------------------------------------------------------------------------


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("DROP SCHEMA jobs CASCADE")
    for table in reversed(TABLES):
        op.execute(f"DROP TABLE {table}")
    for signature in (*CALLERS, *OF_EVERYBODY):
        op.execute(f"DROP FUNCTION {signature}")
    op.execute(f"SET LOCAL ROLE {OPERATOR}")  # the owner of these functions
    for signature in OF_OPERATOR:
        op.execute(f"DROP FUNCTION {signature}")
    op.execute("RESET ROLE")
    op.execute(f"REVOKE ALL ON alembic_version FROM {OPERATOR}")
    op.execute(f"REVOKE ALL ON DATABASE {read_name('current_database()')} FROM {SERVICE}")
