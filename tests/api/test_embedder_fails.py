"""What callers see when the embedding endpoint fails: 503, nothing written, and everything as before once it is back."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from app.settings import load_settings
from support import scripted_model
from support.builders import problem, store
from support.scripted_model import Answer, ScriptedModel, Step, fails
from support.scripted_vectors import answers, embeds
from support.service import running
from support.transfers import NDJSON

TABLES = (
    "agents",
    "memories",
    "memory_beliefs",
    "memory_usage",
    "consolidation_log",
    "memory_relationships",
    "reviews",
)


@dataclass
class World:
    """A service over a database of its own, and the embedding server that it asks."""

    client: httpx.Client
    server: ScriptedModel
    database: str

    def rows(self) -> dict[str, int]:
        with psycopg.connect(self.database) as connection:
            return {
                table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                for table in TABLES
            }  # type: ignore[index]

    def busy_connections(self) -> int:
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'"
        with psycopg.connect(self.database) as connection:
            row = connection.execute(query).fetchone()
        assert row is not None
        return int(row[0])


@pytest.fixture
def world(database_url: str) -> Iterator[World]:
    with ScriptedModel(embeds(8)) as server:
        settings = load_settings(
            database_url=database_url,
            pool_size=1,
            pool_timeout=5,
            embedding_base_url=server.url,
            embedding_model="scripted",
            embedding_dimensions=8,
            embedding_read_timeout=0.5,
            embedding_total_timeout=2,
            embedding_tries=2,
        )
        with running(settings) as address, httpx.Client(base_url=address, timeout=30) as client:
            yield World(client, server, database_url)


FAILURES: list[Step] = [
    fails(429),
    fails(500),
    fails(401),
    scripted_model.SILENCE,
    scripted_model.RESET,
    Answer(b"x" * scripted_model.TEN_MEGABYTES),
    answers([[1.0, 0.0]]),
    answers([[float("nan")] * 8]),
    answers([[0.0] * 8]),
    answers([]),
]

WRITES: list[tuple[str, dict[str, Any]]] = [
    ("/v1/memories", {"json": {"content": "Has a cat"}}),
    (
        "/v1/memories/batch",
        {"json": {"items": [{"content": "Has a cat"}, {"content": "Has a fish"}]}},
    ),
    ("/v1/memories/{id}/supersede", {"json": {"content": "Has a cat"}}),
    (
        "/v1/import",
        {"headers": NDJSON, "content": '{"content": "Has a cat"}\n{"content": "Has a fish"}'},
    ),
]


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failing_embedder_is_told_with_a_time_to_come_back_and_nothing_is_written(
    world: World, failure: Step
) -> None:
    memory_id = store(world.client)["memory"]["id"]
    before = world.rows()
    world.server.then(failure)
    for path, sent in WRITES:
        response = world.client.post(path.format(id=memory_id), **sent)
        told = problem(response, 503)
        assert told["type"] == "urn:palimpsest:problem:embedder-unavailable"
        assert "Nothing was written" in told["detail"]
        assert int(response.headers["Retry-After"]) >= 1
    assert world.rows() == before
    world.server.then(embeds(8))
    for path, sent in WRITES:
        assert world.client.post(path.format(id=memory_id), **sent).is_success
    assert world.rows()["memories"] > before["memories"]


def test_retry_after_of_the_endpoint_reaches_the_caller(world: World) -> None:
    world.server.then(fails(429, retry_after="77"))
    response = world.client.post("/v1/memories", json={"content": "Has a cat"})
    assert (response.status_code, response.headers["Retry-After"]) == (503, "77")


def test_words_are_searched_without_the_embedder_and_vectors_are_not(world: World) -> None:
    store(world.client, "Has a dog")
    world.server.then(fails(500))
    for mode in ("hybrid", "vector"):
        problem(world.client.post("/v1/search", json={"query": "dog", "mode": mode}), 503)
        problem(world.client.get("/v1/search", params={"q": "dog", "mode": mode}), 503)
    found = world.client.post("/v1/search", json={"query": "dog", "mode": "text"}).json()["results"]
    assert [result["memory"]["content"] for result in found] == ["Has a dog"]
    assert world.client.get("/readyz").is_success


def test_one_batch_of_many_texts_that_fails_fails_them_all(world: World) -> None:
    world.server.then(
        lambda request: fails(500) if "Fact 70" in request.json["input"] else embeds(8)(request)
    )
    items = [{"content": f"Fact {number}"} for number in range(100)]
    problem(world.client.post("/v1/memories/batch", json={"items": items}), 503)
    assert world.rows()["memories"] == 0


def test_no_connection_is_held_while_the_endpoint_is_slow(world: World) -> None:
    store(world.client)
    entered = threading.Event()

    def slow(request: scripted_model.Request) -> Answer:
        entered.set()
        return Answer(embeds(8)(request).body, delay=0.4)

    for path, sent in [*WRITES, ("/v1/search", {"json": {"query": "pets"}})]:
        memory_id = store(world.client, f"Before {path}")["memory"]["id"]
        world.server.then(slow)
        entered.clear()
        replies: list[httpx.Response] = []
        caller = threading.Thread(
            target=lambda p=path, i=memory_id, s=sent, r=replies: r.append(
                world.client.post(p.format(id=i), **s)
            )
        )
        caller.start()
        assert entered.wait(5)
        assert world.busy_connections() == 0
        assert httpx.get(f"{world.client.base_url}/v1/memories").status_code == 200, (
            "the only connection of the pool is free"
        )
        caller.join(20)
        assert replies[0].is_success, replies[0].text
        world.server.then(embeds(8))


@pytest.mark.parametrize("dimensions", [1_536, 3_072])
def test_large_vectors_are_stored_whatever_else_a_memory_carries(
    database_url: str, dimensions: int
) -> None:
    words = [f"{number}-{'x' * 90}" for number in range(20)]
    heavy = {
        "details": {str(number): f"{number} value" for number in range(300)},
        "tags": words,
        "entities": words,
        "sources": words,
        "entity": "e" * 150,
        "category": "c" * 150,
        "key": "k" * 150,
        "session_id": "s" * 100,
    }
    with ScriptedModel(embeds(dimensions)) as server:
        settings = load_settings(
            database_url=database_url,
            embedding_base_url=server.url,
            embedding_model="large",
            embedding_dimensions=dimensions,
        )
        with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
            long = " ".join(uuid4().hex for _ in range(400))
            store(client, "A heavy one " + long, value="v" * 150, **heavy)
            store(client, "A heavier one " + long, value="w" * 150, **heavy)
            found = client.post("/v1/search", json={"query": "A heavier one", "limit": 2}).json()[
                "results"
            ]
            assert len(found) == 1
            everything = client.post(
                "/v1/search", json={"query": "A heavy one", "limit": 5, "include_superseded": True}
            ).json()["results"]
            assert len(everything) == 2
    with psycopg.connect(database_url) as connection:
        storage = connection.execute(
            "SELECT attstorage FROM pg_attribute WHERE attrelid = 'memories'::regclass AND attname = 'embedding'"
        )
        assert storage.fetchone() == ("p" if dimensions <= 1536 else "e",)
        sizes = connection.execute(
            "SELECT DISTINCT vector_dims(embedding) FROM memories"
        ).fetchall()
        assert sizes == [(dimensions,)]
