"""The table of an agent's index is dropped in the schema of the service alone.

Another service of the database may have an agent of the same name. Its table was found if this
service had none, and pgvector was in the other one's schema.
"""

from alembic import op

revision = "2026_11_27_k"
down_revision = "2026_11_27_g"

# Create the table of the agent's index anew.
CREATE_TABLE = """
    CREATE OR REPLACE FUNCTION create_index_table() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
    AS $$
    DECLARE
        own name := name_index_table();
    BEGIN
        EXECUTE format({drop}, own);
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
    $$
"""

DROP_TABLE = """
    CREATE OR REPLACE FUNCTION drop_index_table() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
    AS $$
    BEGIN
        EXECUTE format({drop}, name_index_table());
    END
    $$
"""

IN_OWN_SCHEMA = "'DROP TABLE IF EXISTS %I.%I', current_schema()"
IN_ANY_SCHEMA = "'DROP TABLE IF EXISTS %I'"


def upgrade() -> None:
    replace_functions(IN_OWN_SCHEMA)


def downgrade() -> None:
    replace_functions(IN_ANY_SCHEMA)


def replace_functions(drop: str) -> None:
    for function in (CREATE_TABLE, DROP_TABLE):
        op.execute(function.replace("{drop}", drop))
