"""Lists of a large agent. Each page looks at a bounded number of memories.

A walk goes through the memories in the order of the list and takes those that pass. It ends with
the page, or after so many memories. In the second case the page has fewer memories, maybe none, and
says where the walk ended; the next page goes on from there. So no page reads the agent whole, and
all pages together have every memory once.

If an index answers one of the filters and few memories pass it, a page reads those alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.fact import Kind, Slot
from app.store import counted_strengths
from app.store.bounded import bound_page, is_cut
from app.store.columns import Filters
from app.store.counted_strengths import CountedStrengths
from app.store.engine import fetch_rows
from app.store.fragments import (
    AS_OF,
    KNOWN_AT,
    MOMENT,
    MOMENT_COLUMNS,
    build_latest_source,
    build_past_source,
)
from app.store.memories import (
    MEMORY_BYTES,
    After,
    Condition,
    Page,
    Point,
    Ranking,
    bound_newest,
    fetch_at_point,
    list_conditions,
    memories_from,
    memories_from_rows,
    memory_columns,
    moment_from_row,
    where_memories,
)
from app.store.strength import STRENGTH_THEN, USAGE, half_life_values
from app.store.tables import BINDS

# A page looks at so many memories at most, which takes about 30 ms.
MOST_EXAMINED = 10_000
# By strength, each is looked up by its id. That takes twice as long.
MOST_LOOKED_UP = 5_000
# So many memories are few. They are read at once and sorted.
FEW = 2_000


@dataclass(frozen=True, slots=True)
class Walk(Page):
    """A page of a walk. `strengths` are those by which it is sorted, if it is.

    `examined_until` is the memory after which the next page begins, if the walk ended before the
    page was full.
    """

    strengths: list[float] | None = None
    examined_until: After | None = None


# --- what an index answers -----------------------------------------------------------------------


# The memories at both ends of links that bind. Only these can be stale.
_LINKED = f"""
    SELECT r.source_id FROM memory_relationships r WHERE r.agent_id = :agent AND {BINDS}
    UNION ALL
    SELECT r.target_id FROM memory_relationships r WHERE r.agent_id = :agent AND {BINDS}
