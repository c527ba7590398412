"""The strength that SQL sorts by is the one that answers carry."""

import asyncio
import random
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from app.domain.fact import Kind, StoredFact, Tier
from app.domain.strength import MAX_REINFORCEMENTS, HalfLives, compute_strength
from app.domain.version import Belief, Memory, Usage
from app.store.engine import Patience, begin_as_operator, create_engine, fetch_rows
from app.store.strength import STRENGTH, half_life_values

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
HALF_LIVES = HalfLives(
    semantic={
        Kind.FACT: 1.5,
        Kind.PREFERENCE: 90.0,
        Kind.DECISION: 0.001,
        Kind.CONSTRAINT: 36_500.0,
    },
    core={Kind.FACT: 300.0, Kind.PREFERENCE: 1.0, Kind.DECISION: 45.5, Kind.CONSTRAINT: 0.01},
)

# Rows of an array each, in the places where a read has a memory, its belief and its counters.
_STRENGTHS = f"""
    WITH moment AS (SELECT CAST(:as_of AS timestamptz) AS as_of),
    given AS (
        SELECT * FROM unnest(
            CAST(:kinds AS text[]), CAST(:tiers AS text[]), CAST(:importances AS float8[]), CAST(:created AS timestamptz[]),
            CAST(:starts AS timestamptz[]), CAST(:counts AS bigint[]), CAST(:reinforced AS timestamptz[]),
            CAST(:uses AS bigint[]), CAST(:used AS timestamptz[])
        ) WITH ORDINALITY
        AS g(kind, tier, importance, created_at, valid_from, access_count, last_reinforced_at, use_count, last_accessed_at, place)
    )
    SELECT {STRENGTH} AS strength FROM given AS m CROSS JOIN LATERAL (SELECT m.tier, m.valid_from) AS b
    CROSS JOIN LATERAL (SELECT m.access_count, m.last_reinforced_at, m.use_count, m.last_accessed_at) AS u ORDER BY m.place
"""


def anything(chance: random.Random) -> Memory:
    """A memory of any age, the ages and numbers at the edges more often than others."""

    def some_time() -> datetime:
        return NOW - timedelta(
            days=chance.choice(
                [0.0, -400.0, 700_000.0, chance.uniform(-30, 30), chance.uniform(0, 4000)]
            )
        )

    counts = [chance.choice([0, 0, 1, 7, MAX_REINFORCEMENTS, 10**12]) for _ in range(2)]
    repetitions, uses = ((count, some_time() if count else None) for count in counts)
    usage = Usage(*repetitions, *uses)
    fact = StoredFact(
        "x",
        kind=chance.choice(list(Kind)),
        importance=chance.choice([0.0, 5e-324, 1.0, chance.random()]),
    )
    belief = Belief(uuid4(), some_time(), NOW, tier=chance.choice(list(Tier)))
    return Memory(uuid4(), fact, belief, some_time(), 1, None, usage)


def test_sql_and_python_agree(database_url: str) -> None:
    chance = random.Random(20260105)
    memories = [anything(chance) for _ in range(5000)]
    given = {
        "as_of": NOW,
        "kinds": [m.fact.kind for m in memories],
        "tiers": [m.belief.tier for m in memories],
        "importances": [m.fact.importance for m in memories],
        "created": [m.created_at for m in memories],
        "starts": [m.belief.valid_from for m in memories],
        "counts": [m.usage.access_count or None for m in memories],
        "reinforced": [m.usage.last_reinforced_at for m in memories],
        "uses": [m.usage.use_count or None for m in memories],
        "used": [m.usage.last_accessed_at for m in memories],
    }
    found = asyncio.run(ask(database_url, _STRENGTHS, given | half_life_values(HALF_LIVES)))
    expected = [compute_strength(m, NOW, HALF_LIVES) for m in memories]
    assert [row["strength"] for row in found] == pytest.approx(expected, rel=1e-9, abs=0)
    assert len({round(value, 6) for value in expected}) > 500


async def ask(url: str, statement: str, given: dict[str, object]) -> list[dict[str, float]]:
    engine = create_engine(url, pool_size=1, patience=Patience())
    async with begin_as_operator(engine) as connection:
        rows = await fetch_rows(connection, statement, given)
    await engine.dispose()
    return rows
