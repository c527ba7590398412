"""Every read, each one statement, so that it sees one consistent state. One predicate decides what holds, here and nowhere else."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.engine import RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.domain.errors import EmbeddingsChanged
from app.domain.memory import AgentId, DerivedSlot, Fact, Kind, Lifespan, Memory, Moment, Slot, Usage
from app.domain.strength import HalfLives
from app.domain.text import fold
from app.store.engine import VectorList, fetch
from app.store.rows import belief_of
from app.store.strength import REINFORCED, STRENGTH, half_life_values
from app.store.tables import BELIEF_COLUMNS

# The point on both axes that a read is about. The default on valid time is never behind the agent's last write, so that a
# write is visible to the next read even when the clock went back; on known time it is the last write seen.
_MOMENT = """
    moment AS MATERIALIZED (
        SELECT coalesce(CAST(:as_of AS timestamptz), greatest(clock.now, agent.last)) AS as_of,
               coalesce(CAST(:known_at AS timestamptz), agent.last, clock.now) AS known_at
        FROM (SELECT clock_timestamp() AS now) AS clock,
             (SELECT max(last_known_at) AS last FROM agents WHERE agent_id = :agent) AS agent
    )
"""

# The one predicate of DESIGN §2.
HOLDS = "b.valid_from <= (SELECT as_of FROM moment) AND (b.valid_until IS NULL OR b.valid_until > (SELECT as_of FROM moment))"

_BELIEF = ", ".join(f"b.{name}" for name in BELIEF_COLUMNS)
_BELIEF_OF_M = ", ".join(f"m.{name}" for name in BELIEF_COLUMNS)
_BELIEF_OF_X = ", ".join(f"x.{name}" for name in BELIEF_COLUMNS)

_LATEST = f"memories m CROSS JOIN LATERAL (SELECT {_BELIEF_OF_M}) AS b"

# The belief held at a known time: the row's own where it was known by then, else the one kept for that time. The second
# half is entered only for rows believed otherwise since.
_PAST = f"""
    memories m JOIN LATERAL (
        SELECT {_BELIEF_OF_M} WHERE m.known_from <= (SELECT known_at FROM moment)
        UNION ALL
        SELECT {_BELIEF_OF_X} FROM memory_beliefs x
        WHERE m.known_from > (SELECT known_at FROM moment) AND x.agent_id = m.agent_id AND x.memory_id = m.id
          AND x.known_from <= (SELECT known_at FROM moment) AND x.known_until > (SELECT known_at FROM moment)
    ) AS b ON true
"""  # noqa: S608 - column names from constants

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

# Counters of the rows that are answered, looked up for these alone: Postgres fills select lists after LIMIT. A repetition later than
# the known time read does not count, nor do the ones before it, which are not kept apart.
_USAGE = ", ".join(
    f"(SELECT u.{name} FROM memory_usage u WHERE u.agent_id = m.agent_id AND u.memory_id = m.id"  # noqa: S608 - column names from constants
    f" AND u.last_reinforced_at <= (SELECT known_at FROM moment)) AS {name}"
    for name in ("access_count", "last_reinforced_at")
)

_FACT_COLUMNS = tuple(f.name for f in fields(Fact) if f.name not in ("tier", "valid_from", "valid_until", "derived"))
_MEMORY = (
    "m.id, m.chain_id, m.created_at, m.revision, m.erased_at, m.derived_entity, m.derived_key, m.derived_value, "
    f"{', '.join(f'm.{name}' for name in _FACT_COLUMNS)}, {_BELIEF}"
)
_USED_MEMORY = f"{_MEMORY}, {_USAGE}"


# How many memories of the same derived slot or given category are candidates, ranked or not.
MAX_ALIKE = 5


@dataclass(frozen=True, slots=True)
class Point:
    """Where a read asks on both axes; None = now, and all that is known. `include_superseded` drops the valid-time half."""

    as_of: datetime | None = None
    known_at: datetime | None = None
    include_superseded: bool = False


@dataclass(frozen=True, slots=True)
class Filters:
    """What a read is narrowed to; None or empty = not narrowed. Words of the slot compare folded."""

    kind: str | None = None
    entity: str | None = None
    category: str | None = None
    key: str | None = None
    session_id: str | None = None
    tags_any: tuple[str, ...] = ()
    tags_all: tuple[str, ...] = ()
    min_importance: float | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Memories in order, at a moment on both axes."""

    moment: Moment
    memories: list[Memory]


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


