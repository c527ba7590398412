"""Reading facts from stored messages: runners claim captures, store results, finish or fail.

The caller owns the transaction, and has the agent's lock when it writes results.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.captures import ExtractBy
from app.store.captures.captures import CapturedFact, StoredTurn
from app.store.columns import find_copy_type
from app.store.engine import fetch_rows
from app.store.fragments import CLOCK, CLOCK_AND_LEASE
from app.store.inserts import insert_rows
from app.store.tables import captured_facts

_FACT_TYPES = {column.name: find_copy_type(column) for column in captured_facts.columns}

# A runner that has not renewed its lease for this long is taken to be dead.
LEASE = timedelta(seconds=15)

# A capture is tried so many times. Then its trouble is taken to be permanent.
TRIES = 5

# Count captures of an actor that wait to be read, up to a limit.
_COUNT_PENDING = """
    SELECT count(*) AS captures
    FROM (
        SELECT FROM captures
        WHERE state = 'pending' AND actor = :actor
          AND (due_at IS NULL OR due_at <= clock_timestamp())
        LIMIT :limit
    ) AS pending
"""


async def count_pending_captures(connection: AsyncConnection, actor: str, *, limit: int) -> int:
    """Return how many captures of the actor, of all agents, wait to be read: `limit` at most."""
    [row] = await fetch_rows(connection, _COUNT_PENDING, {"actor": actor, "limit": limit})
    return int(row["captures"])


# Claim a capture that is due and not finished, and that no living runner has.
_CLAIM = f"""
    UPDATE captures SET runner = :runner, alive_at = clock.now, due_at = NULL
    FROM {CLOCK_AND_LEASE}
    WHERE agent_id = :agent AND id = :id AND state = 'pending'
      AND (due_at IS NULL OR due_at <= clock.now)
      AND (alive_at IS NULL OR alive_at <= clock.lease_end)
    RETURNING id
"""


async def claim_capture(
    connection: AsyncConnection, agent: AgentId, capture_id: UUID, runner: UUID
) -> bool:
    """Claim the capture. Return False if it is finished or not due, or a living runner has it."""
    values = {"agent": agent, "id": capture_id, "runner": runner, "lease": LEASE}
    return bool(await fetch_rows(connection, _CLAIM, values))


# Renew the lease of a capture.
_RENEW = f"""
    UPDATE captures SET alive_at = clock.now
    FROM {CLOCK}
    WHERE agent_id = :agent AND id = :id AND runner = :runner AND state = 'pending'
"""


async def renew_lease(
    connection: AsyncConnection, agent: AgentId, capture_id: UUID, runner: UUID
) -> None:
    """Record that the runner is alive."""
    await fetch_rows(connection, _RENEW, {"agent": agent, "id": capture_id, "runner": runner})


# Release a capture, so that another runner may go on at once.
_RELEASE = """
    UPDATE captures SET alive_at = NULL
    WHERE agent_id = :agent AND id = :id AND runner = :runner AND state = 'pending'
"""


async def release_capture(
    connection: AsyncConnection, agent: AgentId, capture_id: UUID, runner: UUID
) -> None:
    """Give the capture up, so that any other runner may claim it."""
    await fetch_rows(connection, _RELEASE, {"agent": agent, "id": capture_id, "runner": runner})


# Note why a capture could not be finished now. Its lease runs out, and another runner goes on.
_NOTE_TROUBLE = """
    UPDATE captures SET error = :error
    WHERE agent_id = :agent AND id = :id AND runner = :runner AND state = 'pending'
"""


async def record_trouble(
    connection: AsyncConnection, agent: AgentId, capture_id: UUID, runner: UUID, error: str
) -> None:
    """Note trouble that passes, such as an encoder that is down. It counts as no failure."""
    values = {"agent": agent, "id": capture_id, "runner": runner, "error": error}
    await fetch_rows(connection, _NOTE_TROUBLE, values)


# Release a capture that was cut off, and count the failure.
_FAIL = f"""
    UPDATE captures SET
        failures = failures + 1,
        alive_at = NULL,
        error = :error,
        state = CASE WHEN failures + 1 < :tries THEN state ELSE 'failed' END,
        finished_at = CASE WHEN failures + 1 < :tries THEN NULL ELSE clock.now END
    FROM {CLOCK}
    WHERE agent_id = :agent AND id = :id AND runner = :runner AND state = 'pending'
