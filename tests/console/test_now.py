"""The page of what an agent believes, at any moment."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from app.console.rendering import cut_text, show_text
from support.builders import store

PORTO = {"content": "I live in Porto", "key": "city", "valid_from": "2024-03-01"}
LISBON = {"content": "I live in Lisbon", "key": "city", "valid_from": "2026-10-01"}


def show(client: httpx.Client, path: str = "/ui", **params: Any) -> httpx.Response:
    return client.get(path, params={"agent": client.headers["X-Agent-Id"], **params})


def test_what_holds_is_shown_by_entity_and_category(client: httpx.Client) -> None:
    store(client, "Uses Vim", category="tooling")
    store(client, "Anna lives in Bergen", entity="Anna")
    page = show(client).text
    order = [page.index(words) for words in (">user<", ">tooling<", "Uses Vim", ">Anna<", "Bergen")]
    assert order == sorted(order)


def test_a_moment_shows_what_was_true_then(client: httpx.Client) -> None:
    for fact in (PORTO, LISBON):
        client.post("/v1/memories", json=fact)
    assert "Porto" not in show(client).text
    then, since = show(client, as_of="2025-01-01").text.split("Only believed since then")
    assert "I live in Porto" in then
    assert "I live in Lisbon" not in then
    assert "I live in Lisbon" in since


def test_a_moment_shows_what_was_believed_then(client: httpx.Client) -> None:
    first = store(client, **PORTO)
    client.post("/v1/memories", json=LISBON)
    then, since = show(client, known_at=first["known_at"]).text.split("Only believed since then")
    assert "I live in Porto" in then
    assert "I live in Lisbon" not in then
    assert "I live in Lisbon" in since


def test_a_moved_slider_leads_to_the_address_of_its_moment(client: httpx.Client) -> None:
    store(client, **PORTO)
    moved = {"as_of_step": "100", "as_of_step_before": "500", "known_at_step": "500"}
    answer = show(client, **moved, known_at_step_before="500", q="home")
    assert answer.status_code == 303
    a_year_ago = (datetime.now(UTC) - timedelta(days=365)).date()
    place = answer.headers["location"]
    assert place.endswith(f"&q=home&as_of={a_year_ago}T00%3A00%3A00Z")


def test_the_last_step_is_the_present(client: httpx.Client) -> None:
    store(client, **PORTO)
    moved = {"as_of": "2025-01-01", "as_of_step": "500", "as_of_step_before": "100"}
    assert "as_of" not in show(client, **moved).headers["location"]


def test_what_is_different_today_is_marked(client: httpx.Client) -> None:
    for fact in (PORTO, {"content": "Has a cat", "valid_from": "2020"}, LISBON):
        client.post("/v1/memories", json=fact)
    page = show(client, as_of="2025-01-01").text
    assert page.count("today: superseded") == 1
    assert "today:" not in page.split("Has a cat")[1].split("</li>")[0]
    then, since = page.split("Only believed since then")
    assert "I live in Porto" in then
    assert "I live in Lisbon" in since
    assert "Has a cat" not in since


def test_what_was_believed_of_another_time_is_marked(client: httpx.Client) -> None:
    first = store(client, **PORTO)
    memory_id = first["memory"]["id"]
    client.patch(f"/v1/memories/{memory_id}", json={"valid_from": "2023-01-01"})
    assert "today: true from another time" in show(client, known_at=first["known_at"]).text


@pytest.mark.parametrize("name", ["as_of", "known_at"])
def test_no_time_is_named(client: httpx.Client, name: str) -> None:
    store(client, **PORTO)
    answer = show(client, **{name: "yesterdayish"})
    assert answer.status_code == 422
    assert "yesterdayish" in answer.text


def test_a_search_shows_matches_at_the_moment(client: httpx.Client) -> None:
    for fact in (PORTO, LISBON):
        client.post("/v1/memories", json=fact)
    page = show(client, q="where does the user live", as_of="2025-01-01").text
    assert "I live in Porto" in page
    assert "I live in Lisbon" not in page


def test_long_lists_have_pages(client: httpx.Client) -> None:
    items = [{"content": f"Owns item number {number}", "classify": False} for number in range(90)]
    client.post("/v1/memories/batch", json={"items": items})
    seen: set[str] = set()
    page = show(client).text
    seen |= set(re.findall(r"item number (\d+)", page))
    assert len(seen) == 50
    more = re.search(r'href="([^"]+)" rel="next"', page)
    assert more
    seen |= set(re.findall(r"item number (\d+)", client.get(more[1].replace("&amp;", "&")).text))
    assert len(seen) == 90


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}",
    "\u202egnp.exe",
    "a\u0301" * 8000,
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_only_text(client: httpx.Client, text: str) -> None:
    store(client, text, entity=text[:40].strip(), category=text[:40].strip())
    page = show(client).text
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "\u202e" not in page
    assert len(page) < 20_000


def test_unseen_characters_are_named() -> None:
    assert "⟨U+202E⟩gnp" in show_text("\u202egnp.exe")


def test_marks_do_not_grow_over_other_lines() -> None:
    assert show_text("e" + "\u0301" * 50).count("\u0301") == 4


@pytest.mark.parametrize(
    ("text", "longest", "cut"),
    [("short", 10, "short"), ("one two three", 9, "one two…"), ("abcde\u0301\u0301f", 6, "abcd…")],
)
def test_a_cut_keeps_composed_characters_whole(text: str, longest: int, cut: str) -> None:
    assert cut_text(text, longest) == cut


@pytest.mark.parametrize("path", ["/ui", "/ui/agents", "/ui/facts/nothing"])
def test_no_page_may_run_what_it_shows(client: httpx.Client, path: str) -> None:
    headers = show(client, path).headers
    policy = headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'; script-src 'self'" in policy
    assert headers["Cache-Control"] == "no-store"


def test_assets_are_named_by_their_content(client: httpx.Client) -> None:
    store(client, **PORTO)
    page = show(client).text
    for address in re.findall(r'(?:src|href)="(/ui/assets/[^"]+)"', page):
        answer = client.get(address)
        assert answer.status_code == 200
        assert "no-store" not in answer.headers.get("Cache-Control", "")
    style = client.get("/ui/assets/console.css").content
    assert len(style) <= 16_384
