"""F7 and attack 29: a key opens what it is for, as long as it lasts, and nothing else."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from app.api import wrong_keys
from app.api.scopes import SCOPES
from app.domain.keys import KeyId, PresentedKey, Scope
from app.main import create_app
from app.settings import load_settings
from app.store import keys
from support.builders import problem, send, store
from support.keys import EVERY_SCOPE, ROOT_KEY, calling, issue
from support.openapi_check import DOCUMENT
from support.service import running
from support.service_process import served
from support.transfers import NDJSON

VIM = {"content": "Uses Vim", "kind": "preference", "key": "editor", "value": "Vim"}


@pytest.fixture
def address(database_url: str) -> Iterator[str]:
    """A service that asks for keys, over a database of its own."""
    with running(load_settings(database_url=database_url, api_key=ROOT_KEY)) as address:
        yield address


@pytest.fixture
def root(address: str) -> Iterator[httpx.Client]:
    with calling(address, ROOT_KEY) as client:
        yield client


# --- wrong keys ----------------------------------------------------------------------------------


@pytest.fixture
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrong_keys, "MOST_WRONG", 10_000)


def spoil(key: str) -> Iterator[dict[str, str]]:
    """Yield headers with keys that are almost this one."""
    yield {}
    for wrong in (key[:-1], key + "0", key[:-1] + chr(ord(key[-1]) ^ 1), key.upper(), "*"):
        yield {"X-API-Key": wrong}
        yield {"Authorization": f"Bearer {wrong}"}
    yield {"Authorization": f"Basic {key}"}
    yield {"Authorization": key}
    yield {"Authorization": "Bearer", "X-API-Key": ""}
    yield {"Cookie": f"X-API-Key={key}"}


@pytest.mark.usefixtures("unlimited")
@pytest.mark.parametrize("kind", ["root", "issued"])
def test_wrong_keys_all_get_the_same_refusal(root: httpx.Client, kind: str) -> None:
    key = ROOT_KEY if kind == "root" else issue(root)["key"]
    address = str(root.base_url)
    assert httpx.get(f"{address}/v1/memories", headers={"X-API-Key": key}).status_code == 200
    bodies = set()
    for headers in spoil(key):
        refused = httpx.get(f"{address}/v1/memories", headers=headers)
        assert refused.status_code == 401, headers
        assert refused.headers["www-authenticate"] == "Bearer"
        bodies.add(refused.content)
    bodies.add(httpx.get(f"{address}/v1/memories", params={"key": key, "api_key": key}).content)
    odd = {"X-API-Key": f"{key}\u00e4".encode("latin-1")}
    bodies.add(httpx.get(f"{address}/v1/memories", headers=odd).content)
    assert len(bodies) == 1


@pytest.mark.usefixtures("unlimited")
def test_the_id_of_a_key_with_the_secret_of_another_opens_nothing(root: httpx.Client) -> None:
    one, other = (PresentedKey.parse(issue(root)["key"]) for _ in range(2))
    assert one
    assert other
    mixed = PresentedKey(one.id, other.secret).format()
    with calling(str(root.base_url), mixed) as client:
        assert client.get("/v1/memories").status_code == 401


def test_no_secret_is_stored_or_listed(root: httpx.Client, database_url: str) -> None:
    issued = issue(root)
    secret = PresentedKey.parse(issued["key"]).secret  # type: ignore[union-attr]
    listed = root.get("/v1/keys")
    assert issued["id"] in listed.text
    with psycopg.connect(database_url) as connection:
        rows = connection.execute("SELECT api_keys::text FROM api_keys").fetchall()
    assert secret not in listed.text + str(rows)


def test_a_batch_of_mem0_that_the_key_may_not_take_back_says_so(root: httpx.Client) -> None:
    key = issue(root, scopes=["read", "write"], agents=["ann"])["key"]
    with httpx.Client(
        base_url=f"{root.base_url}/mem0", headers={"Authorization": f"Token {key}"}
    ) as mem0:
        body = {"messages": "Tea is green", "user_id": "ann", "infer": False}
        [event] = mem0.post("/v3/memories/add/", json=body).json()["results"]
        twice = {"memories": [{"memory_id": event["id"]}] * 2}
        refused = mem0.request("DELETE", "/v1/batch/", json=twice)
        assert refused.status_code == 422
        assert "1 memories were changed before that and stay so" in refused.json()["detail"]


# --- too many wrong keys -------------------------------------------------------------------------


def test_after_ten_wrong_keys_an_address_is_told_to_wait(root: httpx.Client) -> None:
    key = issue(root)["key"]
    with (
        calling(str(root.base_url), "wrong") as wrong,
        calling(str(root.base_url), key) as right,
    ):
        answers = [wrong.get("/v1/memories") for _ in range(12)]
        assert [answer.status_code for answer in answers] == [401] * 10 + [429] * 2
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
        assert right.get("/v1/memories").status_code == 200
        assert root.get("/v1/memories").status_code == 200
        assert wrong.get("/livez").status_code == 200
    missing = httpx.get(f"{root.base_url}/v1/memories")
    assert missing.status_code == 401


def test_unknown_ids_reach_the_database_once_a_second(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a flood of different ones takes few statements, however many come at once."""
    read: list[int] = []
    find_keys = keys.find_keys

    async def find_and_count(connection: AsyncConnection, ids: set[KeyId]) -> Any:
        read.append(len(ids))
        return await find_keys(connection, ids)

    monkeypatch.setattr(keys, "find_keys", find_and_count)

    async def flood() -> tuple[list[int], list[int]]:
        app = create_app(load_settings(database_url=database_url, api_key=ROOT_KEY))
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
        ):

            async def present(number: int) -> None:
                headers = {"X-API-Key": f"pal_{number:016x}_{'0' * 64}"}
                response = await client.get("/v1/memories", headers=headers)
                assert response.status_code in (401, 429)

            started = time.monotonic()
            for _ in range(50):
                await present(0)
            seconds = time.monotonic() - started
            assert len(read) <= 1 + seconds
            often = read[:]
            await asyncio.gather(*(present(number) for number in range(1, 300)))
        return often, read[len(often) :]

    often, many = asyncio.run(flood())
    assert set(often) == {1}
    assert sum(many) == 299
    assert len(many) <= 30


