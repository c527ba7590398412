"""The rows of sweeps: workers claim them, save progress, and finish them or record a failure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.fact import Slot
from app.store.engine import fetch_rows
from app.store.fragments import CLOCK, CLOCK_AND_LEASE, NEVER_SQL
from app.store.memories import After


class SweepStatus(StrEnum):
    """The states of a sweep; the last three are final."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Origin(StrEnum):
    """The occasion of a sweep: a call, the clock, or a store that marked memories for another look.

    A sweep of the origin STORE examines the marked memories and their slots only.
    """

    STORE = "store"
    REQUEST = "request"
    SCHEDULE = "schedule"


@dataclass(frozen=True, slots=True)
class SweptSlot:
    """The slot that a sweep is limited to, in the words of its caller."""

    entity: str | None
    category: str | None
    key: str

    @property
    def digest(self) -> bytes:
        return Slot.from_words(self.entity, self.category, self.key).digest


@dataclass(frozen=True, slots=True)
class SweepScope:
    """The memories to sweep: those of one slot or of all, known since a time or ever.

    A dry run changes nothing.
    """

    slot: SweptSlot | None = None
    since: datetime | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep as its worker sees it. `place` is the last memory examined, in the order of work."""

    id: UUID
    origin: Origin
    slot_hash: bytes | None
    since: datetime | None
    dry_run: bool
    place: UUID | None
    examined: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    findings: Sequence[dict[str, Any]] = ()

    @property
    def is_thorough(self) -> bool:
        """True if the sweep examines every memory of its slot or agent."""
        return self.origin is not Origin.STORE and self.since is None


# Queue a sweep, and create the agent's row in case nothing was ever written to the agent.
_CREATE = f"""
    WITH agent AS (
        INSERT INTO agents (agent_id, created_at, last_known_at)
        VALUES (:agent, clock_timestamp(), {NEVER_SQL})
        ON CONFLICT DO NOTHING
    )
    INSERT INTO sweeps (
        agent_id, id, status, origin, slot, slot_hash, since, dry_run,
        examined, counts, findings, failures, created_at
    )
    VALUES (
        :agent, :id, 'queued', :origin, :slot, :slot_hash, :since, :dry_run,
        0, '{{}}', '[]', 0, clock_timestamp()
    )
    RETURNING *
"""


async def create_sweep(
    connection: AsyncConnection, agent: AgentId, sweep_id: UUID, scope: SweepScope, origin: Origin
) -> dict[str, Any]:
    """Queue a sweep and return its row."""
    slot = scope.slot
    values = {
        "agent": agent,
        "id": sweep_id,
        "origin": origin,
        "slot": Jsonb(asdict(slot)) if slot else None,
        "slot_hash": slot.digest if slot else None,
        "since": scope.since,
        "dry_run": scope.dry_run,
    }
    [row] = await fetch_rows(connection, _CREATE, values)
    return row


async def find_sweep(
    connection: AsyncConnection, agent: AgentId, sweep_id: UUID
) -> dict[str, Any] | None:
    statement = "SELECT * FROM sweeps WHERE agent_id = :agent AND id = :id"
    rows = await fetch_rows(connection, statement, {"agent": agent, "id": sweep_id})
    return rows[0] if rows else None


# The columns of a sweep but its findings, which may be many.
_SUMMARY = """
    id, status, origin, slot, since, dry_run, total, examined, counts, error,
    created_at, started_at, finished_at
"""


async def list_sweeps(
    connection: AsyncConnection, agent: AgentId, *, limit: int, after: After | None
) -> list[dict[str, Any]]:
    """Return sweeps, newest first, without their findings."""
    where, values = "agent_id = :agent", {"agent": agent, "limit": limit}
    if after is not None:
        where += " AND (created_at, id) < (:after_created_at, :after_id)"
        values |= {"after_created_at": after.created_at, "after_id": after.memory_id}
    statement = f"""
        SELECT {_SUMMARY}
        FROM sweeps
        WHERE {where}
        ORDER BY created_at DESC, id DESC
        LIMIT :limit
    """
    return await fetch_rows(connection, statement, values)


# Cancel a sweep that is not over yet.
_CANCEL = f"""
    UPDATE sweeps SET status = 'cancelled', finished_at = clock.now
    FROM {CLOCK}
    WHERE agent_id = :agent AND id = :id AND status IN ('queued', 'running')
