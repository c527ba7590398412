"""Clients that describe themselves at an address: what is asked, and what is believed."""

import asyncio
import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from app.domain.oauth import OAuthClient, OAuthError
from app.remote.public_http import MOST_LOOKUPS, PublicClient
from app.services import oauth_clients
from app.services.oauth_clients import MOST_BYTES, MOST_FETCHES, OAuthClients

# A literal, so that no name is resolved.
ADDRESS = "https://93.184.216.34/client.json"
DOCUMENT = {
    "client_id": ADDRESS,
    "client_name": "Claude",
    "redirect_uris": ["https://claude.ai/api/mcp/auth_callback"],
}


class Host:
    """Answers requests, and counts them."""

    def __init__(self, content: Any, status: int = 200) -> None:
        self.content = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.status = status
        self.requests: list[httpx.Request] = []

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return httpx.Response(
            self.status, stream=httpx.ByteStream(self.content), headers={"Location": ADDRESS}
        )

    def build_clients(self) -> OAuthClients:
        http = httpx.AsyncClient(transport=httpx.MockTransport(self.answer))
        return OAuthClients(PublicClient(http=http))


def find(host: Host, *client_ids: str) -> list[OAuthClient | str]:
    """Return each client, or the code of the refusal."""

    async def find_all() -> list[OAuthClient | str]:
        clients, answers = host.build_clients(), []
        for client_id in client_ids:
            try:
                answers.append(await clients.find_client(client_id))
            except OAuthError as problem:
                answers.append(problem.code)
        return answers

    return asyncio.run(find_all())


def test_a_client_describes_itself_once_for_a_while() -> None:
    host = Host(DOCUMENT)
    [client, again] = find(host, ADDRESS, ADDRESS)
    assert client == again == OAuthClient(ADDRESS, "Claude", tuple(DOCUMENT["redirect_uris"]))
    [request] = host.requests
    assert request.headers["host"] == "93.184.216.34"


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (DOCUMENT, 404),
        (DOCUMENT, 302),
        (b"", 200),
        (b"<html>", 200),
        (b"[" * 10_000, 200),
        ([], 200),
        ({}, 200),
        (DOCUMENT | {"client_id": ADDRESS + "?"}, 200),
        (DOCUMENT | {"client_name": 7}, 200),
        (DOCUMENT | {"redirect_uris": "https://claude.ai/cb"}, 200),
        (DOCUMENT | {"redirect_uris": [{}]}, 200),
        (DOCUMENT | {"padding": "x" * MOST_BYTES}, 200),
    ],
)
def test_a_document_that_does_not_describe_its_address_is_refused(
    content: Any, status: int
) -> None:
    host = Host(content, status)
    assert find(host, ADDRESS, ADDRESS) == ["invalid_client"] * 2
    assert len(host.requests) == 1


def test_a_document_may_name_no_address_that_a_registration_may_not() -> None:
    hostile = DOCUMENT | {"redirect_uris": ["javascript:alert(1)"]}
    assert find(Host(hostile), ADDRESS) == ["invalid_redirect_uri"]


@pytest.mark.parametrize(
    "client_id",
    [
        "https://127.0.0.1/client.json",
        "https://localhost/client.json",
        "https://[::1]/client.json",
        "https://169.254.169.254/latest/meta-data",
        "https://10.0.0.1/client.json",
        "https://93.184.216.34:22/client.json",
        "https://user@93.184.216.34/client.json",
        "https://93.184.216.34/client.json#x",
        "https://",
        "https://[::1",
        "http://93.184.216.34/client.json",
        "file:///etc/passwd",
        f"{ADDRESS}?{'x' * 2_000}",
    ],
)
def test_only_public_addresses_are_asked(client_id: str) -> None:
    host = Host(DOCUMENT | {"client_id": client_id})
    assert find(host, client_id) == ["invalid_client"]
    assert not host.requests


def test_an_address_without_a_path_is_no_client() -> None:
    client_id = "https://93.184.216.34/"
    assert find(Host(DOCUMENT | {"client_id": client_id}), client_id) == ["invalid_client"]


def test_few_addresses_are_asked_at_once() -> None:
    async def flood() -> list[Any]:
        free = asyncio.Event()

        async def answer_late(_: httpx.Request) -> httpx.Response:
            await free.wait()
            return httpx.Response(404)

        http = httpx.AsyncClient(transport=httpx.MockTransport(answer_late))
        clients = OAuthClients(PublicClient(http=http))
        waiting = [
            asyncio.create_task(clients.find_client(f"{ADDRESS}?{number}"))
            for number in range(MOST_FETCHES + 3)
        ]
        done, _ = await asyncio.wait(waiting, timeout=0.3)
        free.set()
        await asyncio.gather(*waiting, return_exceptions=True)
        return [task.exception() for task in done]

    refused = asyncio.run(flood())
    assert [problem.code for problem in refused] == ["temporarily_unavailable"] * 3


def test_a_silent_address_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oauth_clients, "FETCH_TIMEOUT", 0.05)

    async def ask() -> None:
        async def never(_: httpx.Request) -> httpx.Response:
            await asyncio.sleep(10)
            raise AssertionError

        http = httpx.AsyncClient(transport=httpx.MockTransport(never))
        await OAuthClients(PublicClient(http=http)).find_client(ADDRESS)

    with pytest.raises(OAuthError, match="silent"):
        asyncio.run(ask())


def test_names_that_nobody_resolves_take_no_thread_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A lookup goes on in its thread after the call was given up."""
    monkeypatch.setattr(oauth_clients, "FETCH_TIMEOUT", 0.01)
    free = threading.Event()

    def look_up_forever(*_: Any, **__: Any) -> Any:
        free.wait(20)
        raise OSError

    monkeypatch.setattr(socket, "getaddrinfo", look_up_forever)

    async def flood() -> None:
        clients = Host(DOCUMENT).build_clients()
        threads = ThreadPoolExecutor(2)
        asyncio.get_running_loop().set_default_executor(threads)
        try:
            for number in range(MOST_LOOKUPS + 2):
                with pytest.raises(OAuthError, match="silent"):
                    await clients.find_client(f"https://slow-{number}.example/client.json")
            async with asyncio.timeout(5):
                await asyncio.to_thread(int)
        finally:
            free.set()

    asyncio.run(flood())
