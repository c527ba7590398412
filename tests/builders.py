"""Requests with defaults, so that a test says only what it is about."""

from typing import Any

import httpx


def editor(value: str, **more: Any) -> dict[str, Any]:
    """A preference in a slot that holds one value."""
    return {
        "content": f"Uses {value} as editor",
        "kind": "preference",
        "category": "tooling",
        "key": "editor",
        "value": value,
        **more,
    }


def store(client: httpx.Client, content: str = "Has a dog", **more: Any) -> dict[str, Any]:
    """Stores a fact that must be taken and returns the answer."""
    return send(client, {"content": content, **more})


def send(client: httpx.Client, body: dict[str, Any]) -> dict[str, Any]:
    response = client.post("/v1/memories", json=body)
    assert response.is_success, response.text
    answer: dict[str, Any] = response.json()
    return answer


def contents(client: httpx.Client, **params: Any) -> set[str]:
    """What a list shows."""
    response = client.get("/v1/memories", params={"limit": 1000, **params})
    assert response.is_success, response.text
    return {memory["content"] for memory in response.json()["items"]}


def problem(response: httpx.Response, status: int) -> dict[str, Any]:
    """The problem of a refusal."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    assert body["status"] == status
    assert body["type"].startswith("urn:palimpsest:problem:")
    return body
