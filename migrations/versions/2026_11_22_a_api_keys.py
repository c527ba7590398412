"""Create the table of the keys that the service issues.

It describes the database as a whole, so no agent comes first in its keys.
"""

from alembic import op

revision = "2026_11_22_a"
down_revision = "2026_11_21_1"

# The secret itself is nowhere: a caller sees it once, when the key is issued.
API_KEYS = """
    CREATE TABLE api_keys (
        id text CONSTRAINT api_keys_pkey PRIMARY KEY
            CONSTRAINT api_keys_id_check CHECK (id ~ '^[0-9a-f]{16}$'),
        secret_hash bytea NOT NULL
            CONSTRAINT api_keys_secret_hash_check CHECK (octet_length(secret_hash) = 32),
        name text NOT NULL,
        scopes text[] NOT NULL CONSTRAINT api_keys_scopes_check
            CHECK (scopes <@ ARRAY['read', 'write', 'review', 'erase', 'admin']),
        agents text[] NOT NULL,
        trust_ceiling smallint NOT NULL CONSTRAINT api_keys_trust_ceiling_check
            CHECK (trust_ceiling BETWEEN 0 AND 100),
        created_at timestamptz NOT NULL,
        created_by text NOT NULL,
        expires_at timestamptz,
        revoked_at timestamptz,
        last_used_at timestamptz
    )
"""


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(API_KEYS)


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("DROP TABLE api_keys")
