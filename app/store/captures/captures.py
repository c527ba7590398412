"""The rows of captures, of their turns, and of the facts that were read from each turn.

The caller owns the transaction, and has the agent's lock when it writes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.captures import CaptureState, ExtractBy
from app.domain.talk import Role, SkipReason
from app.store.columns import find_copy_type
from app.store.engine import fetch_rows
from app.store.fragments import build_holds
from app.store.inserts import insert_rows
from app.store.memories import After
from app.store.tables import captures, turns


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCapture:
    """A capture.

    `turns` counts its own messages and `repeated` those that an earlier capture has. `redacted`
    counts the secrets that were removed. `extractor` is what read the facts, None before the end.
    `session_id` is None if the session was erased. Until `due_at`, further messages of the session
    may join, and no worker reads them.
    """

    id: UUID
    session_id: str | None
    state: CaptureState
    extract: ExtractBy
    split: bool
    trust: int
    may_end_stated: bool
    actor: str
    turns: int
    repeated: int
    redacted: int
    received_at: datetime
    request_id: str | None = None
    due_at: datetime | None = None
    extractor: ExtractBy | None = None
    trouble: str | None = None
    error: str | None = None
    finished_at: datetime | None = None

    @property
    def reads_facts(self) -> bool:
        """Return True if facts are to be read from messages of this capture."""
        return self.extract is not ExtractBy.OFF and self.turns > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedSpan:
    """A half-open span of a turn that became no fact, and the reason."""

    start: int
    end: int
    reason: SkipReason


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTurn:
    """A message. `content` is None if it was erased, or is older than messages are kept.

    A turn that is not `done` has facts that are not stored yet, or was not read yet.
    `offset_minutes` says in which zone it was said; None if the caller did not.
    """

    id: UUID
    capture_id: UUID
    position: int
    message_id: str | None
    role: Role
    name: str | None
    content: str | None
    said_at: datetime
    done: bool = False
    skipped: tuple[SkippedSpan, ...] = ()
    offset_minutes: int | None = None

    @property
    def zone(self) -> tzinfo | None:
        """The zone in which it was said, if the caller gave its offset."""
        minutes = self.offset_minutes
        return None if minutes is None else timezone(timedelta(minutes=minutes))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredQuote:
    """A half-open span of a turn, which need not be of the same capture."""

    turn_id: UUID
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedFact:
    """A fact that was read from a turn, and what became of it.

    `operation` and `log_id` are None if it waits as a review, or could not be stored because of
    the `problem`. `memory_id` is the memory that says it. `content` may be erased.
    """

    id: UUID
    turn_id: UUID
    place: int
    content: str | None
    quotes: tuple[StoredQuote, ...]
    operation: str | None = None
    memory_id: UUID | None = None
    log_id: UUID | None = None
    review_id: UUID | None = None
    problem: str | None = None


_CAPTURE_COLUMNS = ", ".join(StoredCapture.__dataclass_fields__)
_TURN_COLUMNS = ", ".join(StoredTurn.__dataclass_fields__)
_FACT_COLUMNS = ", ".join(CapturedFact.__dataclass_fields__)

# --- writing a capture and its turns -------------------------------------------------------------

_SET_BY_RUNNERS = ("extractor", "trouble", "error", "finished_at", "runner", "alive_at")
_CAPTURE_TYPES = {
    column.name: find_copy_type(column)
    for column in captures.columns
    if column.name not in _SET_BY_RUNNERS
}
_TURN_TYPES = {
    column.name: find_copy_type(column)
    for column in turns.columns
    if column.computed is None and column.name != "embedding"
}


async def create_capture(
    connection: AsyncConnection,
    agent: AgentId,
    capture: StoredCapture,
    stored_turns: Sequence[StoredTurn],
    language: int,
) -> None:
    """Write a capture and its turns. No runner has it yet.

    `language` is the oid of the text search configuration by which the turns are found.
    """
    row = {name: getattr(capture, name, None) for name in _CAPTURE_TYPES}
    row |= {"agent_id": agent, "failures": 0}
    await insert_rows(connection, "captures", _CAPTURE_TYPES, [row])
    rows = [_build_turn_row(agent, capture, turn, language) for turn in stored_turns]
    await insert_rows(connection, "turns", _TURN_TYPES, rows)


# Find the capture of a session that waits for further messages, with the same choices.
_LOCK_COLLECTING = f"""
    SELECT {_CAPTURE_COLUMNS}
    FROM captures
    WHERE agent_id = :agent AND session_id = :session AND state = 'pending'
      AND due_at IS NOT NULL AND runner IS NULL
      AND extract = :extract AND split = :split AND trust = :trust
      AND may_end_stated = :may_end_stated AND actor = :actor
    ORDER BY id DESC
    LIMIT 1
    FOR UPDATE
