"""The console in a real browser: what people do, by mouse and by keyboard."""

import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from support.browser import find_barriers, open_browser, open_page


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
    answer = httpx.post(f"{service}/ui/story", params={"agent": agent}, timeout=60)
    assert answer.status_code == 303
    return agent


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_a_first_visit_is_led_to_a_story(page: Page) -> None:
    page.goto(f"/ui?agent=new-{uuid4().hex}")
    page.get_by_role("button", name="Show me with a story").click()
    page.get_by_role("link", name="Now", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("believes")
    expect(page.get_by_role("link", name="I went back to Vim")).to_be_visible()


def test_the_sliders_show_the_past_without_a_new_page(page: Page, story: str) -> None:
    page.goto(f"/ui?agent={story}")
    page.evaluate("window.same = true")
    slider = page.get_by_role("slider", name=re.compile("True at"))
    slider.fill("80")
    expect(page.get_by_role("link", name="I live in Porto")).to_be_visible()
    expect(page).to_have_url(re.compile("as_of="))
    assert page.evaluate("window.same")
    page.go_back()
    expect(page.get_by_role("link", name="I live in Porto")).to_be_hidden()


def test_the_sliders_move_by_keyboard(page: Page, story: str) -> None:
    page.goto(f"/ui?agent={story}")
    page.get_by_role("slider", name=re.compile("Believed at")).focus()
    press(page, "Home")
    expect(page).to_have_url(re.compile("known_at="))
    focused = page.evaluate("document.activeElement.id")
    assert focused == "known_at_step"
    press(page, "End")
    expect(page).not_to_have_url(re.compile("known_at="))


def test_all_works_without_javascript(browser: Browser, service: str, story: str) -> None:
    with open_page(browser, service, java_script_enabled=False) as page:
        page.goto(f"/ui?agent={story}")
        page.get_by_label("True at, as a date").fill("2 years ago")
        page.get_by_role("button", name="Show").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Not a time")
        page.goto(f"/ui?agent={story}")
        page.get_by_role("slider", name=re.compile("True at")).focus()
        press(page, "Home", "Enter")
        expect(page).to_have_url(re.compile("as_of="))


PAGES = [
    "/ui",
    "/ui?as_of=2025-06-01",
    "/ui?q=home",
    "/ui/agents",
    "/ui/ask?q=where+does+the+user+live&every=1",
    "/ui/ask?view=context",
    "/ui/agent",
    "/ui/facts/nothing",
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_keeps_anybody_out(browser: Browser, service: str, story: str, scheme: str) -> None:
    barriers: dict[str, Any] = {}
    with open_page(browser, service, color_scheme=scheme) as page:
        for path in PAGES:
            page.goto(f"{path}{'&' if '?' in path else '?'}agent={story}")
            barriers[path] = find_barriers(page)
    assert {path: found for path, found in barriers.items() if found} == {}


def test_nothing_is_wider_than_a_phone(browser: Browser, service: str, story: str) -> None:
    with open_page(browser, service, viewport={"width": 360, "height": 700}) as page:
        for path in PAGES:
            page.goto(f"{path}{'&' if '?' in path else '?'}agent={story}")
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width <= 360, path
