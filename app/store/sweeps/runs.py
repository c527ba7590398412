"""Sweeps as they are asked for and carried out: a row each, taken by one worker at a time, which writes down how far it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.fact import Slot
from app.store.engine import fetch_rows
from app.store.memories import After


class SweepStatus(StrEnum):
    """How a sweep stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Origin(StrEnum):
    """What a sweep came from: a call, the clock, or stores that left memories to be looked at again, which are then all it is about."""

    STORE = "store"
    REQUEST = "request"
    SCHEDULE = "schedule"


@dataclass(frozen=True, slots=True)
class SweptSlot:
    """The one slot that a sweep is about, in the words of whoever asked."""

    entity: str | None
    category: str | None
    key: str

    @property
    def digest(self) -> bytes:
        return Slot.from_words(self.entity, self.category, self.key).digest


@dataclass(frozen=True, slots=True)
class SweepScope:
    """What is to be swept: everything of the agent, or one slot; what became known since a time, or all; `dry_run` changes nothing."""

    slot: SweptSlot | None = None
    since: datetime | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep under way, as its worker sees it. `place` is the last memory examined, in the order of the work."""

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
        """Whether every memory has its turn."""
        return self.origin is not Origin.STORE and self.since is None


# The agent may never have been written to.
_CREATE = """
    WITH agent AS (
        INSERT INTO agents (agent_id, created_at, last_known_at) VALUES (:agent, clock_timestamp(), '0001-01-01 00:00:00+00')
        ON CONFLICT DO NOTHING
    )
    INSERT INTO sweeps (agent_id, id, status, origin, slot, slot_hash, since, dry_run, examined, counts, findings, failures, created_at)
    VALUES (:agent, :id, 'queued', :origin, :slot, :slot_hash, :since, :dry_run, 0, '{}', '[]', 0, clock_timestamp())
    RETURNING *
"""


async def create_sweep(
    connection: AsyncConnection, agent: AgentId, sweep_id: UUID, scope: SweepScope, origin: Origin
) -> dict[str, Any]:
    """Writes down that a sweep is wanted."""
    slot = scope.slot
    given = {
        "agent": agent,
        "id": sweep_id,
        "origin": origin,
        "slot": Jsonb({"entity": slot.entity, "category": slot.category, "key": slot.key})
        if slot
        else None,
        "slot_hash": slot.digest if slot else None,
        "since": scope.since,
        "dry_run": scope.dry_run,
    }
    [row] = await fetch_rows(connection, _CREATE, given)
    return row


async def find_sweep(
    connection: AsyncConnection, agent: AgentId, sweep_id: UUID
) -> dict[str, Any] | None:
    rows = await fetch_rows(
        connection,
        "SELECT * FROM sweeps WHERE agent_id = :agent AND id = :id",
        {"agent": agent, "id": sweep_id},
    )
    return rows[0] if rows else None


_SUMMARY = "id, status, origin, slot, since, dry_run, total, examined, counts, error, created_at, started_at, finished_at"


async def list_sweeps(
    connection: AsyncConnection, agent: AgentId, *, limit: int, after: After | None
) -> list[dict[str, Any]]:
    """Newest first, without what each found."""
    where, given = "agent_id = :agent", {"agent": agent, "limit": limit}
    if after is not None:
        where += " AND (created_at, id) < (:after_created_at, :after_id)"
        given |= {"after_created_at": after.created_at, "after_id": after.memory_id}
    return await fetch_rows(
        connection,
        f"SELECT {_SUMMARY} FROM sweeps WHERE {where} ORDER BY created_at DESC, id DESC LIMIT :limit",
        given,
    )


# What is over stays as it is.
_CANCEL = """
    UPDATE sweeps SET status = 'cancelled', finished_at = clock_timestamp()
    WHERE agent_id = :agent AND id = :id AND status IN ('queued', 'running')
