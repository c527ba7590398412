"""Search an agent's live memories by vectors and by words, and find what a fact is compared with.

Both are exact: they look at every live memory of the agent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.errors import EmbeddingsChanged
from app.domain.fact import Fact
from app.domain.relation import Relation
from app.domain.version import Memory, Moment
from app.store.bounded import bound_page, is_cut
from app.store.columns import Filters
from app.store.engine import VectorList, fetch_rows
from app.store.fragments import LATEST, MOMENT, MOMENT_COLUMNS
from app.store.memories import (
    MEMORY,
    MEMORY_BYTES,
    Point,
    memories_from,
    memory_columns,
    memory_from_row,
    run_read,
    where_searchable,
)
from app.store.turns import iterate_in_turns

# The greatest number of candidates that share a fact's derived slot or category, ranked or not.
MAX_ALIKE = 5

# Lower than every score, cosines included.
ANY_SCORE = -2.0

MIN_DEPTH = 50


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory of a search, its score from 0 to 1 (higher is nearer) and the parts of the score."""

    memory: Memory
    score: float
    scores: dict[str, float]


@dataclass(frozen=True, slots=True)
class Hits:
    """Memories found, best first. `is_cut`: others were found, for which no bytes were left."""

    moment: Moment
    hits: list[Hit]
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """A text to search for. `encoder` names the model of `vector`, which is None in text mode.

    Hybrid mode fuses the best `depth` memories of both rankings. The memories found are answered
    until they reach `max_bytes` as JSON.
    """

    text: str
    vector: NDArray[np.float32] | None
    encoder: str
    mode: str
    language: str
    limit: int
    min_score: float
    max_bytes: int

    @property
    def encoder_needed(self) -> str | None:
        """The model that the database's vectors must be of, None if no vectors are compared."""
        return None if self.vector is None else self.encoder

    @property
    def depth(self) -> int:
        return max(MIN_DEPTH, self.limit)


# --- fragments of both statements --------------------------------------------------------------

# 0 if no word matches. A condition with "@@" before it would look every word up twice.
_RANK = "ts_rank(m.lexemes, (SELECT words FROM query_words))"

# It is evaluated before any row is read: vectors of another model may look alike, but must not be
# compared.
_SAME_ENCODER = "(SELECT name FROM encoder) = :encoder"

_READ_COLUMNS = f"{MOMENT_COLUMNS}, (SELECT name FROM encoder) AS encoder"

# Two facts rank alike if their scores differ by less than this share of the best one (a place in
# both rankings is 1.6 percent) and their similarities by no more than this: then the one that is
# known later comes first, as it may be the newer wording of the other.
_ALIKE_SCORE = 0.02
_ALIKE_SIMILARITY = 0.03

_BEST_FIRST = "hit.score DESC NULLS LAST, hit.valid_from DESC, hit.id DESC"


def _distance_sql(vector: str) -> str:
    """Return the distance of a memory `m` from the vector.

    "+ 0" keeps the planner from an approximate index. The scan of an agent's rows is exact, and
    min(limit, live) rows come back.
    """
    return f"(m.embedding <=> {vector}) + 0"


def _query_words_cte(text: str) -> str:
    """Return the CTE of the words of a text, any of which may match.

    A question shares few words with its answer (DESIGN §8). It is a CTE, because the planner would
    parse the text again for every row.
    """
    return f"""
        query_words AS MATERIALIZED (
            SELECT CAST(
                replace(
                    CAST(plainto_tsquery(CAST(:language AS regconfig), {text}) AS text),
                    ' & ',
                    ' | '
                ) AS tsquery
            ) AS words
        )
    """


# The `live` memories by both rankings. Their scores are fused by reciprocal rank with k = 60
# (Cormack, Clarke, Büttcher 2009), scaled so that the first of both rankings has 1.
_FUSED_LIVE = """
    SELECT id, score, vector, text
    FROM (
        SELECT
            coalesce(v.id, t.id) AS id,
            30.5 * (
                coalesce(1.0 / (60 + v.place), 0) + coalesce(1.0 / (60 + t.place), 0)
            ) AS score,
            1 - coalesce(v.distance, t.distance) AS vector,
            coalesce(t.rank, v.rank) AS text
        FROM (
            SELECT *, row_number() OVER (ORDER BY distance) AS place
            FROM (SELECT * FROM live ORDER BY distance LIMIT :depth) AS nearest
        ) AS v
        FULL JOIN (
            SELECT *, row_number() OVER (ORDER BY rank DESC, distance) AS place
            FROM (
                SELECT * FROM live
                WHERE rank > 0
                ORDER BY rank DESC, distance
                LIMIT :depth
            ) AS ranked
        ) AS t USING (id)
    ) AS fused
    WHERE score >= :min_score
    ORDER BY score DESC, vector DESC
    LIMIT :limit
"""


_ENDINGS = ", ".join(f"'{relation}'" for relation in Relation if relation.effect.ends_stored)

