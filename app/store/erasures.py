"""Erasing: reads that find what is meant, and the statements that empty the rows of memories.

`redactions` and `captures.redactions` take the erased texts out of every other place.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.store.agent_indexes import remove_erased
from app.store.captures.redactions import redact_messages
from app.store.columns import ERASED_WITH_CHAIN, ERASED_WITH_MEMORY, set_erased_sql
from app.store.engine import fetch_rows, get_driver
from app.store.inserts import build_insert
from app.store.insights import forget_insights
from app.store.log.chain import LogChain
from app.store.redactions import NOWHERE, Redaction, redact_log
from app.store.rows import LOG_TYPES, CallInfo, erasure_row
from app.store.sweeps.runs import FORGET_SLOTS_OF_SWEEPS
from app.store.wrong_values import empty_wrong_json

CHUNK = 5_000

# --- finding -------------------------------------------------------------------------------------

# Every version of the chain of a memory.
_CHAIN = """
    SELECT id FROM memories
    WHERE agent_id = :agent
      AND chain_id = (SELECT chain_id FROM memories WHERE agent_id = :agent AND id = :id)
"""


async def list_ids_in_chain(
    connection: AsyncConnection, agent: AgentId, member: UUID
) -> list[UUID]:
    """Return every version of the chain of this memory."""
    return await _fetch_ids(connection, _CHAIN, {"agent": agent, "id": member})


# Every memory of an agent, or of one of its sessions.
_OF_AGENT = """
    SELECT id FROM memories
    WHERE agent_id = :agent AND (CAST(:session AS text) IS NULL OR session_id = :session)
"""


async def list_ids_of_agent(
    connection: AsyncConnection, agent: AgentId, session_id: str | None
) -> list[UUID]:
    """Return every memory of the agent, or of one of its sessions."""
    return await _fetch_ids(connection, _OF_AGENT, {"agent": agent, "session": session_id})


# Does the log, a review or a message hold anything of the agent, or of one of its sessions?
_HAS_TEXTS = """
    SELECT EXISTS (
        SELECT 1 FROM consolidation_log
        WHERE agent_id = :agent AND (CAST(:session AS text) IS NULL OR session_id = :session)
    ) OR EXISTS (
        SELECT 1 FROM folded_operations
        WHERE agent_id = :agent AND CAST(:session AS text) IS NULL
    ) OR EXISTS (
        SELECT 1 FROM reviews
        WHERE agent_id = :agent
          AND (
              CAST(:session AS text) IS NULL
              OR incoming -> 'fact' ->> 'session_id' = :session
          )
    ) OR EXISTS (
        SELECT 1 FROM turns
        WHERE agent_id = :agent AND (content IS NOT NULL OR session_id IS NOT NULL)
          AND (CAST(:session AS text) IS NULL OR session_id = :session)
    ) AS any_text
"""


async def has_other_texts(
    connection: AsyncConnection, agent: AgentId, session_id: str | None
) -> bool:
    """Return True if the log, a review or a message holds anything of the agent or the session.

    A duplicate leaves its text there and no memory.
    """
    [row] = await fetch_rows(connection, _HAS_TEXTS, {"agent": agent, "session": session_id})
    return bool(row["any_text"])


# The memories that a text of these was merged into, over any number of merges.
_DESCENDANTS = """
    WITH RECURSIVE merged AS (
        SELECT id, merged_from FROM memories
        WHERE agent_id = :agent AND merged_from <> '{}' AND merged_from && :ids
          AND erased_at IS NULL
        UNION
        SELECT m.id, m.merged_from
        FROM memories m JOIN merged ON m.merged_from @> ARRAY[merged.id]
        WHERE m.agent_id = :agent AND m.merged_from <> '{}' AND m.erased_at IS NULL
    )
    SELECT id FROM merged WHERE id <> ALL(:ids) ORDER BY id
"""


async def find_merge_descendants(
    connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID]
) -> list[UUID]:
    """Return the other memories, not erased, that a text of these was merged into."""
    return await _fetch_ids(connection, _DESCENDANTS, {"agent": agent, "ids": list(ids)})


# The texts of memories that are not erased.
_UNERASED = """
    SELECT id, content FROM memories
    WHERE agent_id = :agent AND id = ANY(:ids) AND erased_at IS NULL
    ORDER BY id
"""


async def stream_unerased_texts(
    connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID]
) -> AsyncIterator[tuple[UUID, str]]:
    """Yield the text of each of these memories that is not erased."""
    for start in range(0, len(ids), CHUNK):
        chunk = list(ids[start : start + CHUNK])
        for row in await fetch_rows(connection, _UNERASED, {"agent": agent, "ids": chunk}):
            yield row["id"], row["content"]


# Which of these memories are erased?
_ERASED = """
    SELECT id FROM memories
    WHERE agent_id = :agent AND id = ANY(:ids) AND erased_at IS NOT NULL
