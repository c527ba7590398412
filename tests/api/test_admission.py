"""More requests than can be worked on: who gets in, who waits, who is sent away, and that nobody is forgotten."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray

from app import fair_places
from app.api.admission import classify_request
from app.settings import load_settings
from support.builders import contents, problem
from support.scripted_model import ScriptedModel, judges
from support.service import running
from support.transfers import NDJSON


class Held:
    """An encoder that lets nobody go until it is told to, and counts who is there."""

    name = "held"
    dimensions = 3

    def __init__(self) -> None:
        self.inside = 0
        self.go_on = threading.Event()

    async def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.inside += 1
        while not self.go_on.is_set():  # noqa: ASYNC110 - the flag is set by another thread
            await asyncio.sleep(0.005)
        self.inside -= 1
        return np.tile(np.array([1, 0, 0], dtype=np.float32), (len(texts), 1))


class Crowd:
    """Callers of a service, each waiting for an answer in a thread."""

    def __init__(self, client: httpx.Client, encoder: Held, pool: ThreadPoolExecutor) -> None:
        self.address, self.encoder, self.client = str(client.base_url).rstrip("/"), encoder, client
        self._pool = pool

    def store(self, content: str) -> Future[httpx.Response]:
        return self._pool.submit(
            httpx.post, f"{self.address}/v1/memories", json={"content": content}, timeout=60
        )

    def search(self, **body: Any) -> Future[httpx.Response]:
        return self._pool.submit(
            httpx.post, f"{self.address}/v1/search", json={"query": "pets", **body}, timeout=60
        )

    def gauge(self, name: str) -> float:
        [line] = [
            line
            for line in self.client.get("/metrics").text.splitlines()
            if line.startswith(f"{name} ")
        ]
        return float(line.split()[-1])

    def until(self, name: str, value: float) -> None:
        """Waits for a gauge to have a value."""
        eventually(lambda: self.gauge(name) == value)


def eventually(holds: Callable[[], bool]) -> None:
    for _ in range(2000):
        if holds():
            return
        time.sleep(0.01)
    raise AssertionError("it never happened")


@contextmanager
def crowd(database_url: str, **settings: Any) -> Iterator[Crowd]:
    encoder = Held()
    with (
        ThreadPoolExecutor(60) as pool,
        running(load_settings(database_url=database_url, **settings), encoder) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        try:
            yield Crowd(client, encoder, pool)
        finally:
            encoder.go_on.set()


QUEUED = 'palimpsest_queued{kind="write"}'
UNDER_WAY = 'palimpsest_in_flight{kind="write"}'


@pytest.mark.slow
def test_some_get_in_some_wait_and_the_rest_is_sent_away_with_a_time_to_come_back(
    database_url: str,
) -> None:
    with crowd(database_url, max_writes=4, max_queue=2, queue_timeout=50) as people:
        first = [people.store("Has a dog"), people.store("Has a cat")]
        people.until(UNDER_WAY, 2)
        waiting = people.store("Has a fish")
        people.until(QUEUED, 1)
        refused = people.store("Has a bird").result(30)
        assert problem(refused, 429)["type"].endswith("over-share")
        assert int(refused.headers["retry-after"]) > 0
        assert refused.headers["x-request-id"]
        assert people.gauge('palimpsest_shed_total{kind="write",reason="over_share"}') >= 1
        assert people.encoder.inside == 2, "who waits is not begun"
        people.encoder.go_on.set()
        assert [answer.result(30).status_code for answer in (*first, waiting)] == [201] * 3
        assert contents(people.client) == {"Has a dog", "Has a cat", "Has a fish"}
        people.until(UNDER_WAY, 0)
        assert people.store("Has a bird").result(30).status_code == 201


def test_who_waits_too_long_is_sent_away_and_leaves_no_trace(database_url: str) -> None:
    with crowd(database_url, max_writes=1, max_queue=5, queue_timeout=0.2) as people:
        before = people.gauge('palimpsest_shed_total{kind="write",reason="over_share"}')
        first = people.store("Has a dog")
        people.until(UNDER_WAY, 1)
        assert problem(people.store("Has a cat").result(30), 429)["type"].endswith("over-share")
        assert people.gauge('palimpsest_shed_total{kind="write",reason="over_share"}') == before + 1
        assert people.gauge(QUEUED) == 0
        people.encoder.go_on.set()
        assert first.result(30).status_code == 201
        assert contents(people.client) == {"Has a dog"}


def test_reads_transfers_and_health_do_not_wait_for_writes(database_url: str) -> None:
    with crowd(database_url, max_writes=1, max_queue=0) as people:
        held = people.store("Has a dog")
        people.until(UNDER_WAY, 1)
        assert problem(people.store("Has a cat").result(30), 429)
        assert people.search(mode="text").result(30).status_code == 200
        assert (
            httpx.post(f"{people.address}/v1/import", headers=NDJSON, content=b"").status_code
            == 200
        )
        for path in (
            "/livez",
            "/readyz",
            "/version",
            "/metrics",
            "/openapi.json",
            "/v1/memories",
            "/v1/log",
        ):
            assert httpx.get(people.address + path).status_code == 200
        people.encoder.go_on.set()
        assert held.result(30).status_code == 201


def test_a_refusal_does_not_wait_for_the_body(database_url: str) -> None:
    with crowd(database_url, max_writes=1, max_queue=0) as people:
        held = people.store("Has a dog")
        people.until(UNDER_WAY, 1)
        place = urlsplit(people.address)
        with socket.create_connection((place.hostname, place.port), timeout=30) as caller:  # type: ignore[arg-type]
            caller.sendall(
                b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{"
            )
            assert caller.recv(1000).startswith(b"HTTP/1.1 429")
        people.encoder.go_on.set()
        assert held.result(30).status_code == 201


def test_callers_who_hang_up_give_their_places_back(database_url: str) -> None:
    with crowd(database_url, max_writes=4, max_queue=8, queue_timeout=50) as people:
        body = json.dumps({"content": "Has a dog"}).encode()
        head = f"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        place = urlsplit(people.address)
        callers = [socket.create_connection((place.hostname, place.port)) for _ in range(4)]  # type: ignore[arg-type]
        for caller in callers:
            caller.sendall(head.encode() + body)
        people.until(QUEUED, 2)
        for caller in callers:
            caller.close()
        people.encoder.go_on.set()
        people.until(UNDER_WAY, 0)
        people.until(QUEUED, 0)
        stored = [people.store(f"Has {n} cats") for n in range(2)]
        assert [answer.result(30).status_code for answer in stored] == [201, 201]


@pytest.mark.slow
def test_fifty_stores_that_wait_for_a_slow_model_all_get_in_and_searches_pass_them(
    database_url: str,
) -> None:
    with (
        ScriptedModel(replace(judges(), delay=0.5)) as model,
        running(
            load_settings(database_url=database_url, llm_base_url=model.url, llm_tries=1)
        ) as address,
        ThreadPoolExecutor(50) as pool,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        client.post("/v1/memories", json={"content": "Has a dog called Rex", "classify": False})
        stores = [
            pool.submit(
                client.post,
                "/v1/memories",
                json={"content": f"Has {uuid4().hex} as a pet", "classify": "model"},
            )
            for _ in range(50)
        ]
        eventually(lambda: len(model.requests) > 0)
        found = 0
        while not all(answer.done() for answer in stores):
            assert client.post("/v1/search", json={"query": "pets"}).status_code == 200
            found += 1
        assert found > 0
        assert [answer.result().status_code for answer in stores] == [201] * 50


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("GET", "/v1/memories", "read"),
        ("GET", "/v1/search", "read"),
        ("POST", "/v1/search", "read"),
        ("HEAD", "/v1/log", "read"),
        ("POST", "/v1/memories", "write"),
        ("PATCH", "/v1/memories/x", "write"),
        ("DELETE", "/v1/memories/x", "write"),
        ("POST", "/v1/import", "upload"),
        ("POST", "/v1/webhooks/x/ping", "webhook"),
        ("POST", "/v1/webhooks", "webhook"),
        ("GET", "/v1/webhooks", "read"),
        ("GET", "/v1/export", "transfer"),
        ("GET", "/v1/events", "events"),
    ],
)
def test_reads_writes_and_transfers_are_told_apart(method: str, path: str, kind: str) -> None:
    assert classify_request(method, path) == kind


def test_places_follow_from_the_connections_and_the_model() -> None:
    fixed = {"upload": 40, "webhook": 16}
    usual = fixed | {"events": 200}
    assert load_settings().places == usual | {"read": 6, "write": 6, "transfer": 4}
    with_model = load_settings(pool_size=10, llm_base_url="http://m/v1", llm_concurrency=8)
    assert with_model.places["write"] == 37
    assert load_settings(pool_size=1).places == usual | {"read": 1, "write": 1, "transfer": 1}
    chosen = load_settings(max_reads=3, max_writes=2, max_transfers=7, max_event_readers=9)
    assert chosen.places == fixed | {"read": 3, "write": 2, "transfer": 7, "events": 9}


def test_a_process_where_nothing_moves_on_is_not_ready(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair_places, "STARVED_AFTER", 0.3)
    with crowd(database_url, max_writes=1, max_queue=5, queue_timeout=50) as people:
        first = people.store("Has a dog")
        people.until(UNDER_WAY, 1)
        time.sleep(0.5)
        assert httpx.get(f"{people.address}/readyz").status_code == 200, "nobody waits"
        second = people.store("Has a cat")
        people.until(QUEUED, 1)
        eventually(lambda: httpx.get(f"{people.address}/readyz").status_code == 503)
        assert httpx.get(f"{people.address}/readyz").json()["type"].endswith("starving")
        people.encoder.go_on.set()
        assert [answer.result(30).status_code for answer in (first, second)] == [201, 201]
        assert httpx.get(f"{people.address}/readyz").status_code == 200
