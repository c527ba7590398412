"""Reviews: what waits for a person is shown, accepted, rejected, expires; shadow and frozen agents."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from app.settings import load_settings
from support.ages import move_back
from support.builders import contents, decide, editor, list_ended, mode, problem, send, store
from support.scripted_model import ScriptedModel, every, judges, judgment
from support.service import running
from support.transfers import NDJSON, brought_back, exported, other


def review(client: httpx.Client, review_id: str) -> dict[str, Any]:
    response = client.get(f"/v1/reviews/{review_id}")
    assert response.is_success, response.text
    found: dict[str, Any] = response.json()
    return found


def status(client: httpx.Client, memory_id: str) -> str:
    return str(client.get(f"/v1/memories/{memory_id}").json()["status"])


@pytest.fixture
def shadow(client: httpx.Client) -> httpx.Client:
    mode(client, "shadow")
    return client


def trusted(client: httpx.Client) -> tuple[dict[str, Any], dict[str, Any]]:
    """A memory of a source trusted more, and a store that contradicts it: that one waits for a person."""
    old = send(client, editor("Vim", trust=90))["memory"]
    return old, send(client, editor("Emacs", trust=10))


# --- deciding ----------------------------------------------------------------------------------------------------------


def test_a_review_is_shown_with_what_accepting_will_do(client: httpx.Client) -> None:
    old, answer = trusted(client)
    found = review(client, answer["review_id"])
    assert (found["status"], found["source"], found["relation"]) == ("pending", "trust", "UPDATE")
    assert found["sentence"] == "Does “Uses Emacs as editor” end “Uses Vim as editor”?"
    before, after = ({m["id"]: m for m in found[side]} for side in ("before", "after"))
    assert (before[old["id"]]["status"], after[old["id"]]["status"]) == ("current", "superseded")
    assert after[old["id"]]["superseded_by"] == answer["memory"]["id"]
    assert status(client, old["id"]) == "current"
    assert [
        r["id"] for r in client.get("/v1/reviews", params={"status": "pending"}).json()["items"]
    ] == [found["id"]]


def test_accepting_carries_the_proposal_out_and_is_logged(client: httpx.Client) -> None:
    old, flagged = trusted(client)
    answer = decide(client, flagged["review_id"], "accept", note="Checked with the user")
    assert (answer["operation"], list_ended(answer), answer["memory"]["id"]) == (
        "SUPERSEDE",
        [old["id"]],
        flagged["memory"]["id"],
    )
    assert status(client, old["id"]) == "superseded"
    entry = client.get(f"/v1/log/{answer['log_id']}").json()
    assert (entry["decided_by"], entry["reasoning"]) == ("reviewer", "Checked with the user")
    found = review(client, flagged["review_id"])
    assert (found["status"], found["note"], found["decision_log_id"]) == (
        "accepted",
        "Checked with the user",
        answer["log_id"],
    )


def test_rejecting_leaves_everything_as_it_is_and_is_logged(client: httpx.Client) -> None:
    old, flagged = trusted(client)
    answer = decide(client, flagged["review_id"], "reject", note="Not so")
    assert (answer["operation"], list_ended(answer)) == ("NOOP", [])
    assert status(client, old["id"]) == status(client, flagged["memory"]["id"]) == "current"
    assert client.get(f"/v1/log/{answer['log_id']}").json()["reasoning"] == "Not so"
    assert review(client, flagged["review_id"])["status"] == "rejected"


@pytest.mark.parametrize("decision", ["accept", "reject"])
def test_deciding_twice_is_the_same_as_once_and_never_both_ways(
    client: httpx.Client, decision: str
) -> None:
    _, flagged = trusted(client)
    first, again = (decide(client, flagged["review_id"], decision) for _ in range(2))
    same = ("operation", "superseded", "log_id", "known_at", "decision")
    assert {name: again[name] for name in same} == {name: first[name] for name in same}
    assert first["memory"]["id"] == again["memory"]["id"]
    other = {"accept": "reject", "reject": "accept"}[decision]
    problem(client.post(f"/v1/reviews/{flagged['review_id']}/{other}"), 409)


def test_where_memories_moved_accepting_shows_a_fresh_proposal_first(client: httpx.Client) -> None:
    old, flagged = trusted(client)
    client.patch(f"/v1/memories/{old['id']}", json={"importance": 0.9})
    refused = problem(client.post(f"/v1/reviews/{flagged['review_id']}/accept"), 409)
    assert refused["type"] == "urn:palimpsest:problem:moved"
    assert refused["changed"] == [old["id"]]
    assert {m["id"] for m in refused["proposal"]["after"]} == {old["id"], flagged["memory"]["id"]}
    assert list_ended(decide(client, flagged["review_id"], "accept")) == [old["id"]]


def test_what_makes_no_sense_any_more_is_not_accepted(client: httpx.Client) -> None:
    old, flagged = trusted(client)
    client.post(f"/v1/memories/{old['id']}/retract", json={"never_true": True})
    found = review(client, flagged["review_id"])
    assert found["obstacle"]
    assert found["status"] == "overtaken"
    for decision in ("accept", "reject"):
        problem(client.post(f"/v1/reviews/{flagged['review_id']}/{decision}"), 409)


def test_a_decision_can_be_undone_and_made_again(client: httpx.Client) -> None:
    old, flagged = trusted(client)
    accepted = decide(client, flagged["review_id"], "accept")
    assert client.post(f"/v1/log/{accepted['log_id']}/revert").is_success
    assert status(client, old["id"]) == "current"
    assert review(client, flagged["review_id"])["status"] == "pending"
    assert decide(client, flagged["review_id"], "reject")["operation"] == "NOOP"


def test_a_constraint_ends_by_an_accepted_review(client: httpx.Client) -> None:
    old = store(client, "Alice lives in Porto", kind="constraint")["memory"]
    flagged = store(client, "Alice moved to Lisbon")
    assert review(client, flagged["review_id"])["source"] == "constraint"
    assert list_ended(decide(client, flagged["review_id"], "accept")) == [old["id"]]


def test_what_an_end_told_late_may_not_end_ends_at_the_moment_that_was_told(
    client: httpx.Client,
) -> None:
    trusted = store(client, "Is employed at Initech", trust=90, valid_from="2023-02-01")["memory"][
        "id"
    ]
    plain = store(client, "Works at Initech", valid_from="2023-01-01", classify=False)["memory"][
        "id"
    ]
    told = store(client, "No longer works at Initech", valid_from="2024-01-01")
    assert (told["operation"], list_ended(told)) == ("DELETE", [plain])
    decide(client, told["review_id"], "accept")
    assert (
        client.get(f"/v1/memories/{trusted}").json()["valid_until"] == "2024-01-01T00:00:00.000000Z"
    )


def test_unknown_and_foreign_reviews_answer_alike(client: httpx.Client) -> None:
    _, flagged = trusted(client)
    for review_id, agent in (
        (str(uuid4()), client.headers["X-Agent-Id"]),
        (flagged["review_id"], f"other-{uuid4().hex}"),
    ):
        for call in (("GET", ""), ("POST", "/accept"), ("POST", "/reject")):
            answer = client.request(
                call[0], f"/v1/reviews/{review_id}{call[1]}", headers={"X-Agent-Id": agent}
            )
            assert problem(answer, 404)["type"] == "urn:palimpsest:problem:unknown-review"


def test_many_are_decided_by_ids_or_by_a_filter_with_a_bound(client: httpx.Client) -> None:
    flagged = [
        send(client, editor("Emacs", trust=10, entity=f"user {i}"))
        for i in range(5)
        if send(client, editor("Vim", trust=90, entity=f"user {i}"))
    ]
    ids = [answer["review_id"] for answer in flagged]
    by_ids = client.post(
        "/v1/reviews/decide", json={"decision": "reject", "ids": [ids[0], str(uuid4())]}
    ).json()["results"]
    assert [r["result"].get("status") for r in by_ids] == [None, 404]
    call = {"decision": "accept", "filter": {"source": "trust"}, "limit": 3}
    by_filter = client.post("/v1/reviews/decide", json=call).json()["results"]
    assert [r["review_id"] for r in by_filter] == list(reversed(ids))[:3]
    assert [r["status"] for r in client.get("/v1/reviews").json()["items"]] == ["accepted"] * 3 + [
        "pending",
        "rejected",
    ]
    for bad in (
        {"decision": "accept"},
        {"decision": "accept", "filter": {}},
        {"decision": "accept", "ids": ids, "filter": {}, "limit": 1},
    ):
        assert client.post("/v1/reviews/decide", json=bad).status_code == 422


def test_reviews_expire_and_the_log_says_so(database_url: str) -> None:
    settings = load_settings(database_url=database_url, review_days=7)
    with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        _, flagged = trusted(client)
        with psycopg.connect(database_url) as connection:
            connection.execute(f"UPDATE reviews SET {move_back('created_at', '8 days')}".encode())
        [expired] = client.get("/v1/reviews").json()["items"]
        assert (expired["id"], expired["status"]) == (flagged["review_id"], "expired")
        assert (
            client.get(f"/v1/log/{expired['decision_log_id']}").json()["reasoning"]
            == "Nobody decided it in time."
        )
        problem(client.post(f"/v1/reviews/{flagged['review_id']}/accept"), 409)


def test_decisions_and_modes_are_executed_once_under_a_key(client: httpx.Client) -> None:
    _, flagged = trusted(client)
    mode(client, "frozen")
    held = client.post("/v1/memories", json={"content": "Has a dog"}).json()
    agent = f"/v1/agents/{client.headers['X-Agent-Id']}"
    calls: list[tuple[str, str, Any]] = [
        ("PATCH", agent, {"mode": "live"}),
        ("POST", f"/v1/reviews/{held['review_id']}/accept", {"note": "Yes"}),
        ("POST", "/v1/reviews/decide", {"decision": "reject", "ids": [flagged["review_id"]]}),
    ]
    for number, (method, path, body) in enumerate(calls):
        key = {"Idempotency-Key": f"decision-{number}"}
        first, again = (client.request(method, path, json=body, headers=key) for _ in range(2))
        assert first.is_success, first.text
        assert (again.status_code, again.content, again.headers.get("Idempotency-Replayed")) == (
            first.status_code,
            first.content,
            "true",
        )
        other = client.request(
            method,
            path,
            json=body | ({"mode": "shadow"} if method == "PATCH" else {"note": "Else"}),
            headers=key,
        )
        assert other.status_code == 422, other.text


# --- shadow ------------------------------------------------------------------------------------------------------------

STORY = [
    {"content": "I live in Porto"},
    {"content": "I play tennis"},
    {"content": "I moved to Lisbon"},
    {"content": "I no longer play tennis"},
    {"content": "I moved to Lisbon"},
    editor("Vim", tier="core"),
    editor("Emacs"),
    editor("Emacs", valid_until="2999-01-01T00:00:00Z"),
]


def test_a_shadow_agent_adds_every_fact_and_changes_nothing(shadow: httpx.Client) -> None:
    answers = [send(shadow, body) for body in STORY]
    assert [a["operation"] for a in answers] == ["ADD"] * len(STORY)
    assert all(list_ended(a) == a["adjusted"] == [] for a in answers)
    assert len(shadow.get("/v1/memories").json()["items"]) == len(STORY)
    relations = [
        review(shadow, a["review_id"])["relation"] if a["review_id"] else None for a in answers
    ]
    assert relations == [None, None, "UPDATE", "RETRACTION", "DUPLICATE", None, "UPDATE", "UPDATE"]
    assert {r["source"] for r in shadow.get("/v1/reviews").json()["items"]} == {"shadow"}


def test_accepted_proposals_of_a_shadow_lead_to_what_a_live_agent_holds(
    shadow: httpx.Client,
) -> None:
    live = httpx.Client(
        base_url=shadow.base_url, headers={"X-Agent-Id": f"live-{uuid4().hex}"}, timeout=60
    )
    with live:
        for body in STORY:
            answer = send(shadow, body)
            if answer["review_id"]:
                decide(shadow, answer["review_id"], "accept")
            send(live, body)
        held, wanted = (
            sorted(
                (m["content"], m["tier"], m["said_until"])
                for m in c.get("/v1/memories").json()["items"]
            )
            for c in (shadow, live)
        )
    assert held == wanted


def test_the_report_tells_what_would_have_changed_and_how_people_decided(
    shadow: httpx.Client,
) -> None:
    answers = [send(shadow, body) for body in STORY]
    updates = [
        a
        for a in answers
        if a["review_id"] and review(shadow, a["review_id"])["relation"] == "UPDATE"
    ]
    decide(shadow, updates[0]["review_id"], "accept")
    decide(shadow, updates[1]["review_id"], "reject")
    bands = shadow.get("/v1/shadow/report").json()["bands"]
    assert sum(b["proposed"] for b in bands) == 5
    assert {(b["relation"], b["decided_by"]) for b in bands} >= {
        ("UPDATE", "signals"),
        ("UPDATE", "rule"),
        ("RETRACTION", "signals"),
    }
    assert sorted(b["precision"] for b in bands if b["precision"] is not None) == [0.0, 1.0]
    assert updates[0]["review_id"] in [i for b in bands for i in b["examples"]]
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    assert shadow.get("/v1/shadow/report", params={"since": tomorrow}).json()["bands"] == []


def test_a_person_may_be_required_for_every_change(database_url: str) -> None:
    settings = load_settings(database_url=database_url, require_human_review=True)
    with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        first = send(client, editor("Vim"))["memory"]
        second = send(client, editor("Emacs"))
        assert (second["operation"], list_ended(second)) == ("ADD", [])
        decide(client, second["review_id"], "accept")
        assert status(client, first["id"]) == "superseded"


def test_a_merge_is_proposed_and_made_when_accepted(database_url: str) -> None:
    with (
        ScriptedModel(every("COMPLEMENT")) as model,
        running(
            load_settings(database_url=database_url, llm_base_url=model.url, mode="shadow")
        ) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        store(client, "The Falcon app was written by Anna")
        answer = store(client, "The Falcon app has 12000 users")
        assert (answer["operation"], review(client, answer["review_id"])["relation"]) == (
            "ADD",
            "COMPLEMENT",
        )
        merged = decide(client, answer["review_id"], "accept")
        assert merged["operation"] == "MERGE"
        [held] = contents(client)
        assert "Anna" in held
        assert "12000" in held
        undone = client.post(f"/v1/log/{merged['log_id']}/revert")
        assert undone.is_success, undone.text
        assert len(contents(client)) == 2


def test_what_a_dated_retraction_was_less_sure_of_ends_at_that_date_when_accepted(
    database_url: str,
) -> None:
    with (
        ScriptedModel(
            lambda request: judges(
                *(judgment(n, "RETRACTION", 0.95 if n == 1 else 0.6) for n in request.numbers)
            )
        ) as model,
        running(load_settings(database_url=database_url, llm_base_url=model.url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        store(client, "Anna leads the Falcon team", valid_from="2026-01-01", classify=False)
        store(
            client,
            "Anna leads the team of the Falcon rocket",
            valid_from="2026-01-01",
            classify=False,
        )
        answer = store(
            client,
            "Anna is not the lead of the Falcon team any more since spring",
            valid_from="2026-04-01",
        )
        assert answer["operation"] == "DELETE"
        decide(client, answer["review_id"], "accept")
        memories = client.get("/v1/memories", params={"include_superseded": True}).json()["items"]
        ended = [m for m in memories if m["id"] != answer["memory"]["id"]]
        assert [m["valid_until"] for m in ended] == ["2026-04-01T00:00:00.000000Z"] * 2
        assert {m["superseded_by"] for m in ended} == {answer["memory"]["id"]}


@pytest.mark.parametrize("decision", ["accept", "reject"])
def test_deciding_again_under_a_key_is_answered_the_same_from_then_on(
    client: httpx.Client, decision: str
) -> None:
    _, flagged = trusted(client)
    decide(client, flagged["review_id"], decision)
    where, key = f"/v1/reviews/{flagged['review_id']}/{decision}", {"Idempotency-Key": uuid4().hex}
    again = client.post(where, json={}, headers=key)
    client.patch(
        f"/v1/memories/{flagged['memory']['id']}", json={"importance": 0.9}
    ).raise_for_status()
    assert client.post(where, json={}, headers=key).content == again.content
    assert problem(client.post(where, json={"note": "Another body"}, headers=key), 422)


# --- frozen ------------------------------------------------------------------------------------------------------------


def test_a_frozen_agent_keeps_stores_back_and_writes_only_its_log(client: httpx.Client) -> None:
    first = send(client, editor("Vim"))["memory"]
    mode(client, "frozen")
    response = client.post("/v1/memories", json=editor("Emacs"))
    answer = response.json()
    assert (response.status_code, answer["operation"], answer["memory"]) == (202, None, None)
    held = review(client, answer["review_id"])
    assert (held["source"], held["held"]["fact"]["content"]) == ("frozen", "Uses Emacs as editor")
    assert held["sentence"] == (
        "Is “Uses Emacs as editor” to be stored? It would end “Uses Vim as editor”."
    )
    batch = client.post(
        "/v1/memories/batch", json={"items": [editor("Nano"), {"content": ""}]}
    ).json()["results"]
    assert (batch[0]["operation"], batch[1]["status"]) == (None, 422)
    assert contents(client) == {"Uses Vim as editor"}
    batched, single, _ = client.get("/v1/log").json()["items"]
    assert [batched["id"], single["id"]] == [batch[0]["log_id"], answer["log_id"]]
    assert (single["operation"], single["target_memory_id"]) == ("NOOP", None)
    assert (single["relation"], single["decided_by"], single["review"]) == (
        "NONE",
        "rule",
        "frozen",
    )
    assert single["incoming"]["content"] == "Uses Emacs as editor"
    [left] = [state["review"] for state in single["after_state"]]
    assert [memory_id for memory_id, _ in left["relied_on"]] == [first["id"]]


def test_undoing_what_a_frozen_agent_logged_closes_its_review(client: httpx.Client) -> None:
    send(client, editor("Vim"))
    mode(client, "frozen")
    held = client.post("/v1/memories", json=editor("Emacs")).json()
    mode(client, "live")
    undone = client.post(f"/v1/log/{held['log_id']}/revert").json()
    assert review(client, held["review_id"])["status"] == "overtaken"
    client.post(f"/v1/log/{undone['log_id']}/revert").raise_for_status()
    assert review(client, held["review_id"])["status"] == "pending"
    assert decide(client, held["review_id"], "accept")["operation"] == "UPDATE"


def test_what_a_frozen_batch_holds_back_relies_on_nothing_that_is_not_stored(
    client: httpx.Client,
) -> None:
    mode(client, "frozen")
    batch = client.post(
        "/v1/memories/batch", json={"items": [editor("Vim"), editor("Vim"), editor("Emacs")]}
    ).json()["results"]
    held = [review(client, result["review_id"]) for result in batch]
    assert [(r["judgments"], r["sentence"]) for r in held] == [
        ([], f"Is “Uses {name} as editor” to be stored?") for name in ("Vim", "Vim", "Emacs")
    ]
    mode(client, "live")
    answers = [decide(client, r["id"], "accept") for r in held]
    assert [a["operation"] for a in answers] == ["ADD", "NOOP", "UPDATE"]


def test_an_agent_that_holds_stores_back_can_be_exported_and_brought_back(
    client: httpx.Client,
) -> None:
    send(client, editor("Vim"))
    mode(client, "frozen")
    held = client.post("/v1/memories", json=editor("Emacs")).json()
    export = exported(client)
    with other(client) as copy:
        brought_back(copy, export)
        assert exported(copy) == export
        mode(copy, "live")
        assert decide(copy, held["review_id"], "accept")["memory"]["valid_from"] == held["known_at"]


def test_the_doctor_notices_an_agent_that_was_last_known_before_what_it_holds_back(
    database_url: str,
) -> None:
    with (
        running(load_settings(database_url=database_url, mode="frozen")) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        held = client.post("/v1/memories", json=editor("Emacs")).json()
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute(f"UPDATE agents SET {move_back('last_known_at', '1 s')}".encode())
            [found] = client.get("/v1/doctor").json()["problems"]
            connection.execute(f"UPDATE agents SET {move_back('last_known_at', '-1 s')}".encode())
    assert (found["check"], found["ids"], found["repairable"]) == (
        "agents",
        [held["log_id"]],
        True,
    )


def test_the_explicit_verbs_of_a_frozen_agent_are_refused(client: httpx.Client) -> None:
    stored = send(client, editor("Vim"))
    path = f"/v1/memories/{stored['memory']['id']}"
    mode(client, "frozen")
    held = client.post("/v1/memories", json={"content": "Has a dog"}).json()
    calls: list[tuple[str, str, Any]] = [
        ("PATCH", path, {"importance": 0.1}),
        ("POST", f"{path}/supersede", {"content": "new"}),
        ("POST", f"{path}/retract", {}),
        ("DELETE", path, None),
        ("POST", f"/v1/log/{stored['log_id']}/revert", {}),
        ("POST", "/v1/reverts", {"operation": "ADD"}),
        ("POST", f"/v1/reviews/{held['review_id']}/accept", {}),
    ]
    for method, where, body in calls:
        assert (
            problem(client.request(method, where, json=body), 503)["type"]
            == "urn:palimpsest:problem:frozen"
        )
    assert problem(client.post("/v1/import", headers=NDJSON, content='{"content": "x"}\n'), 503)
    assert contents(client) == {"Uses Vim as editor"}


def test_what_was_held_back_is_stored_as_asked_for_when_accepted(client: httpx.Client) -> None:
    first = send(client, editor("Vim"))["memory"]
    mode(client, "frozen")
    held = client.post("/v1/memories", json=editor("Emacs")).json()
    mode(client, None)
    answer = decide(client, held["review_id"], "accept")
    assert (answer["operation"], list_ended(answer)) == ("UPDATE", [first["id"]])
    assert answer["memory"]["valid_from"] == held["known_at"]
    assert review(client, held["review_id"])["memory_id"] == answer["memory"]["id"]
    assert decide(client, held["review_id"], "accept")["log_id"] == answer["log_id"]


def test_a_held_back_store_shows_what_accepting_it_will_do(client: httpx.Client) -> None:
    first = send(client, editor("Vim"))["memory"]
    mode(client, "frozen")
    found = review(client, client.post("/v1/memories", json=editor("Emacs")).json()["review_id"])
    assert found["obstacle"] is None
    assert [(m["id"], m["status"]) for m in found["before"]] == [(first["id"], "current")]
    assert [(m["content"], m["status"]) for m in found["after"]] == [
        ("Uses Vim as editor", "superseded"),
        ("Uses Emacs as editor", "current"),
    ]
    assert contents(client) == {"Uses Vim as editor"}


def test_a_held_back_store_that_can_no_longer_be_made_says_why(client: httpx.Client) -> None:
    first = send(client, editor("Vim"))["memory"]
    mode(client, "frozen")
    held = client.post(
        "/v1/memories", json={"content": "Uses Emacs", "supersedes": first["id"]}
    ).json()
    mode(client, "live")
    client.post(f"/v1/memories/{first['id']}/retract", json={"never_true": True}).raise_for_status()
    found = review(client, held["review_id"])
    assert first["id"] in found["obstacle"]
    assert problem(client.post(f"/v1/reviews/{held['review_id']}/accept"), 409)["changed"] == [
        first["id"]
    ]
    assert (
        problem(client.post(f"/v1/reviews/{held['review_id']}/accept"), 409)["detail"]
        == found["obstacle"]
    )


def test_what_was_held_back_and_accepted_at_once_by_many_is_done_once(client: httpx.Client) -> None:
    first = send(client, editor("Vim"))["memory"]
    mode(client, "frozen")
    held = client.post("/v1/memories", json=editor("Emacs")).json()["review_id"]
    mode(client, "live")
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: client.post(f"/v1/reviews/{held}/accept"), range(8)))
    assert {(a.status_code, a.json().get("log_id")) for a in answers} == {
        (200, answers[0].json()["log_id"])
    }
    assert list_ended(answers[0].json()) == [first["id"]]


def test_what_was_held_back_is_proposed_afresh_where_what_it_was_to_end_has_moved(
    client: httpx.Client,
) -> None:
    send(client, editor("Vim"))
    mode(client, "frozen")
    held, later = (
        client.post("/v1/memories", json=editor(name)).json()["review_id"]
        for name in ("Emacs", "Nano")
    )
    mode(client, "live")
    emacs = decide(client, held, "accept")["memory"]["id"]
    moved = problem(client.post(f"/v1/reviews/{later}/accept"), 409)
    assert [(m["content"], m["status"]) for m in moved["proposal"]["after"]] == [
        ("Uses Emacs as editor", "superseded"),
        ("Uses Nano as editor", "current"),
    ]
    assert contents(client) == {"Uses Emacs as editor"}
    assert "Uses Emacs as editor" in review(client, later)["sentence"]
    assert list_ended(decide(client, later, "accept")) == [emacs]


def test_what_was_held_back_and_accepted_in_shadow_mode_is_done_once(client: httpx.Client) -> None:
    first = send(client, editor("Vim"))["memory"]
    mode(client, "frozen")
    held = client.post("/v1/memories", json=editor("Emacs")).json()
    mode(client, "shadow")
    answers = [decide(client, held["review_id"], "accept") for _ in range(2)]
    assert [(a["operation"], list_ended(a), a["review_id"]) for a in answers] == [
        ("UPDATE", [first["id"]], None)
    ] * 2
    assert review(client, held["review_id"])["status"] == "accepted"
    assert contents(client) == {"Uses Emacs as editor"}


def test_what_is_held_back_outlives_the_erasure_of_what_it_would_have_ended_but_not_of_its_session(
    client: httpx.Client,
) -> None:
    first = send(client, editor("Vim"))["memory"]
    mode(client, "frozen")
    held = client.post("/v1/memories", json=editor("Emacs", session_id="monday")).json()
    again = client.post("/v1/memories", json=editor("Vim")).json()
    assert client.delete(f"/v1/memories/{first['id']}", params={"erase": True}).status_code == 200
    found = review(client, held["review_id"])
    assert (found["status"], found["held"]["fact"]["content"], found["obstacle"]) == (
        "pending",
        "Uses Emacs as editor",
        None,
    )
    assert "Vim" not in str(found)
    assert (
        review(client, again["review_id"])["status"],
        review(client, again["review_id"])["held"],
    ) == ("overtaken", None)
    assert client.post("/v1/erasures", json={"session_id": "monday"}).status_code == 200
    assert (
        review(client, held["review_id"])["status"],
        review(client, held["review_id"])["held"],
    ) == ("overtaken", None)


def test_what_was_held_back_and_rejected_is_never_stored(client: httpx.Client) -> None:
    mode(client, "frozen")
    held = client.post("/v1/memories", json=editor("Emacs")).json()
    decide(client, held["review_id"], "reject")
    mode(client, "live")
    assert contents(client) == set()


@pytest.fixture
def own(database_url: str) -> Iterator[httpx.Client]:
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        client.headers["X-Agent-Id"] = "own"
        yield client


def test_erasing_an_agent_takes_what_was_held_back_with_it(
    own: httpx.Client, database_url: str
) -> None:
    mode(own, "frozen")
    own.post("/v1/memories", json={"content": "I like zebras", "session_id": "s"})
    mode(own, "live")
    assert own.post("/v1/erasures", json={"agent_id": "own"}).status_code == 200
    with psycopg.connect(database_url) as connection:
        assert connection.execute(
            "SELECT count(*) FROM reviews WHERE reviews::text LIKE '%zebra%'"
        ).fetchone() == (0,)


def test_the_log_tells_proposals_of_shadow_mode_from_plain_additions(client: httpx.Client) -> None:
    agent = client.headers["X-Agent-Id"]
    store(client, "I live in Porto", key="home")
    client.patch(f"/v1/agents/{agent}", json={"mode": "shadow"}).raise_for_status()
    proposed = store(client, "I live in Lisbon", key="home")
    plain = store(client, "I have a dog")
    assert (proposed["operation"], plain["operation"]) == ("ADD", "ADD")
    [entry] = client.get("/v1/log", params={"review": "shadow"}).json()["items"]
    assert (entry["id"], entry["review"]) == (proposed["log_id"], "shadow")
    assert client.get(f"/v1/log/{plain['log_id']}").json()["review"] is None
    assert client.get("/v1/log", params={"review": "trust"}).json()["items"] == []