"""


async def find_erased_ids(
    connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID]
) -> set[UUID]:
    """Return those of these memories that are erased."""
    return set(await _fetch_ids(connection, _ERASED, {"agent": agent, "ids": list(ids)}))


async def _fetch_ids(
    connection: AsyncConnection, statement: str, parameters: Mapping[str, Any]
) -> list[UUID]:
    return [row["id"] for row in await fetch_rows(connection, statement, parameters)]


# --- erasing -------------------------------------------------------------------------------------

# The row stays, with its intervals and links, so that chains keep their shape.
_ERASE = f"""
    UPDATE memories SET
        {set_erased_sql(ERASED_WITH_MEMORY)},
        erased_at = :now,
        revision = revision + 1
    WHERE agent_id = :agent AND id = ANY(:ids) AND erased_at IS NULL
"""

# The chains that lost one of these versions just now.
_CHAINS = """
    SELECT DISTINCT chain_id FROM memories
    WHERE agent_id = :agent AND id = ANY(:ids) AND erased_at = :now
"""

# Those chains that still have a version with words.
_STANDING = """
    SELECT DISTINCT chain_id FROM memories
    WHERE agent_id = :agent AND chain_id = ANY(:chains) AND erased_at IS NULL
"""

# The words of a slot are those of the whole chain, so they go with its last version.
_FORGET_SLOTS = f"""
    UPDATE memories SET
        {set_erased_sql(ERASED_WITH_CHAIN)}
    WHERE agent_id = :agent AND chain_id = ANY(:chains)
    RETURNING id
"""

# A checkpoint knows words by their hashes, by which a word can be found again.
_UNSEAL = """
    UPDATE log_checkpoints SET sealed = '{}' WHERE agent_id = :agent AND memory_id = ANY(:ids)
"""


async def erase_memories(
    connection: AsyncConnection,
    agent: AgentId,
    texts: Mapping[UUID, str],
    *,
    now: datetime,
    session_id: str | None = None,
    everything: bool = False,
) -> Redaction:
    """Erase these memories, and take their texts out of every other place.

    `texts` holds the text of each memory. `session_id` adds what that session sent without storing
    it as a memory. `everything` adds all texts in the log and the reviews of the agent.
    Return the redaction that the archives of the log need.
    """
    parameters = {
        "agent": agent,
        "now": now,
        "ids": list(texts),
        "everything": everything,
    }
    if everything:
        await empty_wrong_json(connection, agent)
    swept = await _fetch_ids(connection, FORGET_SLOTS_OF_SWEEPS, parameters)
    await fetch_rows(connection, _ERASE, parameters)
    await remove_erased(connection, agent, list(texts))
    unnamed = await _forget_slots(connection, agent, list(texts), now)
    ids = list({*texts, *unnamed, *swept})
    await forget_insights(connection, agent, ids)
    await fetch_rows(connection, _UNSEAL, {"agent": agent, "ids": ids})
    redaction = Redaction(
        agent=agent,
        ids=ids,
        texts=list(texts.values()),
        session_id=session_id,
        everything=everything,
    )
    captures = await redact_messages(connection, redaction)
    await redact_log(connection, redaction, captures)
    return redaction


async def _forget_slots(
    connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID], now: datetime
) -> list[UUID]:
    """Erase the words of every chain whose last version was one of these. Return its memories.

    This takes three statements. In one, the planner compared every memory with every other if a
    large import was not analysed yet.
    """
    rows = await fetch_rows(connection, _CHAINS, {"agent": agent, "ids": ids, "now": now})
    chains = {row["chain_id"] for row in rows}
    rows = await fetch_rows(connection, _STANDING, {"agent": agent, "chains": list(chains)})
    standing = {row["chain_id"] for row in rows}
    gone = {"agent": agent, "chains": list(chains - standing), "nowhere": NOWHERE.digest}
    return await _fetch_ids(connection, _FORGET_SLOTS, gone)


# Set the known time of the erasure on the agent, and the new end of its log.
_SET_ERASED = """
    UPDATE agents
    SET last_known_at = :now, last_erased_at = :now, log_head = :log_head
    WHERE agent_id = :agent
"""


async def log_erasure(
    connection: AsyncConnection,
    agent: AgentId,
    log_id: UUID,
    digests: Mapping[UUID, str],
    *,
    now: datetime,
    call: CallInfo,
    log_chain: LogChain,
) -> None:
    """Log the erasure, with the digest of each text from the receipt."""
    row = log_chain.link_row(erasure_row(agent, log_id, digests, now, call))
    statement, values = build_insert("consolidation_log", LOG_TYPES, [row])
    driver = get_driver(connection)
    await driver.execute(statement.encode(), values)
    parameters = {"agent": agent, "now": now, "log_head": log_chain.head}
    await fetch_rows(connection, _SET_ERASED, parameters)
