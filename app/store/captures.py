"""The rows of captures, of their turns, and of the facts that were read from each turn.

The caller owns the transaction, and has the agent's lock when it writes.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
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
from app.store.tables import captured_facts, captures, turns


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCapture:
    """A capture.

    `turns` counts its own messages and `repeated` those that an earlier capture has. `redacted`
    counts the secrets that were removed. `extractor` is what read the facts, None before the end.
    `session_id` is None if the session was erased.
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

    A turn that is not `done` has no facts yet.
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


# --- writing a capture and its turns -------------------------------------------------------------

_SET_BY_RUNNERS = ("extractor", "trouble", "error", "finished_at", "runner", "alive_at")
_CAPTURE_TYPES = {
    column.name: find_copy_type(column)
    for column in captures.columns
    if column.name not in _SET_BY_RUNNERS
}
_TURN_TYPES = {column.name: find_copy_type(column) for column in turns.columns}
_FACT_TYPES = {column.name: find_copy_type(column) for column in captured_facts.columns}


async def create_capture(
    connection: AsyncConnection,
    agent: AgentId,
    capture: StoredCapture,
    stored_turns: Sequence[StoredTurn],
) -> None:
    """Write a capture and its turns. No runner has it yet."""
    row = {name: getattr(capture, name, None) for name in _CAPTURE_TYPES}
    row |= {"agent_id": agent, "failures": 0}
    await insert_rows(connection, "captures", _CAPTURE_TYPES, [row])
    rows = [_build_turn_row(agent, capture, turn) for turn in stored_turns]
    await insert_rows(connection, "turns", _TURN_TYPES, rows)


def _build_turn_row(agent: AgentId, capture: StoredCapture, turn: StoredTurn) -> dict[str, Any]:
    values = {name: getattr(turn, name, None) for name in _TURN_TYPES}
    return values | {
        "agent_id": agent,
        "session_id": capture.session_id,
        "received_at": capture.received_at,
        "skipped": Jsonb([]),
    }


# --- reading -------------------------------------------------------------------------------------

_CAPTURE_COLUMNS = ", ".join(StoredCapture.__dataclass_fields__)
_TURN_COLUMNS = ", ".join(StoredTurn.__dataclass_fields__)
_FACT_COLUMNS = ", ".join(CapturedFact.__dataclass_fields__)

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
    found_turns = map(_turn_from_row, await fetch_rows(connection, _FIND_MESSAGES, values))
    return {turn.message_id: turn for turn in found_turns if turn.message_id is not None}


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


# Which of these texts are the content of a memory that holds? Texts are compared by their loose
# hashes. Whoever says again what has ended says something new.
_FIND_EQUAL = f"""
    SELECT DISTINCT fuzzy_hash
    FROM memories m
    WHERE agent_id = :agent AND fuzzy_hash = ANY(:hashes) AND erased_at IS NULL AND NOT void
        AND {build_holds("m.", "clock_timestamp()")}
"""


async def find_stored_hashes(
    connection: AsyncConnection, agent: AgentId, hashes: Iterable[bytes]
) -> set[bytes]:
    """Return those of these loose hashes that a memory of the agent has which holds."""
    rows = await fetch_rows(connection, _FIND_EQUAL, {"agent": agent, "hashes": list(hashes)})
    return {row["fuzzy_hash"] for row in rows}


# --- reading facts from turns: claims and results ------------------------------------------------

# A runner that has not renewed its lease for this long is taken to be dead.
LEASE = timedelta(seconds=15)

# A capture is tried so many times. Then its trouble is taken to be permanent.
TRIES = 5

# Claim a capture that is not finished and that no living runner has.
_CLAIM = """
    UPDATE captures SET runner = :runner, alive_at = clock_timestamp()
    WHERE agent_id = :agent AND id = :id AND state = 'pending'
      AND (alive_at IS NULL OR alive_at <= clock_timestamp() - CAST(:lease AS interval))
    RETURNING id
"""


async def claim_capture(
    connection: AsyncConnection, agent: AgentId, capture_id: UUID, runner: UUID
) -> bool:
    """Claim the capture. Return False if it is finished, or if a living runner has it."""
    values = {"agent": agent, "id": capture_id, "runner": runner, "lease": LEASE}
    return bool(await fetch_rows(connection, _CLAIM, values))


