"""Sessions and projects end, and what was given their life ends with them."""

import asyncio
import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from app.settings import load_settings
from support.builders import (
    PROJECT,
    SESSION,
    contents,
    editor,
    end,
    end_project,
    problem,
    send,
    store,
)
from support.depth import DEEP
from support.races import Crowd, Race
from support.service import running
from support.sweeps import Place
from support.transfers import NDJSON, brought_back, exported, other

MANY = 10_000 if DEEP else 2_500  # more than are written at a time


def ago(hours: float) -> str:
    return (datetime.now(UTC) - timedelta(hours=hours)).isoformat()


def memory(client: httpx.Client, memory_id: str, **params: Any) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/v1/memories/{memory_id}", params=params).json()
    return found


# --- what ends and what stays ----------------------------------------------------------------------------------------------


def test_what_was_to_last_for_the_session_ends_with_it_and_all_else_stays(
    client: httpx.Client,
) -> None:
    one = store(client, "Wants short answers today", **SESSION)["memory"]["id"]
    two = store(client, "Is on the train", **SESSION)["memory"]["id"]
    store(client, "Has a dog", session_id="monday")
    store(client, "The release is in May", session_id="monday", **PROJECT)
    store(client, "Wants long answers", session_id="tuesday", lifespan="session")
    store(client, "Belongs to no session", lifespan="session")
    answer = end(client)
    assert set(answer["ended"]) == {one, two}
    assert answer["kept"] == 2
    assert contents(client) == {
        "Has a dog",
        "The release is in May",
        "Wants long answers",
        "Belongs to no session",
    }
    assert memory(client, one)["status"] == "retracted"


def test_a_project_ends_by_its_name(client: httpx.Client) -> None:
    store(client, "The release is in May", **PROJECT)
    store(client, "We use tabs", project="almanac")
    store(client, "The other release is in June", project="other", lifespan="project")
    store(client, "Was said in a session of the project", project="almanac", **SESSION)
    answer = end_project(client)
    assert (len(answer["ended"]), answer["kept"]) == (1, 2)
    assert "The release is in May" not in contents(client)
    assert len(contents(client)) == 3


def test_each_ending_is_an_operation_of_its_own_with_its_own_known_time(
    client: httpx.Client,
) -> None:
    for number in range(3):
        store(client, f"Fact number {number}", **SESSION)
    response = client.post("/v1/sessions/monday/end")
    answer = response.json()
    rows = [client.get(f"/v1/log/{log_id}").json() for log_id in answer["log_ids"]]
    assert [row["source_memory_ids"] for row in rows] == [[i] for i in answer["ended"]]
    for row in rows:
        assert (row["operation"], row["decided_by"], row["session_id"]) == (
            "DELETE",
            "caller",
            "monday",
        )
        assert row["reasoning"] == "The session monday ended."
        assert row["request_id"] == response.headers["X-Request-Id"]
    times = [row["created_at"] for row in rows]
    assert len(set(times)) == 3
    assert times == sorted(times)
    assert answer["known_at"] == times[-1]
    ends = {memory(client, i)["valid_until"] for i in answer["ended"]}
    assert len(ends) == 1, "all ended at one moment"
    assert end(client, reason="x")["ended"] == []


def test_the_callers_reason_is_logged(client: httpx.Client) -> None:
    store(client, "Fact", **PROJECT)
    [log_id] = end_project(client, reason="Shipped at last")["log_ids"]
    entry = client.get(f"/v1/log/{log_id}").json()
    assert (entry["reasoning"], entry["session_id"]) == ("Shipped at last", None)


def test_ending_again_and_ending_what_never_was_does_nothing(client: httpx.Client) -> None:
    store(client, "Fact", **SESSION)
    end(client)
    log = client.get("/v1/log").json()["items"]
    nothing = {"ended": [], "kept": 0, "known_at": None, "log_ids": []}
    assert end(client) == nothing
    assert end(client, "never-was") == nothing
    assert end_project(client, "never-was") == nothing
    assert client.get("/v1/log").json()["items"] == log


def test_an_agent_that_never_was_is_not_made_known_by_an_ending(client: httpx.Client) -> None:
    with other(client) as stranger:
        assert end(stranger)["ended"] == []
        assert client.get(f"/v1/agents/{stranger.headers['X-Agent-Id']}").status_code == 404


def test_a_name_may_hold_any_character(client: httpx.Client) -> None:
    name = "team/ü 1?#%2F end/end"
    store(client, "Fact", session_id=name, lifespan="session")
    quoted = "team%2F%C3%BC%201%3F%23%252F%20end%2Fend"
    assert len(end(client, quoted)["ended"]) == 1


