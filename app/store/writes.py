"""Every statement that changes something. The caller owns the transaction; nothing here commits."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncConnection
from uuid_utils.compat import uuid7

from app.domain.memory import AgentId, Fact, Kind, Slot, Version
from app.domain.picture import Picture
from app.domain.plan import Insertion, Plan
from app.store.engine import driver_connection, fetch
from app.store.rows import (
    BELIEF_TYPES,
    LOG_TYPES,
    MEMORY_TYPES,
    REVIEW_TYPES,
    Request,
    belief_of,
    belief_row,
    belief_values,
    link_row,
    log_row,
    memory_row,
    review_row,
)
from app.store.tables import BELIEF_COLUMNS, memories

_TICK = timedelta(microseconds=1)
_NEVER = datetime(1, 1, 1, tzinfo=UTC)

# The row lock that makes an agent's writes one after the other.
_LOCK = "SELECT last_known_at FROM agents WHERE agent_id = :agent FOR UPDATE"

# A first write creates its agent, dated before everything; of two at once, one waits for the other here.
_CREATE_AGENT = sa.text(
    "INSERT INTO agents (agent_id, created_at, last_known_at) VALUES (:agent, clock_timestamp(), '0001-01-01 00:00:00+00') "
    "ON CONFLICT DO NOTHING"
)

_KNOW = "UPDATE agents SET last_known_at = :now WHERE agent_id = :agent"

VERSION_COLUMNS = (
    "id, chain_id, kind, entity, category, key, single_valued, slot_entity, slot_category, slot_key, "
    "content_hash, fuzzy_hash, folded_hash, value_hash, importance, trust, created_at, revision, " + ", ".join(BELIEF_COLUMNS)
)

# Whole chains that a write may touch, found by id, text or slot, and the clock. It is read here because a clock read in the
# statement that takes the lock can be older than the lock (DESIGN §2).
_PICTURE = f"""
    SELECT clock_timestamp() AS clock, v.*
    FROM (SELECT 1) AS once LEFT JOIN (
        SELECT {VERSION_COLUMNS} FROM memories
        WHERE agent_id = :agent AND chain_id IN (
            SELECT chain_id FROM memories WHERE agent_id = :agent AND id = ANY(:ids)
            UNION SELECT chain_id FROM memories WHERE agent_id = :agent AND superseded_by = ANY(:withdrawable)
            UNION SELECT chain_id FROM memories WHERE agent_id = :agent AND fuzzy_hash = ANY(:hashes)
            UNION SELECT chain_id FROM memories WHERE agent_id = :agent AND slot_key IS NOT NULL AND slot_hash = ANY(:slots)
        )
    ) AS v ON true
"""  # noqa: S608 - column names from constants


async def lock_agent(connection: AsyncConnection, agent: AgentId) -> datetime | None:
    """Locks the agent's row, made where it is missing, until the transaction ends; returns the last known time, None for a new agent."""
    found = await fetch(connection, _LOCK, {"agent": agent})
    if not found:
        await connection.execute(_CREATE_AGENT, {"agent": agent})
        found = await fetch(connection, _LOCK, {"agent": agent})
    last: datetime = found[0]["last_known_at"]
    return None if last == _NEVER else last


def next_known(clock: datetime, last: datetime | None) -> datetime:
    """The known time of the next operation: the clock, or one microsecond after the last where the clock is not ahead of it."""
    return clock if last is None or clock > last else last + _TICK


async def read_picture(
    connection: AsyncConnection, agent: AgentId, *, facts: Sequence[Fact] = (), ids: Iterable[UUID] = (), withdrawable: Iterable[UUID] = ()
) -> tuple[Picture, datetime]:
    """The chains around these facts (by text and slot) and ids, those that ended in one that may be withdrawn, and the database's clock."""
    parameters = {
        "agent": agent,
        "ids": list(ids),
        "withdrawable": list(withdrawable),
        "hashes": list({fact.fuzzy_hash for fact in facts}),
        "slots": list({fact.slot.digest for fact in facts if fact.key is not None}),
    }
    rows = await fetch(connection, _PICTURE, parameters)
    return Picture(version_in(row) for row in rows if row["id"] is not None), rows[0]["clock"]