# Renew the lease of a capture.
_RENEW = """
    UPDATE captures SET alive_at = clock_timestamp()
    WHERE agent_id = :agent AND id = :id AND runner = :runner AND state = 'pending'
"""


async def renew_capture_lease(
    connection: AsyncConnection, agent: AgentId, capture_id: UUID, runner: UUID
) -> None:
    """Record that the runner is alive."""
    await fetch_rows(connection, _RENEW, {"agent": agent, "id": capture_id, "runner": runner})


# Release a capture that was cut off, so that another runner may go on at once.
_RELEASE = """
    UPDATE captures SET
        failures = failures + 1,
        alive_at = NULL,
        error = :error,
        state = CASE WHEN failures + 1 < :tries THEN state ELSE 'failed' END,
        finished_at = CASE WHEN failures + 1 < :tries THEN NULL ELSE clock_timestamp() END
    WHERE agent_id = :agent AND id = :id AND runner = :runner AND state = 'pending'
"""


# Note why a capture could not be finished now. Its lease runs out, and another runner goes on.
_NOTE_TROUBLE = """
    UPDATE captures SET error = :error
    WHERE agent_id = :agent AND id = :id AND runner = :runner AND state = 'pending'
"""


async def record_capture_trouble(
    connection: AsyncConnection, agent: AgentId, capture_id: UUID, runner: UUID, error: str
) -> None:
    """Note trouble that passes, such as an encoder that is down. It counts as no failure."""
    values = {"agent": agent, "id": capture_id, "runner": runner, "error": error}
    await fetch_rows(connection, _NOTE_TROUBLE, values)


async def record_capture_failure(
    connection: AsyncConnection, agent: AgentId, capture_id: UUID, runner: UUID, error: str
) -> None:
    """Release a capture in which this runner failed; after TRIES times the capture has failed."""
    values = {"agent": agent, "id": capture_id, "runner": runner, "error": error, "tries": TRIES}
    await fetch_rows(connection, _RELEASE, values)


# Count the turns of these that have no facts yet, if this runner still has their capture.
_COUNT_OPEN = """
    SELECT count(*) AS open
    FROM turns t
    JOIN captures c ON c.agent_id = :agent AND c.id = t.capture_id
    WHERE t.agent_id = :agent AND t.id = ANY(:ids) AND NOT t.done
      AND c.runner = :runner AND c.state = 'pending'
"""


async def count_open_turns(
    connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID], runner: UUID
) -> int:
    """Return how many of these turns have no facts yet and belong to this runner."""
    values = {"agent": agent, "ids": list(ids), "runner": runner}
    [row] = await fetch_rows(connection, _COUNT_OPEN, values)
    open_turns: int = row["open"]
    return open_turns


# Note that turns are done, and what of them became no fact.
_FINISH_TURNS = """
    UPDATE turns t SET done = true, skipped = CAST(r.skipped AS jsonb)
    FROM unnest(CAST(:ids AS uuid[]), CAST(:skipped AS text[])) AS r (id, skipped)
    WHERE t.agent_id = :agent AND t.id = r.id
"""


async def finish_turns(
    connection: AsyncConnection,
    agent: AgentId,
    done_turns: Sequence[StoredTurn],
    facts: Sequence[CapturedFact],
) -> None:
    """Write what was read from these turns."""
    skipped = [_encode_skipped(turn.skipped) for turn in done_turns]
    ids = [turn.id for turn in done_turns]
    await fetch_rows(connection, _FINISH_TURNS, {"agent": agent, "ids": ids, "skipped": skipped})
    rows = [_build_fact_row(agent, fact) for fact in facts]
    await insert_rows(connection, "captured_facts", _FACT_TYPES, rows)


def _encode_skipped(spans: Iterable[SkippedSpan]) -> str:
    return json.dumps(
        [{"start": span.start, "end": span.end, "reason": span.reason} for span in spans]
    )


def _build_fact_row(agent: AgentId, fact: CapturedFact) -> dict[str, Any]:
    values = {name: getattr(fact, name, None) for name in _FACT_TYPES}
    quotes = []
    for quote in fact.quotes:
        quotes.append({"turn_id": str(quote.turn_id), "start": quote.start, "end": quote.end})
    return values | {"agent_id": agent, "quotes": Jsonb(quotes)}


