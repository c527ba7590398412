"""`python -m bench.scale [--sizes 1000 10000 100000]`: how calls grow with the agent, what its index misses and what it costs writers.

Agents of all sizes are in one database and are called in turns. The memories of the larger ones are
mixtures of two real sentences each, words and vectors.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from statistics import mean, median
from typing import Any
from uuid import uuid4

import numpy as np
import psycopg

from app.domain.agent import AgentId
from app.domain.strength import HalfLives
from app.services.agent_indexes import AgentIndexKeeper
from app.settings import load_settings
from app.store.engine import Patience, create_engine
from bench.client import Client
from bench.figures import p95
from bench.servers import SERVICE_WITHOUT_ENCODER, serving
from bench.world import POOL, World, asked_texts, database, fresh_texts

INDEXED_FROM = 20_000
CLOSED = 1_000
MODES = ("hybrid", "vector", "text")

# Mix the pool's sentences: each memory has the words and the vector of two of them.
_MIX = """
    INSERT INTO memories (agent_id, {columns})
    SELECT :agent, {values}
    FROM generate_series(CAST(0 AS bigint), :count - 1) AS n
    JOIN mixed AS a ON a.place = n * 7919 % :pool
    JOIN mixed AS b ON b.place = (n * 104729 + n / :pool) % :pool
    CROSS JOIN LATERAL (
        SELECT gen_random_uuid() AS id, a.content || ' ' || b.content AS content
    ) AS made
"""
_MADE = {
    "id": "made.id",
    "chain_id": "made.id",
    "content": "made.content",
    "embedding": "l2_normalize(a.embedding + a.embedding + b.embedding)",
    "content_hash": "sha256(convert_to(made.content, 'utf8'))",
    "fuzzy_hash": "sha256(convert_to(made.content, 'utf8'))",
    "created_at": "timestamptz '2024-01-01' + n * interval '1 second'",
    "valid_from": "timestamptz '2024-01-01' + n * interval '1 second'",
    "asserted_at": "timestamptz '2024-01-01' + n * interval '1 second'",
    "known_from": "timestamptz '2024-01-01' + n * interval '1 second'",
    "said_at": "NULL",
    "kind": "CASE n %% 10 WHEN 0 THEN 'preference' ELSE 'fact' END",
    "category": "'category ' || n %% 3",
    "slot_category": "'category ' || n %% 3",
    "tags": "ARRAY['of half ' || n %% 2, 'of a hundredth ' || n %% 100]",
    "project": "'project ' || n %% 5",
    "session_id": "'session ' || n / 1000",
    "importance": "CASE n %% 1000 WHEN 0 THEN 0.9 ELSE 0.5 END",
}
# The filters of searches, by the share of the memories that pass them.
FILTERS: dict[str, dict[str, Any]] = {
    "by a tag of a half": {"tags_any": ["of half 1"]},
    "by a category of a third": {"category": "category 1"},
    "by a project of a fifth": {"project": "project 1"},
    "by a kind of a tenth": {"kind": "preference"},
    "by two tags of a hundredth": {"tags_all": ["of half 1", "of a hundredth 1"]},
    "by an importance of a thousandth": {"min_importance": 0.8},
    "by a session of 1,000": {"session_id": "session 1"},
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--questions", type=int, default=100, help="for recall")
    arguments = parser.parse_args()
    with database() as url:
        agents = {size: f"of-{size}" for size in arguments.sizes}
        for size, agent in agents.items():
            grow(url, agent, size)
            if size >= INDEXED_FROM:
                seconds = build_index(url, agent)
                print(f"{size:,}: an index in {seconds:.0f} s", flush=True)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
            connection.execute("CHECKPOINT")
        with _serve(url) as port:
            _print_times(port, agents, arguments.rounds)
            for size, agent in agents.items():
                if size >= INDEXED_FROM:
                    _print_recall(port, agent, size, arguments.questions)
        _print_closing(url, agents)


def grow(url: str, agent: str, count: int) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        names = [
            name
            for (name,) in connection.execute(
                "SELECT attname FROM pg_attribute WHERE attrelid = 'memories'::regclass"
                " AND attnum > 1 AND NOT attisdropped AND attgenerated = ''"
            )
        ]
        statement = _MIX.format(
            columns=", ".join(names), values=", ".join(_MADE.get(n, f"a.{n}") for n in names)
        )
        for name, value in (("agent", "%(agent)s"), ("count", "%(count)s"), ("pool", "%(pool)s")):
            statement = statement.replace(f":{name}", value)
        connection.execute(
            "INSERT INTO agents SELECT %s, created_at, now() FROM agents WHERE agent_id = %s",
            [agent, World.LARGE],
        )
        connection.execute("CREATE TEMP TABLE mixed AS SELECT row_number() OVER () - 1 AS place, m.*"
            " FROM memories m WHERE agent_id = %s", [World.LARGE])  # fmt: skip
        connection.execute("CREATE INDEX ON mixed (place)")
        connection.execute("ANALYZE mixed")
        values = {"agent": agent, "count": count, "pool": POOL}
        connection.execute(statement.replace("% %(pool)s", "%% %(pool)s"), values)


def build_index(url: str, agent: str) -> float:
    """Build the agent's index as the worker does, and return the seconds that it took."""

    async def build() -> None:
        engine = create_engine(url, pool_size=3, patience=Patience())
        settings = load_settings()
        half_lives = HalfLives(settings.half_life_days_semantic, settings.half_life_days_core)
        keeper = AgentIndexKeeper(engine, half_lives, from_live=1, most=9, memory="2GB")
        await keeper.build_index(AgentId(agent))
        await engine.dispose()

    started = time.perf_counter()
    asyncio.run(build())
    return time.perf_counter() - started


