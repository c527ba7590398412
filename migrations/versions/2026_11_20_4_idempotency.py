"""Answers kept under the keys that callers gave (Idempotency-Key)."""

from alembic import op

revision = "2026_11_20_4"
down_revision = "2026_11_20_3"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    # Erasing takes the answer, which repeats what was stored, and the fingerprint, which is a hash of what was sent.
    op.execute("""
        CREATE TABLE idempotency_keys (
            agent_id text NOT NULL CONSTRAINT idempotency_keys_agent_fkey REFERENCES agents,
            key text NOT NULL CONSTRAINT idempotency_keys_key_check CHECK (key <> ''),
            fingerprint bytea,
            status smallint NOT NULL,
            headers jsonb NOT NULL,
            answer bytea,
            mentioned_ids uuid[] NOT NULL,
            created_at timestamptz NOT NULL,
            CONSTRAINT idempotency_keys_pkey PRIMARY KEY (agent_id, key),
            CONSTRAINT idempotency_keys_fingerprint_check CHECK (fingerprint IS NOT NULL OR answer IS NULL)
        )
    """)
    op.execute("CREATE INDEX idempotency_keys_created ON idempotency_keys (agent_id, created_at)")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("DROP TABLE idempotency_keys")
