"""Search, and what a fact to be judged is compared with: exact over an agent's live memories, by vectors and by words."""

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
from app.domain.version import Memory, Moment
from app.store.columns import Filters
from app.store.engine import VectorList, fetch_rows
from app.store.memories import (
    LATEST,
    MEMORY,
    MOMENT,
    Point,
    memories_from,
    memory_columns,
    memory_from_row,
    run_read,
    where_searchable,
)

# How many memories of the same derived slot or given category are candidates, ranked or not.
MAX_ALIKE = 5


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory found, its score (0 to 1, higher is nearer) and what the score was made from."""

    memory: Memory
    score: float
    scores: dict[str, float]


@dataclass(frozen=True, slots=True)
class Hits:
    moment: Moment
    hits: list[Hit]


# The words of the query, any of which may match: a question shares few words with its answer (DESIGN §8). A CTE, because the
# planner would parse the query again for every row.
_ASKED = """
    asked AS MATERIALIZED (
        SELECT CAST(replace(CAST(plainto_tsquery(CAST(:language AS regconfig), {query}) AS text), ' & ', ' | ') AS tsquery) AS words
    )
"""

# 0 where no word matches; asking "@@" first would look every word up twice.
_RANK = "ts_rank(m.lexemes, (SELECT words FROM asked))"

# "+ 0" keeps the planner from an approximate index: the scan of an agent's rows is exact, and min(limit, live) rows come back.
_DISTANCE = "(m.embedding <=> {vector}) + 0"

# Reciprocal rank fusion, k = 60 (Cormack, Clarke, Büttcher 2009), scaled so that first by both is 1.
_FUSED = "30.5 * (coalesce(1.0 / (60 + v.place), 0) + coalesce(1.0 / (60 + t.place), 0))"

_FOUND = {
    "vector": """
        SELECT id, 1 - distance AS score, 1 - distance AS vector, CAST(NULL AS float8) AS text FROM (
            SELECT m.id, {distance} AS distance FROM {source} WHERE {where} ORDER BY distance LIMIT :limit
        ) AS near WHERE 1 - distance >= :min_score
    """,
    "text": """
        SELECT id, rank AS score, CAST(NULL AS float8) AS vector, rank AS text FROM (
            SELECT m.id, {rank} AS rank FROM {source} WHERE {where} ORDER BY rank DESC, b.valid_from DESC LIMIT :limit
        ) AS near WHERE rank >= :min_score
    """,
    "hybrid": """
        SELECT id, score, vector, text FROM (
            SELECT coalesce(v.id, t.id) AS id, {fused} AS score,
                   1 - coalesce(v.distance, t.distance) AS vector, coalesce(t.rank, v.rank) AS text
            FROM (
                SELECT *, row_number() OVER (ORDER BY distance) AS place FROM (SELECT * FROM live ORDER BY distance LIMIT :depth) AS nearest
            ) AS v FULL JOIN (
                SELECT *, row_number() OVER (ORDER BY rank DESC, distance) AS place
                FROM (SELECT * FROM live WHERE rank > 0 ORDER BY rank DESC, distance LIMIT :depth) AS ranked
            ) AS t USING (id)
        ) AS fused WHERE score >= :min_score ORDER BY score DESC, vector DESC LIMIT :limit
    """,
}

# Asked once, before any row is read: vectors of another model may look alike and must not be compared.
_SAME_ENCODER = "(SELECT name FROM encoder) = :encoder"

# Below every score there is, cosines included.
ANY_SCORE = -2.0

MIN_DEPTH = 50

_LIVE = "live AS MATERIALIZED (SELECT m.id, {distance} AS distance, {rank} AS rank {and_more} FROM {source} WHERE {where}),"

# What a fact to be judged is compared with: the nearest by both rankings, and the latest few of its derived slot or given category,
# which no ranking need find.
_ALIKE = ", b.valid_from, coalesce(m.derived_hash = {derived}, false) OR coalesce(m.slot_category = {category}, false) AS alike"
_RANKED_AND_ALIKE = """
    found AS MATERIALIZED (
        SELECT * FROM ranked
        UNION ALL (
            SELECT id, 0, CAST(NULL AS float8), CAST(NULL AS float8) FROM live
            WHERE alike AND id NOT IN (SELECT id FROM ranked) ORDER BY valid_from DESC LIMIT :alike
        )
    )
