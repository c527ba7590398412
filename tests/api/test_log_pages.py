"""A page of the log examines a bounded number of operations, and all pages together have each operation once."""

from typing import Any

import httpx
import pytest

from app.store.log import entries
from support.builders import store

EXAMINED = 7


@pytest.fixture
def long_log(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> httpx.Client:
    """A log of more operations than a page examines; few of them are retractions."""
    for number in range(30):
        memory = store(client, f"Has {number} dogs", classify="off")["memory"]
        if number in (2, 17):
            client.post(f"/v1/memories/{memory['id']}/retract", json={}).raise_for_status()
    monkeypatch.setattr(entries, "MOST_EXAMINED", EXAMINED)
    return client


def read_pages(client: httpx.Client, **asked: Any) -> list[dict[str, Any]]:
    pages: list[dict[str, Any]] = []
    cursor = None
    while cursor or not pages:
        asked["cursor"] = cursor
        parameters = {name: value for name, value in asked.items() if value is not None}
        pages.append(client.get("/v1/log", params=parameters).raise_for_status().json())
        cursor = pages[-1]["next_cursor"]
    return pages


@pytest.mark.parametrize("limit", [1, 3, 5, 100])
@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"operation": "DELETE"},
        {"operation": "ADD"},
        {"actor": "nobody"},
        {"decided_by": "caller"},
    ],
)
def test_pages_have_each_operation_once_in_order(
    long_log: httpx.Client, filters: dict[str, str], limit: int
) -> None:
    whole = long_log.get("/v1/log", params={"limit": EXAMINED}).json()
    assert len(whole["items"]) == EXAMINED
    everything = [one for page in read_pages(long_log, limit=5) for one in page["items"]]
    assert len(everything) == 32
    expected = [one for one in everything if all(one[name] == filters[name] for name in filters)]
    pages = read_pages(long_log, limit=limit, **filters)
    assert [one for page in pages for one in page["items"]] == expected
    assert all(len(page["items"]) <= limit for page in pages)


def test_a_page_of_which_nothing_passes_says_where_to_go_on(long_log: httpx.Client) -> None:
    pages = read_pages(long_log, operation="MERGE")
    assert [page["items"] for page in pages] == [[]] * len(pages)
    assert len(pages) == -(-32 // EXAMINED)


def test_filters_that_an_index_answers_fill_their_page(long_log: httpx.Client) -> None:
    first = read_pages(long_log, limit=5)[-1]["items"][-1]
    asked = {"memory_id": first["target_memory_id"]}
    [page] = read_pages(long_log, **asked)
    assert [one["id"] for one in page["items"]] == [first["id"]]
