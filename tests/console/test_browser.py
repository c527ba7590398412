"""The console in a real browser: what people do, by mouse and by keyboard."""

import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from support.browser import find_barriers, open_browser, open_page
from support.builders import store

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser, service: str) -> Iterator[Page]:
    with open_page(browser, service) as page:
        yield page


@pytest.fixture(scope="module")
def story(browser: Browser, service: str) -> str:
    """An agent with the story of the first visit."""
    agent = f"story-{uuid4().hex[:8]}"
    talk = "I adopted a cat called Miso last week. Could you find me a vet?"
    messages = [{"role": "user", "content": talk}]
    with httpx.Client(base_url=service, headers={"X-Agent-Id": agent}, timeout=60) as client:
        assert client.post("/ui/story", params={"agent": agent}).status_code == 303
        client.post("/v1/messages", json={"session_id": "monday", "messages": messages})
        client.patch(f"/v1/agents/{agent}", json={"mode": "shadow"})
        store(client, "I use Helix", category="tooling", key="editor", kind="preference")
        client.patch(f"/v1/agents/{agent}", json={"mode": None})
        client.post("/v1/sweeps", json={"dry_run": True})
    return agent


def press(page: Page, *keys: str) -> None:
    """Press keys one after the other, once the scripts of the page have been loaded."""
    page.wait_for_load_state()
    for key in keys:
        page.keyboard.press(key)


