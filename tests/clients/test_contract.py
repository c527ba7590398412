"""The client has every operation of the OpenAPI document, with every parameter and field."""

import asyncio
import importlib.util
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import httpx
import pytest

from palimpsest_client import AsyncClient, Client, models

ROOT = Path(__file__).parents[2]
DOCUMENT = json.loads((ROOT / "openapi" / "openapi.json").read_text())
SCHEMAS = DOCUMENT["components"]["schemas"]
HEADERS = {"Idempotency-Key": "idempotency_key", "If-Match": "if_match"}
VALUE = "11111111-1111-4111-8111-111111111111"


def list_operations() -> Iterator[Any]:
    for route, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield pytest.param(route, method.upper(), operation, id=operation["operationId"])


def is_alias(described: dict[str, Any]) -> bool:
    return described.get("description", "").startswith("Another name for")


def list_fields(operation: dict[str, Any]) -> list[str]:
    """The fields of a JSON body."""
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    [reference] = [s["$ref"] for s in schema.get("anyOf", [schema]) if "$ref" in s] or [None]
    fields = SCHEMAS[reference.rpartition("/")[2]]["properties"] if reference else {}
    return [name for name, field in fields.items() if not is_alias(field)]


def list_parameters(operation: dict[str, Any], place: str) -> list[str]:
    parameters = [p for p in operation.get("parameters", []) if p["in"] == place]
    return [p["name"] for p in parameters if not is_alias(p) and p["name"] not in NOT_OF_A_METHOD]


# The client sends the agent of itself, and reads no stream of events.
NOT_OF_A_METHOD = {"X-Agent-Id", "Last-Event-ID", "Palimpsest-Position"}


def list_arguments(operation: dict[str, Any]) -> set[str]:
    arguments = {HEADERS[name] for name in list_parameters(operation, "header")}
    for place in ("path", "query"):
        arguments |= set(list_parameters(operation, place))
    lines = {"lines"} if operation["operationId"] == "import_history" else set()
    return arguments | set(list_fields(operation)) | lines


class Recorder(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Keeps what was sent, and answers an empty page."""

    def __init__(self) -> None:
        self.sent: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.sent.append(request)
        page = {"items": [], "versions": [], "next_cursor": None}
        return httpx.Response(200, json=page | {"type": "end"})

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        return self.handle_request(request)


def call(operation: dict[str, Any]) -> httpx.Request:
    """What the client sends with a value for each argument."""
    recorder = Recorder()
    arguments: dict[str, Any] = dict.fromkeys(list_arguments(operation), VALUE)
    if "lines" in arguments:
        arguments["lines"] = [{"content": VALUE}]
    with Client("http://here", agent="ada", transport=recorder) as client:
        answer = getattr(client, operation["operationId"])(**arguments)
        if hasattr(answer, "page"):
            answer.page()
        if hasattr(answer, "blocks"):
            with pytest.raises(Exception, match="cut off"):
                list(answer.blocks())
    [request] = recorder.sent
    return request


async def call_async(operation: dict[str, Any]) -> httpx.Request:
    recorder = Recorder()
    arguments: dict[str, Any] = dict.fromkeys(list_arguments(operation), VALUE)
    if "lines" in arguments:
        arguments["lines"] = [{"content": VALUE}]
    async with AsyncClient("http://here", agent="ada", transport=recorder) as client:
        answer = getattr(client, operation["operationId"])(**arguments)
        if inspect.isawaitable(answer):
            await answer
        if hasattr(answer, "page"):
            await answer.page()
        if hasattr(answer, "blocks"):
            with pytest.raises(Exception, match="cut off"):
                [block async for block in answer.blocks()]
    [request] = recorder.sent
    return request


@pytest.mark.parametrize(("route", "method", "operation"), list(list_operations()))
def test_each_operation_is_a_method_with_its_parameters_and_fields(
    route: str, method: str, operation: dict[str, Any]
) -> None:
    for kind in (Client, AsyncClient):
        function = getattr(kind, operation["operationId"])
        assert set(inspect.signature(function).parameters) - {"self"} == list_arguments(operation)
        assert function.__doc__


@pytest.mark.parametrize(("route", "method", "operation"), list(list_operations()))
def test_each_argument_is_sent_where_the_document_says(
    route: str, method: str, operation: dict[str, Any]
) -> None:
    request = call(operation)
    assert (request.method, request.headers["X-Agent-Id"]) == (method, "ada")
    path = route
    for name in list_parameters(operation, "path"):
        path = path.replace(f"{{{name}}}", VALUE)
    assert request.url.path == path
    query = list_parameters(operation, "query")
    assert dict(request.url.params) == dict.fromkeys(query, VALUE)
    for name in list_parameters(operation, "header"):
        assert request.headers[name] == VALUE
    if fields := list_fields(operation):
        assert json.loads(request.content) == dict.fromkeys(fields, VALUE)
    sent = asyncio.run(call_async(operation))
    assert (sent.method, sent.url, sent.content) == (request.method, request.url, request.content)


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_each_schema_is_a_type_with_its_fields(name: str) -> None:
    fields = SCHEMAS[name].get("properties")
    if fields:
        assert set(get_type_hints(getattr(models, name))) == set(fields)
    else:
        assert set(getattr(models, name).__args__) == set(SCHEMAS[name]["enum"])


def load_script(name: str) -> ModuleType:
    path = ROOT / "scripts" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_committed_modules_are_those_that_the_document_gives() -> None:
    for name, text in load_script("generate_client").write_client().items():
        committed = ROOT / "clients" / "python" / "palimpsest_client" / name
        assert committed.read_text() == text, "run `make clients`"


def test_the_committed_types_of_typescript_are_those_that_the_document_gives() -> None:
    types = load_script("generate_types")
    assert types.TARGET.read_text() == types.write_types(), "run `make clients`"
