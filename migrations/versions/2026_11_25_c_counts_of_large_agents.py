"""Store what a worker counts of a large agent: the order by strength, and insights.

Otherwise every list by strength, and every call for insights, reads the agent whole.
"""

from alembic import op

revision = "2026_11_25_c"
down_revision = "2026_11_25_b"

SERVICE = "palimpsest_service"
OPERATOR = "palimpsest_operator"

# A setting that was reset is an empty string, and no agent has that id.
THE_AGENT = "current_setting('palimpsest.agent', true)"

# The memories of an agent, the strongest first, as of a time: a thousand in a row. All that became
# known until `counted_until` are there. `last_strength` and `last_id` are the last ones of the row.
COUNTED_STRENGTHS = """
    CREATE TABLE counted_strengths (
        agent_id text NOT NULL
            CONSTRAINT counted_strengths_agent_fkey REFERENCES agents (agent_id),
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

# `insights` are the rows of each section as of `insights_as_of`, and name the memories, operations
# and reviews in `insights_ids`. `…_seconds` are those that counting took.
COLUMNS = """
    ALTER TABLE agent_indexes
        ADD COLUMN strengths_as_of timestamptz,
        ADD COLUMN strengths_seconds double precision,
        ADD COLUMN insights jsonb,
        ADD COLUMN insights_ids uuid[],
        ADD COLUMN insights_as_of timestamptz,
        ADD COLUMN insights_seconds double precision
"""


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(COUNTED_STRENGTHS)
    op.execute("ALTER TABLE counted_strengths ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(
        f"CREATE POLICY one_agent ON counted_strengths TO {SERVICE} USING (agent_id = {THE_AGENT})"
    )
    op.execute(
        f"CREATE POLICY every_agent ON counted_strengths FOR SELECT TO {OPERATOR} USING (true)"
    )
    op.execute(f"GRANT SELECT, INSERT, DELETE ON counted_strengths TO {SERVICE}")
    op.execute(f"GRANT SELECT ON counted_strengths TO {OPERATOR}")
    op.execute(COLUMNS)


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("DROP TABLE counted_strengths")
    op.execute("""
        ALTER TABLE agent_indexes
            DROP COLUMN strengths_as_of,
            DROP COLUMN strengths_seconds,
            DROP COLUMN insights,
            DROP COLUMN insights_ids,
            DROP COLUMN insights_as_of,
            DROP COLUMN insights_seconds
    """)
