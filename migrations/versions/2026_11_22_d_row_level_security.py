"""Isolate agents by row-level security, under roles that are neither owner nor superuser.

`palimpsest migrate` makes the roles first (`app/store/roles.py`), because they belong to the whole
server. Row-level security is forced, so it binds the owner of the tables too, and no policy lets
the owner see a row. A later migration that reads or changes rows of agents puts
`ALTER TABLE … NO FORCE ROW LEVEL SECURITY` before and `FORCE` after that.
"""

from alembic import op

revision = "2026_11_22_d"
down_revision = "2026_11_22_c"

SERVICE = "palimpsest_service"
LOG_EDITOR = "palimpsest_log_editor"
OPERATOR = "palimpsest_operator"
JOBS = "palimpsest_jobs"
KEYS = "palimpsest_keys"

# The tables that hold agents, and what the service may do there. The log's editor may do the same.
PRIVILEGES = {
    "agents": "SELECT, INSERT, UPDATE",
    "memories": "SELECT, INSERT, UPDATE",
    "memory_beliefs": "SELECT, INSERT, UPDATE",
    "memory_usage": "SELECT, INSERT, UPDATE",
    "consolidation_log": "SELECT, INSERT",
    "memory_relationships": "SELECT, INSERT, UPDATE, DELETE",
    "reviews": "SELECT, INSERT, UPDATE",
    "log_checkpoints": "SELECT, INSERT",
    "log_archives": "SELECT, INSERT",
    "folded_operations": "SELECT, INSERT",
    "sweeps": "SELECT, INSERT, UPDATE, DELETE",
    "idempotency_keys": "SELECT, INSERT, UPDATE, DELETE",
}

# The tables of the part of the log that was archived.
ARCHIVED_LOG = ("log_checkpoints", "log_archives", "folded_operations")

# A setting that was reset is an empty string, and no agent has that id.
THE_AGENT = "current_setting('palimpsest.agent', true)"

# The statement that a caller's role may not write itself, because only the owner may alter tables.
CLAIM_ENCODER = """
    CREATE FUNCTION claim_encoder(model text, size integer, storage text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
    AS $$
    BEGIN
        INSERT INTO encoder (the_one, name, dimensions)
        VALUES (true, model, size)
        ON CONFLICT DO NOTHING;
        IF FOUND THEN
            EXECUTE format('ALTER TABLE memories ALTER COLUMN embedding SET STORAGE %I', storage);
        END IF;
    END
    $$
"""

# A table that somebody else works on is left to autovacuum. Only its owner may analyze a table.
REFRESH_STATISTICS = """
    CREATE FUNCTION refresh_statistics() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
    AS $$
    BEGIN
        ANALYZE (SKIP_LOCKED)
            memories, memory_beliefs, memory_usage, memory_relationships, consolidation_log,
            reviews;
    END
    $$
"""

# Find the operations of the agent on some memories. The operator owns this function: under the
# policy of the service, Postgres would evaluate `&&` only after the policy, and so without its
# index. The function has the condition of that policy itself.
OPERATIONS_ON = f"""
    CREATE FUNCTION operations_on(ids uuid[]) RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 20 SET search_path FROM CURRENT
    AS $$
        SELECT id
        FROM consolidation_log
        WHERE agent_id = {THE_AGENT}
          AND (target_memory_id = ANY(ids) OR source_memory_ids && ids)
    $$
"""

FUNCTIONS = {
    "claim_encoder(text, integer, text)": OPERATOR,
    "refresh_statistics()": OPERATOR,
    "operations_on(uuid[])": SERVICE,
}


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    for table, privileges in PRIVILEGES.items():
        isolate_table(table, privileges)
    op.execute(f"GRANT UPDATE, DELETE ON consolidation_log TO {LOG_EDITOR}")
    op.execute(f"GRANT UPDATE ON {', '.join(ARCHIVED_LOG)} TO {LOG_EDITOR}")
    isolate_keys()
    hide_encoder()
    op.execute(f"GRANT SELECT ON alembic_version TO {OPERATOR}")
    # Many rows come in through a temporary table, because row-level security rules out COPY.
    op.execute(f"GRANT TEMPORARY ON DATABASE {read_name('current_database()')} TO {SERVICE}")
    open_queue()
    create_functions()


def isolate_table(table: str, privileges: str) -> None:
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY one_agent ON {table} TO {SERVICE} USING (agent_id = {THE_AGENT})")
    op.execute(f"CREATE POLICY every_agent ON {table} FOR SELECT TO {OPERATOR} USING (true)")
    op.execute(f"GRANT {privileges} ON {table} TO {SERVICE}")
    op.execute(f"GRANT SELECT ON {table} TO {OPERATOR}")


def isolate_keys() -> None:
    op.execute("ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY every_key ON api_keys TO {KEYS} USING (true)")
    op.execute(f"GRANT SELECT, INSERT, UPDATE ON api_keys TO {KEYS}")


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


def create_functions() -> None:
    for function in (CLAIM_ENCODER, REFRESH_STATISTICS, OPERATIONS_ON):
        op.execute(function)
    for signature, role in FUNCTIONS.items():
        op.execute(f"REVOKE ALL ON FUNCTION {signature} FROM PUBLIC")
        op.execute(f"GRANT EXECUTE ON FUNCTION {signature} TO {role}")
    give_to_operator("operations_on(uuid[])")


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
    op.execute("DROP FUNCTION claim_encoder(text, integer, text), refresh_statistics()")
    op.execute(f"SET LOCAL ROLE {OPERATOR}")  # the owner of the function
    op.execute("DROP FUNCTION operations_on(uuid[])")
    op.execute("RESET ROLE")
    for role in (SERVICE, LOG_EDITOR, OPERATOR, JOBS, KEYS):
        close_to_role(role)
    for table in PRIVILEGES:
        op.execute(f"DROP POLICY one_agent ON {table}")
        op.execute(f"DROP POLICY every_agent ON {table}")
        op.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY")
    op.execute("DROP POLICY every_key ON api_keys")
    op.execute("ALTER TABLE api_keys DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY")
    op.execute("DROP POLICY some_agent ON encoder")
    op.execute("DROP POLICY every_agent ON encoder")
    op.execute("ALTER TABLE encoder DISABLE ROW LEVEL SECURITY")


def close_to_role(role: str) -> None:
    tables = ", ".join([*PRIVILEGES, "api_keys", "encoder", "alembic_version"])
    op.execute(f"REVOKE ALL ON {tables} FROM {role}")
    op.execute(f"REVOKE ALL ON DATABASE {read_name('current_database()')} FROM {role}")
    op.execute(f"REVOKE ALL ON ALL TABLES IN SCHEMA jobs FROM {role}")
    op.execute(f"REVOKE ALL ON ALL SEQUENCES IN SCHEMA jobs FROM {role}")
    op.execute(f"REVOKE ALL ON SCHEMA jobs FROM {role}")