@contextmanager
def _serve(url: str) -> Iterator[int]:
    with serving(SERVICE_WITHOUT_ENCODER, PALIMPSEST_DATABASE_URL=url) as port:
        yield port


# --- times -----------------------------------------------------------------------------------------

_Call = Callable[[Client, int], bytes]


def _list_calls() -> dict[str, _Call]:
    asked, fresh = asked_texts(), cycle(fresh_texts())

    def search(mode: str, **more: Any) -> _Call:
        return lambda client, number: client.prepare(
            "/v1/search", {"query": asked[number % len(asked)], "mode": mode, "limit": 10, **more}
        )

    calls = {f"search, {mode}": search(mode) for mode in MODES}
    # A memory begins and becomes known each second.
    calls["search, as of 100 memories"] = search("hybrid", as_of="2024-01-01T00:01:40Z")
    calls["search, known at 100 memories"] = search("hybrid", known_at="2024-01-01T00:01:40Z")
    calls["store"] = lambda client, number: client.prepare(
        "/v1/memories", {"content": next(fresh), "session_id": uuid4().hex}
    )
    calls["context"] = lambda client, number: client.asking("/v1/context")
    addresses = {
        "list of 100": "/v1/memories?limit=100",
        "list by strength": "/v1/memories?sort=strength&limit=100",
        "list that nothing passes": "/v1/memories?tags_any=nothing",
        "insights": "/v1/insights",
    }

    def read(address: str) -> _Call:
        return lambda client, _: client.asking(address)

    return calls | {name: read(address) for name, address in addresses.items()}


def _print_times(port: int, agents: dict[int, str], rounds: int) -> None:
    print("| call | " + " | ".join(f"{size:,}" for size in agents) + " | ratios | exponent |")
    print("| --- " * (len(agents) + 3) + "|")
    clients = {size: Client(port, agent) for size, agent in agents.items()}
    calls = _list_calls()
    calls["stats"] = lambda client, number: b""
    for name, prepare in calls.items():
        taken: dict[int, list[float]] = {size: [] for size in agents}
        for number in range(rounds + 5):
            for size, client in clients.items():
                request = prepare(client, number)
                if name == "stats":
                    request = client.asking(f"/v1/agents/{agents[size]}/stats")
                seconds, _ = client.timed(request)
                if number >= 5:
                    taken[size].append(seconds)
        _print_row(name, taken)


