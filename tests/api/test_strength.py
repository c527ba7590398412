"""Strength in answers and as an order: it sorts and never hides."""

import json
import random
from typing import Any

import httpx
import pytest

from support.builders import editor, problem, send, store
from support.transfers import NDJSON

OLD = "2019-01-01"


def past(content: str, created_at: str, **more: Any) -> dict[str, Any]:
    """A line of an import: what became true and known at a date."""
    return {"content": content, "created_at": created_at, "valid_from": created_at, **more}


def imported(client: httpx.Client, *lines: dict[str, Any]) -> list[str]:
    """The ids of what was imported, in order of its dates."""
    body = "".join(
        json.dumps(line) + "\n" for line in sorted(lines, key=lambda line: line["created_at"])
    )
    response = client.post("/v1/import", content=body, headers=NDJSON)
    assert response.is_success, response.text
    return [json.loads(line)["id"] for line in response.text.splitlines()]


def pages(client: httpx.Client, **params: Any) -> list[dict[str, Any]]:
    """Every memory of a list, a page at a time."""
    found, cursor = [], None
    while True:
        page = client.get(
            "/v1/memories", params={**params, **({"cursor": cursor} if cursor else {})}
        ).json()
        found += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def test_answers_tell_strength_and_what_it_is_made_from(client: httpx.Client) -> None:
    first = store(client, "Has a dog", importance=0.8)["memory"]
    assert (first["strength"], first["access_count"], first["last_reinforced_at"]) == (0.8, 0, None)
    again = store(client, "Has a dog")
    assert again["operation"] == "NOOP"
    assert (again["memory"]["access_count"], again["memory"]["last_reinforced_at"]) == (
        1,
        again["known_at"],
    )
    assert again["memory"]["etag"] == first["etag"], "counters are no part of the ETag"
    for seen in (
        client.get(f"/v1/memories/{first['id']}").json(),
        client.get("/v1/memories").json()["items"][0],
        client.get("/v1/search", params={"q": "pets"}).json()["results"][0]["memory"],
        client.get(f"/v1/memories/{first['id']}/history").json()["versions"][0],
    ):
        assert (seen["access_count"], seen["last_reinforced_at"]) == (1, again["known_at"])
        assert 0.799 < seen["strength"] <= 0.8


def test_a_repetition_does_not_count_before_it_was_known(client: httpx.Client) -> None:
    first = store(client, "Has a dog")
    store(client, "Has a dog")
    [before] = client.get("/v1/memories", params={"known_at": first["known_at"]}).json()["items"]
    assert (before["access_count"], before["last_reinforced_at"]) == (0, None)


def test_strength_is_that_of_the_moment_asked(client: httpx.Client) -> None:
    [memory] = imported(client, past("Has a dog", "2020-01-01", importance=1.0))
    then, half_a_year_on, now = (
        client.get(f"/v1/memories/{memory}", params=when).json()["strength"]
        for when in ({"as_of": "2020-01-01"}, {"as_of": "2020-06-29"}, {})
    )
    assert then == 1.0
    assert half_a_year_on == pytest.approx(0.5)
    assert 0 < now < 0.01


def test_core_keeps_its_floor_and_loses_it_with_its_tier(client: httpx.Client) -> None:
    [core] = imported(client, past("Allergic to peanuts", OLD, tier="core", importance=0.9))
    assert client.get(f"/v1/memories/{core}").json()["strength"] == 0.6
    client.patch(f"/v1/memories/{core}", json={"tier": "semantic"}).raise_for_status()
    assert client.get(f"/v1/memories/{core}").json()["strength"] < 0.1


def test_a_list_by_strength_shows_everything_once_strongest_first(client: httpx.Client) -> None:
    chance = random.Random(5)
    lines = [
        past(
            f"Fact number {n}",
            f"20{chance.randint(15, 25)}-01-05",
            importance=chance.choice([0.2, 0.5, 1.0]),
        )
        for n in range(23)
    ]
    imported(client, *lines)
    listed = pages(client, sort="strength", limit=4)
    assert len({memory["id"] for memory in listed}) == len(listed) == 23
    strengths = [memory["strength"] for memory in listed]
    assert strengths == sorted(strengths, reverse=True)
    assert strengths[0] > 2 * strengths[-1]
    assert {m["id"] for m in listed} == {m["id"] for m in pages(client, limit=4)}


