"""R13: brackets without end, 4,400 digits, halves of characters and the last days of the calendar, at every door."""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote
from uuid import UUID

import httpx
import pytest

from app.console.routes import _PAGES as PAGES
from app.importers.facts import UnreadableFile
from app.importers.products import PRODUCTS, read_product
from app.settings import load_settings
from support.databases import fresh_database
from support.keys import ROOT_KEY
from support.openapi_check import DOCUMENT
from support.service import running
from support.urls import name_of

DIGITS = "9" * 4400
NOBODY = str(UUID(int=0))
PARSE_ERROR = -32700
TEXTS = {
    "brackets": "[" * 3000,
    "objects": '{"a":' * 600,
    "digits": DIGITS,
    "exponent": "1e" + "9" * 400,
    "half": "\ud800",
    "nul": "\0",
    "last_day": "9999-12-31",
    "last_moment": "9999-12-31T23:59:59-12:00",
    "first_moment": "0001-01-01T00:00:00+14:00",
    "seconds": "253402300799",
    "superscript": "²",
}
VALUES = [
    *(json.dumps(text) for name, text in TEXTS.items() if name != "objects"),
    *(DIGITS, f"-{DIGITS}", "1e400", '["\\ud800"]', '{"\\ud800": 1}', f"[{DIGITS}]"),
    *("[" * 900 + "]" * 900, '{"a":' * 900 + "1" + "}" * 900, "[" * 100_000),
]


@pytest.fixture(scope="module")
def service(server_url: str, template_url: str) -> Iterator[httpx.Client]:
    headers = {"X-API-Key": ROOT_KEY}
    with (
        fresh_database(server_url, template=name_of(template_url)) as url,
        running(load_settings(database_url=url, api_key=ROOT_KEY)) as address,
        httpx.Client(base_url=address, headers=headers, timeout=60) as client,
    ):
        yield client


def encode(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


def list_operations() -> list[tuple[str, str, dict[str, Any]]]:
    paths = json.loads(DOCUMENT.read_text())["paths"]
    return [(m, path, operation) for path, each in paths.items() for m, operation in each.items()]


def list_fields(schema: dict[str, Any]) -> list[str]:
    schemas = json.loads(DOCUMENT.read_text())["components"]["schemas"]
    if "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    return list(schema.get("properties", {})) or ["content"]


def fill_path(path: str, **values: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], NOBODY), path)


def test_every_parameter_of_v1_takes_them_or_says_what_is_wrong(service: httpx.Client) -> None:
    faults = []
    for method, path, operation in list_operations():
        for parameter in operation.get("parameters", []):
            name = parameter["name"]
            for value in map(encode, TEXTS.values()):
                place = fill_path(path)
                if parameter["in"] == "query":
                    place += f"?{name}={value}"
                elif parameter["in"] == "path":
                    place = fill_path(path, **{name: value})
                else:
                    continue
                answer = service.request(method, place)
                if answer.status_code >= 500:
                    faults.append((method, path, name, value[:40]))
    assert faults == []


def test_every_body_of_v1_takes_them_or_says_what_is_wrong(service: httpx.Client) -> None:
    faults = []
    for method, path, operation in list_operations():
        for media, described in operation.get("requestBody", {}).get("content", {}).items():
            fields = list_fields(described.get("schema", {}))
            bodies = [f'{{"{field}":{value}}}' for field in fields for value in VALUES]
            bodies += ["[" * 100_000, '{"a":' * 20_000, DIGITS]
            if media.endswith("ndjson"):
                bodies += [f'{{"content":"x"}}\n{body}' for body in bodies]
                bodies += [f'{{"type":"palimpsest","version":{value}}}' for value in VALUES]
            for body in bodies:
                headers = {"Content-Type": media}
                answer = service.request(method, fill_path(path), content=body, headers=headers)
                if answer.status_code >= 500:
                    faults.append((method, path, body[:60]))
    assert faults == []


def call_mcp(service: httpx.Client, method: str, **params: Any) -> dict[str, Any]:
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    answer = service.post("/mcp", content=body, headers=headers)
    assert answer.status_code < 500, answer.text
    called: dict[str, Any] = answer.json()
    return called


def test_every_argument_of_a_tool_takes_them_or_says_what_is_wrong(service: httpx.Client) -> None:
    listed = call_mcp(service, "tools/list")
    faults = []
    for tool in listed["result"]["tools"]:
        schema = tool["inputSchema"]
        for name in schema["properties"]:
            for text in [*TEXTS.values(), "[" * 50_000, "word " * 20_000]:
                arguments = dict.fromkeys(schema.get("required", []), "x") | {name: text}
                called = call_mcp(service, "tools/call", name=tool["name"], arguments=arguments)
                error = called.get("error", {"code": PARSE_ERROR})
                if error["code"] != PARSE_ERROR or "URL" in str(called):
                    faults.append((tool["name"], name, text[:20], called))
    assert faults == []


def test_every_page_of_the_console_takes_them_or_says_what_is_wrong(
    service: httpx.Client,
) -> None:
    with httpx.Client(base_url=service.base_url, timeout=60) as viewer:
        assert viewer.post("/ui/login", data={"key": ROOT_KEY}).status_code == 303
        faults = []
        for path, method, _ in PAGES:
            place = f"/ui{fill_path(path)}"
            for name in ("as_of", "q", "cursor") if method == "GET" else ("etag", "valid_from"):
                for value in ("half", "last_moment", "superscript"):
                    field = f"{name}={encode(TEXTS[value])}"
                    if method == "GET":
                        answer = viewer.get(f"{place}?{field}")
                    else:
                        answer = post_form(viewer, place, field)
                    if answer.status_code >= 500:
                        faults.append((path, name, value))
    assert faults == []


def post_form(viewer: httpx.Client, place: str, form: str) -> httpx.Response:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    return viewer.post(place, content=f"content=x&{form}", headers=headers)


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("value", [*VALUES, '"' + "\\ud83d" + '"'])
def test_a_file_of_another_product_is_read_or_refused_in_words(product: str, value: str) -> None:
    files = (
        value,
        f'[{{"id":"a","memory":"x","user_id":"u","created_at":{value}}}]',
        f'{{"memory":"a"}}\n{value}\n{{"memory":{value}}}',
    )
    for file in files:
        try:
            reading = read_product(file.encode(), product)
        except UnreadableFile:
            continue
        for fact in reading.facts:
            fact.content.encode()
