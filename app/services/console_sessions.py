"""The sessions of viewers of the console, each with the key that its viewer logged in with.

A cookie is 256 random bits. The database holds its hash, and the key encrypted under it: whoever
reads the database gets no key, and a cookie opens nothing once its row is gone.
"""

import asyncio
from datetime import timedelta

from cryptography.fernet import Fernet
from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.keys import hash_secret
from app.store import console_sessions
from app.store.engine import begin_for_keys, read_clock

LIFE = timedelta(hours=12)
# Sessions that one key may have; its oldest one ends with the next login.
MOST_SESSIONS = 100


class ConsoleSessions:
    """Begins, finds and ends sessions."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        # Cookies come from anybody. Their statements take one connection, however many come.
        self._one_at_a_time = asyncio.Lock()

    async def begin_session(self, key: str, actor: str) -> str:
        """Store a session with this key of the actor, and return its cookie."""
        cookie = Fernet.generate_key()
        async with begin_for_keys(self._engine) as connection:
            await console_sessions.insert_session(
                connection,
                hash_secret(cookie.decode()),
                sealed_key=Fernet(cookie).encrypt(key.encode()),
                actor=actor,
                now=await read_clock(connection),
                life=LIFE,
                most=MOST_SESSIONS,
            )
        return cookie.decode()

    async def find_key(self, cookie: str) -> str | None:
        """Return the key of the session; None if it is over, or the cookie is no session's."""
        async with self._one_at_a_time, begin_for_keys(self._engine) as connection:
            sealed = await console_sessions.find_sealed_key(connection, hash_secret(cookie))
        return Fernet(cookie).decrypt(sealed).decode() if sealed else None

    async def end_session(self, cookie: str) -> None:
        async with self._one_at_a_time, begin_for_keys(self._engine) as connection:
            await console_sessions.delete_session(connection, hash_secret(cookie))