"""


async def record_failure(
    connection: AsyncConnection, agent: AgentId, capture_id: UUID, runner: UUID, error: str
) -> None:
    """Release a capture in which this runner failed; after TRIES times the capture has failed."""
    values = {"agent": agent, "id": capture_id, "runner": runner, "error": error, "tries": TRIES}
    await fetch_rows(connection, _FAIL, values)


# Open captures again that have failed.
_REOPEN = """
    UPDATE captures SET state = 'pending', failures = 0, alive_at = NULL, finished_at = NULL
    WHERE agent_id = :agent AND id = ANY(:ids) AND state = 'failed'
    RETURNING id
"""


async def reopen_failed_captures(
    connection: AsyncConnection, agent: AgentId, ids: Iterable[UUID]
) -> set[UUID]:
    """Let those of these captures that have failed be tried again, and return which did."""
    rows = await fetch_rows(connection, _REOPEN, {"agent": agent, "ids": list(ids)})
    return {row["id"] for row in rows}


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
    return int(row["open"])


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
    """Mark turns as done, and write facts that were read from them or from turns still open."""
    skipped = [json.dumps(list(map(asdict, turn.skipped))) for turn in done_turns]
    ids = [turn.id for turn in done_turns]
    await fetch_rows(connection, _FINISH_TURNS, {"agent": agent, "ids": ids, "skipped": skipped})
    rows = []
    for fact in facts:
        row = {name: getattr(fact, name, None) for name in _FACT_TYPES}
        quotes = [asdict(quote) | {"turn_id": str(quote.turn_id)} for quote in fact.quotes]
        rows.append(row | {"agent_id": agent, "quotes": Jsonb(quotes)})
    await insert_rows(connection, "captured_facts", _FACT_TYPES, rows)


# Note what read the facts of a part of a capture. What the network had to read stays noted.
_NOTE_EXTRACTOR = """
    UPDATE captures SET
        extractor = CASE WHEN extractor = 'network' THEN extractor ELSE :extractor END,
        trouble = coalesce(trouble, :trouble),
        failures = 0
    WHERE agent_id = :agent AND id = :id
"""

# Finish a capture that has no open turn.
_FINISH_CAPTURE = f"""
    UPDATE captures c SET state = 'done', finished_at = clock.now, error = NULL
    FROM {CLOCK}
    WHERE agent_id = :agent AND id = :id AND state = 'pending'
      AND NOT EXISTS (
          SELECT FROM turns t WHERE t.agent_id = :agent AND t.capture_id = c.id AND NOT t.done
      )
"""


async def save_progress(
    connection: AsyncConnection,
    agent: AgentId,
    capture_id: UUID,
    *,
    extractor: ExtractBy,
    trouble: str | None,
) -> None:
    """Note what read the facts of some turns, and finish the capture with the last one."""
    values = {"agent": agent, "id": capture_id}
    noted = values | {"extractor": extractor, "trouble": trouble}
    await fetch_rows(connection, _NOTE_EXTRACTOR, noted)
    await finish_capture(connection, agent, capture_id)


async def finish_capture(connection: AsyncConnection, agent: AgentId, capture_id: UUID) -> None:
    """Finish the capture if it has no open turn."""
    await fetch_rows(connection, _FINISH_CAPTURE, {"agent": agent, "id": capture_id})


# Find the captures that are due and not finished, and that no living runner has: the oldest of each
# agent and actor.
_WAITING = """
    SELECT DISTINCT ON (agent_id, actor) agent_id, actor, id
    FROM captures
    WHERE state = 'pending'
      AND (due_at IS NULL OR due_at <= clock_timestamp())
      AND (alive_at IS NULL OR alive_at <= clock_timestamp() - CAST(:lease AS interval))
    ORDER BY agent_id, actor, received_at
    LIMIT :limit
"""


@dataclass(frozen=True, slots=True)
class WaitingCapture:
    """A capture that waits for a runner. `actor` sent its messages."""

    agent: AgentId
    actor: str
    id: UUID


async def list_waiting_captures(connection: AsyncConnection, *, limit: int) -> list[WaitingCapture]:
    """Return the captures that wait for a runner, the oldest of each agent and actor."""
    rows = await fetch_rows(connection, _WAITING, {"lease": LEASE, "limit": limit})
    return [WaitingCapture(AgentId(row["agent_id"]), row["actor"], row["id"]) for row in rows]