"""


@dataclass(frozen=True, slots=True)
class Query:
    """What to search for; `vector` is None in text mode, `encoder` names the model that makes them.

    Hybrid fuses the best `depth` of both rankings.
    """

    text: str
    vector: NDArray[np.float32] | None
    encoder: str
    mode: str
    language: str
    limit: int
    min_score: float

    @property
    def encoder_needed(self) -> str | None:
        """The model that the database's vectors must be of; None where none are compared."""
        return None if self.vector is None else self.encoder

    @property
    def depth(self) -> int:
        return max(MIN_DEPTH, self.limit)


def build_search_statement(mode: str, filters: Filters, point: Point) -> tuple[str, dict[str, Any]]:
    """The statement of a search and the values of its filters."""
    source, _ = memories_from(point)
    where, parameters = where_searchable(filters, point)
    if mode != "text":
        where += f" AND {_SAME_ENCODER}"
    distance = _DISTANCE.format(vector=":vector")
    parts = {
        "source": source,
        "where": where,
        "distance": distance,
        "rank": _RANK,
        "fused": _FUSED,
        "and_more": "",
    }
    live = _LIVE.format(**parts) if mode == "hybrid" else ""
    statement = f"""
        WITH {MOMENT}, {_ASKED.format(query=":query")}, {live} found AS MATERIALIZED ({_FOUND[mode].format(**parts)})
        SELECT {_MOMENT_AND_ENCODER}, hit.* FROM moment LEFT JOIN ({_select_found_sql(point, memory_columns(point))}) AS hit ON true
        ORDER BY hit.score DESC NULLS LAST, hit.valid_from DESC, hit.id DESC
    """
    return statement, parameters


_MOMENT_AND_ENCODER = "moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, (SELECT name FROM encoder) AS encoder"


def _select_found_sql(point: Point, columns: str) -> str:
    """These columns of the memories of a `found` CTE (id, score, vector, text)."""
    source, _ = memories_from(point)
    return f"""
        SELECT found.score, found.vector AS vector_score, found.text AS text_score, {columns}
        FROM found JOIN {source} ON m.agent_id = :agent AND m.id = found.id
    """


def _comparison_ctes_sql(
    point: Point, content: str, vector: str, derived: str, category: str
) -> str:
    """The CTEs that end in `found`: what a fact is compared with, by the SQL of what is known of it."""
    where, _ = where_searchable(Filters(), point)
    alike = _ALIKE.format(derived=derived, category=category)
    parts = {
        "source": LATEST,
        "where": f"{where} AND {_SAME_ENCODER}",
        "rank": _RANK,
        "fused": _FUSED,
        "and_more": alike,
    }
    parts["distance"] = _DISTANCE.format(vector=vector)
    ranked = f"ranked AS MATERIALIZED ({_FOUND['hybrid'].format(**parts)})"
    return f"{_ASKED.format(query=content)}, {_LIVE.format(**parts)} {ranked}, {_RANKED_AND_ALIKE}"


# Neither counters nor what has ended beside it matter to how a candidate is judged.
_COMPARED = f"{MEMORY}, {memories_from(Point())[1]} AS supersedes_id"


def _compare_one_sql(point: Point) -> str:
    """For one fact, Postgres plans this once and for all."""
    return f"""
        WITH {MOMENT}, {_comparison_ctes_sql(point, ":content", ":vector", ":derived", ":category")}
        SELECT 1 AS place, {_MOMENT_AND_ENCODER}, hit.* FROM moment LEFT JOIN ({_select_found_sql(point, _COMPARED)}) AS hit ON true
        ORDER BY hit.score DESC NULLS LAST, hit.valid_from DESC, hit.id DESC
    """


