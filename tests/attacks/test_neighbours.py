"""R1, R3, R4, R5: whatever one key holds, another key is served, and no request of it is refused."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from app.jobs.worker import open_jobs, run_worker
from app.services import capture_runner, captures, webhooks
from app.settings import Settings, load_settings
from support.builders import problem, store
from support.keys import calling, issue
from support.service import running
from support.transfers import NDJSON

ROOT_KEY = "root-" + "kaas-zonder-gaten-" * 2
BOATS = " ".join(f"I own boat {number}." for number in range(60))


class HeldEncoder:
    """An encoder that keeps every text that says "wait" until it is let go."""

    name = "held"
    dimensions = 3

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.held = 0

    async def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if any("wait" in text for text in texts):
            self.held += 1
            while not self.go_on.is_set():  # noqa: ASYNC110 - the flag is set by another thread
                await asyncio.sleep(0.005)
        return np.tile(np.array([1, 0, 0], dtype=np.float32), (len(texts), 1))


class Street:
    """A service with two tenants. What the evil one sends is under way in threads."""

    def __init__(
        self, settings: Settings, address: str, evil: httpx.Client, victim: httpx.Client
    ) -> None:
        self.settings = settings
        self.address = address
        self.evil = evil
        self.victim = victim
        self._pool = ThreadPoolExecutor(60)

    def attack(
        self, count: int, call: Callable[[], httpx.Response]
    ) -> list[Future[httpx.Response]]:
        return [self._pool.submit(call) for _ in range(count)]

    def close(self) -> None:
        self._pool.shutdown()


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)


@contextmanager
def street(
    database_url: str, encoder: HeldEncoder | None = None, **limits: Any
) -> Iterator[Street]:
    settings = load_settings(
        database_url=database_url,
        api_key=ROOT_KEY,
        webhooks_allow_http=True,
        webhooks_allow_private=True,
        **limits,
    )
    with running(settings, encoder) as address, calling(address, ROOT_KEY) as root:
        keys = [
            issue(root, name=name, scopes=["read", "write", "admin"], agents=[f"{name}/*"])["key"]
            for name in ("evil", "victim")
        ]
        with (
            calling(address, keys[0], **{"x_agent_id": "evil/one"}) as evil,
            calling(address, keys[1], **{"x_agent_id": "victim/one"}) as victim,
        ):
            place = Street(settings, address, evil, victim)
            try:
                yield place
            finally:
                place.close()


@contextmanager
def held_street(database_url: str, **limits: Any) -> Iterator[tuple[Street, HeldEncoder]]:
    encoder = HeldEncoder()
    with street(database_url, encoder, **limits) as place:
        try:
            yield place, encoder
        finally:
            encoder.go_on.set()


# --- R1: writes and reads -------------------------------------------------------------------------


def test_a_key_whose_stores_hang_stops_no_other_keys_stores(database_url: str) -> None:
    with held_street(database_url, queue_timeout=2) as (place, encoder):
        evil = place.attack(
            30, lambda: place.evil.post("/v1/memories", json={"content": "Boats wait"})
        )
        wait_until(lambda: encoder.held > 0)
        for number in range(5):
            store(place.victim, f"Has cat number {number}")
        refusals = [answer.result(30) for answer in evil[encoder.held :] if answer.done()]
        encoder.go_on.set()
        answers = [answer.result(30).status_code for answer in evil]
        assert set(answers) <= {200, 201, 429}
        assert all(refusal.headers.get("retry-after") for refusal in refusals if refusal.is_error)


def test_a_key_whose_searches_hang_stops_no_other_keys_searches(database_url: str) -> None:
    with held_street(database_url, queue_timeout=2) as (place, encoder):
        place.attack(50, lambda: place.evil.post("/v1/search", json={"query": "what waits"}))
        wait_until(lambda: encoder.held > 0)
        for _ in range(5):
            answer = place.victim.post("/v1/search", json={"query": "cats"})
            assert answer.status_code == 200, answer.text


def test_a_key_that_asks_for_more_than_its_share_learns_so(database_url: str) -> None:
    with held_street(database_url, max_queue=4, queue_timeout=30) as (place, _):
        evil = place.attack(
            20, lambda: place.evil.post("/v1/memories", json={"content": "Boats wait"})
        )
        wait_until(lambda: sum(answer.done() for answer in evil) >= 14)
        refused = next(answer.result() for answer in evil if answer.done())
        assert problem(refused, 429)["type"].endswith("over-share")
        assert int(refused.headers["retry-after"]) > 0
        store(place.victim)


def test_a_message_that_states_many_facts_holds_no_place_for_writes(database_url: str) -> None:
    with street(database_url) as place:
        message = {"session_id": "s", "messages": [{"role": "user", "content": BOATS}]}
        answer = place.evil.post("/v1/messages", json=message)
        assert answer.status_code == 202, answer.text
        assert answer.json()["state"] == "pending"
        asyncio.run(run_worker(place.settings, until_idle=True))
        done = place.evil.get(f"/v1/captures/{answer.json()['capture_id']}").json()
        assert done["state"] == "done"
        assert len(done["messages"][0]["facts"]) == 60


# --- R3: events, imports and exports --------------------------------------------------------------


def test_a_key_that_polls_without_end_leaves_places_to_others(database_url: str) -> None:
    with street(database_url, max_event_readers=8) as place:
        polls = place.attack(
            10, lambda: place.evil.get("/v1/events?after=latest&wait=5", timeout=30)
        )
        wait_until(lambda: sum(answer.done() for answer in polls) >= 6)
        assert place.victim.get("/v1/events?after=latest&wait=1").status_code == 200
        statuses = [answer.result(30).status_code for answer in polls]
        assert statuses.count(429) == 6
        assert statuses.count(200) == 4


def test_slow_uploads_leave_imports_and_exports_to_others(database_url: str) -> None:
    with street(database_url, max_transfers=2, queue_timeout=2) as place:
        uploads = [start_upload(place) for _ in range(6)]
        try:
            for _ in range(3):
                line = json.dumps({"content": "Has a cat"})
                answer = place.victim.post("/v1/import", content=line, headers=NDJSON)
                assert answer.status_code == 200, answer.text
                assert place.victim.get("/v1/export").status_code == 200
            assert place.evil.get("/v1/export").status_code == 200, "nor do they hold its own"
        finally:
            for upload in uploads:
                upload.close()


def start_upload(place: Street) -> socket.socket:
    """Return the connection of an import that has sent blanks, and sends nothing more."""
    url = httpx.URL(place.address)
    upload = socket.create_connection((url.host, url.port or 80), 30)
    key = place.evil.headers["x-api-key"]
    upload.sendall(
        f"POST /v1/import HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {key}\r\n"
        "X-Agent-Id: evil/one\r\nContent-Type: application/x-ndjson\r\n"
        "Transfer-Encoding: chunked\r\n\r\n2\r\n \n\r\n".encode()
    )
    return upload


def test_a_slow_upload_is_stored_when_it_ends(database_url: str) -> None:
    with street(database_url) as place:

        def send_slowly() -> Iterator[bytes]:
            for number in range(3):
                time.sleep(0.2)
                yield json.dumps({"content": f"Has cat number {number}"}).encode() + b"\n"

        answer = place.victim.post("/v1/import", content=send_slowly(), headers=NDJSON)
        assert answer.status_code == 200, answer.text
        assert len(place.victim.get("/v1/memories").json()["items"]) == 3


# --- R4: webhooks and pings -----------------------------------------------------------------------


@contextmanager
def receiving_late() -> Iterator[tuple[str, threading.Event]]:
    """A receiver that answers only once the event is set."""
    go_on = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/late":
                go_on.wait(30)
            else:
                arrived.append(time.monotonic())
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Keep silent."""

    arrived: list[float] = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", go_on
        finally:
            go_on.set()
            server.shutdown()
            thread.join()


