"""Search an agent's live memories by vectors and by words.

A search is exact: it looks at every live memory of the agent. Only a large agent is searched by its
index, if the caller does not ask for more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.dates.window import Window
from app.domain.errors import EmbeddingsChanged
from app.domain.version import Moment
from app.store.bounded import bound_page, is_cut
from app.store.captures.search import FoundTurn
from app.store.columns import Filters
from app.store.fragments import MOMENT
from app.store.index_scope import (
    AgentIndex,
    Scope,
    choose_next_reach,
    list_choice_values,
    list_index_values,
    rank_all,
    rank_found,
)
from app.store.memories import (
    IN_WINDOW,
    MEMORY_BYTES,
    Condition,
    Point,
    fetch_at_point,
    memories_from,
    memory_columns,
    moment_from_row,
    where_searchable,
)
from app.store.odds import COMPETING, ODDS, RANKS_PER_COSINE, build_chance
from app.store.ranking import (
    MIN_DEPTH,
    OUTRANKED,
    READ_COLUMNS,
    SAME_ENCODER,
    Hit,
    build_distance,
    build_query_words_cte,
    hit_from_row,
    select_best,
)
from app.store.rare_words import build_matching_ctes
from app.store.walks import find_few


@dataclass(frozen=True, slots=True)
class Hits:
    """Memories found, best first. `is_cut`: others were found, for which no bytes were left.

    `is_approximate`: they were found by an index, which may have missed one. `has_waiting`: the
    agent has reviews that wait. `in_question` holds these, by the memory that they concern. `turns`
    are messages that were found, if they were searched. `window` is the time that the question asks
    about.
    """

    moment: Moment
    hits: list[Hit]
    is_cut: bool = False
    is_approximate: bool = False
    has_waiting: bool = False
    in_question: Mapping[UUID, Sequence[UUID]] = field(default_factory=dict)
    turns: Sequence[FoundTurn] = ()
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A text to search for. `encoder` names the model of `vector`, which is None in text mode.

    In hybrid mode an index reads the best `depth` memories of both rankings. The memories found are
    answered until they reach `max_bytes` as JSON. What held in the `window` counts as nearer, above
    all what began or ended in it.
    """

    text: str
    vector: NDArray[np.float32] | None
    encoder: str
    mode: str
    language: str
    limit: int
    min_score: float
    max_bytes: int
    window: Window | None = None

    @property
    def encoder_needed(self) -> str | None:
        """The model that the database's vectors must be of, None if no vectors are compared."""
        return None if self.vector is None else self.encoder

    @property
    def depth(self) -> int:
        return max(MIN_DEPTH, self.limit)


# --- the statement -------------------------------------------------------------------------------

# Two facts rank alike if their scores differ by less than this share of the best one and their
# similarities by no more than this: then the one that is known later comes first, as it may be the
# newer wording of the other.
_ALIKE_SCORE = 0.07
_ALIKE_SIMILARITY = 0.045

_FOUND_FIRST = """
            band,
            is_outranked,
            is_alike DESC,
            CASE WHEN is_alike THEN created_at END DESC,
            score DESC NULLS LAST,
            valid_from DESC,
            id DESC
"""


def build_search_statement(
    mode: str,
    filters: Filters,
    point: Point,
    *,
    has_window: bool = False,
    chooses: bool = False,
    few: Condition | None = None,
) -> tuple[str, dict[str, Any]]:
    """Return the statement of an exact search and the values of its filters.

    `chooses` is as in `build_query_words_cte`. If a condition that few meet is named, only these
    are read.
    """
    where, parameters = where_searchable(filters, point, has_window=has_window)
    if few is not None:
        where += f" AND m.id = ANY(ARRAY({few.select_ids()}))"
        parameters |= few.parameters
    source, _ = memories_from(point)
    scope = rank_all(source, where, chooses=chooses)
    ctes = _rank_ctes(mode, scope, has_window=has_window, chooses=chooses)
    return _build_statement(mode, point, ctes, scope), parameters


def build_index_search_statement(
    mode: str, filters: Filters, point: Point, *, has_window: bool = False
) -> tuple[str, dict[str, Any]]:
    """Return the statement of a search by the agent's index and the values of its filters."""
    where, parameters = where_searchable(filters, point, has_window=has_window)
    source, _ = memories_from(point)
    match mode:
        case "text":
            scope = rank_found(source, where)
        case "vector":
            scope = rank_found(source, where, vector=":vector", has_words=False)
        case _:
            scope = rank_found(source, where, vector=":vector")
    ctes = _rank_ctes(mode, scope, has_window=has_window, chooses=True)
    return _build_statement(mode, point, ctes, scope), parameters


