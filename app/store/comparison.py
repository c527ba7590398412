"""Find the memories that a fact is compared with before it is stored."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.fact import Fact
from app.domain.version import Moment
from app.store.columns import Filters
from app.store.engine import VectorList, fetch_rows
from app.store.fragments import LATEST, MOMENT, build_stands
from app.store.index_scope import (
    CHOICE_FOR_FACTS,
    AgentIndex,
    Scope,
    choose_next_reach,
    list_choice_values,
    list_index_values,
    rank_all,
    rank_found,
)
from app.store.memories import MEMORY, Point, memories_from, run_read, where_searchable
from app.store.ranking import (
    MIN_DEPTH,
    READ_COLUMNS,
    SAME_ENCODER,
    Hit,
    build_distance,
    build_query_words_cte,
    hit_from_row,
    select_best,
)
from app.turns import iterate_in_turns

# The greatest number of candidates that share a fact's derived slot or category, ranked or not.
MAX_ALIKE = 5

# How much the rank by words adds to the cosine: .3 if a memory has every word of a fact, once. It
# was chosen by the recall of what the fact ends, which hardly changes from 3 to 7.
_WORDS_WEIGHT = 5.0

_BEST_FIRST = "hit.score DESC NULLS LAST, hit.valid_from DESC, hit.id DESC"


@dataclass(frozen=True, slots=True)
class ComparisonOptions:
    """The model of the facts' vectors, the language of their words, and how many are compared."""

    encoder: str
    language: str
    limit: int


@dataclass(frozen=True, slots=True)
class _FactSql:
    """The SQL expressions of the parts of a fact to compare."""

    content: str
    vector: str
    derived: str
    category: str


_ONLY_FACT = _FactSql(":content", ":vector", ":derived", ":category")
_EACH_FACT = _FactSql("fact.content", "fact.vector", "fact.derived", "fact.category")

# Counters and ended neighbours do not matter to how a candidate is judged.
_CANDIDATE_COLUMNS = f"{MEMORY}, {memories_from(Point())[1]} AS supersedes_id"


# Others of the fact's derived slot or given category that the index is asked for. They are more
# than are compared, because some of them may not hold.
_ALIKE_REACH = 4 * MAX_ALIKE


def _rank_all(fact: _FactSql, where: str) -> Scope:
    return rank_all(LATEST, where)


def _rank_all_by_chosen_words(fact: _FactSql, where: str) -> Scope:
    return rank_all(LATEST, where, chooses=True)


def _rank_found(fact: _FactSql, where: str) -> Scope:
    of_slot = f"""
        SELECT m.id FROM memories m
        WHERE m.agent_id = :agent AND m.derived_hash = {fact.derived}
        ORDER BY m.created_at DESC
        LIMIT {_ALIKE_REACH}
    """
    of_category = f"SELECT id FROM find_indexed_of_category({fact.category}, {_ALIKE_REACH}) AS id"
    return rank_found(LATEST, where, of_slot, of_category, vector=fact.vector)


# What builds the scope of the memories that a fact is compared with, from the WHERE of them.
_BuildScope = Callable[[_FactSql, str], Scope]


def _select_candidates(fact: _FactSql, point: Point, build_scope: _BuildScope) -> tuple[str, str]:
    """Return the CTEs that end in `best`, and the SELECT of the memories to compare a fact with.

    They are the best by vector and words together, and the latest few of the fact's derived slot
    or given category, which need not be among these.
    """
    where, _ = where_searchable(Filters(), point)
    scope = build_scope(fact, where)
    ctes = f"""
        {build_query_words_cte(fact.content, chooses=build_scope is not _rank_all)},
        {scope.ctes}
        live AS MATERIALIZED (
            SELECT
                m.id,
                {build_distance(fact.vector)} AS distance,
                {scope.rank} AS rank,
                b.valid_from,
                coalesce(m.derived_hash = {fact.derived}, false)
                    OR coalesce(m.slot_category = {fact.category}, false) AS alike
                {scope.columns}
            FROM {scope.source}
            WHERE {scope.where} AND {SAME_ENCODER}
        ),
        ranked AS MATERIALIZED (
            SELECT
                id,
                1 - distance + {_WORDS_WEIGHT} * rank AS score,
                1 - distance AS vector,
                rank AS text
            FROM live
            ORDER BY score DESC
            LIMIT :limit
        ),
        best AS MATERIALIZED (
            SELECT * FROM ranked
            UNION ALL
            (
                SELECT id, 0, CAST(NULL AS float8), CAST(NULL AS float8)
                FROM live
                WHERE alike AND id NOT IN (SELECT id FROM ranked)
                ORDER BY valid_from DESC
                LIMIT :alike
            )
        )
    """
    return ctes, select_best(point, f"{_CANDIDATE_COLUMNS}{scope.counts}")


