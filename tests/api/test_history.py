"""The history of a memory is one line, whichever way its versions took each other's place."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from support.builders import editor, problem, send, store

Json = dict[str, Any]


def read_history(client: httpx.Client, memory_id: str, **query: Any) -> Json:
    response = client.get(f"/v1/memories/{memory_id}/history", params=query)
    assert response.status_code == 200, response.text
    history: Json = response.json()
    return history


def tell(client: httpx.Client, text: str, year: int, **said: Any) -> str:
    """Store a fact in a chain of its own, and return its id."""
    told = {"classify": "off", "valid_from": f"{year}-01-01"} | said
    memory_id: str = store(client, text, **told)["memory"]["id"]
    return memory_id


def succeed(client: httpx.Client, old: str, by: str) -> Json:
    response = client.post(f"/v1/memories/{old}/supersede", json={"by": by})
    assert response.status_code == 200, response.text
    answer: Json = response.json()
    return answer


def list_contents(history: Json) -> list[str]:
    return [version["content"] for version in history["versions"]]


def list_joints(history: Json) -> list[tuple[str, str]]:
    return [(joint["superseded"], joint["by"]) for joint in history["joints"]]


def by_slot(client: httpx.Client) -> list[str]:
    return [
        send(client, editor(value, valid_from=f"{year}-01-01"))["memory"]["id"]
        for value, year in (("Vim", 2018), ("Emacs", 2020), ("Helix", 2022))
    ]


def by_id(client: httpx.Client) -> list[str]:
    ids = [
        tell(client, f"Edits with {e}", y)
        for e, y in (("Vim", 2018), ("Emacs", 2020), ("Helix", 2022))
    ]
    for old, by in zip(ids, ids[1:], strict=False):
        succeed(client, old, by)
    return ids


def by_id_from_the_last(client: httpx.Client) -> list[str]:
    ids = [
        tell(client, f"Edits with {e}", y)
        for e, y in (("Vim", 2018), ("Emacs", 2020), ("Helix", 2022))
    ]
    for place in (1, 0):
        succeed(client, ids[place], ids[place + 1])
    return ids


@pytest.mark.parametrize("make", [by_slot, by_id, by_id_from_the_last])
def test_a_history_is_the_same_line_from_each_of_its_versions(
    client: httpx.Client, make: Callable[[httpx.Client], list[str]]
) -> None:
    ids = make(client)
    for memory_id in ids:
        history = read_history(client, memory_id)
        assert [version["id"] for version in history["versions"]] == ids
        assert [version["status"] for version in history["versions"]] == [
            "superseded",
            "superseded",
            "current",
        ]
        assert history["current"] == ids[-1]
