"""What erase removes: text, hashes and vectors of memories, and every place in the agent's log and reviews that told of them.

Memories are told apart by `erased_at`, so each statement serves one memory and a whole agent alike.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.fact import Slot
from app.store.columns import (
    ERASED_LOG_KEYS,
    ERASED_LOG_KEYS_OF_CHAIN,
    ERASED_WITH_CHAIN,
    ERASED_WITH_MEMORY,
    set_erased_sql,
)
from app.store.engine import driver_connection, fetch_rows
from app.store.sweeps.runs import FORGET_SLOTS_OF_SWEEPS

CHUNK = 5_000

NOWHERE = Slot("", "", None)


async def list_ids_in_chain(
    connection: AsyncConnection, agent: AgentId, member: UUID
) -> list[UUID]:
    """Every version of the chain that this memory is in."""
    statement = """
        SELECT id FROM memories
        WHERE agent_id = :agent AND chain_id = (SELECT chain_id FROM memories WHERE agent_id = :agent AND id = :id)
    """
    return [
        row["id"] for row in await fetch_rows(connection, statement, {"agent": agent, "id": member})
    ]


async def list_ids_of_agent(
    connection: AsyncConnection, agent: AgentId, session_id: str | None
) -> list[UUID]:
    """Every memory of the agent, or of one of its sessions."""
    statement = "SELECT id FROM memories WHERE agent_id = :agent AND (CAST(:session AS text) IS NULL OR session_id = :session)"
    return [
        row["id"]
        for row in await fetch_rows(connection, statement, {"agent": agent, "session": session_id})
    ]


async def has_log_or_reviews(
    connection: AsyncConnection, agent: AgentId, session_id: str | None
) -> bool:
    """Whether the agent's log or reviews tell of anything, or of anything in that session: a duplicate leaves no memory of its own."""
    statement = """
        SELECT EXISTS (
            SELECT 1 FROM consolidation_log WHERE agent_id = :agent AND (CAST(:session AS text) IS NULL OR session_id = :session)
        ) OR (CAST(:session AS text) IS NULL AND EXISTS (SELECT 1 FROM folded_operations WHERE agent_id = :agent)) OR EXISTS (
            SELECT 1 FROM reviews
            WHERE agent_id = :agent AND (CAST(:session AS text) IS NULL OR incoming -> 'fact' ->> 'session_id' = :session)
        ) AS told
    """
    [row] = await fetch_rows(connection, statement, {"agent": agent, "session": session_id})
    return bool(row["told"])


async def find_merge_descendants(
    connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID]
) -> list[UUID]:
    """The memories, not among these and not erased, that text of these was merged into, over any number of merges."""
    statement = """
        WITH RECURSIVE merged AS (
            SELECT id, merged_from FROM memories WHERE agent_id = :agent AND merged_from && :ids AND erased_at IS NULL
            UNION
            SELECT m.id, m.merged_from FROM memories m JOIN merged ON m.merged_from @> ARRAY[merged.id]
            WHERE m.agent_id = :agent AND m.erased_at IS NULL
        )
        SELECT id FROM merged WHERE id <> ALL(:ids) ORDER BY id
    """
    return [
        row["id"]
        for row in await fetch_rows(connection, statement, {"agent": agent, "ids": list(ids)})
    ]


async def stream_unerased_texts(
    connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID]
) -> AsyncIterator[tuple[UUID, str]]:
    """The text of each of these that is not erased yet."""
    statement = "SELECT id, content FROM memories WHERE agent_id = :agent AND id = ANY(:ids) AND erased_at IS NULL ORDER BY id"
    for start in range(0, len(ids), CHUNK):
        for row in await fetch_rows(
            connection, statement, {"agent": agent, "ids": list(ids[start : start + CHUNK])}
        ):
            yield row["id"], row["content"]


# The row stays, with its intervals and links, so that chains keep their shape.
_ERASE = f"""
    UPDATE memories SET {set_erased_sql(ERASED_WITH_MEMORY)}, erased_at = :now, revision = revision + 1
    WHERE agent_id = :agent AND id = ANY(:ids) AND erased_at IS NULL
"""

_CHAINS = "SELECT DISTINCT chain_id FROM memories WHERE agent_id = :agent AND erased_at = :now"

_STANDING = "SELECT DISTINCT chain_id FROM memories WHERE agent_id = :agent AND chain_id = ANY(:chains) AND erased_at IS NULL"

_FORGET_SLOTS = f"""
    UPDATE memories SET {set_erased_sql(ERASED_WITH_CHAIN)}
    WHERE agent_id = :agent AND chain_id = ANY(:chains)
    RETURNING id
"""

