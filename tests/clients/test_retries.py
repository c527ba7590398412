"""What is sent again, and when: as a table, and against a server that answers as it is scripted."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from palimpsest_client import (
    AsyncClient,
    Client,
    Invalid,
    NoAnswer,
    Retries,
    TooBusy,
    Unavailable,
    UnexpectedAnswer,
)
from palimpsest_client.requests import Request

READ = Request("GET", "/v1/log", is_read=True)
WRITE = Request("POST", "/v1/memories", body={}, idempotency_key="k")
UNKEYED = Request("POST", "/v1/keys", body={})
QUICK = Retries(tries=4, first_pause=0.01)


def answer(status: int, *, after: str | None = None, problem: bool = True) -> httpx.Response:
    headers = {"Content-Type": "application/problem+json" if problem else "text/html"}
    if after is not None:
        headers["Retry-After"] = after
    content = json.dumps({"type": "urn:x", "title": "X", "detail": "Why.", "status": status})
    return httpx.Response(status, headers=headers, content=content)


@pytest.mark.parametrize(
    ("request_", "outcome", "is_repeated"),
    [
        (READ, httpx.ReadTimeout(""), True),
        (READ, httpx.RemoteProtocolError(""), True),
        (WRITE, httpx.ReadError(""), True),
        (UNKEYED, httpx.ReadError(""), False),  # it may have been executed
        (UNKEYED, httpx.ConnectError(""), True),
        (READ, httpx.UnsupportedProtocol(""), False),
        (READ, answer(200), False),
        (READ, answer(404), False),
        (READ, answer(500), False),
        (READ, answer(502), True),
        (WRITE, answer(504, problem=False), True),
        (UNKEYED, answer(502), False),
        (UNKEYED, answer(429, after="1"), True),
        (WRITE, answer(503, after="1"), True),
        (WRITE, answer(503), False),  # of a frozen agent: no Retry-After
        (WRITE, answer(503, problem=False), True),  # of a proxy
        (WRITE, answer(503, after="31"), False),  # longer than the caller waits
    ],
)
def test_what_is_sent_again(request_: Request, outcome: Any, is_repeated: bool) -> None:
    pause = Retries().find_pause(request_, outcome, tried=1, elapsed=0)
    assert (pause is not None) == is_repeated


def test_pauses_grow_and_keep_to_what_the_service_asks() -> None:
    retries = Retries(tries=9, first_pause=1, longest_pause=4, within=100)
    trouble = httpx.ReadError("")
    for tried, longest in ((1, 1), (2, 2), (3, 4), (4, 4)):
        pause = retries.find_pause(READ, trouble, tried=tried, elapsed=0)
        assert pause is not None
        assert longest / 2 <= pause <= longest
    assert retries.find_pause(READ, answer(503, after="9"), tried=1, elapsed=0) == 9
    assert retries.find_pause(READ, answer(503, after="9"), tried=1, elapsed=92) is None
    assert retries.find_pause(READ, trouble, tried=9, elapsed=0) is None


def test_a_moment_to_wait_for_is_read_as_seconds() -> None:
    moment = answer(503, after="Wed, 21 Oct 2015 07:28:00 GMT")
    assert Retries().find_pause(READ, moment, tried=1, elapsed=0) == 0
    assert Retries().find_pause(READ, answer(503, after="soon"), tried=1, elapsed=0) is None


# --- a scripted server ---------------------------------------------------------------------------


class Script:
    """What the server answers, one entry a call; None breaks the connection off."""

    def __init__(self, *answers: httpx.Response | None) -> None:
        self.answers = list(answers)
        self.calls: list[tuple[str, bytes, dict[str, str]]] = []


@contextmanager
def scripted(script: Script) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            script.calls.append((self.path, body, dict(self.headers)))
            response = script.answers.pop(0)
            if response is None:
                self.close_connection = True
                return
            self.send_response(response.status_code)
            for name in ("Content-Type", "Retry-After"):
                if name in response.headers:
                    self.send_header(name, response.headers[name])
            self.send_header("Content-Length", str(len(response.content)))
            self.end_headers()
            self.wfile.write(response.content)

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()


DONE = httpx.Response(201, json={"operation": "ADD"})


def test_a_write_is_sent_again_with_the_same_key_and_body() -> None:
    script = Script(None, answer(503, after="0"), answer(502, problem=False), DONE)
    with scripted(script) as url, Client(url, retries=QUICK) as client:
        assert client.store("I live in Lisbon")["operation"] == "ADD"
    keys = {headers["Idempotency-Key"] for _, _, headers in script.calls}
    assert (len(script.calls), len(keys), len({body for _, body, _ in script.calls})) == (4, 1, 1)
    with scripted(script := Script(DONE, DONE)) as url, Client(url) as client:
        client.store("I live in Lisbon")
        client.store("I live in Lisbon")
    assert len({headers["Idempotency-Key"] for _, _, headers in script.calls}) == 2


def test_asynchronous_calls_are_sent_again_too() -> None:
    script = Script(None, answer(429, after="0"), DONE)

    async def store(url: str) -> Any:
        async with AsyncClient(url, retries=QUICK) as client:
            return await client.store("I live in Lisbon", idempotency_key="mine")

    with scripted(script) as url:
        assert asyncio.run(store(url))["operation"] == "ADD"
    assert [headers["Idempotency-Key"] for _, _, headers in script.calls] == ["mine"] * 3


def test_what_fails_to_the_end_is_an_error_that_names_the_key() -> None:
    with (
        scripted(Script(*[answer(503, after="0")] * 4)) as url,
        Client(url, retries=QUICK) as client,
        pytest.raises(TooBusy, match="Why") as raised,
    ):
        client.retract("x", idempotency_key="mine")
    assert (raised.value.idempotency_key, raised.value.retry_after) == ("mine", 0)
    with (
        scripted(script := Script(None)) as url,
        Client(url, retries=QUICK) as client,
        pytest.raises(NoAnswer),
    ):
        client.issue_key("x", ["read"], ["*"])
    assert len(script.calls) == 1


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (answer(422), Invalid),
        (answer(503), Unavailable),
        (answer(504, problem=False), Unavailable),
        (
            httpx.Response(200, text="<html>", headers={"Content-Type": "text/html"}),
            UnexpectedAnswer,
        ),
        (
            httpx.Response(400, text="<html>", headers={"Content-Type": "text/html"}),
            UnexpectedAnswer,
        ),
    ],
)
def test_an_answer_is_an_error_by_what_a_caller_does(
    response: httpx.Response, error: type[Exception]
) -> None:
    with scripted(Script(response)) as url, Client(url, retries=Retries(tries=1)) as client:
        with pytest.raises(error) as raised:
            client.search("editor")
        assert type(raised.value) is error


def test_nobody_there_is_no_answer() -> None:
    with (
        Client("http://127.0.0.1:9", retries=QUICK) as client,
        pytest.raises(NoAnswer, match=r"127\.0\.0\.1:9"),
    ):
        client.get_memory("x")
    with Client("ftp://127.0.0.1", retries=QUICK) as client, pytest.raises(NoAnswer):
        client.get_memory("x")
