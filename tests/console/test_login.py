"""Who may see a page of the console, and what a session is."""

import re
import time
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from http.cookies import SimpleCookie

import httpx
import psycopg
import pytest

from app.services import console_sessions
from app.settings import load_settings
from support.builders import store
from support.keys import ROOT_KEY, calling, issue
from support.service import running


@pytest.fixture
def address(database_url: str) -> Iterator[str]:
    with running(load_settings(database_url=database_url, api_key=ROOT_KEY)) as address:
        yield address


@pytest.fixture
def root(address: str) -> Iterator[httpx.Client]:
    with calling(address, ROOT_KEY) as client:
        yield client


@pytest.fixture
def viewer(address: str) -> Iterator[httpx.Client]:
    """A browser without a session."""
    with httpx.Client(base_url=address, timeout=60) as viewer:
        yield viewer


def log_in(viewer: httpx.Client, key: str, wanted: str = "/ui") -> httpx.Response:
    return viewer.post("/ui/login", params={"next": wanted}, data={"key": key})


def test_without_a_session_a_page_leads_to_the_login_and_back(viewer: httpx.Client) -> None:
    wanted = "/ui?agent=ann&as_of=2026-01-01"
    asked = viewer.get(wanted)
    assert asked.status_code == 303
    form = viewer.get(asked.headers["location"])
    action = re.search(r'action="([^"]+)"', form.text)
    assert action
    answer = viewer.post(action[1].replace("&amp;", "&"), data={"key": ROOT_KEY})
    assert (answer.status_code, answer.headers["location"]) == (303, wanted)
    assert re.search("Memory of “|remembers nothing yet", viewer.get("/ui").text)


def test_the_cookie_is_for_the_pages_only_and_does_not_hold_the_key(viewer: httpx.Client) -> None:
    cookie = SimpleCookie(log_in(viewer, ROOT_KEY).headers["set-cookie"])["palimpsest_session"]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "strict", "/ui")
    assert ROOT_KEY not in cookie.value
    refused = viewer.get("/v1/memories", headers={"Cookie": f"palimpsest_session={cookie.value}"})
    assert refused.status_code == 401
    assert viewer.get("/v1/memories", headers={"X-API-Key": cookie.value}).status_code == 401


@pytest.mark.parametrize("key", ["wrong", "", "pal_0_0", "ключ", "x" * 4000])
def test_a_wrong_key_begins_no_session(viewer: httpx.Client, key: str) -> None:
    answer = log_in(viewer, key)
    assert answer.status_code in (401, 422)
    assert 'role="alert"' in answer.text
    assert not viewer.cookies


def test_many_wrong_keys_are_slowed_down(viewer: httpx.Client) -> None:
    answers = {log_in(viewer, f"wrong-{number}").status_code for number in range(40)}
    assert 429 in answers
    assert log_in(viewer, ROOT_KEY).status_code == 303


@pytest.mark.parametrize(
    "wanted",
    [
        "https://evil.example",
        "//evil.example",
        "/docs",
        "/ui\\evil",
        "/ui/../docs",
        "/ui/%2e%2e/docs",
        "/uix",
        "/ui/\n",
        "ui",
    ],
)
def test_the_login_leads_to_no_foreign_page(viewer: httpx.Client, wanted: str) -> None:
    assert log_in(viewer, ROOT_KEY, wanted).headers["location"] == "/ui"


def test_a_session_is_over_when_its_key_is(root: httpx.Client, viewer: httpx.Client) -> None:
    issued = issue(root, scopes=["read"], agents=["ann"])
    log_in(viewer, issued["key"])
    assert viewer.get("/ui").status_code == 200
    root.delete(f"/v1/keys/{issued['id']}")
    for _ in range(50):  # a key is believed for a second
        answer = viewer.get("/ui")
        if answer.status_code == 303:
            break
        time.sleep(0.1)
    assert answer.headers["location"].startswith("/ui/login")


def test_a_session_is_over_with_its_logout_for_copies_of_its_cookie_too(
    viewer: httpx.Client, address: str
) -> None:
    log_in(viewer, ROOT_KEY)
    copy = {"Cookie": f"palimpsest_session={viewer.cookies['palimpsest_session']}"}
    assert httpx.get(f"{address}/ui", headers=copy).status_code == 200
    viewer.post("/ui/logout")
    assert viewer.get("/ui").status_code == 303
    assert httpx.get(f"{address}/ui", headers=copy).status_code == 303


def test_another_login_of_a_browser_ends_its_session(viewer: httpx.Client, address: str) -> None:
    log_in(viewer, ROOT_KEY)
    first = {"Cookie": f"palimpsest_session={viewer.cookies['palimpsest_session']}"}
    log_in(viewer, ROOT_KEY)
    assert viewer.get("/ui").status_code == 200
    assert httpx.get(f"{address}/ui", headers=first).status_code == 303