# The rows of the log that tell of what was erased: they wrote or touched it, linked to it, or proposed something of it; what
# was said in an erased session; those whose words quote an erased text; and those that were told it without storing it then.
_WORDS = "lower(l.reasoning || CAST(l.signals AS text) || coalesce(CAST(l.usage AS text), ''))"
_TOLD_OF = f"""
    WITH quotes AS MATERIALIZED (SELECT lower(quote) AS quote FROM unnest(CAST(:quotes AS text[])) AS quote),
    -- Most operations are told in the same few words, so each is looked through once.
    quoting AS (
        SELECT words FROM (SELECT DISTINCT {_WORDS} AS words FROM consolidation_log l WHERE l.agent_id = :agent) AS said
        WHERE EXISTS (SELECT 1 FROM quotes WHERE strpos(words, quote) > 0)
    )
    SELECT l.id FROM consolidation_log l WHERE l.agent_id = :agent AND (l.target_memory_id = ANY(:ids) OR l.source_memory_ids && :ids)
    UNION
    SELECT r.log_id FROM memory_relationships r
    WHERE r.agent_id = :agent AND (r.source_id = ANY(:ids) OR r.target_id = ANY(:ids)) AND r.log_id IS NOT NULL
    UNION
    SELECT v.log_id FROM reviews v
    WHERE v.agent_id = :agent AND (v.memory_id = ANY(:ids) OR v.relied_on ?| CAST(CAST(:ids AS uuid[]) AS text[]))
    UNION
    SELECT l.id FROM consolidation_log l WHERE l.agent_id = :agent AND l.session_id = :session
    UNION
    SELECT l.id FROM consolidation_log l JOIN quoting ON quoting.words = {_WORDS} WHERE l.agent_id = :agent
    UNION
    SELECT l.id FROM consolidation_log l
    WHERE l.agent_id = :agent AND l.operation IN ('NOOP', 'DELETE', 'AMEND')
      AND lower(l.incoming ->> 'content') IN (SELECT quote FROM quotes)
"""


_WITHOUT_CORRECTED_TEXTS = " ".join(f"#- '{{said,{key}}}'" for key in ERASED_LOG_KEYS)


def _redacted_states_sql(states: str) -> str:
    """The states of a log row without what they say of erased memories and without the judgments of reviews."""
    return f"""
        (SELECT coalesce(jsonb_agg(CASE
            WHEN s ? 'review'
            THEN jsonb_set(s, '{{review}}', ((s -> 'review') - 'judgments' - 'incoming') {_WITHOUT_CORRECTED_TEXTS})
            WHEN s ? 'settled' THEN jsonb_set(s, '{{settled,note}}', 'null')
            WHEN NOT s ? 'id' OR m.erased_at IS NULL THEN s
            ELSE (CASE WHEN s ? 'metadata' THEN jsonb_set(s, '{{metadata}}', (s -> 'metadata') - CAST(:texts AS text[])) ELSE s END)
                 - CAST(:texts AS text[]) - CASE WHEN m.slot_hash = :nowhere THEN CAST(:slot_words AS text[]) ELSE '{{}}' END
            END ORDER BY place), '[]')
         FROM jsonb_array_elements({states}) WITH ORDINALITY AS e (s, place)
         LEFT JOIN memories m ON m.agent_id = l.agent_id AND m.id = CAST(s ->> 'id' AS uuid))
    """


# What was said in the call stays only where it is the text of a memory that still stands: the text of a duplicate or a retraction
# goes with what it hit.
_REDACT_LOG = f"""
    WITH stands AS (
        SELECT l.id, EXISTS (
            SELECT 1 FROM jsonb_array_elements(l.after_state) AS s
            JOIN memories m ON m.agent_id = l.agent_id AND m.id = CAST(s ->> 'id' AS uuid) AND m.erased_at IS NULL
            WHERE s ? 'belief' AND NOT s ? 'content'
              AND NOT EXISTS (SELECT 1 FROM jsonb_array_elements(l.before_state) AS b WHERE b ->> 'id' = s ->> 'id')
        ) AS incoming
        FROM consolidation_log l WHERE l.agent_id = :agent AND (:everything OR l.id = ANY(:told))
    )
    UPDATE consolidation_log l SET
        before_state = {_redacted_states_sql("l.before_state")},
        after_state = {_redacted_states_sql("l.after_state")},
        incoming = CASE WHEN stands.incoming THEN l.incoming END,
        session_id = CASE WHEN stands.incoming THEN l.session_id END,
        reasoning = CASE WHEN l.operation = 'ERASE' THEN l.reasoning ELSE 'Its wording was erased with what it spoke of.' END,
        signals = (SELECT coalesce(jsonb_agg(f || '{{"explanation": ""}}'), '[]') FROM jsonb_array_elements(l.signals) AS f),
        vetoed = '[]'
    FROM stands WHERE l.agent_id = :agent AND l.id = stands.id
"""

