"""What is answered is used, which is counted off the request's way and touches nothing else."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest

from app.domain.agent import AgentId
from app.services import usage
from app.services.usage import UsageCounter
from app.settings import load_settings
from app.store.engine import Patience, create_engine
from support.builders import editor, problem, send, store
from support.service import running
from support.transfers import NDJSON, brought_back, exported, joined, lines_of, other

SELDOM = 3600.0


@dataclass(frozen=True)
class Own:
    """A service over a database of its own that does not count by itself while it runs, and a client of it as agent `default`."""

    client: httpx.Client
    url: str

    def uses(self, *ids: str, agent: str = "default") -> None:
        """Notes these and writes them down."""
        asyncio.run(with_using(self.url, lambda noting: noted(noting, agent, *ids)))

    def get(self, memory_id: str, **params: Any) -> dict[str, Any]:
        response = self.client.get(f"/v1/memories/{memory_id}", params=params)
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    def execute(self, statement: str, *values: Any) -> Any:
        with psycopg.connect(self.url) as connection:
            cursor = connection.execute(statement.encode(), values)
            return cursor.fetchall() if cursor.description else None


@pytest.fixture
def own(database_url: str) -> Iterator[Own]:
    with (
        running(load_settings(database_url=database_url, use_flush_seconds=SELDOM)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        yield Own(client, database_url)


async def with_using(url: str, step: Callable[[UsageCounter], Awaitable[None]]) -> None:
    engine = create_engine(url, pool_size=2, patience=Patience(statement=0, lock=0))
    try:
        await step(UsageCounter(engine, every=SELDOM))
    finally:
        await engine.dispose()


async def noted(noting: UsageCounter, agent: str, *ids: str) -> None:
    noting.note_uses(AgentId(agent), map(UUID, ids))
    await noting.flush()


def counted(memory: dict[str, Any]) -> tuple[int, bool]:
    """The count, and whether there is a time."""
    return memory["use_count"], memory["last_accessed_at"] is not None


# --- what a use changes, and what it does not ---------------------------------------------------------------------------------


def test_a_use_is_counted_and_shown_wherever_the_memory_is(own: Own) -> None:
    stored = store(own.client, "Has a dog")["memory"]
    assert counted(stored) == (0, False)
    own.uses(stored["id"])
    for seen in (
        own.get(stored["id"]),
        own.client.get("/v1/memories").json()["items"][0],
        own.client.get("/v1/memories", params={"sort": "strength"}).json()["items"][0],
        own.client.get("/v1/search", params={"q": "pets"}).json()["results"][0]["memory"],
        own.client.get(f"/v1/memories/{stored['id']}/history").json()["versions"][0],
        own.client.get("/v1/context").json()["items"]["fact"][0]["memory"],
        store(own.client, "Has a dog")["memory"],
    ):
        assert counted(seen) == (1, True)


def test_it_touches_neither_version_nor_belief_nor_known_time_nor_repetitions(own: Own) -> None:
    stored = store(own.client, "Has a dog")
    before = untouched(own)
    own.uses(stored["memory"]["id"])
    assert untouched(own) == before
    seen = own.get(stored["memory"]["id"])
    assert (seen["etag"], seen["access_count"], seen["last_reinforced_at"]) == (
        stored["memory"]["etag"],
        0,
        None,
    )
    again = store(own.client, "Has a dog")["memory"]
    assert (again["access_count"], again["use_count"]) == (1, 1)


def untouched(own: Own) -> list[Any]:
    return [
        own.execute(f"SELECT * FROM {table}")
        for table in ("agents", "memories", "memory_beliefs", "consolidation_log")
    ]


def test_within_a_minute_one_use_counts(own: Own) -> None:
    stored = store(own.client, "Has a dog")["memory"]["id"]
    own.uses(stored)
    used_at = "UPDATE memory_usage SET last_accessed_at = %s"
    own.execute(used_at, datetime.now(UTC).replace(second=0, microsecond=0) + timedelta(days=1))
    own.uses(stored)
    assert own.get(stored)["use_count"] == 1, "the same minute, or a clock that went back"
    for count in (2, 3):
        own.execute(used_at, datetime.now(UTC) - timedelta(minutes=1))
        own.uses(stored, stored)
        assert own.get(stored)["use_count"] == count


def test_reads_at_an_earlier_known_time_do_not_show_it(own: Own) -> None:
    stored = store(own.client, "Has a dog", importance=1.0)
    memory, then = stored["memory"]["id"], {"known_at": stored["known_at"], "as_of": "2027-01-01"}
    unused = own.get(memory, **then)
    own.uses(memory)
    own.execute("UPDATE memory_usage SET use_count = 50")
    assert own.get(memory, **then) == unused
    [listed] = own.client.get("/v1/memories", params={**then, "sort": "strength"}).json()["items"]
    assert listed == unused
    later = store(own.client, "Has a cat")["known_at"]
    for params in ({"as_of": "2027-01-01"}, {"as_of": "2027-01-01", "known_at": later}):
        seen = own.get(memory, **params)
        assert counted(seen) == (50, True)
        assert seen["strength"] > unused["strength"]


def test_every_page_of_a_list_shows_uses(own: Own) -> None:
    ids = [store(own.client, f"Fact number {number}")["memory"]["id"] for number in range(4)]
    own.uses(*ids)
    for sort in ("created", "strength"):
        first = own.client.get("/v1/memories", params={"sort": sort, "limit": 2}).json()
        second = own.client.get(
            "/v1/memories", params={"sort": sort, "limit": 2, "cursor": first["next_cursor"]}
        ).json()
        assert {m["id"] for m in (*first["items"], *second["items"])} == set(ids)
        assert [counted(m) for m in (*first["items"], *second["items"])] == [(1, True)] * 4


def test_what_is_used_comes_before_its_like_and_nothing_is_hidden(own: Own) -> None:
    ids = [store(own.client, f"Fact number {number}")["memory"]["id"] for number in range(3)]
    own.uses(ids[1])
    own.execute("UPDATE memory_usage SET use_count = 100")
    asked = {"sort": "strength", "as_of": "2030-01-01"}
    assert (
        listed := [m["id"] for m in own.client.get("/v1/memories", params=asked).json()["items"]]
    )[0] == ids[1]
    assert set(listed) == set(ids)


# --- whose ------------------------------------------------------------------------------------------------------------------


def test_another_agents_memory_an_unknown_and_an_erased_one_are_left_out(own: Own) -> None:
    mine, erased = (store(own.client, text)["memory"]["id"] for text in ("Has a dog", "Secret"))
    own.client.delete(f"/v1/memories/{erased}", params={"erase": True}).raise_for_status()
    own.uses(mine, agent="someone")
    own.uses(str(uuid4()), erased)
    assert own.execute("SELECT count(*) FROM memory_usage") == [(0,)]


# --- beside writes ------------------------------------------------------------------------------------------------------------


def test_it_does_not_wait_for_the_lock_of_the_agent(own: Own) -> None:
    stored = store(own.client, "Has a dog")["memory"]["id"]
    with psycopg.connect(own.url) as writer:
        writer.execute("SELECT FROM agents WHERE agent_id = 'default' FOR UPDATE")
        writer.execute("UPDATE memories SET revision = revision")
        own.uses(stored)
        writer.rollback()
    assert own.get(stored)["use_count"] == 1


def test_where_a_write_holds_the_counters_it_gives_way_and_counts_later(own: Own) -> None:
    stored = send(own.client, editor("Vim"))["memory"]["id"]
    send(own.client, editor("Vim"))

    async def step(noting: UsageCounter) -> None:
        with psycopg.connect(own.url) as writer:
            writer.execute("SELECT FROM memory_usage WHERE agent_id = 'default' FOR UPDATE")
            async with asyncio.timeout(60):  # else it would wait for ever
                await noted(noting, "default", stored)
            writer.rollback()
        assert own.get(stored)["use_count"] == 0
        await noting.flush()

    asyncio.run(with_using(own.url, step))
    assert own.get(stored)["use_count"] == 1


@pytest.mark.slow
def test_writes_that_confirm_the_same_memories_are_not_disturbed(own: Own) -> None:
    texts = [f"Fact number {number}" for number in range(60)]
    ids = [store(own.client, text)["memory"]["id"] for text in texts]

    async def step(noting: UsageCounter) -> None:
        async with httpx.AsyncClient(base_url=own.client.base_url, timeout=60) as client:
            batches = [
                {"items": [{"content": text} for text in order]}
                for order in (texts, texts[::-1])
                for _ in range(4)
            ]
            writing = asyncio.gather(
                *(client.post("/v1/memories/batch", json=batch) for batch in batches)
            )
            while not writing.done():
                await noted(noting, "default", *ids)
            for answer in await writing:
                assert {result["operation"] for result in answer.json()["results"]} == {"NOOP"}
        await noted(noting, "default", *ids)

    asyncio.run(with_using(own.url, step))
    listed = own.client.get("/v1/memories", params={"limit": 100}).json()["items"]
    assert {m["access_count"] for m in listed} == {8}
    assert all(m["use_count"] >= 1 for m in listed)


# --- the buffer -----------------------------------------------------------------------------------------------------------------


def test_it_holds_no_more_than_it_may(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "MOST_NOTED", 3)
    ids = [store(own.client, f"Fact number {number}")["memory"]["id"] for number in range(5)]
    own.uses(*ids)
    assert own.execute("SELECT count(*) FROM memory_usage") == [(3,)]


def test_a_database_that_is_away_is_told_in_the_log_and_nothing_fails(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, "app.services.usage"):
        asyncio.run(
            with_using(
                "postgresql://nobody@127.0.0.1:1/nothing",
                lambda noting: noted(noting, "default", str(uuid4())),
            )
        )
    assert [record.message for record in caplog.records] == [
        "uses are not counted for now: OperationalError"
    ]


def test_what_could_not_be_written_is_written_when_the_database_is_back(own: Own) -> None:
    stored = store(own.client, "Has a dog")["memory"]["id"]

    async def step(noting: UsageCounter) -> None:
        own.execute("ALTER TABLE memory_usage RENAME TO elsewhere")
        await noted(noting, "default", stored)
        own.execute("ALTER TABLE elsewhere RENAME TO memory_usage")
        await noting.flush()

    asyncio.run(with_using(own.url, step))
    assert own.get(stored)["use_count"] == 1


# --- the service ----------------------------------------------------------------------------------------------------------------


def test_a_running_service_counts_what_it_answers(database_url: str) -> None:
    with (
        running(load_settings(database_url=database_url, use_flush_seconds=0.05)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        for use in (
            lambda i: client.get("/v1/search", params={"q": "a dog"}),
            lambda i: client.post("/v1/search", json={"query": "a dog"}),
            lambda i: client.get("/v1/context"),
            lambda i: client.get(f"/v1/memories/{i}"),
            lambda i: client.get("/v1/preferences/pet"),
        ):
            client.headers["X-Agent-Id"] = f"agent-{uuid4().hex}"
            stored = store(client, "Has a dog", kind="preference", key="pet")["memory"]["id"]
            assert use(stored).is_success
            await_count(client, 1)


def await_count(client: httpx.Client, count: int) -> None:
    """A list is no use, so that looking changes nothing."""
    while client.get("/v1/memories").json()["items"][0]["use_count"] != count:
        time.sleep(0.02)


def test_what_is_noted_is_written_down_when_the_service_ends(database_url: str) -> None:
    settings = load_settings(database_url=database_url, use_flush_seconds=SELDOM)
    with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        store(client, "Has a dog")
        client.get("/v1/search", params={"q": "a dog"}).raise_for_status()
        client.get("/v1/search", params={"q": "a dog"}).raise_for_status()
        assert client.get("/v1/memories").json()["items"][0]["use_count"] == 0
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT use_count FROM memory_usage").fetchall() == [(1,)]


def test_zero_switches_it_off(database_url: str) -> None:
    with (
        running(load_settings(database_url=database_url, use_flush_seconds=0)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        store(client, "Has a dog")
        client.get("/v1/search", params={"q": "a dog"}).raise_for_status()
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT * FROM memory_usage").fetchall() == []


# --- exports ------------------------------------------------------------------------------------------------------------------


def test_uses_travel_with_an_export_byte_for_byte(own: Own) -> None:
    stored = store(own.client, "Has a dog")["memory"]["id"]
    own.uses(stored)
    export = exported(own.client)
    assert [line["use_count"] for line in lines_of(export) if line["type"] == "usage"] == [1]
    with other(own.client) as two:
        brought_back(two, export)
        assert exported(two) == export


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"last_accessed_at": "2999-01-01T00:00:00Z"}, "in the future"),
        ({"use_count": -1}, "use_count_check"),
    ],
)
def test_uses_that_cannot_be_are_refused(own: Own, wrong: dict[str, Any], told: str) -> None:
    own.uses(store(own.client, "Has a dog")["memory"]["id"])
    lines = [
        line | wrong if line["type"] == "usage" else line for line in lines_of(exported(own.client))
    ]
    with other(own.client) as two:
        assert (
            told
            in problem(two.post("/v1/import", headers=NDJSON, content=joined(lines)), 422)["detail"]
        )