"""


async def cancel_open_sweep(
    connection: AsyncConnection, agent: AgentId, sweep_id: UUID
) -> dict[str, Any] | None:
    """The sweep, which from now on goes no further; its worker notices with its next batch."""
    await fetch_rows(connection, _CANCEL, {"agent": agent, "id": sweep_id})
    return await find_sweep(connection, agent, sweep_id)


# A worker that has not been heard of for this long is gone.
LEASE = timedelta(seconds=15)

# One sweep of an agent runs at a time: the caller holds the agent's lock. One whose worker died is taken over where that one left it;
# a dry run leaves nothing, so it begins again.
_TAKE = """
    UPDATE sweeps s SET status = 'running', runner = :runner, alive_at = clock_timestamp(),
        started_at = coalesce(started_at, clock_timestamp()),
        place = CASE WHEN dry_run THEN NULL ELSE place END, examined = CASE WHEN dry_run THEN 0 ELSE examined END,
        counts = CASE WHEN dry_run THEN '{}' ELSE counts END, findings = CASE WHEN dry_run THEN '[]' ELSE findings END
    WHERE agent_id = :agent AND id = :id AND status IN ('queued', 'running') AND NOT EXISTS (
        SELECT FROM sweeps o
        WHERE o.agent_id = :agent AND o.status = 'running' AND o.alive_at > clock_timestamp() - CAST(:lease AS interval)
    )
    RETURNING id, origin, slot_hash, since, dry_run, place, examined, counts, findings
"""


async def claim_sweep(
    connection: AsyncConnection, agent: AgentId, sweep_id: UUID, runner: UUID
) -> Sweep | None:
    """Makes the sweep this runner's; None where it is over, or where a sweep of the agent is in the hands of a worker that lives."""
    given = {"agent": agent, "id": sweep_id, "runner": runner, "lease": LEASE}
    rows = await fetch_rows(connection, _TAKE, given)
    return Sweep(**rows[0] | {"origin": Origin(rows[0]["origin"])}) if rows else None


# Not where it has let go of the sweep meanwhile.
_STAY = """
    UPDATE sweeps SET alive_at = clock_timestamp()
    WHERE agent_id = :agent AND id = :id AND runner = :runner AND status = 'running' AND alive_at IS NOT NULL
"""


async def renew_sweep_lease(
    connection: AsyncConnection, agent: AgentId, sweep_id: UUID, runner: UUID
) -> None:
    """Says that the runner lives."""
    await fetch_rows(connection, _STAY, {"agent": agent, "id": sweep_id, "runner": runner})


async def set_sweep_total(
    connection: AsyncConnection, agent: AgentId, sweep_id: UUID, runner: UUID, total: int
) -> None:
    """Writes down how many memories there are to examine."""
    given = {"agent": agent, "id": sweep_id, "runner": runner, "total": total}
    await fetch_rows(
        connection,
        "UPDATE sweeps SET total = :total WHERE agent_id = :agent AND id = :id AND runner = :runner",
        given,
    )


# What went on has got over its trouble; what begins anew each time (`take`, `marked`) shows that only at its end.
_ADVANCE = """
    UPDATE sweeps SET place = :place, examined = :examined, counts = :counts, findings = :findings,
        failures = CASE WHEN dry_run OR origin = 'store' THEN failures ELSE 0 END
    WHERE agent_id = :agent AND id = :id AND runner = :runner AND status = 'running'
    RETURNING id
"""


async def save_sweep_progress(
    connection: AsyncConnection, agent: AgentId, sweep: Sweep, runner: UUID
) -> bool:
    """Writes down how far the sweep is; False where it was cancelled or is another runner's, and nothing may be written any more."""
    given = {
        "agent": agent,
        "id": sweep.id,
        "runner": runner,
        "place": sweep.place,
        "examined": sweep.examined,
        "counts": Jsonb(sweep.counts),
        "findings": Jsonb(sweep.findings),
    }
    return bool(await fetch_rows(connection, _ADVANCE, given))


_FINISH = """
    UPDATE sweeps SET status = 'done', finished_at = clock_timestamp(), error = NULL
    WHERE agent_id = :agent AND id = :id AND status = 'running' AND runner = :runner
"""


async def finish_sweep(
    connection: AsyncConnection, agent: AgentId, sweep_id: UUID, runner: UUID
) -> None:
    """The end of a sweep."""
    given = {"agent": agent, "id": sweep_id, "runner": runner}
    await fetch_rows(connection, _FINISH, given)
    await fetch_rows(connection, _FORGET, given)


# What nobody asked for usually comes to nothing, and then there is nothing to tell; but the last one by the clock says when that was.
_FORGET = """
    DELETE FROM sweeps s WHERE agent_id = :agent AND status = 'done' AND findings = '[]' AND (
        origin = 'store' AND id = :id
        OR origin = 'schedule' AND EXISTS (
            SELECT FROM sweeps newer
            WHERE newer.agent_id = :agent AND newer.origin = 'schedule' AND newer.status = 'done' AND newer.created_at > s.created_at
        )
    )
"""


# It is tried again; what fails each time is no passing trouble.
TRIES = 5
_FAIL = """
    UPDATE sweeps SET failures = failures + 1, alive_at = NULL, error = :error,
        status = CASE WHEN failures + 1 < :tries THEN status ELSE 'failed' END,
        finished_at = CASE WHEN failures + 1 < :tries THEN NULL ELSE clock_timestamp() END
    WHERE agent_id = :agent AND id = :id AND runner = :runner AND status = 'running'
"""


