"""Bad input gets a clear refusal, and nothing is stored."""

import json
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from app.settings import load_settings
from support.builders import contents, list_ended, problem, store
from support.keys import ROOT_KEY
from support.service import running


def nested(depth: int) -> dict[str, Any]:
    return {"a": nested(depth - 1)} if depth else {}


REFUSED = [
    ({}, "content"),
    ({"content": ""}, "content"),
    ({"content": "   "}, "content"),
    ({"content": "x" * 16001}, "16000"),
    ({"content": "a\x00b"}, "NUL"),
    ({"content": 7}, "content"),
    ({"content": "x", "colour": "red"}, "colour: unknown field"),
    ({"content": "x", "kind": "rumour"}, "kind"),
    ({"content": "x", "importance": 1.5}, "importance"),
    ({"content": "x", "importance": True}, "importance: must be a number"),
    ({"content": "x", "importance": "0.5"}, "importance: must be a number"),
    ({"content": "x", "trust": -1}, "trust"),
    ({"content": "x", "trust": "50"}, "trust: must be a number"),
    ({"content": "x", "dry_run": 0}, "dry_run"),
    ({"content": "x", "single_valued": "yes"}, "single_valued"),
    ({"content": "x", "classify": 1}, "classify"),
    ({"content": "x", "tags": ["t"] * 101}, "tags"),
    ({"content": "x", "tags": [""]}, "tags"),
    ({"content": "x", "key": "k" * 501}, "key"),
    ({"content": "x", "details": nested(9)}, "nested"),
    ({"content": "x", "details": {"a": list(range(2001))}}, "2000"),
    ({"content": "x", "details": {"a\x00": 1}}, "NUL"),
    ({"content": "x", "details": {"a": "\x00"}}, "NUL"),
    ({"content": "x", "details": {"a": 10**31}}, "digits"),
    ({"content": "x", "details": [1]}, "details"),
    ({"content": "x", "valid_from": "2026-01-02", "valid_until": "2026-01-01"}, "valid_until"),
    ({"content": "x", "valid_from": "2026-01-02", "valid_until": "2026-01-02"}, "valid_until"),
    ({"content": "x", "supersedes": "nonsense"}, "supersedes: give the id of a memory, or a list"),
    ({"content": "x", "supersedes": 7}, "supersedes: give the id of a memory, or a list"),
    ({"content": "x", "supersedes": ["nonsense"]}, "supersedes.0: give a whole id"),
    ({"content": "x", "supersedes": []}, "supersedes"),
    ({"content": "x", "classify": "maybe"}, "classify"),
]


@pytest.mark.parametrize(("body", "said"), REFUSED)
def test_what_cannot_be_stored_is_refused_with_its_name(
    client: httpx.Client, body: dict[str, Any], said: str
) -> None:
    assert said in problem(client.post("/v1/memories", json=body), 422)["detail"]
    assert contents(client) == set()


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b'"x"',
        b"null",
        b'{"content": "\\ud800"}',
        b'{"content": "x", "details": {"a": NaN}}',
        b"\xff",
    ],
)
def test_a_body_that_is_no_store_request_is_refused(client: httpx.Client, raw: bytes) -> None:
    response = client.post(
        "/v1/memories", content=raw, headers={"Content-Type": "application/json"}
    )
    problem(response, 422 if raw != b"\xff" else 400)
    assert contents(client) == set()


@pytest.mark.parametrize(
    ("sent", "advice"),
    [
        ({"content": b'{"content": "I like tea"}'}, "with `Content-Type: application/json`"),
        ({"data": {"content": "I like tea"}}, "with `Content-Type: application/json`"),
        ({"json": ["I like tea"]}, "not a list; many facts go to POST /v1/memories/batch"),
        ({}, "with `Content-Type: application/json`"),
    ],
)
def test_a_body_that_is_no_json_object_is_told_how_to_be_sent(
    client: httpx.Client, sent: dict[str, Any], advice: str
) -> None:
    response = client.post("/v1/memories", **sent)
    assert response.status_code == 422
    assert advice in response.json()["detail"]


@pytest.mark.parametrize(
    "content", ["x", "x" * 16000, "🦊" * 16000, "a\u0301", "\u202e.", "ﷺ" * 8000, "‎ text"]
)
def test_any_text_of_one_to_sixteen_thousand_characters_is_stored_as_it_is(
    client: httpx.Client, content: str
) -> None:
    memory = store(client, content)["memory"]
    assert client.get(f"/v1/memories/{memory['id']}").json()["content"] == content


def test_long_words_of_a_slot_are_found_again(client: httpx.Client) -> None:
    key = "ﷺ" * 500
    first = store(client, "one", key=key, value="1")
    assert list_ended(store(client, "two", key=key, value="2")) == [first["memory"]["id"]]