# A memory that a review proposes to end stands right behind the one that would take its place: its
# score is at most that one's. What a constraint or higher trust protects keeps its score.
_OUTRANKED = f"""
    outranked AS (
        SELECT
            CAST(judgment ->> 'memory_id' AS uuid) AS id,
            min(best.score) AS score
        FROM best
        JOIN reviews AS review
            ON review.agent_id = :agent
            AND review.memory_id = best.id
            AND review.status = 'pending'
        CROSS JOIN jsonb_array_elements(review.judgments) AS judgment
        WHERE review.relation IN ({_ENDINGS}) AND review.source NOT IN ('constraint', 'trust')
        GROUP BY 1
    )
"""


def _select_best_sql(point: Point, columns: str, *, outranks: bool = False) -> str:
    """Return the SELECT of these columns of the memories in the CTE `best`, with their scores.

    If it `outranks`, the CTE `outranked` bounds the scores.
    """
    source, _ = memories_from(point)
    score, join = "best.score", ""
    if outranks:
        score = (
            "least(best.score, outranked.score) AS score, outranked.id IS NOT NULL AS is_outranked"
        )
        join = "LEFT JOIN outranked ON outranked.id = best.id"
    return f"""
        SELECT
            {score},
            best.vector AS vector_score,
            best.text AS text_score,
            {columns}
        FROM best
        JOIN {source} ON m.agent_id = :agent AND m.id = best.id
        {join}
    """


# --- search ------------------------------------------------------------------------------------

_FOUND_FIRST = """
            band,
            is_outranked,
            is_alike DESC,
            CASE WHEN is_alike THEN created_at END DESC,
            score DESC NULLS LAST,
            valid_from DESC,
            id DESC
"""


def build_search_statement(mode: str, filters: Filters, point: Point) -> tuple[str, dict[str, Any]]:
    """Return the statement of a search and the values of its filters."""
    where, parameters = where_searchable(filters, point)
    source, _ = memories_from(point)
    match mode:
        case "vector":
            ranking = _rank_by_vector_ctes(source, where)
        case "text":
            ranking = _rank_by_words_ctes(source, where)
        case _:
            ranking = _rank_by_both_ctes(source, where)
    statement = f"""
        WITH {MOMENT},
        {ranking},
        {_OUTRANKED}
        SELECT {_READ_COLUMNS}, hit.*
        FROM moment
        LEFT JOIN ({bound_page(_rank_alike_sql(point), _FOUND_FIRST, MEMORY_BYTES)}) AS hit ON true
        ORDER BY {_FOUND_FIRST}
    """
    return statement, parameters


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
            FROM ({_select_best_sql(point, memory_columns(point), outranks=True)}) AS scored
        ) AS banded
    """


def _rank_by_vector_ctes(source: str, where: str) -> str:
    return f"""
        best AS MATERIALIZED (
            SELECT
                id,
                1 - distance AS score,
                1 - distance AS vector,
                CAST(NULL AS float8) AS text
            FROM (
                SELECT m.id, {_distance_sql(":vector")} AS distance
                FROM {source}
                WHERE {where} AND {_SAME_ENCODER}
                ORDER BY distance
                LIMIT :limit
            ) AS near
            WHERE 1 - distance >= :min_score
        )
    """


def _rank_by_words_ctes(source: str, where: str) -> str:
    return f"""
        {_query_words_cte(":query")},
        best AS MATERIALIZED (
            SELECT id, rank AS score, CAST(NULL AS float8) AS vector, rank AS text
            FROM (
                SELECT m.id, {_RANK} AS rank
                FROM {source}
                WHERE {where}
                ORDER BY rank DESC, b.valid_from DESC
                LIMIT :limit
            ) AS near
            WHERE rank >= :min_score
        )
    """


def _rank_by_both_ctes(source: str, where: str) -> str:
    return f"""
        {_query_words_cte(":query")},
        live AS MATERIALIZED (
            SELECT m.id, {_distance_sql(":vector")} AS distance, {_RANK} AS rank
            FROM {source}
            WHERE {where} AND {_SAME_ENCODER}
        ),
        best AS MATERIALIZED ({_FUSED_LIVE})
    """


async def search_memories(
    connection: AsyncConnection, agent: AgentId, query: Query, filters: Filters, point: Point
) -> Hits:
    """Return the nearest live memories, best first.

    There are min(limit, live) of them, unless `min_score` cuts some off. Raise EmbeddingsChanged
    if the database's vectors are of another model than the query's.
    """
    statement, parameters = build_search_statement(query.mode, filters, point)
    moment, rows = await run_read(
        connection,
        statement,
        agent,
        point,
        parameters | _search_values(query),
        encoder=query.encoder_needed,
    )
    return Hits(moment, [_hit_from_row(row) for row in rows], is_cut(rows))


def _search_values(query: Query) -> dict[str, Any]:
    return {
        "query": query.text,
        "vector": query.vector,
        "language": query.language,
        "limit": query.limit,
        "min_score": query.min_score,
        "max_bytes": query.max_bytes,
        "encoder": query.encoder,
        "depth": query.depth,
    }


# --- candidates --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ComparisonOptions:
    """The model of the facts' vectors, the language of their words, and how many are compared."""

    encoder: str
    language: str
    limit: int


