"""Note the actor of each operation, and make the log of each agent a chain of hashes.

Operations that exist already get no hash: they are from before the chain. Those of sweeps get
their actor, so that a sweep can still be undone.
"""

from alembic import op

revision = "2026_11_22_b"
down_revision = "2026_11_22_a"

# The columns of a link are all there or all missing. The salt goes when the content is erased.
LOG = """
    ALTER TABLE consolidation_log
        ADD COLUMN actor text,
        ADD COLUMN previous_hash bytea,
        ADD COLUMN hash bytea,
        ADD COLUMN content_digest bytea,
        ADD COLUMN content_salt bytea,
        ADD CONSTRAINT consolidation_log_chain_check
            CHECK (num_nonnulls(previous_hash, hash, content_digest) IN (0, 3)) NOT VALID
"""

FOLDED = """
    ALTER TABLE folded_operations
        ADD COLUMN actor text,
        ADD COLUMN previous_hash bytea,
        ADD COLUMN hash bytea
"""

# The operations of a sweep have its id as the id of their request.
NAME_SWEEPS = """
    UPDATE {table} t SET actor = 'sweep:' || s.id
    FROM sweeps s
    WHERE t.agent_id = s.agent_id AND t.request_id = CAST(s.id AS text)
"""


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE agents ADD COLUMN log_head bytea")
    op.execute(LOG)
    op.execute(FOLDED)
    for table in ("consolidation_log", "folded_operations"):
        op.execute(NAME_SWEEPS.format(table=table))


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(
        "ALTER TABLE folded_operations DROP COLUMN actor, DROP COLUMN previous_hash, "
        "DROP COLUMN hash"
    )
    op.execute("ALTER TABLE consolidation_log DROP CONSTRAINT consolidation_log_chain_check")
    op.execute(
        "ALTER TABLE consolidation_log DROP COLUMN actor, DROP COLUMN previous_hash, "
        "DROP COLUMN hash, DROP COLUMN content_digest, DROP COLUMN content_salt"
    )
    op.execute("ALTER TABLE agents DROP COLUMN log_head")
