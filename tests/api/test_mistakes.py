"""Natural mistakes of a newcomer, and whether the answer says what to do about them."""

import gzip
from html import unescape
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
import pytest

from palimpsest_client import Client
from support.builders import store

JSON = {"Content-Type": "application/json"}


def read_detail(response: httpx.Response, status: int) -> str:
    assert response.status_code == status, response.text
    detail: str = response.json()["detail"]
    return detail


@pytest.mark.parametrize(
    ("field", "advice"),
    [
        ("text", "did you mean `content`?"),
        ("memory", "did you mean `content`?"),
        ("metadata", "did you mean `details`?"),
        ("type", "did you mean `kind`?"),
        ("sessionId", "did you mean `session_id`?"),
        ("reference_time", "did you mean `said_at`?"),
        ("importence", "did you mean `importance`?"),
        ("messages", "messages go to POST /v1/messages"),
        ("agent_id", "the agent goes into the header X-Agent-Id"),
        ("userId", "whose memory it is goes into the header X-Agent-Id"),
        ("Idempotency-Key", "it goes into the header Idempotency-Key"),
        ("zebra", "leave it out or check its spelling"),
    ],
)
def test_an_unknown_field_of_a_store_leads_to_the_right_one(
    client: httpx.Client, field: str, advice: str
) -> None:
    detail = read_detail(client.post("/v1/memories", json={"content": "a", field: "b"}), 422)
    assert detail == f"{field}: unknown field; {advice}"


@pytest.mark.parametrize(
    ("method", "path", "sent", "advice"),
    [
        ("GET", "/v1/search", {"params": {"q": "a", "top_k": 3}}, "top_k: … `limit`?"),
        ("POST", "/v1/search", {"json": {"query": "a", "topK": 3}}, "topK: … `limit`?"),
        ("GET", "/v1/context", {"params": {"max_tokens": 9}}, "max_tokens: … `budget_tokens`?"),
        (
            "POST",
            "/v1/messages",
            {"json": {"session_id": "s", "messages": [{"role": "user", "text": "a"}]}},
            "messages.0.text: … `content`?",
        ),
        (
            "POST",
            "/v1/messages",
            {"json": {"messages": [], "reference_time": "2026-01-01"}},
            "reference_time: … `messages[].at`?",
        ),
        ("POST", "/v1/messages", {"json": {"content": "a"}}, "content: … `messages[].content`?"),
    ],
)
def test_an_unknown_field_elsewhere_leads_to_the_right_one(
    client: httpx.Client, method: str, path: str, sent: dict[str, Any], advice: str
) -> None:
    detail = read_detail(client.request(method, path, **sent), 422)
    assert advice.replace("…", "unknown field; did you mean") in detail


def test_an_unknown_field_in_a_batch_leads_to_the_right_one(client: httpx.Client) -> None:
    answer = client.post("/v1/memories/batch", json={"items": [{"text": "a"}]}).json()
    assert "text: unknown field; did you mean `content`?" in answer["results"][0]["detail"]


def test_a_list_as_body_leads_to_the_batch(client: httpx.Client) -> None:
    detail = read_detail(client.post("/v1/memories", json=[{"content": "a"}]), 422)
    assert detail == (
        "send one JSON object as the body, not a list; "
        'many facts go to POST /v1/memories/batch as {"items": [...]}'
    )


def test_new_content_leads_to_supersede(client: httpx.Client) -> None:
    memory = store(client, "Has a dog")["memory"]["id"]
    detail = read_detail(client.patch(f"/v1/memories/{memory}", json={"content": "Has a cat"}), 422)
    assert "POST /v1/memories/ID/supersede takes new content" in detail


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ('{"content": }', "line 1, column 13"),
        ('{"content": "a",\n "kind": fact}', "line 2, column 10"),
        ("", None),
    ],
)
def test_broken_json_is_placed_by_line_and_column(
    client: httpx.Client, body: str, place: str | None
) -> None:
    detail = read_detail(client.post("/v1/memories", content=body, headers=JSON), 422)
    assert ("the body is no JSON" in detail) == (place is not None)
    assert place is None or place in detail


def test_a_compressed_body_is_refused_by_name(client: httpx.Client) -> None:
    body = gzip.compress(b'{"content": "Has a dog"}')
    headers = JSON | {"Content-Encoding": "gzip"}
    for path in ("/v1/memories", "/v1/import"):
        refused = client.post(path, content=body, headers=headers)
        assert "Content-Encoding: gzip" in read_detail(refused, 415)
        assert refused.headers["Accept-Encoding"] == "identity"


def test_another_encoding_than_utf_8_is_named(client: httpx.Client) -> None:
    body = '{"content": "café"}'.encode("latin-1")
    detail = read_detail(client.post("/v1/memories", content=body, headers=JSON), 400)
    assert detail.startswith("The body is no UTF-8: byte 17 is 0xE9.")


@pytest.mark.parametrize("text", ["\u200b", "\u200b \u2060\ufeff", "\u3164", "\u2800", "\ufe0f"])
def test_a_text_in_which_nothing_can_be_seen_is_refused(client: httpx.Client, text: str) -> None:
    detail = read_detail(client.post("/v1/memories", json={"content": text}), 422)
    assert detail == "content: must contain a character that can be seen"


@pytest.mark.parametrize("text", ["👩‍👩‍👧", "❤️", "नि", "\u200bdog"])
def test_invisible_characters_within_a_text_are_taken(client: httpx.Client, text: str) -> None:
    assert store(client, text)["memory"]["content"] == text


