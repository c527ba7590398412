"""Reads of memories. Each is one statement, so that it sees one consistent state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import ceil
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.errors import EmbeddingsChanged
from app.domain.fact import FACT_FIELDS, DerivedSlot, Kind, Lifespan, Slot, StoredFact
from app.domain.strength import HalfLives
from app.domain.version import Belief, Memory, Moment, Usage
from app.store.bounded import bound_page, is_cut
from app.store.columns import (
    BELIEF_COLUMNS,
    COLUMN_NAMES,
    MEMORY_COLUMNS,
    Filters,
    Wording,
    build_filter_conditions,
)
from app.store.engine import fetch_rows
from app.store.fragments import (
    AS_OF,
    HOLDS,
    KNOWN_AT,
    LATEST,
    MOMENT,
    MOMENT_COLUMNS,
    PAST,
    STANDS,
    WARM,
    build_once_in_chain,
    build_past_source,
    list_belief_columns,
)
from app.store.known_time import settle_known_time
from app.store.log.state import decode_dated_by
from app.store.rows import belief_from_row
from app.store.staleness import ended_list_from_json, is_stale_sql, stale_because_sql
from app.store.strength import (
    COUNTER_CONDITIONS,
    STRENGTH,
    STRENGTH_THEN,
    USAGE,
    half_life_values,
)
from app.turns import iterate_in_turns

# The memory that a memory `m` superseded, by the latest beliefs.
_SUPERSEDES_LATEST = """
    (
        SELECT o.id FROM memories o
        WHERE o.agent_id = :agent AND o.superseded_by = m.id
        ORDER BY o.valid_from DESC, o.id DESC
        LIMIT 1
    )
"""

# The memory that a memory `m` superseded, as believed at the known time of the moment.
_SUPERSEDES_PAST = f"""
    (
        SELECT o.id FROM (
            SELECT y.id, y.valid_from FROM memories y
            WHERE y.agent_id = :agent
              AND y.superseded_by = m.id
              AND y.known_from <= {KNOWN_AT}
            UNION ALL
            SELECT y.memory_id, y.valid_from FROM memory_beliefs y
            WHERE y.agent_id = :agent
              AND y.superseded_by = m.id
              AND y.known_from <= {KNOWN_AT}
              AND y.known_until > {KNOWN_AT}
        ) AS o
        ORDER BY o.valid_from DESC, o.id DESC
        LIMIT 1
    )
"""


# Counters are looked up for the answered rows alone: Postgres fills select lists after LIMIT.
_USAGE = ", ".join(
    f"""(
        SELECT u.{name} FROM memory_usage u
        WHERE u.agent_id = :agent AND u.memory_id = m.id AND {counts}
    ) AS {name}"""
    for name, counts in COUNTER_CONDITIONS.items()
)

# A fact's tier and times are read from its belief.
_FACT_COLUMNS = tuple(
    name for name in FACT_FIELDS if name in COLUMN_NAMES and name not in BELIEF_COLUMNS
)
_FACT = ", ".join(f"m.{name}" for name in _FACT_COLUMNS)

MEMORY = f"""
    m.id, m.created_at, m.revision, m.erased_at,
    m.derived_entity, m.derived_key, m.derived_value,
    {_FACT},
    {list_belief_columns("b")}
"""


@dataclass(frozen=True, slots=True)
class Point:
    """A point on both axes. None means now, or all that is known.

    `include_superseded` drops the condition on valid time; `include_covered` adds what is covered.
    Uses after `known_at` do not count, unless `all_uses`: the later pages of a list of the present
    name the time of its first page, and are `of_present`.
    """

    as_of: datetime | None = None
    known_at: datetime | None = None
    include_superseded: bool = False
    all_uses: bool = False
    include_covered: bool = False
    of_present: bool = False

    @property
    def is_present(self) -> bool:
        """True if this is the present, by all that is known."""
        return self.as_of is None and self.known_at is None and not self.include_superseded


@dataclass(frozen=True, slots=True)
class Page:
    """Memories in order, and the moment on both axes at which they were read.

    `is_cut`: there are more, for which the page had no bytes left.
    """

    moment: Moment
    memories: list[Memory]
    is_cut: bool = field(default=False, kw_only=True)


# The bytes of a memory as JSON: those of its texts, and about 2,000 for the rest. To make the JSON
# of whole rows took a tenth of the time of a search.
_TEXTS = [
    column.name
    for column in MEMORY_COLUMNS
    if column.wording is Wording.TEXT and column.name in _FACT_COLUMNS
]
MEMORY_BYTES = f"""
    2000 + octet_length(CAST(
        json_build_array({", ".join(f"page.{name}" for name in _TEXTS)}, page.stale_because)
    AS text))