def _known(point: Point) -> tuple[str, str]:
    """The FROM of memories with the belief to read, and the column of what each superseded."""
    return (_LATEST, _SUPERSEDES_LATEST) if point.known_at is None else (_PAST, _SUPERSEDES_PAST)


def _narrowed(filters: Filters, point: Point) -> tuple[str, dict[str, Any]]:
    """The WHERE of a read: the agent, what holds, the filters."""
    conditions = ["m.agent_id = :agent"]
    if not point.include_superseded:
        conditions.append(HOLDS)
    parameters: dict[str, Any] = {}
    for condition, name, value in _conditions(filters):
        if value is not None and value != ():
            conditions.append(condition)
            parameters[name] = list(value) if isinstance(value, tuple) else value
    return " AND ".join(conditions), parameters


def _conditions(filters: Filters) -> list[tuple[str, str, Any]]:
    return [
        ("m.kind = :kind", "kind", filters.kind),
        ("m.slot_entity = :entity", "entity", filters.entity and fold(filters.entity)),
        ("m.slot_category = :category", "category", None if filters.category is None else fold(filters.category)),
        ("m.slot_key = :key", "key", filters.key and fold(filters.key)),
        ("m.session_id = :session_id", "session_id", filters.session_id),
        ("m.tags && CAST(:tags_any AS text[])", "tags_any", filters.tags_any),
        ("m.tags @> CAST(:tags_all AS text[])", "tags_all", filters.tags_all),
        ("m.importance >= :min_importance", "min_importance", filters.min_importance),
    ]