def test_receivers_that_answer_late_hold_up_no_other_keys_events(database_url: str) -> None:
    with street(database_url) as place, receiving_late() as (url, go_on):
        for number in range(20):
            agent = {"X-Agent-Id": f"evil/{number}"}
            body = {"url": f"{url}/late", "agents": agent["X-Agent-Id"]}
            assert place.evil.post("/v1/webhooks", json=body, headers=agent).status_code == 201
            items = {"items": [{"content": "Likes cats"}, {"content": "Likes dogs"}]}
            place.evil.post("/v1/memories/batch", json=items, headers=agent).raise_for_status()
        hook = place.victim.post(
            "/v1/webhooks", json={"url": f"{url}/quick", "agents": "victim/one"}
        ).json()
        store(place.victim)

        async def deliver() -> None:
            async with open_jobs(place.settings) as jobs:
                service = jobs.services.deliveries
                async with service._running.work_beside(service._keep_looking()):
                    for _ in range(200):
                        await asyncio.sleep(0.05)
                        if await asyncio.to_thread(has_delivered):
                            break
                    go_on.set()

        def has_delivered() -> bool:
            deliveries = place.victim.get(f"/v1/webhooks/{hook['id']}").json()["deliveries"]
            return bool(deliveries)

        asyncio.run(deliver())
        assert has_delivered()


