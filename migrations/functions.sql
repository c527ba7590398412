-- The functions of the database. Those that are made from lists of characters or columns stand with
-- the tables. Roles have their names for the schema `public`.
--
-- A setting that was reset is an empty string, and no agent has that id. So where
-- `palimpsest.agent` is not set, no function finds anything.


-- The log and the model of vectors ----------------------------------------------------------------

-- Find the operations of the agent on some memories. The operator owns this function: under the
-- policy of the service, Postgres would evaluate `&&` only after the policy, and so without its
-- index. The function has the condition of that policy itself.
CREATE FUNCTION operations_on(ids uuid[]) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER ROWS 20 SET search_path FROM CURRENT
AS $$
    SELECT id
    FROM consolidation_log
    WHERE agent_id = current_setting('palimpsest.agent', true)
      AND (target_memory_id = ANY(ids) OR source_memory_ids && ids)
$$;

-- Record the model of the vectors, unless a model is recorded. Only the owner may alter tables.
CREATE FUNCTION claim_encoder(model text, size integer, storage text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    INSERT INTO encoder (the_one, name, dimensions)
    VALUES (true, model, size)
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM set_vector_storage('embedding', storage);
    END IF;
END
$$;

-- Refresh the planner's statistics of the columns that an index has, from few rows: an import waits
-- for it, and plans need no more. Autovacuum makes the others a minute later, because Postgres
-- counts rows as analyzed only if all columns are. A table that somebody else works on is left to
-- it, too. Only its owner may analyze a table.
CREATE FUNCTION refresh_statistics() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
SET default_statistics_target = 10
AS $$
DECLARE
    one record;
BEGIN
    FOR one IN
        SELECT
            i.indrelid::regclass AS name,
            string_agg(DISTINCT quote_ident(a.attname), ', ') AS columns
        FROM pg_index i
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
        WHERE i.indrelid = ANY(CAST(ARRAY[
            'memories', 'memory_beliefs', 'memory_usage', 'memory_relationships',
            'consolidation_log', 'reviews'
        ] AS regclass[]))
        GROUP BY i.indrelid
    LOOP
        EXECUTE format('ANALYZE (SKIP_LOCKED) %s (%s)', one.name, one.columns);
    END LOOP;
END
$$;


-- Indexes of large agents: functions of the owner, who alone may create tables ---------------------

CREATE FUNCTION name_index_table() RETURNS text
LANGUAGE sql STABLE SET search_path FROM CURRENT
AS $$ SELECT 'indexed_memories_' || left(md5(current_setting('palimpsest.agent', true)), 16) $$;

-- Create the table of the agent's index anew. It is no partition yet, so nobody waits for it. Only
-- a table of this schema is dropped: another service of the database may have an agent of the same
-- name, and the path leads on to pgvector's schema, which may be its.
CREATE FUNCTION create_index_table() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    own name := name_index_table();
BEGIN
    EXECUTE format('DROP TABLE IF EXISTS %I.%I', current_schema(), own);
    EXECUTE format(
        'CREATE TABLE %I (LIKE indexed_memories, CHECK (agent_id = %L))',
        own, current_setting('palimpsest.agent', true)
    );
    EXECUTE format(
        'ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', own
    );
    EXECUTE format(
        'CREATE POLICY one_agent ON %I TO palimpsest_service'
        ' USING (agent_id = current_setting(''palimpsest.agent'', true))',
        own
    );
    EXECUTE format('GRANT SELECT, INSERT, DELETE ON %I TO palimpsest_service', own);
END
$$;

-- Build the indexes of that table. A vector stays in its row if it fits there. Nothing but an index
-- searches for words, vectors and categories there, so the planner needs no statistics of them.
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
        'CREATE INDEX %I ON %I USING hnsw ((embedding::halfvec(%s)) halfvec_cosine_ops)'
        ' WITH (m = 16, ef_construction = 100)',
        own || '_embedding', own, dimensions
    );
    EXECUTE format(
        'ALTER TABLE %I ALTER COLUMN slot_category SET STATISTICS 0,'
        ' ALTER COLUMN embedding SET STATISTICS 0, ALTER COLUMN lexemes SET STATISTICS 0',
        own
    );
    EXECUTE format('ALTER INDEX %I ALTER COLUMN 1 SET STATISTICS 0', own || '_embedding');
    EXECUTE format('ANALYZE %I', own);
