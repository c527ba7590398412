"""The line of a memory: its chain, and the versions of other chains that came before or after it.

A version may be superseded by one of another chain: by an accepted review, by a sweep, by the id of
its successor, in a merge, or because one fact supersedes several. There the line goes on in the
chain of the successor, from that version on. Backwards it goes on in the chain of what was
superseded, up to that version. It does not turn: what else a successor superseded stands in the
line of the successor alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.version import Moment
from app.store.fragments import (
    HOLDS,
    MOMENT,
    MOMENT_COLUMNS,
    build_latest_source,
    build_once_in_chain,
    build_past_source,
)
from app.store.memories import Point, run_read

# A line goes on in so many other chains, in each direction.
MOST_JOINTS = 10_000

_NEXT_CHAIN = "eb.chain_id, eb.valid_from, eb.asserted_at"


def _build_statement(point: Point) -> str:
    """Return the statement that reads the versions of a line, as known at the point.

    `later` and `earlier` are the chains that the line reaches, each with the place of the version
    `e` at which the line enters it. The memory's own chain belongs to the line as a whole.
    """
    build_source = build_latest_source if point.known_at is None else build_past_source
    version, entry = build_source("m", "b"), build_source("e", "eb")
    once_in_chain = build_once_in_chain("w.chain_id")
    in_chain = "m.agent_id = :agent AND m.id = stood.id AND b.chain_id = w.chain_id"
    since = "(b.valid_from, b.asserted_at) >= (w.valid_from, w.asserted_at)"
    until = "(b.valid_from, b.asserted_at) <= (w.valid_from, w.asserted_at)"
    return f"""
        WITH RECURSIVE {MOMENT},
        own AS MATERIALIZED (
            SELECT b.chain_id FROM {version} WHERE m.agent_id = :agent AND m.id = :id
        ),
        later (chain_id, valid_from, asserted_at) AS (
            SELECT chain_id, timestamptz '-infinity', timestamptz '-infinity' FROM own
            UNION
            SELECT {_NEXT_CHAIN}
            FROM later w
            CROSS JOIN LATERAL ({once_in_chain}) AS stood (id)
            CROSS JOIN {version}
            CROSS JOIN {entry}
            WHERE {in_chain} AND {since}
                AND e.agent_id = :agent AND e.id = b.superseded_by AND eb.chain_id <> w.chain_id
        ),
        earlier (chain_id, valid_from, asserted_at) AS (
            SELECT chain_id, timestamptz 'infinity', timestamptz 'infinity' FROM own
            UNION
            SELECT {_NEXT_CHAIN}
            FROM earlier w
            CROSS JOIN LATERAL ({once_in_chain}) AS stood (id)
            CROSS JOIN {version}
            CROSS JOIN LATERAL (
                SELECT y.id FROM memories y WHERE y.agent_id = :agent AND y.superseded_by = m.id
                UNION ALL
                SELECT x.memory_id FROM memory_beliefs x
                WHERE x.agent_id = :agent AND x.superseded_by = m.id
            ) AS ended (id)
            CROSS JOIN {entry}
            WHERE {in_chain} AND {until}
                AND e.agent_id = :agent AND e.id = ended.id
                AND eb.superseded_by = m.id AND eb.chain_id <> w.chain_id
        ),
        walked AS (
            (SELECT *, true AS follows FROM later LIMIT {MOST_JOINTS + 1})
            UNION ALL
            (SELECT *, false FROM earlier LIMIT {MOST_JOINTS + 1})
        )
        SELECT {MOMENT_COLUMNS}, version.*
        FROM moment LEFT JOIN (
            SELECT m.id, m.created_at, b.chain_id, b.valid_from, b.asserted_at,
                   b.chain_id = (SELECT chain_id FROM own) AS is_own,
                   bool_or(w.follows) AND {HOLDS} AND m.erased_at IS NULL AS may_be_current
            FROM walked w
            CROSS JOIN LATERAL ({once_in_chain}) AS stood (id)
            CROSS JOIN {version}
            WHERE {in_chain} AND CASE WHEN w.follows THEN {since} ELSE {until} END
            GROUP BY m.id, m.created_at, m.erased_at, b.chain_id, b.valid_from, b.valid_until,
                     b.covered, b.asserted_at
        ) AS version ON true
        ORDER BY valid_from, asserted_at, id
    """


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A version in a line, by its place in the order of the line."""

    valid_from: datetime
    asserted_at: datetime
    memory_id: UUID


@dataclass(frozen=True, slots=True)
class Line:
    """A line, in the order of starts.

    `chain_id` is the memory's own chain, `chains` has the chain of each version. `since` is the
    known time of the version that became known first. `current` is the version that holds: the one
    of the own chain, else one that came after it.
    """

    chain_id: UUID
    places: Sequence[Place]
    chains: Mapping[UUID, UUID]
    since: datetime
    current: UUID | None


async def find_line(
    connection: AsyncConnection, agent: AgentId, memory_id: UUID, point: Point
) -> tuple[Moment, Line | None]:
    """Return the line of a memory; None if the memory was not known at the point."""
    statement = _build_statement(point)
    moment, rows = await run_read(connection, statement, agent, point, {"id": memory_id})
    if not rows:
        return moment, None
    own = [row for row in rows if row["is_own"]]
    candidates = [row for row in rows if row["may_be_current"]]
    # The rows are in order. Of several that hold after the own chain, the last to begin counts.
    current = max(reversed(candidates), key=lambda row: row["is_own"], default=None)
    line = Line(
        chain_id=own[0]["chain_id"],
        places=[Place(row["valid_from"], row["asserted_at"], row["id"]) for row in rows],
        chains={row["id"]: row["chain_id"] for row in rows},
        since=min(row["created_at"] for row in rows),
        current=current["id"] if current else None,
    )
    return moment, line