def _build_compare_one_statement(point: Point, build_scope: _BuildScope) -> str:
    """Return the statement for one fact. Postgres plans it once and for all."""
    ctes, select = _select_candidates(_ONLY_FACT, point, build_scope)
    return f"""
        WITH {MOMENT},
        {ctes}
        SELECT 1 AS place, {READ_COLUMNS}, hit.*
        FROM moment
        LEFT JOIN ({select}) AS hit ON true
        ORDER BY {_BEST_FIRST}
    """


def _build_compare_many_statement(point: Point, build_scope: _BuildScope) -> str:
    """Return the statement for many facts.

    Planning it takes longer than running it in a small agent, but it is planned once for all facts.
    """
    ctes, select = _select_candidates(_EACH_FACT, point, build_scope)
    return f"""
        WITH {MOMENT}
        SELECT fact.place, {READ_COLUMNS}, hit.*
        FROM moment
        CROSS JOIN unnest(
            CAST(:contents AS text[]),
            CAST(:vectors AS vector[]),
            CAST(:derived AS bytea[]),
            CAST(:categories AS text[])
        ) WITH ORDINALITY AS fact (content, vector, derived, category, place)
        LEFT JOIN LATERAL (
            WITH {ctes}
            {select}
        ) AS hit ON true
        ORDER BY fact.place, {_BEST_FIRST}
    """


async def find_candidates(
    connection: AsyncConnection,
    agent: AgentId,
    facts: Sequence[Fact],
    vectors: Sequence[NDArray[np.float32]],
    comparing: ComparisonOptions,
    *,
    as_of: datetime | None = None,
    index: AgentIndex | None = None,
) -> tuple[Moment, list[list[Hit]]]:
    """Return the memories that each fact is compared with: what holds at `as_of` (default: now).

    What is covered then is among them, because a lasting fact may end it. The nearest come first,
    best first. Up to MAX_ALIKE of the same derived slot or given category follow, without scores.
    They are read by the agent's `index`, if it has one and finds enough. Raise EmbeddingsChanged if
    the database's vectors are of another model.
    """
    comparison = _Comparison(
        connection, agent, facts, vectors, comparing, Point(as_of, include_covered=True)
    )
    read = await comparison.read_by_index(index) if index else None
    if read is None:
        read = await comparison.read_all(chooses=index is not None)
    moment, rows = read
    hits: list[list[Hit]] = [[] for _ in facts]
    async for row in iterate_in_turns(rows):
        hits[row["place"] - 1].append(hit_from_row(row))
    return moment, hits


# Of the memories that became known while facts were judged, only the latest are looked at: a
# long import must not hold up the writer that comes next.
MOST_NEWS = 1_000

