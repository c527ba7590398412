"""The keys that the service issued. Only the hash of each secret is stored."""

from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import aclosing
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.keys import ApiKey, KeyId, Rights, Scope
from app.store.engine import fetch_rows, stream_rows

_COLUMNS = """
    id, secret_hash, name, scopes, agents, trust_ceiling,
    created_at, created_by, expires_at, revoked_at, last_used_at
"""

# Store a new key.
_INSERT = f"""
    INSERT INTO api_keys ({_COLUMNS})
    VALUES (
        :id, :secret_hash, :name, CAST(:scopes AS text[]), CAST(:agents AS text[]), :trust_ceiling,
        :created_at, :created_by, :expires_at, NULL, NULL
    )
"""

# Find keys by their ids. A token of OAuth is the key of its grant, with less rights and life.
_FIND = f"""
    SELECT id AS presented_id, NULL AS audience, {_COLUMNS} FROM api_keys
    WHERE id = ANY(CAST(:ids AS text[]))
    UNION ALL
    SELECT
        grants.access_id, grants.audience, keys.id, grants.access_hash, keys.name, grants.scopes,
        ARRAY[grants.agent], keys.trust_ceiling, keys.created_at, keys.created_by,
        least(keys.expires_at, grants.access_expires_at), keys.revoked_at, keys.last_used_at
    FROM oauth_grants AS grants
    JOIN api_keys AS keys ON keys.id = grants.key_id
    WHERE grants.access_id = ANY(CAST(:ids AS text[]))
"""

# Read a key, and let nobody else change it until the transaction ends.
_LOCK = f"""
    SELECT {_COLUMNS} FROM api_keys
    WHERE id = :id
    FOR UPDATE
"""

# List keys in order.
_LIST = f"""
    SELECT {_COLUMNS} FROM api_keys
    WHERE id > :after
    ORDER BY id
"""

# Revoke a key. One that was revoked before keeps its time.
_REVOKE = f"""
    UPDATE api_keys SET revoked_at = coalesce(revoked_at, :now)
    WHERE id = :id
    RETURNING {_COLUMNS}
"""

# Let a key end at a time, unless it ends before.
_END = """
    UPDATE api_keys SET expires_at = least(expires_at, :at)
    WHERE id = :id
"""

# Note when keys were last used. The rows are locked in order, so that processes cannot deadlock.
_NOTE_USES = """
    WITH used AS (
        SELECT api_keys.id, noted.at
        FROM api_keys
        JOIN unnest(CAST(:ids AS text[]), CAST(:times AS timestamptz[])) AS noted (id, at)
            ON noted.id = api_keys.id
        ORDER BY api_keys.id
        FOR NO KEY UPDATE OF api_keys
    )
    UPDATE api_keys SET last_used_at = greatest(api_keys.last_used_at, used.at)
    FROM used
    WHERE api_keys.id = used.id
"""


async def insert_key(connection: AsyncConnection, key: ApiKey) -> None:
    values = {
        "id": key.id,
        "secret_hash": key.secret_hash,
        "name": key.name,
        "scopes": sorted(key.rights.scopes),
        "agents": list(key.rights.agents),
        "trust_ceiling": key.rights.trust_ceiling,
        "created_at": key.created_at,
        "created_by": key.created_by,
        "expires_at": key.expires_at,
    }
    await fetch_rows(connection, _INSERT, values)


async def find_keys(connection: AsyncConnection, ids: Collection[KeyId]) -> Mapping[KeyId, ApiKey]:
    """Return the keys of these ids, which may be ids of access tokens; an unknown id has none."""
    rows = await fetch_rows(connection, _FIND, {"ids": list(ids)})
    return {row["presented_id"]: _to_key(row) for row in rows}


async def lock_key(connection: AsyncConnection, key_id: KeyId) -> ApiKey | None:
    """Return the key, which nobody else can change until the transaction ends."""
    rows = await fetch_rows(connection, _LOCK, {"id": key_id})
    return _to_key(rows[0]) if rows else None


async def stream_keys(connection: AsyncConnection, *, after: str) -> AsyncGenerator[ApiKey]:
    """Yield the keys in order of their ids, beginning after the id `after`."""
    async with aclosing(stream_rows(connection, _LIST, {"after": after})) as rows:
        async for row in rows:
            yield _to_key(row)


async def revoke_key(connection: AsyncConnection, key_id: KeyId, *, now: datetime) -> ApiKey:
    [row] = await fetch_rows(connection, _REVOKE, {"id": key_id, "now": now})
    return _to_key(row)


async def end_key(connection: AsyncConnection, key_id: KeyId, *, at: datetime) -> None:
    await fetch_rows(connection, _END, {"id": key_id, "at": at})


async def note_key_uses(connection: AsyncConnection, used: Mapping[KeyId, datetime]) -> None:
    """Write when each key was used last."""
    values = {"ids": list(used), "times": list(used.values())}
    await fetch_rows(connection, _NOTE_USES, values)


def _to_key(row: Mapping[str, Any]) -> ApiKey:
    return ApiKey(
        id=row["id"],
        secret_hash=row["secret_hash"],
        name=row["name"],
        rights=Rights(
            scopes=frozenset(map(Scope, row["scopes"])),
            agents=tuple(row["agents"]),
            trust_ceiling=row["trust_ceiling"],
        ),
        created_at=row["created_at"],
        created_by=row["created_by"],
        expires_at=row["expires_at"],
        revoked_at=row["revoked_at"],
        last_used_at=row["last_used_at"],
        audience=row.get("audience"),
    )
