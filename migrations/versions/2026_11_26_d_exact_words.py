"""Hashes of texts and values keep the case and the marks of words in which they carry meaning.

The hashes of stored memories are computed anew, because facts are compared by them.
"""

import sqlalchemy as sa
from alembic import op

from app.domain.text import hash_text_loosely, hash_value

revision = "2026_11_26_d"
down_revision = "2026_11_26_b"

READ_AT_ONCE = 2_000

FIND_MEMORIES = sa.text("""
    SELECT agent_id, id, content, value, fuzzy_hash, folded_hash, value_hash
    FROM memories
    WHERE erased_at IS NULL AND (agent_id, id) > (:agent_id, :id)
    ORDER BY agent_id, id
    LIMIT :read_at_once
""")

SET_HASHES = sa.text("""
    UPDATE memories
    SET fuzzy_hash = :fuzzy_hash, folded_hash = :folded_hash, value_hash = :value_hash
    WHERE agent_id = :agent_id AND id = :id
""")


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    # Forced row-level security hides the rows from their owner too.
    op.execute("ALTER TABLE memories NO FORCE ROW LEVEL SECURITY")
    compute_hashes_anew()
    op.execute("ALTER TABLE memories FORCE ROW LEVEL SECURITY")


def compute_hashes_anew() -> None:
    connection = op.get_bind()
    last = {"agent_id": "", "id": "00000000-0000-0000-0000-000000000000"}
    while True:
        found = connection.execute(FIND_MEMORIES, {**last, "read_at_once": READ_AT_ONCE})
        rows = found.mappings().all()
        if not rows:
            return
        last = {"agent_id": rows[-1]["agent_id"], "id": rows[-1]["id"]}
        changed = []
        for row in rows:
            content, value = row["content"], row["value"]
            hashes = {
                "fuzzy_hash": hash_text_loosely(content),
                "folded_hash": hash_value(content),
                "value_hash": None if value is None else hash_value(value),
            }
            if any(bytes(row[name] or b"") != (hashes[name] or b"") for name in hashes):
                changed.append(hashes | {"agent_id": row["agent_id"], "id": row["id"]})
        if changed:
            connection.execute(SET_HASHES, changed)


def downgrade() -> None:
    """Leave the hashes as they are: the doctor of the earlier version puts them right."""
