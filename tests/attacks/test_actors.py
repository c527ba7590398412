"""F13, R13: what a caller writes is never taken for what a sweep or another caller wrote."""

import json
from uuid import uuid4

import httpx
import pytest

from app.settings import load_settings
from support.builders import contents, problem, store
from support.keys import ROOT_KEY, calling, issue
from support.service import running
from support.sweeps import Place
from support.transfers import NDJSON, exported, joined, lines_of


def test_a_store_with_the_id_of_a_sweep_is_not_undone_with_the_sweep(place: Place) -> None:
    vim = place.editor("Vim", valid_from="2023-01-01")
    nano = place.editor("Nano", valid_from="2025-01-01")
    sweep = place.sweep()
    forged = place.client.post(
        "/v1/memories",
        json={"content": "Has a cat", "classify": False},
        headers={"X-Request-Id": sweep["id"]},
    ).json()
    undone = place.client.post("/v1/reverts", json={"sweep_id": sweep["id"]}).json()
    assert len(undone["results"]) == 1
    assert place.standing(vim, nano, forged["memory"]["id"]) == ["current"] * 3
    again = place.client.post("/v1/reverts", json={"sweep_id": sweep["id"]}).json()
    assert again["results"] == []


def test_the_log_names_who_wrote(place: Place) -> None:
    vim = place.editor("Vim", valid_from="2023-01-01")
    place.editor("Nano", valid_from="2025-01-01")
    sweep = place.sweep()
    swept, second, first = place.log()
    assert [first["actor"], second["actor"]] == ["anonymous", "anonymous"]
    assert swept["actor"] == f"sweep:{sweep['id']}"
    assert place.log(actor=swept["actor"]) == [swept]
    assert place.log(actor="anonymous") == [second, first]
    history = place.client.get(f"/v1/memories/{vim}/history").json()
    actors = [entry["actor"] for entry in history["operations"]]
    assert actors == ["anonymous", "anonymous", swept["actor"]]
    why = place.client.get(f"/v1/memories/{vim}/why").json()
    assert [event["actor"] for event in why["events"]] == ["anonymous", swept["actor"]]


def test_all_that_a_caller_wrote_since_is_undone_together(client: httpx.Client) -> None:
    store(client, "Has a dog")
    cat = store(client, "Has a cat")
    horse = store(client, "Has a horse")
    since = client.get(f"/v1/log/{cat['log_id']}").json()["created_at"]
    chosen = {"actor": "anonymous", "since": since}
    assert client.post("/v1/reverts", json={**chosen, "actor": "key:1"}).json()["reverted"] == []
    tried = client.post("/v1/reverts", json={**chosen, "dry_run": True}).json()
    undone = client.post("/v1/reverts", json=chosen).json()
    assert undone["reverted"] == tried["reverted"] == [horse["log_id"], cat["log_id"]]
    assert contents(client) == {"Has a dog"}


def test_a_sweep_is_named_alone(client: httpx.Client) -> None:
    for also in ({"actor": "anonymous"}, {"request_id": "r"}):
        refused = client.post("/v1/reverts", json={"sweep_id": str(uuid4()), **also})
        assert refused.status_code == 422


def test_whoever_imports_an_actor_is_named_in_the_log_of_the_service(
    unchecked_database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """An export has the actors of its operations, and anybody can write a file. The doctor sees it."""
    with (
        running(load_settings(database_url=unchecked_database_url, api_key=ROOT_KEY)) as address,
        calling(address, ROOT_KEY, x_agent_id="first") as root,
    ):
        store(root, "Has a dog")
        forged = [
            line | {"actor": "root-was-here"} if "actor" in line else line
            for line in lines_of(exported(root))
        ]
        weak = issue(root, agents=["second"], scopes=["read", "write"])
        full = issue(root, agents=["second"], scopes=["read", "write", "admin"])
        with calling(address, weak["key"]) as client:
            problem(client.post("/v1/import", headers=NDJSON, content=joined(forged)), 403)
        with caplog.at_level("INFO"), calling(address, full["key"]) as client:
            answer = client.post("/v1/import", headers=NDJSON, content=joined(forged))
            assert json.loads(answer.text)["type"] == "imported"
        [noted] = [each for each in caplog.records if each.message == "an agent was imported"]
        assert noted.actor == f"key:{full['id']}"  # type: ignore[attr-defined]
        problems = root.get("/v1/doctor", headers={"X-Agent-Id": "second"}).json()["problems"]
        assert [one["check"] for one in problems] == ["log_chain"]