# Reads once whether any review of the agent waits, which saves most searches a question for them.
_HAS_WAITING = """
    EXISTS (SELECT FROM reviews r WHERE r.agent_id = :agent AND r.status = 'pending')
"""


def _build_statement(mode: str, point: Point, ctes: str, scope: Scope) -> str:
    page = f"""
        SELECT *
        FROM (
            SELECT *, {build_chance(ODDS[mode])} AS chance FROM ({_rank_alike_sql(point)}) AS ranked
        ) AS weighed
        WHERE chance >= :min_score
        ORDER BY {_FOUND_FIRST}
        LIMIT :limit
    """
    return f"""
        WITH {MOMENT},
        {ctes},
        {OUTRANKED}
        SELECT {READ_COLUMNS}{scope.counts}, {_HAS_WAITING} AS has_waiting, hit.*
        FROM moment
        LEFT JOIN ({bound_page(page, _FOUND_FIRST, MEMORY_BYTES)}) AS hit ON true
        ORDER BY {_FOUND_FIRST}
    """


def _rank_alike_sql(point: Point) -> str:
    """Return the SELECT of the memories in `best`, with what ranks alike.

    A `band` holds scores that are alike; `is_alike` are those of it that are also about as similar
    to the query as its first one.
    """
    return f"""
        SELECT *, coalesce(
            vector_score >= first_value(vector_score) OVER (
                PARTITION BY band ORDER BY is_outranked, score DESC, vector_score DESC
            ) - {_ALIKE_SIMILARITY},
            true
        ) AS is_alike
        FROM (
            SELECT *, floor(
                (max(score) OVER () - score)
                / greatest({_ALIKE_SCORE} * max(score) OVER (), 1e-9)
            ) AS band
            FROM ({select_best(point, memory_columns(point), outranks=True)}) AS scored
        ) AS banded
    """


# How much nearer something counts that held in the window of the question, and how much more if it
# began or ended in it.
_HOLDING, _CHANGING = 0.06, 0.08

_BONUS_OF_WINDOW = f"""
    CASE
        WHEN NOT {IN_WINDOW} THEN 0
        WHEN b.valid_from >= coalesce(CAST(:window_start AS timestamptz), '-infinity')
            OR b.valid_until <= coalesce(CAST(:window_end AS timestamptz), 'infinity')
        THEN {_HOLDING + _CHANGING}
        ELSE {_HOLDING}
    END
"""


def _rank_ctes(mode: str, scope: Scope, *, has_window: bool, chooses: bool) -> str:
    """Return the CTEs that end in `best`, the best memories of the scope in this mode.

    `chooses` is as in `build_query_words_cte`.
    """
    distance, where = "CAST(NULL AS float8)", scope.where
    if mode != "text":
        distance, where = build_distance(":vector"), f"{where} AND {SAME_ENCODER}"
    words, lexemes, matching = "", "NULL", ""
    if mode != "vector":
        words = f"{build_query_words_cte(':query', chooses=chooses)},"
        lexemes = scope.lexemes
        matching = f"{build_matching_ctes(is_indexed=chooses)},"
    bonus = _BONUS_OF_WINDOW if has_window else "0"
    return f"""
        {words}
        {scope.ctes}
        live AS MATERIALIZED (
            SELECT
                m.id, {distance} AS distance, {lexemes} AS lexemes, b.valid_from, {bonus} AS bonus
                {scope.columns}
            FROM {scope.source}
            WHERE {where}
        ),
        {matching}
        best AS MATERIALIZED ({_BEST_OF_LIVE[mode]})
    """


# How much a rank by rare words adds to the cosine. On the facts of LoCoMo and on questions of our
# own in nine languages, from .02 to .04 make no difference.
_RARE_WORDS_WEIGHT = 0.03

