"""Every read, each one statement, so that it sees one consistent state. One predicate decides what holds, here and nowhere else."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.agent import AgentId
from app.domain.errors import EmbeddingsChanged
from app.domain.fact import FACT_FIELDS, DerivedSlot, Kind, Lifespan, Slot, StoredFact
from app.domain.strength import HalfLives
from app.domain.version import Memory, Moment, Usage
from app.store.believed import build_belief_from_sql
from app.store.columns import BELIEF_COLUMNS, COLUMN_NAMES, Filters, build_filter_conditions
from app.store.engine import fetch_rows
from app.store.rows import belief_from_row
from app.store.staleness import ended_list_from_json, is_stale_sql, stale_because_sql
from app.store.strength import COUNTED, STRENGTH, USAGE, half_life_values

# The point on both axes that a read is about. The default on valid time is never behind the agent's last write, so that a
# write is visible to the next read even when the clock went back; on known time it is the last write seen.
MOMENT = """
    moment AS MATERIALIZED (
        SELECT coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
               coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
        FROM (SELECT clock_timestamp() AS now) AS clock,
             (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
    )
"""

# The one predicate of DESIGN §2.
HOLDS = "b.valid_from <= (SELECT as_of FROM moment) AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))"

# What holds now is never cold (store/retaining.py). Postgres cannot know that, and reads an agent's whole past where it is told only
# to look at ends; with this, the index of warm rows is the cheapest.
WARM = "NOT m.cold"

_BELIEF = ", ".join(f"b.{name}" for name in BELIEF_COLUMNS)

LATEST = build_belief_from_sql("m", "b", past=False)
_PAST = build_belief_from_sql("m", "b", past=True)

_SUPERSEDES_LATEST = """
    (SELECT o.id FROM memories o WHERE o.agent_id = m.agent_id AND o.superseded_by = m.id ORDER BY o.valid_from DESC, o.id DESC LIMIT 1)
"""

_SUPERSEDES_PAST = """
    (SELECT o.id FROM (
        SELECT y.id, y.valid_from FROM memories y
        WHERE y.agent_id = m.agent_id AND y.superseded_by = m.id AND y.known_from <= (SELECT known_at FROM moment)
        UNION ALL
        SELECT y.memory_id, y.valid_from FROM memory_beliefs y
        WHERE y.agent_id = m.agent_id AND y.superseded_by = m.id
          AND y.known_from <= (SELECT known_at FROM moment) AND y.known_until > (SELECT known_at FROM moment)
     ) AS o ORDER BY o.valid_from DESC, o.id DESC LIMIT 1)
"""

# Counters of the rows that are answered, looked up for these alone: Postgres fills select lists after LIMIT.
_USAGE = ", ".join(
    f"(SELECT u.{name} FROM memory_usage u WHERE u.agent_id = m.agent_id AND u.memory_id = m.id AND {counts}) AS {name}"
    for name, counts in COUNTED.items()
)

# A fact's tier and times are read from its belief.
_FACT_COLUMNS = tuple(
    name for name in FACT_FIELDS if name in COLUMN_NAMES and name not in BELIEF_COLUMNS
)
MEMORY = (
    "m.id, m.chain_id, m.created_at, m.revision, m.erased_at, m.derived_entity, m.derived_key, m.derived_value, "
    f"{', '.join(f'm.{name}' for name in _FACT_COLUMNS)}, {_BELIEF}"
)


@dataclass(frozen=True, slots=True)
class Point:
    """Where a read asks on both axes; None = now, and all that is known. `include_superseded` drops the valid-time half.

    Uses after `known_at` do not count, unless `all_uses`: the later pages of a list of what is known now name the time of the first one.
    """

    as_of: datetime | None = None
    known_at: datetime | None = None
    include_superseded: bool = False
    all_uses: bool = False

    @property
    def is_present(self) -> bool:
        """Whether it asks for what holds now, by all that is known."""
        return self.as_of is None and self.known_at is None and not self.include_superseded


@dataclass(frozen=True, slots=True)
class Page:
    """Memories in order, at a moment on both axes."""

    moment: Moment
    memories: list[Memory]


def memories_from(point: Point) -> tuple[str, str]:
    """The FROM of memories with the belief to read, and the column of what each superseded."""
    return (LATEST, _SUPERSEDES_LATEST) if point.known_at is None else (_PAST, _SUPERSEDES_PAST)


def memory_columns(point: Point) -> str:
    """The columns of a memory as a read answers it: beside its own, the counters, what it superseded, and why it is stale."""
    past = point.known_at is not None
    return f"""
        {MEMORY}, {_USAGE}, {memories_from(point)[1]} AS supersedes_id, {stale_because_sql(past=past, holds=HOLDS)} AS stale_because
    """


def where_memories(filters: Filters, point: Point) -> tuple[str, dict[str, Any]]:
    """The WHERE of a read: the agent, what holds, the filters."""
    conditions = ["m.agent_id = :agent"]
    if not point.include_superseded:
        conditions.append(HOLDS)
    if point.is_present:
        conditions.append(WARM)
    if filters.stale is not None:
        stale = is_stale_sql(past=point.known_at is not None, holds=HOLDS)
        conditions.append(stale if filters.stale else f"NOT {stale}")
    narrowing, parameters = build_filter_conditions(filters)
    return " AND ".join([*conditions, *narrowing]), parameters


def where_searchable(filters: Filters, point: Point) -> tuple[str, dict[str, Any]]:
    """The WHERE of a search: what was erased has neither words nor a vector."""
    where, parameters = where_memories(filters, point)
    return f"{where} AND m.erased_at IS NULL", parameters


@asynccontextmanager
async def open_read_connection(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A connection for single-statement reads: each statement sees one consistent state, no transaction is kept open."""
    async with engine.connect() as connection:
        yield await connection.execution_options(isolation_level="AUTOCOMMIT")


async def run_read(
    connection: AsyncConnection,
    statement: str,
    agent: AgentId,
    point: Point,
    parameters: Mapping[str, Any],
    *,
    encoder: str | None = None,
) -> tuple[Moment, list[Any]]:
    """Runs a statement whose rows carry the moment; a row without an id says that nothing was found.

    Where an encoder is named they carry the database's too. Raises EmbeddingsChanged where it is another one.
    """
    used_by = None if point.all_uses else point.known_at
    given = {
        "agent": agent,
        "as_of": point.as_of,
        "known_at": point.known_at,
        "used_by": used_by,
        **parameters,
    }
    rows = await fetch_rows(connection, statement, given)
    if encoder is not None and rows[0]["encoder"] != encoder:
        raise EmbeddingsChanged(rows[0]["encoder"], encoder)
    return Moment(rows[0]["moment_as_of"], rows[0]["moment_known_at"]), [
        row for row in rows if row["id"] is not None
    ]


def memory_from_row(row: Mapping[str, Any]) -> Memory:
    belief = belief_from_row(row)
    said = {name: row[name] for name in _FACT_COLUMNS}
    said |= {name: tuple(row[name]) for name in ("tags", "entities", "sources", "merged_from")}
    said["derived"] = (
        DerivedSlot(row["derived_entity"], row["derived_key"], row["derived_value"])
        if row["derived_key"]
        else None
    )
    said |= {"kind": Kind(row["kind"]), "lifespan": Lifespan(row["lifespan"])}
    fact = StoredFact(
        **said, tier=belief.tier, valid_from=belief.valid_from, valid_until=belief.said_until
    )
    repeated = (
        row.get("access_count") or 0,
        row.get("last_reinforced_at"),
    )  # candidates are read without
    usage = Usage(*repeated, row.get("use_count") or 0, row.get("last_accessed_at"))
    beside = (row["created_at"], row["revision"], row["supersedes_id"], usage, row["erased_at"])
    return Memory(
        row["id"],
        row["chain_id"],
        fact,
        belief,
        *beside,
        ended_list_from_json(row.get("stale_because")),
    )


async def _select_page(
    connection: AsyncConnection,
    agent: AgentId,
    point: Point,
    *,
    where: str,
    tail: str,
    parameters: Mapping[str, Any],
) -> Page:
    source, _ = memories_from(point)
    statement = f"""
        WITH {MOMENT}
        SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, found.*
        FROM moment LEFT JOIN (SELECT {memory_columns(point)} FROM {source} WHERE {where} {tail}) AS found ON true
    """
    moment, rows = await run_read(connection, statement, agent, point, parameters)
    return Page(moment, [memory_from_row(row) for row in rows])


async def read_moment(connection: AsyncConnection, agent: AgentId) -> Moment:
    """Now, on both axes."""
    statement = f"WITH {MOMENT} SELECT as_of, known_at FROM moment"
    [row] = await fetch_rows(
        connection, statement, {"agent": agent, "as_of": None, "known_at": None}
    )
    return Moment(row["as_of"], row["known_at"])


# --- one, many ---------------------------------------------------------------------------------------------------------


async def find_memory(
    connection: AsyncConnection, agent: AgentId, memory_id: UUID, point: Point
) -> tuple[Moment, Memory | None]:
    """One version as believed at the point's known time, whatever its state; None where it was not known then."""
    page = await find_memories(connection, agent, [memory_id], point)
    return page.moment, page.memories[0] if page.memories else None


async def find_memories(
    connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID], point: Point
) -> Page:
    """These versions, in no order, those known at the point's known time."""
    where = "m.agent_id = :agent AND m.id = ANY(:ids)"
    return await _select_page(
        connection, agent, point, where=where, tail="", parameters={"ids": list(ids)}
    )