def test_another_agents_session_of_that_name_goes_on(client: httpx.Client) -> None:
    store(client, "Mine", **SESSION)
    with other(client) as foreign:
        store(foreign, "Theirs", **SESSION)
        before = exported(foreign)
        end(client)
        assert exported(foreign) == before
        assert contents(foreign) == {"Theirs"}


# --- when -------------------------------------------------------------------------------------------------------------------


def test_an_end_in_the_past_leaves_what_began_later(client: httpx.Client) -> None:
    old = store(client, "Began before", valid_from=ago(5), valid_until="2090-01-01", **SESSION)[
        "memory"
    ]["id"]
    store(client, "Began after", valid_from=ago(1), **SESSION)
    store(client, "Begins tomorrow", valid_from=ago(-24), **SESSION)
    at = ago(3)
    answer = end(client, at=at)
    assert (answer["ended"], answer["kept"]) == ([old], 2)
    assert contents(client) == {"Began after"}
    assert contents(client, as_of=ago(4)) == {"Began before"}
    assert contents(client, as_of=ago(2)) == set()


def test_earlier_known_times_still_see_it(client: httpx.Client) -> None:
    stored = store(client, "Fact", **SESSION)
    answer = end(client)
    assert contents(client, known_at=stored["known_at"]) == {"Fact"}
    assert contents(client, as_of=stored["known_at"]) == {"Fact"}
    assert contents(client, known_at=answer["known_at"]) == set()
    assert memory(client, answer["ended"][0], known_at=stored["known_at"])["status"] == "current"


# --- undoing, modes, retries --------------------------------------------------------------------------------------------------


def test_one_call_undoes_the_whole_ending(client: httpx.Client) -> None:
    send(client, editor("Vim", **SESSION))
    send(client, editor("Emacs", valid_from="2090-01-05", **SESSION))
    store(client, "Fact", **SESSION)
    before = contents(client), contents(client, as_of="2091-01-01")
    response = client.post("/v1/sessions/monday/end")
    assert contents(client) == contents(client, as_of="2091-01-01") == set()
    undone = client.post(
        "/v1/reverts", json={"request_id": response.headers["X-Request-Id"]}
    ).json()
    assert set(undone["reverted"]) == set(response.json()["log_ids"])
    assert (contents(client), contents(client, as_of="2091-01-01")) == before
    assert contents(client, known_at=response.json()["known_at"]) == set()


def test_one_of_them_can_be_undone_alone(client: httpx.Client) -> None:
    store(client, "Has a dog", **SESSION)
    store(client, "Has a cat", **SESSION)
    answer = end(client)
    client.post(f"/v1/log/{answer['log_ids'][0]}/revert").raise_for_status()
    assert memory(client, answer["ended"][0])["status"] == "current"
    assert memory(client, answer["ended"][1])["status"] == "retracted"


def test_a_batch_answers_a_memory_with_the_life_and_project_that_a_later_item_gave_it(
    client: httpx.Client,
) -> None:
    items = [
        {"content": "Uses tabs", "session_id": "monday", "lifespan": "session"},
        {"content": "Uses tabs", "project": "falcon", "lifespan": "project"},
    ]
    answers = client.post("/v1/memories/batch", json={"items": items}).json()["results"]
    assert [a["operation"] for a in answers] == ["ADD", "AMEND"]
    stored = client.get(f"/v1/memories/{answers[0]['memory']['id']}").json()
    assert [a["memory"]["project"] for a in answers] == [stored["project"]] * 2 == ["falcon"] * 2
    assert [a["memory"]["lifespan"] for a in answers] == [stored["lifespan"]] * 2 == ["project"] * 2


def test_a_frozen_agent_ends_nothing_and_one_in_shadow_does_as_it_is_told(
    client: httpx.Client,
) -> None:
    agent = client.headers["X-Agent-Id"]
    store(client, "Fact", **SESSION)
    client.patch(f"/v1/agents/{agent}", json={"mode": "frozen"}).raise_for_status()
    problem(client.post("/v1/sessions/monday/end"), 503)
    assert contents(client) == {"Fact"}
    client.patch(f"/v1/agents/{agent}", json={"mode": "shadow"}).raise_for_status()
    assert len(end(client)["ended"]) == 1


def test_a_retry_under_its_key_gets_the_first_answer(client: httpx.Client) -> None:
    store(client, "Fact", **SESSION)
    first, again = (
        client.post("/v1/sessions/monday/end", headers={"Idempotency-Key": "end-it"})
        for _ in range(2)
    )
    assert first.json() == again.json()
    assert len(again.json()["ended"]) == 1
    assert again.headers["Idempotency-Replayed"] == "true"
    problem(client.post("/v1/sessions/tuesday/end", headers={"Idempotency-Key": "end-it"}), 422)


