from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
import pytest

from support.builders import editor, problem, send, store


def test_an_agent_is_listed_with_what_it_knows(client: httpx.Client) -> None:
    name = client.headers["X-Agent-Id"]
    problem(client.get(f"/v1/agents/{name}"), 404)
    send(client, editor("Vim"))
    last = send(client, editor("Helix"))["known_at"]
    seen = client.get(f"/v1/agents/{name}").json()
    assert (seen["agent_id"], seen["memories"], seen["last_known_at"]) == (name, 2, last)
    assert seen["created_at"] <= last
    assert seen in everyone(client)


def everyone(client: httpx.Client, limit: int = 1000) -> list[dict[str, Any]]:
    found, cursor = [], None
    while True:
        page = client.get(
            "/v1/agents", params={"limit": limit, **({"cursor": cursor} if cursor else {})}
        ).json()
        found += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def test_pages_show_every_agent_once(client: httpx.Client) -> None:
    prefix = f"zz/{uuid4().hex}"
    for number in range(5):
        client.headers["X-Agent-Id"] = f"{prefix}?&{number}"
        store(client, "Has a dog")
    paged = [agent["agent_id"] for agent in everyone(client, limit=2)]
    assert len(set(paged)) == len(paged)
    assert {name for name in paged if name.startswith(prefix)} == {
        f"{prefix}?&{number}" for number in range(5)
    }


def test_an_agent_whose_id_holds_slashes_is_shown_counted_and_told_its_mode(
    client: httpx.Client,
) -> None:
    name = client.headers["X-Agent-Id"] = f"acme/{uuid4().hex}"
    store(client, "Has a dog")
    where = f"/v1/agents/{quote(name, safe='')}"
    assert client.get(where).json()["agent_id"] == name
    assert client.get(f"{where}/stats").json()["agent_id"] == name
    assert client.patch(where, json={"mode": "shadow"}).json()["mode"] == "shadow"


def test_an_agent_that_was_only_read_or_refused_is_not_listed(client: httpx.Client) -> None:
    client.get("/v1/memories").raise_for_status()
    client.post("/v1/memories", json={"content": "Has a dog", "dry_run": True}).raise_for_status()
    refused = client.post("/v1/memories", json={"content": "Has a cat", "supersedes": str(uuid4())})
    assert refused.status_code == 404
    batch = client.post(
        "/v1/memories/batch", json={"items": [{"content": "Has a cat", "supersedes": str(uuid4())}]}
    )
    assert batch.json()["results"][0]["status"] == 404
    problem(client.get(f"/v1/agents/{client.headers['X-Agent-Id']}"), 404)


@pytest.mark.parametrize("params", [{"limit": 0}, {"cursor": "ä"}, {"name": "x"}])
def test_bad_input_is_refused(client: httpx.Client, params: dict[str, Any]) -> None:
    assert next(iter(params)) in problem(client.get("/v1/agents", params=params), 422)["detail"]
