"""Links between memories: made, listed, undone."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.domain.relationship import LinkType
from support.builders import contents, link, problem, remembered, store
from support.transfers import brought_back, exported, lines_of, other


def links(client: httpx.Client, memory_id: str, **params: Any) -> list[tuple[str, str, str]]:
    response = client.get(f"/v1/memories/{memory_id}/relationships", params=params)
    assert response.status_code == 200, response.text
    return [
        (item["source_id"], item["type"], item["target_id"]) for item in response.json()["items"]
    ]


@pytest.mark.parametrize("kind", LinkType)
def test_a_link_of_any_type_ends_nothing_and_shows_from_both_ends(
    client: httpx.Client, kind: LinkType
) -> None:
    dog, park = remembered(client, "Has a dog", "Walks in the park")
    answer = link(client, dog, park, kind)
    made = answer["relationship"]
    assert made == {
        "source_id": dog,
        "target_id": park,
        "type": kind,
        "strength": 0.8 if kind in ("similar", "related_to") else 1.0,
        "created_at": answer["known_at"],
        "log_id": answer["log_id"],
    }
    assert links(client, dog) == links(client, park) == [(dog, kind, park)]
    assert contents(client) == {"Has a dog", "Walks in the park"}
    memories = client.get("/v1/memories").json()["items"]
    assert [(m["status"], m["etag"], m["stale_because"]) for m in memories] == [
        ("current", '"1"', [])
    ] * 2


def test_a_link_is_an_operation_of_the_log(client: httpx.Client) -> None:
    dog, park = remembered(client, "Has a dog", "Walks in the park")
    answer = link(client, dog, park)
    for end in (dog, park):
        told = client.get("/v1/log", params={"memory_id": end}).json()["items"][0]
        assert (told["id"], told["operation"], told["decided_by"]) == (
            answer["log_id"],
            "AMEND",
            "caller",
        )
        assert (told["target_memory_id"], set(told["source_memory_ids"])) == (dog, {dog, park})
        history = client.get(f"/v1/memories/{end}/history").json()["operations"]
        assert [operation["operation"] for operation in history] == ["ADD", "AMEND"]
        [_, event] = client.get(f"/v1/memories/{end}/why").json()["events"]
        assert event["sentence"].startswith(
            "“Has a dog” was linked to “Walks in the park” (expands)."
        )


def test_the_same_link_is_made_once(client: httpx.Client) -> None:
    dog, park = remembered(client, "Has a dog", "Walks in the park")
    first = link(client, dog, park)
    again = client.post(
        f"/v1/memories/{dog}/relationships", json={"type": "expands", "target_id": park}
    )
    assert (again.status_code, again.json()) == (200, first)
    assert client.get("/v1/log").json()["items"][0]["id"] == first["log_id"], "nothing was written"
    link(client, park, dog)
    link(client, dog, park, "causes")
    assert len(links(client, dog)) == 3


def test_of_equal_links_at_once_one_is_made(client: httpx.Client) -> None:
    dog, park = remembered(client, "Has a dog", "Walks in the park")
    body = {"type": "causes", "target_id": park}
    with ThreadPoolExecutor(8) as pool:
        answers = list(
            pool.map(
                lambda _: client.post(f"/v1/memories/{dog}/relationships", json=body), range(16)
            )
        )
    assert sorted(answer.status_code for answer in answers) == [200] * 15 + [201]
    assert len({answer.text for answer in answers}) == 1
    assert links(client, dog) == [(dog, "causes", park)]


def test_a_retry_under_a_key_gets_the_first_answer(client: httpx.Client) -> None:
    dog, park = remembered(client, "Has a dog", "Walks in the park")
    call = {
        "json": {"type": "causes", "target_id": park},
        "headers": {"Idempotency-Key": uuid4().hex},
    }
    first, retry = (client.post(f"/v1/memories/{dog}/relationships", **call) for _ in range(2))  # type: ignore[arg-type]
    assert (first.status_code, retry.status_code, retry.headers["Idempotency-Replayed"]) == (
        201,
        201,
        "true",
    )
    assert first.json() == retry.json()


def test_what_cannot_be_linked_is_refused(client: httpx.Client) -> None:
    dog, park, wrong, secret = remembered(
        client, "Has a dog", "Walks in the park", "Owns a yacht", "The code is Zebra"
    )
    client.post(f"/v1/memories/{wrong}/retract", json={"never_true": True})
    client.delete(f"/v1/memories/{secret}", params={"erase": True})
    with other(client) as stranger:
        [foreign] = remembered(stranger, "Has a cat")
    for one, two, status in (
        (dog, str(uuid4()), 404),
        (dog, foreign, 404),
        (str(uuid4()), dog, 404),
        (foreign, dog, 404),
        (dog, secret, 410),
        (secret, dog, 410),
        (dog, wrong, 409),
        (dog, dog, 422),
    ):
        problem(
            client.post(
                f"/v1/memories/{one}/relationships", json={"type": "causes", "target_id": two}
            ),
            status,
        )
    for body in (
        {},
        {"type": "causes"},
        {"target_id": park},
        {"type": "likes", "target_id": park},
        {"type": "causes", "target_id": "x"},
    ):
        problem(client.post(f"/v1/memories/{dog}/relationships", json=body), 422)
    assert links(client, dog) == []
    problem(client.get(f"/v1/memories/{foreign}/relationships"), 404)


def test_a_supersession_is_a_link_while_it_stands(client: httpx.Client) -> None:
    told_homes = [
        store(client, f"I live in {city}", key="home") for city in ("Porto", "Lisbon", "Berlin")
    ]
    porto, lisbon, berlin = (answer["memory"]["id"] for answer in told_homes)
    assert links(client, lisbon) == [(berlin, "supersedes", lisbon), (lisbon, "supersedes", porto)]
    [first] = client.get(f"/v1/memories/{porto}/relationships").json()["items"]
    told = client.get(f"/v1/log/{first['log_id']}").json()
    assert (told["operation"], told["target_memory_id"]) == ("UPDATE", lisbon)
    assert (first["created_at"], first["strength"]) == (told["created_at"], 1.0)
    last = client.get(f"/v1/memories/{berlin}/relationships").json()["items"][0]
    client.post(f"/v1/log/{last['log_id']}/revert", json={}).raise_for_status()
    assert links(client, lisbon) == [(lisbon, "supersedes", porto)]


def test_a_frozen_agent_links_nothing(client: httpx.Client) -> None:
    dog, park = remembered(client, "Has a dog", "Walks in the park")
    client.patch(
        f"/v1/agents/{client.headers['X-Agent-Id']}", json={"mode": "frozen"}
    ).raise_for_status()
    problem(
        client.post(
            f"/v1/memories/{dog}/relationships", json={"type": "causes", "target_id": park}
        ),
        503,
    )
    assert links(client, dog) == []


def test_links_are_listed_in_pages_of_one_picture(client: httpx.Client) -> None:
    dog, *others = remembered(client, "Has a dog", *(f"Walk {number}" for number in range(5)))
    made = [
        link(client, *((dog, end) if number % 2 else (end, dog)), kind="causes")
        for number, end in enumerate(others)
    ]
    expected = [
        (m["relationship"]["source_id"], "causes", m["relationship"]["target_id"])
        for m in reversed(made)
    ]
    seen: list[tuple[str, str, str]] = []
    cursor: str | None = None
    while True:
        page = client.get(
            f"/v1/memories/{dog}/relationships",
            params={"limit": 2} | ({"cursor": cursor} if cursor else {}),
        ).json()
        seen += [(item["source_id"], item["type"], item["target_id"]) for item in page["items"]]
        assert page["known_at"] == made[-1]["known_at"]
        if not (cursor := page["next_cursor"]):
            break
    assert seen == expected
    assert links(client, dog, known_at=made[1]["known_at"]) == expected[3:]
    assert (
        "next_cursor"
        in problem(client.get(f"/v1/memories/{dog}/relationships", params={"cursor": "x"}), 422)[
            "detail"
        ]
    )
    before = client.get("/v1/log").json()["items"][-1]["created_at"]
    problem(client.get(f"/v1/memories/{others[0]}/relationships", params={"knownAt": before}), 404)


def test_undoing_the_operation_removes_the_link_and_redoing_brings_it_back(
    client: httpx.Client,
) -> None:
    dog, park = remembered(client, "Has a dog", "Walks in the park")
    made = link(client, dog, park)
    undone = client.post(f"/v1/log/{made['log_id']}/revert", json={}).json()
    assert (undone["memory"]["id"], links(client, dog)) == (dog, [])
    assert (
        client.get("/v1/log", params={"memory_id": park}).json()["items"][0]["id"]
        == undone["log_id"]
    )
    client.post(f"/v1/log/{undone['log_id']}/revert", json={}).raise_for_status()
    assert links(client, dog) == [(dog, "expands", park)]


def test_redoing_finds_a_link_that_was_made_again_meanwhile(client: httpx.Client) -> None:
    dog, park = remembered(client, "Has a dog", "Walks in the park")
    undone = client.post(f"/v1/log/{link(client, dog, park)['log_id']}/revert", json={}).json()
    again = link(client, dog, park)
    client.post(f"/v1/log/{undone['log_id']}/revert", json={}).raise_for_status()
    [item] = client.get(f"/v1/memories/{dog}/relationships").json()["items"]
    assert item["log_id"] == again["log_id"]
    client.post(f"/v1/log/{again['log_id']}/revert", json={}).raise_for_status()
    assert links(client, dog) == []


def test_a_link_does_not_keep_a_store_from_being_undone(client: httpx.Client) -> None:
    dog, park = (
        store(client, content, classify="off") for content in ("Has a dog", "Walks in the park")
    )
    ids = dog["memory"]["id"], park["memory"]["id"]
    link(client, *ids)
    assert client.post(f"/v1/log/{dog['log_id']}/revert", json={}).json()["reverted"] == [
        dog["log_id"]
    ]
    assert links(client, ids[0]) == [(ids[0], "expands", ids[1])]


def test_a_link_to_what_was_erased_stays_and_can_be_undone(client: httpx.Client) -> None:
    code, door = remembered(client, "The code is Zebra", "The door has a lock")
    made = link(client, code, door, "enables")
    client.delete(f"/v1/memories/{code}", params={"erase": True}).raise_for_status()
    assert links(client, code) == [(code, "enables", door)]
    assert client.get(f"/v1/memories/{door}").json()["stale_because"][0]["status"] == "erased"
    client.post(f"/v1/log/{made['log_id']}/revert", json={}).raise_for_status()
    assert links(client, door) == []


def test_links_travel_with_an_export(client: httpx.Client) -> None:
    dog, park, lead = remembered(client, "Has a dog", "Walks in the park", "Owns a lead")
    for kind in LinkType:
        link(client, dog, park, kind)
    undone = link(client, park, lead, "references")["log_id"]
    client.post(f"/v1/log/{undone}/revert", json={}).raise_for_status()
    client.post(f"/v1/memories/{park}/retract", json={}).raise_for_status()
    export = exported(client)
    told = [line for line in lines_of(export) if line["type"] == "relationship"]
    assert {line["relationship_type"] for line in told} == set(LinkType)
    assert all(line["log_id"] for line in told)
    with other(client) as elsewhere:
        brought_back(elsewhere, export)
        assert exported(elsewhere) == export
        moment = {"as_of": "2999-01-01"}
        assert (
            client.get(f"/v1/memories/{dog}", params=moment).json()
            == elsewhere.get(f"/v1/memories/{dog}", params=moment).json()
        )