def test_a_path_that_nobody_guards_has_no_rights(database_url: str) -> None:
    """As where an application mounts the service below a path of its own."""

    async def call() -> httpx.Response:
        app = create_app(load_settings(database_url=database_url, api_key=ROOT_KEY))
        transport = httpx.ASGITransport(app, root_path="/mounted")
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
        ):
            return await client.get("/mounted/v1/memories")

    assert asyncio.run(call()).status_code == 403


# --- the end of a key ----------------------------------------------------------------------------


def test_a_revoked_key_stops_in_another_process_within_a_second(
    root: httpx.Client, database_url: str, tmp_path: Path
) -> None:
    issued = issue(root)
    settings = {"PALIMPSEST_DATABASE_URL": database_url, "PALIMPSEST_API_KEY": ROOT_KEY}
    with (
        served(tmp_path, **settings) as elsewhere,
        calling(elsewhere.address, issued["key"]) as client,
    ):
        assert client.get("/v1/memories").status_code == 200
        revoked = root.delete(f"/v1/keys/{issued['id']}")
        assert revoked.status_code == 200
        ended = time.monotonic()
        statuses = []
        while (status := client.get("/v1/memories").status_code) == 200:
            statuses.append(status)
            assert time.monotonic() - ended < 30, "the key is still taken"
        assert status == 401
        assert time.monotonic() - ended < 1.5, "a second, and the last call"
    again = root.delete(f"/v1/keys/{issued['id']}").json()
    assert again["revoked_at"] == revoked.json()["revoked_at"]


