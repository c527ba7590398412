"""`palimpsest reembed`: the model of a database changes under running services, through kills, and nobody compares two models' vectors."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import numpy as np
import psycopg
import pytest

from app.api.schemas.fields import MAX_LIMIT
from app.services import reembed as service
from app.services.reembed import Reembedder, ReembedStopped
from app.settings import Settings, load_settings
from app.store import chains, schema
from app.store import reembed as reembed_store
from app.store.engine import Patience, begin_as_owner, create_engine
from support.builders import problem, store
from support.databases import fresh_database
from support.scripted_model import Answer, Request, ScriptedModel, fails
from support.scripted_vectors import embeds, vector_of
from support.service import running
from support.transfers import NDJSON

TEXTS = [
    f"Note {number} about {'tea coffee rain snow'.split()[number % 4]} in room {number % 7}"
    for number in range(40)
]


class Scripted:
    """An encoder in this process; waits for `gate` where one is given."""

    def __init__(self, name: str, dimensions: int, gate: threading.Event | None = None) -> None:
        self.name = name
        self.dimensions = dimensions
        self.gate = gate
        self.encoded = 0

    async def encode(self, texts: Any) -> Any:
        while self.gate and not self.gate.is_set():  # noqa: ASYNC110 - the flag is set by another thread
            await asyncio.sleep(0.005)
        self.encoded += len(texts)
        rows = np.array([vector_of(text, self.dimensions, self.name) for text in texts])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def reembed(url: str, embedder: Scripted, **more: Any) -> bool:
    async def run() -> bool:
        engine = create_engine(url, pool_size=3, patience=Patience())
        try:
            return await Reembedder(engine, embedder).run(
                more.get("report", lambda done, total: None)
            )
        finally:
            await engine.dispose()

    return asyncio.run(run())


@contextmanager
def client_of(url: str, embedder: Scripted) -> Iterator[httpx.Client]:
    with (
        running(load_settings(database_url=url), embedder) as address,
        httpx.Client(base_url=address, timeout=30) as client,
    ):
        yield client


def fill(client: httpx.Client, texts: list[str] = TEXTS, agents: int = 3) -> None:
    for agent in range(agents):
        items = [{"content": text, "classify": "off"} for text in texts[agent::agents]]
        response = client.post(
            "/v1/memories/batch", json={"items": items}, headers={"X-Agent-Id": f"agent-{agent}"}
        )
        assert [result["operation"] for result in response.json()["results"]] == ["ADD"] * len(
            items
        )


def found(
    client: httpx.Client, query: str, agent: str, mode: str = "hybrid"
) -> list[tuple[str, float]]:
    response = client.post(
        "/v1/search",
        json={"query": query, "limit": MAX_LIMIT, "mode": mode},
        headers={"X-Agent-Id": agent},
    )
    assert response.status_code == 200, response.text
    return [
        (result["memory"]["content"], round(result["scores"].get("vector", result["score"]), 5))
        for result in response.json()["results"]
    ]


def ranking(client: httpx.Client) -> list[list[tuple[str, float]]]:
    """What searches find: the same texts in another database must be found the same way."""
    asked = [(query, f"agent-{agent}") for query in ("tea in room 3", "snow") for agent in range(3)]
    return [sorted(found(client, query, agent, "vector")) for query, agent in asked]


def one(url: str, query: str) -> Any:
    with psycopg.connect(url) as connection:
        row = connection.execute(query).fetchone()
    assert row is not None
    return row[0] if len(row) == 1 else row


def test_searches_afterwards_are_those_of_a_fresh_database(
    database_url: str, server_url: str, template_url: str
) -> None:
    old, new = Scripted("old", 8), Scripted("new", 12)
    with client_of(database_url, old) as client:
        fill(client)
    assert reembed(database_url, new)
    name = psycopg.conninfo.conninfo_to_dict(template_url)["dbname"]
    with fresh_database(server_url, template=str(name)) as fresh_url:
        with client_of(fresh_url, new) as client:
            fill(client)
            expected = ranking(client)
        with client_of(database_url, new) as client:
            assert ranking(client) == expected
            assert expected[0] != expected[1]
            store(client, "And stores go on")
    assert one(
        database_url, "SELECT name, dimensions, next_name, next_dimensions FROM encoder"
    ) == ("new", 12, None, None)
    assert (
        one(
            database_url,
            "SELECT count(*) FROM memories WHERE vector_dims(embedding) <> 12 OR embedding_next IS NOT NULL",
        )
        == 0
    )
    assert (
        one(database_url, "SELECT count(*) FROM pg_indexes WHERE indexname = 'memories_waiting'")
        == 0
    )


def test_reads_and_stores_go_on_meanwhile_and_what_is_stored_meanwhile_is_not_forgotten(
    database_url: str,
) -> None:
    old, new = Scripted("old", 8), Scripted("new", 8, threading.Event())
    assert new.gate is not None
    with client_of(database_url, old) as client:
        fill(client)
        before = ranking(client)
        changing = threading.Thread(target=reembed, args=(database_url, new))
        changing.start()
        while one(database_url, "SELECT next_name FROM encoder") != "new":
            time.sleep(0.01)
        assert ranking(client) == before
        kept = store(client, "Stored meanwhile")["memory"]["id"]
        amended = client.patch(f"/v1/memories/{kept}", json={"tags": ["later"]})
        assert amended.is_success
        new.gate.set()
        stored, refused = _store_until_refused(client)
        changing.join(30)
        assert stored >= 1 or refused
    with client_of(database_url, new) as client:
        assert ("Stored meanwhile", 1.0) in found(client, "Stored meanwhile", "default", "vector")
        assert len(found(client, "anything", "default", "vector")) == min(1 + stored, MAX_LIMIT)
    assert one(database_url, "SELECT count(*) FROM memories WHERE embedding IS NULL") == 0


def _store_until_refused(client: httpx.Client) -> tuple[int, bool]:
    """Stores as fast as it can until the model has changed; how many were taken."""
    for number in range(2_000):
        response = client.post(
            "/v1/memories", json={"content": f"Quick {number}", "classify": "off"}
        )
        if response.status_code == 503:
            assert response.json()["type"].endswith("embeddings-changed")
            return number, True
        assert response.status_code == 201, response.text
    raise AssertionError("the model never changed")


@pytest.mark.parametrize("dimensions", [8, 12])
def test_a_service_of_the_old_model_neither_writes_nor_compares_vectors_afterwards(
    database_url: str, dimensions: int
) -> None:
    old = Scripted("old", 8)
    with client_of(database_url, old) as client:
        fill(client)
        memory_id = store(client, "Has a dog")["memory"]["id"]
        found(client, "dog", "default")
        assert reembed(database_url, Scripted("new", dimensions))
        count = one(database_url, "SELECT count(*) FROM memories")
        refusals = [
            client.post("/v1/memories", json={"content": "Has a cat"}),
            client.post("/v1/memories", json={"content": "Has a cat", "classify": "off"}),
            client.post(
                "/v1/memories", json={"content": "Has a cat"}, headers={"X-Agent-Id": "nobody-yet"}
            ),
            client.post("/v1/memories/batch", json={"items": [{"content": "Has a cat"}]}),
            client.post(f"/v1/memories/{memory_id}/supersede", json={"content": "Has a cat"}),
            client.post("/v1/import", headers=NDJSON, content='{"content": "Has a cat"}'),
            client.post("/v1/search", json={"query": "dog"}),
            client.post("/v1/search", json={"query": "dog", "mode": "vector"}),
            client.get("/v1/search", params={"q": "dog"}, headers={"X-Agent-Id": "nobody-yet"}),
            client.get("/readyz"),
        ]
        for refusal in refusals:
            told = problem(refusal, 503)
            assert told["type"] == "urn:palimpsest:problem:embeddings-changed"
            assert "changed to new" in told["detail"]
            assert "Restart the service" in told["detail"]
            assert refusal.headers["Retry-After"]
        assert one(database_url, "SELECT count(*) FROM memories") == count
        assert [content for content, _ in found(client, "dog", "default", "text")] == ["Has a dog"]
        assert client.get(f"/v1/memories/{memory_id}").is_success
        assert client.post(f"/v1/memories/{memory_id}/retract", json={}).is_success


def test_a_write_under_way_is_waited_for_and_its_vector_is_made_too(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The race that would mix models: the check is passed, the model changes, the vector is written."""
    entered, go_on = threading.Event(), threading.Event()
    read_near_chains = chains.read_near_chains

    async def slowly(*given: Any, **named: Any) -> Any:
        entered.set()
        while not go_on.is_set():  # noqa: ASYNC110 - the flag is set by another thread
            await asyncio.sleep(0.005)
        return await read_near_chains(*given, **named)

    new = Scripted("new", 8)
    with client_of(database_url, Scripted("old", 8)) as client:
        store(client, "Has a dog")
        _break_off(database_url, new)
        monkeypatch.setattr(chains, "read_near_chains", slowly)
        storing = threading.Thread(target=store, args=(client, "Has a cat"))
        storing.start()
        assert entered.wait(10)
        changing = threading.Thread(target=reembed, args=(database_url, new))
        changing.start()
        assert _waits_or_changed(database_url) == "old"
        assert found(client, "dog", "default"), "reads go on while the change waits for the writer"
        go_on.set()
        storing.join(30)
        changing.join(30)
    assert one(database_url, "SELECT name FROM encoder") == "new"
    with client_of(database_url, new) as client:
        assert found(client, "Has a cat", "default", "vector")[0] == ("Has a cat", 1.0)