def test_pings_hold_no_place_for_writes(database_url: str) -> None:
    with street(database_url, queue_timeout=2) as place, receiving_late() as (url, go_on):
        body = {"url": f"{url}/late", "agents": "evil/one"}
        hook = place.evil.post("/v1/webhooks", json=body).json()["id"]
        pings = place.attack(25, lambda: place.evil.post(f"/v1/webhooks/{hook}/ping", timeout=60))
        time.sleep(0.5)
        for _ in range(3):
            store(place.victim)
        quick = {"url": f"{url}/quick", "agents": "victim/one"}
        own = place.victim.post("/v1/webhooks", json=quick).json()["id"]
        assert place.victim.post(f"/v1/webhooks/{own}/ping").status_code == 200
        go_on.set()
        assert {answer.result(60).status_code for answer in pings} <= {200, 429}


def test_a_key_has_a_bounded_number_of_webhooks(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "MOST_WEBHOOKS", 3)
    with street(database_url) as place:
        body = {"url": "http://127.0.0.1:9/", "agents": "evil/one"}
        hooks = [place.evil.post("/v1/webhooks", json=body).json() for _ in range(3)]
        refused = place.evil.post("/v1/webhooks", json=body)
        assert problem(refused, 409)["type"].endswith("too-many-webhooks")
        place.evil.delete(f"/v1/webhooks/{hooks[0]['id']}").raise_for_status()
        assert place.evil.post("/v1/webhooks", json=body).status_code == 201
        own = {"url": "http://127.0.0.1:9/", "agents": "victim/one"}
        assert place.victim.post("/v1/webhooks", json=own).status_code == 201


# --- R5: captures ---------------------------------------------------------------------------------


def send_long_talk(client: httpx.Client, agent: str) -> str:
    message = {"session_id": "s", "messages": [{"role": "user", "content": BOATS}]}
    answer = client.post("/v1/messages", json=message, headers={"X-Agent-Id": agent})
    assert answer.status_code == 202, answer.text
    capture_id: str = answer.json()["capture_id"]
    return capture_id


def test_captures_of_one_key_do_not_wait_behind_those_of_another(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture_runner, "AT_ONCE", 1)
    with street(database_url) as place:
        evil = [send_long_talk(place.evil, f"evil/{number}") for number in range(8)]
        own = send_long_talk(place.victim, "victim/one")
        asyncio.run(run_worker(place.settings, until_idle=True))
        with psycopg.connect(database_url) as connection:
            rows = connection.execute("SELECT id, state, finished_at FROM captures").fetchall()
        assert {state for _, state, _ in rows} == {"done"}
        finished: dict[str, datetime] = {str(row[0]): row[2] for row in rows}
        before = sum(finished[one] < finished[own] for one in evil)
        assert before <= 2


def test_a_key_has_a_bounded_number_of_captures_that_wait(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(captures, "MOST_PENDING", 2)
    with street(database_url) as place:
        for number in range(2):
            send_long_talk(place.evil, f"evil/{number}")
        message = {"session_id": "s", "messages": [{"role": "user", "content": "I own a boat."}]}
        refused = place.evil.post("/v1/messages", json=message)
        assert problem(refused, 429)["type"].endswith("too-many-captures")
        assert int(refused.headers["retry-after"]) > 0
        assert place.victim.post("/v1/messages", json=message).status_code == 200
        asyncio.run(run_worker(place.settings, until_idle=True))
        assert place.evil.post("/v1/messages", json=message).status_code == 200
