"""Every statement that changes something. The caller owns the transaction; nothing here commits."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Any
from uuid import UUID

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncConnection
from uuid_utils.compat import uuid7

from app.domain.agent import AgentId
from app.domain.version import Version
from app.planning.plan import Insertion, Plan, ReviewStatus
from app.store.columns import BELIEF_COLUMNS
from app.store.engine import driver_connection
from app.store.rows import (
    BELIEF_TYPES,
    LINK_TYPES,
    LOG_TYPES,
    MEMORY_TYPES,
    REVIEW_TYPES,
    CallInfo,
    Row,
    belief_row,
    belief_values,
    log_row,
    memory_row,
    relationship_row,
    review_row,
)
from app.store.tables import memories

# --- applying ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LoggedPlan:
    """Where an operation was logged, and the review that it left, if any."""

    log_id: UUID
    review_id: UUID | None


@dataclass(slots=True)
class _Tally:
    """Several plans folded into the rows they leave behind."""

    inserted: dict[UUID, Insertion] = field(default_factory=dict)
    updated: dict[UUID, Version] = field(default_factory=dict)
    archived: list[tuple[Version, datetime]] = field(default_factory=list)

    def add_plan(self, plan: Plan) -> None:
        self.inserted.update({i.version.id: i for i in plan.inserted})
        for change in plan.changed:
            self.archived.append((change.before, plan.now))
            if fresh := self.inserted.get(change.after.id):
                self.inserted[change.after.id] = replace(fresh, version=change.after)
            else:
                self.updated[change.after.id] = change.after


async def apply_plans(
    connection: AsyncConnection,
    agent: AgentId,
    plans: Sequence[Plan],
    *,
    vectors: Mapping[UUID, NDArray[np.float32]],
    language: int,
    request: CallInfo,
) -> list[LoggedPlan]:
    """Writes what the plans say, in their order, with one log row each, and says where each was logged.

    `vectors` holds the embedding of each inserted memory, `language` the oid of the text search configuration.
    """
    if not plans:
        return []
    written = [LoggedPlan(uuid7(), uuid7() if plan.review else None) for plan in plans]
    corrected = await _read_metadata_before(connection, agent, plans)
    rows = _build_rows(
        agent, list(zip(plans, written, strict=True)), vectors, language, request, corrected
    )
    small = len(plans) == 1 and len(rows.updated) <= _FEW
    await (_write_one if small else _write_many)(connection, agent, plans, rows)
    await _update_metadata(connection, agent, plans)
    await _settle_reviews(connection, agent, plans, written)
    await _apply_reverts(connection, agent, plans, written)
    return written


@dataclass(frozen=True, slots=True)
class _Rows:
    """What some plans write, in the columns of their tables; of a version only the latest state, with every belief it had before.

    Memories and log are made as they are sent, while the server takes in the ones before.
    """

    memories: Iterable[Row]
    updated: Sequence[Version]
    beliefs: Sequence[Row]
    links: Sequence[Row]
    reviews: Sequence[Row]
    log: Iterable[Row]


def _build_rows(
    agent: AgentId,
    plans: Sequence[tuple[Plan, LoggedPlan]],
    vectors: Mapping[UUID, NDArray[np.float32]],
    language: int,
    request: CallInfo,
    corrected: Sequence[dict[str, Any] | None],
) -> _Rows:
    tally = _Tally()
    for plan, _ in plans:
        tally.add_plan(plan)
    marks = {i.version.id: plan.look_again for plan, _ in plans for i in plan.inserted}
    return _Rows(
        memories=(
            memory_row(agent, i, vectors[i.version.id], language, marks[i.version.id])
            for i in tally.inserted.values()
        ),
        updated=list(tally.updated.values()),
        beliefs=[belief_row(agent, version, until) for version, until in tally.archived],
        links=[
            relationship_row(agent, link, at.log_id, plan.now)
            for plan, at in plans
            for link in dict.fromkeys(plan.links)
        ],
        reviews=[
            review_row(agent, at.review_id, plan.review, plan, at.log_id)
            for plan, at in plans
            if plan.review and at.review_id
        ],
        log=(
            log_row(agent, at.log_id, plan, request, before)
            for (plan, at), before in zip(plans, corrected, strict=True)
        ),
    )


# Up to here a statement for each changed version is shorter than the round trips it saves.
_FEW = 20


async def _write_one(
    connection: AsyncConnection, agent: AgentId, plans: Sequence[Plan], rows: _Rows
) -> None:
    """The usual store in one round trip instead of up to nine."""
    [plan] = plans
    parts = [
        _build_insert_sql("memories", MEMORY_TYPES, rows.memories),
        *((_UPDATE_BELIEF, _belief_parameters(agent, v)) for v in rows.updated),
        _build_insert_sql("memory_beliefs", BELIEF_TYPES, rows.beliefs),
        (_REINFORCE, (agent, plan.reinforced, plan.now)) if plan.reinforced else _NOTHING,
        _build_insert_sql("memory_relationships", LINK_TYPES, rows.links),
        _build_insert_sql("reviews", REVIEW_TYPES, rows.reviews),
        (_KNOW, (plan.now, agent)),
    ]
    log, logged = _build_insert_sql("consolidation_log", LOG_TYPES, rows.log)
    ctes = ", ".join(
        f"part{place} AS ({statement})" for place, (statement, _) in enumerate(parts) if statement
    )
    values = [value for _, given in parts for value in given]
    driver = await driver_connection(connection)
    await driver.execute(f"WITH {ctes} {log}".encode(), (*values, *logged))


_Part = tuple[str, Sequence[object]]
_NOTHING: _Part = ("", ())


def _build_insert_sql(table: str, types: Mapping[str, str], made: Iterable[Row]) -> _Part:
    """An INSERT of these rows and its values."""
    rows = list(made)
    if not rows:
        return _NOTHING
    one = f"({', '.join(['%s'] * len(types))})"
    statement = f"INSERT INTO {table} ({', '.join(types)}) VALUES {', '.join([one] * len(rows))}"
    return statement, [row[name] for row in rows for name in types]


async def _write_many(
    connection: AsyncConnection, agent: AgentId, plans: Sequence[Plan], rows: _Rows
) -> None:
    """Many plans at once: COPY is the fastest way in."""
    driver = await driver_connection(connection)
    await _copy_rows(connection, "memories", MEMORY_TYPES, rows.memories)
    async with driver.cursor() as cursor:
        if rows.updated:
            await cursor.executemany(
                _UPDATE_BELIEF.encode(), [_belief_parameters(agent, v) for v in rows.updated]
            )
        if reinforced := [(agent, plan.reinforced, plan.now) for plan in plans if plan.reinforced]:
            await cursor.executemany(_REINFORCE.encode(), reinforced)
    await _copy_rows(connection, "memory_beliefs", BELIEF_TYPES, rows.beliefs)
    await _copy_rows(connection, "consolidation_log", LOG_TYPES, rows.log)
    await _copy_rows(connection, "memory_relationships", LINK_TYPES, rows.links)
    await _copy_rows(connection, "reviews", REVIEW_TYPES, rows.reviews)
    await driver.execute(_KNOW.encode(), (plans[-1].now, agent))


# What is believed of a stored version from now on. It may hold again, so it is no longer cold.
_UPDATE_BELIEF = f"""
    UPDATE memories SET {", ".join(f"{name} = %s" for name in (*BELIEF_COLUMNS, "revision"))}, cold = false WHERE agent_id = %s AND id = %s
