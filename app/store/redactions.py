"""Taking erased texts out of the log, its archives, reviews, kept answers and checkpoints.

Erased memories are recognised by `erased_at`, so each statement serves one memory and a whole agent
alike. `other_columns` declares what becomes of each column and JSON field.

An operation that lost words loses its salt too: its digest then gives no words away, and nobody
expects its content to match the digest.

Erasing must not fail because JSON is not what a write makes. So its items are selected by
`_list_objects`, and ids in it are read by `_read_id`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.fact import Slot
from app.store.columns import ERASED_LOG_KEYS, ERASED_LOG_KEYS_OF_CHAIN
from app.store.engine import fetch_rows
from app.store.log.touching import find_operations_touching
from app.store.tables import HAS_OPINIONS

# The slot of a memory whose words were erased with its whole chain.
NOWHERE = Slot("", "", None)

_LOG = "consolidation_log"
_ARCHIVED_LOG = "archived_log"


@dataclass(frozen=True, slots=True)
class Redaction:
    """The erased memories, and the texts that they lost.

    A `session_id` adds what a call of that session sent without storing it as a memory.
    `everything` adds all texts in the log and the reviews of the agent.
    """

    agent: AgentId
    ids: Sequence[UUID]
    texts: Sequence[str]
    session_id: str | None = None
    everything: bool = False

    def to_parameters(self) -> dict[str, Any]:
        return {
            "agent": self.agent,
            "ids": list(self.ids),
            "quotes": [] if self.everything else list(self.texts),
            "session": self.session_id,
            "everything": self.everything,
            "nowhere": NOWHERE.digest,
            "texts": ERASED_LOG_KEYS,
            "slot_words": ERASED_LOG_KEYS_OF_CHAIN,
        }


async def redact_log(
    connection: AsyncConnection, redaction: Redaction, captures: Sequence[UUID]
) -> None:
    """Take the erased texts out of the log, and of reviews and answers.

    Answers about these `captures` go too, because messages of theirs lost words.
    """
    touching = await find_operations_touching(connection, redaction.agent, redaction.ids)
    operations = await _find_operations(connection, redaction, _LOG, touching)
    await _redact(connection, redaction, _LOG, operations, captures)


async def redact_archived_log(connection: AsyncConnection, redaction: Redaction) -> None:
    """Do the same to the operations in the table `archived_log`."""
    parameters = {"agent": redaction.agent, "ids": list(redaction.ids)}
    rows = await fetch_rows(connection, _FIND_ARCHIVED_TOUCHING, parameters)
    touching = [row["id"] for row in rows]
    operations = await _find_operations(connection, redaction, _ARCHIVED_LOG, touching)
    await _redact(connection, redaction, _ARCHIVED_LOG, operations, [])


async def _find_operations(
    connection: AsyncConnection, redaction: Redaction, log: str, touching: Sequence[UUID]
) -> list[UUID]:
    """Return the operations that may hold an erased text, or none if everything is erased.

    Those `touching` an erased memory are among them. The log may be long, and each erased text is
    searched in it: the search runs only once.
    """
    if redaction.everything:
        return []
    parameters = redaction.to_parameters()
    rows = await fetch_rows(connection, _find_operations_sql(log), parameters)
    return [*touching, *(row["id"] for row in rows)]


async def _redact(
    connection: AsyncConnection,
    redaction: Redaction,
    log: str,
    operations: Sequence[UUID],
    captures: Sequence[UUID],
) -> None:
    parameters = redaction.to_parameters()
    parameters |= {"operations": list(operations), "captures": list(captures)}
    # Answers come first: the reviews of a session are found by its name, which the later
    # statements remove.
    statements = (
        _FORGET_ANSWERS,
        _REDACT_REVIEWS,
        _redact_operations_sql(log),
        _redact_opinions_sql(log),
        _redact_trouble_sql(log),
    )
    for statement in statements:
        await fetch_rows(connection, statement, parameters)


def _list_objects(array: str) -> str:
    """Return the SQL of a row for each object in a JSON array. What else it holds is left out."""
    return f"""jsonb_path_query({array}, '$[*] ? (@.type() == "object")')"""


def _read_id(value: str, key: str) -> str:
    """Return the SQL of an id in a JSON object, NULL if it is none."""
    text = f"{value} ->> '{key}'"
    return f"CASE WHEN pg_input_is_valid({text}, 'uuid') THEN CAST({text} AS uuid) END"


# The words of an operation that can quote a text.
_WORDS = "lower(l.reasoning || CAST(l.signals AS text) || coalesce(CAST(l.usage AS text), ''))"

_ID_TEXTS = "CAST(CAST(:ids AS uuid[]) AS text[])"


# Find the archived operations that wrote or touched erased memories.
_FIND_ARCHIVED_TOUCHING = f"""
    SELECT id FROM {_ARCHIVED_LOG}
    WHERE agent_id = :agent AND (target_memory_id = ANY(:ids) OR source_memory_ids && :ids)
