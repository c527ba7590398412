"""A real browser for the tests of the console."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Milliseconds for what a page does; a slow machine is no fault of it.
PATIENCE = 20_000
expect.set_options(timeout=PATIENCE)


def find_chromium() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Yield a headless Chromium. The test is skipped on a machine without one."""
    path = find_chromium()
    if path is None:
        pytest.skip("no Chromium on this machine: install the package chromium")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def open_page(browser: Browser, address: str, **options: object) -> Iterator[Page]:
    """Yield a page of a browser of its own, which fails the test on what a page must not do.

    It must not log an error, such as a refusal by its policy, nor ask another host for anything.
    """
    faults: list[str] = []

    def watch(route: Route) -> None:
        if route.request.url.startswith((address, "data:")):
            route.continue_()
        else:
            faults.append(f"asked for {route.request.url}")
            route.abort()

    context = browser.new_context(base_url=address, **options)  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE)
    context.route("**/*", watch)
    page = context.new_page()
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: _note(faults, message.type, message.text))
    try:
        yield page
    finally:
        context.close()
    assert faults == []


def _note(faults: list[str], kind: str, text: str) -> None:
    # A browser logs every answer that is no success; the tests ask for some of them.
    if kind == "error" and "Failed to load resource" not in text:
        faults.append(text)


def find_barriers(page: Page) -> list[str]:
    """Return what keeps people out of the page, by the rules of WCAG 2.2 A and AA."""
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    options = {"resultTypes": ["violations"], "runOnly": {"type": "tag", "values": rules}}
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{fault['id']} ({fault['impact']}): {node['html'][:200]}"
        for fault in found
        for node in fault["nodes"]
    ]