@pytest.mark.parametrize("details", ["", "{", "7", "[]", "null"])
def test_details_that_are_no_object_are_refused_with_an_example(
    client: httpx.Client, details: str
) -> None:
    answer = client.get("/v1/memories", params={"details": details})
    detail = read_detail(answer, 422)
    assert detail == 'details: must be a JSON object, such as {"ticket": 7}'


def test_a_plus_that_became_a_blank_is_named(client: httpx.Client) -> None:
    refused = client.get("/v1/search?q=home&asOf=2025-06-01T10:00:00+02:00")
    assert "write it as %2B" in read_detail(refused, 422)
    assert client.get("/v1/search?q=a&asOf=2025-06-01T10:00:00%2B02:00").status_code == 200


@pytest.mark.parametrize("name", ["q", "query"])
def test_a_search_and_a_context_take_either_name(client: httpx.Client, name: str) -> None:
    store(client, "Has a dog")
    for answer in (
        client.get("/v1/search", params={name: "dog"}),
        client.post("/v1/search", json={name: "dog"}),
    ):
        assert [r["memory"]["content"] for r in answer.json()["results"]] == ["Has a dog"]
    assert "Has a dog" in client.get("/v1/context", params={name: "dog"}).json()["text"]
    both = client.get("/v1/search", params={"q": "dog", "query": "cat"})
    assert read_detail(both, 422) == "q and query are one field; give it once"


def test_every_time_is_taken_in_camel_case_too(client: httpx.Client) -> None:
    sent = {"content": "On leave", "validFrom": "2025-01-01", "validUntil": "2025-02-01"}
    memory = client.post("/v1/memories", json=sent).json()["memory"]
    assert memory["valid_from"].startswith("2025-01-01")
    assert memory["valid_until"].startswith("2025-02-01")
    refused = client.post("/v1/memories", json=sent | {"valid_from": "2024-01-01"})
    assert read_detail(refused, 422) == "valid_from and validFrom are one field; give it once"


def test_a_slash_at_the_end_changes_nothing(client: httpx.Client) -> None:
    assert client.post("/v1/memories/", json={"content": "Has a dog"}).status_code == 201
    assert len(client.get("/v1/memories/").json()["items"]) == 1
    assert len(client.get("/v1/search/", params={"q": "dog"}).json()["results"]) == 1


def test_a_slash_at_the_end_of_a_name_is_part_of_it(client: httpx.Client) -> None:
    sent = {"content": "Uses Vim", "category": "tools", "key": "editor/", "value": "Vim"}
    sent["kind"] = "preference"
    client.post("/v1/memories", json=sent)
    assert client.get("/v1/preferences/tools/editor/").json()["value"] == "Vim"


def test_the_root_leads_to_the_console(client: httpx.Client) -> None:
    assert client.get("/", follow_redirects=True).url.path == "/ui"
    assert client.head("/").status_code == 307


AGENT_RULE = (
    "give 1 to 128 printable ASCII characters without blanks; percent-encode others, as in Zo%C3%AB"
)


def test_an_agent_with_a_blank_is_refused_in_words(client: httpx.Client) -> None:
    detail = read_detail(client.get("/v1/memories", headers={"X-Agent-Id": "a b"}), 422)
    assert detail == f"X-Agent-Id: {AGENT_RULE}"


MCP_SEARCH = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "memory_search", "arguments": {"query": "x"}},
}


@pytest.mark.parametrize(
    "agent", ["Zoë", "日本", "🦊", "a b", "x" * 129, "\N{REPLACEMENT CHARACTER}"]
)
def test_the_api_the_console_and_the_client_refuse_such_an_agent_in_the_same_words(
    client: httpx.Client, agent: str
) -> None:
    path, header = quote(agent), {"X-Agent-Id": agent.encode()}
    answers = [
        client.get("/v1/memories", headers=header),  # type: ignore[arg-type]
        client.get(f"/v1/agents/{path}"),
        client.patch(f"/v1/agents/{path}", json={"mode": "live"}),
        client.get(f"/ui?agent={path}"),
        client.get(f"/ui/log?agent={path}"),
    ]
    assert [answer.status_code for answer in answers] == [422] * len(answers)
    for answer in answers:
        assert AGENT_RULE in unescape(answer.text)
    with pytest.raises(ValueError, match="percent-encode others"):
        Client(agent=agent)


def test_mcp_encodes_an_agent_and_refuses_one_that_is_too_long(client: httpx.Client) -> None:
    refused = client.post(f"/mcp/{'x' * 129}", json=MCP_SEARCH).json()["result"]
    assert (refused["isError"], AGENT_RULE in refused["content"][0]["text"]) == (True, True)
    name = f"Zoë {uuid4().hex}"
    client.headers["X-Agent-Id"] = quote(name)
    store(client, "Has a cat")
    assert "Has a cat" in client.post(f"/mcp/{quote(name)}", json=MCP_SEARCH).text


def test_an_encoded_agent_is_one_agent_behind_every_door(client: httpx.Client) -> None:
    name = f"Zoë {uuid4().hex}"
    message = {"messages": [{"role": "user", "content": "Has a cat"}], "infer": False}
    client.post("/mem0/v1/memories/", json={**message, "user_id": name}).raise_for_status()
    encoded = quote(name)
    header = {"X-Agent-Id": encoded}
    assert "Has a cat" in client.get("/v1/memories", headers=header).text
    assert client.get(f"/v1/agents/{quote(encoded)}").json()["memories"] == 1
    assert "Has a cat" in client.get("/ui", params={"agent": encoded}).text
    assert "Has a cat" in client.post(f"/mcp/{quote(encoded)}", json=MCP_SEARCH).text