"""


def _find_operations_sql(log: str) -> str:
    """Return the statement that finds other operations that may hold an erased text.

    They tied an erased memory or proposed a change of it, came in an erased session, quote an
    erased text, or received an erased text without storing it.
    """
    return f"""
        WITH quotes AS MATERIALIZED (
            SELECT lower(quote) AS quote FROM unnest(CAST(:quotes AS text[])) AS quote
        ),
        -- Many operations have the same words, so each wording is searched once.
        quoting AS (
            SELECT words FROM (
                SELECT DISTINCT {_WORDS} AS words FROM {log} l WHERE l.agent_id = :agent
            ) AS wordings
            WHERE EXISTS (SELECT 1 FROM quotes WHERE strpos(words, quote) > 0)
        )
        SELECT r.log_id AS id FROM memory_relationships r
        WHERE r.agent_id = :agent
          AND (r.source_id = ANY(:ids) OR r.target_id = ANY(:ids))
          AND r.log_id IS NOT NULL
        UNION
        SELECT v.log_id FROM reviews v
        WHERE v.agent_id = :agent
          AND (v.memory_id = ANY(:ids) OR v.relied_on ?| {_ID_TEXTS})
        UNION
        SELECT l.id FROM {log} l
        WHERE l.agent_id = :agent AND l.session_id = :session
        UNION
        SELECT l.id FROM {log} l JOIN quoting ON quoting.words = {_WORDS}
        WHERE l.agent_id = :agent
        UNION
        SELECT l.id FROM {log} l
        WHERE l.agent_id = :agent
          AND l.operation IN ('NOOP', 'DELETE', 'AMEND')
          AND lower(l.incoming ->> 'content') IN (SELECT quote FROM quotes)
    """


_WITHOUT_CORRECTED_TEXTS = "".join(
    f"\n                #- '{{review,said,{key}}}'" for key in ERASED_LOG_KEYS
)


# Joins to a state `s` its memory. An operation has few states. The planner expects a hundred, and
# would read every memory of the agent for each operation, if LIMIT did not keep it from that.
_MEMORY_OF_STATE = f"""
    LEFT JOIN LATERAL (
        SELECT id, erased_at, slot_hash FROM memories
        WHERE agent_id = :agent AND id = {_read_id("s", "id")}
        LIMIT 1
    ) AS m ON true