def _print_row(name: str, taken: dict[int, list[float]]) -> None:
    medians = {size: median(seconds) for size, seconds in taken.items()}
    least = medians[min(medians)]
    times = [f"{medians[size] * 1e3:.1f} ({p95(taken[size]) * 1e3:.1f})" for size in taken]
    ratios = ", ".join(f"{value / least:.2f}" for value in medians.values())
    exponent = 0.0
    if len(medians) > 1:
        exponent = float(np.polyfit(np.log(list(medians)), np.log(list(medians.values())), 1)[0])
    print(f"| {name} | {' | '.join(times)} | {ratios} | {exponent:.2f} |", flush=True)


# --- recall ----------------------------------------------------------------------------------------


def _print_recall(port: int, agent: str, size: int, questions: int) -> None:
    half = {"as_of": f"{np.datetime64('2024-01-01T00:00:00') + np.timedelta64(size // 2, 's')}Z"}
    print(f"\n{size:,}: share of the exact ten best scores; mean, least, results that came back")
    client = Client(port, agent)
    asked: dict[str, dict[str, Any]] = {"now": {}, "as of the first half": half, **FILTERS}
    for mode in MODES:
        for name, more in asked.items():
            shares, fewest = _compare(client, mode, more, asked_texts()[:questions])
            print(f"- {mode}, {name}: {mean(shares):.4f}, {min(shares):.2f}, {fewest}", flush=True)
    client.close()


def _compare(
    client: Client, mode: str, more: dict[str, Any], questions: Sequence[str]
) -> tuple[list[float], int]:
    """Return the share of the ten best scores that the index found for each question."""
    shares, fewest = [], 10
    for question in questions:
        body = {"query": question, "mode": mode, "limit": 10, **more}
        near = json.loads(client.post("/v1/search", body))
        exact = json.loads(client.post("/v1/search", {**body, "exact": True}))
        near_scores, exact_scores = (
            [result["score"] for result in answer["results"]] for answer in (near, exact)
        )
        fewest = min(fewest, len(near_scores))
        found = sum(
            one >= other - 1e-6 for one, other in zip(near_scores, exact_scores, strict=True)
        )
        shares.append(found / len(exact_scores) if exact_scores else 1.0)
    return shares, fewest


# --- writes under the index ------------------------------------------------------------------------


def _print_closing(url: str, agents: dict[int, str]) -> None:
    """Retract memories of the smallest agent with an index, and of one as large without, in turns."""
    large = [size for size in agents if size >= INDEXED_FROM]
    if not large:
        return
    size = min(large)
    compared = {"with": agents[size], "without": "without-index"}
    grow(url, compared["without"], size)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        ids = {name: _choose_memories(connection, agent) for name, agent in compared.items()}
    taken: dict[str, list[float]] = {name: [] for name in compared}
    with _serve(url) as port:
        clients = {name: Client(port, agent) for name, agent in compared.items()}
        for number in range(CLOSED):
            for name, client in clients.items():
                request = client.prepare(f"/v1/memories/{ids[name][number]}/retract", {})
                taken[name].append(client.timed(request)[0])
    indexed, plain = taken["with"], taken["without"]
    print(
        f"\n{CLOSED:,} versions closed one by one at {size:,}: {sum(indexed):.1f} s with an index, "
        f"{sum(plain):.1f} without, {sum(indexed) / sum(plain):.2f} times; "
        f"p95 {p95(indexed) / p95(plain):.2f} times"
    )


def _choose_memories(connection: psycopg.Connection[tuple[Any, ...]], agent: str) -> list[str]:
    rows = connection.execute(
        "SELECT id FROM memories WHERE agent_id = %s ORDER BY id LIMIT %s", [agent, CLOSED]
    )
    return [str(memory_id) for (memory_id,) in rows]


if __name__ == "__main__":
    main()
