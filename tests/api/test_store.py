from typing import Any
from uuid import uuid4

import httpx
import pytest

from support.builders import contents, editor, list_ended, problem, send, store


def test_a_change_of_a_preference_supersedes_it(client: httpx.Client) -> None:
    old = send(client, editor("Vim"))
    new = send(client, editor("Emacs"))
    assert (old["operation"], new["operation"]) == ("ADD", "UPDATE")
    assert list_ended(new) == [old["memory"]["id"]]
    assert new["memory"]["chain_id"] == old["memory"]["id"]
    assert new["memory"]["supersedes_id"] == old["memory"]["id"]
    assert client.get("/v1/preferences/tooling/editor").json()["value"] == "Emacs"
    ended = client.get(f"/v1/memories/{old['memory']['id']}").json()
    assert ended["status"] == "superseded"
    assert ended["superseded_by"] == ended["contradicted_by"] == new["memory"]["id"]
    assert ended["superseded_at"] == new["known_at"] == ended["valid_until"]


def test_the_same_text_again_is_known_already(client: httpx.Client) -> None:
    first = store(client, "Has a dog called Rex")
    again = client.post("/v1/memories", json={"content": "Has a dog called Rex"})
    assert again.status_code == 200
    assert again.json()["operation"] == "NOOP"
    assert again.json()["memory"]["id"] == first["memory"]["id"]
    assert again.json()["decision"]["relation"] == "DUPLICATE"


def test_case_spacing_width_and_punctuation_make_no_new_fact(client: httpx.Client) -> None:
    store(client, "Has a dog called Rex")
    assert store(client, "“Ｈas a  DOG called rex.”")["operation"] == "NOOP"


def test_without_fuzzy_dedupe_only_the_very_same_text_is_known(database_url: str) -> None:
    from app.settings import load_settings
    from support.service import running

    with (
        running(load_settings(database_url=database_url, fuzzy_dedupe=False)) as address,
        httpx.Client(base_url=address) as client,
    ):
        store(client, "Has a dog")
        assert store(client, "has a dog", classify="rules")["operation"] == "ADD"
        assert store(client, "has a DOG!", classify="signals")["operation"] == "ADD"
        assert store(client, "Has a dog")["operation"] == "NOOP"


def test_a_constraint_is_never_ended_by_another_value(client: httpx.Client) -> None:
    first = store(client, "Budget stays under 100", kind="constraint", key="budget", value="100")
    second = store(client, "Budget stays under 200", kind="constraint", key="budget", value="200")
    third = store(client, "Budget is 300", key="budget", value="300")
    assert [a["operation"] for a in (first, second, third)] == ["ADD", "ADD", "ADD"]
    assert len(contents(client)) == 3
    in_conflict = {c["id"] for c in third["candidates"] if c["relation"] == "CONTRADICTION"}
    assert in_conflict == {first["memory"]["id"], second["memory"]["id"]}


def test_supersedes_by_the_caller_ends_each_of_the_named(client: httpx.Client) -> None:
    olds = [store(client, text)["memory"]["id"] for text in ("Works at Acme", "Is a developer")]
    new = store(client, "Runs a bakery", supersedes=olds)
    assert new["operation"] == "UPDATE"
    assert list_ended(new) == olds
    assert new["decision"]["decided_by"] == "caller"
    assert contents(client) == {"Runs a bakery"}
    assert new["memory"]["chain_id"] == olds[0]


def test_superseding_something_unknown_is_refused_and_nothing_is_stored(
    client: httpx.Client,
) -> None:
    known = store(client, "Works at Acme")["memory"]["id"]
    response = client.post(
        "/v1/memories", json={"content": "Runs a bakery", "supersedes": [known, str(uuid4())]}
    )
    assert "GET /v1/memories" in problem(response, 404)["detail"]
    assert contents(client) == {"Works at Acme"}


def test_another_agents_memory_answers_exactly_like_an_unknown_one(client: httpx.Client) -> None:
    mine = store(client, "Works at Acme")["memory"]["id"]
    stranger = {"X-Agent-Id": f"stranger-{uuid4().hex}"}
    for method, path, body in [
        ("GET", "/v1/memories/{}", None),
        ("GET", "/v1/memories/{}/history", None),
        ("PATCH", "/v1/memories/{}", {"importance": 1}),
        ("POST", "/v1/memories/{}/supersede", {"content": "x"}),
        ("POST", "/v1/memories/{}/retract", {}),
        ("DELETE", "/v1/memories/{}", None),
    ]:
        foreign = client.request(method, path.format(mine), json=body, headers=stranger)
        unknown_id = str(uuid4())
        unknown = client.request(method, path.format(unknown_id), json=body, headers=stranger)
        assert foreign.status_code == unknown.status_code == 404
        assert foreign.text.replace(mine, "ID") == unknown.text.replace(unknown_id, "ID")
    assert client.get(f"/v1/memories/{mine}").json()["status"] == "current"