def test_an_import_that_drips_stores_nothing_under_a_key_that_ended_meanwhile(
    root: httpx.Client,
) -> None:
    issued = issue(root)

    def send_and_revoke() -> Iterator[bytes]:
        yield b'{"content": "Has a cat"}\n'
        root.delete(f"/v1/keys/{issued['id']}").raise_for_status()
        time.sleep(1.1)
        yield b'{"content": "Has a dog"}\n'

    headers = {"X-API-Key": issued["key"], "X-Agent-Id": "ann", **NDJSON}
    address = f"{root.base_url}/v1/import"
    refused = httpx.post(address, content=send_and_revoke(), headers=headers, timeout=60)
    assert refused.status_code == 401, refused.text
    assert root.get("/v1/memories", headers={"X-Agent-Id": "ann"}).json()["items"] == []


def test_a_key_ends_at_its_time(root: httpx.Client) -> None:
    issued = issue(root, expires_at=time.time() + 2)
    with calling(str(root.base_url), issued["key"]) as client:
        assert client.get("/v1/memories").status_code == 200
        time.sleep(2.1)
        assert client.get("/v1/memories").status_code == 401


def test_a_rotated_key_works_until_the_overlap_ends(root: httpx.Client) -> None:
    old = issue(root, scopes=["read"], agents=["ann"], trust_ceiling=7)
    new = root.post(f"/v1/keys/{old['id']}/rotate", json={"overlap": 2}).json()
    same = ("name", "scopes", "agents", "trust_ceiling")
    assert [new[name] for name in same] == [old[name] for name in same]
    assert new["id"] != old["id"]
    address = str(root.base_url)
    with calling(address, old["key"]) as before, calling(address, new["key"]) as after:
        assert before.get("/v1/memories").status_code == 200
        assert after.get("/v1/memories").status_code == 200
        time.sleep(2.1)
        assert before.get("/v1/memories").status_code == 401
        assert after.get("/v1/memories").status_code == 200
    problem(root.post(f"/v1/keys/{old['id']}/rotate"), 409)