"""


def memories_from(point: Point) -> tuple[str, str]:
    """Return the FROM of memories `m` with their beliefs `b`, and the id that each superseded."""
    if point.known_at is None:
        return LATEST, _SUPERSEDES_LATEST
    return PAST, _SUPERSEDES_PAST


def memory_columns(point: Point) -> str:
    """Return the columns of a memory in an answer.

    Beside the columns of its row these are counters, the memory that it superseded, and the reasons
    why it is stale.
    """
    _, supersedes = memories_from(point)
    stale_because = stale_because_sql(past=point.known_at is not None, holds=HOLDS)
    return f"""
        {MEMORY},
        {_USAGE},
        {supersedes} AS supersedes_id,
        {stale_because} AS stale_because
    """


def where_memories(filters: Filters, point: Point) -> tuple[str, dict[str, Any]]:
    """Return the WHERE of a read, with its parameters: the agent, the moment, the filters."""
    conditions, parameters = list_conditions(filters, point)
    return " AND ".join(["m.agent_id = :agent", *conditions]), parameters


_NOT_ERASED = "m.erased_at IS NULL"


def list_conditions(filters: Filters, point: Point) -> tuple[list[str], dict[str, Any]]:
    """Return the conditions of the moment and the filters on memories of the agent."""
    conditions = []
    if not point.include_superseded:
        conditions.append(STANDS if point.include_covered else HOLDS)
    if point.is_present:
        conditions.append(WARM)
    if point.is_present or point.of_present:
        # What was erased says nothing any more. Its place in time is left to reads of the past.
        conditions.append(_NOT_ERASED)
    if filters.stale is not None:
        stale = is_stale_sql(past=point.known_at is not None, holds=HOLDS)
        conditions.append(stale if filters.stale else f"NOT {stale}")
    narrowing, parameters = build_filter_conditions(filters)
    return [*conditions, *narrowing], parameters


# The version held at some time of the window that a question asks about.
IN_WINDOW = """(
    NOT b.void
    AND b.valid_from < coalesce(CAST(:window_end AS timestamptz), 'infinity')
    AND coalesce(b.valid_until, 'infinity')
        > coalesce(CAST(:window_start AS timestamptz), '-infinity')
)"""


def where_searchable(
    filters: Filters, point: Point, *, has_window: bool = False
) -> tuple[str, dict[str, Any]]:
    """Return the WHERE of a search. An erased memory has neither words nor a vector.

    If it `has_window`, what held in the window passes too.
    """
    conditions, parameters = list_conditions(filters, point)
    if has_window and HOLDS in conditions:
        conditions[conditions.index(HOLDS)] = f"({HOLDS} OR {IN_WINDOW})"
        conditions = [condition for condition in conditions if condition != WARM]
    if _NOT_ERASED not in conditions:
        conditions.append(_NOT_ERASED)
    return " AND ".join(["m.agent_id = :agent", *conditions]), parameters


async def run_read(
    connection: AsyncConnection,
    statement: str,
    agent: AgentId,
    point: Point,
    parameters: Mapping[str, Any],
    *,
    encoder: str | None = None,
) -> tuple[Moment, list[Any]]:
    """Run a statement whose rows carry the moment. A row without an id means that nothing matched.

    A `known_at` that the caller named is final. If an `encoder` is named, the rows carry the
    encoder of the database too. Raises NotYetKnown, and EmbeddingsChanged for another encoder.
    """
    rows = await fetch_at_point(connection, statement, agent, point, parameters)
    first = rows[0]
    if encoder is not None and first["encoder"] != encoder:
        raise EmbeddingsChanged(first["encoder"], encoder)
    return moment_from_row(first), [row for row in rows if row["id"] is not None]


async def fetch_at_point(
    connection: AsyncConnection,
    statement: str,
    agent: AgentId,
    point: Point,
    parameters: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """Return all rows of a statement that reads at the point. Raises NotYetKnown."""
    if point.known_at is not None and not point.all_uses:
        await settle_known_time(connection, agent, point.known_at)
    values = {
        "agent": agent,
        "as_of": point.as_of,
        "known_at": point.known_at,
        "used_by": None if point.all_uses else point.known_at,
        **parameters,
    }
    return await fetch_rows(connection, statement, values)


def moment_from_row(row: Mapping[str, Any]) -> Moment:
    return Moment(row["moment_as_of"], row["moment_known_at"])


async def memories_from_rows(rows: Sequence[Mapping[str, Any]]) -> list[Memory]:
    return [memory_from_row(row) async for row in iterate_in_turns(rows)]


def memory_from_row(row: Mapping[str, Any]) -> Memory:
    """Return the memory in a row. Rows of candidates have neither counters nor staleness."""
    belief = belief_from_row(row)
    return Memory(
        id=row["id"],
        fact=_fact_from_row(row, belief),
        belief=belief,
        created_at=row["created_at"],
        revision=row["revision"],
        supersedes_id=row["supersedes_id"],
        usage=Usage(
            access_count=row.get("access_count") or 0,
            last_reinforced_at=row.get("last_reinforced_at"),
            use_count=row.get("use_count") or 0,
            last_accessed_at=row.get("last_accessed_at"),
        ),
        erased_at=row["erased_at"],
        stale_because=ended_list_from_json(row.get("stale_because")),
    )


def _fact_from_row(row: Mapping[str, Any], belief: Belief) -> StoredFact:
    values: dict[str, Any] = {}
    for name in _FACT_COLUMNS:
        value = row[name]
        values[name] = tuple(value) if isinstance(value, list) else value
    values["kind"] = Kind(row["kind"])
    values["lifespan"] = Lifespan(row["lifespan"])
    if row["dated_by"]:
        values["dated_by"] = decode_dated_by(row["dated_by"])
    if row["derived_key"]:
        values["derived"] = DerivedSlot(
            entity=row["derived_entity"],
            key=row["derived_key"],
            value=row["derived_value"],
        )
    return StoredFact(
        **values,
        tier=belief.tier,
        valid_from=belief.valid_from,
        valid_until=belief.said_until,
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
    statement = f"""
        WITH {MOMENT}
        SELECT {MOMENT_COLUMNS}, page.*
        FROM moment LEFT JOIN ({_select_memories(point, where, tail)}) AS page ON true
    """
    moment, rows = await run_read(connection, statement, agent, point, parameters)
    return Page(moment, await memories_from_rows(rows))


async def _select_bounded_page(
    connection: AsyncConnection,
    agent: AgentId,
    point: Point,
    *,
    where: str,
    order: str,
    parameters: Mapping[str, Any],
) -> Page:
    """Select a page in an order of its columns. `:limit` and `:max_bytes` bound it."""
    page = _select_memories(point, where, f"ORDER BY {order} LIMIT :limit")
    statement = f"""
        WITH {MOMENT}
        SELECT {MOMENT_COLUMNS}, page.*
        FROM moment LEFT JOIN ({bound_page(page, order, MEMORY_BYTES)}) AS page ON true
        ORDER BY {order}
    """
    moment, rows = await run_read(connection, statement, agent, point, parameters)
    return Page(moment, await memories_from_rows(rows), is_cut=is_cut(rows))


def _select_memories(point: Point, where: str, tail: str) -> str:
    source, _ = memories_from(point)
    return f"""
        SELECT {memory_columns(point)}
        FROM {source}
        WHERE {where}
        {tail}
    """


async def read_moment(connection: AsyncConnection, agent: AgentId) -> Moment:
    """Return the present on both axes."""
    statement = f"WITH {MOMENT} SELECT as_of, known_at FROM moment"
    present = {"agent": agent, "as_of": None, "known_at": None}
    [row] = await fetch_rows(connection, statement, present)
    return Moment(row["as_of"], row["known_at"])


# --- one, many -----------------------------------------------------------------------------------


async def find_memory(
    connection: AsyncConnection, agent: AgentId, memory_id: UUID, point: Point
) -> tuple[Moment, Memory | None]:
    """Return one version as believed at the point's known time, whatever its state.

    The version is None if it was not known then.
    """
    page = await find_memories(connection, agent, [memory_id], point)
    return page.moment, page.memories[0] if page.memories else None


async def find_memories(
    connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID], point: Point
) -> Page:
    """Return those of these versions that were known at the point's known time, in no order."""
    return await _select_page(
        connection,
        agent,
        point,
        where="m.agent_id = :agent AND m.id = ANY(:ids)",
        tail="",
        parameters={"ids": list(ids)},
    )