_BEST_OF_LIVE = {
    "hybrid": f"""
        SELECT id, max(score) AS score, max(vector) AS vector, max(text) AS text
        FROM (
            (
                SELECT id, 1 - distance + bonus AS score, 1 - distance AS vector, 0 AS text
                FROM live
                ORDER BY distance - bonus
                LIMIT greatest(:limit, {COMPETING})
            )
            UNION ALL
            SELECT id, 1 - distance + bonus + {_RARE_WORDS_WEIGHT} * rank, 1 - distance, rank
            FROM matching
        ) AS scored
        GROUP BY id
        ORDER BY score DESC, vector DESC
        LIMIT greatest(:limit, {COMPETING})
    """,
    "vector": f"""
        SELECT
            id,
            1 - distance + bonus AS score,
            1 - distance AS vector,
            CAST(NULL AS float8) AS text
        FROM live
        ORDER BY distance - bonus
        LIMIT greatest(:limit, {COMPETING})
    """,
    "text": f"""
        SELECT
            id,
            rank + {RANKS_PER_COSINE} * bonus AS score,
            CAST(NULL AS float8) AS vector,
            rank AS text
        FROM matching
        ORDER BY score DESC, valid_from DESC
        LIMIT greatest(:limit, {COMPETING})
    """,
}


# --- search --------------------------------------------------------------------------------------


async def search_memories(
    connection: AsyncConnection,
    agent: AgentId,
    query: Query,
    filters: Filters,
    point: Point,
    *,
    index: AgentIndex | None = None,
    exact: bool = False,
) -> Hits:
    """Return the nearest live memories, best first.

    There are min(limit, live) of them, unless `min_score` cuts some off. They are read by the
    agent's `index`, if it has one, unless `exact` forbids it, few memories come into question, or
    the index finds too few. Raise EmbeddingsChanged if the database's vectors are of another model
    than the query's.
    """
    few = None
    # Indexes of what holds at present lack what held in a window.
    if index is not None and query.window is None:
        few = await find_few(connection, agent, filters, point)
    if index is not None and not exact and few is None:
        hits = await _search_index(connection, index, query, filters, point)
        if hits is not None:
            return hits
    statement, parameters = build_search_statement(
        query.mode,
        filters,
        point,
        has_window=query.window is not None,
        chooses=index is not None,
        few=few,
    )
    values = parameters | list_choice_values()
    return _build_hits(await _run_search(connection, agent, query, point, statement, values))


async def _search_index(
    connection: AsyncConnection, index: AgentIndex, query: Query, filters: Filters, point: Point
) -> Hits | None:
    """Return what the index finds; None if it may miss too much of what passes the conditions."""
    statement, parameters = build_index_search_statement(
        query.mode, filters, point, has_window=query.window is not None
    )
    needed = query.depth if query.mode == "hybrid" else query.limit
    reach: int | None = index.choose_reach(needed)
    while reach is not None:
        values = parameters | list_index_values(reach)
        rows = await _run_search(connection, index.agent, query, point, statement, values)
        wider = choose_next_reach(rows[0], query.mode, reach, needed)
        if wider == reach:
            return replace(_build_hits(rows), is_approximate=True)
        reach = wider
    return None


def _build_hits(rows: Sequence[Any]) -> Hits:
    """Return the hits in the rows of a search. The only row of a search without hits has no id."""
    hits: list[Hit] = []
    highest = 1.0
    matching_rows = [row for row in rows if row["id"] is not None]
    for row in matching_rows:
        # Of memories that rank alike the newest comes first. No score is above the one before it.
        highest = min(highest, row["chance"])
        hits.append(replace(hit_from_row(row), score=highest))
    moment = moment_from_row(rows[0])
    return Hits(moment, hits, is_cut(matching_rows), has_waiting=rows[0]["has_waiting"])


async def _run_search(
    connection: AsyncConnection,
    agent: AgentId,
    query: Query,
    point: Point,
    statement: str,
    parameters: Mapping[str, Any],
) -> list[dict[str, Any]]:
    values: dict[str, Any] = {
        "query": query.text,
        "vector": query.vector,
        "language": query.language,
        "limit": query.limit,
        "min_score": query.min_score,
        "max_bytes": query.max_bytes,
        "encoder": query.encoder,
    }
    if query.window is not None:
        values |= {"window_start": query.window.start, "window_end": query.window.end}
    rows = await fetch_at_point(connection, statement, agent, point, {**values, **parameters})
    stored = rows[0]["encoder"]
    if query.encoder_needed not in (None, stored):
        raise EmbeddingsChanged(stored, query.encoder)
    return rows
