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
from app.mem0 import routes
from app.settings import load_settings
from support.databases import fresh_database
from support.keys import ROOT_KEY
from support.openapi_check import DOCUMENT
from support.service import running
from support.urls import name_of

DIGITS = "9" * 4400
NOBODY = str(UUID(int=0))
PARSE_ERROR, INVALID_PARAMS = -32700, -32602
CALLERS_ERRORS = (PARSE_ERROR, INVALID_PARAMS)
WORDS_OF_PYTHON = ("URL", "{'", "object has no", "not JSON compliant", "recursion", "unhashable")
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
    "first_of_all": "0001-01-01",
    "last_of_all": "9999-12-31T23:59:59.999999Z",
    "large": str(2**31),
    "larger": str(2**63),
    "largest": "1e308",
    "no_number": "NaN",
    "seconds": "253402300799",
    "superscript": "²",
}
VALUES = [
    *(json.dumps(text) for name, text in TEXTS.items() if name != "objects"),
    *("null", "true", "-1", str(2**31), str(2**63), "1e308", "0.5", "[]", "{}", "[[1]]", "[null]"),
    *(DIGITS, f"-{DIGITS}", "1e400", "NaN", '["\\ud800"]', '{"\\ud800": 1}', f"[{DIGITS}]"),
    *("[" * 900 + "]" * 900, '{"a":' * 900 + "1" + "}" * 900, "[" * 100_000),
]
# What a caller of a door with JSON may send as a value; others are no JSON, or halves of characters.
JSON_VALUES = [
    *(None, True, -1, 0.5, 2**31, 2**63, 10**200, 1e308, [], {}, [[]], [None], [1], [{}]),
    *({"a": 1}, {"": [1]}, ["x"] * 2000, json.loads("[" * 60 + "]" * 60), "NaN", "[NaN]"),
    *([{"role": "user", "content": "x", "at": 10**40}], [{"role": 1, "content": 2}]),
]
MEM0_PARTS = {"memory_id": f"{NOBODY}.YW5u", "type": "user", "name": "ann", "rest": "nothing"}
MEM0_USUAL = {"user_id": '"ann"', "query": '"tea"', "messages": '"tea"', "infer": "false"}
MEM0_FILTERS = [
    *('{"AND":[1]}', '{"OR":{}}', '{"user_id":{"in":[]}}', '{"user_id":"a","metadata":{"k":[1]}}'),
    *('{"user_id":"a","categories":{"in":[{}]}}', '{"user_id":1e308}', '{"AND":[{"AND":[[]]}]}'),
]


@pytest.fixture(scope="module")
def service(server_url: str, template_url: str) -> Iterator[httpx.Client]:
    headers = {"X-API-Key": ROOT_KEY}
    with (
        fresh_database(server_url, template=name_of(template_url)) as url,
        running(load_settings(database_url=url, api_key=ROOT_KEY)) as address,
        httpx.Client(base_url=address, headers=headers, timeout=60) as client,
    ):
        for editor in ("Vim", "Nano") * 3:  # so that there is something to warn of
            fact = {"content": f"The editor is {editor}", "key": "editor", "value": editor}
            client.post("/v1/memories", json=fact).raise_for_status()
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
        names = {parameter["name"] for parameter in operation.get("parameters", [])}
        for parameter in operation.get("parameters", []):
            name = parameter["name"]
            for value in map(encode, TEXTS.values()):
                place = fill_path(path, key="editor")
                if parameter["in"] == "query":
                    place += f"?{name}={value}"
                    if "query" in names - {name}:
                        place += "&query=editor"
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


def list_mem0_rows() -> list[tuple[str, str, list[str]]]:
    """Return each call of mem0 once: its path, its method and its parameters."""
    rows = {}
    for row in routes.list_rows():
        path = re.sub(r"\{(\w+)(:path)?\}", lambda match: MEM0_PARTS[match[1]], row.path)
        fields = row.schema.model_json_schema().get("properties", {})
        rows.setdefault(row.answer, (path, row.method, [*fields, "metadata", "unknown"]))
    return [*rows.values()]


def test_every_parameter_of_mem0_takes_them_or_says_what_is_wrong(service: httpx.Client) -> None:
    faults = []
    for path, method, names in list_mem0_rows():
        usual = {name: MEM0_USUAL[name] for name in MEM0_USUAL.keys() & {*names}}
        for name in names:
            bodies, queries = VALUES + (MEM0_FILTERS if name == "filters" else []), [""]
            if method in ("GET", "DELETE"):
                bodies, queries = [], [f"?{name}={encode(text)}" for text in TEXTS.values()]
            for value in bodies:
                fields = (usual | {name: value}).items()
                queries.append("{" + ",".join(f'"{field}":{text}' for field, text in fields) + "}")
            for sent in queries:
                is_body = sent.startswith("{")
                place, body = (path, sent.encode()) if is_body else (path + sent, None)
                if service.request(method, place, content=body).status_code >= 500:
                    faults.append((method, path, sent[:80]))
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
            for value in [*TEXTS.values(), "[" * 50_000, "word " * 20_000, *JSON_VALUES]:
                arguments = dict.fromkeys(schema.get("required", []), "x") | {name: value}
                called = call_mcp(service, "tools/call", name=tool["name"], arguments=arguments)
                if not is_answered_in_words(called):
                    faults.append((tool["name"], name, str(value)[:20], called))
    assert faults == []


def is_answered_in_words(called: dict[str, Any]) -> bool:
    """Return True for a result, and for an error that is the caller's and has no word of Python."""
    is_callers = called.get("error", {"code": PARSE_ERROR})["code"] in CALLERS_ERRORS
    answered = json.dumps(called)
    return is_callers and not any(word in answered for word in WORDS_OF_PYTHON)


@pytest.mark.parametrize("text", ["word " * 20_000, "[" * 50_000, "\0", "\u202e"])
def test_the_prompt_and_the_resources_take_them_or_say_what_is_wrong(
    service: httpx.Client, text: str
) -> None:
    for called in (
        call_mcp(service, "prompts/get", name="recall", arguments={"task": text}),
        call_mcp(service, "prompts/get", name=text),
        call_mcp(service, "resources/read", uri=f"palimpsest://memories/{text}"),
        call_mcp(service, "resources/read", uri=text),
    ):
        assert called["error"]["code"] == INVALID_PARAMS, called
        assert is_answered_in_words(called), called


def test_a_call_with_many_mistakes_is_answered_in_sentences(service: httpx.Client) -> None:
    arguments = {"messages": [{"role": number} for number in range(9)]}
    called = call_mcp(service, "tools/call", name="memory_capture", arguments=arguments)
    text = called["result"]["content"][0]["text"]
    assert text.endswith(". Nothing was written.")
    assert "{" not in text


def test_every_page_of_the_console_takes_them_or_says_what_is_wrong(
    service: httpx.Client,
) -> None:
    with httpx.Client(base_url=service.base_url, timeout=60) as viewer:
        assert viewer.post("/ui/login", data={"key": ROOT_KEY}).status_code == 303
        faults = []
        for path, method, _ in PAGES:
            place = f"/ui{fill_path(path)}"
            for name in ("as_of", "q", "cursor") if method == "GET" else ("etag", "valid_from"):
                for value in ("half", "last_moment", "superscript", "first_of_all", "larger"):
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