def _waits_or_changed(url: str) -> str:
    """The model of the database once somebody waits for a lock in it, or once it is not the old one any more."""
    for _ in range(1000):
        name, waiting = one(
            url,
            "SELECT (SELECT name FROM encoder), (SELECT count(*) FROM pg_locks WHERE NOT granted)",
        )
        if waiting or name != "old":
            return str(name)
        time.sleep(0.02)
    raise AssertionError("the change never came to its last step")


def test_the_same_model_again_changes_nothing(database_url: str) -> None:
    new = Scripted("new", 8)
    with client_of(database_url, new) as client:
        fill(client, TEXTS[:4])
    encoded = new.encoded
    assert not reembed(database_url, new)
    assert new.encoded == encoded


def test_a_change_that_was_begun_is_given_up_by_choosing_another_model(database_url: str) -> None:
    old = Scripted("old", 8)
    with client_of(database_url, old) as client:
        fill(client)
        before = ranking(client)
        _break_off(database_url, Scripted("tried", 1600))
        assert (
            one(database_url, "SELECT count(*) FROM memories WHERE embedding_next IS NOT NULL")
            == 10
        )
        assert not reembed(database_url, old)
        assert (
            one(database_url, "SELECT count(*) FROM memories WHERE embedding_next IS NOT NULL") == 0
        )
        assert one(database_url, "SELECT next_name FROM encoder") is None
        assert one(database_url, _STORAGE) == "p"
        assert ranking(client) == before
        _break_off(database_url, Scripted("tried", 1600))
        assert reembed(database_url, Scripted("other", 4))
        assert (
            one(database_url, "SELECT count(*) FROM memories WHERE vector_dims(embedding) <> 4")
            == 0
        )


