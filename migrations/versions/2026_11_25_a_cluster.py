"""Let the database be the coordinator of a Citus cluster (docs/decisions/0020).

These functions do on every node of a cluster what a statement would do on one server alone. On one
server, `set_vector_storage` is a plain ALTER, and the others are called for nothing.
"""

from alembic import op

revision = "2026_11_25_a"
down_revision = "2026_11_24_d"

SERVICE = "palimpsest_service"

# Set a setting until the end of the transaction, on every node that takes part. Each setting has a
# statement of its own, because Citus passes on the text of the whole statement.
SET_ON_EVERY_NODE = """
    CREATE FUNCTION set_on_every_node(setting text, content text) RETURNS void
    LANGUAGE plpgsql
    AS $$
    BEGIN
        PERFORM set_config('citus.propagate_set_commands', 'local', true);
        EXECUTE format('SET LOCAL %s = %L', setting, content);
    END
    $$
"""

# Change how a column of vectors is stored, unless it is stored so already. Citus passes no such
# ALTER on, so the parts of the table on the nodes are changed one by one.
SET_VECTOR_STORAGE = """
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
    $$
"""

# Record the model of the vectors, unless a model is recorded.
CLAIM_ENCODER = """
    CREATE OR REPLACE FUNCTION claim_encoder(model text, size integer, storage text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
    AS $$
    BEGIN
        INSERT INTO encoder (the_one, name, dimensions)
        VALUES (true, model, size)
        ON CONFLICT DO NOTHING;
        IF FOUND THEN
            {change};
        END IF;
    END
    $$
"""
OF_EVERY_NODE = "PERFORM set_vector_storage('embedding', storage)"
OF_ONE_SERVER = (
    "EXECUTE format('ALTER TABLE memories ALTER COLUMN embedding SET STORAGE %I', storage)"
)

# Move the rows of the transaction's temporary table into a table of agents. They travel as one
# value in a statement that goes to one node whole, because Citus would COPY them there, and
# row-level security rules that out. They go in one statement because rows may point to one another.
# The value is an array, because an element may have 256 MB at most, and the whole 1 GB.
MOVE_INCOMING = """
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
    $$
"""

FUNCTIONS = {
    "set_on_every_node(text, text)": SET_ON_EVERY_NODE,
    "set_vector_storage(text, text)": SET_VECTOR_STORAGE,
    "move_incoming(text, text, text[])": MOVE_INCOMING,
}


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    create_functions(*FUNCTIONS.values(), CLAIM_ENCODER.format(change=OF_EVERY_NODE))
    op.execute("REVOKE ALL ON FUNCTION set_vector_storage(text, text) FROM PUBLIC")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    create_functions(CLAIM_ENCODER.format(change=OF_ONE_SERVER))
    for signature in FUNCTIONS:
        op.execute(f"DROP FUNCTION {signature}")


def create_functions(*functions: str) -> None:
    for function in functions:
        op.execute(function)