END
$$;

-- From then on, the policies of `indexed_memories` bind whoever reads it.
CREATE FUNCTION attach_index_table() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
DECLARE
    own name := name_index_table();
BEGIN
    EXECUTE format('REVOKE ALL ON %I FROM palimpsest_service', own);
    EXECUTE format(
        'ALTER TABLE indexed_memories ATTACH PARTITION %I FOR VALUES IN (%L)',
        own, current_setting('palimpsest.agent', true)
    );
END
$$;

CREATE FUNCTION drop_index_table() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
AS $$
BEGIN
    EXECUTE format('DROP TABLE IF EXISTS %I.%I', current_schema(), name_index_table());
END
$$;

-- Drop every index, because the vectors in them are of another model from now on.
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
$$;


-- Indexes of large agents: functions of the operator, whose policy leaves the text index usable ----

-- Find the memories whose vectors are the nearest to a vector.
CREATE FUNCTION find_nearest_indexed(query vector, most integer) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 200
SET search_path FROM CURRENT
SET enable_seqscan = off
AS $$
BEGIN
    PERFORM
        set_config('hnsw.ef_search', least(greatest(most, 1), 1000)::text, true),
        set_config('hnsw.iterative_scan', 'relaxed_order', true);
    RETURN QUERY EXECUTE format(
        'SELECT id FROM indexed_memories WHERE agent_id = %1$L'
        ' ORDER BY (embedding::halfvec(%2$s)) <=> $1::halfvec(%2$s) LIMIT %3$s',
        current_setting('palimpsest.agent', true), vector_dims(query), most
    ) USING query;
END
$$;

-- Find the memories with the chosen words that rank first by all words; those that rank alike by
-- their distance from a vector, else the newest first. At most so many are read; beyond that, those
-- among the newest are read, too. Without statistics of words, the planner might read a whole table
-- rather than their index.
CREATE FUNCTION find_indexed_by_words(
    chosen tsquery, words tsquery, query vector, most integer, most_read integer
) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 200
SET search_path FROM CURRENT
SET enable_seqscan = off
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
        current_setting('palimpsest.agent', true), most_read, most
    ) USING chosen, words, query;
END
$$;

-- Count the memories with these words, up to a number.
CREATE FUNCTION count_indexed_by_words(words tsquery, most integer) RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path FROM CURRENT
SET enable_seqscan = off
AS $$
DECLARE
    counted bigint;
BEGIN
    EXECUTE format(
        'SELECT count(*) FROM ('
        ' SELECT FROM indexed_memories WHERE agent_id = %L AND lexemes @@ $1 LIMIT %s'
        ') AS matching',
        current_setting('palimpsest.agent', true), most
    ) INTO counted USING words;
    RETURN counted;
END
$$;

-- Find the newest memories of a category.
CREATE FUNCTION find_indexed_of_category(category text, most integer) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 20 SET search_path FROM CURRENT
AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT id FROM indexed_memories WHERE agent_id = %L AND slot_category = $1'
        ' ORDER BY created_at DESC LIMIT %s',
        current_setting('palimpsest.agent', true), most
    ) USING category;
END
$$;


-- Indexes of large agents: functions of the caller ------------------------------------------------

-- Return a lexeme as a query of this one word, in the syntax of `tsquery`.
CREATE FUNCTION quote_lexeme(lexeme text) RETURNS text
LANGUAGE sql IMMUTABLE
AS $$ SELECT '''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''' $$;