@pytest.mark.parametrize("body", [{"at": "someday"}, {"reason": " "}, {"when": "now"}, []])
def test_what_it_does_not_understand_it_refuses(client: httpx.Client, body: Any) -> None:
    store(client, "Fact", **SESSION)
    problem(client.post("/v1/sessions/monday/end", json=body), 422)
    assert contents(client) == {"Fact"}


# --- projects as metadata -----------------------------------------------------------------------------------------------------


def test_a_project_is_stored_filtered_by_and_corrected(client: httpx.Client) -> None:
    stored = store(client, "We use tabs", project=" almanac ")["memory"]
    assert stored["project"] == "almanac"
    store(client, "We drink tea", project="other")
    store(client, "Has a dog")
    assert contents(client, project="almanac") == {"We use tabs"}
    found = client.post("/v1/search", json={"query": "we", "project": "almanac"}).json()["results"]
    assert [r["memory"]["content"] for r in found] == ["We use tabs"]
    assert (
        client.get("/v1/context", params={"project": "almanac"}).json()["text"].count("\n- ") == 1
    )
    client.patch(f"/v1/memories/{stored['id']}", json={"project": "other"}).raise_for_status()
    assert contents(client, project="other") == {"We use tabs", "We drink tea"}
    client.patch(f"/v1/memories/{stored['id']}", json={"project": None}).raise_for_status()
    assert memory(client, stored["id"])["project"] is None


def test_a_project_comes_in_every_way_that_a_fact_does(client: httpx.Client) -> None:
    batch = client.post(
        "/v1/memories/batch", json={"items": [{"content": "In a batch", "project": "almanac"}]}
    ).json()
    client.post(
        "/v1/import",
        headers=NDJSON,
        content=json.dumps({"content": "Imported", "project": "almanac", "lifespan": "project"}),
    ).raise_for_status()
    old = batch["results"][0]["memory"]["id"]
    client.post(
        f"/v1/memories/{old}/supersede", json={"content": "Its successor", "project": "almanac"}
    ).raise_for_status()
    assert contents(client, project="almanac") == {"Imported", "Its successor"}
    assert end_project(client)["kept"] == 1


def test_lifespan_project_without_a_project_is_taken(client: httpx.Client) -> None:
    store(client, "Fact", lifespan="project")
    assert end_project(client)["ended"] == []
    assert contents(client) == {"Fact"}


def test_endings_and_projects_travel_with_an_export(client: httpx.Client) -> None:
    store(client, "Fact", project="almanac", **SESSION)
    end(client)
    with other(client) as two:
        brought_back(two, exported(client))
        assert exported(two) == exported(client)
        assert contents(two, project="almanac", include_superseded=True) == {"Fact"}


# --- erasing ------------------------------------------------------------------------------------------------------------------


def test_what_is_told_again_for_longer_lives_longer(client: httpx.Client) -> None:
    first = store(client, "Prefers tea", **SESSION)["memory"]["id"]
    again = store(client, "Prefers tea", **PROJECT)
    assert (again["operation"], again["decision"]["relation"], again["memory"]["id"]) == (
        "AMEND",
        "DUPLICATE",
        first,
    )
    assert (
        again["memory"]["lifespan"],
        again["memory"]["project"],
        again["memory"]["session_id"],
    ) == ("project", "almanac", "monday")
    assert store(client, "Prefers tea", **SESSION)["operation"] == "NOOP"
    assert end(client)["ended"] == []
    assert client.post(f"/v1/log/{again['log_id']}/revert", json={"cascade": True}).is_success
    assert end(client)["ended"] == [first]


def test_a_sweep_does_not_end_with_one_session_what_was_told_in_a_later_one_too(
    place: Place,
) -> None:
    first = place.editor("Vim", **SESSION)
    place.store(
        "Vim it is",
        category="tooling",
        key="editor",
        value="Vim",
        session_id="tuesday",
        lifespan="session",
    )
    place.sweep()
    assert place.client.post("/v1/sessions/monday/end").json()["ended"] == []
    assert place.memory(first)["status"] == "current"


def test_within_one_batch_too(client: httpx.Client) -> None:
    items = [
        editor("Vim", **SESSION),
        editor("Vim", lifespan="permanent"),
        editor("Vim", lifespan="permanent"),
        editor("Emacs"),
    ]
    results = client.post("/v1/memories/batch", json={"items": items}).json()["results"]
    assert [result["operation"] for result in results] == ["ADD", "AMEND", "NOOP", "UPDATE"]
    told = memory(client, results[0]["memory"]["id"])
    assert (told["lifespan"], told["status"]) == ("permanent", "superseded")


