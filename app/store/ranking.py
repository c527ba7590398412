"""How memories are ranked by vectors and by words: what search and comparison have in common."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.errors import EmbeddingsChanged
from app.domain.relation import Relation
from app.domain.version import Memory
from app.store.engine import fetch_rows
from app.store.fragments import MOMENT_COLUMNS
from app.store.memories import Point, memories_from, memory_from_row

# A hybrid search by an index reads at least so many memories of either ranking.
MIN_DEPTH = 50


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory of a search, its score (higher is nearer) and the parts of the score."""

    memory: Memory
    score: float
    scores: dict[str, float]


def hit_from_row(row: Mapping[str, Any]) -> Hit:
    scores = {}
    for name in ("vector", "text"):
        score = row[f"{name}_score"]
        if score is not None:
            scores[name] = float(score)
    return Hit(memory_from_row(row), float(row["score"]), scores)


# It is evaluated before any row is read: vectors of another model may look alike, but must not be
# compared.
SAME_ENCODER = "(SELECT name FROM encoder) = :encoder"

READ_COLUMNS = f"{MOMENT_COLUMNS}, (SELECT name FROM encoder) AS encoder"


def build_distance(vector: str) -> str:
    """Return the distance of a memory `m` from the vector.

    "+ 0" keeps the planner from an approximate index of somebody else's: a scan of an agent's rows
    is exact.
    """
    return f"(m.embedding <=> {vector}) + 0"


# 0 if no word matches. A condition with "@@" before it would look every word up twice.
RANK = "ts_rank(m.lexemes, (SELECT words FROM query_words))"

# The rank of a memory that has the words by which memories are found; 0 for others.
_IS_CHOSEN = "m.lexemes @@ (SELECT chosen FROM query_words)"
RANK_OF_CHOSEN = f"CASE WHEN {_IS_CHOSEN} THEN {RANK} ELSE 0 END"

# The words of a memory that has one of the text; NULL for others.
MATCHED_LEXEMES = "CASE WHEN m.lexemes @@ (SELECT words FROM query_words) THEN m.lexemes END"

# The words of a memory that has those by which memories are found; NULL for others.
CHOSEN_LEXEMES = f"CASE WHEN {_IS_CHOSEN} THEN m.lexemes END"


def build_query_words_cte(text: str, *, chooses: bool) -> str:
    """Return the CTE of the words of a text, any of which may match.

    A question shares few words with its answer (DESIGN §8). It is a CTE, because the planner would
    parse the text again for every row. If it `chooses`, `chosen` are the words by which memories
    are found: in a large agent, frequent words find none if there are rarer ones.
    """
    chosen = ""
    if chooses:
        chosen = f""",
            choose_words(
                CAST(:language AS regconfig),
                pair_characters({text}, false),
                :chosen_least,
                :chosen_most
            ) AS chosen
        """
    return f"""
        query_words AS MATERIALIZED (
            SELECT CAST(
                replace(
                    CAST(
                        plainto_tsquery(
                            CAST(:language AS regconfig), pair_characters({text}, false)
                        ) AS text
                    ),
                    ' & ',
                    ' | '
                ) AS tsquery
            ) AS words {chosen}
        )
    """


_ENDINGS = ", ".join(f"'{relation}'" for relation in Relation if relation.effect.ends_stored)

# A memory that a review proposes to end stands right behind the one that would take its place: its
# score is at most that one's. What a constraint or higher trust protects keeps its score.
OUTRANKED = f"""
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


def select_best(point: Point, columns: str, *, outranks: bool = False) -> str:
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


async def check_encoder(connection: AsyncConnection, encoder: str) -> None:
    """Raise EmbeddingsChanged unless the database's vectors are of this model."""
    [row] = await fetch_rows(connection, "SELECT (SELECT name FROM encoder) AS encoder", {})
    if row["encoder"] != encoder:
        raise EmbeddingsChanged(row["encoder"], encoder)