@dataclass(frozen=True, slots=True)
class _FactSql:
    """The SQL of what a fact to compare consists of."""

    content: str
    vector: str
    derived: str
    category: str


_ONLY_FACT = _FactSql(":content", ":vector", ":derived", ":category")
_EACH_FACT = _FactSql("fact.content", "fact.vector", "fact.derived", "fact.category")

# Counters and ended neighbours do not matter to how a candidate is judged.
_CANDIDATE_COLUMNS = f"{MEMORY}, {memories_from(Point())[1]} AS supersedes_id"


def _compare_ctes(fact: _FactSql, point: Point) -> str:
    """Return the CTEs that end in `best`, the memories that a fact is compared with.

    They are the nearest by both rankings, and the latest few of the fact's derived slot or given
    category, which neither ranking need find.
    """
    where, _ = where_searchable(Filters(), point)
    return f"""
        {_query_words_cte(fact.content)},
        live AS MATERIALIZED (
            SELECT
                m.id,
                {_distance_sql(fact.vector)} AS distance,
                {_RANK} AS rank,
                b.valid_from,
                coalesce(m.derived_hash = {fact.derived}, false)
                    OR coalesce(m.slot_category = {fact.category}, false) AS alike
            FROM {LATEST}
            WHERE {where} AND {_SAME_ENCODER}
        ),
        ranked AS MATERIALIZED ({_FUSED_LIVE}),
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


def _build_compare_one_statement(point: Point) -> str:
    """Return the statement for one fact. Postgres plans it once and for all."""
    return f"""
        WITH {MOMENT},
        {_compare_ctes(_ONLY_FACT, point)}
        SELECT 1 AS place, {_READ_COLUMNS}, hit.*
        FROM moment
        LEFT JOIN ({_select_best_sql(point, _CANDIDATE_COLUMNS)}) AS hit ON true
        ORDER BY {_BEST_FIRST}
    """


def _build_compare_many_statement(point: Point) -> str:
    """Return the statement for many facts.

    Planning it takes longer than running it in a small agent, but it is planned once for all facts.
    """
    return f"""
        WITH {MOMENT}
        SELECT fact.place, {_READ_COLUMNS}, hit.*
        FROM moment
        CROSS JOIN unnest(
            CAST(:contents AS text[]),
            CAST(:vectors AS vector[]),
            CAST(:derived AS bytea[]),
            CAST(:categories AS text[])
        ) WITH ORDINALITY AS fact (content, vector, derived, category, place)
        LEFT JOIN LATERAL (
            WITH {_compare_ctes(_EACH_FACT, point)}
            {_select_best_sql(point, _CANDIDATE_COLUMNS)}
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
) -> tuple[Moment, list[list[Hit]]]:
    """Return the memories that each fact is compared with: what holds at `as_of` (default: now).

    What is covered then is among them, because a lasting fact may end it. The nearest come first,
    best first. Up to MAX_ALIKE of the same derived slot or given category follow, without scores.
    Raise EmbeddingsChanged if the database's vectors are of another model.
    """
    point = Point(as_of, include_covered=True)
    if len(facts) == 1:
        statement = _build_compare_one_statement(point)
        values = _comparison_values(facts[0], vectors[0])
    else:
        statement = _build_compare_many_statement(point)
        values = _bulk_comparison_values(facts, vectors)
    values |= asdict(comparing)
    values |= {
        "alike": MAX_ALIKE,
        "depth": max(MIN_DEPTH, comparing.limit),
        "min_score": ANY_SCORE,
    }
    moment, rows = await run_read(
        connection, statement, agent, point, values, encoder=comparing.encoder
    )
    hits: list[list[Hit]] = [[] for _ in facts]
    async for row in iterate_in_turns(rows):
        hits[row["place"] - 1].append(_hit_from_row(row))
    return moment, hits


def _comparison_values(fact: Fact, vector: NDArray[np.float32]) -> dict[str, Any]:
    return {
        "content": fact.content,
        "vector": vector,
        "derived": _derived_digest(fact),
        "category": fact.slot.category or None,
    }


def _bulk_comparison_values(
    facts: Sequence[Fact], vectors: Sequence[NDArray[np.float32]]
) -> dict[str, Any]:
    return {
        "contents": [fact.content for fact in facts],
        "vectors": VectorList(vectors),
        "derived": [_derived_digest(fact) for fact in facts],
        "categories": [fact.slot.category or None for fact in facts],
    }


def _derived_digest(fact: Fact) -> bytes | None:
    return fact.derived.digest if fact.derived else None


def _hit_from_row(row: Mapping[str, Any]) -> Hit:
    scores = {}
    for name in ("vector", "text"):
        score = row[f"{name}_score"]
        if score is not None:
            scores[name] = float(score)
    return Hit(memory_from_row(row), float(row["score"]), scores)


async def check_encoder(connection: AsyncConnection, encoder: str) -> None:
    """Raise EmbeddingsChanged unless the database's vectors are of this model."""
    [row] = await fetch_rows(connection, "SELECT (SELECT name FROM encoder) AS encoder", {})
    if row["encoder"] != encoder:
        raise EmbeddingsChanged(row["encoder"], encoder)