-- Choose the words of a text by which memories are found: rarest first, as long as they are in no
-- more than `most` memories together. Where the rarest word alone is in more, memories must have
-- several: rarest first, as many words as bring the number down to that. Words go together, so
-- their number is counted. A word that leaves fewer than `fewest` memories is not among them. If
-- `fewest` is NULL, frequent words choose nothing: to count them takes too long for a fact
-- (docs/decisions/0017).
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
            ON f.agent_id = current_setting('palimpsest.agent', true)
            AND f.word = hashtextextended(lexeme, 0)
        ORDER BY 2, lexeme
    LOOP
        IF numnode(chosen) = 0 THEN
            EXIT WHEN fewest IS NULL AND one.memories > most;
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
$$;


-- Clusters ----------------------------------------------------------------------------------------
-- These do on every node of a Citus cluster what a statement would do on one server alone
-- (docs/decisions/0020). On one server, `set_vector_storage` is a plain ALTER, and the others are
-- called for nothing.

-- Set a setting until the end of the transaction, on every node that takes part. Each setting has a
-- statement of its own, because Citus passes on the text of the whole statement.
CREATE FUNCTION set_on_every_node(setting text, content text) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM set_config('citus.propagate_set_commands', 'local', true);
    EXECUTE format('SET LOCAL %s = %L', setting, content);
END
$$;

-- Change how a column of vectors is stored, unless it is stored so already. Citus passes no such
-- ALTER on, so the parts of the table on the nodes are changed one by one.
CREATE FUNCTION set_vector_storage(vectors text, storage text) RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT
AS $$
DECLARE
    change text := format('ALTER COLUMN %I SET STORAGE %s', vectors, storage);
    is_distributed boolean := false;
    failure text;
BEGIN
    IF EXISTS (
        SELECT FROM pg_attribute
        WHERE attrelid = 'memories'::regclass AND attname = vectors
          AND attstorage = CASE storage WHEN 'PLAIN' THEN 'p' ELSE 'e' END
    ) THEN
        RETURN;
    END IF;
    IF EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
        is_distributed := EXISTS (
            SELECT FROM pg_dist_partition WHERE logicalrelid = 'memories'::regclass
        );
    END IF;
    IF is_distributed THEN
        SELECT result INTO failure
        FROM run_command_on_shards('memories', 'ALTER TABLE %s ' || replace(change, '%', '%%'))
        WHERE NOT success
        LIMIT 1;
        IF failure IS NOT NULL THEN
            RAISE EXCEPTION 'the storage of vectors was not changed: %', failure;
        END IF;
        PERFORM set_config('citus.enable_ddl_propagation', 'off', true);
    END IF;
    EXECUTE 'ALTER TABLE memories ' || change;
    IF is_distributed THEN
        PERFORM set_config('citus.enable_ddl_propagation', 'on', true);
    END IF;
END
$$;

-- Move the rows of the transaction's temporary table into a table of agents. They travel as one
-- value in a statement that goes to one node whole, because Citus would COPY them there, and
-- row-level security rules that out. They go in one statement because rows may point to one
-- another. The value is an array, because an element may have 256 MB at most, and the whole 1 GB.
CREATE FUNCTION move_incoming(target text, incoming text, columns text[]) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    moved jsonb[];
    others text := array_to_string(array_remove(columns, 'agent_id'), ', ');
BEGIN
    EXECUTE format(
        'SELECT array_agg(portion) FROM ('
        ' SELECT jsonb_agg(content) AS portion FROM ('
        ' SELECT content, sum(pg_column_size(content)) OVER (ROWS UNBOUNDED PRECEDING)'
        ' / 64000000 AS place FROM (SELECT to_jsonb(i) AS content FROM %I AS i) AS contents'
        ' ) AS places GROUP BY place ) AS portions',
        incoming
    ) INTO moved;
    EXECUTE format(
        'INSERT INTO %1$I (agent_id, %2$s) SELECT a.agent_id, %3$s'
        ' FROM agents a, unnest($1) AS portion,'
        ' jsonb_populate_recordset(NULL::%1$I, portion) AS r WHERE a.agent_id = $2',
        target, others, 'r.' || replace(others, ', ', ', r.')
    ) USING moved, current_setting('palimpsest.agent');
END
$$;