# A veto quotes words of both texts. It goes alone: the decision on a row that kept something apart from what was erased is about others.
_TELLS_IN_VETO = """
    v ->> 'memory_id' = ANY(CAST(CAST(:ids AS uuid[]) AS text[]))
    OR EXISTS (SELECT 1 FROM unnest(CAST(:quotes AS text[])) AS quote WHERE strpos(lower(v ->> 'veto'), lower(quote)) > 0)
"""
_REDACT_VETOES = f"""
    UPDATE consolidation_log l SET vetoed = (
        SELECT coalesce(jsonb_agg(v ORDER BY place), '[]') FROM jsonb_array_elements(l.vetoed) WITH ORDINALITY AS e (v, place)
        WHERE NOT ({_TELLS_IN_VETO})
    )
    WHERE l.agent_id = :agent AND EXISTS (SELECT 1 FROM jsonb_array_elements(l.vetoed) AS v WHERE {_TELLS_IN_VETO})
"""

# What a model answered wrongly is quoted there, and it saw the text of every candidate.
_REDACT_TROUBLE = """
    UPDATE consolidation_log SET usage = jsonb_set(usage, '{trouble}', '"erased"')
    WHERE agent_id = :agent AND usage ->> 'trouble' IS NOT NULL
"""

# A store that is held back and says something of its own, whatever it would have ended: it waits on.
_STANDS = """
    NOT :everything AND status = 'pending' AND relation NOT IN ('DUPLICATE', 'RETRACTION')
    AND incoming IS NOT NULL AND incoming -> 'fact' ->> 'session_id' IS DISTINCT FROM coalesce(:session, '')
"""

# A proposal about what was erased can be neither made nor read any more.
_TELLING_REVIEWS = """
    :everything OR memory_id = ANY(:ids) OR relied_on ?| CAST(CAST(:ids AS uuid[]) AS text[])
    OR log_id = ANY(:told) OR decision_log_id = ANY(:told)
    OR incoming -> 'fact' ->> 'session_id' = :session
    OR lower(incoming -> 'fact' ->> 'content') IN (SELECT lower(quote) FROM unnest(CAST(:quotes AS text[])) AS quote)
"""
_REDACT_REVIEWS = f"""
    UPDATE reviews SET status = CASE WHEN status = 'pending' AND NOT ({_STANDS}) THEN 'expired' ELSE status END, note = NULL,
        said = said - CAST(:texts AS text[]),
        incoming = CASE WHEN NOT ({_STANDS}) AND (memory_id IS NULL OR memory_id = ANY(:ids)) THEN NULL ELSE incoming END,
        judgments = (SELECT coalesce(jsonb_agg(j || '{{"reasoning": "", "findings": [], "vetoes": []}}'), '[]')
                     FROM jsonb_array_elements(judgments) AS j)
    WHERE agent_id = :agent AND ({_TELLING_REVIEWS})
"""

# The fingerprint goes too: it is a hash of what was sent. A duplicate, a retraction or a store that was held back names nothing but
# the row of the log or the review that tells of it.
_FORGET_ANSWERS = f"""
    UPDATE idempotency_keys SET answer = NULL, fingerprint = NULL
    WHERE agent_id = :agent AND (
        :everything OR mentioned_ids && CAST(:ids AS uuid[]) OR mentioned_ids && CAST(:told AS uuid[])
        OR mentioned_ids && (SELECT array_agg(id) FROM reviews WHERE agent_id = :agent AND ({_TELLING_REVIEWS}))
    )
"""


# What a checkpoint knows words by is as good as a hash of each.
_UNSEAL = (
    "UPDATE log_checkpoints SET sealed = '{}' WHERE agent_id = :agent AND memory_id = ANY(:ids)"
)

# Answers first: the reviews that tell of a session are found by its name, which the others take away.
_REDACTIONS = (_FORGET_ANSWERS, _REDACT_REVIEWS, _REDACT_LOG, _REDACT_VETOES, _REDACT_TROUBLE)
_LOG_TABLE, _COPY = "consolidation_log", "archived_log"


