"""Search what was said: an agent's messages by their words, without those that were erased."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.talk import Role
from app.store.bounded import bound_page
from app.store.fragments import MOMENT, MOMENT_COLUMNS
from app.store.memories import Point, run_read
from app.store.odds import COMPETING, build_chance
from app.store.ranking import build_query_words_cte
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


# A message is about what the messages around it are about: an answer often lacks the words of its
# question. On LoCoMo, .2 to .3 of the ranks of both neighbours find most.
_NEIGHBOURS_WEIGHT = 0.25

_PAGE = f"""
    SELECT
        t.id, t.capture_id, t.session_id, t.role, t.name, t.content, t.said_at,
        {build_chance("text")} AS score
    FROM best JOIN turns t ON t.agent_id = :agent AND t.id = best.id
    WHERE NOT :unread OR NOT EXISTS (
        SELECT FROM captured_facts f
        WHERE f.agent_id = :agent AND f.turn_id = t.id AND f.memory_id IS NOT NULL
    )
    ORDER BY score DESC, t.said_at DESC
    LIMIT :limit
"""
_FOUND_FIRST = "score DESC, said_at DESC"

# Search the messages that were said and known at the point.
_SEARCH = f"""
    WITH {MOMENT},
    {build_query_words_cte(":query", chooses=False)},
    live AS MATERIALIZED (
        SELECT
            t.id,
            coalesce(t.session_id, CAST(t.capture_id AS text)) AS talk,
            CAST(NULL AS float8) AS distance,
            CASE WHEN t.lexemes @@ (SELECT words FROM query_words) THEN t.lexemes END AS lexemes,
            t.said_at AS valid_from
        FROM turns t
        WHERE t.agent_id = :agent
          AND t.content IS NOT NULL
          AND t.said_at <= coalesce(CAST(:as_of AS timestamptz), 'infinity')
          AND t.received_at <= coalesce(CAST(:known_at AS timestamptz), 'infinity')
          AND t.session_id IS NOT DISTINCT FROM coalesce(CAST(:session AS text), t.session_id)
    ),
    {build_matching_ctes()},
    ranked AS MATERIALIZED (
        SELECT id, max(talk) AS talk, sum(rank) AS rank, max(said_at) AS said_at
        FROM (
            SELECT id, talk, CAST(0 AS float8) AS rank, valid_from AS said_at FROM live
            UNION ALL
            SELECT id, NULL, rank, NULL FROM matching
        ) AS parts
        GROUP BY id
    ),
    best AS MATERIALIZED (
        SELECT id, score
        FROM (
            SELECT id, said_at, rank + {_NEIGHBOURS_WEIGHT} * (
                coalesce(lag(rank) OVER in_order, 0) + coalesce(lead(rank) OVER in_order, 0)
            ) AS score
            FROM ranked
            WINDOW in_order AS (PARTITION BY talk ORDER BY said_at, id)
        ) AS beside
        WHERE score > 0
        ORDER BY score DESC, said_at DESC
        LIMIT greatest(:limit, {COMPETING})
    )
    SELECT {MOMENT_COLUMNS}, hit.*
    FROM moment
    LEFT JOIN ({bound_page(_PAGE, _FOUND_FIRST, "octet_length(page.content)")}) AS hit ON true
    ORDER BY {_FOUND_FIRST}
"""


async def search_turns(
    connection: AsyncConnection,
    agent: AgentId,
    text: str,
    point: Point,
    *,
    language: str,
    session_id: str | None,
    limit: int,
    max_bytes: int,
    is_unread: bool = False,
) -> list[FoundTurn]:
    """Return the messages that share words with the text, or stand beside one that does.

    The best come first. They were said at the point, and known then. If it `is_unread`, no fact was
    read from them.
    """
    values = {
        "query": text,
        "language": language,
        "session": session_id,
        "limit": limit,
        "max_bytes": max_bytes,
        "unread": is_unread,
    }
    _, rows = await run_read(connection, _SEARCH, agent, point, values)
    return list(map(_turn_from_row, rows))


def _turn_from_row(row: Mapping[str, Any]) -> FoundTurn:
    values = {name: row[name] for name in FoundTurn.__dataclass_fields__}
    return FoundTurn(**values | {"role": Role(row["role"])})
