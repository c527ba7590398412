"""What rests on what: when a memory ends, those tied to it say so. They never end by themselves."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from app.domain.relationship import BINDING, LinkType
from app.settings import load_settings
from support.builders import contents, editor, link, remembered, send, store
from support.random_history import random_writes
from support.scripted_model import ScriptedModel, every
from support.service import running

Change = Callable[[httpx.Client, str], httpx.Response]


def reasons(client: httpx.Client, memory_id: str, **point: Any) -> list[tuple[str, str, str]]:
    """Why a memory is stale: what ended, how the two are tied, and how it stands."""
    response = client.get(f"/v1/memories/{memory_id}", params=point)
    assert response.status_code == 200, response.text
    return [
        (ended["memory_id"], ended["type"], ended["status"])
        for ended in response.json()["stale_because"]
    ]


def retract(client: httpx.Client, memory_id: str, **how: Any) -> httpx.Response:
    return client.post(f"/v1/memories/{memory_id}/retract", json=how)


def in_time(**ahead: float) -> str:
    return (datetime.now(UTC) + timedelta(**ahead)).isoformat()


# --- what flags --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", LinkType)
def test_the_types_that_bind_flag_in_both_directions_and_no_others_do(
    client: httpx.Client, kind: LinkType
) -> None:
    cause, ended, effect = remembered(client, "It rains", "The street is wet", "Trams are late")
    link(client, cause, ended, kind)
    link(client, ended, effect, kind)
    answer = retract(client, ended).json()
    expected = [(ended, kind.value, "retracted")] if kind in BINDING else []
    assert reasons(client, cause) == reasons(client, effect) == expected
    assert {stale["memory_id"] for stale in answer["stale"]} == (
        {cause, effect} if expected else set()
    )
    assert contents(client) == {"It rains", "Trams are late"}, "what is stale holds on"


def superseded(client: httpx.Client, memory_id: str) -> httpx.Response:
    return client.post(f"/v1/memories/{memory_id}/supersede", json={"content": "The street is dry"})


def withdrawn(client: httpx.Client, memory_id: str) -> httpx.Response:
    return retract(client, memory_id, never_true=True)


def ended_long_ago(client: httpx.Client, memory_id: str) -> httpx.Response:
    return retract(client, memory_id, at="2024-01-01")


def erased(client: httpx.Client, memory_id: str) -> httpx.Response:
    return client.delete(f"/v1/memories/{memory_id}", params={"erase": True})


def expired(client: httpx.Client, memory_id: str) -> httpx.Response:
    return client.patch(f"/v1/memories/{memory_id}", json={"valid_until": "2025-01-01"})


def undone(client: httpx.Client, memory_id: str) -> httpx.Response:
    [log_id] = [
        e["id"]
        for e in client.get("/v1/log", params={"memory_id": memory_id, "operation": "ADD"}).json()[
            "items"
        ]
    ]
    return client.post(f"/v1/log/{log_id}/revert", json={})


ENDINGS: list[tuple[Change, str]] = [
    (superseded, "superseded"),
    (retract, "retracted"),
    (ended_long_ago, "retracted"),
    (expired, "expired"),
    (withdrawn, "reverted"),
    (undone, "reverted"),
    (erased, "erased"),
]


@pytest.mark.parametrize(("end", "status"), ENDINGS)
def test_every_way_of_ending_flags_and_the_answer_of_the_write_names_it(
    client: httpx.Client, end: Change, status: str
) -> None:
    street = store(client, "The street is wet", valid_from="2020-01-01")["memory"]["id"]
    [trams] = remembered(client, "Trams are late")
    before = link(client, street, trams, "causes")["known_at"]
    assert reasons(client, trams) == []
    answer = end(client, street)
    assert answer.is_success, answer.text
    memory = client.get(f"/v1/memories/{trams}").json()
    [ended] = memory["stale_because"]
    assert (ended["memory_id"], ended["type"], ended["status"]) == (street, "causes", status)
    assert client.get(f"/v1/memories/{street}").json()["status"] == status
    if end is not erased:
        assert answer.json()["stale"] == [{"memory_id": trams, "stale_because": [ended]}]
    assert reasons(client, trams, known_at=before) == [], "nobody knew of it then"
    assert (memory["status"], memory["etag"]) == ("current", '"1"')


def test_ended_at_is_the_end_in_valid_time_or_when_the_withdrawal_became_known(
    client: httpx.Client,
) -> None:
    one, two, trams = remembered(client, "The street is wet", "It rains", "Trams are late")
    client.patch(f"/v1/memories/{one}", json={"valid_from": "2020-01-01"}).raise_for_status()
    link(client, one, trams, "causes")
    link(client, two, trams, "causes")
    ended_long_ago(client, one)
    known = withdrawn(client, two).json()["known_at"]
    told = client.get(f"/v1/memories/{trams}").json()["stale_because"]
    assert [(ended["memory_id"], ended["ended_at"]) for ended in told] == [
        (one, "2024-01-01T00:00:00.000000Z"),
        (two, known),
    ]


def test_a_stated_end_flags_from_that_day_on(client: httpx.Client) -> None:
    end = in_time(days=30)
    pass_, trip = (
        store(client, "Has a rail pass", valid_until=end)["memory"]["id"],
        store(client, "Goes to Faro by train")["memory"]["id"],
    )
    link(client, pass_, trip, "enables")
    assert reasons(client, trip) == []
    assert reasons(client, trip, as_of=end) == [(pass_, "enables", "expired")]
    assert reasons(client, trip, as_of=in_time(days=29)) == []
    assert client.get("/v1/memories", params={"stale": True}).json()["items"] == []
    [stale] = client.get("/v1/memories", params={"stale": True, "as_of": end}).json()["items"]
    assert stale["id"] == trip


def test_both_axes_are_kept_apart(client: httpx.Client) -> None:
    street, trams = (
        store(client, text, valid_from="2020-01-01")["memory"]["id"]
        for text in ("The street is wet", "Trams are late")
    )
    link(client, street, trams, "causes")
    ended = ended_long_ago(client, street).json()["known_at"]
    assert reasons(client, trams, as_of="2023-12-31") == []
    assert reasons(client, trams, as_of="2024-01-01") == [(street, "causes", "retracted")]
    client.post(f"/v1/memories/{street}/retract", json={"never_true": True}).raise_for_status()
    assert reasons(client, trams, as_of="2023-12-31") == [(street, "causes", "reverted")], (
        "it was never true"
    )
    assert reasons(client, trams, as_of="2023-12-31", known_at=ended) == []
    assert reasons(client, trams, known_at=ended) == [(street, "causes", "retracted")]


def test_undoing_the_end_unflags_though_not_for_what_was_known_before(client: httpx.Client) -> None:
    street, trams = remembered(client, "The street is wet", "Trams are late")
    link(client, street, trams, "causes")
    ended = retract(client, street).json()
    assert reasons(client, trams) != []
    client.post(f"/v1/log/{ended['log_id']}/revert", json={}).raise_for_status()
    assert reasons(client, trams) == []
    assert reasons(client, trams, known_at=ended["known_at"]) == [(street, "causes", "retracted")]


# --- what does not -----------------------------------------------------------------------------------------------------


def test_an_end_that_was_there_when_they_were_tied_is_no_news(client: httpx.Client) -> None:
    street, trams = remembered(client, "The street is wet", "Trams are late")
    retract(client, street).raise_for_status()
    link(client, street, trams, "references")
    assert reasons(client, trams) == []
    client.patch(f"/v1/memories/{street}", json={"valid_from": "2019-01-01"}).raise_for_status()
    assert reasons(client, trams) == [], "a correction of one that has ended ends nothing"
    withdrawn(client, street).raise_for_status()
    assert reasons(client, trams) == [(street, "references", "reverted")]


def test_one_that_ended_before_holds_again_and_ends_again_is_news(client: httpx.Client) -> None:
    street, trams = remembered(client, "The street is wet", "Trams are late")
    ended = retract(client, street).json()["log_id"]
    tied = link(client, street, trams, "references")["known_at"]
    client.post(f"/v1/log/{ended}/revert", json={}).raise_for_status()
    assert reasons(client, trams) == []
    retract(client, street).raise_for_status()
    assert reasons(client, trams) == [(street, "references", "retracted")]
    assert reasons(client, trams, known_at=tied) == []


def test_a_chain_rests_on_the_version_it_was_tied_to(client: httpx.Client) -> None:
    vim, plugin = (
        send(client, editor("Vim"))["memory"]["id"],
        store(client, "Wrote a plugin", classify="off")["memory"]["id"],
    )
    link(client, plugin, vim, "references")
    emacs = send(client, editor("Emacs"))
    assert [stale["memory_id"] for stale in emacs["stale"]] == [plugin]
    helix = send(client, editor("Helix"))
    assert helix["stale"] == [], "nothing rests on the version in between"
    assert reasons(client, plugin) == [(vim, "references", "superseded")]
    link(client, plugin, helix["memory"]["id"], "references")
    assert len(reasons(client, plugin)) == 1


def test_what_takes_the_place_of_the_ended_one_does_not_rest_on_it(client: httpx.Client) -> None:
    draft, final, review = remembered(
        client, "The draft says 3 pages", "The text has 5 pages", "Anna reads the draft"
    )
    link(client, draft, final, "sequential")
    link(client, draft, review, "enables")
    answer = client.post(f"/v1/memories/{draft}/supersede", json={"by": final}).json()
    assert [stale["memory_id"] for stale in answer["stale"]] == [review]
    assert reasons(client, final) == []


def test_only_what_holds_is_stale(client: httpx.Client) -> None:
    street, trams, later = remembered(
        client, "The street is wet", "Trams are late", "Buses are late"
    )
    client.patch(f"/v1/memories/{later}", json={"valid_from": in_time(days=1)}).raise_for_status()
    for end in (trams, later):
        link(client, street, end, "causes")
    retract(client, trams).raise_for_status()
    assert retract(client, street).json()["stale"] == []
    assert reasons(client, trams) == reasons(client, later) == []
    assert reasons(client, later, as_of=in_time(days=2)) == [(street, "causes", "retracted")]


def test_an_end_to_come_is_told_when_it_has_come(client: httpx.Client) -> None:
    vim, plugin = (
        send(client, editor("Vim"))["memory"]["id"],
        store(client, "Wrote a plugin", classify="off")["memory"]["id"],
    )
    link(client, plugin, vim, "references")
    assert send(client, editor("Emacs", valid_from=in_time(days=1)))["stale"] == []
    assert reasons(client, plugin) == []
    assert reasons(client, plugin, as_of=in_time(days=2)) == [(vim, "references", "superseded")]


@pytest.mark.parametrize("when", [{}, {"valid_from": in_time(days=1)}])
def test_a_merge_does_not_flag_its_own_result_but_a_source_that_was_never_true_does(
    database_url: str, when: dict[str, str]
) -> None:
    with (
        ScriptedModel(every("COMPLEMENT")) as model,
        running(load_settings(database_url=database_url, llm_base_url=model.url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        first = store(client, "The Falcon app was written by Anna", classify="off")["memory"]["id"]
        merged = store(client, "The Falcon app has a dark mode", **when)
        assert (merged["operation"], merged["stale"]) == ("MERGE", [])
        result, later = merged["memory"]["id"], in_time(days=2)
        [other] = set(merged["memory"]["merged_from"]) - {first}
        assert reasons(client, result, as_of=later) == []
        withdrawn(client, other).raise_for_status()
        assert reasons(client, result, as_of=later) == [(other, "merged_into", "reverted")]
        assert reasons(client, result, as_of=later, known_at=merged["known_at"]) == []


# --- where it shows ----------------------------------------------------------------------------------------------------


def test_every_read_says_so(client: httpx.Client) -> None:
    vim = send(client, editor("Vim"))["memory"]["id"]
    [why] = remembered(client, "Editors should start fast")
    link(client, why, vim, "causes")
    retract(client, why).raise_for_status()
    expected = [(why, "causes", "retracted")]
    read: dict[str, Any] = {
        "list": client.get("/v1/memories").json()["items"][0],
        "by strength": client.get("/v1/memories", params={"sort": "strength"}).json()["items"][0],
        "search": client.get("/v1/search", params={"q": "editor"}).json()["results"][0]["memory"],
        "history": client.get(f"/v1/memories/{vim}/history").json()["versions"][0],
        "preference": client.get("/v1/preferences/tooling/editor").json(),
        "why": client.get(f"/v1/memories/{vim}/why").json()["memory"],
        "context": client.get("/v1/context").json()["items"]["preference"][0]["memory"],
        "context by query": client.get("/v1/context", params={"query": "editor"}).json()["items"][
            "preference"
        ][0]["memory"],
        "known": send(client, editor("Vim"))["memory"],
        "corrected": client.patch(f"/v1/memories/{vim}", json={"importance": 0.9}).json()["memory"],
    }
    told = {
        name: [(e["memory_id"], e["type"], e["status"]) for e in memory["stale_because"]]
        for name, memory in read.items()
    }
    assert told == dict.fromkeys(read, expected)


def test_a_context_shows_what_is_stale_with_a_mark(client: httpx.Client) -> None:
    street, _ = remembered(client, "The street is wet", "It is Monday")
    trams = store(client, "Trams are late", valid_from="2026-01-05")["memory"]["id"]
    link(client, street, trams, "causes")
    retract(client, street).raise_for_status()
    lines = client.get("/v1/context").json()["text"].splitlines()
    assert "- Trams are late (since 2026-01-05) (check: what it rests on has changed)" in lines
    assert [line for line in lines if "check" in line and "Trams" not in line] == []


def test_a_dry_run_tells_and_flags_nothing(client: httpx.Client) -> None:
    vim, plugin = (
        send(client, editor("Vim"))["memory"]["id"],
        store(client, "Wrote a plugin", classify="off")["memory"]["id"],
    )
    link(client, plugin, vim, "references")
    assert [
        stale["memory_id"] for stale in send(client, editor("Emacs", dry_run=True))["stale"]
    ] == [plugin]
    assert reasons(client, plugin) == []


def test_each_item_of_a_batch_names_what_it_made_stale(client: httpx.Client) -> None:
    vim, plugin = (
        send(client, editor("Vim"))["memory"]["id"],
        store(client, "Wrote a plugin", classify="off")["memory"]["id"],
    )
    link(client, plugin, vim, "references")
    batch = client.post(
        "/v1/memories/batch",
        json={"items": [{"content": "It is Monday"}, editor("Emacs"), editor("Helix")]},
    ).json()
    assert [[stale["memory_id"] for stale in result["stale"]] for result in batch["results"]] == [
        [],
        [plugin],
        [],
    ]
    undone = client.post("/v1/reverts", json={"operation": "UPDATE"}).json()
    assert [result["stale"] for result in undone["results"]] == [[], []]
    assert reasons(client, plugin) == []


def test_accepting_a_review_names_what_it_made_stale(client: httpx.Client) -> None:
    porto = store(client, "Alice lives in Porto", trust=90)["memory"]["id"]
    [school] = remembered(client, "The children go to school in Porto")
    link(client, porto, school, "enables")
    waits = store(client, "Alice moved to Lisbon", trust=10)
    assert waits["stale"] == []
    accepted = client.post(f"/v1/reviews/{waits['review_id']}/accept", json={}).json()
    assert [stale["memory_id"] for stale in accepted["stale"]] == [school]


def test_stale_memories_are_listed_apart_in_pages(client: httpx.Client) -> None:
    [street, *effects] = remembered(
        client, "The street is wet", *(f"Tram {number} is late" for number in range(5))
    )
    apart = store(client, "It is Monday", classify="off", tags=["x"])["memory"]["id"]
    for effect in effects:
        link(client, street, effect, "causes")
    retract(client, street).raise_for_status()
    client.patch(f"/v1/memories/{effects[0]}", json={"tags": ["x"]}).raise_for_status()
    for sort in ("created", "strength"):
        seen: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = client.get(
                "/v1/memories", params={"stale": True, "limit": 2, "sort": sort, **cursor}
            ).json()
            assert all(memory["stale_because"] for memory in page["items"])
            seen += [memory["id"] for memory in page["items"]]
            if not page["next_cursor"]:
                break
            cursor = {"cursor": page["next_cursor"]}
        assert sorted(seen) == sorted(effects)
        assert len(seen) == len(effects)
    assert contents(client, stale=False) == {"It is Monday"}
    assert contents(client, stale=True, tags_any="x") == {"Tram 0 is late"}
    assert contents(client, stale=False, include_superseded=True) == {
        "It is Monday",
        "The street is wet",
    }
    assert apart not in {
        m["id"]
        for m in client.get(
            "/v1/memories", params={"stale": True, "include_superseded": True}
        ).json()["items"]
    }


# --- by a second reading of the rule -----------------------------------------------------------------------------------


def expected(
    histories: dict[str, dict[str, Any]],
    ties: list[dict[str, Any]],
    memory_id: str,
    as_of: str,
    known_at: str,
) -> set[Any]:
    """What the documentation promises, by the beliefs that lists show at every known time."""
    now = histories[known_at]
    memory, found = now[memory_id], set()
    if memory["status"] == "erased" or not (
        memory["valid_from"] <= as_of < (memory["valid_until"] or "9")
    ):
        return found
    if any(cover["since"] <= as_of < cover["until"] for cover in memory["covered"]):
        return found
    for tie in ties:
        ends = {tie["source_id"], tie["target_id"]}
        if memory_id not in ends or tie["created_at"] > known_at or tie["type"] not in set(BINDING):
            continue
        [other] = (now[i] for i in ends - {memory_id})
        void, since = (
            other["void"],
            [h[other["id"]] for k, h in histories.items() if tie["created_at"] <= k <= known_at],
        )
        stood = any(
            not b["void"] and (void or not b["valid_until"] or b["valid_until"] > tie["created_at"])
            for b in since
        )
        over = void or (other["valid_until"] is not None and other["valid_until"] <= as_of)
        newly_erased = other["erased_at"] and tie["created_at"] < other["erased_at"] <= known_at
        if (newly_erased or (over and stood)) and (void or other["superseded_by"] != memory_id):
            found.add((other["id"], tie["type"]))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_random_histories_flag_what_the_rule_says_at_any_moment(
    database_url: str, seed: int
) -> None:
    pick = random.Random(seed)
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        store(client, "The first fact")
        for _ in range(12):
            random_writes(client, pick, 3)
            ids = [
                m["id"]
                for m in client.get(
                    "/v1/memories", params={"include_superseded": True, "limit": 1000}
                ).json()["items"]
            ]
            for _ in range(4):
                body = {"type": pick.choice(BINDING), "target_id": pick.choice(ids)}
                client.post(f"/v1/memories/{pick.choice(ids)}/relationships", json=body)
        ties = [
            tie
            for i in ids
            for tie in client.get(f"/v1/memories/{i}/relationships", params={"limit": 1000}).json()[
                "items"
            ]
        ]
        log = sorted(
            entry["created_at"]
            for entry in client.get("/v1/log", params={"limit": 1000}).json()["items"]
        )
        histories = {known_at: believed(client, database_url, known_at) for known_at in log}
        flagged = 0
        for known_at in [log[-1], *pick.sample(log, 8)]:
            for as_of in [
                in_time(days=days).replace("+00:00", "Z") for days in (-40, -5, 0, 5, 60)
            ]:
                point = {
                    "as_of": as_of,
                    "known_at": known_at,
                    "include_superseded": True,
                    "limit": 1000,
                }
                listed = client.get("/v1/memories", params=point).json()["items"]
                told = {
                    m["id"]: {(e["memory_id"], e["type"]) for e in m["stale_because"]}
                    for m in listed
                }
                assert told == {i: expected(histories, ties, i, as_of, known_at) for i in told}
                filtered = {
                    m["id"]
                    for m in client.get("/v1/memories", params={**point, "stale": True}).json()[
                        "items"
                    ]
                }
                assert filtered == {i for i, because in told.items() if because}
                flagged += len(filtered)
        assert flagged, "the histories flag something"


def believed(client: httpx.Client, database_url: str, known_at: str) -> dict[str, Any]:
    """Every version as believed then. The status of an erased one hides whether it was withdrawn, so that is asked of the database."""
    listed = client.get(
        "/v1/memories", params={"include_superseded": True, "limit": 1000, "known_at": known_at}
    ).json()["items"]
    statement = """
        SELECT id::text FROM memories WHERE void AND known_from <= %(at)s
        UNION SELECT memory_id::text FROM memory_beliefs WHERE void AND known_from <= %(at)s AND known_until > %(at)s
    """
    with psycopg.connect(database_url) as connection:
        void = {memory_id for (memory_id,) in connection.execute(statement, {"at": known_at})}
    return {memory["id"]: memory | {"void": memory["id"] in void} for memory in listed}


def test_nobody_elses_links_flag(client: httpx.Client) -> None:
    street, trams = remembered(client, "The street is wet", "Trams are late")
    with httpx.Client(
        base_url=client.base_url, headers={"X-Agent-Id": f"other-{uuid4().hex}"}, timeout=60
    ) as stranger:
        ends = remembered(stranger, "The street is wet", "Trams are late")
        link(stranger, *ends, "causes")
        retract(stranger, ends[0]).raise_for_status()
    retract(client, street).raise_for_status()
    assert reasons(client, trams) == []
    assert client.get("/v1/memories", params={"stale": True}).json()["items"] == []
