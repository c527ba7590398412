"""Give large agents indexes of their own, and find what is strong in them (docs/decisions/0017).

A large agent has a table of its own, a partition of `indexed_memories`, with a copy of what search
needs of each memory and an HNSW, a text and two btree indexes over it. So no agent pays for the
index of another, and no write of a memory touches one.

What a context begins with is found by small indexes over the tables themselves: constraints, core
memories, important ones and those used last.
"""

from alembic import op

revision = "2026_11_24_a"
down_revision = "2026_11_23_c"

SERVICE = "palimpsest_service"
OPERATOR = "palimpsest_operator"

# A setting that was reset is an empty string, and no agent has that id.
THE_AGENT = "current_setting('palimpsest.agent', true)"

# The same inside a text.
THE_QUOTED_AGENT = THE_AGENT.replace("'", "''")

# An agent that has an index. The index has the memories up to (`covers_until`, `covers_id`), in
# order of `created_at` and id. `memories` and `live` are the numbers of memories in it, and of
# those that held, when it was last counted. `stats` are the agent's figures, of which `stats_until`
# is the last known time; counting them took `stats_seconds`.
AGENT_INDEXES = """
    CREATE TABLE agent_indexes (
        agent_id text NOT NULL CONSTRAINT agent_indexes_pkey PRIMARY KEY
            CONSTRAINT agent_indexes_agent_fkey REFERENCES agents (agent_id),
        covers_until timestamptz NOT NULL,
        covers_id uuid NOT NULL,
        memories bigint NOT NULL,
        live bigint NOT NULL,
        built_at timestamptz NOT NULL,
        counted_at timestamptz NOT NULL,
        stats jsonb,
        stats_until timestamptz,
        stats_seconds double precision
    )
"""

# What a context may begin with. These are few of an agent's memories, so the indexes are small.
STRONG_INDEXES = (
    """
    CREATE INDEX memories_constraints ON memories (agent_id, created_at)
    WHERE kind = 'constraint' AND NOT cold
    """,
    """
    CREATE INDEX memories_core ON memories (agent_id, created_at)
    WHERE tier = 'core' AND NOT cold
    """,
    """
    CREATE INDEX memories_important ON memories (agent_id, importance, created_at)
    WHERE importance > 0.5 AND NOT cold
    """,
    "CREATE INDEX memory_usage_used ON memory_usage (agent_id, last_accessed_at)",
)

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
        agent_id text NOT NULL
            CONSTRAINT frequent_words_agent_fkey REFERENCES agents (agent_id),
        word bigint NOT NULL,
        memories bigint NOT NULL,
        CONSTRAINT frequent_words_pkey PRIMARY KEY (agent_id, word)
    )
"""

PRIVILEGES = {
    "agent_indexes": "SELECT, INSERT, UPDATE, DELETE",
    "indexed_memories": "SELECT, INSERT, DELETE",
    "frequent_words": "SELECT, INSERT, DELETE",
}

# --- functions of the owner, who alone may create tables -----------------------------------------

NAME_TABLE = f"""
    CREATE FUNCTION name_index_table() RETURNS text
    LANGUAGE sql STABLE SET search_path FROM CURRENT
    AS $$ SELECT 'indexed_memories_' || left(md5({THE_AGENT}), 16) $$
"""

# Create the table of the agent's index anew. It is no partition yet, so nobody waits for it.
CREATE_TABLE = f"""
    CREATE FUNCTION create_index_table() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
    AS $$
    DECLARE
        own name := name_index_table();
    BEGIN
        EXECUTE format('DROP TABLE IF EXISTS %I', own);
        EXECUTE format(
            'CREATE TABLE %I (LIKE indexed_memories, CHECK (agent_id = %L))', own, {THE_AGENT}
        );
        EXECUTE format(
            'ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', own
        );
        EXECUTE format(
            'CREATE POLICY one_agent ON %I TO {SERVICE} USING (agent_id = {THE_QUOTED_AGENT})', own
        );
        EXECUTE format('GRANT SELECT, INSERT, DELETE ON %I TO {SERVICE}', own);
    END
    $$