def version_in(row: Mapping[str, Any]) -> Version:
    """The version in a row of VERSION_COLUMNS."""
    return Version(
        kind=Kind(row["kind"]),
        slot=Slot(row["slot_entity"], row["slot_category"], row["slot_key"]),
        belief=belief_of(row),
        **{name: row[name] for name in _PLAIN_VERSION_FIELDS},
    )


_PLAIN_VERSION_FIELDS = tuple(f.name for f in fields(Version) if f.name not in ("kind", "slot", "belief"))


# --- applying ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Written:
    """Where an operation was logged, and the review that it left, if any."""

    log_id: UUID
    review_id: UUID | None


@dataclass(slots=True)
class _Tally:
    """Several plans folded into the rows they leave behind."""

    inserted: dict[UUID, Insertion] = field(default_factory=dict)
    updated: dict[UUID, Version] = field(default_factory=dict)
    archived: list[tuple[Version, datetime]] = field(default_factory=list)

    def add(self, plan: Plan) -> None:
        self.inserted.update({i.version.id: i for i in plan.inserted})
        for change in plan.changed:
            self.archived.append((change.before, plan.now))
            if fresh := self.inserted.get(change.after.id):
                self.inserted[change.after.id] = replace(fresh, version=change.after)
            else:
                self.updated[change.after.id] = change.after


async def apply(
    connection: AsyncConnection,
    agent: AgentId,
    plans: Sequence[Plan],
    *,
    vectors: Mapping[UUID, NDArray[np.float32]],
    language: int,
    request: Request,
) -> list[Written]:
    """Writes what the plans say, in their order, with one log row each, and says where each was logged.

    `vectors` holds the embedding of each inserted memory, `language` the oid of the text search configuration.
    """
    if not plans:
        return []
    tally = _Tally()
    for plan in plans:
        tally.add(plan)
    written = [Written(uuid7(), uuid7() if plan.review else None) for plan in plans]
    marks = {i.version.id: plan.look_again for plan in plans for i in plan.inserted}
    memory_rows = [memory_row(agent, i, vectors[i.version.id], language, marks[i.version.id]) for i in tally.inserted.values()]
    corrected = await _metadata_before(connection, agent, plans)
    log_rows = [log_row(agent, at.log_id, plan, request, corrected.get(plan.target)) for at, plan in zip(written, plans, strict=True)]
    if len(plans) == 1 and _is_plain(plans[0]):
        driver = await driver_connection(connection)
        await driver.execute(_ADD_ONE, (*memory_rows[0], plans[0].now, agent, *log_rows[0]))
    else:
        await _copy(connection, "memories", MEMORY_TYPES, memory_rows)
        await _update_beliefs(connection, agent, tally.updated.values())
        await _copy(connection, "memory_beliefs", BELIEF_TYPES, [belief_row(agent, version, until) for version, until in tally.archived])
        await _update_metadata(connection, agent, plans)
        await _reinforce(connection, agent, plans)
        await _copy(connection, "consolidation_log", LOG_TYPES, log_rows)
        await fetch(connection, _KNOW, {"agent": agent, "now": plans[-1].now})
    await _write_links_and_reviews(connection, agent, plans, written)
    return written


def _is_plain(plan: Plan) -> bool:
    """The usual store: one new memory that changes no other."""
    return len(plan.inserted) == 1 and not (plan.changed or plan.metadata or plan.reinforced)


async def _write_links_and_reviews(connection: AsyncConnection, agent: AgentId, plans: Sequence[Plan], written: Sequence[Written]) -> None:
    pairs = list(zip(plans, written, strict=True))
    links = [link_row(agent, link, at.log_id, plan.now) for plan, at in pairs for link in dict.fromkeys(plan.links)]
    reviews = [review_row(agent, at.review_id, plan.review, plan, at.log_id) for plan, at in pairs if plan.review and at.review_id]
    if links:
        driver = await driver_connection(connection)
        await driver.execute(_LINK, [list(column) for column in zip(*links, strict=True)])
    await _copy(connection, "reviews", REVIEW_TYPES, reviews)


