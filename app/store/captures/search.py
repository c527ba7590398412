"""Search what was said: an agent's messages by their meaning and words, without erased ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.dates.window import Window
from app.domain.talk import LEFT_OUT, Role
from app.store.bounded import bound_page
from app.store.fragments import MOMENT, MOMENT_COLUMNS
from app.store.memories import Point, run_read
from app.store.odds import COMPETING, ODDS_OF_MESSAGES, RANKS_PER_COSINE, build_chance
from app.store.ranking import SAME_ENCODER, build_query_words_cte
from app.store.rare_words import build_matching_ctes


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTurn:
    """A message that was found. `score` is the chance that it answers, between 0 and 1."""

    id: UUID
    capture_id: UUID
    session_id: str | None
    role: Role
    name: str | None
    content: str
    said_at: datetime
    score: float


@dataclass(frozen=True, slots=True)
class TurnQuery:
    """A text to search messages for, and its `vector` by `encoder`, None in text mode.

    If it `is_unread`, only messages from which no fact was read are found. They are answered until
    they reach `max_bytes` as JSON. What was said in the `window` counts as nearer.
    """

    text: str
    vector: NDArray[np.float32] | None
    encoder: str
    mode: str
    language: str
    session_id: str | None
    limit: int
    max_bytes: int
    is_unread: bool = False
    window: Window | None = None


# A message is about what the messages around it are about: an answer often lacks the words of its
# question. On LoCoMo, .2 to .3 of the ranks of both neighbours find most.
_NEIGHBOURS_WEIGHT = 0.25

_RANK = f"""
    rank + {_NEIGHBOURS_WEIGHT} * (
        coalesce(lag(rank) OVER in_order, 0) + coalesce(lead(rank) OVER in_order, 0)
    )
"""

# How much a rank by words adds to the cosine. On LoCoMo and REALTALK, from .03 to .08 make no
# difference.
_WORDS_WEIGHT = 0.04

# A message without a vector is as near as most: its cosine counts as 0. If most have none yet, they
# are found by their words alone.
_SIMILARITY = "coalesce(similarity, 0)"
_HAVE_VECTORS = "SELECT count(distance) * 2 >= count(*) AS yes FROM live"


def _choose_by_vectors(with_vectors: str, by_words: str) -> str:
    return f"CASE WHEN (SELECT yes FROM have_vectors) THEN {with_vectors} ELSE {by_words} END"


# How much nearer a message counts that was said in the window of the question.
_BONUS_OF_WINDOW = 0.1
_BY_WORDS = f"nullif({_RANK}, 0) + {RANKS_PER_COSINE} * bonus"
_SCORES = {
    "hybrid": _choose_by_vectors(f"{_SIMILARITY} + {_WORDS_WEIGHT} * ({_RANK}) + bonus", _BY_WORDS),
    "vector": f"{_SIMILARITY} + bonus",
    "text": _BY_WORDS,
}
_CHANCES = {mode: build_chance(odds) for mode, odds in ODDS_OF_MESSAGES.items()}
_CHANCES["hybrid"] = _choose_by_vectors(_CHANCES["hybrid"], _CHANCES["text"])

_FOUND_FIRST = "score DESC, said_at DESC"


def build_turn_search_statement(mode: str) -> str:
    """Return the statement that searches the messages that were said and known at the point."""
    distance = "CAST(NULL AS float8)"
    if mode != "text":
        vector = "CAST(CAST(:vector AS vector) AS halfvec)"
        distance = f"CASE WHEN {SAME_ENCODER} THEN t.embedding <=> {vector} END"
    page = f"""
        SELECT
            t.id, t.capture_id, t.session_id, t.role, t.name, t.content, t.said_at,
            {_CHANCES[mode]} AS score
        FROM best JOIN turns t ON t.agent_id = :agent AND t.id = best.id
        WHERE NOT :unread OR NOT EXISTS (
            SELECT FROM captured_facts f
            WHERE f.agent_id = :agent AND f.turn_id = t.id AND f.memory_id IS NOT NULL
        )
        ORDER BY score DESC, t.said_at DESC
        LIMIT :limit
    """
    return f"""
        WITH {MOMENT},
        {build_query_words_cte(":query", chooses=False)},
        live AS MATERIALIZED (
            SELECT
                t.id,
                coalesce(t.session_id, CAST(t.capture_id AS text)) AS talk,
                {distance} AS distance,
                CASE WHEN t.lexemes @@ (SELECT words FROM query_words) THEN t.lexemes END
                    AS lexemes,
                t.said_at AS valid_from,
                CASE
                    WHEN :has_window
                        AND t.said_at >= coalesce(CAST(:window_start AS timestamptz), '-infinity')
                        AND t.said_at < coalesce(CAST(:window_end AS timestamptz), 'infinity')
                    THEN {_BONUS_OF_WINDOW}
                    ELSE 0
                END AS bonus
            FROM turns t
            WHERE t.agent_id = :agent
              AND t.content IS NOT NULL
              AND NOT starts_with(t.content, '{LEFT_OUT}')
              AND t.said_at <= coalesce(CAST(:as_of AS timestamptz), 'infinity')
              AND t.received_at <= coalesce(CAST(:known_at AS timestamptz), 'infinity')
              AND t.session_id IS NOT DISTINCT FROM coalesce(CAST(:session AS text), t.session_id)
        ),
        have_vectors AS MATERIALIZED ({_HAVE_VECTORS}),
        {build_matching_ctes()},
        ranked AS MATERIALIZED (
            SELECT
                id,
                max(talk) AS talk,
                1 - max(distance) AS similarity,
                sum(rank) AS rank,
                max(bonus) AS bonus,
                max(said_at) AS said_at
            FROM (
                SELECT id, talk, distance, CAST(0 AS float8) AS rank, bonus, valid_from AS said_at
                FROM live
                UNION ALL
                SELECT id, NULL, NULL, rank, NULL, NULL FROM matching
            ) AS parts
            GROUP BY id
        ),
        best AS MATERIALIZED (
            SELECT id, score
            FROM (
                SELECT id, said_at, {_SCORES[mode]} AS score
                FROM ranked
                WINDOW in_order AS (PARTITION BY talk ORDER BY said_at, id)
            ) AS scored
            WHERE score > 0
            ORDER BY score DESC, said_at DESC
            LIMIT greatest(:limit, {COMPETING})
        )
        SELECT {MOMENT_COLUMNS}, hit.*
        FROM moment
        LEFT JOIN ({bound_page(page, _FOUND_FIRST, "octet_length(page.content)")}) AS hit ON true
        ORDER BY {_FOUND_FIRST}
    """


async def search_turns(
    connection: AsyncConnection, agent: AgentId, query: TurnQuery, point: Point
) -> list[FoundTurn]:
    """Return the messages that answer best, which were said at the point, and known then.

    In text mode they share words with the text, or stand beside one that does.
    """
    values = {
        "query": query.text,
        "vector": query.vector,
        "encoder": query.encoder,
        "language": query.language,
        "session": query.session_id,
        "limit": query.limit,
        "max_bytes": query.max_bytes,
        "unread": query.is_unread,
        "has_window": query.window is not None,
        "window_start": query.window and query.window.start,
        "window_end": query.window and query.window.end,
    }
    statement = build_turn_search_statement(query.mode)
    _, rows = await run_read(connection, statement, agent, point, values)
    return list(map(_turn_from_row, rows))


def _turn_from_row(row: Mapping[str, Any]) -> FoundTurn:
    values = {name: row[name] for name in FoundTurn.__dataclass_fields__}
    return FoundTurn(**values | {"role": Role(row["role"])})
