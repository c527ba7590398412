"""The sessions of the console. Neither the cookie of a session nor its key can be read here."""

from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncConnection

from app.store.engine import fetch_rows

# Store a new session.
_INSERT = """
    INSERT INTO console_sessions (cookie_hash, sealed_key, actor, expires_at)
    VALUES (:cookie_hash, :sealed_key, :actor, :expires_at)
"""

# Remove the sessions that are over, and the oldest ones of an actor who has too many.
_FORGET = """
    DELETE FROM console_sessions
    WHERE expires_at <= :now OR cookie_hash IN (
        SELECT cookie_hash FROM console_sessions WHERE actor = :actor
        ORDER BY expires_at DESC
        OFFSET :most
    )
"""

# Find the sealed key of a session that is not over.
_FIND = """
    SELECT sealed_key FROM console_sessions
    WHERE cookie_hash = :cookie_hash AND expires_at > clock_timestamp()
"""

_DELETE = "DELETE FROM console_sessions WHERE cookie_hash = :cookie_hash"


async def insert_session(
    connection: AsyncConnection,
    cookie_hash: bytes,
    *,
    sealed_key: bytes,
    actor: str,
    now: datetime,
    life: timedelta,
    most: int,
) -> None:
    """Store a session that begins now. Its actor keeps the newest `most` sessions."""
    values = {
        "cookie_hash": cookie_hash,
        "sealed_key": sealed_key,
        "actor": actor,
        "expires_at": now + life,
    }
    await fetch_rows(connection, _INSERT, values)
    await fetch_rows(connection, _FORGET, {"actor": actor, "now": now, "most": most})


async def find_sealed_key(connection: AsyncConnection, cookie_hash: bytes) -> bytes | None:
    """Return the sealed key of the session; None if there is no such session, or it is over."""
    rows = await fetch_rows(connection, _FIND, {"cookie_hash": cookie_hash})
    return bytes(rows[0]["sealed_key"]) if rows else None


async def delete_session(connection: AsyncConnection, cookie_hash: bytes) -> None:
    await fetch_rows(connection, _DELETE, {"cookie_hash": cookie_hash})