"""


def _belief_parameters(agent: AgentId, version: Version) -> tuple[object, ...]:
    return (*belief_values(version.belief).values(), version.revision, agent, version.id)


# A duplicate confirms what is stored; counters live apart so that they touch neither revisions nor beliefs.
_REINFORCE = """
    INSERT INTO memory_usage (agent_id, memory_id, access_count, last_reinforced_at) VALUES (%s, %s, 1, %s)
    ON CONFLICT (agent_id, memory_id)
    DO UPDATE SET access_count = memory_usage.access_count + 1, last_reinforced_at = excluded.last_reinforced_at
"""

_KNOW = "UPDATE agents SET last_known_at = %s WHERE agent_id = %s"


async def _copy_rows(
    connection: AsyncConnection,
    table: str,
    types: Mapping[str, str],
    rows: Iterable[Row],
) -> None:
    """COPY: the fastest way in for a thousand rows, and as fast as an INSERT for one."""
    rows = iter(rows)
    if (first := next(rows, None)) is None:
        return
    driver = await driver_connection(connection)
    statement = f"COPY {table} ({', '.join(types)}) FROM STDIN (FORMAT BINARY)"
    async with driver.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        copy.set_types(list(types.values()))
        for row in chain([first], rows):
            await copy.write_row([row[name] for name in types])


async def _read_metadata_before(
    connection: AsyncConnection, agent: AgentId, plans: Sequence[Plan]
) -> list[dict[str, Any] | None]:
    """What the metadata that each plan corrects says before it, for the log."""
    now: dict[UUID | None, dict[str, Any]] = {}
    found: list[dict[str, Any] | None] = []
    for plan in plans:
        now |= {inserted.version.id: vars(inserted.fact) for inserted in plan.inserted}
        if not plan.metadata:
            found.append(None)
            continue
        missing = [
            memories.c[name] for name in plan.metadata if name not in now.get(plan.target, {})
        ]
        here = sa.and_(memories.c.agent_id == agent, memories.c.id == plan.target)
        stored = (
            dict((await connection.execute(sa.select(*missing).where(here))).mappings().one())
            if missing
            else {}
        )
        known = now.get(plan.target, {}) | stored
        found.append({name: known[name] for name in plan.metadata})
        now[plan.target] = known | plan.metadata
    return found


async def _update_metadata(
    connection: AsyncConnection, agent: AgentId, plans: Sequence[Plan]
) -> None:
    """Metadata is current-only: it is corrected in place, and the log keeps what it was."""
    believed = {
        change.after.id: place for place, plan in enumerate(plans) for change in plan.changed
    }
    for place, plan in enumerate(plans):
        if plan.metadata:
            here = sa.and_(memories.c.agent_id == agent, memories.c.id == plan.target)
            # The revision that came with a later change of the same memory counts this one already.
            counted = plan.target in believed and believed[plan.target] > place
            revision = memories.c.revision + (0 if counted else 1)
            await connection.execute(
                memories.update().where(here).values(**plan.metadata, revision=revision)
            )


# A store that was held back is tied to the memory that it became.
_SETTLE = b"""
    UPDATE reviews SET status = %s, note = %s, decided_at = %s, decision_log_id = %s,
        memory_id = CASE WHEN incoming IS NULL THEN memory_id ELSE %s END
    WHERE agent_id = %s AND id = %s