_STORAGE = "SELECT attstorage FROM pg_attribute WHERE attrelid = 'memories'::regclass AND attname = 'embedding'"


def _break_off(url: str, embedder: Scripted) -> None:
    """Makes ten vectors of that model and stops."""

    async def run() -> None:
        engine = create_engine(url, pool_size=3, patience=Patience())
        async with begin_as_owner(engine) as connection:
            assert await reembed_store.begin_reembedding(
                connection, embedder.name, embedder.dimensions
            )
            waiting = await reembed_store.list_unembedded(connection, reembed_store.START, 10)
            await reembed_store.store_next_vectors(
                connection, waiting, await embedder.encode([memory.content for memory in waiting])
            )
        await reembed_store.build_unembedded_index(engine)
        await engine.dispose()

    asyncio.run(run())


def test_what_was_done_before_is_not_done_again(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "CHUNK", 7)
    with client_of(database_url, Scripted("old", 8)) as client:
        fill(client)
    new = Scripted("new", 12)
    _break_off(database_url, new)
    seen: list[tuple[int, int]] = []
    assert reembed(database_url, new, report=lambda done, total: seen.append((done, total)))
    assert new.encoded == len(TEXTS)
    assert seen == [(0, 30), (7, 30), (14, 30), (21, 30), (28, 30), (30, 30)]


