"""MCP as hosts speak it: the SDK's own client, in memory and over HTTP, against the real service."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
import pytest
from jsonschema import Draft202012Validator
from mcp import Client as Host
from mcp import StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent

from app.mcp.arguments import BadArguments, read_arguments
from app.mcp.server import Context, build_server
from app.mcp.tools import ANSWER, CAPTURE, INSTRUCTIONS, REVIEW, SEARCH, STORE, TOOLS
from app.settings import load_settings
from palimpsest_client import AsyncClient, Client, Retries
from support.builders import contents, remembered
from support.questions import CARS, MOVED, ask, open_agent, open_unsure, read_review
from support.service import running

ROOT_KEY = "root-" + "k" * 40


def talk(server: Any, work: Callable[[Host], Awaitable[None]]) -> None:
    """Let the SDK's client speak with a server, which may be an address."""

    async def speak() -> None:
        async with Host(server) as host:
            await work(host)

    asyncio.run(speak())


def serve_over(address: str, agent: str) -> Any:
    @asynccontextmanager
    async def open_client(_: Context) -> AsyncIterator[AsyncClient]:
        retries = Retries(tries=1)
        async with AsyncClient(address, agent=agent, retries=retries) as client:
            yield client

    return build_server(open_client)


def read_text(result: CallToolResult) -> str:
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