async def list_versions(
    connection: AsyncConnection,
    agent: AgentId,
    ids: Sequence[UUID],
    point: Point,
    *,
    max_bytes: int,
) -> Page:
    """Return these versions in the order of their starts, until they reach `max_bytes` as JSON."""
    return await _select_bounded_page(
        connection,
        agent,
        point,
        where="m.agent_id = :agent AND m.id = ANY(:ids)",
        order="valid_from, asserted_at, id",
        parameters={"ids": list(ids), "limit": len(ids), "max_bytes": max_bytes},
    )


@dataclass(frozen=True, slots=True)
class After:
    """The last item of a page. `strength` is set if the list is sorted by it.

    It is the strength at `strength_as_of`, or at the moment of the list if that is None.
    """

    created_at: datetime
    memory_id: UUID
    strength: float | None = None
    strength_as_of: datetime | None = None


def _choose_newest_of_past(where: str) -> str:
    """Return the SELECT of the ids of a page at a past time, by all that is known.

    Of what became known after that time, only versions held then that start before they became
    known. They have an index, and are usually few. Without it, a page of last year would read all
    that became known since.
    """
    order = "ORDER BY created_at DESC, id DESC LIMIT :limit"
    select = f"SELECT m.id, m.created_at FROM {LATEST} WHERE {where}"
    return f"""
        SELECT id FROM (
            ({select} AND m.created_at <= {AS_OF} {order})
            UNION ALL
            ({select} AND m.created_at > {AS_OF} AND m.valid_from < m.created_at {order})
        ) AS chosen
        {order}
    """


