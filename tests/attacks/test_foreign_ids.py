"""Attack 24, with two keys: what belongs to another agent answers like what does not exist."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.settings import load_settings
from support.builders import store
from support.keys import EVERY_SCOPE, ROOT_KEY, calling, issue
from support.messages import capture
from support.openapi_check import DOCUMENT
from support.service import running
from support.transfers import NDJSON

PATHS: dict[str, Any] = json.loads(DOCUMENT.read_text())["paths"]
# Ids that the service gives. What callers name (agents, sessions, slots) is refused or their own.
GIVEN_IDS = ("memory_id", "log_id", "review_id", "sweep_id", "capture_id", "key_id")


def routes_with_ids() -> list[tuple[str, str, str]]:
    """Return method, path and id of each route that takes an id in its path."""
    routes = []
    for path, methods in PATHS.items():
        for name in GIVEN_IDS:
            if f"{{{name}}}" in path:
                routes += [(method.upper(), path, name) for method in methods]
    return routes


ROUTES = routes_with_ids()

# The bodies that routes need.
BODIES = {
    "amend": {"importance": 0.9},
    "supersede": {"content": "Has nothing any more"},
    "link": {"type": "causes", "target_id": "TARGET"},
}


@pytest.fixture(scope="module")
def address(server_url: str, template_url: str) -> Iterator[str]:
    from support.databases import fresh_database
    from support.urls import name_of

    with (
        fresh_database(server_url, template=name_of(template_url)) as url,
        running(load_settings(database_url=url, api_key=ROOT_KEY)) as address,
    ):
        yield address


@pytest.fixture(scope="module")
def root(address: str) -> Iterator[httpx.Client]:
    with calling(address, ROOT_KEY) as client:
        yield client


@pytest.fixture(scope="module")
def ids(root: httpx.Client, address: str) -> dict[str, str]:
    """What the victim has, by the names of the places in a path."""
    key = issue(root, agents=["victim"])
    with calling(address, key["key"]) as victim:
        store(victim, "Alice lives in Porto", trust=90)
        review = store(victim, "Alice moved to Lisbon", trust=10)["review_id"]
        stored = store(victim, "Has a secret", session_id="secret")
        return {
            "memory_id": stored["memory"]["id"],
            "log_id": stored["log_id"],
            "review_id": review,
            "sweep_id": victim.post("/v1/sweeps").json()["id"],
            "capture_id": capture(victim, "My boat is called Ada.")["capture_id"],
            "key_id": key["id"],
        }


@pytest.fixture(scope="module")
def thief(root: httpx.Client, address: str) -> Iterator[httpx.Client]:
    with calling(address, issue(root, agents=["thief"], scopes=EVERY_SCOPE)["key"]) as client:
        store(client, "Has a dog")
        yield client


def describe(response: httpx.Response, used: str) -> tuple[int, dict[str, str], str]:
    headers = dict(response.headers)
    for name in ("date", "x-request-id"):
        headers.pop(name, None)
    return response.status_code, headers, response.text.replace(used, "ID")


def make_unknown(used: str) -> str:
    return "0123456789abcdef" if len(used) == 16 else str(uuid4())


def test_the_document_has_such_routes() -> None:
    assert len(ROUTES) >= 18
    assert {name for _, _, name in ROUTES} == set(GIVEN_IDS)


@pytest.mark.parametrize("query", ["", "?erase=true"])
@pytest.mark.parametrize(("method", "path", "name"), ROUTES)
def test_a_foreign_id_answers_like_an_unknown_one(
    thief: httpx.Client, ids: dict[str, str], method: str, path: str, name: str, query: str
) -> None:
    if query and method != "DELETE":
        query = ""
    body = dict(BODIES.get(PATHS[path][method.lower()]["operationId"], {}))
    if "target_id" in body:
        body["target_id"] = store(thief, "Has a cat")["memory"]["id"]
    answers = []
    for used in (ids[name], make_unknown(ids[name])):
        response = thief.request(method, path.format(**{name: used}) + query, json=body or None)
        answers.append(describe(response, used))
    assert answers[0] == answers[1]
    assert answers[0][0] == 404


BODIES_WITH_IDS = {
    "store, supersedes": ("/v1/memories", {"content": "x", "supersedes": "ID"}),
    "batch": ("/v1/memories/batch", {"items": [{"content": "x", "supersedes": "ID"}]}),
    "supersede by": ("/v1/memories/OWN/supersede", {"by": "ID"}),
    "link": ("/v1/memories/OWN/relationships", {"type": "causes", "target_id": "ID"}),
    "decide": ("/v1/reviews/decide", {"decision": "reject", "ids": ["ID"]}),
    "answer": ("/v1/reviews/answers", {"answers": [{"question": "ID", "choice": ["a"]}]}),
    "erase a chain": ("/v1/erasures", {"chain_id": "ID"}),
    "undo a sweep": ("/v1/reverts", {"sweep_id": "ID"}),
    "undo a capture": ("/v1/reverts", {"capture_id": "ID"}),
}


@pytest.mark.parametrize("case", list(BODIES_WITH_IDS))
def test_a_foreign_id_in_a_body_answers_like_an_unknown_one(
    thief: httpx.Client, ids: dict[str, str], case: str
) -> None:
    path, body = BODIES_WITH_IDS[case]
    own = store(thief, f"Has a goldfish called {uuid4().hex}")["memory"]["id"]
    kinds = {
        "decide": "review_id",
        "answer": "review_id",
        "undo a sweep": "sweep_id",
        "undo a capture": "capture_id",
    }
    kind = kinds.get(case, "memory_id")
    answers = []
    for used in (ids[kind], make_unknown(ids[kind])):
        sent = json.loads(json.dumps(body).replace("ID", used))
        response = thief.post(path.replace("OWN", own), json=sent)
        answers.append(describe(response, used))
    assert answers[0] == answers[1]


def test_a_list_by_ids_answers_no_foreign_one(thief: httpx.Client, ids: dict[str, str]) -> None:
    own = store(thief, f"Has a parrot called {uuid4().hex}")["memory"]["id"]
    wanted = {"ids": [own, ids["memory_id"]], "include_superseded": "1"}
    items = thief.get("/v1/memories", params=wanted).json()["items"]
    assert [item["id"] for item in items] == [own]


def test_foreign_agents_answer_like_unknown_ones(thief: httpx.Client) -> None:
    """Whether there is such an agent is nobody else's business."""
    for method, path, body in (
        ("GET", "/v1/agents/ID", None),
        ("GET", "/v1/agents/ID/stats", None),
        ("PATCH", "/v1/agents/ID", {"mode": "frozen"}),
    ):
        answers = []
        for used in ("victim", "nobody"):
            response = thief.request(method, path.replace("ID", used), json=body)
            answers.append(describe(response, used))
        assert answers[0][2] == answers[1][2]
        assert answers[0][0] == answers[1][0] == 403


def test_nothing_of_the_victim_has_changed(
    root: httpx.Client, thief: httpx.Client, ids: dict[str, str]
) -> None:
    """Runs last: after every call above."""
    victim = {"X-Agent-Id": "victim"}
    memory = root.get(f"/v1/memories/{ids['memory_id']}", headers=victim).json()
    assert (memory["content"], memory["status"]) == ("Has a secret", "current")
    assert len(root.get("/v1/log", headers=victim).json()["items"]) == 4
    export = root.get("/v1/export", headers=victim).content
    refused = thief.post("/v1/import", content=export, headers=NDJSON | victim)
    assert refused.status_code == 403