def get_fields(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, read_text(result)
    fields: dict[str, Any] = result.structured_content
    return fields


@pytest.fixture
def agent() -> str:
    return f"mcp-{uuid4().hex}"


@pytest.fixture(params=["in memory", "over HTTP"])
def server(request: pytest.FixtureRequest, service: str, agent: str) -> Any:
    is_http = request.param == "over HTTP"
    return f"{service}/mcp/{agent}" if is_http else serve_over(service, agent)


def test_the_list_is_short_and_says_what_each_tool_does(server: Any) -> None:
    async def work(host: Host) -> None:
        listed = (await host.list_tools()).tools
        assert [tool.name for tool in listed] == [tool.name for tool in (*TOOLS, REVIEW)]
        sent = [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed]
        # Hosts show models names, descriptions and input schemas: 1,150 tokens. The rest, with
        # which programs check answers and people are shown titles, is for the hosts themselves.
        shown = [[tool[part] for part in ("name", "description", "inputSchema")] for tool in sent]
        assert len(json.dumps(shown, separators=(",", ":"))) <= 4_500
        assert len(json.dumps({"tools": sent}, separators=(",", ":"))) <= 8_500
        assert all(tool.title and tool.output_schema and tool.annotations for tool in listed)
        reads = {
            tool.name for tool in listed if tool.annotations and tool.annotations.read_only_hint
        }
        assert reads == {"memory_search", "memory_context", "memory_history"}
        assert host.instructions == INSTRUCTIONS
        assert len(INSTRUCTIONS.split()) <= 120

    talk(server, work)


def test_a_fact_its_change_and_the_way_back(server: Any) -> None:
    async def work(host: Host) -> None:
        home = {"key": "home", "value": "Porto", "valid_from": "2020-01-01"}
        porto = get_fields(
            await host.call_tool("memory_store", {"content": "Lives in Porto", **home})
        )
        assert porto["operation"] == "ADD"
        home = {"key": "home", "value": "Lisbon", "valid_from": "2026-01-01"}
        answer = await host.call_tool("memory_store", {"content": "Lives in Lisbon", **home})
        lisbon = get_fields(answer)
        assert lisbon["superseded"] == [{"id": porto["memory_id"], "content": "Lives in Porto"}]
        assert "Replaces: Lives in Porto" in read_text(answer)

        [hit] = get_fields(await host.call_tool("memory_search", {"query": "home"}))["results"]
        assert hit["id"] == lisbon["memory_id"]
        past = await host.call_tool("memory_search", {"query": "home", "as_of": "2021-01-01"})
        assert "Lives in Porto" in read_text(past)
        context = await host.call_tool("memory_context", {"query": "Where does the user live?"})
        assert "Lives in Lisbon" in read_text(context)

        asked = {"memory_id": porto["memory_id"], "why": True}
        history = get_fields(await host.call_tool("memory_history", asked))
        assert [version["content"] for version in history["versions"]] == [
            "Lives in Porto",
            "Lives in Lisbon",
        ]
        assert history["why"]
        assert (history["current"], history["joints"]) == (lisbon["memory_id"], [])

        undone = get_fields(await host.call_tool("memory_undo", {"log_id": lisbon["log_id"]}))
        assert undone["reverted"] == [lisbon["log_id"]]
        [hit] = get_fields(await host.call_tool("memory_search", {"query": "home"}))["results"]
        assert hit["id"] == porto["memory_id"]
        ended = await host.call_tool("memory_retract", {"memory_id": porto["memory_id"]})
        assert get_fields(ended)["log_id"]
        after = await host.call_tool("memory_search", {"query": "home"})
        assert get_fields(after)["results"] == []

    talk(server, work)


def test_what_models_get_wrong_is_read_all_the_same(server: Any) -> None:
    async def work(host: Host) -> None:
        sloppy = {"text": "Likes tea", "tags": '["drinks", "home"]', "mood": "fine", "key": None}
        get_fields(await host.call_tool("memory_store", sloppy))
        found = await host.call_tool("memory_search", {"q": "tea", "limit": "3"})
        assert get_fields(found)["results"][0]["content"] == "Likes tea"

    talk(server, work)


def test_what_waits_is_listed(server: Any) -> None:
    async def work(host: Host) -> None:
        assert get_fields(await host.call_tool("memory_review", {}))["waiting"] == []

    talk(server, work)


def test_a_question_shows_its_texts_and_is_accepted_by_letters(
    server_url: str, template_url: str
) -> None:
    with open_unsure(server_url, template_url) as (_, address), open_agent(address) as client:
        ids, found = ask(client, *CARS)

        async def work(host: Host) -> None:
            [waiting] = get_fields(await host.call_tool("memory_review", {}))["waiting"]
            assert waiting["sentence"] == found["sentence"]
            letters = {each["memory_id"]: each["letter"] for each in waiting["candidates"]}
            decision = {"review_id": found["id"], "decision": "accept"}
            refused = await host.call_tool("memory_review", decision)
            assert refused.is_error
            decision["memories"] = [f"({letters[ids[0]]})", letters[ids[2]]]
            assert get_fields(await host.call_tool("memory_review", decision))["log_id"]

        talk(serve_over(address, client.headers["X-Agent-Id"]), work)
        assert contents(client) == {CARS[1], MOVED}


def test_a_store_and_a_context_ask_the_model_and_it_answers(
    server_url: str, template_url: str
) -> None:
    with open_unsure(server_url, template_url) as (_, address), open_agent(address) as client:
        ids, found = ask(client, *CARS[:2])

        async def work(host: Host) -> None:
            context = await host.call_tool("memory_context", {})
            [question] = get_fields(context)["questions"]
            assert question["line"] in read_text(context)
            [letter] = [name for name, i in question["letters"].items() if i == ids[1]]
            answers = [f"{question['handle']} {letter}", "0000 none"]
            answered = await host.call_tool("memory_answer", {"answers": answers})
            first, second = get_fields(answered)["results"]
            assert first["superseded"] == [{"id": ids[1], "content": CARS[1]}]
            assert f"ended: {CARS[1]}" in read_text(answered)
            assert "no review 0000" in second["problem"]

            bus = {"content": "The bus to the village stops at noon"}
            await host.call_tool("memory_store", bus)
            bus = {"content": "The bus to the village stops at two"}
            stored = await host.call_tool("memory_store", bus)
            asked = get_fields(stored)["question"]
            assert asked.startswith("Q ")
            assert asked in read_text(stored)

        talk(serve_over(address, client.headers["X-Agent-Id"]), work)
        assert CARS[1] not in contents(client)
        assert read_review(client, found["id"])["status"] == "accepted"


def test_turns_are_captured(server: Any) -> None:
    async def work(host: Host) -> None:
        messages = json.dumps([{"role": "user", "content": "I live in Lisbon."}])
        captured = get_fields(await host.call_tool("memory_capture", {"messages": messages}))
        assert captured["capture_id"]

    talk(server, work)


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("memory_store", {}, "needs content"),
        ("memory_store", {"content": "Tea", "valid_from": "the day of the tea"}, "valid_from"),
        ("memory_store", {"content": "Tea", "kind": "beverage"}, "kind"),
        ("memory_retract", {"memory_id": str(uuid4())}, ""),
        ("memory_undo", {"log_id": "none"}, "log_id"),
        ("memory_review", {"decision": "accept"}, "review_id"),
        ("memory_review", {"decision": "perhaps"}, "accept, reject"),
        ("memory_erase", {}, "no tool"),
        ("memory_store", {"content": "Tea", "user_id": "bob"}, "user_id is no parameter"),
        ("memory_store", {"content": ["Tea", "Milk"]}, "once for each"),
    ],
)
def test_a_failure_says_that_nothing_was_written(
    server: Any, tool: str, arguments: dict[str, Any], words: str
) -> None:
    async def work(host: Host) -> None:
        result = await host.call_tool(tool, arguments)
        assert result.is_error
        assert words in read_text(result)
        assert read_text(result).endswith("Nothing was written.")
        assert "{" not in read_text(result)

    talk(server, work)