@asynccontextmanager
async def reading(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A connection for single-statement reads: each statement sees one consistent state, no transaction is kept open."""
    async with engine.connect() as connection:
        yield await connection.execution_options(isolation_level="AUTOCOMMIT")


async def _run(
    connection: AsyncConnection, statement: str, agent: AgentId, point: Point, parameters: Mapping[str, Any], *, encoder: str | None = None
) -> tuple[Moment, list[Any]]:
    """Runs a statement whose rows carry the moment; a row without an id says that nothing was found.

    Where an encoder is named they carry the database's too. Raises EmbeddingsChanged where it is another one.
    """
    given = {"agent": agent, "as_of": point.as_of, "known_at": point.known_at, **parameters}
    rows = await fetch(connection, statement, given)
    if encoder is not None and rows[0]["encoder"] != encoder:
        raise EmbeddingsChanged(rows[0]["encoder"], encoder)
    return Moment(rows[0]["moment_as_of"], rows[0]["moment_known_at"]), [row for row in rows if row["id"] is not None]


def _memory(row: Mapping[str, Any]) -> Memory:
    belief = belief_of(row)
    said = {name: row[name] for name in _FACT_COLUMNS}
    said |= {name: tuple(row[name]) for name in ("tags", "entities", "sources", "merged_from")}
    said["derived"] = DerivedSlot(row["derived_entity"], row["derived_key"], row["derived_value"]) if row["derived_key"] else None
    said |= {"kind": Kind(row["kind"]), "lifespan": Lifespan(row["lifespan"])}
    fact = Fact(**said, tier=belief.tier, valid_from=belief.valid_from, valid_until=belief.said_until)
    usage = Usage(row.get("access_count") or 0, row.get("last_reinforced_at"))  # candidates are read without
    beside = (row["created_at"], row["revision"], row["supersedes_id"], usage, row["erased_at"])
    return Memory(row["id"], row["chain_id"], fact, belief, *beside)


async def _select(
    connection: AsyncConnection, agent: AgentId, point: Point, *, where: str, tail: str, parameters: Mapping[str, Any]
) -> Page:
    source, supersedes = _known(point)
    statement = f"""
        WITH {_MOMENT}
        SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, found.*
        FROM moment LEFT JOIN (SELECT {_USED_MEMORY}, {supersedes} AS supersedes_id FROM {source} WHERE {where} {tail}) AS found ON true
    """  # noqa: S608 - fragments from constants, values are bound
    moment, rows = await _run(connection, statement, agent, point, parameters)
    return Page(moment, [_memory(row) for row in rows])


async def moment(connection: AsyncConnection, agent: AgentId) -> Moment:
    """Now, on both axes."""
    statement = f"WITH {_MOMENT} SELECT as_of, known_at FROM moment"  # noqa: S608 - a constant
    [row] = await fetch(connection, statement, {"agent": agent, "as_of": None, "known_at": None})
    return Moment(row["as_of"], row["known_at"])


# --- one, many ---------------------------------------------------------------------------------------------------------


async def find_memory(connection: AsyncConnection, agent: AgentId, memory_id: UUID, point: Point) -> tuple[Moment, Memory | None]:
    """One version as believed at the point's known time, whatever its state; None where it was not known then."""
    page = await find_memories(connection, agent, [memory_id], point)
    return page.moment, page.memories[0] if page.memories else None


async def find_memories(connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID], point: Point) -> Page:
    """These versions, in no order, those known at the point's known time."""
    where = "m.agent_id = :agent AND m.id = ANY(:ids)"
    return await _select(connection, agent, point, where=where, tail="", parameters={"ids": list(ids)})


@dataclass(frozen=True, slots=True)
class After:
    """Where a page of a list ended; `strength` where it is sorted by it."""

    created_at: datetime
    memory_id: UUID
    strength: float | None = None


async def list_memories(
    connection: AsyncConnection, agent: AgentId, filters: Filters, point: Point, *, limit: int, after: After | None
) -> Page:
    """Newest known first."""
    where, parameters = _narrowed(filters, point)
    if after is not None:
        where += " AND (m.created_at, m.id) < (:after_created_at, :after_id)"
        parameters |= {"after_created_at": after.created_at, "after_id": after.memory_id}
    tail = "ORDER BY m.created_at DESC, m.id DESC LIMIT :limit"
    return await _select(connection, agent, point, where=where, tail=tail, parameters={**parameters, "limit": limit})


@dataclass(frozen=True, slots=True)
class Ranked(Page):
    """Memories by strength, with the strength each was placed by and how many there are in all."""

    strengths: list[float]
    live: int


