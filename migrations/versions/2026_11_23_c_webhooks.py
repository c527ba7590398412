"""Create the tables of webhooks.

They describe the database as a whole, as keys do: a webhook may be for many agents. The role of
keys reads and writes them. Erasing an agent removes its own ones. The operator, who finds what is
due, sees neither addresses nor secrets.
"""

from alembic import op

revision = "2026_11_23_c"
down_revision = "2026_11_23_b"

SERVICE = "palimpsest_service"
OPERATOR = "palimpsest_operator"
KEYS = "palimpsest_keys"

# A setting that was reset is an empty string, and no agent has that id.
THE_AGENT = "current_setting('palimpsest.agent', true)"

# The secret itself is stored, because it signs what is sent. `failures` counts those in a row.
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
        alive_at timestamptz
    )
"""

# How far a webhook has come with an agent. Without a row, it begins when it was created.
POSITIONS = """
    CREATE TABLE webhook_positions (
        webhook_id uuid NOT NULL CONSTRAINT webhook_positions_webhook_fkey
            REFERENCES webhooks (id) ON DELETE CASCADE,
        agent text NOT NULL,
        at timestamptz NOT NULL,
        id uuid NOT NULL,
        CONSTRAINT webhook_positions_pkey PRIMARY KEY (webhook_id, agent)
    )
"""

# The last tries of each webhook. A ping has no agent.
DELIVERIES = """
    CREATE TABLE webhook_deliveries (
        webhook_id uuid NOT NULL CONSTRAINT webhook_deliveries_webhook_fkey
            REFERENCES webhooks (id) ON DELETE CASCADE,
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

TABLES = ("webhooks", "webhook_positions", "webhook_deliveries")
FOUND_BY_OPERATOR = "id, agents, created_at, next_try_at, disabled_at, alive_at"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    for statement in (WEBHOOKS, POSITIONS, DELIVERIES):
        op.execute(statement)
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY every_webhook ON {table} TO {KEYS} USING (true)")
        op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {KEYS}")
    for table in ("webhooks", "webhook_positions"):
        op.execute(f"CREATE POLICY every_agent ON {table} FOR SELECT TO {OPERATOR} USING (true)")
    op.execute(f"GRANT SELECT ({FOUND_BY_OPERATOR}) ON webhooks TO {OPERATOR}")
    op.execute(f"GRANT SELECT ON webhook_positions TO {OPERATOR}")
    op.execute(f"CREATE POLICY one_agent ON webhooks TO {SERVICE} USING (agents = {THE_AGENT})")
    op.execute(f"GRANT SELECT (agents), DELETE ON webhooks TO {SERVICE}")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    for table in reversed(TABLES):
        op.execute(f"DROP TABLE {table}")
