"""The log in the console."""

import re
from typing import Any

import httpx
import pytest

from app.console.pages.log import list_states
from support.builders import store


def open_page(client: httpx.Client, path: str = "/ui/log", **params: Any) -> str:
    params = {"agent": client.headers["X-Agent-Id"], **params}
    answer = client.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_the_newest_operation_stands_first_with_its_texts_in_words(client: httpx.Client) -> None:
    store(client, "I live in Porto", key="city")
    store(client, "I live in Lisbon", key="city")
    page = open_page(client)
    assert re.search(r"<del>\s*<a [^>]*><bdi[^>]*>I live in Porto</bdi>", page)
    words = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page))
    assert "Changed I live in Porto → I live in Lisbon" in words
    assert words.index("Changed I live") < words.index("Stored I live in Porto")


def test_filters_narrow_the_log(client: httpx.Client) -> None:
    porto = store(client, "I live in Porto")["memory"]["id"]
    store(client, "Has a cat", session_id="s-2")
    assert "Has a cat" not in open_page(client, memory_id=porto)
    assert "I live in Porto" not in open_page(client, session_id="s-2")
    assert "No operation matches" in open_page(client, operation="MERGE")
    assert "No operation matches" in open_page(client, until="2020-01-01")
    assert "No operation matches" in open_page(client, decided_by="reviewer", actor="nobody")


def test_a_filter_that_is_no_time_is_refused(client: httpx.Client) -> None:
    params = {"agent": client.headers["X-Agent-Id"], "since": "yesteryear"}
    assert client.get("/ui/log", params=params).status_code == 422


def test_what_is_undone_is_marked_and_cannot_be_chosen(client: httpx.Client) -> None:
    stored = store(client, "I live in Porto")
    assert f'name="log_id" value="{stored["log_id"]}"' in open_page(client)
    client.post(f"/v1/log/{stored['log_id']}/revert").raise_for_status()
    page = open_page(client)
    assert f'value="{stored["log_id"]}"' not in page
    assert ">undone</a>" in page
    assert ">what it undid</a>" in page


def test_an_entry_shows_the_whole_operation(client: httpx.Client) -> None:
    store(client, "I live in Porto", key="city")
    log_id = store(client, "I live in Lisbon", key="city")["log_id"]
    page = open_page(client, f"/ui/log/{log_id}")
    for words in ("What came in", "Before", "After", "superseded_at", "differs", "Request"):
        assert words in page
    assert f"log_id={log_id}" in page


def test_an_entry_that_there_is_not_is_a_problem_page(client: httpx.Client) -> None:
    params = {"agent": client.headers["X-Agent-Id"]}
    answer = client.get("/ui/log/01a2083e-e867-77fd-91ce-41d7f76b8d11", params=params)
    assert answer.status_code == 404
    assert "<h1>" in answer.text


def test_hostile_texts_stay_text(client: httpx.Client) -> None:
    log_id = store(client, "<script>alert(1)</script> \u202eabc")["log_id"]
    for page in (open_page(client), open_page(client, f"/ui/log/{log_id}")):
        assert "<script>alert" not in page
        assert "\u202e" not in page


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"revision": 1}, {"revision": 2}, [("revision", 1, 2, True)]),
        (
            {"belief": {"tier": "core"}},
            {"belief": {"tier": "core"}},
            [("tier", "core", "core", False)],
        ),
        ({}, {"key": "city", "value": None}, [("key", None, "city", True)]),
    ],
)
def test_fields_are_compared(
    before: dict[str, Any], after: dict[str, Any], expected: list[tuple[Any, ...]]
) -> None:
    entry = {"before_state": [{"id": "m", **before}], "after_state": [{"id": "m", **after}]}
    fields = list_states(entry)["m"]
    assert [(f.field, f.before, f.after, f.is_one) for f in fields] == expected
