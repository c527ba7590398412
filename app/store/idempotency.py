"""The stored answers under the keys that callers gave. A key is stored as its hash alone.

The caller owns the transaction. It has the agent's lock when it saves an answer.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from psycopg.types.json import Jsonb
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.store.engine import fetch_rows

KEPT_FOR = timedelta(hours=24)
_SWEPT_AT_ONCE = 100
_ID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer, byte for byte. `code` and `notes` mean something only to its surface."""

    code: int
    notes: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class IdempotencyRecord:
    """The fingerprint of a call and its answer. Both may be None after an erasure."""

    fingerprint: bytes | None
    answer: StoredAnswer | None


# Find the answer under a key.
_FIND = """
    SELECT fingerprint, status, headers, answer
    FROM idempotency_keys
    WHERE agent_id = :agent
        AND key_hash = :key_hash
        AND created_at > now() - CAST(:kept_for AS interval)
"""


async def find_idempotency_record(
    connection: AsyncConnection, agent: AgentId, key: str
) -> IdempotencyRecord | None:
    """Return the record of the key, None if the key was never used or more than 24 hours ago."""
    values = {"agent": agent, "key_hash": _hash_key(key), "kept_for": KEPT_FOR}
    rows = await fetch_rows(connection, _FIND, values)
    if not rows:
        return None
    [row] = rows
    if row["answer"] is None:
        return IdempotencyRecord(row["fingerprint"], None)
    answer = StoredAnswer(row["status"], row["headers"], row["answer"])
    return IdempotencyRecord(row["fingerprint"], answer)


# Save an answer, and delete some expired ones, so that no job need look for them. An expired
# answer under the same key is overwritten, because one statement cannot delete a row and insert
# it again.
_SAVE = """
    WITH expired AS (
        DELETE FROM idempotency_keys
        WHERE agent_id = :agent AND key_hash IN (
            SELECT key_hash FROM idempotency_keys
            WHERE agent_id = :agent
                AND key_hash <> :key_hash
                AND created_at <= now() - CAST(:kept_for AS interval)
            ORDER BY created_at
            LIMIT :swept
        )
    )
    INSERT INTO idempotency_keys (
        agent_id, key_hash, fingerprint, status, headers, answer, mentioned_ids, created_at
    )
    VALUES (
        :agent, :key_hash, :fingerprint, :code, :notes, :answer, CAST(:mentioned AS uuid[]),
        now()
    )
    ON CONFLICT (agent_id, key_hash) DO UPDATE SET
        fingerprint = excluded.fingerprint,
        status = excluded.status,
        headers = excluded.headers,
        answer = excluded.answer,
        mentioned_ids = excluded.mentioned_ids,
        created_at = excluded.created_at
"""


async def save_idempotency_record(
    connection: AsyncConnection,
    agent: AgentId,
    key: str,
    *,
    fingerprint: bytes,
    answer: StoredAnswer,
) -> None:
    """Save an answer with the ids that it mentions, by which erase can find it."""
    mentioned = {match.decode() for match in _ID.findall(answer.body)}
    values = {
        "agent": agent,
        "key_hash": _hash_key(key),
        "fingerprint": fingerprint,
        "code": answer.code,
        "notes": Jsonb(dict(answer.notes)),
        "answer": answer.body,
        "mentioned": list(mentioned),
        "kept_for": KEPT_FOR,
        "swept": _SWEPT_AT_ONCE,
    }
    await fetch_rows(connection, _SAVE, values)


def _hash_key(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()
