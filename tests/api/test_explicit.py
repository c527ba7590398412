"""Supersede, retract, amend: the explicit verbs, one at a time. Their time rules are driven by test_oracle.py."""

from itertools import pairwise, permutations

import httpx
import pytest

from support.builders import contents, editor, list_ended, problem, send, store


def test_superseding_by_content_keeps_the_slot(client: httpx.Client) -> None:
    old = send(client, editor("Vim", importance=0.8))["memory"]
    response = client.post(
        f"/v1/memories/{old['id']}/supersede", json={"content": "Uses Emacs now", "value": "Emacs"}
    )
    assert response.status_code == 201
    new = response.json()["memory"]
    assert (new["kind"], new["category"], new["key"], new["importance"]) == (
        "preference",
        "tooling",
        "editor",
        0.8,
    )
    assert client.get("/v1/preferences/tooling/editor").json()["id"] == new["id"]


def test_superseding_twice_names_the_successor(client: httpx.Client) -> None:
    old = store(client)["memory"]["id"]
    new = client.post(f"/v1/memories/{old}/supersede", json={"content": "Has a cat"}).json()[
        "memory"
    ]["id"]
    again = problem(
        client.post(f"/v1/memories/{old}/supersede", json={"content": "Has a fish"}), 409
    )
    assert new in again["detail"]
    assert again["memory_ids"] == [new]
    assert contents(client) == {"Has a cat"}


def test_a_stale_etag_is_refused(client: httpx.Client) -> None:
    old = store(client)["memory"]
    client.patch(f"/v1/memories/{old['id']}", json={"importance": 0.9})
    for method, path, body in [
        ("POST", "/supersede", {"content": "x"}),
        ("POST", "/retract", {}),
        ("PATCH", "", {"importance": 0.1}),
        ("DELETE", "", None),
    ]:
        stale = client.request(
            method, f"/v1/memories/{old['id']}{path}", json=body, headers={"If-Match": old["etag"]}
        )
        assert "GET it again" in problem(stale, 412)["detail"]
    fresh = client.get(f"/v1/memories/{old['id']}")
    assert fresh.headers["etag"] == fresh.json()["etag"] != old["etag"]
    assert (
        client.request(
            "DELETE", f"/v1/memories/{old['id']}", headers={"If-Match": fresh.headers["etag"]}
        ).status_code
        == 200
    )


@pytest.mark.parametrize("etag", ["nonsense", '"x"', '"99999999999999999999"', ""])
def test_an_etag_that_is_none_never_matches(client: httpx.Client, etag: str) -> None:
    memory_id = store(client)["memory"]["id"]
    assert client.delete(f"/v1/memories/{memory_id}", headers={"If-Match": etag}).status_code == 412


def test_a_stored_memory_can_be_declared_the_successor(client: httpx.Client) -> None:
    old, new = store(client, "Works at Acme")["memory"], store(client, "Runs a bakery")["memory"]
    first = client.post(f"/v1/memories/{old['id']}/supersede", json={"by": new["id"]})
    assert (first.status_code, first.json()["operation"]) == (200, "SUPERSEDE")
    assert list_ended(first.json()) == [old["id"]]
    ended = client.get(f"/v1/memories/{old['id']}").json()
    assert (ended["status"], ended["superseded_by"], ended["chain_id"]) == (
        "superseded",
        new["id"],
        old["id"],
    )
    assert client.get(f"/v1/memories/{new['id']}").json()["supersedes_id"] == old["id"]
    assert (
        client.post(f"/v1/memories/{old['id']}/supersede", json={"by": new["id"]}).json()[
            "operation"
        ]
        == "NOOP"
    )


def store_in_order(client: httpx.Client, number: int) -> list[str]:
    """Store facts that begin one after the other, and return their ids."""
    days = [f"2026-01-{day:02}" for day in range(1, number + 1)]
    return [store(client, f"Fact of {day}", valid_from=day)["memory"]["id"] for day in days]


def supersede_by(client: httpx.Client, old: str, by: str) -> httpx.Response:
    return client.post(f"/v1/memories/{old}/supersede", json={"by": by})


@pytest.mark.parametrize(
    "ring", [*permutations(range(3)), (0, 1), (1, 0), (0, 3, 2, 1), (3, 1, 2, 0)]
)
def test_memories_never_supersede_each_other_in_a_ring(
    client: httpx.Client, ring: tuple[int, ...]
) -> None:
    facts = store_in_order(client, len(ring))
    olds = [facts[place] for place in ring]
    answers = [supersede_by(client, old, by) for old, by in pairwise([*olds, olds[0]])]
    refused = [answer for answer in answers if answer.status_code != 200]
    assert refused, "nothing would hold"
    assert client.get("/v1/doctor").json()["problems"] == []
    assert client.get("/v1/memories").json()["items"]


def test_a_successor_that_was_superseded_itself_is_refused_with_what_to_do(
    client: httpx.Client,
) -> None:
    first, second = store_in_order(client, 2)
    supersede_by(client, first, second)
    refused = problem(supersede_by(client, second, first), 409)
    assert refused["type"].endswith(":successor-does-not-hold")
    assert f"it was superseded by {second}" in refused["detail"]
    assert "Undo what ended it" in refused["detail"]
    assert refused["memory_ids"] == [second]