"""


async def cancel_open_sweep(
    connection: AsyncConnection, agent: AgentId, sweep_id: UUID
) -> dict[str, Any] | None:
    """Cancel the sweep and return it. Its worker notices when it saves its next batch."""
    await fetch_rows(connection, _CANCEL, {"agent": agent, "id": sweep_id})
    return await find_sweep(connection, agent, sweep_id)


# A worker that has not renewed its lease for this long is taken to be dead.
LEASE = timedelta(seconds=15)

# Claim a sweep unless a living worker has a sweep of the agent. The caller holds the agent's lock,
# so that two workers cannot claim at once. The sweep of a dead worker goes on where that worker
# left it. A dry run leaves nothing behind and begins again.
_CLAIM = f"""
    UPDATE sweeps s SET
        status = 'running',
        runner = :runner,
        alive_at = clock.now,
        started_at = coalesce(started_at, clock.now),
        place = CASE WHEN dry_run THEN NULL ELSE place END,
        examined = CASE WHEN dry_run THEN 0 ELSE examined END,
        counts = CASE WHEN dry_run THEN '{{}}' ELSE counts END,
        findings = CASE WHEN dry_run THEN '[]' ELSE findings END
    FROM {CLOCK_AND_LEASE}
    WHERE agent_id = :agent AND id = :id AND status IN ('queued', 'running')
      AND NOT EXISTS (
          SELECT FROM sweeps o
          WHERE o.agent_id = :agent AND o.status = 'running'
            AND o.alive_at > clock.lease_end
      )
    RETURNING id, origin, slot_hash, since, dry_run, place, examined, counts, findings
"""


async def claim_sweep(
    connection: AsyncConnection, agent: AgentId, sweep_id: UUID, runner: UUID
) -> Sweep | None:
    """Claim the sweep for this runner.

    Return None if the sweep is over, or if a living worker has a sweep of the agent.
    """
    values = {"agent": agent, "id": sweep_id, "runner": runner, "lease": LEASE}
    rows = await fetch_rows(connection, _CLAIM, values)
    if not rows:
        return None
    return Sweep(**rows[0] | {"origin": Origin(rows[0]["origin"])})


# Renew the lease of a sweep that its runner has not released meanwhile.
_RENEW = f"""
    UPDATE sweeps SET alive_at = clock.now
    FROM {CLOCK}
    WHERE agent_id = :agent AND id = :id AND runner = :runner
      AND status = 'running' AND alive_at IS NOT NULL
"""


async def renew_sweep_lease(
    connection: AsyncConnection, agent: AgentId, sweep_id: UUID, runner: UUID
) -> None:
    """Record that the runner is alive."""
    await fetch_rows(connection, _RENEW, {"agent": agent, "id": sweep_id, "runner": runner})


# Record how many memories a sweep will examine.
_SET_TOTAL = """
    UPDATE sweeps SET total = :total
    WHERE agent_id = :agent AND id = :id AND runner = :runner
"""


async def set_sweep_total(
    connection: AsyncConnection, agent: AgentId, sweep_id: UUID, runner: UUID, total: int
) -> None:
    """Record how many memories there are to examine."""
    values = {"agent": agent, "id": sweep_id, "runner": runner, "total": total}
    await fetch_rows(connection, _SET_TOTAL, values)


# Save progress. Progress resets the failure count, except for sweeps that restart from zero each
# time: dry runs, and sweeps of marked memories.
_SAVE_PROGRESS = """
    UPDATE sweeps SET
        place = :place,
        examined = :examined,
        counts = :counts,
        findings = :findings,
        failures = CASE WHEN dry_run OR origin = 'store' THEN failures ELSE 0 END
    WHERE agent_id = :agent AND id = :id AND runner = :runner AND status = 'running'
    RETURNING id
"""


async def save_sweep_progress(
    connection: AsyncConnection, agent: AgentId, sweep: Sweep, runner: UUID
) -> bool:
    """Save how far the sweep is.

    Return False if it was cancelled or belongs to another runner: then nothing more may be written.
    """
    values = {
        "agent": agent,
        "id": sweep.id,
        "runner": runner,
        "place": sweep.place,
        "examined": sweep.examined,
        "counts": Jsonb(sweep.counts),
        "findings": Jsonb(sweep.findings),
    }
    return bool(await fetch_rows(connection, _SAVE_PROGRESS, values))


# Finish a sweep that still belongs to its runner.
_FINISH = f"""
    UPDATE sweeps SET status = 'done', finished_at = clock.now, error = NULL
    FROM {CLOCK}
    WHERE agent_id = :agent AND id = :id AND status = 'running' AND runner = :runner
"""


async def finish_sweep(
    connection: AsyncConnection, agent: AgentId, sweep_id: UUID, runner: UUID
) -> None:
    """Finish the sweep. Remove sweeps that nobody requested and that found nothing."""
    values = {"agent": agent, "id": sweep_id, "runner": runner}
    await fetch_rows(connection, _FINISH, values)
    await fetch_rows(connection, _REMOVE_EMPTY, values)


# Remove sweeps without findings that no call requested. The latest scheduled sweep stays, because
# its date says when the next one is due.
_REMOVE_EMPTY = """
    DELETE FROM sweeps s
    WHERE agent_id = :agent AND status = 'done' AND findings = '[]' AND (
        origin = 'store' AND id = :id
        OR origin = 'schedule' AND EXISTS (
            SELECT FROM sweeps newer
            WHERE newer.agent_id = :agent AND newer.origin = 'schedule'
              AND newer.status = 'done' AND newer.created_at > s.created_at
        )
    )
