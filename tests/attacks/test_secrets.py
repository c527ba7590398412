"""A secret comes in by no door: what was written is read back from an export of the agent."""

import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.settings import load_settings
from support.databases import fresh_database
from support.service import running
from support.urls import name_of

ROOT_KEY = "root-" + "kaas-zonder-gaten-" * 2
TOKEN = "ghp" + "_" + "a1B2c3D4e5F6" * 3
ISSUED_KEY = "pal" + "_0123456789abcdef_" + "0123456789abcdef" * 4
NDJSON = {"Content-Type": "application/x-ndjson"}


@pytest.fixture(scope="module")
def address(server_url: str, template_url: str) -> Iterator[str]:
    with (
        fresh_database(server_url, template=name_of(template_url)) as url,
        running(load_settings(database_url=url, api_key=ROOT_KEY)) as address,
    ):
        yield address


@pytest.fixture
def tenant(address: str) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {ROOT_KEY}", "X-Agent-Id": f"secrets-{uuid4()}"}
    with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
        yield client


def post_lines(client: httpx.Client, *lines: Any) -> httpx.Response:
    body = "\n".join(map(json.dumps, lines))
    return client.post("/v1/import", content=body, headers=NDJSON)


def post_to_mem0(client: httpx.Client, text: str, **more: Any) -> httpx.Response:
    body = {"messages": [{"role": "user", "content": text}], **more}
    return client.post("/mem0/v1/memories/", json=body | {"user_id": client.headers["X-Agent-Id"]})


def call_tool(client: httpx.Client, name: str, arguments: dict[str, Any]) -> httpx.Response:
    call = {"name": name, "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    return client.post("/mcp", json=body, headers={"Accept": "application/json, text/event-stream"})


def post_message(client: httpx.Client, **fields: Any) -> httpx.Response:
    message = {"role": "user", "content": "I live in Oslo."} | fields
    return client.post("/v1/messages", json={"session_id": "one", "messages": [message]})


def supersede(client: httpx.Client, text: str) -> httpx.Response:
    stored = client.post("/v1/memories", json={"content": "The deploy key is lost"}).json()
    return client.post(f"/v1/memories/{stored['memory']['id']}/supersede", json={"content": text})


def amend(client: httpx.Client, text: str) -> httpx.Response:
    stored = client.post("/v1/memories", json={"content": "The deploy key is lost"}).json()
    body = {"details": {"note": [text]}}
    return client.patch(f"/v1/memories/{stored['memory']['id']}", json=body)


def retract(client: httpx.Client, text: str) -> httpx.Response:
    stored = client.post("/v1/memories", json={"content": "The deploy key is lost"}).json()
    return client.post(f"/v1/memories/{stored['memory']['id']}/retract", json={"reason": text})


Door = Callable[[httpx.Client, str], httpx.Response]
DOORS: dict[str, Door] = {
    "store": lambda client, text: client.post("/v1/memories", json={"content": text}),
    "value": lambda client, text: client.post(
        "/v1/memories", json={"content": "The key", "key": "key", "value": text}
    ),
    "details": lambda client, text: client.post(
        "/v1/memories", json={"content": "The key", "details": {"a": [{"b": text}]}}
    ),
    "batch": lambda client, text: client.post(
        "/v1/memories/batch", json={"items": [{"content": text}]}
    ),
    "supersede": supersede,
    "amend": amend,
    "retract": retract,
    "message": lambda client, text: post_message(client, content=text),
    "name": lambda client, text: post_message(client, name=text),
    "import": lambda client, text: post_lines(client, {"content": text}),
    "mem0": lambda client, text: post_to_mem0(client, text, infer=False),
    "mem0 infer": post_to_mem0,
    "mem0 metadata": lambda client, text: post_to_mem0(
        client, "I like tea", infer=False, metadata={"a": text}
    ),
    "mcp store": lambda client, text: call_tool(client, "memory_store", {"content": text}),
    "mcp capture": lambda client, text: call_tool(
        client, "memory_capture", {"messages": [{"role": "user", "content": text}]}
    ),
}


@pytest.mark.parametrize("secret", [TOKEN, ISSUED_KEY, ROOT_KEY], ids=["vendor", "own", "root"])
@pytest.mark.parametrize("door", DOORS)
def test_a_secret_in_a_text_is_replaced(tenant: httpx.Client, door: str, secret: str) -> None:
    answer = DOORS[door](tenant, f"My key is {secret}, keep it.")
    assert answer.is_success, answer.text
    export = tenant.get("/v1/export").text
    assert secret not in export
    assert "[redacted: " in export


NAMES: dict[str, Callable[[httpx.Client, str], httpx.Response]] = {
    "session": lambda client, name: client.post(
        "/v1/memories", json={"content": "I like tea", "session_id": name}
    ),
    "tag": lambda client, name: client.post(
        "/v1/memories", json={"content": "I like tea", "tags": [name]}
    ),
    "name of a detail": lambda client, name: client.post(
        "/v1/memories", json={"content": "I like tea", "details": {name: 1}}
    ),
    "session of messages": lambda client, name: client.post(
        "/v1/messages",
        json={"session_id": name, "messages": [{"role": "user", "content": "Hello"}]},
    ),
    "message": lambda client, name: post_message(client, id=name),
    "import": lambda client, name: post_lines(
        client, {"content": "a"}, {"content": "b", "project": name}
    ),
    "agent": lambda client, name: client.post(
        "/v1/memories", json={"content": "I like tea"}, headers={"X-Agent-Id": name}
    ),
    "agent of an import": lambda client, name: client.post(
        "/v1/import", content='{"content": "a"}', headers=NDJSON | {"X-Agent-Id": name}
    ),
}


@pytest.mark.parametrize("secret", [TOKEN, ROOT_KEY], ids=["vendor", "root"])
@pytest.mark.parametrize("door", NAMES)
def test_a_secret_in_a_name_is_refused(tenant: httpx.Client, door: str, secret: str) -> None:
    answer = NAMES[door](tenant, secret)
    assert answer.status_code == 422
    assert "holds a secret" in answer.json()["detail"]
    assert secret not in answer.text
    assert tenant.get("/v1/memories").json()["items"] == []


@pytest.mark.parametrize(("field", "word"), [("content", "tea"), ("details", "green")])
def test_an_export_with_a_token_is_refused(tenant: httpx.Client, field: str, word: str) -> None:
    tenant.post("/v1/memories", json={"content": "I like tea", "details": {"sort": "green"}})
    export = tenant.get("/v1/export").text
    headers = NDJSON | {"X-Agent-Id": f"copy-{uuid4()}"}
    poisoned = export.replace(word, TOKEN)
    refused = tenant.post("/v1/import", content=poisoned, headers=headers)
    assert (refused.status_code, TOKEN in refused.text) == (422, False)
    assert f"Line 2: {field} holds a secret (github_token)" in refused.json()["detail"]
    assert tenant.post("/v1/import", content=export, headers=headers).status_code == 200