def bound_newest(point: Point, after: After | None) -> tuple[str, dict[str, Any]]:
    """Return the conditions by which the index of known times finds a page, and their parameters.

    They follow a condition on the agent.
    """
    bounds, parameters = "", {}
    if point.known_at is not None:
        # This is true of all that was known then. The index begins with it.
        bounds += f" AND m.created_at <= {KNOWN_AT}"
    if after is not None:
        bounds += " AND (m.created_at, m.id) < (:after_created_at, :after_id)"
        parameters = {"after_created_at": after.created_at, "after_id": after.memory_id}
    return bounds, parameters


async def list_memories(
    connection: AsyncConnection,
    agent: AgentId,
    filters: Filters,
    point: Point,
    *,
    limit: int,
    max_bytes: int,
    after: After | None,
) -> Page:
    """Return memories, the newest known first, until they reach `max_bytes` as JSON."""
    where, parameters = where_memories(filters, point)
    parameters |= {"limit": limit, "max_bytes": max_bytes}
    bounds, positions = bound_newest(point, after)
    where += bounds
    parameters |= positions
    if point.as_of is not None and point.known_at is None and not point.include_superseded:
        where = f"m.agent_id = :agent AND m.id = ANY(ARRAY({_choose_newest_of_past(where)}))"
    return await _select_bounded_page(
        connection,
        agent,
        point,
        where=where,
        order="created_at DESC, id DESC",
        parameters=parameters,
    )


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on memories `m` that an index answers, and its parameters."""

    sql: str
    parameters: Mapping[str, Any]

    def select_ids(self) -> str:
        """Return the SELECT of the ids of all memories that meet it."""
        return f"SELECT m.id FROM memories m WHERE m.agent_id = :agent AND {self.sql}"


@dataclass(frozen=True, slots=True)
class Ranking:
    """An order by strength, and which part of the order to read.

    At most `limit` memories are read, and no more once they reach `max_bytes` as JSON. Memories of
    the kind `first` come before all others, and erased ones are left out then. With `only_first`,
    only these and core memories are read. `after` cannot be combined with `first`. The strengths
    are those of the read, or those of `after.strength_as_of`.
    """

    half_lives: HalfLives
    limit: int
    max_bytes: int
    after: After | None = None
    first: Kind | None = None
    only_first: bool = False


@dataclass(frozen=True, slots=True)
class Ranked(Page):
    """Memories by strength, the strength of each (0 to 1), and how many there are in all."""

    strengths: list[float]
    live: int


# As many of each sort are read as may be among the strongest of a large agent, in steps of this.
_STRONG_STEP = 500

# The memories that hold are counted up to this number, where they are not read one by one. It is
# larger than any `limit` of a ranking.
MOST_COUNTED = 3_000


def _build_strong_cte(limit: int) -> str:
    """Return the CTE of memories of a large agent that may be among its `limit` strongest.

    These are constraints, core memories, the most important, those used last, and the newest.
    """
    of_each = _STRONG_STEP * ceil(limit / _STRONG_STEP)
    return f"""
        strong AS MATERIALIZED (
            (SELECT m.id FROM memories m
             WHERE m.agent_id = :agent AND m.kind = 'constraint' AND NOT m.cold
             ORDER BY m.created_at DESC LIMIT {of_each})
            UNION
            (SELECT m.id FROM memories m
             WHERE m.agent_id = :agent AND m.tier = 'core' AND NOT m.cold
             ORDER BY m.created_at DESC LIMIT {of_each})
            UNION
            (SELECT m.id FROM memories m
             WHERE m.agent_id = :agent AND m.importance > 0.5 AND NOT m.cold
             ORDER BY m.importance DESC, m.created_at DESC LIMIT {of_each})
            UNION
            (SELECT u.memory_id FROM memory_usage u
             WHERE u.agent_id = :agent AND u.last_accessed_at IS NOT NULL
             ORDER BY u.last_accessed_at DESC LIMIT {of_each})
            UNION
            (SELECT m.id FROM memories m
             WHERE m.agent_id = :agent
             ORDER BY m.created_at DESC LIMIT {of_each})
        ),
    """


async def list_probably_strongest(
    connection: AsyncConnection, agent: AgentId, filters: Filters, point: Point, ranking: Ranking
) -> Ranked | None:
    """Return what `list_strongest` does, without reading every memory of the agent.

    A memory may be missing that is neither new nor important, core, a constraint nor used lately.
    `live` counts no more than MOST_COUNTED. Return None if too few pass the filters.
    """
    build_where = where_searchable if ranking.first else where_memories
    where, _ = build_where(filters, point)
    source, _ = memories_from(point)
    # In the order of an index, the count stops where it has enough. In none, Postgres would collect
    # all rows first.
    live = f"""
        SELECT count(*)
        FROM (
            SELECT FROM {source} WHERE {where}
            ORDER BY m.created_at DESC, m.id DESC
            LIMIT {MOST_COUNTED}
        ) AS counted
    """
    ctes = _build_strong_cte(ranking.limit)
    strong = _StrongestScope(ctes, f"strong CROSS JOIN {source}", " AND m.id = strong.id", live)
    ranked = await _list_strongest(connection, agent, filters, point, ranking, strong)
    is_short = len(ranked.memories) < ranking.limit and not ranked.is_cut and not ranking.only_first
    return None if is_short and len(ranked.memories) < ranked.live else ranked


async def list_strongest(
    connection: AsyncConnection,
    agent: AgentId,
    filters: Filters,
    point: Point,
    ranking: Ranking,
    *,
    few: Condition | None = None,
) -> Ranked:
    """Return memories, the strongest first. If a condition that few meet is named, read these."""
    source, _ = memories_from(point)
    among = "" if few is None else f" AND m.id = ANY(ARRAY({few.select_ids()}))"
    live = "SELECT count(*) FROM live"
    if ranking.only_first:
        where, _ = where_searchable(filters, point)
        live = f"SELECT count(*) FROM {source} WHERE {where}{among}"
    scope = _StrongestScope("", source, among, live, few.parameters if few else {})
    return await _list_strongest(connection, agent, filters, point, ranking, scope)


@dataclass(frozen=True, slots=True)
class _StrongestScope:
    """The memories among which the strongest are: CTEs, FROM, a condition, and the count of all."""

    ctes: str
    source: str
    condition: str
    live: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


async def _list_strongest(
    connection: AsyncConnection,
    agent: AgentId,
    filters: Filters,
    point: Point,
    ranking: Ranking,
    scope: _StrongestScope,
) -> Ranked:
    order = "is_first DESC, strength DESC, id DESC"
    source, _ = memories_from(point)
    build_where = where_searchable if ranking.first else where_memories
    where, parameters = build_where(filters, point)
    parameters["first"] = ranking.first
    parameters |= {"limit": ranking.limit, "max_bytes": ranking.max_bytes}
    parameters |= half_life_values(ranking.half_lives)
    parameters |= scope.parameters
    needed = " AND (m.kind = :first OR b.tier = 'core')" if ranking.only_first else ""
    beyond, strength = "", STRENGTH
    if ranking.after is not None:
        if ranking.after.strength_as_of is not None:
            strength = STRENGTH_THEN
            parameters["strength_as_of"] = ranking.after.strength_as_of
        beyond = "WHERE (strength, id) < (:after_strength, :after_id)"
        parameters["after_strength"] = ranking.after.strength
        parameters["after_id"] = ranking.after.memory_id
    strongest = f"""
        SELECT top.strength, top.is_first, {memory_columns(point)}
        FROM top JOIN {source} ON m.agent_id = :agent AND m.id = top.id
    """
    statement = f"""
        WITH {MOMENT},
        {scope.ctes}
        live AS MATERIALIZED (
            SELECT m.id, {strength} AS strength,
                   m.kind IS NOT DISTINCT FROM CAST(:first AS text) AS is_first
            FROM {scope.source} {USAGE}
            WHERE {where}{scope.condition}{needed}
        ),
        top AS (
            SELECT * FROM live {beyond}
            ORDER BY {order}
            LIMIT :limit
        )
        SELECT {MOMENT_COLUMNS},
               ({scope.live}) AS live, hit.*
        FROM moment LEFT JOIN ({bound_page(strongest, order, MEMORY_BYTES)}) AS hit ON true
        ORDER BY {order}
    """
    all_rows = await fetch_at_point(connection, statement, agent, point, parameters)
    rows = [row for row in all_rows if row["id"] is not None]
    return Ranked(
        moment=moment_from_row(all_rows[0]),
        memories=await memories_from_rows(rows),
        strengths=[row["strength"] for row in rows],
        live=all_rows[0]["live"],
        is_cut=is_cut(rows),
    )


def _in_chain(point: Point) -> str:
    """Return the condition that a memory stands in the chain in which `:id` stands."""
    if point.known_at is None:
        return """
            m.agent_id = :agent AND m.chain_id = (
                SELECT o.chain_id FROM memories o WHERE o.agent_id = :agent AND o.id = :id
            )
        """
    chain = f"""(
        SELECT ob.chain_id FROM {build_past_source("o", "ob")}
        WHERE o.agent_id = :agent AND o.id = :id
    )"""
    return f"""
        m.agent_id = :agent AND b.chain_id = {chain} AND m.id IN (
            {build_once_in_chain(chain)}
        )
    """


async def list_chain(
    connection: AsyncConnection, agent: AgentId, memory_id: UUID, point: Point
) -> Page:
    """Return every version of the chain that was known at the point's known time, oldest first."""
    return await _select_page(
        connection,
        agent,
        point,
        where=_in_chain(point),
        tail="ORDER BY b.valid_from, b.asserted_at",
        parameters={"id": memory_id},
    )


async def find_holding_in_slot(
    connection: AsyncConnection, agent: AgentId, slot: Slot, point: Point, *, kind: str
) -> Page:
    """Return the memory that holds in a slot, if any.

    If several hold, this is the most trusted, and of these the one with the latest start.
    """
    where, parameters = where_memories(Filters(kind=kind), point)
    parameters["slot"] = slot.digest
    return await _select_page(
        connection,
        agent,
        point,
        where=f"{where} AND m.slot_key IS NOT NULL AND m.slot_hash = :slot",
        tail="ORDER BY m.trust DESC, b.valid_from DESC, m.id DESC LIMIT 1",
        parameters=parameters,
    )
