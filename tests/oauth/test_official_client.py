"""The client of MCP's SDK finds everything by itself, from the address of an agent."""

import asyncio
from typing import Any
from urllib.parse import urljoin

import httpx
import pytest
from mcp import Client as Host
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)

from support.keys import issue
from support.oauth import CALLBACK, read_action, read_answer


class Memory:
    """Tokens and the client's id, as the SDK stores them."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Person:
    """Opens the page that the SDK wants opened, and allows what it asks with a key."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.pages: list[str] = []
        self._answer: dict[str, str] = {}

    async def open_page(self, address: str) -> None:
        async with httpx.AsyncClient() as client:
            page = await client.get(address)
            self.pages.append(page.text)
            form = {"key": self.key, "scope": ["read", "write"], "decision": "allow"}
            decided = await client.post(urljoin(address, read_action(page.text)), data=form)
        assert decided.status_code == 303, decided.text
        assert decided.headers["location"].startswith(CALLBACK)
        self._answer = read_answer(decided.headers["location"])

    async def read_answer(self) -> AuthorizationCodeResult:
        answer = self._answer
        return AuthorizationCodeResult(
            code=answer["code"], state=answer["state"], iss=answer["iss"]
        )


def connect(address: str, person: Person, memory: Memory) -> OAuthClientProvider:
    return OAuthClientProvider(
        address,
        OAuthClientMetadata(client_name="Example host", redirect_uris=[CALLBACK]),  # type: ignore[list-item]
        memory,
        redirect_handler=person.open_page,
        callback_handler=person.read_answer,
    )


async def call(provider: OAuthClientProvider, address: str, tool: str, **arguments: Any) -> Any:
    async with (
        create_mcp_http_client(auth=provider) as http,
        Host(streamable_http_client(address, http_client=http)) as host,
    ):
        return await host.call_tool(tool, arguments)


@pytest.mark.parametrize("path", ["/mcp/mira", "/mcp"])
def test_the_sdk_registers_asks_and_calls_a_tool(
    keyed_service: str, root: httpx.Client, path: str
) -> None:
    key = issue(root, scopes=["read", "write"], agents=["mira"])["key"]
    person, memory, address = Person(key), Memory(), keyed_service + path
    provider = connect(address, person, memory)
    stored = asyncio.run(call(provider, address, "memory_store", content="I live in Porto"))
    assert not stored.is_error
    assert "Example host" in person.pages[0]
    assert memory.tokens is not None
    assert memory.tokens.scope == "read write"
    facts = root.get("/v1/memories", headers={"X-Agent-Id": "mira"}).json()["items"]
    assert "I live in Porto" in [fact["content"] for fact in facts]


def test_the_sdk_refreshes_a_token_that_has_expired(keyed_service: str, root: httpx.Client) -> None:
    key = issue(root, scopes=["read"], agents=["ann"])["key"]
    person, memory, address = Person(key), Memory(), f"{keyed_service}/mcp/ann"
    provider = connect(address, person, memory)

    async def call_twice() -> Any:
        await call(provider, address, "memory_context")
        first = memory.tokens
        provider.context.token_expiry_time = 1.0
        return first, await call(provider, address, "memory_context")

    first, answer = asyncio.run(call_twice())
    assert not answer.is_error
    assert memory.tokens is not None
    assert memory.tokens.access_token != first.access_token
    assert len(person.pages) == 1