"""


def _list_indexed_conditions(filters: Filters, point: Point) -> Iterator[Condition]:
    """Yield the conditions of the filters and of the point that an index answers."""
    if filters.session_id is not None:
        yield Condition("m.session_id = :session_id", {"session_id": filters.session_id})
    if filters.project is not None:
        yield Condition("m.project = :project", {"project": filters.project})
    if None not in (filters.entity, filters.category, filters.key):
        slot = Slot.from_words(filters.entity, filters.category, filters.key)
        yield Condition("m.slot_key IS NOT NULL AND m.slot_hash = :slot", {"slot": slot.digest})
    if filters.stale:
        yield Condition(f"m.id IN ({_LINKED})", {})
    if point.known_at is not None:
        yield Condition("m.created_at <= :known_at", {"known_at": point.known_at})
    elif point.as_of is not None and not point.include_superseded:
        yield Condition("m.valid_from <= :as_of AND m.revision >= 0", {"as_of": point.as_of})
    # The other indexes have only what may hold at present.
    if not point.is_present:
        return
    if filters.kind == Kind.CONSTRAINT:
        yield Condition(f"m.kind = '{Kind.CONSTRAINT}' AND NOT m.cold", {})
    if filters.min_importance is not None and filters.min_importance > 0.5:
        yield Condition(
            "m.importance >= :min_importance AND m.importance > 0.5 AND NOT m.cold",
            {"min_importance": filters.min_importance},
        )


async def find_few(
    connection: AsyncConnection, agent: AgentId, filters: Filters, point: Point
) -> Condition | None:
    """Return a condition that few memories meet, and that an index answers.

    It is one of the filters, or that a memory was known or had begun at the point.
    """
    if filters.ids:
        return Condition("m.id = ANY(CAST(:ids AS uuid[]))", {"ids": list(filters.ids)})
    for condition in _list_indexed_conditions(filters, point):
        statement = f"""
            SELECT count(*) <= :few AS are_few
            FROM ({condition.select_ids()} LIMIT :few + 1) AS counted
        """
        values = {"agent": agent, "few": FEW, **condition.parameters}
        [row] = await fetch_rows(connection, statement, values)
        if row["are_few"]:
            return condition
    return None


# --- the newest first ----------------------------------------------------------------------------


async def walk_newest(
    connection: AsyncConnection,
    agent: AgentId,
    filters: Filters,
    point: Point,
    *,
    limit: int,
    max_bytes: int,
    after: After | None,
) -> Walk:
    """Return memories, the newest known first, until they reach `max_bytes` as JSON."""
    conditions, parameters = list_conditions(filters, point)
    parameters |= {"limit": limit, "max_bytes": max_bytes, "examined": MOST_EXAMINED}
    bounds, positions = bound_newest(point, after)
    bounds = f"m.agent_id = :agent{bounds}"
    parameters |= positions
    few = await find_few(connection, agent, filters, point)
    if few is not None:
        bounds += f" AND m.id = ANY(ARRAY({few.select_ids()}))"
        parameters |= few.parameters
    build_source = build_latest_source if point.known_at is None else build_past_source
    page = f"""
        SELECT {memory_columns(point)}
        FROM {build_source("m", "b", table="way")}
        WHERE {" AND ".join(conditions) or "true"}
        ORDER BY m.created_at DESC, m.id DESC
        LIMIT :limit
    """
    way = _select_newest(bounds, point)
    return await _walk(connection, agent, point, way, page, "created_at", parameters)


def _select_newest(bounds: str, point: Point) -> str:
    """Return the SELECT of the memories at which a page of the newest looks, in order.

    Of what became known after a past `as_of`, it looks at what starts before it became known. That
    has an index, and is usually little.
    """
    order = "ORDER BY created_at DESC, id DESC LIMIT :examined"
    select = f"SELECT m.* FROM memories m WHERE {bounds}"
    if point.as_of is None or point.known_at is not None or point.include_superseded:
        return f"{select} {order}"
    return f"""
        SELECT * FROM (
            ({select} AND m.created_at > {AS_OF} AND m.valid_from < m.created_at {order})
            UNION ALL
            ({select} AND m.created_at <= {AS_OF} {order})
        ) AS chosen
        {order}
    """


# --- the strongest first -------------------------------------------------------------------------


async def walk_strongest(
    connection: AsyncConnection,
    agent: AgentId,
    filters: Filters,
    point: Point,
    ranking: Ranking,
    counted: CountedStrengths,
) -> Walk:
    """Return memories, the strongest first by the strengths that were counted.

    Of what became known since then, the strengths at the same time are computed here. OFFSET keeps
    the planner from joining all memories of the agent: it looks up one after the other, and stops
    with the page.
    """
    where, parameters = where_memories(filters, point)
    parameters |= {
        "limit": ranking.limit,
        "max_bytes": ranking.max_bytes,
        "examined": MOST_LOOKED_UP,
        "strength_as_of": counted.as_of,
        "counted_until": counted.counted_until,
        # The first part may have been read up to its last memory.
        "parts": -(-MOST_LOOKED_UP // counted_strengths.PART_SIZE) + 1,
        **half_life_values(ranking.half_lives),
    }
    if ranking.after is not None:
        parameters["after_strength"] = ranking.after.strength
        parameters["after_id"] = ranking.after.memory_id
    source, _ = memories_from(point)
    page = f"""
        SELECT way.strength, hit.*
        FROM way
        CROSS JOIN LATERAL (
            SELECT {memory_columns(point)}
            FROM {source}
            WHERE {where} AND m.id = way.id
            OFFSET 0
        ) AS hit
        ORDER BY way.strength DESC, way.id DESC
        LIMIT :limit
    """
    way = _select_strongest(point, goes_on=ranking.after is not None)
    return await _walk(connection, agent, point, way, page, "strength", parameters)


def _select_strongest(point: Point, *, goes_on: bool) -> str:
    """Return the SELECT of the memories at which a page of the strongest looks, in order."""
    source, _ = memories_from(point)
    part_is_after, is_after, is_known = "", "", ""
    if goes_on:
        part_is_after = "AND (p.last_strength, p.last_id) < (:after_strength, :after_id)"
        is_after = "WHERE (strength, id) < (:after_strength, :after_id)"
    if point.known_at is not None:
        is_known = f"AND m.created_at <= {KNOWN_AT}"
    return f"""
        SELECT strength, id FROM (
            SELECT one.strength, one.id
            FROM (
                SELECT p.ids, p.strengths FROM counted_strengths p
                WHERE p.agent_id = :agent AND p.as_of = :strength_as_of {part_is_after}
                ORDER BY p.place
                LIMIT :parts
            ) AS part
            CROSS JOIN LATERAL unnest(part.ids, part.strengths) AS one (id, strength)
            UNION ALL
            SELECT {STRENGTH_THEN}, m.id
            FROM {source} {USAGE}
            WHERE m.agent_id = :agent AND m.created_at > :counted_until {is_known}
        ) AS counted
        {is_after}
        ORDER BY strength DESC, id DESC
        LIMIT :examined
    """


# --- walking -------------------------------------------------------------------------------------


async def _walk(
    connection: AsyncConnection,
    agent: AgentId,
    point: Point,
    way: str,
    page: str,
    column: str,
    parameters: Mapping[str, Any],
) -> Walk:
    """Read a page from the CTE `way`, and where the way ends if the page is not full.

    Both are in the order of the column and of ids. `:examined` bounds the way, `:limit` and
    `:max_bytes` the page.
    """
    order = f"{column} DESC, id DESC"
    has_strength = column == "strength"
    statement = f"""
        WITH {MOMENT},
        way AS NOT MATERIALIZED ({way}),
        page AS MATERIALIZED ({bound_page(page, order, MEMORY_BYTES)}),
        last AS MATERIALIZED (
            SELECT {column}, id FROM way
            WHERE (SELECT count(*) FROM page) < :limit
            ORDER BY {order}
            OFFSET :examined - 1 LIMIT 1
        )
        SELECT {MOMENT_COLUMNS}, page.*, last.id AS last_id,
               {"last.strength" if has_strength else "NULL"} AS last_strength,
               (
                   SELECT m.created_at FROM memories m WHERE m.agent_id = :agent AND m.id = last.id
               ) AS last_created_at
        FROM moment LEFT JOIN last ON true LEFT JOIN page ON true
        ORDER BY page.{column} DESC, page.id DESC
    """
    rows = await fetch_at_point(connection, statement, agent, point, parameters)
    hits = [row for row in rows if row["id"] is not None]
    last, end = rows[0], None
    if last["last_id"] is not None:
        end = After(last["last_created_at"], last["last_id"], last["last_strength"])
    return Walk(
        moment=moment_from_row(rows[0]),
        memories=await memories_from_rows(hits),
        is_cut=is_cut(hits),
        strengths=[row["strength"] for row in hits] if has_strength else None,
        examined_until=end,
    )