"""

# Build the indexes of that table. A vector stays in its row if it fits there.
BUILD_INDEXES = """
    CREATE FUNCTION build_index_table(dimensions integer, memory text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
    AS $$
    DECLARE
        own name := name_index_table();
    BEGIN
        PERFORM set_config('maintenance_work_mem', memory, true);
        EXECUTE format('ALTER TABLE %I ADD PRIMARY KEY (id)', own);
        EXECUTE format('CREATE INDEX ON %I (created_at)', own);
        EXECUTE format('CREATE INDEX ON %I (slot_category, created_at)', own);
        EXECUTE format('CREATE INDEX ON %I USING gin (lexemes) WITH (fastupdate = off)', own);
        EXECUTE format(
            'CREATE INDEX ON %I USING hnsw ((embedding::halfvec(%s)) halfvec_cosine_ops)'
            ' WITH (m = 16, ef_construction = 100)',
            own, dimensions
        );
        EXECUTE format('ANALYZE %I', own);
    END
    $$
"""

# From then on, the policies of `indexed_memories` bind whoever reads it.
ATTACH_TABLE = f"""
    CREATE FUNCTION attach_index_table() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
    AS $$
    DECLARE
        own name := name_index_table();
    BEGIN
        EXECUTE format('REVOKE ALL ON %I FROM {SERVICE}', own);
        EXECUTE format(
            'ALTER TABLE indexed_memories ATTACH PARTITION %I FOR VALUES IN (%L)',
            own, {THE_AGENT}
        );
    END
    $$
"""

DROP_TABLE = """
    CREATE FUNCTION drop_index_table() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
    AS $$
    BEGIN
        EXECUTE format('DROP TABLE IF EXISTS %I', name_index_table());
    END
    $$
"""

# Drop every index, because the vectors in them are of another model from now on.
DROP_EVERY_TABLE = """
    CREATE FUNCTION drop_every_index_table() RETURNS void
    LANGUAGE plpgsql SET search_path FROM CURRENT
    AS $$
    DECLARE
        own regclass;
    BEGIN
        FOR own IN SELECT inhrelid FROM pg_inherits WHERE inhparent = 'indexed_memories'::regclass
        LOOP
            EXECUTE format('DROP TABLE %s', own);
        END LOOP;
        TRUNCATE agent_indexes;
    END
    $$
"""

# --- functions of the operator, whose policy leaves the text index usable ------------------------

# Find the memories whose vectors are the nearest to a vector.
FIND_NEAREST = f"""
    CREATE FUNCTION find_nearest_indexed(query vector, most integer) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 200
    SET search_path FROM CURRENT
    SET enable_seqscan = off
    AS $$
    BEGIN
        PERFORM
            set_config('hnsw.ef_search', least(greatest(most, 200), 1000)::text, true),
            set_config('hnsw.iterative_scan', 'relaxed_order', true);
        RETURN QUERY EXECUTE format(
            'SELECT id FROM indexed_memories WHERE agent_id = %1$L'
            ' ORDER BY (embedding::halfvec(%2$s)) <=> $1::halfvec(%2$s) LIMIT %3$s',
            {THE_AGENT}, vector_dims(query), most
        ) USING query;
    END
    $$
"""

# Find the memories with the chosen words that rank first by all words; those that rank alike by
# their distance from a vector, else the newest first. At most so many are read; beyond that, those
# among the newest are read, too.
FIND_BY_WORDS = f"""
    CREATE FUNCTION find_indexed_by_words(
        chosen tsquery, words tsquery, query vector, most integer, most_read integer
    ) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 200
    SET search_path FROM CURRENT
    AS $$
    BEGIN
        RETURN QUERY EXECUTE format(
            'SELECT id FROM ('
            ' SELECT * FROM (SELECT * FROM indexed_memories'
            '  WHERE agent_id = %1$L AND lexemes @@ $1 LIMIT %2$s) AS first_read'
            ' UNION'
            ' SELECT * FROM (SELECT * FROM indexed_memories'
            '  WHERE agent_id = %1$L ORDER BY created_at DESC LIMIT %2$s / 2) AS newest'
            '  WHERE lexemes @@ $1'
            ') AS matching'
            ' ORDER BY ts_rank(lexemes, $2) DESC, embedding <=> $3::halfvec, created_at DESC'
            ' LIMIT %3$s',
            {THE_AGENT}, most_read, most
        ) USING chosen, words, query;
    END
    $$
"""

# Count the memories with these words, up to a number.
COUNT_BY_WORDS = f"""
    CREATE FUNCTION count_indexed_by_words(words tsquery, most integer) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
    AS $$
    DECLARE
        counted bigint;
    BEGIN
        EXECUTE format(
            'SELECT count(*) FROM ('
            ' SELECT FROM indexed_memories WHERE agent_id = %L AND lexemes @@ $1 LIMIT %s'
            ') AS matching',
            {THE_AGENT}, most
        ) INTO counted USING words;
        RETURN counted;
    END
    $$
"""

# Find the newest memories of a category.
FIND_OF_CATEGORY = f"""
    CREATE FUNCTION find_indexed_of_category(category text, most integer) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 20 SET search_path FROM CURRENT
    AS $$
    BEGIN
        RETURN QUERY EXECUTE format(
            'SELECT id FROM indexed_memories WHERE agent_id = %L AND slot_category = $1'
            ' ORDER BY created_at DESC LIMIT %s',
            {THE_AGENT}, most
        ) USING category;
    END
    $$
"""

# --- functions of the caller ---------------------------------------------------------------------

# Choose the words of a text by which memories are found: rarest first, as long as they are in no
# more than `most` memories together. Where the rarest word alone is in more, memories must have
# several: rarest first, as many words as bring the number down to that. Words go together, so their
# number is counted. A word that leaves fewer than `fewest` memories is not among them.
CHOOSE_WORDS = f"""
    CREATE FUNCTION choose_words(
        language regconfig, content text, fewest integer, most integer
    ) RETURNS tsquery
    LANGUAGE plpgsql STABLE SET search_path FROM CURRENT
    AS $$
    DECLARE
        chosen tsquery := ''::tsquery;
        size bigint := 0;
        narrowed bigint;
        one record;
    BEGIN
        FOR one IN
            SELECT
                CAST(quote_lexeme(lexeme) AS tsquery) AS word,
                coalesce(f.memories, 0) AS memories
            FROM unnest(tsvector_to_array(to_tsvector(language, content))) AS lexeme
            LEFT JOIN frequent_words f
                ON f.agent_id = {THE_AGENT} AND f.word = hashtextextended(lexeme, 0)
            ORDER BY 2, lexeme
        LOOP
            IF numnode(chosen) = 0 THEN
                chosen := one.word;
                size := one.memories;
            ELSIF size > most THEN
                narrowed := count_indexed_by_words(chosen && one.word, most + 1);
                IF narrowed >= fewest THEN
                    chosen := chosen && one.word;
                    size := narrowed;
                END IF;
            ELSE
                size := size + one.memories;
                EXIT WHEN size > most;
                chosen := chosen || one.word;
            END IF;
        END LOOP;
        RETURN chosen;
    END
    $$
"""

# Return a lexeme as a query of this one word, in the syntax of `tsquery`.
QUOTE_LEXEME = r"""
    CREATE FUNCTION quote_lexeme(lexeme text) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$ SELECT '''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''' $$
"""

FOR_OWNER = ("drop_every_index_table()",)
OF_OWNER = (
    "name_index_table()",
    "create_index_table()",
    "build_index_table(integer, text)",
    "attach_index_table()",
    "drop_index_table()",
)
OF_OPERATOR = (
    "find_nearest_indexed(vector, integer)",
    "find_indexed_by_words(tsquery, tsquery, vector, integer, integer)",
    "find_indexed_of_category(text, integer)",
    "count_indexed_by_words(tsquery, integer)",
)
OF_CALLER = ("quote_lexeme(text)", "choose_words(regconfig, text, integer, integer)")


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    for statement in (AGENT_INDEXES, INDEXED_MEMORIES, FREQUENT_WORDS, *STRONG_INDEXES):
        op.execute(statement)
    for table, privileges in PRIVILEGES.items():
        isolate_table(table, privileges)
    create_functions()


def isolate_table(table: str, privileges: str) -> None:
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY one_agent ON {table} TO {SERVICE} USING (agent_id = {THE_AGENT})")
    op.execute(f"CREATE POLICY every_agent ON {table} FOR SELECT TO {OPERATOR} USING (true)")
    op.execute(f"GRANT {privileges} ON {table} TO {SERVICE}")
    op.execute(f"GRANT SELECT ON {table} TO {OPERATOR}")


def create_functions() -> None:
    for function in (
        *(NAME_TABLE, CREATE_TABLE, BUILD_INDEXES, ATTACH_TABLE, DROP_TABLE, DROP_EVERY_TABLE),
        *(FIND_NEAREST, FIND_BY_WORDS, FIND_OF_CATEGORY, COUNT_BY_WORDS),
        *(QUOTE_LEXEME, CHOOSE_WORDS),
    ):
        op.execute(function)
    for signature in (*FOR_OWNER, *OF_OWNER, *OF_OPERATOR, *OF_CALLER):
        op.execute(f"REVOKE ALL ON FUNCTION {signature} FROM PUBLIC")
    for signature in (*OF_OWNER, *OF_OPERATOR, *OF_CALLER):
        op.execute(f"GRANT EXECUTE ON FUNCTION {signature} TO {SERVICE}")
    for signature in OF_OPERATOR:
        give_to_operator(signature)


def give_to_operator(signature: str) -> None:
    """Make the operator the owner of a function. An owner must have the right to create it."""
    schema = read_name("current_schema()")
    op.execute(f"GRANT CREATE ON SCHEMA {schema} TO {OPERATOR}")
    op.execute(f"ALTER FUNCTION {signature} OWNER TO {OPERATOR}")
    op.execute(f"REVOKE CREATE ON SCHEMA {schema} FROM {OPERATOR}")


def read_name(expression: str) -> str:
    """Return the name that an expression of SQL gives, quoted."""
    name: str = op.get_bind().exec_driver_sql(f"SELECT quote_ident({expression})").scalar()
    return name


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    for signature in reversed((*FOR_OWNER, *OF_OWNER, *OF_CALLER)):
        op.execute(f"DROP FUNCTION {signature}")
    op.execute(f"SET LOCAL ROLE {OPERATOR}")  # the owner of these functions
    for signature in OF_OPERATOR:
        op.execute(f"DROP FUNCTION {signature}")
    op.execute("RESET ROLE")
    op.execute("DROP TABLE frequent_words, agent_indexes, indexed_memories")
    op.execute("DROP INDEX memories_constraints, memories_core, memories_important")
    op.execute("DROP INDEX memory_usage_used")