def test_advice_names_tools(server: Any) -> None:
    async def work(host: Host) -> None:
        stored = get_fields(await host.call_tool("memory_store", {"content": "I own a kayak"}))
        memory_id, log_id = stored["memory_id"], stored["log_id"]
        assert not (await host.call_tool("memory_retract", {"memory_id": memory_id})).is_error
        nobody = "01a22c28-d3ab-7381-a93d-7aa52d3d3143"
        for name, arguments in (
            ("memory_history", {"memory_id": nobody}),
            ("memory_undo", {"log_id": nobody}),
            ("memory_undo", {"log_id": log_id}),
            ("memory_answer", {"answers": ["4f2a01 a"]}),
        ):
            text = read_text(await host.call_tool(name, arguments))
            assert "/v1" not in text, text
            assert "cascade" not in text, text

    talk(server, work)


def test_a_write_without_an_answer_may_have_been_written(agent: str) -> None:
    async def work(host: Host) -> None:
        stored = await host.call_tool("memory_store", {"content": "Likes tea"})
        assert stored.is_error
        assert "may have been written" in read_text(stored)
        found = await host.call_tool("memory_search", {"query": "tea"})
        assert read_text(found).endswith("Nothing was written.")

    talk(serve_over("http://127.0.0.1:9", agent), work)


def test_the_command_speaks_over_standard_input(service: str, agent: str) -> None:
    async def work(host: Host) -> None:
        get_fields(await host.call_tool("memory_store", {"content": "Likes tea"}))
        found = await host.call_tool("memory_search", {"query": "tea"})
        assert get_fields(found)["results"][0]["content"] == "Likes tea"

    command = ["-m", "app.cli", "mcp", "--url", service, "--agent", agent]
    environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
    talk(StdioServerParameters(command=sys.executable, args=command, env=environment), work)


def test_times_may_be_words(server: Any) -> None:
    async def work(host: Host) -> None:
        gym = {
            "content": "Goes to the gym",
            "valid_from": "two years ago",
            "valid_until": "yesterday",
        }
        stored = get_fields(await host.call_tool("memory_store", gym))
        for as_of, count in (("last year", 1), ("today", 0)):
            asked = {"query": "gym", "as_of": as_of}
            found = await host.call_tool("memory_search", asked)
            assert len(get_fields(found)["results"]) == count
        retracted = {"memory_id": stored["memory_id"], "at": "last week"}
        get_fields(await host.call_tool("memory_retract", retracted))

    talk(server, work)


def test_a_search_before_anything_says_what_is_the_earliest(server: Any) -> None:
    async def work(host: Host) -> None:
        tea = {"content": "Likes tea", "valid_from": "2020-05-01"}
        get_fields(await host.call_tool("memory_store", tea))
        before = await host.call_tool("memory_search", {"query": "tea", "as_of": "2001"})
        assert read_text(before).endswith("the earliest is true from 2020-05-01.")
        before = await host.call_tool("memory_search", {"query": "tea", "known_at": "2001"})
        assert f"known from {datetime.now(UTC).date()}" in read_text(before)
        context = await host.call_tool("memory_context", {"as_of": "2001"})
        assert read_text(context) == "Nothing held then."

    talk(server, work)


def test_input_schemas_are_strict_and_every_parameter_is_described() -> None:
    def check(schema: dict[str, Any]) -> None:
        if schema["type"] == "object":
            assert schema["additionalProperties"] is False
            for parameter in schema["properties"].values():
                assert parameter["description"]
                check(parameter)
        elif schema["type"] == "array":
            check(schema["items"])

    for tool in (*TOOLS, REVIEW):
        check(tool.input_schema)
        assert set(tool.output_schema["properties"]) >= set(tool.output_schema.get("required", ()))
        Draft202012Validator.check_schema(tool.input_schema)
        Draft202012Validator.check_schema(tool.output_schema)


# --- the routes -----------------------------------------------------------------------------------

CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/mcp/ada"])
@pytest.mark.parametrize("accept", ["*/*", "application/json", "text/event-stream"])
def test_each_path_answers_json_at_once(service: str, path: str, accept: str) -> None:
    answer = httpx.post(f"{service}{path}", json=CALL, headers={"Accept": accept})
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert len(answer.json()["result"]["tools"]) == len(TOOLS) + 1


PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
HEARD = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@pytest.mark.parametrize(
    ("body", "status", "ids"),
    [([CALL, HEARD, PING], 200, [1, 2]), ([PING], 200, [2]), ([HEARD, HEARD], 202, [])],
)
def test_a_batch_is_answered_as_its_protocol_version_asks(
    service: str, body: Any, status: int, ids: list[int]
) -> None:
    answer = httpx.post(f"{service}/mcp", json=body)
    assert answer.status_code == status
    assert [each["id"] for each in (answer.json() if answer.content else [])] == ids
    version = {"MCP-Protocol-Version": "2025-06-18"}
    refused = httpx.post(f"{service}/mcp", json=body, headers=version)
    assert refused.status_code == 400
    assert "has no batches" in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    "body",
    [
        [],
        [5],
        5,
        "x",
        {**PING, "params": "x"},
        {**PING, "params": {"arguments": "{}"}},
        [PING] * 51,
    ],
)
def test_a_wrong_message_is_refused_in_a_sentence(service: str, body: Any) -> None:
    answer = httpx.post(f"{service}/mcp", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32600)
    assert len(answer.json()["error"]["message"]) < 100


@pytest.mark.parametrize("way", ["path", "header"])
def test_an_agent_may_have_a_name_of_any_language(service: str, way: str) -> None:
    name = f"émile-日本-{uuid4().hex}"
    path = f"/mcp/{quote(name)}" if way == "path" else "/mcp"
    headers = {"X-Agent-Id": name.encode()} if way == "header" else {}

    def call(tool: str, **arguments: str) -> Any:
        params = {"name": tool, "arguments": arguments}
        body = {**CALL, "method": "tools/call", "params": params}
        answer = httpx.post(f"{service}{path}", json=body, headers=headers, timeout=60)
        return answer.json()["result"]

    assert not call("memory_store", content="Likes tea")["isError"]
    assert "Likes tea" in call("memory_context")["content"][0]["text"]
    with Client(service, agent=quote(name)) as client:
        assert [memory["content"] for memory in client.list_memories()] == ["Likes tea"]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize("path", ["/mcp", "/mcp/ada"])
def test_there_are_no_streams_and_no_sessions(service: str, path: str, method: str) -> None:
    answer = httpx.request(method, f"{service}{path}")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}], ids=str
)
def test_pages_of_others_are_refused(service: str, headers: dict[str, str]) -> None:
    assert httpx.post(f"{service}/mcp", json=CALL, headers=headers).status_code == 403


def test_the_caller_needs_a_key_and_acts_by_its_rights(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What the environment names is the service's own, and must not be lent to callers.
    monkeypatch.setenv("PALIMPSEST_API_KEY", ROOT_KEY)
    monkeypatch.setenv("PALIMPSEST_AGENT", "root")
    settings = load_settings(database_url=database_url, api_key=ROOT_KEY)
    store = {"name": "memory_store", "arguments": {"content": "Likes tea"}}
    with running(settings) as address, Client(address, api_key=ROOT_KEY, agent="ada") as root:
        issued = root.issue_key("reader", agents=["ada"], scopes=["read"])
        key = {"Authorization": f"Bearer {issued['key']}"}
        assert httpx.post(f"{address}/mcp/ada", json=CALL).status_code == 401

        def call(path: str, body: dict[str, Any], headers: dict[str, str]) -> dict[str, Any]:
            answer = httpx.post(f"{address}{path}", json=body, headers=headers, timeout=60)
            result: dict[str, Any] = answer.json()["result"]
            return result

        names = [tool["name"] for tool in call("/mcp", CALL, key)["tools"]]
        assert names == [tool.name for tool in TOOLS]
        change = CALL | {"method": "tools/call", "params": store}
        refused = call("/mcp/ada", change, key)
        assert refused["isError"]
        assert "Nothing was written." in refused["content"][0]["text"]
        search = {"name": "memory_search", "arguments": {"query": "tea"}}
        read = CALL | {"method": "tools/call", "params": search}
        assert call("/mcp/bob", read, key)["isError"]
        assert not call("/mcp", read, key).get("isError")
        stored = call("/mcp/ada", change, {"X-API-Key": ROOT_KEY})
        assert not stored.get("isError")
        assert [memory["content"] for memory in root.list_memories()] == ["Likes tea"]


# --- arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "sent", "read"),
    [
        (STORE, {"content": "Tea", "tags": "drinks"}, {"content": "Tea", "tags": ["drinks"]}),
        (STORE, {"content": "5", "value": 5}, {"content": "5", "value": "5"}),
        (SEARCH, {"query": "tea", "limit": 3.0}, {"query": "tea", "limit": 3}),
        (
            SEARCH,
            {"query": "tea", "include_superseded": "True"},
            {"query": "tea", "include_superseded": True},
        ),
        (SEARCH, {"query": "tea", "as_of": "", "page": 2}, {"query": "tea"}),
        (
            STORE,
            {"content": "Tea", "kind": "null", "tags": ["null", "a"], "key": "None"},
            {"content": "Tea", "tags": ["a"]},
        ),
        (
            SEARCH,
            {"query": "tea", "as_of": "in June 2025"},
            {"query": "tea", "as_of": "2025-06-01T00:00:00+00:00"},
        ),
        (
            SEARCH,
            {"query": "tea", "as_of": "2025-06-01T10:00:00Z"},
            {"query": "tea", "as_of": "2025-06-01T10:00:00Z"},
        ),
        (ANSWER, {"answers": {"4f": ["a"]}}, {"answers": [{"4f": ["a"]}]}),
    ],
)
def test_arguments_are_read_as_meant(tool: Any, sent: dict[str, Any], read: Any) -> None:
    assert read_arguments(tool, sent) == read