def test_a_memory_said_again_between_two_pages_is_not_missed(client: httpx.Client) -> None:
    imported(
        client,
        *(past(f"Fact number {number}", OLD, importance=0.9 - number / 10) for number in range(6)),
    )
    first = client.get("/v1/memories", params={"sort": "strength", "limit": 3}).json()
    assert store(client, "Fact number 5")["operation"] == "NOOP"
    second = client.get(
        "/v1/memories", params={"sort": "strength", "limit": 3, "cursor": first["next_cursor"]}
    ).json()
    assert [m["content"] for m in first["items"] + second["items"]] == [
        f"Fact number {number}" for number in range(6)
    ]
    assert (
        client.get("/v1/memories", params={"sort": "strength"}).json()["items"][0]["content"]
        == "Fact number 5"
    )


def test_equal_strengths_are_listed_once_each(client: httpx.Client) -> None:
    imported(client, *(past(f"Fact number {number}", OLD, tier="core") for number in range(7)))
    assert len({m["id"] for m in pages(client, sort="strength", limit=2)}) == 7


def test_filters_and_both_axes_hold_for_a_list_by_strength(client: httpx.Client) -> None:
    known = send(client, editor("Vim", valid_from=OLD))["known_at"]
    send(client, editor("Emacs"))
    store(client, "Has a dog", importance=1.0)

    def listed(**params: Any) -> list[str]:
        return [
            m["value"]
            for m in client.get(
                "/v1/memories", params={"sort": "strength", "kind": "preference", **params}
            ).json()["items"]
        ]

    assert listed() == ["Emacs"]
    assert listed(as_of="2020-01-01") == ["Vim"]
    assert listed(known_at=known) == ["Vim"]
    assert sorted(listed(include_superseded=True)) == ["Emacs", "Vim"]
    assert (
        client.get("/v1/memories", params={"sort": "strength", "key": "nothing"}).json()["items"]
        == []
    )


@pytest.mark.parametrize(("one", "other"), [("created", "strength"), ("strength", "created")])
def test_a_cursor_of_another_order_is_refused(client: httpx.Client, one: str, other: str) -> None:
    store(client, "Has a dog")
    store(client, "Has a cat")
    cursor = client.get("/v1/memories", params={"sort": one, "limit": 1}).json()["next_cursor"]
    assert (
        "sort"
        in problem(client.get("/v1/memories", params={"sort": other, "cursor": cursor}), 422)[
            "detail"
        ]
    )


def test_a_search_by_strength_finds_the_same_memories_in_another_order(
    client: httpx.Client,
) -> None:
    pets = [
        past(f"Pet number {n} is a dog", "2026-01-05", importance=importance)
        for n, importance in enumerate([0.1, 0.9, 0.5])
    ]
    imported(client, *pets, past("It rains in Paris", OLD, importance=1.0))
    asked = {"query": "pet number 0 is a dog", "limit": 3}
    by_score = client.post("/v1/search", json=asked).json()["results"]
    by_strength = client.post("/v1/search", json={**asked, "sort": "strength"}).json()["results"]
    got = client.get(
        "/v1/search", params={"q": asked["query"], "limit": 3, "sort": "strength"}
    ).json()["results"]
    assert by_score[0]["memory"]["content"] == "Pet number 0 is a dog"
    assert {r["memory"]["id"] for r in by_strength} == {r["memory"]["id"] for r in by_score}
    strengths = [r["memory"]["strength"] for r in by_strength]
    assert strengths == sorted(strengths, reverse=True)
    assert (
        [r["memory"]["id"] for r in got]
        == [r["memory"]["id"] for r in by_strength]
        != [r["memory"]["id"] for r in by_score]
    )


def test_a_scheduled_fact_is_fresh_when_it_begins(client: httpx.Client) -> None:
    start = "2090-01-05T00:00:00.000000Z"
    memory = store(client, "Retires", importance=1.0, valid_from=start)["memory"]["id"]
    assert client.get(f"/v1/memories/{memory}", params={"as_of": start}).json()["strength"] == 1.0