"""


def _redacted_states_sql(states: str) -> str:
    """Return the states of an operation `l` without the texts of erased memories.

    Judgments of reviews and notes on reviews quote texts, so they go from every state.
    """
    return f"""(
        SELECT coalesce(jsonb_agg(CASE
            WHEN s ? 'review' THEN
                s #- '{{review,judgments}}' #- '{{review,incoming}}'{_WITHOUT_CORRECTED_TEXTS}
            WHEN s ? 'settled' THEN
                jsonb_set(s, '{{settled,note}}', 'null')
            WHEN NOT s ? 'id' OR m.erased_at IS NULL THEN
                s
            ELSE
                (CASE
                    WHEN jsonb_typeof(s -> 'metadata') = 'object'
                    THEN jsonb_set(s, '{{metadata}}', (s -> 'metadata') - CAST(:texts AS text[]))
                    ELSE s - 'metadata'
                END)
                - CAST(:texts AS text[])
                - CASE
                    WHEN m.slot_hash = :nowhere THEN CAST(:slot_words AS text[])
                    ELSE '{{}}'
                END
            END ORDER BY place), '[]')
        FROM {_list_objects(states)} WITH ORDINALITY AS e (s, place)
        {_MEMORY_OF_STATE}
    )"""


def _redact_operations_sql(log: str) -> str:
    """Return the statement that redacts operations.

    The text that came in stays only if it is the text of a memory that is not erased. The text of
    a duplicate or of a retraction goes with the memory that it met.
    """
    return f"""
        WITH stands AS (
            SELECT l.id, EXISTS (
                SELECT 1 FROM {_list_objects("l.after_state")} AS s
                {_MEMORY_OF_STATE}
                WHERE m.id IS NOT NULL
                  AND m.erased_at IS NULL
                  AND s ? 'belief'
                  AND NOT s ? 'content'
                  AND NOT EXISTS (
                      SELECT 1 FROM {_list_objects("l.before_state")} AS b
                      WHERE b ->> 'id' = s ->> 'id'
                  )
            ) AS incoming
            FROM {log} l
            WHERE l.agent_id = :agent AND (:everything OR l.id = ANY(:operations))
        )
        UPDATE {log} l SET
            before_state = {_redacted_states_sql("l.before_state")},
            after_state = {_redacted_states_sql("l.after_state")},
            incoming = CASE WHEN stands.incoming THEN l.incoming END,
            session_id = CASE WHEN stands.incoming THEN l.session_id END,
            reasoning = CASE
                WHEN l.operation = 'ERASE' THEN l.reasoning
                ELSE 'Its wording was erased with what it spoke of.'
            END,
            signals = (
                SELECT coalesce(jsonb_agg(f || '{{"explanation": ""}}'), '[]')
                FROM {_list_objects("l.signals")} AS f
            ),
            opinions = NULL,
            vetoed = '[]',
            content_salt = NULL
        FROM stands
        WHERE l.agent_id = :agent AND l.id = stands.id
    """


# What judges said of a memory `o` quotes words of both texts.
_QUOTING_OPINION = f"""
    o ->> 'memory_id' = ANY({_ID_TEXTS})
    OR EXISTS (
        SELECT 1
        FROM jsonb_path_query(o, 'strict $.** ? (@.type() == "string")') AS words
        CROSS JOIN unnest(CAST(:quotes AS text[])) AS quote
        WHERE strpos(lower(words #>> '{{}}'), lower(quote)) > 0
    )
"""


def _redact_opinions_sql(log: str) -> str:
    """Return the statement that removes opinions alone.

    An operation that only compared its fact with an erased memory decided about other memories, so
    the rest of it stays.
    """
    return f"""
        UPDATE {log} l SET
            opinions = ({_list_other_opinions_sql("l.opinions")}),
            vetoed = coalesce(({_list_other_opinions_sql("l.vetoed")}), '[]'),
            content_salt = NULL
        WHERE l.agent_id = :agent
          AND {HAS_OPINIONS}
          AND EXISTS (
              SELECT 1 FROM {_list_objects("coalesce(l.opinions, l.vetoed)")} AS o
              WHERE {_QUOTING_OPINION}
          )
    """


def _list_other_opinions_sql(opinions: str) -> str:
    return f"""
                SELECT jsonb_agg(o ORDER BY place)
                FROM {_list_objects(opinions)} WITH ORDINALITY AS e (o, place)
                WHERE NOT ({_QUOTING_OPINION})
            """


def _redact_trouble_sql(log: str) -> str:
    """Return the statement that removes what models answered wrongly.

    The trouble quotes the answer, and the model saw the text of every candidate.
    """
    return f"""
        UPDATE {log} SET
            usage = jsonb_set(usage, '{{trouble}}', '"erased"'),
            content_salt = NULL
        WHERE agent_id = :agent AND jsonb_typeof(usage -> 'trouble') = 'string'
    """


# A store that is held back states a fact of its own, whatever that fact would end. So it waits on.
_WAITS_ON = """
    NOT :everything
    AND status = 'pending'
    AND relation <> 'DUPLICATE'
    AND incoming IS NOT NULL
    AND incoming -> 'fact' ->> 'session_id' IS DISTINCT FROM coalesce(:session, '')
"""

# A question whose fact stands waits on for the candidates that are left.
_HAS_CANDIDATES_LEFT = f"""
    NOT :everything
    AND source IN ('low_confidence', 'judges_disagree')
    AND NOT coalesce(memory_id = ANY(:ids), false)
    AND EXISTS (
        SELECT FROM {_list_objects("judgments")} AS j
        JOIN memories m ON m.agent_id = :agent AND m.id = {_read_id("j", "memory_id")}
        WHERE m.erased_at IS NULL
    )
"""

# Reviews that may quote an erased text.
_QUOTING_REVIEW = f"""
    :everything
    OR memory_id = ANY(:ids)
    OR relied_on ?| {_ID_TEXTS}
    OR log_id = ANY(:operations)
    OR decision_log_id = ANY(:operations)
    OR incoming -> 'fact' ->> 'session_id' = :session
    OR lower(incoming -> 'fact' ->> 'content') IN (
        SELECT lower(quote) FROM unnest(CAST(:quotes AS text[])) AS quote
    )
"""

# A proposal about an erased memory can no longer be made or read.
_REDACT_REVIEWS = f"""
    UPDATE reviews SET
        status = CASE
            WHEN status = 'pending' AND NOT ({_WAITS_ON}) AND NOT ({_HAS_CANDIDATES_LEFT})
                THEN 'overtaken'
            ELSE status
        END,
        note = NULL,
        said = said - CAST(:texts AS text[]),
        incoming = CASE
            WHEN NOT ({_WAITS_ON}) AND (memory_id IS NULL OR memory_id = ANY(:ids)) THEN NULL
            ELSE incoming
        END,
        judgments = (
            SELECT coalesce(
                jsonb_agg(
                    j || '{{"reasoning": "", "findings": [], "vetoes": [], "opinions": []}}'
                    || '{{"new_text": null}}'
                ),
                '[]'
            )
            FROM {_list_objects("judgments")} AS j
        )
    WHERE agent_id = :agent AND ({_QUOTING_REVIEW})
"""

# The fingerprint goes with the answer, because it is a hash of the request. The answer to a
# duplicate, to a retraction or to a store that was held back names only its operation or review.
_FORGET_ANSWERS = f"""
    UPDATE idempotency_keys SET answer = NULL, fingerprint = NULL
    WHERE agent_id = :agent AND (
        :everything
        OR mentioned_ids && CAST(:ids AS uuid[])
        OR mentioned_ids && CAST(:operations AS uuid[])
        OR mentioned_ids && CAST(:captures AS uuid[])
        OR mentioned_ids && (
            SELECT array_agg(id) FROM reviews WHERE agent_id = :agent AND ({_QUOTING_REVIEW})
        )
    )
"""
