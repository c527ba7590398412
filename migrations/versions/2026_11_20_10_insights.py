"""What insights read: the values of each slot and chain in their order, what judges decided, and which signals led to it.

These are covering indexes: a memory beside its vector and an operation beside its states fill a quarter of a page each, so that reading
the rows of a large agent takes ten times as long as reading what is asked of them. The names of the signals get a column, which is
computed; adding it writes the log anew.
"""

from alembic import op

revision = "2026_11_20_10"
down_revision = "2026_11_20_11"

IN_SLOT = "slot_key IS NOT NULL AND kind <> 'constraint' AND single_valued IS NOT false"
BESIDE = "kind, value_hash, folded_hash, valid_until, created_at"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(f"""
        CREATE INDEX memories_of_slots ON memories (agent_id, slot_hash, valid_from, asserted_at, id) INCLUDE (chain_id, {BESIDE})
        WHERE NOT void AND {IN_SLOT}
    """)
    op.execute(f"""
        CREATE INDEX memories_of_chains ON memories (agent_id, chain_id, valid_from, asserted_at, id) INCLUDE ({BESIDE})
        WHERE NOT void AND NOT ({IN_SLOT})
    """)
    op.execute("""
        ALTER TABLE consolidation_log
            ADD COLUMN signal_names jsonb GENERATED ALWAYS AS (jsonb_path_query_array(signals, '$[*].name')) STORED
    """)
    op.execute("""
        CREATE INDEX consolidation_log_signals ON consolidation_log (agent_id, signal_names, created_at, id) INCLUDE (reverted_by)
        WHERE signal_names <> '[]' AND relation NOT IN ('NONE', 'OVERLAP') AND decided_by <> 'reviewer'
    """)
    op.execute("""
        CREATE INDEX consolidation_log_decided ON consolidation_log (agent_id, decided_by, confidence, created_at, id)
        INCLUDE (operation, reverted_by)
        WHERE decided_by NOT IN ('caller', 'reviewer') AND (operation <> 'NOOP' OR relation <> 'NONE')
    """)


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("DROP INDEX consolidation_log_decided")
    op.execute("DROP INDEX consolidation_log_signals")
    op.execute("ALTER TABLE consolidation_log DROP COLUMN signal_names")
    op.execute("DROP INDEX memories_of_chains")
    op.execute("DROP INDEX memories_of_slots")