def test_a_ring_whose_members_hold_for_a_while_is_refused_with_its_members(
    client: httpx.Client,
) -> None:
    first, second, third = store_in_order(client, 3)
    supersede_by(client, first, third)
    supersede_by(client, third, second)
    refused = problem(supersede_by(client, second, first), 409)
    assert refused["type"].endswith(":supersession-ring")
    assert refused["memory_ids"] == [third, second]


def test_supersessions_may_be_told_from_the_last_to_the_first(client: httpx.Client) -> None:
    first, second, third = store_in_order(client, 3)
    assert supersede_by(client, second, third).status_code == 200
    assert supersede_by(client, first, second).status_code == 200
    assert contents(client) == {"Fact of 2026-01-03"}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"content": "x", "by": "00000000-0000-0000-0000-000000000000"},
        {"by": "00000000-0000-0000-0000-000000000000", "value": "x"},
    ],
)
def test_superseding_takes_content_or_an_id(client: httpx.Client, body: dict[str, str]) -> None:
    memory_id = store(client)["memory"]["id"]
    problem(client.post(f"/v1/memories/{memory_id}/supersede", json=body), 422)


def test_retracting_ends_without_a_successor_and_keeps_the_reason(client: httpx.Client) -> None:
    memory_id = store(client)["memory"]["id"]
    answer = client.post(
        f"/v1/memories/{memory_id}/retract", json={"reason": "It was the neighbour's"}
    ).json()
    assert (answer["operation"], answer["memory"], list_ended(answer)) == (
        "DELETE",
        None,
        [memory_id],
    )
    assert client.get(f"/v1/memories/{memory_id}").json()["status"] == "retracted"
    assert client.get(f"/v1/log/{answer['log_id']}").json()["reasoning"] == "It was the neighbour's"
    assert problem(client.delete(f"/v1/memories/{memory_id}"), 409)["memory_ids"] == []


def test_what_was_never_true_lets_its_predecessor_extend(client: httpx.Client) -> None:
    vim = send(client, editor("Vim"))["memory"]["id"]
    emacs = send(client, editor("Emacs"))["memory"]["id"]
    answer = client.post(f"/v1/memories/{emacs}/retract", json={"never_true": True}).json()
    assert answer["adjusted"] == [vim]
    assert client.get("/v1/preferences/tooling/editor").json()["id"] == vim
    assert client.get(f"/v1/memories/{emacs}").json()["status"] == "reverted"
    for path, body in [("supersede", {"content": "x"}), ("retract", {})]:
        assert (
            "withdrawn"
            in problem(client.post(f"/v1/memories/{emacs}/{path}", json=body), 409)["detail"]
        )
    problem(client.patch(f"/v1/memories/{emacs}", json={"importance": 1}), 409)


def test_metadata_is_corrected_in_place_and_the_log_keeps_what_it_became(
    client: httpx.Client,
) -> None:
    stored = store(client, tags=["pets"])
    patch = {
        "importance": 0.9,
        "tags": ["animals"],
        "source": None,
        "details": {"seen": 2},
        "trust": 80,
    }
    answer = client.patch(f"/v1/memories/{stored['memory']['id']}", json=patch)
    assert (answer.status_code, answer.json()["operation"]) == (200, "AMEND")
    memory = client.get(f"/v1/memories/{stored['memory']['id']}").json()
    assert (memory["importance"], memory["tags"], memory["details"], memory["trust"]) == (
        0.9,
        ["animals"],
        {"seen": 2},
        80,
    )
    assert answer.json()["memory"] | {"strength": memory["strength"]} == memory, (
        "strength fades between the two"
    )
    entry = client.get(f"/v1/log/{answer.json()['log_id']}").json()
    assert any(state.get("metadata") == patch for state in entry["after_state"])


@pytest.mark.parametrize(
    "body", [{}, {"content": "x"}, {"importance": None}, {"valid_from": None}, {"trust": 101}]
)
def test_a_correction_names_what_can_be_corrected(
    client: httpx.Client, body: dict[str, object]
) -> None:
    memory_id = store(client)["memory"]["id"]
    problem(client.patch(f"/v1/memories/{memory_id}", json=body), 422)


def test_a_stated_end_can_be_set_and_opened_again(client: httpx.Client) -> None:
    memory_id = store(client, valid_from="2026-01-01")["memory"]["id"]
    client.patch(f"/v1/memories/{memory_id}", json={"valid_until": "2026-02-01"})
    assert client.get(f"/v1/memories/{memory_id}").json()["status"] == "expired"
    client.patch(f"/v1/memories/{memory_id}", json={"valid_until": None})
    assert client.get(f"/v1/memories/{memory_id}").json()["status"] == "current"
    problem(client.patch(f"/v1/memories/{memory_id}", json={"valid_until": "2025-12-31"}), 422)
