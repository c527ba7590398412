"""Requests with defaults, so that a test says only what it is about."""

from collections.abc import Mapping
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


def decide(client: httpx.Client, review_id: str, decision: str, **said: Any) -> dict[str, Any]:
    response = client.post(f"/v1/reviews/{review_id}/{decision}", json=said)
    assert response.is_success, response.text
    answer: dict[str, Any] = response.json()
    return answer


def mode(client: httpx.Client, chosen: str | None) -> None:
    response = client.patch(f"/v1/agents/{client.headers['X-Agent-Id']}", json={"mode": chosen})
    assert response.status_code == 200, response.text
    assert response.json()["mode"] == chosen


def link(client: httpx.Client, source: str, target: str, kind: str = "expands") -> dict[str, Any]:
    """Links two memories that were not linked so before."""
    response = client.post(
        f"/v1/memories/{source}/relationships", json={"type": kind, "target_id": target}
    )
    assert response.status_code == 201, response.text
    answer: dict[str, Any] = response.json()
    return answer


def remembered(client: httpx.Client, *contents: str) -> list[str]:
    """The ids of facts just stored, beside each other."""
    return [store(client, content, classify="off")["memory"]["id"] for content in contents]


SESSION, PROJECT = (
    {"session_id": "monday", "lifespan": "session"},
    {"project": "almanac", "lifespan": "project"},
)


def end(client: httpx.Client, session: str = "monday", **said: Any) -> dict[str, Any]:
    response = client.post(f"/v1/sessions/{session}/end", json=said)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def end_project(client: httpx.Client, name: str = "almanac", **said: Any) -> dict[str, Any]:
    response = client.post(f"/v1/projects/{name}/end", json=said)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def list_ended(answer: Mapping[str, Any]) -> list[str]:
    """Return the ids of the memories that a write ended."""
    return [memory["id"] for memory in answer["superseded"]]
