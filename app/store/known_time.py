"""Known times that a reader names: what was known then must never change again.

A write takes its known time under the agent's lock: the clock as it is then, or a moment after the
agent's last known time if the clock is not later. It is seen at its commit, and keeps the lock
until then. So a read at a known time after the last one that is seen first waits for the lock.
Later writes get later known times, as long as the database's clock is not set back.
"""

from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.errors import NotYetKnown
from app.store.engine import fetch_rows, get_driver
from app.store.fragments import NEVER_SQL

# Read the agent's last known time that is seen, and the clock.
_READ_LAST = """
    SELECT
        (SELECT last_known_at FROM agents WHERE agent_id = :agent) AS last,
        clock_timestamp() AS now,
        current_setting('transaction_read_only')::boolean AS is_read_only
"""

# Wait for the write under way. This is the weakest lock that waits for the lock of a write.
_WAIT = "SELECT FROM agents WHERE agent_id = :agent FOR KEY SHARE"

# Wait for the first write of an agent. Its row is seen by nobody yet, but no other can be inserted.
_WAIT_FOR_FIRST = f"""
    INSERT INTO agents (agent_id, created_at, last_known_at)
    VALUES (:agent, clock_timestamp(), {NEVER_SQL})
    ON CONFLICT DO NOTHING
"""


async def settle_known_time(
    connection: AsyncConnection, agent: AgentId, known_at: datetime
) -> None:
    """Wait until no write can change any more what was known at this time.

    A read of what was known later than the agent's last write waits for a write under way, and no
    other read waits. Raises NotYetKnown for the future, and for what a standby may learn late.
    """
    [row] = await fetch_rows(connection, _READ_LAST, {"agent": agent})
    if row["last"] is not None and known_at <= row["last"]:
        return
    if row["is_read_only"]:
        raise NotYetKnown(known_at, row["last"])
    if known_at >= row["now"]:
        raise NotYetKnown(known_at, row["now"])
    statement = _WAIT_FOR_FIRST if row["last"] is None else _WAIT
    # The rollback releases the lock, and leaves no agent behind that only was read.
    async with get_driver(connection).transaction(force_rollback=True):
        await fetch_rows(connection, statement, {"agent": agent})


async def settle_window(connection: AsyncConnection, agent: AgentId, until: datetime) -> None:
    """Do the same for a window of known times that ends at `until`.

    A window that reaches into the future is read as far as it goes.
    """
    try:
        await settle_known_time(connection, agent, until)
    except NotYetKnown:
        return
