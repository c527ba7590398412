"""A key of one agent sees no byte of another: every page, with every kind of foreign id."""

from collections.abc import Iterator

import httpx
import pytest

from app.console.routes import list_routes
from app.settings import load_settings
from support.builders import store
from support.keys import ROOT_KEY, calling, issue
from support.service import running

SECRET = "bees"


@pytest.fixture
def address(database_url: str) -> Iterator[str]:
    with running(load_settings(database_url=database_url, api_key=ROOT_KEY)) as address:
        yield address


@pytest.fixture
def foreign_ids(address: str) -> dict[str, str]:
    """One of everything that Ben has, by the name that it has in paths; all of it names his bees."""
    with calling(address, ROOT_KEY, x_agent_id="ben") as ben:
        stored = store(ben, "Ben keeps bees", key="animals")
        talk = [{"role": "user", "content": "My neighbour sells bees."}]
        capture = ben.post("/v1/messages", json={"session_id": "bees", "messages": talk}).json()
        ben.patch("/v1/agents/ben", json={"mode": "shadow"})
        review = store(ben, "Ben keeps more bees", key="animals")
        slot = {"slot": {"key": "bees"}, "dry_run": True}
        sweep = ben.post("/v1/sweeps", json=slot).json()
    return {
        "memory_id": stored["memory"]["id"],
        "log_id": stored["log_id"],
        "review_id": review["review_id"],
        "capture_id": capture["capture_id"],
        "sweep_id": sweep["id"],
    }


@pytest.fixture
def ann(address: str) -> Iterator[httpx.Client]:
    """A browser with a session for Ann alone, with every scope but that of administrators."""
    scopes = ["read", "write", "review", "erase"]
    with calling(address, ROOT_KEY) as root, httpx.Client(base_url=address, timeout=60) as viewer:
        store(root, "Ann keeps ants")
        key = issue(root, scopes=scopes, agents=["ann"])["key"]
        assert viewer.post("/ui/login", data={"key": key}).status_code == 303
        yield viewer


def list_paths(ids: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield method and path of every page, with foreign ids in its places."""
    for route in list_routes(None, needs_key=False):  # type: ignore[arg-type]  # no page is asked for
        path, methods = getattr(route, "path", ""), getattr(route, "methods", set())
        if path.startswith("/ui/assets") or "{rest" in path or path in ("/ui/login", "/ui/logout"):
            continue
        for method in methods - {"HEAD"}:
            yield method, path.format(**ids)


def test_no_page_shows_anything_of_another_agent(
    ann: httpx.Client, foreign_ids: dict[str, str]
) -> None:
    seen = 0
    named = {
        "log_id": foreign_ids["log_id"],
        "capture_id": foreign_ids["capture_id"],
        "sweep_id": foreign_ids["sweep_id"],
        "review_id": foreign_ids["review_id"],
        "accept": foreign_ids["review_id"],
        "confirmation": "ben",
        "scope": "agent_id",
        "content": "Ann was here",
    }
    for method, path in list_paths(foreign_ids):
        for agent in ("ben", None, "ann"):
            params = {"q": "what does Ben keep", "memory_id": foreign_ids["memory_id"], **named}
            params |= {"agent": agent} if agent else {}
            data = named if method == "POST" else None
            answer = ann.request(method, path, params=params, data=data)
            assert SECRET not in answer.text, (method, path, agent)
            assert answer.status_code < 500, (method, path, agent)
            if agent == "ben" and path != "/ui/agents":
                assert answer.status_code in (303, 403), (method, path, answer.status_code)
            seen += 1
    assert seen >= 75


def test_nothing_of_another_agent_was_changed(
    address: str, ann: httpx.Client, foreign_ids: dict[str, str]
) -> None:
    with calling(address, ROOT_KEY, x_agent_id="ben") as ben:
        before = ben.get("/v1/log").json(), ben.get("/v1/agents/ben").json()
        test_no_page_shows_anything_of_another_agent(ann, foreign_ids)
        assert (ben.get("/v1/log").json(), ben.get("/v1/agents/ben").json()) == before