@pytest.mark.parametrize(
    ("end", "new_end"), [(None, None), ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59")]
)
def test_a_rotated_key_lives_as_long_as_the_old_one(
    root: httpx.Client, end: str | None, new_end: str | None
) -> None:
    old = issue(root, expires_at=end)
    new = root.post(f"/v1/keys/{old['id']}/rotate").json()
    assert (new["expires_at"] or "")[:19] == (new_end or "")


# --- agents --------------------------------------------------------------------------------------


def test_a_key_of_one_agent_reaches_no_other(root: httpx.Client) -> None:
    victim = {"X-Agent-Id": "victim"}
    store(root, "Has a secret")
    root.post("/v1/memories", json={"content": "Has a secret"}, headers=victim).raise_for_status()
    key = issue(root, agents=["ann"])["key"]
    with calling(str(root.base_url), key) as client:
        assert store(client, "Has a dog")["memory"]
        for foreign in ("victim", "default", "nobody", "ANN", "ann/1", "*"):
            refused = problem(client.get("/v1/memories", headers={"X-Agent-Id": foreign}), 403)
            assert foreign in refused["detail"]
            for path in ("", "/stats"):
                problem(client.get(f"/v1/agents/{foreign}{path}"), 403)
            problem(client.patch(f"/v1/agents/{foreign}", json={"mode": "frozen"}), 403)
        assert [item["agent_id"] for item in client.get("/v1/agents").json()["items"]] == ["ann"]
    mode = root.get("/v1/agents/victim").json()["mode"]
    assert mode is None


def test_a_key_of_several_agents_names_the_one_it_means(root: httpx.Client) -> None:
    key = issue(root, agents=["acme/*"])["key"]
    with calling(str(root.base_url), key) as client:
        assert "acme/*" in problem(client.get("/v1/memories"), 403)["detail"]
        for agent in ("acme/ann", "acme/ben"):
            response = client.post("/v1/memories", json=VIM, headers={"X-Agent-Id": agent})
            assert response.status_code == 201
        for agent in ("acme", "acme/", "acmes/ann"):
            problem(client.post("/v1/memories", json=VIM, headers={"X-Agent-Id": agent}), 403)
        store(root, "Has a dog")
        agents = [item["agent_id"] for item in client.get("/v1/agents").json()["items"]]
        assert agents == ["acme/ann", "acme/ben"]


def test_the_log_of_the_service_names_the_agent_that_the_key_chose(
    root: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    issued = issue(root, agents=["ann"])
    with caplog.at_level("INFO"), calling(str(root.base_url), issued["key"]) as client:
        client.get("/v1/memories")
    [line] = [record for record in caplog.records if record.message == "request"]
    assert (line.agent, line.actor) == ("ann", f"key:{issued['id']}")  # type: ignore[attr-defined]


# --- scopes --------------------------------------------------------------------------------------


def routes() -> dict[str, tuple[str, str]]:
    """Return method and path of each documented route that asks for a key, by its name."""
    paths = json.loads(DOCUMENT.read_text())["paths"]
    listed = {}
    for path, methods in paths.items():
        for method, route in methods.items():
            if path.startswith("/v1/") or path == "/metrics":
                listed[route["operationId"]] = (method.upper(), path)
    return listed


# Every right key may ask what it is for.
WITHOUT_SCOPE = {"get_actor"}


def test_every_route_has_its_scope_and_no_other_name_has_one() -> None:
    assert routes().keys() == SCOPES.keys() | WITHOUT_SCOPE


@pytest.mark.parametrize("scope", list(Scope))
def test_every_key_may_ask_what_it_is_for(root: httpx.Client, scope: Scope) -> None:
    issued = issue(root, scopes=[scope], agents=["ann"], trust_ceiling=40)
    with calling(str(root.base_url), issued["key"]) as client:
        answer = client.get("/v1/actor").json()
    assert answer == {
        "actor": f"key:{issued['id']}",
        "scopes": [scope],
        "agents": ["ann"],
        "agent": "ann",
        "trust_ceiling": 40,
        "expires_at": issued["expires_at"],
    }
    problem(httpx.get(f"{root.base_url}/v1/actor"), 401)


def test_a_key_for_several_agents_has_no_usual_one(root: httpx.Client) -> None:
    issued = issue(root, agents=["ann", "ben"])
    with calling(str(root.base_url), issued["key"]) as client:
        assert client.get("/v1/actor").json()["agent"] is None


@pytest.mark.parametrize("scope", list(Scope))
def test_a_key_reaches_the_routes_of_its_scopes_only(root: httpx.Client, scope: Scope) -> None:
    """Each route is called with ids of nothing: 403 exactly where the scope is missing."""
    key = issue(root, scopes=[scope], agents=["ann"])["key"]
    nothing = "00000000-0000-0000-0000-000000000000"
    refused = set()
    with calling(str(root.base_url), key) as client:
        for name, (method, path) in routes().items():
            for place in (
                "memory_id",
                "log_id",
                "review_id",
                "sweep_id",
                "capture_id",
                "webhook_id",
            ):
                path = path.replace(f"{{{place}}}", nothing)  # noqa: PLW2901 - filled step by step
            filled = path.format(
                agent_id="ann", key_id="0" * 16, category="c", key="k", session_id="s", project="p"
            )
            response = client.request(method, filled)
            if response.status_code == 403:
                assert f"`{SCOPES[name]}`" in response.json()["detail"]
                refused.add(name)
    # The service of this test shows its metrics to everybody.
    guarded = SCOPES.keys() - {"metrics"}
    assert refused == {name for name in guarded if SCOPES[name] is not scope}


def test_to_erase_one_memory_a_key_needs_to_erase(root: httpx.Client) -> None:
    key = issue(root, scopes=["read", "write"], agents=["ann"])["key"]
    with calling(str(root.base_url), key) as client:
        memory_id = store(client, "Has a dog")["memory"]["id"]
        refused = client.delete(f"/v1/memories/{memory_id}", params={"erase": "1"})
        assert "`erase`" in problem(refused, 403)["detail"]
        assert client.get(f"/v1/memories/{memory_id}").json()["content"] == "Has a dog"
        assert client.delete(f"/v1/memories/{memory_id}").status_code == 200


@pytest.mark.parametrize("needed", [True, False])
def test_the_metrics_ask_for_a_key_if_they_should(database_url: str, needed: bool) -> None:
    settings = load_settings(database_url=database_url, api_key=ROOT_KEY, metrics_need_key=needed)
    with running(settings) as address, calling(address, ROOT_KEY) as root:
        assert httpx.get(f"{address}/metrics").status_code == (401 if needed else 200)
        assert root.get("/metrics").status_code == 200
        for scope, status in (("read", 403), ("admin", 200)):
            with calling(address, issue(root, scopes=[scope])["key"]) as client:
                assert client.get("/metrics").status_code == (status if needed else 200)
        assert httpx.get(f"{address}/livez").status_code == 200


# --- keys that issue keys ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wanted",
    [
        {"agents": ["*"]},
        {"agents": ["acme/ann", "ben"]},
        {"scopes": EVERY_SCOPE},
        {"trust_ceiling": 61},
        {"expires_at": None},
        {"expires_at": "2300-01-01"},
    ],
)
def test_a_key_issues_no_key_that_may_do_more(root: httpx.Client, wanted: dict[str, Any]) -> None:
    own = {
        "scopes": ["read", "admin"],
        "agents": ["acme/*"],
        "trust_ceiling": 60,
        "expires_at": "2200-01-01",
    }
    with calling(str(root.base_url), issue(root, **own)["key"]) as client:
        body = {"name": "more", **own}
        assert client.post("/v1/keys", json=body).status_code == 201
        problem(client.post("/v1/keys", json=body | wanted), 403)


def test_a_key_that_may_do_more_answers_like_an_unknown_one(root: httpx.Client) -> None:
    more = issue(root)
    own = issue(root, scopes=["read", "admin"], agents=["acme/*"])
    unknown = "0123456789abcdef"
    with calling(str(root.base_url), own["key"]) as client:
        assert [key["id"] for key in client.get("/v1/keys").json()["items"]] == [own["id"]]
        for method, path in (("DELETE", ""), ("POST", "/rotate")):
            answers = []
            for key_id in (more["id"], unknown):
                answer = client.request(method, f"/v1/keys/{key_id}{path}")
                answers.append((answer.status_code, answer.text.replace(key_id, "ID")))
            assert answers[0] == answers[1]
            assert answers[0][0] == 404
    with calling(str(root.base_url), more["key"]) as client:
        assert client.get("/v1/memories").status_code == 200


def test_a_service_without_a_key_issues_none(client: httpx.Client) -> None:
    """Else whoever came by while it was open would hold a key for later."""
    body = {"name": "for later", "scopes": EVERY_SCOPE, "agents": ["*"]}
    for method, path in (
        ("POST", "/v1/keys"),
        ("GET", "/v1/keys"),
        ("DELETE", "/v1/keys/0123456789abcdef"),
        ("POST", "/v1/keys/0123456789abcdef/rotate"),
    ):
        answer = client.request(method, path, json=body if path == "/v1/keys" else None)
        assert "PALIMPSEST_API_KEY" in problem(answer, 409)["detail"]


# --- trust ---------------------------------------------------------------------------------------


@pytest.fixture
def low(root: httpx.Client) -> Iterator[httpx.Client]:
    """A client whose key gives a trust of 20 at most."""
    key = issue(root, agents=["ann"], trust_ceiling=20)["key"]
    with calling(str(root.base_url), key) as client:
        yield client


def test_a_fact_without_a_trust_gets_the_ceiling(low: httpx.Client) -> None:
    stored = store(low, "Has a dog")["memory"]
    assert stored["trust"] == 20
    replaced = low.post(f"/v1/memories/{stored['id']}/supersede", json={"content": "Has a cat"})
    assert replaced.json()["memory"]["trust"] == 20
    batch = low.post("/v1/memories/batch", json={"items": [{"content": "Has a hen"}]}).json()
    assert batch["results"][0]["memory"]["trust"] == 20
    low.post("/v1/import", content='{"content": "Has a cow"}', headers=NDJSON).raise_for_status()
    assert {memory["trust"] for memory in low.get("/v1/memories").json()["items"]} == {20}


def test_no_door_raises_trust(low: httpx.Client) -> None:
    memory_id = store(low, "Has a dog", trust=20)["memory"]["id"]
    high = {"content": "Has a fox", "trust": 21}
    for answer in (
        low.post("/v1/memories", json=high),
        low.post(f"/v1/memories/{memory_id}/supersede", json=high),
        low.patch(f"/v1/memories/{memory_id}", json={"trust": 21}),
    ):
        assert "at most 20" in problem(answer, 403)["detail"]
    batch = low.post("/v1/memories/batch", json={"items": [high, {"content": "Has a hen"}]}).json()
    assert [result.get("status") for result in batch["results"]] == [403, None]
    line = low.post("/v1/import", content=json.dumps(high), headers=NDJSON)
    assert "Line 1: trust is 21" in problem(line, 422)["detail"]
    assert {memory["content"] for memory in low.get("/v1/memories").json()["items"]} == {
        "Has a dog",
        "Has a hen",
    }


def test_an_export_is_brought_back_only_by_a_key_of_full_trust_and_admin(
    root: httpx.Client, low: httpx.Client
) -> None:
    store(root, "Has a dog", trust=100)
    export = root.get("/v1/export").content
    assert (
        "at most 20"
        in problem(low.post("/v1/import", content=export, headers=NDJSON), 403)["detail"]
    )
    writing = issue(root, scopes=["read", "write"], agents=["ben"])["key"]
    with calling(str(root.base_url), writing) as client:
        refused = client.post("/v1/import", content=export, headers=NDJSON)
        assert "`admin`" in problem(refused, 403)["detail"]


def test_what_a_low_key_stores_takes_no_slot_of_a_higher_one(
    root: httpx.Client, low: httpx.Client
) -> None:
    headers = {"X-Agent-Id": "ann"}
    root.post("/v1/memories", json=VIM | {"trust": 90}, headers=headers).raise_for_status()
    send(low, VIM | {"content": "Uses Emacs", "value": "Emacs"})
    assert low.get("/v1/preferences/editor").json()["value"] == "Vim"


# --- the database --------------------------------------------------------------------------------


def test_without_the_database_a_key_is_neither_right_nor_wrong(
    server_url: str, template_url: str
) -> None:
    from support.databases import fresh_database
    from support.urls import name_of

    with fresh_database(server_url, template=name_of(template_url)) as url:
        settings = load_settings(database_url=url, api_key=ROOT_KEY, pool_timeout=1)
        with running(settings) as address, calling(address, ROOT_KEY) as root:
            key = issue(root)["key"]
            with psycopg.connect(server_url, autocommit=True) as connection:
                name = name_of(url)
                connection.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false'.encode())
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
                    [name],
                )
            with calling(address, key) as client:
                problem(client.get("/v1/memories"), 503)
            with psycopg.connect(server_url, autocommit=True) as connection:
                connection.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true'.encode())
            with calling(address, key) as client:
                assert client.get("/v1/memories").status_code == 200


def test_the_last_use_of_a_key_is_written(database_url: str) -> None:
    settings = load_settings(database_url=database_url, api_key=ROOT_KEY)
    with running(settings) as address, calling(address, ROOT_KEY) as root:
        used, unused = issue(root), issue(root)
        with calling(address, used["key"]) as client:
            threads = [threading.Thread(target=client.get, args=["/v1/memories"]) for _ in range(5)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert root.get("/v1/keys").json()["items"][0]["last_used_at"] is None
    with running(settings) as address, calling(address, ROOT_KEY) as root:
        items = {key["id"]: key["last_used_at"] for key in root.get("/v1/keys").json()["items"]}
    assert items[used["id"]] is not None
    assert items[unused["id"]] is None