@pytest.mark.parametrize(
    "path",
    [
        "/v1/memories?limit=0",
        "/v1/memories?limit=1001",
        "/v1/memories?colour=red",
        "/v1/search?q=",
        "/v1/search",
        "/v1/search?q=x&mode=magic",
        "/v1/search?q=x&min_score=nan",
        "/v1/memories/nonsense",
        "/v1/log?operation=EXPLODE",
        "/v1/log?limit=x",
        "/v1/memories?entity=%00",
        "/v1/preferences/a/b?entity=%00",
    ],
)
def test_a_query_that_cannot_be_answered_is_refused(client: httpx.Client, path: str) -> None:
    problem(client.get(path), 422)


@pytest.mark.parametrize("path", ["/v1/preferences/%00/x", "/v1/preferences/a/%00"])
def test_a_path_that_cannot_be_stored_is_refused(client: httpx.Client, path: str) -> None:
    problem(client.get(path), 422)


@pytest.mark.parametrize("agent", ["a b", "ä", "x" * 129, ""])
def test_an_agent_id_is_printable_and_short(client: httpx.Client, agent: str) -> None:
    problem(client.get("/v1/memories", headers={"X-Agent-Id": agent.encode()}), 422)  # type: ignore[dict-item]


def test_unknown_paths_and_methods_are_problems_too(client: httpx.Client) -> None:
    problem(client.get("/v2/memories"), 404)
    problem(client.put("/v1/memories"), 405)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/v1/memories", "GET, POST"),
        ("OPTIONS", f"/v1/memories/{UUID(int=1)}", "DELETE, GET, PATCH"),
        ("OPTIONS", "/v1/search", "GET, POST"),
        ("GET", "/v1/memories/batch", "POST"),
        ("DELETE", "/v1/memories/batch", "POST"),
        ("TRACE", "/v1/memories/batch", "POST"),
        ("PUT", "/v1/preferences/a/b/c", "GET"),
        ("PATCH", "/v1/agents/someone/stats", "GET"),
        ("POST", "/livez", "GET"),
    ],
)
def test_a_method_that_is_not_taken_is_told_all_that_are(
    client: httpx.Client, method: str, path: str, allowed: str
) -> None:
    refused = client.request(method, path)
    assert allowed in problem(refused, 405)["detail"]
    assert refused.headers["allow"] == allowed


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
def test_probes_may_ask_without_wanting_the_body(service: str, path: str) -> None:
    asked = httpx.head(f"{service}{path}")
    assert (asked.status_code, asked.content) == (200, b"")


def test_a_path_that_is_not_known_is_told_with_where_to_look(client: httpx.Client) -> None:
    refused = problem(client.get("/v1/memory"), 404)
    assert refused["type"] == "urn:palimpsest:problem:not-found"
    assert "/v1/memory" in refused["detail"]
    assert "/docs" in refused["detail"]


def test_a_body_over_the_limit_is_refused_while_it_arrives(database_url: str) -> None:
    with (
        running(load_settings(database_url=database_url, max_body_bytes=2000)) as address,
        httpx.Client(base_url=address) as client,
    ):
        body = json.dumps({"content": "x" * 3000}).encode()
        assert "2000 bytes" in problem(client.post("/v1/memories", content=body), 413)["detail"]
        assert problem(client.post("/v1/memories", content=iter([body[:1500], body[1500:]])), 413)
        assert client.post("/v1/memories", json={"content": "x" * 1000}).status_code == 201


def test_with_a_key_set_every_request_needs_it(database_url: str) -> None:
    settings = load_settings(database_url=database_url, api_key=ROOT_KEY)
    with running(settings) as address, httpx.Client(base_url=address) as client:
        assert (
            client.get("/livez").status_code
            == client.get("/readyz").status_code
            == client.get("/version").status_code
            == 200
        )
        for headers in (
            {},
            {"X-API-Key": "wrong"},
            {"Authorization": "Bearer wrong"},
            {"Authorization": f"Basic {ROOT_KEY}"},
        ):
            refused = client.get("/v1/memories", headers=headers)
            assert "Authorization: Bearer" in problem(refused, 401)["detail"]
            assert refused.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "header", [("X-API-Key", ROOT_KEY), ("Authorization", f"Bearer {ROOT_KEY}")]
)
def test_the_key_is_taken_in_either_header(database_url: str, header: tuple[str, str]) -> None:
    with running(load_settings(database_url=database_url, api_key=ROOT_KEY)) as address:
        assert httpx.get(f"{address}/v1/memories", headers=dict([header])).status_code == 200


def test_a_request_id_comes_back_and_is_in_the_log(client: httpx.Client) -> None:
    given = uuid4().hex
    response = client.post("/v1/memories", json={"content": "x"}, headers={"X-Request-Id": given})
    assert response.headers["x-request-id"] == given
    assert client.get("/v1/log").json()["items"][0]["request_id"] == given
    assert len(client.get("/livez").headers["x-request-id"]) == 32