"""


async def lock_collecting_capture(
    connection: AsyncConnection, agent: AgentId, like: StoredCapture
) -> StoredCapture | None:
    """Return the capture of the session that still waits for messages read like these, locked."""
    values = {
        "agent": agent,
        "session": like.session_id,
        "extract": like.extract,
        "split": like.split,
        "trust": like.trust,
        "may_end_stated": like.may_end_stated,
        "actor": like.actor,
    }
    rows = await fetch_rows(connection, _LOCK_COLLECTING, values)
    return _capture_from_row(rows[0]) if rows else None


# Count the messages of a call as those of a capture, which is due at another time.
_JOIN = """
    UPDATE captures SET
        turns = turns + :turns,
        repeated = repeated + :repeated,
        redacted = redacted + :redacted,
        due_at = :due_at
    WHERE agent_id = :agent AND id = :id
"""


async def join_capture(
    connection: AsyncConnection,
    agent: AgentId,
    capture_id: UUID,
    capture: StoredCapture,
    stored_turns: Sequence[StoredTurn],
    language: int,
) -> None:
    """Write the turns of a planned capture as those of another, whose lock the caller has."""
    counts = {name: getattr(capture, name) for name in ("turns", "repeated", "redacted", "due_at")}
    await fetch_rows(connection, _JOIN, counts | {"agent": agent, "id": capture_id})
    rows = [_build_turn_row(agent, capture, turn, language) for turn in stored_turns]
    await insert_rows(connection, "turns", _TURN_TYPES, rows)


def _build_turn_row(
    agent: AgentId, capture: StoredCapture, turn: StoredTurn, language: int
) -> dict[str, Any]:
    values = {name: getattr(turn, name, None) for name in _TURN_TYPES}
    return values | {
        "agent_id": agent,
        "session_id": capture.session_id,
        "received_at": capture.received_at,
        "skipped": Jsonb([]),
        "language": language,
    }


# --- reading -------------------------------------------------------------------------------------

# Read a capture.
_FIND_CAPTURE = f"SELECT {_CAPTURE_COLUMNS} FROM captures WHERE agent_id = :agent AND id = :id"


async def find_capture(
    connection: AsyncConnection, agent: AgentId, capture_id: UUID
) -> StoredCapture | None:
    rows = await fetch_rows(connection, _FIND_CAPTURE, {"agent": agent, "id": capture_id})
    return _capture_from_row(rows[0]) if rows else None


def _capture_from_row(row: Mapping[str, Any]) -> StoredCapture:
    extractor = ExtractBy(row["extractor"]) if row["extractor"] else None
    values = dict(row) | {
        "state": CaptureState(row["state"]),
        "extract": ExtractBy(row["extract"]),
        "extractor": extractor,
    }
    return StoredCapture(**values)


async def list_captures(
    connection: AsyncConnection,
    agent: AgentId,
    *,
    session_id: str | None,
    state: CaptureState | None,
    limit: int,
    after: After | None,
) -> list[dict[str, Any]]:
    """Return the rows of captures, newest first, each with what was read from its turns."""
    values: dict[str, Any] = {"agent": agent, "limit": limit}
    where = "agent_id = :agent"
    if session_id is not None:
        where += " AND session_id = :session"
        values["session"] = session_id
    if state is not None:
        where += " AND state = :state"
        values["state"] = state
    if after is not None:
        where += " AND (received_at, id) < (:after_received_at, :after_id)"
        values |= {"after_received_at": after.created_at, "after_id": after.memory_id}
    # `created_at` and `id` are what cursors are made of.
    statement = f"""
        SELECT {_CAPTURE_COLUMNS}, received_at AS created_at, own.*
        FROM captures c
        CROSS JOIN LATERAL (
            SELECT
                count(*) FILTER (WHERE t.done) AS done,
                CAST(coalesce(sum(jsonb_array_length(t.skipped)), 0) AS int) AS skipped,
                CAST(coalesce(sum((
                    SELECT count(*) FROM captured_facts f
                    WHERE f.agent_id = :agent AND f.turn_id = t.id
                )), 0) AS int) AS facts,
                (array_agg(left(t.content, 200) ORDER BY t.position))[1] AS first_words
            FROM turns t
            WHERE t.agent_id = :agent AND t.capture_id = c.id
        ) AS own
        WHERE {where}
        ORDER BY received_at DESC, id DESC
        LIMIT :limit
    """
    return await fetch_rows(connection, statement, values)


# Read the turns of a capture.
_LIST_TURNS = f"""
    SELECT {_TURN_COLUMNS}
    FROM turns
    WHERE agent_id = :agent AND capture_id = :capture
    ORDER BY position
"""


async def list_turns(
    connection: AsyncConnection, agent: AgentId, capture_id: UUID
) -> list[StoredTurn]:
    """Return the turns of a capture, in order."""
    rows = await fetch_rows(connection, _LIST_TURNS, {"agent": agent, "capture": capture_id})
    return list(map(_turn_from_row, rows))


# Read the turns of these messages of a session.
_FIND_MESSAGES = f"""
    SELECT {_TURN_COLUMNS}
    FROM turns
    WHERE agent_id = :agent AND session_id = :session AND message_id = ANY(:messages)
