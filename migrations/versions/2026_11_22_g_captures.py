"""Store the messages that facts are read from: captures, their turns, and the facts of each turn.

A capture holds the messages of one call. `app/store/tables.py` describes the tables.
"""

from alembic import op

revision = "2026_11_22_g"
down_revision = "2026_11_22_f"

SERVICE = "palimpsest_service"
OPERATOR = "palimpsest_operator"

# A setting that was reset is an empty string, and no agent has that id.
THE_AGENT = "current_setting('palimpsest.agent', true)"

# The tables, each after those that it points to.
TABLES = ("captures", "turns", "captured_facts")

CAPTURES = """
    CREATE TABLE captures (
        agent_id text NOT NULL CONSTRAINT captures_agent_fkey REFERENCES agents (agent_id),
        id uuid NOT NULL,
        session_id text,
        state text NOT NULL CONSTRAINT captures_state
            CHECK (state IN ('pending', 'done', 'failed')),
        extract text NOT NULL CONSTRAINT captures_extract
            CHECK (extract IN ('rules', 'model', 'off')),
        split boolean NOT NULL,
        trust smallint NOT NULL CONSTRAINT captures_trust CHECK (trust BETWEEN 0 AND 100),
        may_end_stated boolean NOT NULL,
        extractor text,
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
        CONSTRAINT captures_pkey PRIMARY KEY (agent_id, id)
    )
"""

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
        skipped jsonb NOT NULL,
        CONSTRAINT turns_pkey PRIMARY KEY (agent_id, id),
        CONSTRAINT turns_position UNIQUE (agent_id, capture_id, position),
        CONSTRAINT turns_capture_fkey
            FOREIGN KEY (agent_id, capture_id) REFERENCES captures (agent_id, id),
        CONSTRAINT turns_open CHECK (done OR content IS NOT NULL)
    )
"""

CAPTURED_FACTS = """
    CREATE TABLE captured_facts (
        agent_id text NOT NULL,
        id uuid NOT NULL,
        turn_id uuid NOT NULL,
        place integer NOT NULL,
        content text,
        quotes jsonb NOT NULL,
        operation text,
        memory_id uuid,
        log_id uuid,
        review_id uuid,
        problem text,
        CONSTRAINT captured_facts_pkey PRIMARY KEY (agent_id, id),
        CONSTRAINT captured_facts_turn_fkey
            FOREIGN KEY (agent_id, turn_id) REFERENCES turns (agent_id, id),
        CONSTRAINT captured_facts_memory_fkey
            FOREIGN KEY (agent_id, memory_id) REFERENCES memories (agent_id, id)
    )
"""

INDEXES = (
    "CREATE INDEX captures_open ON captures (agent_id, id) WHERE state = 'pending'",
    "CREATE INDEX turns_session ON turns (agent_id, session_id, id)",
    """
    CREATE UNIQUE INDEX turns_message ON turns (agent_id, session_id, message_id)
    WHERE message_id IS NOT NULL
    """,
    "CREATE INDEX turns_received ON turns (agent_id, received_at) WHERE content IS NOT NULL",
    "CREATE INDEX captured_facts_turn ON captured_facts (agent_id, turn_id, place)",
    "CREATE INDEX captured_facts_memory ON captured_facts (agent_id, memory_id)",
)


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    for statement in (CAPTURES, TURNS, CAPTURED_FACTS, *INDEXES):
        op.execute(statement)
    for table in TABLES:
        isolate_table(table)


def isolate_table(table: str) -> None:
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY one_agent ON {table} TO {SERVICE} USING (agent_id = {THE_AGENT})")
    op.execute(f"CREATE POLICY every_agent ON {table} FOR SELECT TO {OPERATOR} USING (true)")
    op.execute(f"GRANT SELECT, INSERT, UPDATE ON {table} TO {SERVICE}")
    op.execute(f"GRANT SELECT ON {table} TO {OPERATOR}")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    for table in reversed(TABLES):
        op.execute(f"DROP TABLE {table}")
