"""The page of what an agent believes, at any moment."""

import re
from typing import Any

import httpx
import pytest

from app.console.pages.now import PAGE
from app.console.rendering import cut_text, show_text
from support.builders import link, store

PORTO = {"content": "I live in Porto", "key": "city", "valid_from": "2024-03-01"}
LISBON = {"content": "I live in Lisbon", "key": "city", "valid_from": "2026-10-01"}


def show(client: httpx.Client, path: str = "/ui", **params: Any) -> httpx.Response:
    return client.get(path, params={"agent": client.headers["X-Agent-Id"], **params})


def list_subjects(page: str) -> dict[str, str]:
    """Return the text of each subject by its heading."""
    sections = re.findall(
        r'<section class="card">\s*<h2>(.*?)</h2>(.*?)</section>', page, re.DOTALL
    )
    strip = lambda html: " ".join(re.sub("<[^>]+>", " ", html).split())  # noqa: E731
    return {strip(heading): strip(facts) for heading, facts in sections}


def test_what_holds_is_shown_by_subject(client: httpx.Client) -> None:
    store(client, "Uses Vim", category="tooling")
    store(client, "Anna lives in Bergen", entity="Anna")
    for text in ("Fenna is my daughter", "Fenna plays the drums", "I am allergic to nuts", "Xyzzy"):
        store(client, text)
    subjects = list_subjects(show(client).text)
    assert next(iter(subjects)) == "Family and friends 2"
    assert list(subjects)[-1] == "Everything else 1"
    assert "Fenna plays the drums" in subjects["Family and friends 2"]
    assert "Uses Vim" in subjects["Tooling 1"]
    assert "Anna lives in Bergen" in subjects["Anna 1"]
    assert "nuts" in subjects["Health 1"]


def test_the_home_has_the_agent_in_numbers(client: httpx.Client) -> None:
    for fact in (PORTO, LISBON):
        client.post("/v1/memories", json=fact)
    mine = store(client, "The lease is in the drawer")["memory"]["id"]
    lease = store(client, "The lease runs until 2027")["memory"]["id"]
    link(client, mine, lease, "references")
    assert "<b>0</b> likely out of date" in show(client).text
    client.post(f"/v1/memories/{lease}/retract", json={}).raise_for_status()
    page = show(client).text
    for words in ("<b>2</b> facts", "<b>2</b> changed this week", "<b>0</b> questions wait"):
        assert words in page
    assert "<b>1</b> likely out of date" in page
    stale = show(client, stale=1).text
    assert "drawer" in stale
    assert "Lisbon" not in stale


def test_an_agent_is_named_in_quotes(client: httpx.Client) -> None:
    store(client, **PORTO)
    assert f"Memory of “{client.headers['X-Agent-Id']}”" in show(client).text


def test_what_nobody_dated_says_when_it_was_told(client: httpx.Client) -> None:
    store(client, "Has a cat", said_at="2020-02-03")
    store(client, **PORTO)
    page = show(client).text
    assert re.search(r"told <time [^>]*>3 Feb 2020</time>", page)
    assert re.search(r"since <time [^>]*>1 Mar 2024</time>", page)


def test_a_moment_shows_what_was_true_then_and_what_came_after(client: httpx.Client) -> None:
    for fact in (PORTO, {"content": "Has a cat", "valid_from": "2020"}, LISBON):
        client.post("/v1/memories", json=fact)
    assert "Porto" not in show(client).text
    page = show(client, as_of="2025-01-01").text
    fact = page.split(">I live in Porto<")[1].split("</li>")[0]
    assert re.search(r"→ <a [^>]*><bdi[^>]*>I live in Lisbon</bdi></a>, <time [^>]*>1 Oct", fact)
    assert "→" not in page.split(">Has a cat<")[1].split("</li>")[0]
    assert page.count("I live in Lisbon") == 1


def test_a_moment_shows_what_was_known_then(client: httpx.Client) -> None:
    first = store(client, **PORTO)
    client.post("/v1/memories", json=LISBON)
    page = show(client, known_at=first["known_at"]).text
    assert "What was known on" in page
    assert page.index("I live in Porto") < page.index("I live in Lisbon")


def test_words_lead_to_the_address_of_their_moment(client: httpx.Client) -> None:
    store(client, **PORTO)
    answer = show(client, as_of="March 2025", q="home")
    assert answer.status_code == 303
    assert answer.headers["location"].endswith("&as_of=2025-03-01&q=home")


def test_what_was_believed_of_another_time_is_marked(client: httpx.Client) -> None:
    first = store(client, **PORTO)
    memory_id = first["memory"]["id"]
    client.patch(f"/v1/memories/{memory_id}", json={"valid_from": "2023-01-01"})
    assert "today true from another day on" in show(client, known_at=first["known_at"]).text


@pytest.mark.parametrize("name", ["as_of", "known_at"])
def test_no_time_is_named(client: httpx.Client, name: str) -> None:
    store(client, **PORTO)
    answer = show(client, **{name: "yesterdayish"})
    assert answer.status_code == 422
    assert "“yesterdayish” is no date" in answer.text
    assert "last June" in answer.text
    assert re.search(f'name="{name}" value="yesterdayish"', answer.text)


def test_a_search_shows_matches_at_the_moment(client: httpx.Client) -> None:
    for fact in (PORTO, LISBON):
        client.post("/v1/memories", json=fact)
    page = show(client, q="where does the user live", as_of="2025-01-01").text
    assert page.index("I live in Porto") < page.index("→ <a")
    assert "Search what no longer holds, too" in page


def test_long_lists_have_pages(client: httpx.Client) -> None:
    items = [
        {"content": f"Owns item number {number}", "classify": False} for number in range(PAGE + 9)
    ]
    client.post("/v1/memories/batch", json={"items": items})
    seen: set[str] = set()
    page = show(client).text
    seen |= set(re.findall(r"item number (\d+)", page))
    assert len(seen) == PAGE
    more = re.search(r'href="([^"]+)" rel="next"', page)
    assert more
    seen |= set(re.findall(r"item number (\d+)", client.get(more[1].replace("&amp;", "&")).text))
    assert len(seen) == PAGE + 9


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
    assert "<img src=x" not in page
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
    assert len(style) <= 17_408