def test_rows_without_a_vector_are_left_alone(unchecked_database_url: str) -> None:
    """An erased memory keeps its place in the chain, and has neither text nor vector."""
    database_url = unchecked_database_url
    with client_of(database_url, Scripted("old", 8)) as client:
        fill(client, TEXTS[:6])
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "UPDATE memories SET embedding = NULL WHERE id = (SELECT min(id::text)::uuid FROM memories)"
        )
    new = Scripted("new", 12)
    assert reembed(database_url, new)
    assert new.encoded == 5
    assert one(database_url, "SELECT count(*) FROM memories WHERE embedding IS NULL") == 1


def test_from_and_to_large_vectors(database_url: str) -> None:
    """Both models' vectors of a row do not fit a page together; one of them moves out."""
    with client_of(database_url, Scripted("old", 1536)) as client:
        fill(client)
        before = ranking(client)
        _break_off(database_url, Scripted("new", 1500))
        assert ranking(client) == before
    assert reembed(database_url, Scripted("new", 1500))
    assert one(database_url, _STORAGE) == "p"
    assert (
        one(
            database_url,
            "SELECT count(*) FROM memories WHERE pg_column_toast_chunk_id(embedding) IS NOT NULL",
        )
        == 0
    )
    assert reembed(database_url, Scripted("larger", 3072))
    assert one(database_url, _STORAGE) == "e"
    with client_of(database_url, Scripted("larger", 3072)) as client:
        assert len(found(client, "tea", "agent-0", "vector")) == 14


def test_only_one_changes_the_vectors_at_a_time(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reembed_store, "GONE_WITHIN", "200ms")
    with client_of(database_url, Scripted("old", 8)) as client:
        fill(client, TEXTS[:3])
    with psycopg.connect(database_url, autocommit=True) as other:
        other.execute(
            "SELECT pg_advisory_lock(hashtextextended('public', %s))",
            [reembed_store._REEMBED_LOCK],
        )
        with pytest.raises(reembed_store.CannotChange, match="Another process"):
            reembed(database_url, Scripted("new", 8))


def test_a_table_that_is_never_free_is_named_as_the_reason(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "ATTEMPTS", 2)
    monkeypatch.setattr(service, "PAUSE", 0.1)
    with client_of(database_url, Scripted("old", 8)) as client:
        fill(client, TEXTS[:3])
    with psycopg.connect(database_url) as other:
        other.execute("SELECT 1 FROM memories")
        with pytest.raises(reembed_store.CannotChange, match="pg_stat_activity"):
            reembed(database_url, Scripted("new", 8))


# --- the command --------------------------------------------------------------------------------------------------------


def settings_of(server: ScriptedModel, dimensions: int = 12) -> dict[str, str]:
    return {
        "PALIMPSEST_EMBEDDING_BASE_URL": server.url,
        "PALIMPSEST_EMBEDDING_MODEL": "scripted",
        "PALIMPSEST_EMBEDDING_DIMENSIONS": str(dimensions),
        "PALIMPSEST_EMBEDDING_TRIES": "1",
        "PALIMPSEST_EMBEDDING_BATCH": "16",
        "PALIMPSEST_EMBEDDING_CONCURRENCY": "1",
    }


