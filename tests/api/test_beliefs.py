"""All that was ever believed of a chain."""

import random
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.api import beliefs
from support.builders import decide, problem, store
from support.random_history import random_writes


def read(client: httpx.Client, memory_id: str) -> dict[str, Any]:
    response = client.get(f"/v1/memories/{memory_id}/beliefs")
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


# What a drawing shows of a belief, and a history of each version.
SHOWN = ("valid_from", "valid_until", "said_until", "covered", "retracted_at", "superseded_by")


def find_versions_at(answer: dict[str, Any], known_at: str) -> dict[str, list[Any]]:
    """Return what was believed of each version at a known time."""
    return {
        version["id"]: [belief[name] for name in SHOWN]
        for version in answer["versions"]
        for belief in version["beliefs"]
        if belief["known_from"] <= known_at
        and (belief["known_until"] is None or belief["known_until"] > known_at)
    }


def find_known_times(answer: dict[str, Any]) -> list[str]:
    """Return the known times at which a belief began or ended."""
    beliefs = [belief for version in answer["versions"] for belief in version["beliefs"]]
    times = {belief[name] for belief in beliefs for name in ("known_from", "known_until")}
    return sorted(times - {None})


def compare_with_histories(client: httpx.Client, answer: dict[str, Any]) -> int:
    """Assert that the histories of all its versions show the same. Return how many were read."""
    compared = 0
    for known_at in find_known_times(answer):
        believed = find_versions_at(answer, known_at)
        for memory_id in believed:
            path = f"/v1/memories/{memory_id}/history"
            history = client.get(path, params={"known_at": known_at}).json()
            assert history["chain_id"] == answer["chain_id"]
            shown = {
                version["id"]: [version[name] for name in SHOWN]
                for version in history["versions"]
                if version["chain_id"] == answer["chain_id"]
            }
            assert shown == believed
            compared += 1
    return compared


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


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 16])
def test_they_agree_with_the_histories_at_every_known_time(client: httpx.Client, seed: int) -> None:
    random_writes(client, random.Random(seed), 60)
    params = {"include_superseded": "1", "limit": "1000"}
    listed = client.get("/v1/memories", params=params).json()["items"]
    chains = {memory["chain_id"]: memory["id"] for memory in listed}
    compared = [compare_with_histories(client, read(client, one)) for one in chains.values()]
    assert sum(compared) > len(chains)


def accept_stay(client: httpx.Client) -> tuple[str, str, dict[str, Any]]:
    """Return the ids of a home and of a stay, and the acceptance that put it into its chain."""
    home = store(client, "I live in Porto", key="city", valid_from="2024-01-01")["memory"]
    stay = {"valid_from": "2026-01-01", "valid_until": "2026-01-05"}
    proposed = store(client, "I stay at the Ibis", key="city", trust=30, **stay)
    accepted = decide(client, proposed["review_id"], "accept")
    assert accepted["memory"]["chain_id"] == home["id"]
    return home["id"], proposed["memory"]["id"], accepted


def test_a_memory_that_joins_the_chain_has_no_beliefs_from_before(client: httpx.Client) -> None:
    home, stay, accepted = accept_stay(client)
    answer = read(client, stay)
    assert [version["id"] for version in answer["versions"]] == [home, stay]
    [belief] = answer["versions"][1]["beliefs"]
    assert belief["known_from"] == accepted["known_at"]
    assert compare_with_histories(client, answer) == 3


def test_a_memory_that_left_the_chain_has_its_beliefs_there(client: httpx.Client) -> None:
    home, stay, accepted = accept_stay(client)
    undone = client.post(f"/v1/log/{accepted['log_id']}/revert", json={}).json()
    answer = read(client, home)
    assert [version["id"] for version in answer["versions"]] == [home, stay]
    [belief] = answer["versions"][1]["beliefs"]
    assert (belief["known_from"], belief["known_until"]) == (
        accepted["known_at"],
        undone["known_at"],
    )
    assert compare_with_histories(client, answer) == 4
    [alone] = read(client, stay)["versions"]
    assert [(one["known_from"], one["known_until"]) for one in alone["beliefs"]] == [
        (alone["created_at"], accepted["known_at"]),
        (undone["known_at"], None),
    ]


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
