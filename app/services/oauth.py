"""Grants of OAuth: a code for a key, tokens for the code, and their end.

Codes and tokens have the form of keys, `pal_<id>_<secret>`, so that logs star them out and the
reader of keys reads access tokens too. Each is right for its own use only.
"""

import asyncio
import hmac
import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.errors import KeyEnded, ScopeMissing
from app.domain.keys import KeyId, PresentedKey, Scope, hash_secret
from app.domain.oauth import GRANTABLE, AccessRequest, OAuthError, proves_challenge
from app.store import keys, oauth_grants
from app.store.engine import begin_for_keys, read_clock
from app.store.oauth_grants import Grant

logger = logging.getLogger(__name__)

CODE_LIFE = timedelta(minutes=1)
ACCESS_LIFE = timedelta(hours=1)
# From the last refresh on.
REFRESH_LIFE = timedelta(days=30)
# Grants that one key may have; its oldest one ends with the next.
MOST_GRANTS = 100

_BAD_GRANT = "invalid_grant"
_BAD_CODE = "The code is wrong, has expired or was used before."
_BAD_REFRESH = "The refresh token is wrong, has expired or was replaced."


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """New tokens, and the scopes that they have."""

    access: str = field(repr=False)
    refresh: str = field(repr=False)
    scopes: tuple[Scope, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeExchange:
    """What a client sends to get tokens for its code; `audience` is optional."""

    code: str = field(repr=False)
    client_id: str
    redirect_uri: str
    verifier: str = field(repr=False)
    audience: str | None


class OAuthGrants:
    """Grants access, gives tokens for codes and for older tokens, and revokes them."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        # Codes and tokens come from anybody. Their statements take one connection.
        self._one_at_a_time = asyncio.Lock()

    async def grant_access(self, key_id: KeyId, request: AccessRequest) -> str:
        """Store what a person with this key allowed, and return the code for the client.

        The grant is for one agent, and for scopes that the key has. Raises KeyEnded, ScopeMissing,
        AgentForbidden and AgentNotNamed.
        """
        code = _make_secret(_make_id())
        async with self._begin() as (connection, now):
            key = (await keys.find_keys(connection, [key_id])).get(key_id)
            if key is None or not key.is_valid(now):
                raise KeyEnded(key_id)
            scopes = request.scopes & key.rights.scopes
            if not scopes:
                raise ScopeMissing(min(request.scopes))
            grant = Grant(
                id=code.id,
                key_id=key_id,
                client_id=request.client.id,
                redirect_uri=request.redirect_uri,
                challenge=request.challenge,
                audience=request.audience,
                agent=key.rights.choose_agent(request.agent),
                scopes=tuple(scope for scope in GRANTABLE if scope in scopes),
                code_hash=hash_secret(code.secret),
            )
            await oauth_grants.insert_grant(
                connection, grant, now=now, life=CODE_LIFE, most=MOST_GRANTS
            )
        logger.info("a client of OAuth was granted access", extra={"key_id": key_id})
        return code.format()

    async def redeem_code(self, exchange: CodeExchange) -> Tokens:
        """Return the first tokens of a grant. Raises OAuthError.

        A code has one try: its second use, or its use by another client, ends the grant.
        """
        presented = _parse(exchange.code, _BAD_CODE)
        tokens = None
        async with self._begin() as (connection, now):
            grant = await oauth_grants.lock_grant(connection, presented.id, now=now)
            if grant is None or not _has_hash(presented, grant.code_hash):
                raise OAuthError(_BAD_GRANT, _BAD_CODE)
            if grant.access_hash is None and _fits(grant, exchange):
                tokens = await _give_tokens(connection, grant, now)
            else:
                await oauth_grants.delete_grant(connection, grant.id)
        if tokens is None:
            logger.warning("a code of OAuth was misused", extra={"key_id": grant.key_id})
            raise OAuthError(_BAD_GRANT, _BAD_CODE)
        return tokens

    async def refresh_tokens(self, refresh: str, client_id: str, audience: str | None) -> Tokens:
        """Return new tokens in place of those that a grant has. Raises OAuthError.

        Any other token than the last one of the grant, such as an older one, ends the grant: two
        parties have its tokens, and one of them should not.
        """
        presented = _parse(refresh, _BAD_REFRESH)
        tokens = None
        async with self._begin() as (connection, now):
            grant = await oauth_grants.lock_grant(connection, presented.id, now=now)
            if grant is None or grant.refresh_hash is None:
                raise OAuthError(_BAD_GRANT, _BAD_REFRESH)
            is_own = grant.client_id == client_id and audience in (None, grant.audience)
            if is_own and _has_hash(presented, grant.refresh_hash):
                tokens = await _give_tokens(connection, grant, now)
            else:
                await oauth_grants.delete_grant(connection, grant.id)
        if tokens is None:
            logger.warning("a refresh token was misused", extra={"key_id": grant.key_id})
            raise OAuthError(_BAD_GRANT, _BAD_REFRESH)
        return tokens

    async def revoke_token(self, token: str, client_id: str) -> None:
        """End the grant of a token, if it is one of this client."""
        presented = PresentedKey.parse(token)
        if presented is None:
            return
        async with self._begin() as (connection, now):
            grant = await oauth_grants.lock_grant(connection, presented.id, now=now)
            if grant is None or grant.client_id != client_id:
                return
            if _has_hash(presented, grant.access_hash) or _has_hash(presented, grant.refresh_hash):
                await oauth_grants.delete_grant(connection, grant.id)

    @asynccontextmanager
    async def _begin(self) -> AsyncIterator[tuple[AsyncConnection, datetime]]:
        async with self._one_at_a_time, begin_for_keys(self._engine) as connection:
            yield connection, await read_clock(connection)


def _fits(grant: Grant, exchange: CodeExchange) -> bool:
    return (
        grant.client_id == exchange.client_id
        and grant.redirect_uri == exchange.redirect_uri
        and exchange.audience in (None, grant.audience)
        and proves_challenge(exchange.verifier, grant.challenge)
    )


async def _give_tokens(connection: AsyncConnection, grant: Grant, now: datetime) -> Tokens:
    access, refresh = _make_secret(_make_id()), _make_secret(grant.id)
    await oauth_grants.set_tokens(
        connection,
        grant.id,
        access=(access, now + ACCESS_LIFE),
        refresh=(refresh, now + REFRESH_LIFE),
    )
    return Tokens(
        access=access.format(),
        refresh=refresh.format(),
        scopes=tuple(map(Scope, grant.scopes)),
    )


def _make_id() -> KeyId:
    return KeyId(secrets.token_hex(8))


def _make_secret(secret_id: KeyId) -> PresentedKey:
    return PresentedKey(secret_id, secrets.token_hex(32))


def _parse(text: str, problem: str) -> PresentedKey:
    presented = PresentedKey.parse(text)
    if presented is None:
        raise OAuthError(_BAD_GRANT, problem)
    return presented


def _has_hash(presented: PresentedKey, secret_hash: bytes | None) -> bool:
    return secret_hash is not None and hmac.compare_digest(
        hash_secret(presented.secret), secret_hash
    )