# Note what read the facts of a part of a capture. What a rule had to read stays noted.
_NOTE_EXTRACTOR = """
    UPDATE captures SET
        extractor = CASE WHEN extractor = 'rules' THEN extractor ELSE :extractor END,
        trouble = coalesce(trouble, :trouble),
        failures = 0
    WHERE agent_id = :agent AND id = :id
"""

# Finish a capture that has no open turn.
_FINISH_CAPTURE = """
    UPDATE captures c SET state = 'done', finished_at = clock_timestamp(), error = NULL
    WHERE agent_id = :agent AND id = :id AND state = 'pending'
      AND NOT EXISTS (
          SELECT FROM turns t WHERE t.agent_id = :agent AND t.capture_id = c.id AND NOT t.done
      )
"""


async def save_capture_progress(
    connection: AsyncConnection,
    agent: AgentId,
    capture_id: UUID,
    *,
    extractor: ExtractBy,
    trouble: str | None,
) -> StoredCapture:
    """Note what read the facts of some turns, finish the capture with the last one, return it."""
    values = {"agent": agent, "id": capture_id}
    noted = values | {"extractor": extractor, "trouble": trouble}
    await fetch_rows(connection, _NOTE_EXTRACTOR, noted)
    return await finish_capture(connection, agent, capture_id)


async def finish_capture(
    connection: AsyncConnection, agent: AgentId, capture_id: UUID
) -> StoredCapture:
    """Finish the capture if it has no open turn, and return it."""
    await fetch_rows(connection, _FINISH_CAPTURE, {"agent": agent, "id": capture_id})
    capture = await find_capture(connection, agent, capture_id)
    assert capture is not None, "captures are never removed"
    return capture


# Find the captures that are not finished and that no living runner has, oldest first.
_WAITING = """
    SELECT agent_id, id
    FROM captures
    WHERE state = 'pending'
      AND (alive_at IS NULL OR alive_at <= clock_timestamp() - CAST(:lease AS interval))
    ORDER BY received_at
"""


async def list_waiting_captures(connection: AsyncConnection) -> list[tuple[AgentId, UUID]]:
    """Return the captures of all agents that wait for a runner."""
    rows = await fetch_rows(connection, _WAITING, {"lease": LEASE})
    return [(AgentId(row["agent_id"]), row["id"]) for row in rows]


# --- retention -----------------------------------------------------------------------------------

# Find the messages that are older than messages are kept, but for those whose facts are not read.
_EXPIRED = """
    SELECT id
    FROM turns
    WHERE agent_id = :agent AND content IS NOT NULL AND done
      AND received_at <= clock_timestamp() - CAST(:after AS interval)
"""

# Empty the expired turns, and their facts.
_EMPTY_EXPIRED = f"""
    WITH emptied AS (
        UPDATE turns SET content = NULL, name = NULL, skipped = '[]'
        WHERE agent_id = :agent AND id IN ({_EXPIRED} LIMIT :limit)
        RETURNING id, capture_id
    ),
    facts AS (
        UPDATE captured_facts SET content = NULL
        WHERE agent_id = :agent AND turn_id IN (SELECT id FROM emptied)
    ),
    troubles AS (
        UPDATE captures SET trouble = NULL
        WHERE agent_id = :agent AND id IN (SELECT capture_id FROM emptied)
    )
    SELECT count(*) AS turns FROM emptied
"""


async def empty_expired_turns(
    connection: AsyncConnection, agent: AgentId, after: timedelta, *, limit: int
) -> int:
    """Empty turns that arrived longer than `after` ago, and return how many were.

    Their rows stay, so that a message that is sent again is known.
    """
    span = {"agent": agent, "after": after, "limit": limit}
    [row] = await fetch_rows(connection, _EMPTY_EXPIRED, span)
    count: int = row["turns"]
    return count


async def count_expired_turns(connection: AsyncConnection, agent: AgentId, after: timedelta) -> int:
    """Return how many turns `empty_expired_turns` would empty."""
    statement = f"SELECT count(*) AS turns FROM ({_EXPIRED}) AS expired"
    [row] = await fetch_rows(connection, statement, {"agent": agent, "after": after})
    count: int = row["turns"]
    return count