def command(
    url: str, server: ScriptedModel, *words: str, chunk: int = service.CHUNK
) -> subprocess.Popen[str]:
    """Start a command that makes `chunk` vectors at a time."""
    program = (
        f"import app.services.reembed as r; r.CHUNK = {chunk}; from app.cli import main; main()"
    )
    environment = {
        **os.environ,
        "PALIMPSEST_DATABASE_URL": url,
        **settings_of(server),
    }
    return subprocess.Popen(
        [sys.executable, "-c", program, *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def remote(url: str, server: ScriptedModel) -> Settings:
    return load_settings(
        database_url=url,
        embedding_base_url=server.url,
        embedding_model="scripted",
        embedding_dimensions=12,
        embedding_tries=1,
    )


@pytest.mark.slow
def test_killed_again_and_again_it_resumes_and_ends(database_url: str) -> None:
    def slow(request: Request) -> Answer:
        return Answer(embeds(12)(request).body, delay=0.05)

    with ScriptedModel(slow) as server, client_of(database_url, Scripted("old", 8)) as client:
        fill(client, [f"{text}, part {part}" for part in range(5) for text in TEXTS])
        before = ranking(client)
        marks = []
        for _ in range(2):
            process = command(database_url, server, "reembed", chunk=64)
            done = _wait_for_more(database_url, marks[-1] if marks else 0)
            process.kill()
            process.communicate(timeout=30)
            marks.append(done)
            assert ranking(client) == before, "the old model still serves"
            store(client, f"Stored after kill {len(marks)}", classify="off")
        assert marks == sorted(set(marks))
        server.then(embeds(12))
        output, errors = command(database_url, server, "reembed").communicate(timeout=120)
        assert "made by scripted/12 (12 dimensions) now" in output, errors
        problem(client.post("/v1/search", json={"query": "tea"}), 503)
        total = one(database_url, "SELECT count(*) FROM memories")
        assert total == 202
        assert (
            one(database_url, "SELECT count(*) FROM memories WHERE vector_dims(embedding) = 12")
            == total
        )
        assert sum(len(request.json["input"]) for request in server.requests) < total, (
            "it went on where it was"
        )
        with running(remote(database_url, server)) as address:
            results = httpx.post(
                f"{address}/v1/search", json={"query": "Stored after kill 2"}
            ).json()["results"]
            assert results[0]["memory"]["content"] == "Stored after kill 2"
        again, _ = command(database_url, server, "reembed").communicate(timeout=60)
        assert "already" in again


def _wait_for_more(url: str, than: int) -> int:
    """How many vectors the next model has, when it has more than so many."""
    for _ in range(1500):
        done: int = one(url, "SELECT count(*) FROM memories WHERE embedding_next IS NOT NULL")
        if done > than:
            return done
        time.sleep(0.02)
    raise AssertionError("no progress")


@pytest.mark.slow
def test_an_embedder_that_fails_stops_it_with_one_line_and_keeps_what_is_done(
    database_url: str,
) -> None:
    with client_of(database_url, Scripted("old", 8)) as client:
        fill(client)
    with ScriptedModel(fails(500)) as server:
        process = command(database_url, server, "reembed")
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 1
        assert "Traceback" not in errors
        told = errors.splitlines()[-1]
        assert told.startswith("palimpsest: The embedding server answered 500")
        assert "run `palimpsest reembed` again" in told


def test_serve_with_another_model_names_the_command(database_url: str) -> None:
    schema.claim_encoder(database_url, "old", 8)
    with ScriptedModel(embeds(12)) as server:
        process = command(database_url, server, "serve", "--port", "0")
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Run `palimpsest reembed` to change them to scripted/12" in errors


def test_the_encoder_that_stops_halfway_is_told_by_its_reason(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.domain.errors import EmbedderUnavailable

    class Failing(Scripted):
        async def encode(self, texts: Any) -> Any:
            if self.encoded >= 14:
                raise EmbedderUnavailable("Out of order.")
            return await super().encode(texts)

    monkeypatch.setattr(service, "CHUNK", 7)
    with client_of(database_url, Scripted("old", 8)) as client:
        fill(client)
    with pytest.raises(ReembedStopped, match="Out of order"):
        reembed(database_url, Failing("new", 12))
    assert one(database_url, "SELECT count(*) FROM memories WHERE embedding_next IS NOT NULL") == 14
    assert one(database_url, "SELECT name FROM encoder") == "old"
