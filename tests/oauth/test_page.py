"""The page that asks for access, in a real browser."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from playwright.sync_api import Browser, expect

from support.browser import find_barriers, open_browser, open_page
from support.keys import issue
from support.oauth import Program, read_answer

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


@pytest.fixture
def callback() -> Iterator[str]:
    """A client's own page, which leads on to another origin as some do."""

    class Callback(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/callback"):
                self.send_response(302)
                port = self.server.server_address[1]
                self.send_header("Location", f"http://127.0.0.1:{port}/done{self.path[9:]}")
            else:
                self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Callback)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_address[1]}/callback"
    server.shutdown()
    server.server_close()


def build_address(program: Program) -> str:
    request = program.http.build_request("GET", "/oauth/authorize", params=program.build_question())
    return str(request.url)


def test_a_person_allows_less_than_was_asked(
    chromium: Browser, root: httpx.Client, browser: httpx.Client, callback: str
) -> None:
    key = issue(root, scopes=["read", "write"], agents=["ann"])["key"]
    program = Program(browser, "Example host", (callback,))
    page = chromium.new_page()
    page.goto(build_address(program))
    page.get_by_label("Key of this service").fill("a wrong key")
    page.get_by_label("Decide reviews").uncheck()
    page.get_by_role("button", name="Allow").click()
    expect(page.get_by_role("alert")).to_contain_text("wrong")
    expect(page.get_by_label("Decide reviews")).not_to_be_checked()
    page.get_by_label("Store and change facts").uncheck()
    page.get_by_label("Key of this service").fill(key)
    page.keyboard.press("Enter")
    page.wait_for_url("**/done?**")
    tokens = program.redeem(read_answer(page.url)["code"])
    assert tokens.json()["scope"] == "read"
    page.close()


def test_a_person_cancels(chromium: Browser, browser: httpx.Client, callback: str) -> None:
    page = chromium.new_page()
    page.goto(build_address(Program(browser, "Example host", (callback,))))
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_url("**/done?**")
    assert read_answer(page.url)["error"] == "access_denied"
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1200])
def test_the_pages_have_no_barriers_and_fit_a_phone(
    chromium: Browser, keyed_service: str, browser: httpx.Client, width: int, scheme: str
) -> None:
    program = Program(
        browser, "A name of many letters " * 4, ("https://" + "long." * 30 + "example",)
    )
    viewport = {"width": width, "height": 700}
    with open_page(chromium, keyed_service, viewport=viewport, color_scheme=scheme) as page:
        for address in (build_address(program), build_address(program) + "&state=twice"):
            page.goto(address)
            assert find_barriers(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