@pytest.mark.parametrize(
    ("tool", "sent"),
    [
        (SEARCH, None),
        (SEARCH, {"query": None}),
        (SEARCH, {"query": "tea", "limit": "many"}),
        (SEARCH, {"query": "tea", "limit": True}),
        (CAPTURE, {"session_id": "s"}),
    ],
)
def test_arguments_that_mean_nothing_are_refused(tool: Any, sent: dict[str, Any] | None) -> None:
    with pytest.raises(BadArguments):
        read_arguments(tool, sent)


def test_a_history_says_what_took_over_from_another_chain(
    server: Any, service: str, agent: str
) -> None:
    with httpx.Client(base_url=service, headers={"X-Agent-Id": agent}) as client:
        old, by = remembered(client, "Works at Acme", "Runs a bakery")
        client.post(f"/v1/memories/{old}/supersede", json={"by": by}).raise_for_status()

    async def work(host: Host) -> None:
        for memory_id in (old, by):
            answer = await host.call_tool("memory_history", {"memory_id": memory_id})
            history = get_fields(answer)
            assert [version["id"] for version in history["versions"]] == [old, by]
            assert (history["current"], history["joints"]) == (by, [{"superseded": old, "by": by}])
            assert f"Runs a bakery (in place of [{old}])" in read_text(answer)

    talk(server, work)


def test_the_context_and_a_history_can_be_attached(server: Any) -> None:
    async def work(host: Host) -> None:
        home = {"content": "Lives in Porto", "key": "home", "value": "Porto"}
        stored = get_fields(await host.call_tool("memory_store", home))
        [resource] = (await host.list_resources()).resources
        [context] = (await host.read_resource(resource.uri)).contents
        assert "Lives in Porto" in context.text
        [template] = (await host.list_resource_templates()).resource_templates
        uri = template.uri_template.replace("{memory_id}", stored["memory_id"])
        [history] = (await host.read_resource(uri)).contents
        assert "Lives in Porto" in history.text
        for unknown in ("palimpsest://all", f"palimpsest://memories/{uuid4()}"):
            with pytest.raises(MCPError):
                await host.read_resource(unknown)

    talk(server, work)


def test_the_prompt_brings_what_is_known_about_its_task(server: Any) -> None:
    async def work(host: Host) -> None:
        await host.call_tool("memory_store", {"content": "Never deploy on Fridays"})
        [prompt] = (await host.list_prompts()).prompts
        [message] = (await host.get_prompt(prompt.name, {"task": "Plan the deploy"})).messages
        assert isinstance(message.content, TextContent)
        assert "Never deploy on Fridays" in message.content.text
        assert message.content.text.endswith("Plan the deploy")
        assert len((await host.get_prompt(prompt.name)).messages) == 1
        with pytest.raises(MCPError):
            await host.get_prompt("sing")

    talk(server, work)


def test_calls_are_counted_by_their_route(service: str, agent: str) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    httpx.post(f"{service}/mcp/{agent}", json=asked).raise_for_status()
    counted = httpx.get(f"{service}/metrics").text
    assert 'route="/mcp/{agent:path}"' in counted