async def strongest(
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
    source, supersedes = _known(point)
    where, parameters = _findable(filters, point) if first else _narrowed(filters, point)
    parameters |= {"first": first, "limit": limit, **half_life_values(half_lives)}
    beyond = ""
    if after is not None:
        beyond = "WHERE (strength, id) < (:after_strength, :after_id)"
        parameters |= {"after_strength": after.strength, "after_id": after.memory_id}
    statement = f"""
        WITH {_MOMENT},
        live AS MATERIALIZED (
            SELECT m.id, {STRENGTH} AS strength, m.kind IS NOT DISTINCT FROM CAST(:first AS text) AS is_first
            FROM {source} {REINFORCED} WHERE {where}
        ),
        top AS (SELECT * FROM live {beyond} ORDER BY is_first DESC, strength DESC, id DESC LIMIT :limit)
        SELECT moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, (SELECT count(*) FROM live) AS live, hit.*
        FROM moment LEFT JOIN (
            SELECT top.strength, top.is_first, {_USED_MEMORY}, {supersedes} AS supersedes_id
            FROM top JOIN {source} ON m.agent_id = :agent AND m.id = top.id
        ) AS hit ON true
        ORDER BY hit.is_first DESC, hit.strength DESC, hit.id DESC
    """  # noqa: S608 - fragments from constants, values are bound
    moment, rows = await _run(connection, statement, agent, point, parameters)
    live = rows[0]["live"] if rows else 0
    return Ranked(moment, [_memory(row) for row in rows], [row["strength"] for row in rows], live)


async def chain_of(connection: AsyncConnection, agent: AgentId, memory_id: UUID, point: Point) -> Page:
    """Every version of the memory's chain that was known at the point's known time, oldest first."""
    where = "m.agent_id = :agent AND m.chain_id = (SELECT o.chain_id FROM memories o WHERE o.agent_id = :agent AND o.id = :id)"
    return await _select(connection, agent, point, where=where, tail="ORDER BY b.valid_from, b.asserted_at", parameters={"id": memory_id})


async def holding_in_slot(connection: AsyncConnection, agent: AgentId, slot: Slot, point: Point, *, kind: str) -> Page:
    """What holds in a slot: where several do, the most trusted, then the one with the latest start."""
    where, parameters = _narrowed(Filters(kind=kind), point)
    where += " AND m.slot_key IS NOT NULL AND m.slot_hash = :slot"
    parameters["slot"] = slot.digest
    tail = "ORDER BY m.trust DESC, b.valid_from DESC, m.id DESC LIMIT 1"
    return await _select(connection, agent, point, where=where, tail=tail, parameters=parameters)


async def check_encoder(connection: AsyncConnection, encoder: str) -> None:
    """Raises EmbeddingsChanged unless the database's vectors are this model's."""
    [row] = await fetch(connection, "SELECT (SELECT name FROM encoder) AS encoder", {})
    if row["encoder"] != encoder:
        raise EmbeddingsChanged(row["encoder"], encoder)


# --- search ------------------------------------------------------------------------------------------------------------

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


def _findable(filters: Filters, point: Point) -> tuple[str, dict[str, Any]]:
    """The WHERE of a search: what was erased has neither words nor a vector."""
    where, parameters = _narrowed(filters, point)
    return f"{where} AND m.erased_at IS NULL", parameters


def search_statement(mode: str, filters: Filters, point: Point) -> tuple[str, dict[str, Any]]:
    """The statement of a search and the values of its filters."""
    source, _ = _known(point)
    where, parameters = _findable(filters, point)
    if mode != "text":
        where += f" AND {_SAME_ENCODER}"
    distance = _DISTANCE.format(vector=":vector")
    parts = {"source": source, "where": where, "distance": distance, "rank": _RANK, "fused": _FUSED, "and_more": ""}
    live = _LIVE.format(**parts) if mode == "hybrid" else ""
    statement = f"""
        WITH {_MOMENT}, {_ASKED.format(query=":query")}, {live} found AS MATERIALIZED ({_FOUND[mode].format(**parts)})
        SELECT {_MOMENT_AND_ENCODER}, hit.* FROM moment LEFT JOIN ({_of_found(point)}) AS hit ON true
        ORDER BY hit.score DESC NULLS LAST, hit.valid_from DESC, hit.id DESC
    """  # noqa: S608 - fragments from constants, values are bound
    return statement, parameters


_MOMENT_AND_ENCODER = "moment.as_of AS moment_as_of, moment.known_at AS moment_known_at, (SELECT name FROM encoder) AS encoder"


def _of_found(point: Point, memory: str = _USED_MEMORY) -> str:
    """The memories of a `found` CTE (id, score, vector, text)."""
    source, supersedes = _known(point)
    return f"""
        SELECT found.score, found.vector AS vector_score, found.text AS text_score, {memory}, {supersedes} AS supersedes_id
        FROM found JOIN {source} ON m.agent_id = :agent AND m.id = found.id
    """  # noqa: S608 - fragments from constants, values are bound


def _compared(content: str, vector: str, derived: str, category: str) -> str:
    """The CTEs that end in `found`: what a fact is compared with, by the SQL of what is known of it."""
    where, _ = _findable(Filters(), Point())
    alike = _ALIKE.format(derived=derived, category=category)
    parts = {"source": _LATEST, "where": f"{where} AND {_SAME_ENCODER}", "rank": _RANK, "fused": _FUSED, "and_more": alike}
    parts["distance"] = _DISTANCE.format(vector=vector)
    ranked = f"ranked AS MATERIALIZED ({_FOUND['hybrid'].format(**parts)})"
    return f"{_ASKED.format(query=content)}, {_LIVE.format(**parts)} {ranked}, {_RANKED_AND_ALIKE}"


# For one fact, Postgres plans this once and for all.
_CANDIDATES_OF_ONE = f"""
    WITH {_MOMENT}, {_compared(":content", ":vector", ":derived", ":category")}
    SELECT 1 AS place, {_MOMENT_AND_ENCODER}, hit.* FROM moment LEFT JOIN ({_of_found(Point(), _MEMORY)}) AS hit ON true
    ORDER BY hit.score DESC NULLS LAST, hit.valid_from DESC, hit.id DESC
"""  # noqa: S608 - fragments from constants, values are bound

# For many: planning it takes longer than running it in a small agent, but it is planned once for all of them.
_CANDIDATES_OF_MANY = f"""
    WITH {_MOMENT}
    SELECT fact.place, {_MOMENT_AND_ENCODER}, hit.*
    FROM moment CROSS JOIN unnest(
        CAST(:contents AS text[]), CAST(:vectors AS vector[]), CAST(:derived AS bytea[]), CAST(:categories AS text[])
    ) WITH ORDINALITY AS fact (content, vector, derived, category, place)
    LEFT JOIN LATERAL (
        WITH {_compared("fact.content", "fact.vector", "fact.derived", "fact.category")} {_of_found(Point(), _MEMORY)}
    ) AS hit ON true
    ORDER BY fact.place, hit.score DESC NULLS LAST, hit.valid_from DESC, hit.id DESC
"""  # noqa: S608 - fragments from constants, values are bound


async def search(connection: AsyncConnection, agent: AgentId, query: Query, filters: Filters, point: Point) -> Hits:
    """The nearest live memories, best first: min(limit, live) of them unless `min_score` cuts some off.

    Raises EmbeddingsChanged where the database's vectors are another model's than the query's.
    """
    statement, parameters = search_statement(query.mode, filters, point)
    moment, rows = await _run(connection, statement, agent, point, parameters | _bound(query), encoder=query.encoder_needed)
    return Hits(moment, [_hit(row) for row in rows])


@dataclass(frozen=True, slots=True)
class Comparing:
    """How facts are compared with what is stored: the model of their vectors, the language of their words, how many of the nearest."""

    encoder: str
    language: str
    limit: int


async def candidates(
    connection: AsyncConnection, agent: AgentId, facts: Sequence[Fact], vectors: Sequence[NDArray[np.float32]], comparing: Comparing
) -> tuple[Moment, list[list[Hit]]]:
    """The current memories each fact is compared with: the nearest, best first, then up to MAX_ALIKE of the same derived slot or given
    category; those have no scores. Raises EmbeddingsChanged where the database's vectors are another model's."""
    given = {"alike": MAX_ALIKE, "depth": max(MIN_DEPTH, comparing.limit), "min_score": ANY_SCORE, **asdict(comparing)}
    statement = _CANDIDATES_OF_ONE if len(facts) == 1 else _CANDIDATES_OF_MANY
    given |= _one(facts[0], vectors[0]) if len(facts) == 1 else _many(facts, vectors)
    moment, rows = await _run(connection, statement, agent, Point(), given, encoder=comparing.encoder)
    hits: list[list[Hit]] = [[] for _ in facts]
    for row in rows:
        hits[row["place"] - 1].append(_hit(row))
    return moment, hits


def _one(fact: Fact, vector: NDArray[np.float32]) -> dict[str, Any]:
    derived = fact.derived.digest if fact.derived else None
    return {"content": fact.content, "vector": vector, "derived": derived, "category": fact.slot.category or None}


def _many(facts: Sequence[Fact], vectors: Sequence[NDArray[np.float32]]) -> dict[str, Any]:
    each = [_one(fact, vector) for fact, vector in zip(facts, vectors, strict=True)]
    return {
        "contents": [one["content"] for one in each],
        "vectors": VectorList(vectors),
        "derived": [one["derived"] for one in each],
        "categories": [one["category"] for one in each],
    }


def _bound(query: Query) -> dict[str, Any]:
    asked = {
        "query": query.text,
        "vector": query.vector,
        "language": query.language,
        "limit": query.limit,
        "min_score": query.min_score,
        "encoder": query.encoder,
    }
    return asked | ({"depth": query.depth} if query.mode == "hybrid" else {})


def _hit(row: Mapping[str, Any]) -> Hit:
    scores = {name: float(row[f"{name}_score"]) for name in ("vector", "text") if row[f"{name}_score"] is not None}
    return Hit(_memory(row), float(row["score"]), scores)


# --- the log -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LogFilters:
    """What the log is narrowed to."""

    operation: str | None = None
    memory_id: UUID | None = None
    decided_by: str | None = None
    session_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None


_LOG_CONDITIONS = {
    "operation": "operation = :operation",
    "memory_id": "(target_memory_id = :memory_id OR source_memory_ids @> ARRAY[CAST(:memory_id AS uuid)])",
    "decided_by": "decided_by = :decided_by",
    "session_id": "session_id = :session_id",
    "since": "created_at >= :since",
    "until": "created_at < :until",
}


async def list_log(
    connection: AsyncConnection, agent: AgentId, filters: LogFilters, *, limit: int, after: After | None
) -> list[RowMapping]:
    """Operations, newest first."""
    given = {f.name: value for f in fields(filters) if (value := getattr(filters, f.name)) is not None}
    conditions = ["agent_id = :agent", *(_LOG_CONDITIONS[name] for name in given)]
    if after is not None:
        conditions.append("(created_at, id) < (:after_created_at, :after_id)")
        given |= {"after_created_at": after.created_at, "after_id": after.memory_id}
    statement = f"SELECT * FROM consolidation_log WHERE {' AND '.join(conditions)} ORDER BY created_at DESC, id DESC LIMIT :limit"  # noqa: S608
    return list((await connection.execute(sa.text(statement), {"agent": agent, "limit": limit, **given})).mappings())


async def find_log_entry(connection: AsyncConnection, agent: AgentId, log_id: UUID) -> RowMapping | None:
    statement = sa.text("SELECT * FROM consolidation_log WHERE agent_id = :agent AND id = :id")
    return (await connection.execute(statement, {"agent": agent, "id": log_id})).mappings().one_or_none()


async def operations_on(connection: AsyncConnection, agent: AgentId, ids: Sequence[UUID], known_at: datetime) -> list[RowMapping]:
    """The operations that wrote or changed any of these memories, oldest first, as far as known at `known_at`."""
    statement = sa.text("""
        SELECT id, operation, source_memory_ids, target_memory_id, relation, confidence, reasoning, decided_by, created_at
        FROM consolidation_log
        WHERE agent_id = :agent AND created_at <= :known_at AND (target_memory_id = ANY(:ids) OR source_memory_ids && CAST(:ids AS uuid[]))
        ORDER BY created_at, id
    """)
    return list((await connection.execute(statement, {"agent": agent, "ids": list(ids), "known_at": known_at})).mappings())
