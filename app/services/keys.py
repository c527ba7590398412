"""Issuing, listing, revoking and rotating keys."""

import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.errors import InvalidFact, KeyEnded, RightsExceeded, UnknownKey
from app.domain.keys import Actor, ApiKey, KeyId, PresentedKey, Rights, hash_secret
from app.store import keys, webhooks
from app.store.engine import begin_for_keys, read_clock

logger = logging.getLogger(__name__)

_LAST_MOMENT = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new key. `text` is what its callers send; it is stored nowhere."""

    key: ApiKey
    text: str = field(repr=False)


class KeyIssuer:
    """Issues keys. Nobody sees, issues or ends a key that may do more than their own."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def issue_key(
        self,
        actor: Actor,
        name: str,
        rights: Rights,
        *,
        expires_at: datetime | None = None,
    ) -> IssuedKey:
        """Store a new key and return it with its secret.

        Raises RightsExceeded, and InvalidFact for an end that has passed.
        """
        async with begin_for_keys(self._engine) as connection:
            now = await read_clock(connection)
            if expires_at is not None and expires_at <= now:
                raise InvalidFact("expires_at lies in the past.")
            issued = await _insert_new(connection, actor, name, rights, now, expires_at)
        _log_issue(actor, issued)
        return issued

    async def list_keys(self, actor: Actor, *, limit: int, after: str) -> list[ApiKey]:
        """Return keys in order of their ids, beginning after the id `after`."""
        listed: list[ApiKey] = []
        async with (
            begin_for_keys(self._engine) as connection,
            aclosing(keys.stream_keys(connection, after=after)) as stream,
        ):
            async for key in stream:
                if len(listed) == limit:
                    break
                if actor.rights.include(key.rights):
                    listed.append(key)
        return listed

    async def revoke_key(self, actor: Actor, key_id: KeyId) -> ApiKey:
        """End a key now, and its webhooks. Raises UnknownKey."""
        async with self._lock_key(actor, key_id) as (connection, key):
            now = await read_clock(connection)
            revoked = await keys.revoke_key(connection, key_id, now=now)
            await webhooks.end_webhooks(connection, key.actor, at=now)
        logger.info("a key was revoked", extra={"key_id": key_id, "actor": actor.name})
        return revoked

    async def rotate_key(self, actor: Actor, key_id: KeyId, *, overlap: timedelta) -> IssuedKey:
        """Issue a key with the same name, rights and length of life.

        The old one ends after `overlap`, and its webhooks are the new one's. Raises UnknownKey,
        KeyEnded and RightsExceeded.
        """
        async with self._lock_key(actor, key_id) as (connection, key):
            now = await read_clock(connection)
            if not key.is_valid(now):
                raise KeyEnded(key_id)
            end = None
            if key.expires_at is not None:
                end = now + min(key.expires_at - key.created_at, _LAST_MOMENT - now)
            issued = await _insert_new(connection, actor, key.name, key.rights, now, end)
            await keys.end_key(connection, key_id, at=now + overlap)
            await webhooks.hand_webhooks_over(connection, old=key.actor, new=issued.key.actor)
        _log_issue(actor, issued)
        return issued

    @asynccontextmanager
    async def _lock_key(
        self, actor: Actor, key_id: KeyId
    ) -> AsyncIterator[tuple[AsyncConnection, ApiKey]]:
        async with begin_for_keys(self._engine) as connection:
            key = await keys.lock_key(connection, key_id)
            if key is None or not actor.rights.include(key.rights):
                raise UnknownKey(key_id)
            yield connection, key


def _log_issue(actor: Actor, issued: IssuedKey) -> None:
    logger.info("a key was issued", extra={"key_id": issued.key.id, "actor": actor.name})


async def _insert_new(
    connection: AsyncConnection,
    actor: Actor,
    name: str,
    rights: Rights,
    now: datetime,
    expires_at: datetime | None,
) -> IssuedKey:
    """Store a key with a new secret. Raises RightsExceeded if it would allow more than `actor`."""
    outlives = actor.expires_at is not None and (
        expires_at is None or expires_at > actor.expires_at
    )
    if outlives or not actor.rights.include(rights):
        raise RightsExceeded
    presented = PresentedKey(KeyId(secrets.token_hex(8)), secrets.token_hex(32))
    key = ApiKey(
        id=presented.id,
        secret_hash=hash_secret(presented.secret),
        name=name,
        rights=rights,
        created_at=now,
        created_by=actor.name,
        expires_at=expires_at,
    )
    await keys.insert_key(connection, key)
    return IssuedKey(key, presented.format())