def test_a_session_ends_by_itself_and_is_forgotten(viewer: httpx.Client, database_url: str) -> None:
    log_in(viewer, ROOT_KEY)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE console_sessions SET expires_at = now()")
        assert viewer.get("/ui").status_code == 303
        log_in(viewer, ROOT_KEY)
        assert connection.execute("SELECT count(*) FROM console_sessions").fetchone() == (1,)


def test_a_key_has_so_many_sessions_and_no_more(
    viewer: httpx.Client, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console_sessions, "MOST_SESSIONS", 2)
    log_in(viewer, ROOT_KEY)
    for _ in range(2):
        with httpx.Client(base_url=address) as other:
            assert log_in(other, ROOT_KEY).status_code == 303
    assert viewer.get("/ui").status_code == 303


def test_the_database_holds_neither_the_cookie_nor_the_key(
    viewer: httpx.Client, database_url: str
) -> None:
    log_in(viewer, ROOT_KEY)
    with psycopg.connect(database_url) as connection:
        [row] = connection.execute("SELECT * FROM console_sessions").fetchall()
    cookie = viewer.cookies["palimpsest_session"]
    stored = b" ".join(bytes(value) for value in row if isinstance(value, bytes))
    for secret in (ROOT_KEY.encode(), cookie.encode(), urlsafe_b64decode(cookie)):
        assert secret not in stored


@pytest.mark.parametrize("cookie", ["x", "A" * 44, "=" * 44, "%00", "\xe4", "a" * 4000])
def test_another_cookie_is_no_session(address: str, cookie: str) -> None:
    headers = {"Cookie": f"palimpsest_session={cookie}".encode("latin-1")}
    for path in ("/ui", "/ui/reviews"):
        assert httpx.get(f"{address}{path}", headers=headers).status_code == 303
    assert httpx.post(f"{address}/ui/logout", headers=headers).status_code == 303


@pytest.mark.parametrize("path", ["/ui/login", "/ui/logout"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_foreign_page_can_send_no_form(
    viewer: httpx.Client, path: str, headers: dict[str, str]
) -> None:
    assert viewer.post(path, data={"key": ROOT_KEY}, headers=headers).status_code == 403


def test_a_link_from_elsewhere_asks_again_for_the_cookie(viewer: httpx.Client) -> None:
    """The browser keeps a strict cookie back there; the page that asks again gets it."""
    answer = viewer.get("/ui?agent=ann", headers={"Sec-Fetch-Site": "cross-site"})
    assert (answer.status_code, "refresh" in answer.text) == (200, True)


def test_a_page_shows_what_the_key_may_read_only(root: httpx.Client, viewer: httpx.Client) -> None:
    with calling(str(root.base_url), ROOT_KEY, x_agent_id="ben") as ben:
        store(ben, "Ben keeps bees")
    with calling(str(root.base_url), ROOT_KEY, x_agent_id="ann") as ann:
        store(ann, "Ann keeps ants")
    log_in(viewer, issue(root, scopes=["read"], agents=["ann"])["key"])
    assert "Ann keeps ants" in viewer.get("/ui").text
    foreign = viewer.get("/ui", params={"agent": "ben"})
    assert foreign.status_code == 403
    assert "bees" not in foreign.text


def test_a_key_that_may_not_read_sees_why(root: httpx.Client, viewer: httpx.Client) -> None:
    log_in(viewer, issue(root, scopes=["write"], agents=["ann"])["key"])
    assert viewer.get("/ui").status_code == 403


def test_a_key_for_several_agents_chooses_one(root: httpx.Client, viewer: httpx.Client) -> None:
    log_in(viewer, issue(root, scopes=["read"], agents=["ann", "ben"])["key"])
    assert viewer.get("/ui").headers["location"] == "/ui/agents"
    page = viewer.get("/ui/agents").text
    assert "/ui?agent=ann" in page
    assert "/ui?agent=ben" in page


def test_a_password_of_a_proxy_is_no_key(viewer: httpx.Client) -> None:
    log_in(viewer, ROOT_KEY)
    headers = {"Authorization": "Basic cHJveHk6cGFzc3dvcmQ="}
    assert viewer.get("/ui/agents", headers=headers).status_code == 200


def test_the_console_can_be_turned_off(database_url: str) -> None:
    with running(load_settings(database_url=database_url, console=False)) as address:
        assert httpx.get(f"{address}/ui").status_code == 404
        assert httpx.get(f"{address}/").headers["location"] == "docs"
