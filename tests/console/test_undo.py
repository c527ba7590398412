"""The preview of an undo: what it says before anything is written."""

from typing import Any

import httpx
import pytest

from app.console.pages.undo import find_effects
from support.builders import store


def build_result(
    memory: str | None = None, status: str = "current", **others: Any
) -> dict[str, Any]:
    touched = {"id": memory, "status": status} if memory else None
    return {"memory": touched, "superseded": [], "adjusted": [], **others}


def name(memories: Any) -> list[str]:
    return [memory["id"] for memory in memories]


@pytest.mark.parametrize(
    ("results", "withdrawn", "believed", "adjusted"),
    [
        ([build_result("porto", superseded=[{"id": "lisbon"}])], ["lisbon"], ["porto"], []),
        # What one step restores, the next one withdraws.
        (
            [
                build_result("porto", "reverted", superseded=[{"id": "lisbon"}]),
                build_result("porto", "reverted", superseded=[{"id": "porto"}]),
            ],
            ["lisbon", "porto"],
            [],
            [],
        ),
        ([build_result("zed", "superseded", adjusted=["vim"])], [], ["zed"], ["vim"]),
        ([build_result("zed", adjusted=["zed", "vim"])] * 2, [], ["zed"], ["vim"]),
        ([build_result()], [], [], []),
    ],
)
def test_each_memory_is_named_once(
    results: list[dict[str, Any]], withdrawn: list[str], believed: list[str], adjusted: list[str]
) -> None:
    effects = find_effects(results)
    assert name(effects.withdrawn) == withdrawn
    assert name(effects.believed) == believed
    assert effects.adjusted == adjusted


@pytest.fixture
def homes(client: httpx.Client) -> list[dict[str, Any]]:
    starts = {"Porto": "2024-01-01", "Braga": "2025-01-01", "Lisbon": "2026-01-01"}
    return [
        store(client, f"I live in {city}", key="city", valid_from=start)
        for city, start in starts.items()
    ]


def preview(client: httpx.Client, **params: Any) -> str:
    answer = client.get("/ui/undo", params={"agent": client.headers["X-Agent-Id"], **params})
    assert answer.status_code == 200, answer.text
    return answer.text


def test_all_that_is_undone_with_it_is_counted_and_listed(
    client: httpx.Client, homes: list[dict[str, Any]]
) -> None:
    page = preview(client, log_id=homes[0]["log_id"], cascade="1")
    assert "Undo 3 operations?" in page
    for city in ("Porto", "Braga", "Lisbon"):
        assert f"I live in {city}</bdi>” will not be believed any more" in page
        assert f"I live in {city}</bdi>” <span" in page


def test_an_end_that_stays_is_shown(client: httpx.Client, homes: list[dict[str, Any]]) -> None:
    undone = client.post("/v1/reverts", json={"log_ids": [homes[2]["log_id"]]}).json()
    again = client.get("/v1/log", params={"limit": 1}).json()["items"][0]
    assert undone["reverted"] == [homes[2]["log_id"]]
    page = preview(client, log_id=again["id"])
    assert "I live in Lisbon</bdi>” will be believed again" in page
    assert "I live in Braga</bdi>” will be true from" in page
    assert 'until <time datetime="2026-01-01' in page


def test_what_was_undone_before_is_not_undone_twice(
    client: httpx.Client, homes: list[dict[str, Any]]
) -> None:
    client.post("/v1/reverts", json={"log_ids": [homes[2]["log_id"]]})
    page = preview(client, log_id=homes[2]["log_id"])
    assert "undone before" in page
    assert "<button>Undo</button>" not in page


@pytest.mark.parametrize("back", ["/ui/../docs", "/ui/%2e%2e/docs", "/ui/x#y", "/ui//docs", "/uix"])
def test_a_way_back_out_of_the_console_is_not_taken(
    client: httpx.Client, homes: list[dict[str, Any]], back: str
) -> None:
    page = preview(client, log_id=homes[2]["log_id"], back=back)
    assert back not in page
    assert 'href="/ui/log?' in page
