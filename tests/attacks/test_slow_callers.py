"""F2: callers that send half a request, or nothing, stop nobody else."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from queue import Queue
from uuid import uuid4

import httpx
import pytest

from app import connections
from app.api import request_body
from app.settings import load_settings
from support.builders import contents, problem
from support.service import running
from support.transfers import NDJSON

KEY = "secret-key-of-the-test-0123456789abcdef"
HALF = (
    "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    "{key}Content-Length: 1000\r\n\r\n{{"
)


@pytest.fixture
def keyed(database_url: str) -> Iterator[httpx.Client]:
    """A client of a service with a key, where three writes and six reads find a place."""
    settings = load_settings(
        database_url=database_url,
        api_key=KEY,
        max_writes=3,
        max_reads=6,
        queue_timeout=0.5,
        max_connections=40,
        max_connections_per_address=40,
    )
    headers = {"X-API-Key": KEY, "X-Agent-Id": f"test-{uuid4().hex}"}
    with (
        running(settings) as address,
        httpx.Client(base_url=address, headers=headers, timeout=20) as client,
    ):
        yield client


def open_connection(client: httpx.Client) -> socket.socket:
    return socket.create_connection((client.base_url.host, client.base_url.port or 80), 10)


def read_all(caller: socket.socket) -> bytes:
    return b"".join(iter(lambda: caller.recv(65_536), b""))


def assert_served(client: httpx.Client) -> None:
    assert client.post("/v1/memories", json={"content": "Has a cat"}).status_code in (200, 201)
    assert client.post("/v1/search", json={"query": "cat"}).status_code == 200


@pytest.mark.parametrize("key", ["", f"X-API-Key: {KEY}\r\n"])
@pytest.mark.parametrize("path", ["/v1/memories", "/v1/search", "/v1/memories/batch"])
def test_half_sent_bodies_take_no_place(keyed: httpx.Client, path: str, key: str) -> None:
    with ExitStack() as stack:
        for _ in range(20):
            caller = stack.enter_context(open_connection(keyed))
            caller.sendall(HALF.format(path=path, key=key).encode())
        time.sleep(0.2)
        for _ in range(3):
            assert_served(keyed)


def test_the_key_is_asked_for_before_the_body(keyed: httpx.Client) -> None:
    with open_connection(keyed) as caller:
        caller.sendall(HALF.format(path="/v1/memories", key="").encode())
        answer = read_all(caller)
    assert answer.startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize(
    ("path", "size", "key", "status"),
    [("/v1/memories/batch", 8, "wrong", 401), ("/v1/memories", 8, KEY, 413)],
)
def test_a_refusal_reaches_a_caller_who_sends_all_of_a_large_body(
    keyed: httpx.Client, path: str, size: int, key: str, status: int
) -> None:
    for _ in range(5):
        response = keyed.post(path, content=b" " * size * 2**20, headers={"X-API-Key": key})
        assert response.status_code == status


def test_a_body_that_stops_coming_is_given_up(
    keyed: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_body, "PIECE_DEADLINE", 0.3)
    for path, media in (("/v1/memories", "json"), ("/v1/import", "x-ndjson")):
        head = HALF.format(path=path, key=f"X-API-Key: {KEY}\r\n").replace("/json", f"/{media}")
        with open_connection(keyed) as caller:
            caller.sendall(head.encode())
            answer = caller.recv(65_536)
        assert answer.startswith(b"HTTP/1.1 408 "), answer[:300]
    assert_served(keyed)


def test_a_slow_body_that_keeps_coming_is_taken(
    keyed: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_body, "PIECE_DEADLINE", 0.5)
    body = b'{"content": "Has a dog"}'

    def trickle() -> Iterator[bytes]:
        for at in range(0, len(body), 6):
            time.sleep(0.2)
            yield body[at : at + 6]

    headers = {"Content-Type": "application/json"}
    response = keyed.post("/v1/memories", content=trickle(), headers=headers)
    assert response.status_code == 201


def test_a_head_that_never_ends_is_given_up(
    keyed: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_DEADLINE", 0.3)
    for sent in (b"", b"GET /v1/memories HTTP/1.1\r\nHost: lo"):
        with open_connection(keyed) as caller:
            caller.sendall(sent)
            with suppress(ConnectionResetError):
                assert read_all(caller) == b""
    assert_served(keyed)


def test_a_head_without_end_is_cut_off(keyed: httpx.Client) -> None:
    with open_connection(keyed) as caller:
        caller.sendall(b"GET /v1/memories HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
        assert not takes_more(caller, pieces=200)
    assert_served(keyed)


def takes_more(caller: socket.socket, pieces: int) -> bool:
    try:
        for _ in range(pieces):
            caller.sendall(b"x" * 65_536)
            time.sleep(0.002)
    except (ConnectionResetError, BrokenPipeError):
        return False
    return True


def test_no_header_comes_after_the_body(keyed: httpx.Client) -> None:
    """The agent was chosen, and the key checked, by then."""
    agent = keyed.headers["X-Agent-Id"]
    head = (
        "POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"X-API-Key: {KEY}\r\nX-Agent-Id: {agent}\r\nTransfer-Encoding: chunked\r\n"
        "Connection: close\r\n\r\n"
    )
    body = b'{"content": "Has a cat"}'
    chunks = f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\nX-Agent-Id: somebody\r\n\r\n"
    with open_connection(keyed) as caller:
        caller.sendall(head.encode() + chunks)
        assert read_all(caller).startswith(b"HTTP/1.1 201 ")
    assert contents(keyed) == {"Has a cat"}


def test_half_sent_bodies_give_way_to_callers(keyed: httpx.Client) -> None:
    with ExitStack() as stack:
        for _ in range(120):
            caller = stack.enter_context(open_connection(keyed))
            with suppress(ConnectionError):
                caller.sendall(
                    HALF.format(path="/v1/memories", key=f"X-API-Key: {KEY}\r\n").encode()
                )
        for _ in range(5):
            assert_served(keyed)


def test_bodies_of_a_key_are_bounded_together(
    keyed: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_body, "MOST_BUFFERED", 300_000)  # half for each key
    large = b"[" + b" " * 99_000
    head = (
        "POST /v1/memories/batch HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Type: application/json\r\nX-API-Key: {KEY}\r\nContent-Length: 200000\r\n\r\n"
    )
    with open_connection(keyed) as first, open_connection(keyed) as second:
        first.sendall(head.encode() + large)
        time.sleep(0.2)
        second.sendall(head.encode() + large)
        assert second.recv(65_536).startswith(b"HTTP/1.1 429 ")
    time.sleep(0.2)
    assert_served(keyed)


def test_an_import_that_drips_is_given_up(
    keyed: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_body, "BODY_DEADLINE", 0.5)

    def drip() -> Iterator[bytes]:
        for _ in range(20):
            time.sleep(0.1)
            yield b"\n"

    response = keyed.post("/v1/import", content=drip(), headers=NDJSON)
    assert problem(response, 408)["type"].endswith("slow-body")


def test_silent_connections_give_way_to_callers(keyed: httpx.Client) -> None:
    with ExitStack() as stack:
        for _ in range(120):
            stack.enter_context(open_connection(keyed))
        for _ in range(5):
            assert_served(keyed)


def test_only_a_batch_may_be_large(keyed: httpx.Client) -> None:
    large = {"content": "x", "details": {"a": "x" * 300_000}}
    assert "262144 bytes" in problem(keyed.post("/v1/memories", json=large), 413)["detail"]
    answer = keyed.post("/v1/memories/batch", json={"items": [large]})
    assert answer.status_code != 413


def test_an_answer_that_nobody_reads_is_given_up(
    keyed: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "ANSWER_DEADLINE", 0.5)
    abort, given_up = connections.BoundedConnection.abort, Queue[int]()

    def note_and_abort(connection: connections.BoundedConnection) -> None:
        abort(connection)
        given_up.put(connection.client[1] if connection.client else 0)

    monkeypatch.setattr(connections.BoundedConnection, "abort", note_and_abort)
    items = [
        {"content": f"Fact {n}", "classify": False, "details": {"note": "x" * 15_900}}
        for n in range(900)
    ]
    stored = keyed.post("/v1/memories/batch", json={"items": items}, timeout=180)
    assert stored.status_code == 200
    with open_connection(keyed) as caller:
        agent = keyed.headers["X-Agent-Id"]
        caller.sendall(
            f"GET /v1/export HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {KEY}\r\n"
            f"X-Agent-Id: {agent}\r\n\r\n".encode()
        )
        while given_up.get(timeout=60) != caller.getsockname()[1]:
            pass  # nothing is read meanwhile
        answer = b""
        with suppress(ConnectionResetError):
            answer = read_all(caller)
    assert not answer.endswith(b"\r\n0\r\n\r\n")
    assert_served(keyed)


def test_a_connection_goes_on_after_a_body_that_was_refused_early(keyed: httpx.Client) -> None:
    """The rest of the body is no head, however long it is."""
    lines = b'{"colour": "red"}\n' + b'{"content": "Has a dog"}\n' * 20_000

    def send_in_two() -> Iterator[bytes]:
        yield lines[:1000]
        time.sleep(0.3)
        yield lines[1000:]

    for _ in range(3):
        refused = keyed.post("/v1/import", content=send_in_two(), headers=NDJSON)
        assert refused.status_code == 422
        assert_served(keyed)
