"""Whether vector search finds what a scan of everything finds, in every agent."""

import json
from typing import Any

import numpy as np
import psycopg
from pgvector.psycopg import register_vector

from bench.client import Client
from bench.figures import Report
from bench.servers import SERVICE_WITHOUT_ENCODER, serving
from bench.vectors import KnownVectors, Vectors
from bench.world import World, asked_texts, known_texts

LIMIT = 10
_ROUNDING = 1e-6  # two memories this close in similarity are equally good answers


def measure(report: Report, world: World, *, queries: int) -> None:
    asked = asked_texts()[:queries]
    vectors = KnownVectors(known_texts()).look_up(asked)
    rows: list[int] = []
    recalls: list[float] = []
    with (
        serving(SERVICE_WITHOUT_ENCODER, PALIMPSEST_DATABASE_URL=world.url) as port,
        psycopg.connect(world.url) as connection,
    ):
        register_vector(connection)
        for agent in world.others:
            stored = _stored(connection, agent)
            client = Client(port, agent)
            for query, vector in zip(asked, vectors, strict=True):
                found = json.loads(
                    client.post("/v1/search", {"query": query, "mode": "vector", "limit": LIMIT})
                )["results"]
                rows.append(len(found))
                recalls.append(
                    _recall([result["memory"]["id"] for result in found], vector, stored)
                )
            client.close()
    report.section(
        "Rows and recall",
        f"Mode vector, limit {LIMIT}, {queries} queries in each of {len(world.others)} agents, against a scan in numpy.",
        ["searches", "fewest rows", "recall@10, mean", "recall@10, worst"],
        [[f"{len(rows):,}", str(min(rows)), f"{np.mean(recalls):.4f}", f"{min(recalls):.4f}"]],
    )


def _stored(connection: psycopg.Connection[Any], agent: str) -> dict[str, Vectors]:
    rows = connection.execute(
        "SELECT id::text, embedding FROM memories WHERE agent_id = %s", [agent]
    ).fetchall()
    return {memory_id: vector.to_numpy() for memory_id, vector in rows}


def _recall(found: list[str], vector: Vectors, stored: dict[str, Vectors]) -> float:
    """The share of the best ten that came back; of equals at the end any will do."""
    similarities = np.stack(list(stored.values())) @ vector
    tenth = np.sort(similarities)[-LIMIT]
    return (
        sum(bool(stored[memory_id] @ vector >= tenth - _ROUNDING) for memory_id in set(found))
        / LIMIT
    )
