"""All that was ever believed of a chain."""

import random
from typing import Any
from uuid import uuid4

import httpx

from app.api import beliefs
from support.builders import problem, store
from support.random_history import random_writes


def read(client: httpx.Client, memory_id: str) -> dict[str, Any]:
    response = client.get(f"/v1/memories/{memory_id}/beliefs")
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def find_versions_at(answer: dict[str, Any], known_at: str) -> dict[str, tuple[Any, ...]]:
    """Return the stretch of valid time of each version, as believed at a known time."""
    return {
        version["id"]: (belief["valid_from"], belief["valid_until"], belief["superseded_by"])
        for version in answer["versions"]
        for belief in version["beliefs"]
        if belief["known_from"] <= known_at
        and (belief["known_until"] is None or belief["known_until"] > known_at)
    }


def test_a_late_arrival_changes_what_was_believed_before(client: httpx.Client) -> None:
    porto = store(client, "I live in Porto", key="city", valid_from="2024-01-01")
    lisbon = store(client, "I live in Lisbon", key="city", valid_from="2026-01-01")
    braga = store(client, "I live in Braga", key="city", valid_from="2025-01-01")
    answer = read(client, braga["memory"]["id"])
    assert answer["chain_id"] == porto["memory"]["chain_id"]
    assert answer["truncated"] is False
    contents = [version["content"] for version in answer["versions"]]
    assert contents == ["I live in Porto", "I live in Lisbon", "I live in Braga"]
    of_porto = [
        (belief["known_from"], belief["known_until"], belief["valid_until"])
        for belief in answer["versions"][0]["beliefs"]
    ]
    assert of_porto == [
        (porto["known_at"], lisbon["known_at"], None),
        (lisbon["known_at"], braga["known_at"], "2026-01-01T00:00:00.000000Z"),
        (braga["known_at"], None, "2025-01-01T00:00:00.000000Z"),
    ]


def test_what_was_never_true_is_withdrawn(client: httpx.Client) -> None:
    memory = store(client, "I live in Porto", key="city")["memory"]
    client.post(f"/v1/memories/{memory['id']}/retract", json={"never_true": True})
    [version] = read(client, memory["id"])["versions"]
    assert [belief["withdrawn"] for belief in version["beliefs"]] == [False, True]


def test_a_temporary_memory_covers_a_stretch(client: httpx.Client) -> None:
    store(client, "I live in Porto", key="city", valid_from="2024-01-01")
    stay = {"valid_from": "2026-01-01", "valid_until": "2026-01-05"}
    memory = store(client, "I stay at the Ibis", key="city", **stay)["memory"]
    home, ibis = read(client, memory["id"])["versions"]
    [cover] = home["beliefs"][-1]["covered"]
    assert cover["since"].startswith("2026-01-01")
    assert cover["until"].startswith("2026-01-05")
    assert ibis["beliefs"][-1]["temporary"]


def test_an_erased_text_is_not_shown(client: httpx.Client) -> None:
    memory = store(client, "I live in Porto", key="city")["memory"]
    client.delete(f"/v1/memories/{memory['id']}", params={"erase": "1"})
    [version] = read(client, memory["id"])["versions"]
    assert version["content"] is None
    assert version["erased_at"]


def test_they_agree_with_the_history_at_every_known_time(client: httpx.Client) -> None:
    random_writes(client, random.Random(16), 60)
    params = {"include_superseded": "1", "limit": "1000"}
    listed = client.get("/v1/memories", params=params).json()["items"]
    for chain in {memory["chain_id"]: memory["id"] for memory in listed}.values():
        answer = read(client, chain)
        times = {b["known_from"] for version in answer["versions"] for b in version["beliefs"]}
        for known_at in times:
            at = {"known_at": known_at}
            history = client.get(f"/v1/memories/{chain}/history", params=at)
            if history.status_code == 404:
                continue  # this version was not known then
            shown = {
                version["id"]: tuple(
                    version[name] for name in ("valid_from", "valid_until", "superseded_by")
                )
                for version in history.json()["versions"]
            }
            believed = find_versions_at(answer, known_at)
            assert shown.items() <= believed.items()


def test_an_unknown_memory_has_none(client: httpx.Client) -> None:
    problem(client.get(f"/v1/memories/{uuid4()}/beliefs"), 404)


def test_the_earliest_are_left_out_of_very_many(client: httpx.Client, monkeypatch: Any) -> None:
    monkeypatch.setattr(beliefs, "MOST_VERSIONS", 2)
    for year in ("2020", "2021", "2022"):
        memory = store(client, f"Lives at {year}", key="city", valid_from=year)["memory"]
    answer = read(client, memory["id"])
    assert [version["content"] for version in answer["versions"]] == [
        "Lives at 2021",
        "Lives at 2022",
    ]
    assert answer["truncated"] is True
    monkeypatch.setattr(beliefs, "MOST_BELIEFS", 1)
    [version] = read(client, memory["id"])["versions"]
    assert len(version["beliefs"]) == 1
