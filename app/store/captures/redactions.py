"""Taking erased facts out of messages: the words that they quote, and their own words.

A fact is linked to the parts of messages that it rests on. These parts become blank, so that all
other places stay as they are, and so does each place where a message has the text of an erased
memory. A message of which no word is left loses its content.
"""

from collections import defaultdict
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.phrases import PhraseFinder, Span, blank_spans
from app.store.engine import fetch_rows
from app.store.redactions import Redaction
from app.turns import iterate_in_turns

# Messages that are read at a time.
PAGE = 500


async def redact_messages(connection: AsyncConnection, redaction: Redaction) -> list[UUID]:
    """Take erased facts out of messages, and return the captures that lost words.

    Whoever is reading messages of the agent starts again with what is left of them.
    """
    parameters = redaction.to_parameters()
    captures: set[UUID] = set()
    if redaction.session_id is not None or redaction.everything:
        emptied = await fetch_rows(connection, _EMPTY_TURNS, parameters)
        captures.update(row["capture_id"] for row in emptied)
        for statement in (_FORGET_MESSAGE_NAMES, _FORGET_CAPTURE_NAMES):
            await fetch_rows(connection, statement, parameters)
    if not redaction.everything:
        linked = await _empty_facts(connection, redaction)
        captures |= await _blank_words(connection, redaction, linked)
    for statement in (_RESTART_READING, _FORGET_TROUBLE):
        await fetch_rows(connection, statement, parameters)
    return list(captures)


# A runner may have read words that are erased. Without its claim it stores nothing of them.
_RESTART_READING = """
    UPDATE captures SET runner = NULL, alive_at = NULL WHERE agent_id = :agent AND state = 'pending'
"""

# A model saw the messages before those that it read.
_FORGET_TROUBLE = """
    UPDATE captures SET trouble = 'erased' WHERE agent_id = :agent AND trouble IS NOT NULL
"""

# --- whole messages ------------------------------------------------------------------------------

# Empty the messages of a session or of the agent, and their facts. No more facts are read from
# them.
_EMPTY_TURNS = """
    WITH emptied AS (
        UPDATE turns SET
            content = NULL, name = NULL, embedding = NULL, skipped = '[]', done = true
        WHERE agent_id = :agent AND (:everything OR session_id = :session)
        RETURNING id, capture_id
    ),
    facts AS (
        UPDATE captured_facts SET content = NULL
        WHERE agent_id = :agent AND turn_id IN (SELECT id FROM emptied)
    )
    SELECT DISTINCT capture_id FROM emptied
"""

# The names of an erased session and of its messages go with it.
_FORGET_MESSAGE_NAMES = """
    UPDATE turns SET session_id = NULL, message_id = NULL
    WHERE agent_id = :agent AND (:everything OR session_id = :session)
"""
_FORGET_CAPTURE_NAMES = """
    UPDATE captures SET session_id = NULL
    WHERE agent_id = :agent AND (:everything OR session_id = :session)
"""


# --- facts and their quotes ----------------------------------------------------------------------

# Empty the facts that say what was erased. A fact that retired a memory has none of its own, and
# goes with that memory. A fact that waits as a review, or that failed, goes with its equal text.
_EMPTY_FACTS = """
    UPDATE captured_facts SET content = NULL
    WHERE agent_id = :agent AND (
        memory_id = ANY(:ids)
        OR memory_id IS NULL AND log_id IN (
            SELECT id FROM consolidation_log
            WHERE agent_id = :agent
              AND (target_memory_id = ANY(:ids) OR source_memory_ids && :ids)
            UNION ALL
            SELECT id FROM folded_operations WHERE agent_id = :agent AND memory_ids && :ids
        )
        OR lower(content) IN (SELECT lower(quote) FROM unnest(CAST(:quotes AS text[])) AS quote)
    )
    RETURNING quotes
"""

Spans = dict[UUID, list[Span]]


async def _empty_facts(connection: AsyncConnection, redaction: Redaction) -> Spans:
    """Empty the facts that say what was erased, and return what they quote, by message."""
    spans: Spans = defaultdict(list)
    for row in await fetch_rows(connection, _EMPTY_FACTS, redaction.to_parameters()):
        for quote in row["quotes"]:
            spans[UUID(quote["turn_id"])].append((quote["start"], quote["end"]))
    return spans


# --- parts of messages ---------------------------------------------------------------------------

# Read a page of the messages that have words.
_LIST_TURNS = """
    SELECT id, capture_id, content
    FROM turns
    WHERE agent_id = :agent AND content IS NOT NULL
      AND (CAST(:after AS uuid) IS NULL OR id > :after)
    ORDER BY id
    LIMIT :limit
"""

# Write what is left of messages. Their ids stay, so that a message that is sent again does not
# come back.
_WRITE_TURNS = """
    UPDATE turns t SET
        content = r.content,
        embedding = NULL,
        name = CASE WHEN r.content IS NULL THEN NULL ELSE name END,
        skipped = CASE WHEN r.content IS NULL THEN '[]' ELSE skipped END,
        done = done OR r.content IS NULL
    FROM unnest(CAST(:turns AS uuid[]), CAST(:contents AS text[])) AS r (id, content)
    WHERE t.agent_id = :agent AND t.id = r.id
"""


async def _blank_words(
    connection: AsyncConnection, redaction: Redaction, linked: Spans
) -> set[UUID]:
    """Make the linked parts of messages blank, and the places that have the text of a memory.

    Return the captures that lost words.
    """
    finder = PhraseFinder(redaction.texts)
    captures: set[UUID] = set()
    values = {"agent": redaction.agent, "after": None, "limit": PAGE}
    while page := await fetch_rows(connection, _LIST_TURNS, values):
        contents: dict[UUID, str | None] = {}
        async for row in iterate_in_turns(page):
            spans = [*linked.get(row["id"], ()), *finder.find_spans(row["content"])]
            if spans:
                contents[row["id"]] = blank_spans(row["content"], spans)
                captures.add(row["capture_id"])
        if contents:
            written = {"turns": list(contents), "contents": list(contents.values())}
            await fetch_rows(connection, _WRITE_TURNS, {"agent": redaction.agent, **written})
        values["after"] = page[-1]["id"]
    return captures
