"""Create the table of what people granted to clients of OAuth."""

from alembic import op

revision = "2026_11_30_e"
down_revision = "2026_11_30_d"

KEYS = "palimpsest_keys"

# Only hashes of codes and tokens are here. `code_hash` stays when the code was used.
OAUTH_GRANTS = """
    CREATE TABLE oauth_grants (
        id text CONSTRAINT oauth_grants_pkey PRIMARY KEY
            CONSTRAINT oauth_grants_id_check CHECK (id ~ '^[0-9a-f]{16}$'),
        key_id text NOT NULL CONSTRAINT oauth_grants_key_fkey
            REFERENCES api_keys (id) ON DELETE CASCADE,
        client_id text NOT NULL,
        redirect_uri text NOT NULL,
        challenge text NOT NULL,
        audience text NOT NULL,
        agent text NOT NULL,
        scopes text[] NOT NULL CONSTRAINT oauth_grants_scopes_check
            CHECK (scopes <@ ARRAY['read', 'write', 'review'] AND scopes <> '{}'),
        code_hash bytea NOT NULL
            CONSTRAINT oauth_grants_code_hash_check CHECK (octet_length(code_hash) = 32),
        access_id text CONSTRAINT oauth_grants_access_id_key UNIQUE
            CONSTRAINT oauth_grants_access_id_check CHECK (access_id ~ '^[0-9a-f]{16}$'),
        access_hash bytea
            CONSTRAINT oauth_grants_access_hash_check CHECK (octet_length(access_hash) = 32),
        access_expires_at timestamptz,
        refresh_hash bytea
            CONSTRAINT oauth_grants_refresh_hash_check CHECK (octet_length(refresh_hash) = 32),
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        CONSTRAINT oauth_grants_tokens_check CHECK (
            (access_hash IS NULL) = (access_id IS NULL)
            AND (access_hash IS NULL) = (access_expires_at IS NULL)
            AND (access_hash IS NULL) = (refresh_hash IS NULL)
        )
    )
"""


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(OAUTH_GRANTS)
    op.execute("CREATE INDEX oauth_grants_key_idx ON oauth_grants (key_id)")
    op.execute("ALTER TABLE oauth_grants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY every_grant ON oauth_grants TO {KEYS} USING (true)")
    op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON oauth_grants TO {KEYS}")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("DROP TABLE oauth_grants")