# Which of these facts are near to a memory that became known after their `seen_at` and holds? A
# fact whose text is equal to such a memory's does not count: the rules decide about the two.
_NEAR_NEWS = f"""
    WITH news AS MATERIALIZED (
        SELECT m.embedding, m.content_hash, m.created_at
        FROM memories m
        CROSS JOIN (
            SELECT greatest(clock_timestamp(), CAST(:last_known_at AS timestamptz)) AS now
        ) AS moment
        WHERE m.agent_id = :agent AND m.created_at > CAST(:since AS timestamptz)
            AND m.erased_at IS NULL AND {build_stands("m.", "moment.now")}
        ORDER BY m.created_at DESC
        LIMIT :most
    )
    SELECT fact.place
    FROM unnest(
        CAST(:vectors AS vector[]),
        CAST(:hashes AS bytea[]),
        CAST(:seen_times AS timestamptz[]),
        CAST(:least AS float8[])
    ) WITH ORDINALITY AS fact (vector, hash, seen_at, least, place)
    WHERE EXISTS (
        SELECT FROM news m
        WHERE m.created_at > fact.seen_at AND {build_distance("fact.vector")} <= 1 - fact.least
    ) AND NOT EXISTS (
        SELECT FROM news m
        WHERE m.created_at > fact.seen_at AND m.content_hash = fact.hash
    )
"""


@dataclass(frozen=True, slots=True)
class JudgedFact:
    """A fact, its vector, and what its judges have seen.

    They saw what was known at `seen_at`. Whatever is not as similar as `least_similarity` would not
    have been among what they compared it with.
    """

    fact: Fact
    vector: NDArray[np.float32]
    seen_at: datetime
    least_similarity: float


async def find_near_news(
    connection: AsyncConnection,
    agent: AgentId,
    judged: Sequence[JudgedFact],
    *,
    last_known_at: datetime,
) -> set[int]:
    """Return the places of the facts that are near to a memory which their judges did not see.

    Call it under the agent's lock, with the agent's last known time and vectors of its encoder.
    """
    values = {
        "agent": agent,
        "since": min(each.seen_at for each in judged),
        "last_known_at": last_known_at,
        "most": MOST_NEWS,
        "vectors": VectorList(each.vector for each in judged),
        "hashes": [each.fact.content_hash for each in judged],
        "seen_times": [each.seen_at for each in judged],
        "least": [each.least_similarity for each in judged],
    }
    return {row["place"] - 1 for row in await fetch_rows(connection, _NEAR_NEWS, values)}


_Read = tuple[Moment, list[Any]]


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Facts to compare, and the ways to read their candidates."""

    connection: AsyncConnection
    agent: AgentId
    facts: Sequence[Fact]
    vectors: Sequence[NDArray[np.float32]]
    options: ComparisonOptions
    point: Point

    async def read_all(self, *, chooses: bool) -> _Read:
        """Rank every memory of the agent."""
        build_scope = _rank_all_by_chosen_words if chooses else _rank_all
        return await self._run(build_scope, list_choice_values())

    async def read_by_index(self, index: AgentIndex) -> _Read | None:
        """Rank what the index finds. Return None if that may miss too much for one of the facts."""
        needed = max(MIN_DEPTH, self.options.limit)
        reach: int | None = index.choose_reach(needed)
        while reach is not None:
            moment, rows = await self._run(_rank_found, list_index_values(reach))
            firsts = {row["place"]: row for row in reversed(rows)}
            if len(firsts) < len(self.facts):
                return None
            reaches = [choose_next_reach(row, "hybrid", reach, needed) for row in firsts.values()]
            if None not in reaches and max(filter(None, reaches)) == reach:
                return moment, rows
            reach = None if None in reaches else max(filter(None, reaches))
        return None

    async def _run(self, build_scope: _BuildScope, index_values: dict[str, int]) -> _Read:
        values: dict[str, Any] = {"alike": MAX_ALIKE, **asdict(self.options)}
        derived = [fact.derived.digest if fact.derived else None for fact in self.facts]
        categories = [fact.slot.category or None for fact in self.facts]
        if len(self.facts) == 1:
            statement = _build_compare_one_statement(self.point, build_scope)
            values |= {
                "content": self.facts[0].content,
                "vector": self.vectors[0],
                "derived": derived[0],
                "category": categories[0],
            }
        else:
            statement = _build_compare_many_statement(self.point, build_scope)
            values |= {
                "contents": [fact.content for fact in self.facts],
                "vectors": VectorList(self.vectors),
                "derived": derived,
                "categories": categories,
            }
        return await run_read(
            self.connection,
            statement,
            self.agent,
            self.point,
            values | index_values | CHOICE_FOR_FACTS,
            encoder=self.options.encoder,
        )