# A few rows in one round trip, where COPY takes two.
_LINK = b"""
    INSERT INTO memory_relationships (agent_id, source_id, target_id, type, log_id, created_at)
    SELECT * FROM unnest(%s::text[], %s::uuid[], %s::uuid[], %s::text[], %s::uuid[], %s::timestamptz[])
"""


async def _copy(connection: AsyncConnection, table: str, types: Mapping[str, str | int], rows: Sequence[Sequence[object]]) -> None:
    """COPY: the fastest way in for a thousand rows, and as fast as an INSERT for one."""
    if not rows:
        return
    driver = await driver_connection(connection)
    statement = f"COPY {table} ({', '.join(types)}) FROM STDIN (FORMAT BINARY)"
    async with driver.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        copy.set_types(list(types.values()))
        for row in rows:
            await copy.write_row(row)


def _into(table: str, types: Mapping[str, str | int]) -> str:
    return f"INSERT INTO {table} ({', '.join(types)}) VALUES ({', '.join(['%s'] * len(types))})"  # noqa: S608 - names from constants


# The usual store, one new memory that changes no other, in one round trip instead of seven.
_ADD_ONE = f"""
    WITH stored AS ({_into("memories", MEMORY_TYPES)}), known AS (UPDATE agents SET last_known_at = %s WHERE agent_id = %s)
    {_into("consolidation_log", LOG_TYPES)}
""".encode()  # noqa: S608 - names from constants


_UPDATE_BELIEF = (
    memories.update()
    .where(memories.c.agent_id == sa.bindparam("of_agent"), memories.c.id == sa.bindparam("of_memory"))
    .values({name: sa.bindparam(name) for name in (*BELIEF_COLUMNS, "revision")})
)


async def _update_beliefs(connection: AsyncConnection, agent: AgentId, versions: Iterable[Version]) -> None:
    rows = [
        {"of_agent": agent, "of_memory": v.id, "revision": v.revision, **dict(zip(BELIEF_COLUMNS, belief_values(v.belief), strict=True))}
        for v in versions
    ]
    if rows:
        await connection.execute(_UPDATE_BELIEF, rows)


async def _metadata_before(connection: AsyncConnection, agent: AgentId, plans: Sequence[Plan]) -> dict[UUID | None, dict[str, Any]]:
    """What the metadata to be corrected says now, for the log."""
    found: dict[UUID | None, dict[str, Any]] = {}
    for plan in plans:
        if plan.metadata:
            columns = [memories.c[name] for name in plan.metadata]
            here = sa.and_(memories.c.agent_id == agent, memories.c.id == plan.target)
            found[plan.target] = dict((await connection.execute(sa.select(*columns).where(here))).mappings().one())
    return found


async def _update_metadata(connection: AsyncConnection, agent: AgentId, plans: Sequence[Plan]) -> None:
    """Metadata is current-only: it is corrected in place, and the log keeps what it was."""
    for plan in plans:
        if plan.metadata:
            here = sa.and_(memories.c.agent_id == agent, memories.c.id == plan.target)
            await connection.execute(memories.update().where(here).values(**plan.metadata, revision=memories.c.revision + 1))


# A duplicate confirms what is stored; counters live apart so that they touch neither ETags nor beliefs.
_REINFORCE = sa.text("""
    INSERT INTO memory_usage (agent_id, memory_id, access_count, last_reinforced_at) VALUES (:agent, :memory, 1, :now)
    ON CONFLICT (agent_id, memory_id)
    DO UPDATE SET access_count = memory_usage.access_count + 1, last_reinforced_at = excluded.last_reinforced_at
""")


async def _reinforce(connection: AsyncConnection, agent: AgentId, plans: Sequence[Plan]) -> None:
    rows = [{"agent": agent, "memory": plan.reinforced, "now": plan.now} for plan in plans if plan.reinforced]
    if rows:
        await connection.execute(_REINFORCE, rows)