"""


async def _settle_reviews(
    connection: AsyncConnection,
    agent: AgentId,
    plans: Sequence[Plan],
    written: Sequence[LoggedPlan],
) -> None:
    driver = await driver_connection(connection)
    for plan, at in zip(plans, written, strict=True):
        if settled := plan.settled:
            waits = settled.after is ReviewStatus.PENDING
            decided = (None, None) if waits else (plan.now, at.log_id)
            became = None if waits else plan.target
            await driver.execute(
                _SETTLE, (settled.after, settled.note, *decided, became, agent, settled.review_id)
            )


# The operation that is undone and, where that is a revert, what it had undone, and so on down the line: undoing a revert lets that stand
# again.
_UNDONE = b"""
    WITH RECURSIVE undone AS (
        SELECT id, reverts, created_at, CAST(%(by)s AS uuid) AS by, true AS is_undone FROM consolidation_log
        WHERE agent_id = %(agent)s AND id = %(reverts)s
        UNION ALL
        SELECT l.id, l.reverts, l.created_at, undone.id, NOT undone.is_undone
        FROM undone JOIN consolidation_log l ON l.agent_id = %(agent)s AND l.id = undone.reverts
    )
"""

# What an operation left beside memories and beliefs goes with it: its mark in the log, links, reviews that wait, reinforcement.
_UNDO = (
    _UNDONE
    + b"""
        UPDATE consolidation_log l SET reverted_by = CASE WHEN undone.is_undone THEN undone.by END
        FROM undone WHERE l.agent_id = %(agent)s AND l.id = undone.id AND l.id = ANY(ARRAY(SELECT id FROM undone))
    """,  # the array keeps the planner, which does not know how few these are, from reading the agent's whole log for each
    # A review that was left waits no more; where what left it stands again, it waits again, unless what it is about was erased since.
    # It is as old as what left it: by that it is found in an index.
    _UNDONE
    + b"""
        UPDATE reviews r SET status = CASE WHEN undone.is_undone THEN 'expired' ELSE 'pending' END,
            decided_at = CASE WHEN undone.is_undone THEN CAST(%(now)s AS timestamptz) END,
            decision_log_id = CASE WHEN undone.is_undone THEN undone.by END
        FROM undone
        WHERE r.agent_id = %(agent)s AND r.created_at = undone.created_at AND r.log_id = undone.id
          AND r.status = CASE WHEN undone.is_undone THEN 'pending' ELSE 'expired' END
          AND (undone.is_undone OR r.decision_log_id IN (SELECT id FROM undone) AND NOT EXISTS (
              SELECT FROM memories m WHERE m.agent_id = %(agent)s AND m.erased_at IS NOT NULL
                AND m.id IN (SELECT CAST(jsonb_object_keys(r.relied_on) AS uuid))
          ))
    """,
    b"UPDATE memory_usage SET access_count = access_count - 1 WHERE agent_id = %(agent)s AND memory_id = %(unconfirmed)s",
)
_UNLINK = b"DELETE FROM memory_relationships WHERE agent_id = %s AND source_id = %s AND target_id = %s AND type = %s"


async def _apply_reverts(
    connection: AsyncConnection,
    agent: AgentId,
    plans: Sequence[Plan],
    written: Sequence[LoggedPlan],
) -> None:
    driver = await driver_connection(connection)
    for plan, at in zip(plans, written, strict=True):
        if plan.reverts is None:
            continue
        given = {
            "agent": agent,
            "by": at.log_id,
            "reverts": plan.reverts,
            "now": plan.now,
            "unconfirmed": plan.unconfirmed,
        }
        for statement in _UNDO:
            await driver.execute(statement, given)
        for link in plan.unlinked:
            await driver.execute(_UNLINK, (agent, link.source, link.target, link.type))