"""


async def find_messages(
    connection: AsyncConnection, agent: AgentId, session_id: str, message_ids: Sequence[str]
) -> dict[str, StoredTurn]:
    """Return the turns of the session that have one of these ids, by id."""
    values = {"agent": agent, "session": session_id, "messages": list(message_ids)}
    rows = await fetch_rows(connection, _FIND_MESSAGES, values)
    return {row["message_id"]: _turn_from_row(row) for row in rows}


# Read the last turns of a session before one of them.
_LIST_EARLIER = f"""
    SELECT {_TURN_COLUMNS}
    FROM turns
    WHERE agent_id = :agent AND session_id = :session AND id < :before AND content IS NOT NULL
    ORDER BY id DESC
    LIMIT :limit
"""


async def list_earlier_turns(
    connection: AsyncConnection, agent: AgentId, session_id: str | None, before: UUID, *, limit: int
) -> list[StoredTurn]:
    """Return the last turns of the session that arrived before this turn, oldest first."""
    values = {"agent": agent, "session": session_id, "before": before, "limit": limit}
    rows = await fetch_rows(connection, _LIST_EARLIER, values)
    return [_turn_from_row(row) for row in reversed(rows)]


# Read turns by their ids.
_FIND_TURNS = f"SELECT {_TURN_COLUMNS} FROM turns WHERE agent_id = :agent AND id = ANY(:ids)"


async def find_turns(
    connection: AsyncConnection, agent: AgentId, ids: Iterable[UUID]
) -> dict[UUID, StoredTurn]:
    """Return these turns by id."""
    rows = await fetch_rows(connection, _FIND_TURNS, {"agent": agent, "ids": list(ids)})
    return {row["id"]: _turn_from_row(row) for row in rows}


def _turn_from_row(row: Mapping[str, Any]) -> StoredTurn:
    spans = []
    for span in row["skipped"]:
        spans.append(SkippedSpan(**span | {"reason": SkipReason(span["reason"])}))
    return StoredTurn(**dict(row) | {"role": Role(row["role"]), "skipped": tuple(spans)})


# Read the facts of turns, in the order in which they were read from each.
_LIST_FACTS = f"""
    SELECT {_FACT_COLUMNS}
    FROM captured_facts
    WHERE agent_id = :agent AND turn_id = ANY(:turns)
    ORDER BY turn_id, place
"""


async def list_facts(
    connection: AsyncConnection, agent: AgentId, turn_ids: Iterable[UUID]
) -> list[CapturedFact]:
    """Return the facts of these turns."""
    values = {"agent": agent, "turns": list(turn_ids)}
    return list(map(_fact_from_row, await fetch_rows(connection, _LIST_FACTS, values)))


# A memory may be repeated in any number of messages. The first of them are named.
_MOST_SOURCES = 20

# Read the facts that a memory was read from, or that repeated it, from messages up to a time.
_LIST_FACTS_OF_MEMORY = f"""
    SELECT {", ".join(f"f.{name}" for name in CapturedFact.__dataclass_fields__)}
    FROM captured_facts f
    JOIN turns t ON t.agent_id = :agent AND t.id = f.turn_id
    WHERE f.agent_id = :agent AND f.memory_id = :memory AND t.received_at <= :known_at
    ORDER BY f.id
    LIMIT {_MOST_SOURCES}
"""


async def list_facts_of_memory(
    connection: AsyncConnection, agent: AgentId, memory_id: UUID, known_at: datetime
) -> list[CapturedFact]:
    """Return the first captured facts that say what the memory says."""
    values = {"agent": agent, "memory": memory_id, "known_at": known_at}
    return list(map(_fact_from_row, await fetch_rows(connection, _LIST_FACTS_OF_MEMORY, values)))


def _fact_from_row(row: Mapping[str, Any]) -> CapturedFact:
    quotes = []
    for quote in row["quotes"]:
        quotes.append(StoredQuote(**quote | {"turn_id": UUID(quote["turn_id"])}))
    return CapturedFact(**dict(row) | {"quotes": tuple(quotes)})


# Find the texts that are the content of a memory that holds, by their loose hashes. A text that
# repeats a memory that has ended says something new.
_FIND_EQUAL = f"""
    SELECT DISTINCT fuzzy_hash
    FROM memories m
    WHERE agent_id = :agent AND fuzzy_hash = ANY(:hashes) AND erased_at IS NULL AND NOT void
        AND {build_holds("m.", "clock_timestamp()")}
"""


async def find_stored_hashes(
    connection: AsyncConnection, agent: AgentId, hashes: Iterable[bytes]
) -> set[bytes]:
    """Return the hashes among these of the memories that hold."""
    rows = await fetch_rows(connection, _FIND_EQUAL, {"agent": agent, "hashes": list(hashes)})
    return {row["fuzzy_hash"] for row in rows}