@dataclass(frozen=True, slots=True)
class After:
    """Where a page of a list ended; `strength` where it is sorted by it."""

    created_at: datetime
    memory_id: UUID
    strength: float | None = None


async def list_memories(
    connection: AsyncConnection,
    agent: AgentId,
    filters: Filters,
    point: Point,
    *,
    limit: int,
    after: After | None,
) -> Page:
    """Newest known first."""
    where, parameters = where_memories(filters, point)
    if after is not None:
        where += " AND (m.created_at, m.id) < (:after_created_at, :after_id)"
        parameters |= {"after_created_at": after.created_at, "after_id": after.memory_id}
    tail = "ORDER BY m.created_at DESC, m.id DESC LIMIT :limit"
    return await _select_page(
        connection, agent, point, where=where, tail=tail, parameters={**parameters, "limit": limit}
    )


@dataclass(frozen=True, slots=True)
class Ranked(Page):
    """Memories by strength, with the strength each was placed by and how many there are in all."""

    strengths: list[float]
    live: int


async def list_strongest(
    connection: AsyncConnection,
    agent: AgentId,
    filters: Filters,
    point: Point,
    half_lives: HalfLives,
    *,
    limit: int,
    after: After | None = None,
    first: Kind | None = None,
) -> Ranked:
    """Strongest first; those of the kind `first` before all others, erased ones left out. `after` is not for use with `first`."""
    source, _ = memories_from(point)
    where, parameters = (
        where_searchable(filters, point) if first else where_memories(filters, point)
    )
    parameters |= {"first": first, "limit": limit, **half_life_values(half_lives)}
    beyond = ""
    if after is not None:
        beyond = "WHERE (strength, id) < (:after_strength, :after_id)"
        parameters |= {"after_strength": after.strength, "after_id": after.memory_id}
    statement = f"""
        WITH {MOMENT},
        live AS MATERIALIZED (
            SELECT m.id, {STRENGTH} AS strength, m.kind IS NOT DISTINCT FROM CAST(:first AS text) AS is_first
            FROM {source} {USAGE} WHERE {where}
        ),
        top AS (SELECT * FROM live {beyond} ORDER BY is_first DESC, strength DESC, id DESC LIMIT :limit)
        SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, (SELECT count(*) FROM live) AS live, hit.*
        FROM moment LEFT JOIN (
            SELECT top.strength, top.is_first, {memory_columns(point)}
            FROM top JOIN {source} ON m.agent_id = :agent AND m.id = top.id
        ) AS hit ON true
        ORDER BY hit.is_first DESC, hit.strength DESC, hit.id DESC
    """
    moment, rows = await run_read(connection, statement, agent, point, parameters)
    live = rows[0]["live"] if rows else 0
    return Ranked(
        moment, [memory_from_row(row) for row in rows], [row["strength"] for row in rows], live
    )


async def list_chain(
    connection: AsyncConnection, agent: AgentId, memory_id: UUID, point: Point
) -> Page:
    """Every version of the memory's chain that was known at the point's known time, oldest first."""
    where = "m.agent_id = :agent AND m.chain_id = (SELECT o.chain_id FROM memories o WHERE o.agent_id = :agent AND o.id = :id)"
    return await _select_page(
        connection,
        agent,
        point,
        where=where,
        tail="ORDER BY b.valid_from, b.asserted_at",
        parameters={"id": memory_id},
    )


async def find_holding_in_slot(
    connection: AsyncConnection, agent: AgentId, slot: Slot, point: Point, *, kind: str
) -> Page:
    """What holds in a slot: where several do, the most trusted, then the one with the latest start."""
    where, parameters = where_memories(Filters(kind=kind), point)
    where += " AND m.slot_key IS NOT NULL AND m.slot_hash = :slot"
    parameters["slot"] = slot.digest
    tail = "ORDER BY m.trust DESC, b.valid_from DESC, m.id DESC LIMIT 1"
    return await _select_page(
        connection, agent, point, where=where, tail=tail, parameters=parameters
    )
