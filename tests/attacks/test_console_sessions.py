"""R11: a session of the console ends with its logout and its key, and its cookie tells nothing of the root key."""

import time
from base64 import urlsafe_b64decode

import httpx
import jwt
import psycopg
import pytest

from app.api.tokens import CLOCK_DIFFERENCE
from app.settings import InvalidSettings, load_settings
from support.keys import ROOT_KEY, calling, issue
from support.service import running

NEW_ROOT_KEY = "another-root-key-0123456789-abcdefghij"
SECRET = "secret-of-tokens-0123456789-abcdefghij"
COOKIE = "palimpsest_session"


def log_in(address: str, key: str) -> dict[str, str]:
    """Return the header of a session that began with this key."""
    answer = httpx.post(f"{address}/ui/login", data={"key": key})
    assert answer.status_code == 303, answer.text
    return {"Cookie": f"{COOKIE}={answer.cookies[COOKIE]}"}


def is_open(address: str, session: dict[str, str]) -> bool:
    answer = httpx.get(f"{address}/ui", headers=session)
    assert answer.status_code in (200, 303), answer.text
    return answer.status_code == 200


def await_end(address: str, session: dict[str, str], *, seconds: float = 5) -> None:
    """Wait until the session is over: a key is believed for a second."""
    until = time.monotonic() + seconds
    while is_open(address, session):
        assert time.monotonic() < until, "the session goes on"
        time.sleep(0.1)


def test_a_copied_cookie_is_nothing_after_the_logout(database_url: str) -> None:
    with running(load_settings(database_url=database_url, api_key=ROOT_KEY)) as address:
        session, other = log_in(address, ROOT_KEY), log_in(address, ROOT_KEY)
        assert is_open(address, session)
        httpx.post(f"{address}/ui/logout", headers=session)
        assert not is_open(address, session)
        form = httpx.post(f"{address}/ui/agent", data={"mode": "frozen"}, headers=session)
        assert form.headers["location"].startswith("/ui/login")
        assert is_open(address, other)  # another login is another session


def test_no_page_stays_in_the_browser(database_url: str) -> None:
    with running(load_settings(database_url=database_url, api_key=ROOT_KEY)) as address:
        session = log_in(address, ROOT_KEY)
        for path in ("/ui", "/ui/log", "/ui/reviews", "/ui/agents"):
            page = httpx.get(f"{address}{path}", headers=session)
            assert page.headers["Cache-Control"] == "no-store"


def test_a_session_ends_with_its_key(database_url: str) -> None:
    settings = load_settings(database_url=database_url, api_key=ROOT_KEY, token_secret=SECRET)
    with running(settings) as address, calling(address, ROOT_KEY) as root:
        revoked, expired, rotated = (issue(root, agents=["ann"]) for _ in range(3))
        sessions = [log_in(address, one["key"]) for one in (revoked, expired, rotated)]
        claims = {"aud": "palimpsest", "sub": "app", "agent": "ann", "scope": "read"}
        end = int(time.time() - CLOCK_DIFFERENCE) + 3
        token = jwt.encode({**claims, "exp": end}, SECRET)
        sessions.append(log_in(address, token))
        assert all(is_open(address, session) for session in sessions)
        root.delete(f"/v1/keys/{revoked['id']}").raise_for_status()
        with psycopg.connect(database_url) as connection:
            connection.execute(
                "UPDATE api_keys SET expires_at = now() WHERE id = %s", [expired["id"]]
            )
        path = f"/v1/keys/{rotated['id']}/rotate"
        root.post(path, json={"overlap": 0}).raise_for_status()
        for session in sessions:
            await_end(address, session)


def test_another_root_key_ends_the_sessions_of_the_old_one_only(database_url: str) -> None:
    with (
        running(load_settings(database_url=database_url, api_key=ROOT_KEY)) as address,
        calling(address, ROOT_KEY) as root,
    ):
        by_root = log_in(address, ROOT_KEY)
        by_key = log_in(address, issue(root, agents=["ann"])["key"])
    with running(load_settings(database_url=database_url, api_key=NEW_ROOT_KEY)) as address:
        assert not is_open(address, by_root)
        assert is_open(address, by_key)


def test_a_cookie_is_random_and_holds_nothing_to_try_root_keys_on(database_url: str) -> None:
    with (
        running(load_settings(database_url=database_url, api_key=ROOT_KEY)) as address,
        calling(address, ROOT_KEY) as root,
    ):
        key = issue(root, agents=["ann"])["key"]
        cookies = [log_in(address, key)["Cookie"].removeprefix(f"{COOKIE}=") for _ in range(2)]
        assert [len(urlsafe_b64decode(cookie)) for cookie in cookies] == [32, 32]
        assert cookies[0] != cookies[1]


@pytest.mark.parametrize("key", ["a", "abc", "password", " ", "sunshine7", "x" * 31])
def test_a_root_key_that_can_be_guessed_starts_no_service(key: str) -> None:
    with pytest.raises(InvalidSettings, match="PALIMPSEST_API_KEY"):
        load_settings(api_key=key)
