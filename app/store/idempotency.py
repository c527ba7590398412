"""Answers kept under the keys that callers gave. The caller owns the transaction and holds the agent's lock when it keeps one."""

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
    """What is kept under a key: the fingerprint of the call and its answer. Where it was erased, both may be None."""

    fingerprint: bytes | None
    answer: StoredAnswer | None


_FIND = """
    SELECT fingerprint, status, headers, answer FROM idempotency_keys
    WHERE agent_id = :agent AND key = :key AND created_at > now() - CAST(:kept_for AS interval)
"""


async def find_idempotency_record(
    connection: AsyncConnection, agent: AgentId, key: str
) -> IdempotencyRecord | None:
    """What is kept under the key; None where it was never used, or longer than 24 hours ago."""
    rows = await fetch_rows(connection, _FIND, {"agent": agent, "key": key, "kept_for": KEPT_FOR})
    if not rows:
        return None
    row = rows[0]
    answer = (
        None
        if row["answer"] is None
        else StoredAnswer(row["status"], row["headers"], row["answer"])
    )
    return IdempotencyRecord(row["fingerprint"], answer)


# Takes some expired answers along, so that no job need look for them. One that expired under the same key is written over: a
# row cannot be deleted and inserted again in one statement.
_KEEP = """
    WITH expired AS (
        DELETE FROM idempotency_keys WHERE agent_id = :agent AND key IN (
            SELECT key FROM idempotency_keys
            WHERE agent_id = :agent AND key <> :key AND created_at <= now() - CAST(:kept_for AS interval)
            ORDER BY created_at LIMIT :swept
        )
    )
    INSERT INTO idempotency_keys (agent_id, key, fingerprint, status, headers, answer, mentioned_ids, created_at)
    VALUES (:agent, :key, :fingerprint, :code, :notes, :answer, CAST(:mentioned AS uuid[]), now())
    ON CONFLICT (agent_id, key) DO UPDATE SET
        fingerprint = excluded.fingerprint, status = excluded.status, headers = excluded.headers, answer = excluded.answer,
        mentioned_ids = excluded.mentioned_ids, created_at = excluded.created_at
"""


async def save_idempotency_record(
    connection: AsyncConnection,
    agent: AgentId,
    key: str,
    *,
    fingerprint: bytes,
    answer: StoredAnswer,
) -> None:
    """Keeps an answer, with the ids that it mentions, so that erasing finds it."""
    parameters = {
        "agent": agent,
        "key": key,
        "fingerprint": fingerprint,
        "code": answer.code,
        "notes": Jsonb(dict(answer.notes)),
        "answer": answer.body,
        "mentioned": [found.decode() for found in set(_ID.findall(answer.body))],
        "kept_for": KEPT_FOR,
        "swept": _SWEPT_AT_ONCE,
    }
    await fetch_rows(connection, _KEEP, parameters)