def test_a_dry_run_answers_with_the_plan_and_writes_nothing(client: httpx.Client) -> None:
    old = send(client, editor("Vim"))
    response = client.post("/v1/memories", json=editor("Emacs", dry_run=True))
    assert response.status_code == 200
    dry = response.json()
    assert dry["operation"] == "UPDATE"
    assert list_ended(dry) == [old["memory"]["id"]]
    assert (dry["dry_run"], dry["log_id"]) == (True, None)
    assert dry["memory"]["content"] == "Uses Emacs as editor"
    assert contents(client) == {"Uses Vim as editor"}
    assert client.get(f"/v1/memories/{dry['memory']['id']}").status_code == 404
    assert len(client.get("/v1/log").json()["items"]) == 1


def test_a_dry_run_of_an_agent_nobody_knows_makes_no_agent(client: httpx.Client) -> None:
    assert send(client, {"content": "Has a dog", "dry_run": True})["operation"] == "ADD"
    assert contents(client) == set()
    assert client.get("/v1/log").json()["items"] == []


def test_near_neighbours_are_listed_as_candidates(client: httpx.Client) -> None:
    stored = store(client, "Has a dog called Rex")
    answer = store(client, "The dog is afraid of thunder")
    [candidate] = answer["candidates"]
    assert candidate["id"] == stored["memory"]["id"]
    assert candidate["relation"] in ("OVERLAP", "NONE")
    assert 0.2 < candidate["similarity"] < 1


def test_importance_and_core_are_inherited_and_the_old_one_leaves_core(
    client: httpx.Client,
) -> None:
    old = send(client, editor("Vim", tier="core", importance=0.9))
    new = send(client, editor("Emacs", importance=0.2))
    assert (new["memory"]["tier"], new["memory"]["importance"]) == ("core", 0.9)
    ended = client.get(f"/v1/memories/{old['memory']['id']}").json()
    assert ended["tier"] == "semantic"
    before = client.get(
        f"/v1/memories/{old['memory']['id']}", params={"known_at": old["known_at"]}
    ).json()
    assert (before["tier"], before["status"]) == ("core", "current")


def test_a_decision_carries_typed_details(client: httpx.Client) -> None:
    details = {
        "rationale": "One zone",
        "alternatives": ["local time"],
        "related_files": ["clock.py"],
        "votes": 3,
    }
    stored = store(client, "We store times in UTC", kind="decision", details=details)
    assert stored["memory"]["details"] == details
    bad = client.post(
        "/v1/memories",
        json={"content": "We use tabs", "kind": "decision", "details": {"alternatives": "spaces"}},
    )
    assert "alternatives" in problem(bad, 422)["detail"]


def test_a_change_far_into_a_long_text_is_never_a_duplicate(client: httpx.Client) -> None:
    text = " ".join(
        f"Step {number}: turn valve {number} by {number} degrees." for number in range(300)
    )
    store(client, text)
    changed = store(client, text.replace("valve 290 by 290", "valve 290 by 17"))
    assert changed["operation"] == "ADD"
    assert 0.99 < changed["candidates"][0]["similarity"] < 0.999999
    assert len(contents(client)) == 2


# --- batch -------------------------------------------------------------------------------------------------------------


def batch(client: httpx.Client, items: list[Any], **more: Any) -> httpx.Response:
    return client.post("/v1/memories/batch", json={"items": items, **more})


def test_a_batch_sees_what_it_has_itself_written(client: httpx.Client) -> None:
    response = batch(
        client,
        [
            editor("Vim"),
            editor("Emacs"),
            editor("emacs"),
            {"content": "Has a dog"},
            {"content": "has a dog."},
        ],
    )
    results = response.json()["results"]
    assert [r["operation"] for r in results] == ["ADD", "UPDATE", "NOOP", "ADD", "NOOP"]
    known = [r["known_at"] for r in results]
    assert known == sorted(set(known))
    assert list_ended(results[1]) == [results[0]["memory"]["id"]]
    history = client.get(f"/v1/memories/{results[0]['memory']['id']}/history").json()
    assert [v["value"] for v in history["versions"]] == ["Vim", "Emacs"]
    then = client.get(
        f"/v1/memories/{results[0]['memory']['id']}", params={"known_at": known[0]}
    ).json()
    assert then["valid_until"] is None


def test_a_bad_item_fails_alone(client: httpx.Client) -> None:
    response = batch(
        client,
        [
            {"content": "Has a dog"},
            {"content": ""},
            {"text": "?"},
            {"content": "x", "supersedes": str(uuid4())},
            {"content": "Has a cat"},
        ],
    )
    assert response.status_code == 200
    results = response.json()["results"]
    assert [r.get("operation") or r["status"] for r in results] == ["ADD", 422, 422, 404, "ADD"]
    assert contents(client) == {"Has a dog", "Has a cat"}


@pytest.mark.parametrize("bad", [{"content": ""}, {"content": "x", "supersedes": str(uuid4())}, 7])
def test_with_atomic_a_bad_item_fails_them_all(client: httpx.Client, bad: Any) -> None:
    refused = problem(batch(client, [{"content": "Has a dog"}, bad], atomic=True), 422)
    assert "Item 1" in refused["detail"]
    assert "1" in refused["items"]
    assert contents(client) == set()


def test_a_batch_takes_up_to_a_thousand_items(client: httpx.Client) -> None:
    items = [{"content": f"Fact number {i}", "classify": False} for i in range(1000)]
    assert len(batch(client, items).json()["results"]) == 1000
    assert len(contents(client)) == 1000
    assert "1000" in problem(batch(client, [*items, {"content": "one more"}]), 422)["detail"]
