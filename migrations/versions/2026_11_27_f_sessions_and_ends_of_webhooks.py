"""Create the table of the console's sessions, and let a webhook end with the key that created it.

The role of keys reads and writes both, as it does keys.
"""

from alembic import op

revision = "2026_11_27_f"
down_revision = "2026_11_27_c2"

KEYS = "palimpsest_keys"
OPERATOR = "palimpsest_operator"

# The key of a session is encrypted under its cookie, of which only the hash is here.
SESSIONS = """
    CREATE TABLE console_sessions (
        cookie_hash bytea CONSTRAINT console_sessions_pkey PRIMARY KEY
            CONSTRAINT console_sessions_cookie_hash_check CHECK (octet_length(cookie_hash) = 32),
        sealed_key bytea NOT NULL,
        actor text NOT NULL,
        expires_at timestamptz NOT NULL
    )
"""

# The webhooks of keys that have an end get it. Citus does not join the two tables in an UPDATE.
ENDS = """
    DO $$
    DECLARE
        key record;
    BEGIN
        FOR key IN
            SELECT 'key:' || id AS actor, least(expires_at, revoked_at) AS expires_at
            FROM api_keys
            WHERE least(expires_at, revoked_at) IS NOT NULL
        LOOP
            UPDATE webhooks SET expires_at = key.expires_at WHERE created_by = key.actor;
        END LOOP;
    END
    $$
"""

TABLES = ("webhooks", "api_keys")


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(SESSIONS)
    op.execute("ALTER TABLE console_sessions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY every_session ON console_sessions TO {KEYS} USING (true)")
    op.execute(f"GRANT SELECT, INSERT, DELETE ON console_sessions TO {KEYS}")
    op.execute("ALTER TABLE webhooks ADD COLUMN expires_at timestamptz")
    op.execute(f"GRANT SELECT (expires_at) ON webhooks TO {OPERATOR}")
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    op.execute(ENDS)
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE webhooks DROP COLUMN expires_at")
    op.execute("DROP TABLE console_sessions")
