"""The numbers of a large agent: what a worker counted and what changed since give what is there."""

import asyncio
import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from psycopg.types.json import Jsonb

from app.domain.agent import AgentId
from app.settings import load_settings
from app.store import recent_stats
from app.store.engine import Patience, begin_for_agent, create_engine, fetch_rows
from support.agent_indexes import build_index, look_after_indexes
from support.cluster import needs_one_server
from support.databases import fresh_database
from support.doctor_check import assert_healthy
from support.plans import count_rows_in_plan
from support.service import running
from support.urls import name_of

# No index of an agent is built on a cluster, so no agent has stored stats.
pytestmark = needs_one_server

AGENT = "large"
CITIES = ("Porto", "Lisbon", "Faro", "Braga")


@pytest.fixture
def url(server_url: str, template_url: str) -> Iterator[str]:
    with fresh_database(server_url, template=name_of(template_url)) as url:
        yield url


@contextmanager
def counted_agent(url: str) -> Iterator[httpx.Client]:
    """Yield a client of an agent that a worker counted before it wrote anything but one memory."""
    with (
        running(load_settings(database_url=url)) as address,
        httpx.Client(base_url=address, headers={"X-Agent-Id": AGENT}, timeout=60) as client,
    ):
        store(client, "Ada collects stamps")
        build_index(url, AGENT)
        yield client


def store(client: httpx.Client, content: str, **more: Any) -> dict[str, Any]:
    answer = client.post("/v1/memories", json={"content": content, **more})
    assert answer.status_code in (200, 201, 202), answer.text
    stored: dict[str, Any] = answer.json()
    return stored


def read_stats(client: httpx.Client) -> dict[str, Any]:
    """Return the numbers without the time and the strengths, which fade meanwhile."""
    stats: dict[str, Any] = client.get(f"/v1/agents/{AGENT}/stats").raise_for_status().json()
    del stats["as_of"], stats["holding"]["strength"]
    return stats


def count_all(url: str, client: httpx.Client) -> dict[str, Any]:
    """Return the numbers as they are counted without those of the worker."""
    with psycopg.connect(url, autocommit=True) as connection:
        [[stored]] = connection.execute("SELECT stats FROM agent_indexes").fetchall()
        connection.execute("UPDATE agent_indexes SET stats = NULL")
        stats = read_stats(client)
        connection.execute("UPDATE agent_indexes SET stats = %s", [Jsonb(stored)])
    return stats


def assert_exact(url: str, client: httpx.Client) -> None:
    """Compare both. A memory may begin or end to hold in between, so both are read until none did."""
    for _ in range(20):
        recent, counted = read_stats(client), count_all(url, client)
        if recent == read_stats(client):
            assert recent == counted
            return
    raise AssertionError("the numbers changed all the time")


