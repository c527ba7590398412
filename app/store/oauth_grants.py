"""What people granted to clients of OAuth: each grant belongs to a key and ends with it.

Only hashes of secrets are stored. `code_hash` stays after the code was used, so that a second use
shows. Each access token has an id of its own, because keys are believed for a second by their ids.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.keys import KeyId, PresentedKey, hash_secret
from app.store.engine import fetch_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A grant as it is stored. It has no tokens before its code was used."""

    id: KeyId
    key_id: KeyId
    client_id: str
    redirect_uri: str
    challenge: str
    audience: str
    agent: str
    scopes: tuple[str, ...]
    code_hash: bytes
    access_hash: bytes | None = None
    refresh_hash: bytes | None = None


# Store a new grant.
_INSERT = """
    INSERT INTO oauth_grants (
        id, key_id, client_id, redirect_uri, challenge, audience, agent, scopes, code_hash,
        created_at, expires_at
    )
    VALUES (
        :id, :key_id, :client_id, :redirect_uri, :challenge, :audience, :agent,
        CAST(:scopes AS text[]), :code_hash, :now, :expires_at
    )
"""

# Remove the grants that are over, and the oldest ones of a key that has too many.
_FORGET = """
    DELETE FROM oauth_grants
    WHERE expires_at <= :now OR id IN (
        SELECT id FROM oauth_grants WHERE key_id = :key_id
        ORDER BY created_at DESC
        OFFSET :most
    )
"""

# Read a grant whose key has not ended, and let nobody else change it until the transaction ends.
_LOCK = """
    SELECT
        grants.id, grants.key_id, grants.client_id, grants.redirect_uri, grants.challenge,
        grants.audience, grants.agent, grants.scopes, grants.code_hash, grants.access_hash,
        grants.refresh_hash
    FROM oauth_grants AS grants
    JOIN api_keys AS keys ON keys.id = grants.key_id
    WHERE (grants.id = :id OR grants.access_id = :id)
        AND grants.expires_at > :now
        AND keys.revoked_at IS NULL
        AND (keys.expires_at IS NULL OR keys.expires_at > :now)
    FOR UPDATE OF grants
"""

# Give a grant new tokens in place of those that it has.
_SET_TOKENS = """
    UPDATE oauth_grants
    SET access_id = :access_id, access_hash = :access_hash, access_expires_at = :access_expires_at,
        refresh_hash = :refresh_hash, expires_at = :expires_at
    WHERE id = :id
"""

_DELETE = "DELETE FROM oauth_grants WHERE id = :id"


async def insert_grant(
    connection: AsyncConnection, grant: Grant, *, now: datetime, life: timedelta, most: int
) -> None:
    """Store a grant whose code lives from now. Its key keeps the newest `most` grants."""
    values = {
        "id": grant.id,
        "key_id": grant.key_id,
        "client_id": grant.client_id,
        "redirect_uri": grant.redirect_uri,
        "challenge": grant.challenge,
        "audience": grant.audience,
        "agent": grant.agent,
        "scopes": list(grant.scopes),
        "code_hash": grant.code_hash,
        "now": now,
        "expires_at": now + life,
    }
    await fetch_rows(connection, _INSERT, values)
    await fetch_rows(connection, _FORGET, {"key_id": grant.key_id, "now": now, "most": most})


async def lock_grant(
    connection: AsyncConnection, grant_id: KeyId, *, now: datetime
) -> Grant | None:
    """Return a grant, by its id or that of its access token, that nobody else can change until the
    transaction ends.

    None stands for a grant that is unknown or over, or whose key has ended.
    """
    rows = await fetch_rows(connection, _LOCK, {"id": grant_id, "now": now})
    return _to_grant(rows[0]) if rows else None


async def set_tokens(
    connection: AsyncConnection,
    grant_id: KeyId,
    *,
    access: tuple[PresentedKey, datetime],
    refresh: tuple[PresentedKey, datetime],
) -> None:
    """Store the hashes of new tokens, each with the time at which the token ends."""
    values = {
        "id": grant_id,
        "access_id": access[0].id,
        "access_hash": hash_secret(access[0].secret),
        "access_expires_at": access[1],
        "refresh_hash": hash_secret(refresh[0].secret),
        "expires_at": refresh[1],
    }
    await fetch_rows(connection, _SET_TOKENS, values)


async def delete_grant(connection: AsyncConnection, grant_id: KeyId) -> None:
    """End a grant: its code and its tokens."""
    await fetch_rows(connection, _DELETE, {"id": grant_id})


def _to_grant(row: Mapping[str, Any]) -> Grant:
    values = dict(row)
    values["scopes"] = tuple(row["scopes"])
    for name in ("code_hash", "access_hash", "refresh_hash"):
        values[name] = bytes(row[name]) if row[name] is not None else None
    return Grant(**values)