async def erase_memories(
    connection: AsyncConnection,
    agent: AgentId,
    quoted: Mapping[UUID, str],
    *,
    now: datetime,
    session_id: str | None = None,
    everything: bool = False,
) -> Mapping[str, Any]:
    """Removes the text, hashes and vectors of these memories (`quoted`: id and text), and what the log and reviews tell of them.

    `session_id`: also what was said in that session without becoming a memory; `everything`: all that the agent's log and reviews say.
    Returns what `redact_copy` takes.
    """
    given: dict[str, Any] = {
        "agent": agent,
        "now": now,
        "ids": list(quoted),
        "nowhere": NOWHERE.digest,
        "texts": ERASED_LOG_KEYS,
        "slot_words": ERASED_LOG_KEYS_OF_CHAIN,
        "quotes": [] if everything else list(quoted.values()),
        "session": session_id,
        "everything": everything,
    }
    swept = [row["id"] for row in await fetch_rows(connection, FORGET_SLOTS_OF_SWEEPS, given)]
    await fetch_rows(connection, _ERASE, given)
    given["ids"] = list({*quoted, *await _forget_slots(connection, given), *swept})
    await fetch_rows(connection, _UNSEAL, given)
    await _redact_log(connection, given, _LOG_TABLE)
    return given


async def _forget_slots(connection: AsyncConnection, parameters: Mapping[str, Any]) -> list[UUID]:
    """The words of a slot are those of the whole chain: they go with its last version. Returns the memories that lost them.

    In steps, because one statement had the planner compare every memory with every other where a large import was not analysed yet.
    """
    chains = {row["chain_id"] for row in await fetch_rows(connection, _CHAINS, parameters)}
    standing = {
        row["chain_id"]
        for row in await fetch_rows(connection, _STANDING, {**parameters, "chains": list(chains)})
    }
    return [
        row["id"]
        for row in await fetch_rows(
            connection, _FORGET_SLOTS, {**parameters, "chains": list(chains - standing)}
        )
    ]


async def redact_archived_log(connection: AsyncConnection, parameters: Mapping[str, Any]) -> None:
    """Does to the archived operations in `archived_log`, and to reviews that came from them, what `erase` did to the log."""
    await _redact_log(connection, parameters, _COPY)


async def _redact_log(connection: AsyncConnection, parameters: Mapping[str, Any], log: str) -> None:
    """What is to be redacted is found once: the log may be long, and each erased text is looked for in it."""
    told = (
        []
        if parameters["everything"]
        else await fetch_rows(connection, _TOLD_OF.replace(_LOG_TABLE, log), parameters)
    )
    for statement in _REDACTIONS:
        await fetch_rows(
            connection,
            statement.replace(_LOG_TABLE, log),
            {**parameters, "told": [row["id"] for row in told]},
        )


_LOG = b"""
    WITH known AS (UPDATE agents SET last_known_at = %(now)s, last_erased_at = %(now)s WHERE agent_id = %(agent)s)
    INSERT INTO consolidation_log (agent_id, id, operation, source_memory_ids, target_memory_id, relation, confidence, reasoning, signals,
        decided_by, before_state, after_state, request_id, created_at)
    VALUES (%(agent)s, %(id)s, 'ERASE', %(ids)s, %(target)s, 'NONE', 1, 'Erased by the caller.', '[]', 'caller', '[]', %(after)s,
        %(request)s, %(now)s)
"""


async def log_erasure(
    connection: AsyncConnection,
    agent: AgentId,
    log_id: UUID,
    digests: Mapping[UUID, str],
    *,
    now: datetime,
    request_id: str | None,
) -> None:
    """One log row, with the receipt's digest of each text, and the known time of it on the agent."""
    after = [
        {"id": str(memory_id), "erased_at": now.isoformat(), "hmac": digest}
        for memory_id, digest in digests.items()
    ]
    target = next(iter(digests)) if len(digests) == 1 else None
    driver = await driver_connection(connection)
    await driver.execute(
        _LOG,
        {
            "agent": agent,
            "id": log_id,
            "ids": list(digests),
            "target": target,
            "after": Jsonb(after),
            "request": request_id,
            "now": now,
        },
    )


async def find_erased_ids(
    connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID]
) -> set[UUID]:
    """Which of these memories are erased."""
    statement = "SELECT id FROM memories WHERE agent_id = :agent AND id = ANY(:ids) AND erased_at IS NOT NULL"
    return {
        row["id"]
        for row in await fetch_rows(connection, statement, {"agent": agent, "ids": list(ids)})
    }