class Life:
    """Random calls that change what is counted, each on what the calls before it left."""

    def __init__(self, client: httpx.Client, seed: int) -> None:
        self._client = client
        self._random = random.Random(seed)
        self._ids: list[str] = []
        self._operations: list[str] = []

    def act(self) -> None:
        self._random.choice(
            (
                *(self.store_fact, self.store_fact, self.store_value, self.store_for_a_while),
                *(self.store_later, self.store_beside, self.retract, self.correct, self.erase),
                *(self.revert, self.link, self.supersede, self.decide_review),
            )
        )()

    def _add(self, answer: httpx.Response) -> None:
        if answer.is_success:
            body = answer.json()
            if body.get("memory"):
                self._ids.append(body["memory"]["id"])
            if body.get("log_id"):
                self._operations.append(body["log_id"])

    def _send(self, content: str, **more: Any) -> None:
        self._add(self._client.post("/v1/memories", json={"content": content, **more}))

    def _soon(self) -> str:
        return (datetime.now(UTC) + timedelta(seconds=self._random.random())).isoformat()

    def _pick(self) -> str:
        return self._random.choice(self._ids) if self._ids else str(UUID(int=0))

    def store_fact(self) -> None:
        kind = self._random.choice(("fact", "preference", "constraint", "decision"))
        tier = self._random.choice(("core", "semantic"))
        self._send(f"Thing {self._random.randrange(1000)}", kind=kind, tier=tier)

    def store_value(self) -> None:
        self._send_home(valid_from=self._random.choice((None, "2020-01-05T00:00:00Z")))

    def _send_home(self, **more: Any) -> None:
        city = self._random.choice(CITIES)
        more = {name: value for name, value in more.items() if value is not None}
        self._send(f"Lives in {city}", key=f"home{self._random.randrange(3)}", value=city, **more)

    def store_for_a_while(self) -> None:
        self._send_home(valid_until=self._soon())

    def store_later(self) -> None:
        self._send_home(valid_from=self._soon())

    def store_beside(self) -> None:
        self._send_home(classify=False)

    def retract(self) -> None:
        body = {"never_true": True} if self._random.random() < 0.3 else {}
        self._add(self._client.post(f"/v1/memories/{self._pick()}/retract", json=body))

    def correct(self) -> None:
        change = self._random.choice(
            (
                {"lifespan": "project", "project": "almanac"},
                {"lifespan": "permanent"},
                {"importance": 0.9},
                {"tier": "core"},
            )
        )
        self._add(self._client.patch(f"/v1/memories/{self._pick()}", json=change))

    def erase(self) -> None:
        if self._random.random() < 0.4:
            self._client.delete(
                f"/v1/memories/{self._pick()}", params={"erase": True, "cascade": True}
            )

    def revert(self) -> None:
        if self._operations:
            operation = self._random.choice(self._operations[-6:])
            self._add(self._client.post(f"/v1/log/{operation}/revert", json={}))

    def link(self) -> None:
        body = {"target_id": self._pick(), "type": "references"}
        self._add(self._client.post(f"/v1/memories/{self._pick()}/relationships", json=body))

    def supersede(self) -> None:
        body = {"content": f"Thing {self._random.randrange(1000)} instead"}
        self._add(self._client.post(f"/v1/memories/{self._pick()}/supersede", json=body))

    def decide_review(self) -> None:
        self._send("Alice lives in Porto", trust=90)
        self._send(f"Alice moved to {self._random.choice(CITIES)}", trust=10)
        for review in self._client.get("/v1/reviews").json()["items"][:1]:
            verdict = self._random.choice(("accept", "reject"))
            self._add(self._client.post(f"/v1/reviews/{review['id']}/{verdict}", json={}))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_numbers_of_a_large_agent_are_exact_whatever_happens(url: str, seed: int) -> None:
    with counted_agent(url) as client:
        life = Life(client, seed)
        for step in range(60):
            life.act()
            if step % 5 == 4:
                assert_exact(url, client)
            if step % 20 == 19:
                look_after_indexes(url, from_live=1)
                assert_exact(url, client)
        stats = read_stats(client)
        assert stats["memories"] > 20
        assert stats["beliefs"] > 10
        assert stats["relationships"] > 0
        assert len([status for status, n in stats["by_status"].items() if n]) > 3
    assert_healthy(url)


def test_what_changed_is_read_a_few_times(url: str) -> None:
    """Each change was once compared with all others."""
    changed = 60
    with counted_agent(url) as client:
        notes = [{"content": f"Note {number}", "classify": False} for number in range(changed)]
        answer = client.post("/v1/memories/batch", json={"items": notes}).json()
        ids = [result["memory"]["id"] for result in answer["results"]]
        look_after_indexes(url, from_live=1)
        for one in ids:
            client.delete(f"/v1/memories/{one}").raise_for_status()
        assert read_stats(client)["by_operation"]["DELETE"] == changed

    async def explain() -> Any:
        engine = create_engine(url, pool_size=1, patience=Patience())
        values = {"agent": AGENT, "as_of": None, "known_at": None}
        statement = f"EXPLAIN (ANALYZE, FORMAT JSON) {recent_stats._READ}"
        async with begin_for_agent(engine, AgentId(AGENT)) as connection:
            [row] = await fetch_rows(connection, statement, values)
        await engine.dispose()
        return row["QUERY PLAN"][0]["Plan"]

    assert changed < count_rows_in_plan(asyncio.run(explain()), "touched") < 10 * changed
