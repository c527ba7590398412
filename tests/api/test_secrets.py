"""What PALIMPSEST_SECRETS does with what callers write, and what an answer says of it."""

from collections.abc import Iterator

import httpx
import pytest
from fastapi.routing import APIRoute

from app.api.secrets import HEADER, SecretFreeRoute
from app.main import create_app
from app.settings import load_settings
from support.builders import problem
from support.service import running

PASSWORD = "My password is Kaas-2026!"
REDACTED = "My password is [redacted: password]"
# Reads, and what is needed to find what is stored already; the address of a webhook is a secret
# that its owner gives us.
WITHOUT_REMOVAL = {
    *("/v1/search", "/v1/context", "/v1/erasures", "/v1/reverts", "/v1/log/{log_id}/revert"),
    *("/v1/webhooks", "/v1/sweeps", "/v1/agents/{agent_id}", "/v1/captures/{capture_id}/undo"),
}


def test_every_route_that_stores_words_removes_secrets() -> None:
    routes = [route for route in create_app().routes if isinstance(route, APIRoute)]
    others = {
        route.path
        for route in routes
        if route.body_field and not isinstance(route, SecretFreeRoute)
    }
    assert others <= WITHOUT_REMOVAL


def test_an_answer_counts_what_was_taken_out(client: httpx.Client) -> None:
    stored = client.post("/v1/memories", json={"content": PASSWORD})
    assert stored.json()["memory"]["content"] == REDACTED
    assert (stored.json()["redacted"], stored.headers[HEADER]) == (1, "1")
    brief = client.post("/v1/memories?view=brief", json={"content": f"{PASSWORD} again"})
    assert brief.json()["redacted"] == 1
    clean = client.post("/v1/memories", json={"content": "I like tea"})
    assert (clean.json()["redacted"], HEADER in clean.headers) == (0, False)


def test_a_text_that_no_field_takes_is_not_searched(client: httpx.Client) -> None:
    """Searching ten million characters took seconds, in which nobody else had a turn."""
    long = "x" * 10_000_000
    good = {"role": "user", "content": "I like tea"}
    for body in (
        {"session_id": long, "messages": [good]},
        {"session_id": "s", "messages": [good], "other": long},
        {"session_id": "s", "messages": [good | {"name": long}]},
    ):
        refused = client.post("/v1/messages", json=body)
        assert refused.status_code == 422
        assert "10,000,000 characters are too many" in refused.json()["detail"]
    items = [{"content": long}, {"content": "I like milk"}]
    bad, stored = client.post("/v1/memories/batch", json={"items": items}).json()["results"]
    assert (bad["status"], stored["operation"]) == (422, "ADD")


def test_items_of_a_batch_count_and_fail_each_for_itself(client: httpx.Client) -> None:
    token = "ghp" + "_" + "a1B2c3D4e5F6" * 3
    items = [
        {"content": PASSWORD},
        {"content": "I like tea", "session_id": token},
        {"content": "I like milk"},
    ]
    results = client.post("/v1/memories/batch", json={"items": items}).json()["results"]
    assert [each.get("redacted") for each in results] == [1, None, 0]
    assert "session_id holds a secret" in results[1]["detail"]


def test_a_detail_named_like_a_secret_is_one(client: httpx.Client) -> None:
    details = {"password": "onlyletters", "pin": 4821, "city": "Oslo", "age": 48}
    stored = client.post("/v1/memories", json={"content": "My bank", "details": details}).json()
    assert stored["memory"]["details"] == {
        "password": "[redacted: password]",
        "pin": "[redacted: pin]",
        "city": "Oslo",
        "age": 48,
    }


def test_a_retry_is_answered_the_same(client: httpx.Client) -> None:
    headers = {"Idempotency-Key": "one"}
    first, second = (
        client.post("/v1/memories", json={"content": PASSWORD}, headers=headers) for _ in range(2)
    )
    assert second.headers["Idempotency-Replayed"] == "true"
    assert first.json() == second.json()


@pytest.mark.parametrize("body", ["{", "[" * 100_000, '"text"', ""])
def test_a_body_that_is_no_request_is_refused_as_before(client: httpx.Client, body: str) -> None:
    headers = {"Content-Type": "application/json"}
    assert client.post("/v1/memories", content=body, headers=headers).status_code in (400, 422)


@pytest.fixture
def refusing(database_url: str) -> Iterator[httpx.Client]:
    settings = load_settings(database_url=database_url, secrets="refuse")
    with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def test_secrets_are_refused_where_the_settings_say_so(refusing: httpx.Client) -> None:
    refused = problem(refusing.post("/v1/memories", json={"content": PASSWORD}), 422)
    assert refused["type"].endswith("secrets")
    assert "content holds a secret (password)" in refused["detail"]
    items = [{"content": PASSWORD}, {"content": "I like tea"}]
    results = refusing.post("/v1/memories/batch", json={"items": items}).json()["results"]
    assert [each.get("operation") for each in results] == [None, "ADD"]


def test_secrets_are_stored_where_the_settings_say_so(database_url: str) -> None:
    settings = load_settings(database_url=database_url, secrets="keep")
    with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        body = {"content": PASSWORD, "session_id": "ghp" + "_" + "a1B2c3D4e5F6" * 3}
        assert client.post("/v1/memories", json=body).json()["memory"]["content"] == PASSWORD