"""


# A failed sweep is tried again. After so many failures its trouble is taken to be permanent.
TRIES = 5

# Count a failure and release the sweep, which has failed for good with the last try.
_RECORD_FAILURE = f"""
    UPDATE sweeps SET
        failures = failures + 1,
        alive_at = NULL,
        error = :error,
        status = CASE WHEN failures + 1 < :tries THEN status ELSE 'failed' END,
        finished_at = CASE WHEN failures + 1 < :tries THEN NULL ELSE clock.now END
    FROM {CLOCK}
    WHERE agent_id = :agent AND id = :id AND runner = :runner AND status = 'running'
"""


async def record_sweep_failure(
    connection: AsyncConnection, agent: AgentId, sweep_id: UUID, runner: UUID, error: str
) -> None:
    """Release a sweep in which this runner failed; after TRIES times the sweep has failed."""
    values = {"agent": agent, "id": sweep_id, "runner": runner, "error": error, "tries": TRIES}
    await fetch_rows(connection, _RECORD_FAILURE, values)


# Find the sweeps that no living worker has, oldest first, of one agent or of all.
_WAITING = """
    SELECT agent_id, id
    FROM sweeps
    WHERE status IN ('queued', 'running')
      AND (alive_at IS NULL OR alive_at <= clock_timestamp() - CAST(:lease AS interval))
      AND (CAST(:agent AS text) IS NULL OR agent_id = :agent)
    ORDER BY created_at
"""


async def list_waiting_sweeps(
    connection: AsyncConnection, agent: AgentId | None = None
) -> list[tuple[AgentId, UUID]]:
    """Return the sweeps that are not over and that no living worker has."""
    rows = await fetch_rows(connection, _WAITING, {"agent": agent, "lease": LEASE})
    return [(AgentId(row["agent_id"]), row["id"]) for row in rows]


# Sweeps of marked memories that fail for good would pile up, one every ten minutes: a new one
# replaces them.
_REMOVE_FAILED = """
    DELETE FROM sweeps
    WHERE agent_id = :agent AND origin = 'store' AND status = 'failed' AND findings = '[]'
"""

# Find a sweep of marked memories that waits for a worker. A sweep that its worker released begins
# again with everything that is marked, as a new one would.
_WAITING_FOR_MARKS = """
    SELECT id
    FROM sweeps
    WHERE agent_id = :agent AND origin = 'store' AND (
        status = 'queued'
        OR status = 'running'
            AND (alive_at IS NULL OR alive_at <= clock_timestamp() - CAST(:lease AS interval))
    )
    ORDER BY created_at
    LIMIT 1
"""


async def get_or_create_marks_sweep(
    connection: AsyncConnection, agent: AgentId, new_id: UUID
) -> UUID:
    """Return the sweep of marked memories that waits for a worker; create it if there is none."""
    waiting = {"agent": agent, "lease": LEASE}
    rows = await fetch_rows(connection, _WAITING_FOR_MARKS, waiting)
    if not rows:
        await fetch_rows(connection, _REMOVE_FAILED, {"agent": agent})
        rows = [await create_sweep(connection, agent, new_id, SweepScope(), Origin.STORE)]
    sweep_id: UUID = rows[0]["id"]
    return sweep_id


# Find the agents that are due for a scheduled sweep: something was written since the last one that
# was finished, and none is open. Other sweeps do not count. They were about marked memories or
# about one slot (whose words may be erased since), or they began at a time that their caller chose.
_DUE = """
    SELECT last.agent_id, last.since
    FROM (
        SELECT a.agent_id,
               max(s.created_at) FILTER (WHERE s.origin = 'schedule' AND s.status = 'done')
                   AS since,
               bool_or(s.origin = 'schedule' AND s.status IN ('queued', 'running')) AS is_open
        FROM agents a
        LEFT JOIN sweeps s ON s.agent_id = a.agent_id
        GROUP BY a.agent_id
    ) AS last
    WHERE is_open IS NOT true AND (
        EXISTS (
            SELECT FROM memories m
            WHERE m.agent_id = last.agent_id
              AND m.created_at >= coalesce(last.since, '-infinity')
        )
        OR EXISTS (
            SELECT FROM memories m
            WHERE m.agent_id = last.agent_id AND m.look_again IS NOT NULL
        )
    )
    ORDER BY last.agent_id
"""


async def list_due_agents(connection: AsyncConnection) -> list[tuple[AgentId, datetime | None]]:
    """Return each agent that is due for a scheduled sweep, with the time of its last, if any."""
    rows = await fetch_rows(connection, _DUE, {})
    return [(AgentId(row["agent_id"]), row["since"]) for row in rows]


# Remove the words of slots from sweeps when a memory of the slot is erased. A sweep of that slot
# cannot go on without them and is cancelled.
FORGET_SLOTS_OF_SWEEPS = f"""
    UPDATE sweeps SET
        slot = NULL,
        slot_hash = NULL,
        status = CASE WHEN status IN ('queued', 'running') THEN 'cancelled' ELSE status END,
        finished_at = coalesce(finished_at, clock.now)
    FROM {CLOCK}
    WHERE agent_id = :agent AND slot_hash IS NOT NULL AND (
        :everything
        OR slot_hash IN (
            SELECT slot_hash FROM memories WHERE agent_id = :agent AND id = ANY(:ids)
        )
    )
    RETURNING id
"""