def test_a_first_visit_is_led_to_a_story(page: Page) -> None:
    page.goto(f"/ui?agent=new-{uuid4().hex}")
    page.get_by_role("button", name="Show me with a story").click()
    page.get_by_role("link", name="Memory", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Memory of “story-")
    expect(page.get_by_role("link", name="I went back to Vim")).to_be_visible()


def test_a_fact_is_told_by_mouse_and_undone_at_once(page: Page) -> None:
    page.goto(f"/ui?agent=new-{uuid4().hex}")
    for text in ("I live in Porto", "I moved to Lisbon"):
        box = page.get_by_label("Tell it something")
        box.fill(text)
        page.get_by_role("button", name="See what becomes of it").click()
        page.get_by_role("button", name="Store it", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("What it ended stays in the past.")
    expect(page.get_by_role("link", name="I live in Porto")).to_be_hidden()
    page.get_by_role("link", name="Undo this …").click()
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_role("link", name="I live in Porto")).to_be_visible()


def test_the_past_is_shown_by_words(page: Page, story: str) -> None:
    page.goto(f"/ui?agent={story}")
    page.get_by_text("as of now").click()
    page.get_by_label("What was true on").fill("two years ago")
    page.get_by_label("What was true on").press("Enter")
    expect(page.get_by_role("link", name="I live in Porto")).to_be_visible()
    expect(page).to_have_url(re.compile("as_of=[0-9-]+"))
    page.get_by_role("link", name="Back to now").first.click()
    expect(page.get_by_role("link", name="I live in Porto")).to_be_hidden()


def test_all_works_without_javascript(browser: Browser, service: str, story: str) -> None:
    with open_page(browser, service, java_script_enabled=False) as page:
        page.goto(f"/ui?agent={story}")
        page.get_by_text("as of now").click()
        page.get_by_label("What was true on").fill("two yeers ago")
        page.get_by_role("button", name="Show").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("“two yeers ago” is no date")
        page.get_by_label("What was true on").fill("two years ago")
        page.get_by_role("button", name="Show").click()
        expect(page.get_by_role("link", name="I live in Porto")).to_be_visible()


def test_keys_lead_everywhere(page: Page, story: str) -> None:
    page.goto(f"/ui?agent={story}")
    press(page, "g", "l")
    expect(page).to_have_url(re.compile("/ui/log"))
    press(page, "?")
    expect(page.get_by_role("heading", level=1)).to_have_text("Help and keys")
    press(page, "g", "m")
    expect(page.get_by_label("Search these facts")).to_be_visible()
    press(page, "/")
    expect(page.get_by_label("Search these facts")).to_be_focused()
    page.get_by_label("Search these facts").press_sequentially("g?/")
    expect(page.get_by_label("Search these facts")).to_have_value("g?/")


def test_colours_are_chosen_and_stay(page: Page, story: str) -> None:
    page.goto(f"/ui?agent={story}")
    read = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(read)
    for _ in range(2):
        page.get_by_role("button", name=re.compile("Colours")).click()
    dark = page.evaluate(read)
    assert light != dark
    page.get_by_role("link", name="Ask").click()
    expect(page.get_by_role("button", name="Colours: dark")).to_be_visible()
    assert page.evaluate(read) == dark


PAGES = [
    "/ui",
    "/ui?as_of=2025-06-01",
    "/ui?as_of=yesterdayish",
    "/ui?q=home",
    "/ui?stale=1",
    "/ui/help",
    "/ui/agents",
    "/ui/ask?q=where+does+the+user+live&every=1",
    "/ui/ask?view=context",
    "/ui/agent",
    "/ui/reviews",
    "/ui/log",
    "/ui/captures",
    "/ui/sweeps",
    "/ui/insights?period=all",
    "/ui/insights?section=flip_flops",
    "/ui/insights?section=lifetimes",
    "/ui/insights?section=retire_rates",
    "/ui/insights?section=stale_constraints",
    "/ui/facts/nothing",
]


def list_pages(service: str, agent: str) -> list[str]:
    """Return the addresses of pages of every kind, those of single things included."""
    with httpx.Client(base_url=service, headers={"X-Agent-Id": agent}, timeout=60) as client:
        changes = client.get("/v1/log", params={"operation": "ADD"}).json()["items"]
        reviews = client.get("/v1/reviews").json()["items"]
        captures = client.get("/v1/captures").json()["items"]
        sweeps = client.get("/v1/sweeps").json()["items"]
    single = [
        f"/ui/facts/{changes[0]['target_memory_id']}?known_at=2026-01-01",
        f"/ui/log/{changes[0]['id']}",
        f"/ui/undo?log_id={changes[0]['id']}",
        f"/ui/reviews/{reviews[0]['id']}",
        f"/ui/captures/{captures[0]['capture_id']}",
        f"/ui/sweeps/{sweeps[0]['id']}",
    ]
    pages = [f"{path}{'&' if '?' in path else '?'}agent={agent}" for path in (*PAGES, *single)]
    return [*pages, f"/ui?agent=new-{uuid4().hex}"]


_UNFOLD = """() => {
    const folded = document.querySelectorAll("main details:not([open], .moment)");
    for (const details of folded) details.open = true;
    return folded.length;
}"""


def open_every(page: Page, service: str, agent: str) -> Iterator[str]:
    """Open every page one after the other, that of an outcome and those unfolded included."""
    for path in list_pages(service, agent):
        page.goto(path)
        yield path
        if page.evaluate(_UNFOLD):
            yield f"{path} unfolded"
    page.goto(f"/ui?agent={agent}")
    page.get_by_text("as of now").click()
    yield "/ui with the folded moment"
    page.get_by_label("Tell it something").fill("I stopped using Vim")
    page.get_by_label("Tell it something").press("Enter")
    page.wait_for_url(re.compile("/ui/tell"))
    yield "/ui/tell"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_keeps_anybody_out(browser: Browser, service: str, story: str, scheme: str) -> None:
    barriers: dict[str, Any] = {}
    with open_page(browser, service, color_scheme=scheme) as page:
        for path in open_every(page, service, story):
            barriers[path] = find_barriers(page)
    assert {path: found for path, found in barriers.items() if found} == {}


def test_nothing_is_wider_than_a_phone(browser: Browser, service: str, story: str) -> None:
    with open_page(browser, service, viewport={"width": 360, "height": 700}) as page:
        for path in open_every(page, service, story):
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width <= 360, path


HOSTILE = [
    "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">",
    "\u202eetirw ot thgir morf \u2066hidden\u2069",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467" * 400,
    "x" * 16_000,
]


def test_hostile_texts_cannot_run_spoof_or_break_the_layout(browser: Browser, service: str) -> None:
    agent = f"hostile-{uuid4().hex[:8]}"
    with httpx.Client(base_url=service, headers={"X-Agent-Id": agent}, timeout=60) as client:
        for text in HOSTILE:
            store(client, text, key="motto", category=text[:90].strip(), source=text[:90].strip())
        memory_id = store(client, HOSTILE[0], key="city")["memory"]["id"]
        for text in HOSTILE:
            sent = {"content": text, "valid_from": "2026-01-01"}
            memory_id = client.post(f"/v1/memories/{memory_id}/supersede", json=sent).json()[
                "memory"
            ]["id"]
    paths = ["/ui", f"/ui/facts/{memory_id}", "/ui/log", "/ui/ask?q=x&every=1", "/ui/insights"]
    with open_page(browser, service, viewport={"width": 900, "height": 700}) as page:
        for path in paths:
            page.goto(f"{path}{'&' if '?' in path else '?'}agent={agent}")
            assert page.title() != "run"
            assert page.evaluate("document.documentElement.scrollWidth") <= 900, path
            assert "\u202e" not in page.content()


def test_what_runs_is_shown_until_it_is_over(page: Page, service: str) -> None:
    agent = f"sweep-{uuid4().hex[:8]}"
    with httpx.Client(base_url=service, headers={"X-Agent-Id": agent}, timeout=60) as client:
        store(client, "I live in Porto")
        sweep = client.post("/v1/sweeps", json={}).json()["id"]
        page.goto(f"/ui/sweeps/{sweep}?agent={agent}")
        expect(page.locator("[data-runs]")).to_have_count(1)
        client.post(f"/v1/sweeps/{sweep}/cancel").raise_for_status()
    expect(page.get_by_role("heading", level=1)).to_contain_text("was cancelled")
    expect(page.locator("[data-runs]")).to_have_count(0)


def test_a_fact_is_followed_through_time_by_keyboard(page: Page, story: str) -> None:
    page.goto(f"/ui?agent={story}")
    page.get_by_role("link", name="I went back to Vim").focus()
    press(page, "Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("I went back to Vim")
    page.get_by_role("link", name=re.compile("^I switched to Zed: from")).first.focus()
    press(page, "Enter")
    expect(page).to_have_url(re.compile("known_at="))
    expect(page.get_by_role("heading", level=1)).to_have_text("I switched to Zed")
    expect(page.locator(".box.chosen:visible")).to_have_count(1)


def offer_change(service: str) -> str:
    """Return an agent for which one change waits."""
    agent = f"review-{uuid4().hex[:8]}"
    with httpx.Client(base_url=service, headers={"X-Agent-Id": agent}, timeout=60) as client:
        for editor in ("Vim", "Nano"):
            store(client, f"I use {editor}", key=editor, value=editor)
        client.patch(f"/v1/agents/{agent}", json={"mode": "shadow"})
        for editor in ("Vim", "Nano"):
            store(client, f"I use Zed instead of {editor}", key=editor, value="Zed")
    return agent


def test_reviews_are_decided_and_undone_by_keyboard_alone(page: Page, service: str) -> None:
    agent = offer_change(service)
    page.goto(f"/ui/reviews?agent={agent}")
    first, second = page.locator(".review").all()
    expect(first).to_be_focused()
    press(page, "j")
    expect(second).to_be_focused()
    press(page, "k", "x")
    expect(first.get_by_role("checkbox", name="choose")).to_be_checked()
    press(page, "a")
    expect(page.get_by_role("status")).to_contain_text("Accepted.")
    expect(page.locator(".review")).to_have_count(1)
    press(page, "u")
    expect(page.get_by_role("heading", level=1)).to_have_text("Undo this operation?")
    page.get_by_role("button", name="Undo").focus()
    press(page, "Enter")
    expect(page.get_by_role("status")).to_contain_text("Undone.")
    page.wait_for_load_state()
    page.locator(".review").first.focus()
    press(page, "r")
    expect(page.get_by_role("status")).to_contain_text("Rejected.")


def test_keys_do_nothing_while_somebody_writes(page: Page, service: str) -> None:
    page.goto(f"/ui/reviews?agent={offer_change(service)}")
    expect(page.get_by_label("Note")).to_be_hidden()
    page.get_by_role("checkbox").last.check()
    page.get_by_label("Note").press_sequentially("jar")
    expect(page.get_by_label("Note")).to_have_value("jar")
    expect(page.locator(".review")).to_have_count(2)


@pytest.mark.parametrize("field", ["Note", "choose"])
def test_enter_in_a_field_decides_nothing(page: Page, service: str, field: str) -> None:
    page.goto(f"/ui/reviews?agent={offer_change(service)}")
    page.get_by_role("checkbox").last.check()
    with page.expect_response(re.compile("/ui/reviews/decide")) as answer:
        page.get_by_label(field).first.press("Enter")
    assert answer.value.status == 204
    expect(page.locator(".review")).to_have_count(2)
    expect(page.get_by_role("checkbox").last).to_be_checked()


def test_a_change_is_reviewed_and_undone_by_mouse(page: Page, service: str) -> None:
    page.goto(f"/ui/reviews?agent={offer_change(service)}")
    page.get_by_role("button", name="Yes, it ended", exact=True).first.click()
    page.get_by_role("link", name="Log").click()
    page.get_by_role("checkbox").first.check()
    page.get_by_role("button", name=re.compile("Undo")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Undo this operation?")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_contain_text("Undone.")