def test_a_longer_life_waits_for_a_person_in_shadow(client: httpx.Client) -> None:
    first = store(client, "Prefers tea", **SESSION)["memory"]["id"]
    client.patch(
        f"/v1/agents/{client.headers['X-Agent-Id']}", json={"mode": "shadow"}
    ).raise_for_status()
    proposed = store(client, "Prefers tea", lifespan="permanent")
    assert memory(client, first)["lifespan"] == "session"
    shown = client.get(f"/v1/reviews/{proposed['review_id']}").json()
    assert [m["lifespan"] for m in shown["after"] if m["id"] == first] == ["permanent"]
    accepted = client.post(f"/v1/reviews/{proposed['review_id']}/accept").json()
    assert accepted["operation"] == "AMEND"
    assert (
        memory(client, first)["lifespan"],
        memory(client, proposed["memory"]["id"])["status"],
    ) == ("permanent", "reverted")


def test_erasing_takes_the_names_of_session_and_project(client: httpx.Client) -> None:
    name = f"zebra-{uuid4().hex}"
    stored = store(client, "Secret", session_id=name, project=name, lifespan="session")["memory"][
        "id"
    ]
    client.patch(f"/v1/memories/{stored}", json={"project": f"{name}-two"}).raise_for_status()
    end(client, name)
    client.delete(f"/v1/memories/{stored}", params={"erase": True}).raise_for_status()
    assert name not in exported(client).decode()
    assert memory(client, stored)["project"] is None


def test_erasing_takes_the_names_of_session_and_project_from_what_was_proposed(
    client: httpx.Client,
) -> None:
    name, _ = f"zebra-{uuid4().hex}", store(client, "Secret", **SESSION)
    client.patch(
        f"/v1/agents/{client.headers['X-Agent-Id']}", json={"mode": "shadow"}
    ).raise_for_status()
    for said in (
        {"project": name, "lifespan": "project"},
        {"session_id": name, "lifespan": "session"},
    ):
        proposed = store(client, "Secret", **said)["memory"]["id"]
        assert name in exported(client).decode()
        client.delete(f"/v1/memories/{proposed}", params={"erase": True}).raise_for_status()
        assert name not in exported(client).decode()


# --- many, and at once --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_session_of_thousands_ends_in_one_call(database_url: str) -> None:
    settings = load_settings(database_url=database_url)
    lines = [
        {"content": f"Fact number {number}", "valid_from": "2026-01-05", **SESSION}
        for number in range(MANY)
    ]
    with running(settings) as address, httpx.Client(base_url=address, timeout=600) as client:
        client.post(
            "/v1/import", headers=NDJSON, content="".join(json.dumps(line) + "\n" for line in lines)
        ).raise_for_status()
        store(client, "Has a dog", session_id="monday")
        answer = end(client)
        assert len(set(answer["ended"])) == len(set(answer["log_ids"])) == MANY
        assert answer["kept"] == 1
        assert contents(client) == {"Has a dog"}
    with psycopg.connect(database_url) as connection:
        connection.execute(
            "ANALYZE"
        )  # for the doctor at the end, as autovacuum would within a minute


def test_of_two_endings_at_once_each_memory_is_ended_by_one(race: Race) -> None:
    async def run(crowd: Crowd) -> None:
        for number in range(30):
            await crowd.store({"content": f"Fact number {number}", **SESSION})
        answers = [
            r.json()
            for r in await asyncio.gather(
                *(crowd.post("/v1/sessions/monday/end", {}) for _ in range(8))
            )
        ]
        ended = Counter(memory_id for answer in answers for memory_id in answer["ended"])
        assert len(ended) == 30
        assert set(ended.values()) == {1}
        assert (await crowd.get("/v1/memories"))["items"] == []

    race(run)


def test_a_fact_stored_while_its_session_ends_is_ended_or_goes_on_whole(race: Race) -> None:
    async def run(crowd: Crowd) -> None:
        await crowd.store({"content": "The first fact", **SESSION})
        stores = [
            crowd.store({"content": f"Fact number {number}", **SESSION}) for number in range(20)
        ]
        *stored, ended = await asyncio.gather(*stores, crowd.post("/v1/sessions/monday/end", {}))
        known = {answer["memory"]["id"]: answer["known_at"] for answer in stored}
        gone = set(ended.json()["ended"])
        live = {m["id"] for m in (await crowd.get("/v1/memories"))["items"]}
        assert live == known.keys() - gone
        assert all(known[i] < ended.json()["known_at"] for i in gone & known.keys())
        assert all(known[i] > ended.json()["known_at"] for i in live)

    race(run)


def test_the_database_finds_a_session_by_an_index(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("SET enable_seqscan = off")
        plan = connection.execute(
            "EXPLAIN SELECT id FROM memories WHERE agent_id = 'a' AND session_id = 'monday'"
        ).fetchall()
    assert "memories_session" in str(plan)