async def record_sweep_failure(
    connection: AsyncConnection, agent: AgentId, sweep_id: UUID, runner: UUID, error: str
) -> None:
    """Lets go of a sweep that something went wrong with in this runner's hands; after TRIES times it has failed."""
    given = {"agent": agent, "id": sweep_id, "runner": runner, "error": error, "tries": TRIES}
    await fetch_rows(connection, _FAIL, given)


# A sweep of an agent that nobody works on; the oldest first.
_WAITING = """
    SELECT agent_id, id FROM sweeps
    WHERE status IN ('queued', 'running') AND (alive_at IS NULL OR alive_at <= clock_timestamp() - CAST(:lease AS interval))
      AND (CAST(:agent AS text) IS NULL OR agent_id = :agent)
    ORDER BY created_at
"""


async def list_waiting_sweeps(
    connection: AsyncConnection, agent: AgentId | None = None
) -> list[tuple[AgentId, UUID]]:
    """Every sweep not at its end that no living worker has, of one agent or of all."""
    rows = await fetch_rows(connection, _WAITING, {"agent": agent, "lease": LEASE})
    return [(AgentId(row["agent_id"]), row["id"]) for row in rows]


# Of looks that fail for good, every ten minutes another, the last one is told.
_FORGET_FAILED = "DELETE FROM sweeps WHERE agent_id = :agent AND origin = 'store' AND status = 'failed' AND findings = '[]'"

# One that a worker let go of begins anew with all that is marked, as a new one would.
_LOOKING = """
    SELECT id FROM sweeps
    WHERE agent_id = :agent AND origin = 'store'
      AND (status = 'queued' OR status = 'running' AND (alive_at IS NULL OR alive_at <= clock_timestamp() - CAST(:lease AS interval)))
    ORDER BY created_at LIMIT 1
"""


async def get_or_create_marks_sweep(
    connection: AsyncConnection, agent: AgentId, new_id: UUID
) -> UUID:
    """The sweep of what is marked that waits for a worker; made where there is none."""
    found = await fetch_rows(connection, _LOOKING, {"agent": agent, "lease": LEASE})
    if not found:
        await fetch_rows(connection, _FORGET_FAILED, {"agent": agent})
    row = (
        found[0]
        if found
        else await create_sweep(connection, agent, new_id, SweepScope(), Origin.STORE)
    )
    looking: UUID = row["id"]
    return looking


# An agent is due where something was written since its last sweep by the clock that came to its end, and none is on its way. No other
# sweep counts: it was about what is marked, about one slot (whose words may be erased since), or began where its caller said.
_DUE = """
    SELECT last.agent_id, last.since FROM (
        SELECT a.agent_id, max(s.created_at) FILTER (WHERE s.origin = 'schedule' AND s.status = 'done') AS since,
               bool_or(s.origin = 'schedule' AND s.status IN ('queued', 'running')) AS on_its_way
        FROM agents a LEFT JOIN sweeps s ON s.agent_id = a.agent_id GROUP BY a.agent_id
    ) AS last
    WHERE on_its_way IS NOT true AND (
        EXISTS (SELECT FROM memories m WHERE m.agent_id = last.agent_id AND m.created_at >= coalesce(last.since, '-infinity'))
        OR EXISTS (SELECT FROM memories m WHERE m.agent_id = last.agent_id AND m.look_again IS NOT NULL)
    )
    ORDER BY last.agent_id
"""


async def list_due_agents(connection: AsyncConnection) -> list[tuple[AgentId, datetime | None]]:
    """Each agent for which something has been written since its last sweep, with the time of that; None: never swept."""
    return [
        (AgentId(row["agent_id"]), row["since"]) for row in await fetch_rows(connection, _DUE, {})
    ]


# The words of a slot go when a memory of it is erased; a sweep of that slot cannot go on without them.
FORGET_SLOTS_OF_SWEEPS = """
    UPDATE sweeps SET slot = NULL, slot_hash = NULL,
        status = CASE WHEN status IN ('queued', 'running') THEN 'cancelled' ELSE status END,
        finished_at = coalesce(finished_at, clock_timestamp())
    WHERE agent_id = :agent AND slot_hash IS NOT NULL
      AND (:everything OR slot_hash IN (SELECT slot_hash FROM memories WHERE agent_id = :agent AND id = ANY(:ids)))
    RETURNING id
"""