def _compare_many_sql(point: Point) -> str:
    """For many: planning it takes longer than running it in a small agent, but it is planned once for all of them."""
    return f"""
        WITH {MOMENT}
        SELECT fact.place, {_MOMENT_AND_ENCODER}, hit.*
        FROM moment CROSS JOIN unnest(
            CAST(:contents AS text[]), CAST(:vectors AS vector[]), CAST(:derived AS bytea[]), CAST(:categories AS text[])
        ) WITH ORDINALITY AS fact (content, vector, derived, category, place)
        LEFT JOIN LATERAL (
            WITH {_comparison_ctes_sql(point, "fact.content", "fact.vector", "fact.derived", "fact.category")} {_select_found_sql(point, _COMPARED)}
        ) AS hit ON true
        ORDER BY fact.place, hit.score DESC NULLS LAST, hit.valid_from DESC, hit.id DESC
    """


async def search_memories(
    connection: AsyncConnection, agent: AgentId, query: Query, filters: Filters, point: Point
) -> Hits:
    """The nearest live memories, best first: min(limit, live) of them unless `min_score` cuts some off.

    Raises EmbeddingsChanged where the database's vectors are another model's than the query's.
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
    return Hits(moment, [_hit_from_row(row) for row in rows])


@dataclass(frozen=True, slots=True)
class ComparisonOptions:
    """How facts are compared with what is stored: the model of their vectors, the language of their words, how many of the nearest."""

    encoder: str
    language: str
    limit: int


async def find_candidates(
    connection: AsyncConnection,
    agent: AgentId,
    facts: Sequence[Fact],
    vectors: Sequence[NDArray[np.float32]],
    comparing: ComparisonOptions,
    *,
    as_of: datetime | None = None,
) -> tuple[Moment, list[list[Hit]]]:
    """The memories that hold at `as_of` (default: now) and that each fact is compared with: the nearest, best first, then up to MAX_ALIKE
    of the same derived slot or given category; those have no scores. Raises EmbeddingsChanged where the vectors are another model's."""
    given = {
        "alike": MAX_ALIKE,
        "depth": max(MIN_DEPTH, comparing.limit),
        "min_score": ANY_SCORE,
        **asdict(comparing),
    }
    point = Point(as_of)
    statement = _compare_one_sql(point) if len(facts) == 1 else _compare_many_sql(point)
    given |= (
        _comparison_values(facts[0], vectors[0])
        if len(facts) == 1
        else _bulk_comparison_values(facts, vectors)
    )
    moment, rows = await run_read(
        connection, statement, agent, point, given, encoder=comparing.encoder
    )
    hits: list[list[Hit]] = [[] for _ in facts]
    for row in rows:
        hits[row["place"] - 1].append(_hit_from_row(row))
    return moment, hits


def _comparison_values(fact: Fact, vector: NDArray[np.float32]) -> dict[str, Any]:
    derived = fact.derived.digest if fact.derived else None
    return {
        "content": fact.content,
        "vector": vector,
        "derived": derived,
        "category": fact.slot.category or None,
    }


def _bulk_comparison_values(
    facts: Sequence[Fact], vectors: Sequence[NDArray[np.float32]]
) -> dict[str, Any]:
    each = [_comparison_values(fact, vector) for fact, vector in zip(facts, vectors, strict=True)]
    return {
        "contents": [one["content"] for one in each],
        "vectors": VectorList(vectors),
        "derived": [one["derived"] for one in each],
        "categories": [one["category"] for one in each],
    }


def _search_values(query: Query) -> dict[str, Any]:
    asked = {
        "query": query.text,
        "vector": query.vector,
        "language": query.language,
        "limit": query.limit,
        "min_score": query.min_score,
        "encoder": query.encoder,
    }
    return asked | ({"depth": query.depth} if query.mode == "hybrid" else {})


def _hit_from_row(row: Mapping[str, Any]) -> Hit:
    scores = {
        name: float(row[f"{name}_score"])
        for name in ("vector", "text")
        if row[f"{name}_score"] is not None
    }
    return Hit(memory_from_row(row), float(row["score"]), scores)


async def check_encoder(connection: AsyncConnection, encoder: str) -> None:
    """Raises EmbeddingsChanged unless the database's vectors are this model's."""
    [row] = await fetch_rows(connection, "SELECT (SELECT name FROM encoder) AS encoder", {})
    if row["encoder"] != encoder:
        raise EmbeddingsChanged(row["encoder"], encoder)
