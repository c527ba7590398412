import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from support.builders import contents, editor, problem, send, store

TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z")


def search(client: httpx.Client, query: str, **more: object) -> list[dict[str, object]]:
    response = client.post("/v1/search", json={"query": query, **more})
    assert response.is_success, response.text
    results: list[dict[str, object]] = response.json()["results"]
    return results


def found(client: httpx.Client, query: str, **more: object) -> list[str]:
    return [result["memory"]["content"] for result in search(client, query, **more)]  # type: ignore[index]


@pytest.fixture
def moved(client: httpx.Client) -> tuple[str, str]:
    """Moved on 5 January, told today; the known times before and after the telling."""
    before = store(client, "Lives in Porto", key="home", value="Porto", valid_from="2020-03-01")[
        "known_at"
    ]
    after = store(client, "Lives in Lisbon", key="home", value="Lisbon", valid_from="2026-01-05")[
        "known_at"
    ]
    return before, after


@pytest.mark.parametrize(
    "names", [("as_of", "known_at", "include_superseded"), ("asOf", "knownAt", "includeSuperseded")]
)
def test_every_read_answers_on_both_axes(
    client: httpx.Client, moved: tuple[str, str], names: tuple[str, str, str]
) -> None:
    as_of, known_at, everything = names
    before, _ = moved
    for when, homes in [
        ({}, {"Lives in Lisbon"}),
        ({as_of: "2026-01-04T23:59:59.999999Z"}, {"Lives in Porto"}),
        ({as_of: "2026-01-05"}, {"Lives in Lisbon"}),
        ({as_of: "2020-02-29"}, set()),
        ({known_at: before}, {"Lives in Porto"}),
        ({as_of: "2026-06-01", known_at: before}, {"Lives in Porto"}),
        ({everything: True}, {"Lives in Lisbon", "Lives in Porto"}),
        ({everything: True, known_at: before}, {"Lives in Porto"}),
    ]:
        assert contents(client, **when) == homes
        for mode in ("hybrid", "vector", "text"):
            assert set(found(client, "who lives where?", mode=mode, **when)) == homes
            got = client.get(
                "/v1/search", params={"q": "who lives where?", "mode": mode, **when}
            ).json()["results"]
            assert {r["memory"]["content"] for r in got} == homes


def test_a_memory_is_unknown_before_it_was_known(
    client: httpx.Client, moved: tuple[str, str]
) -> None:
    before, after = moved
    new = client.get("/v1/memories").json()["items"][0]["id"]
    assert client.get(f"/v1/memories/{new}", params={"known_at": after}).status_code == 200
    problem(client.get(f"/v1/memories/{new}", params={"known_at": before}), 404)
    problem(client.get(f"/v1/memories/{new}/history", params={"known_at": before}), 404)


def test_history_shows_the_chain_from_any_version(
    client: httpx.Client, moved: tuple[str, str]
) -> None:
    before, _ = moved
    ids = [
        m["id"]
        for m in client.get("/v1/memories", params={"include_superseded": True}).json()["items"]
    ]
    for memory_id in ids:
        history = client.get(f"/v1/memories/{memory_id}/history").json()
        assert [v["value"] for v in history["versions"]] == ["Porto", "Lisbon"]
        assert [v["status"] for v in history["versions"]] == ["superseded", "current"]
        assert history["current"] == history["versions"][1]["id"]
        assert [o["operation"] for o in history["operations"]] == ["ADD", "UPDATE"]
    then = client.get(f"/v1/memories/{ids[-1]}/history", params={"known_at": before}).json()
    assert [v["valid_until"] for v in then["versions"]] == [None]
    assert len(then["operations"]) == 1


def test_a_preference_is_read_at_any_moment(client: httpx.Client) -> None:
    send(client, editor("Vim", valid_from="2020-01-01"))
    send(client, editor("Emacs", valid_from="2024-01-01"))
    send(client, editor("Nano", entity="Ana"))
    path = "/v1/preferences/Tooling/EDITOR"
    assert client.get(path).json()["value"] == "Emacs"
    assert client.get(path, params={"as_of": "2022-01-01"}).json()["value"] == "Vim"
    assert client.get(path, params={"entity": "ana"}).json()["value"] == "Nano"
    assert "tooling" in problem(client.get("/v1/preferences/tooling/shell"), 404)["detail"]
    problem(client.get(path, params={"as_of": "2019-01-01"}), 404)


def test_answers_carry_the_moment_they_used(client: httpx.Client, moved: tuple[str, str]) -> None:
    _, after = moved
    for answer in (
        client.get("/v1/memories").json(),
        client.post("/v1/search", json={"query": "home"}).json(),
    ):
        assert answer["known_at"] == after
        assert TIME.fullmatch(answer["as_of"])
        assert answer["as_of"] >= after


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("2026-01-05T10:00:00+02:00", "2026-01-05T08:00:00.000000Z"),
        (1767607200.25, "2026-01-05T10:00:00.250000Z"),
        ("0001-01-01", "0001-01-01T00:00:00.000000Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_times_are_taken_in_several_forms_and_answered_in_one(
    client: httpx.Client, given: object, read: str
) -> None:
    memory = store(client, "Something happened", valid_from=given)["memory"]
    assert memory["valid_from"] == read
    assert client.get(f"/v1/memories/{memory['id']}").json()["valid_from"] == read
    assert client.get("/v1/memories", params={"as_of": given}).json()["as_of"] == read


@pytest.mark.parametrize(
    "given",
    [
        "yesterday",
        1e20,
        True,
    ],
)
def test_a_time_that_is_none_is_refused_with_the_forms_that_are(
    client: httpx.Client, given: object
) -> None:
    assert (
        "RFC 3339"
        in problem(client.post("/v1/memories", json={"content": "x", "valid_from": given}), 422)[
            "detail"
        ]
    )
    if not isinstance(given, bool):
        assert (
            "RFC 3339"
            in problem(client.get("/v1/memories", params={"as_of": given}), 422)["detail"]
        )


def test_source_date_is_another_name_for_valid_from(client: httpx.Client) -> None:
    assert store(client, source_date="2020-01-01")["memory"]["valid_from"].startswith("2020-01-01")
    problem(
        client.post(
            "/v1/memories",
            json={"content": "x", "source_date": "2020-01-01", "valid_from": "2021-01-01"},
        ),
        422,
    )


def test_a_scheduled_version_does_not_hide_todays(client: httpx.Client) -> None:
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    send(client, editor("Vim"))
    answer = send(client, editor("Emacs", valid_from=tomorrow))
    assert (answer["operation"], answer["memory"]["status"]) == ("UPDATE", "scheduled")
    assert client.get("/v1/preferences/tooling/editor").json()["value"] == "Vim"
    assert (
        client.get("/v1/preferences/tooling/editor", params={"as_of": tomorrow}).json()["value"]
        == "Emacs"
    )


# --- lists -------------------------------------------------------------------------------------------------------------


def read_pages(client: httpx.Client, **params: Any) -> list[str]:
    """Return the contents of all pages of a list."""
    seen: list[str] = []
    page = client.get("/v1/memories", params=params).raise_for_status().json()
    while True:
        seen += [memory["content"] for memory in page["items"]]
        if not page["next_cursor"]:
            return seen
        more = {**params, "cursor": page["next_cursor"]}
        page = client.get("/v1/memories", params=more).raise_for_status().json()


@pytest.mark.parametrize("limit", [1, 2, 3, 10])
def test_a_list_of_a_past_time_has_what_became_known_since(
    client: httpx.Client, limit: int
) -> None:
    store(client, "Keeps bees", key="pet", value="bees")
    as_of = store(client, "Plays chess", key="game", value="chess")["known_at"]
    store(client, "Speaks Basque", key="language", value="Basque", valid_from="2020-01-01")
    store(client, "Grows leeks", key="garden", value="leeks")
    ended = {"valid_from": "2020-01-01", "valid_until": "2021-01-01"}
    store(client, "Lived in Porto", key="home", value="Porto", **ended)
    store(client, "Sails a dinghy", key="boat", value="dinghy", valid_from=as_of)
    held = ["Sails a dinghy", "Speaks Basque", "Plays chess", "Keeps bees"]
    assert read_pages(client, as_of=as_of, limit=limit) == held
    assert read_pages(client, as_of=as_of, limit=limit, key="language") == ["Speaks Basque"]
    assert read_pages(client, known_at=as_of, limit=limit) == ["Plays chess", "Keeps bees"]


def test_all_pages_of_a_list_show_the_same_picture(client: httpx.Client) -> None:
    for number in range(7):
        store(client, f"Fact {number}", key=f"k{number}")
    seen: list[str] = []
    cursor = None
    while True:
        page = client.get(
            "/v1/memories", params={"limit": 3, **({"cursor": cursor} if cursor else {})}
        ).json()
        seen += [m["content"] for m in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
        store(client, f"Changed {len(seen)}", key=f"k{len(seen)}")
    assert seen == [f"Fact {number}" for number in reversed(range(7))]


@pytest.mark.parametrize("cursor", ["x", "W10=", "bnVsbA==", "WzFd"])
def test_a_broken_cursor_says_what_to_do(client: httpx.Client, cursor: str) -> None:
    assert (
        "next_cursor"
        in problem(client.get("/v1/memories", params={"cursor": cursor}), 422)["detail"]
    )
    problem(client.get("/v1/log", params={"cursor": cursor}), 422)


FILTERS = [
    ({"kind": "decision"}, {"b"}),
    ({"entity": " ANA"}, {"b"}),
    ({"category": "Work"}, {"a", "b"}),
    ({"category": ""}, {"c"}),
    ({"key": "ROLE"}, {"a"}),
    ({"session_id": "s1"}, {"a"}),
    ({"tags_any": ["x", "y"]}, {"a", "b"}),
    ({"tags_all": ["x", "y"]}, {"b"}),
    ({"min_importance": 0.7}, {"c"}),
    ({"min_importance": 0.7, "tags_any": ["x"]}, set()),
    ({"details": {"ticket": 7}}, {"a", "b"}),
    ({"details": {"ticket": 7, "by": {"name": "Ann"}}}, {"b"}),
    ({"details": {"seen": ["two"]}}, {"b"}),
    ({"details": {"ticket": "7"}}, set()),
    ({"details": {}}, {"a", "b", "c"}),
]


@pytest.mark.parametrize(("narrowed", "left"), FILTERS)
def test_lists_and_searches_are_narrowed_alike(
    client: httpx.Client, narrowed: dict[str, object], left: set[str]
) -> None:
    more = {"ticket": 7, "by": {"name": "Ann", "at": 9}, "seen": ["one", "two"]}
    store(
        client, "a", category="work", key="role", session_id="s1", tags=["x"], details={"ticket": 7}
    )
    store(
        client, "b", kind="decision", entity="Ana", category="work", tags=["x", "y"], details=more
    )
    store(client, "c", importance=0.8)
    as_text = {name: json.dumps(narrowed[name]) for name in narrowed.keys() & {"details"}}
    assert contents(client, **narrowed | as_text) == left
    for mode in ("hybrid", "vector"):
        assert set(found(client, "a b c", mode=mode, **narrowed)) == left
    # "a" is no word that is searched for.
    assert set(found(client, "a b c", mode="text", **narrowed)) == left - {"a"}


@pytest.mark.parametrize(
    "details", ["7", "[1]", "{", '{"a": NaN}', "[" * 5_000, '{"a": "\\u0000"}']
)
def test_a_filter_on_details_that_is_no_object_is_refused(
    client: httpx.Client, details: str
) -> None:
    for path, params in (("/v1/memories", {}), ("/v1/search", {"q": "a"})):
        refused = client.get(path, params=params | {"details": details})
        assert "details" in problem(refused, 422)["detail"]


# --- search ------------------------------------------------------------------------------------------------------------

FACTS = [
    "Nora plays the violin in an orchestra",
    "The server runs on port 8443",
    "Allergic to peanuts",
    "The deadline is on 3 March",
    "Prefers tea over coffee",
]


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("which instrument does she play?", 0),
        ("what port is used", 1),
        ("food to avoid", 2),
        ("when is it due", 3),
    ],
)
def test_a_question_finds_its_answer(client: httpx.Client, query: str, answer: int) -> None:
    client.post("/v1/memories/batch", json={"items": [{"content": fact} for fact in FACTS]})
    assert found(client, query)[0] == FACTS[answer]


@pytest.mark.parametrize("mode", ["hybrid", "vector"])
def test_a_search_returns_as_many_rows_as_there_are_up_to_the_limit(
    client: httpx.Client, mode: str
) -> None:
    client.post(
        "/v1/memories/batch",
        json={
            "items": [
                {"content": f"{fact} {i}", "classify": False} for fact in FACTS for i in range(30)
            ]
        },
    )
    for limit in (1, 10, 60, 149):
        assert len(set(found(client, "violin", limit=limit, mode=mode))) == limit
    assert len(found(client, "violin", limit=1000, mode=mode)) == 150


def test_a_search_by_text_returns_what_shares_a_word(client: httpx.Client) -> None:
    for fact in ("Plays the violin", "Sold a violin", "Has a dog"):
        store(client, fact)
    assert set(found(client, "violins", mode="text")) == {"Plays the violin", "Sold a violin"}
    assert found(client, "zebra", mode="text") == []


def test_scores_are_chances_that_fall_and_min_score_cuts(client: httpx.Client) -> None:
    client.post("/v1/memories/batch", json={"items": [{"content": fact} for fact in FACTS]})
    for mode in ("hybrid", "vector", "text"):
        results = search(client, "violin orchestra", mode=mode)
        scores: list[float] = [result["score"] for result in results]  # type: ignore[misc]
        assert scores == sorted(scores, reverse=True)
        assert 0 < sum(scores[:10]) < 1, "of what competes, one answers or none"
        cut = search(client, "violin orchestra", mode=mode, min_score=scores[0])
        assert [result["score"] for result in cut] == scores[: scores.count(scores[0])]
    assert results[0]["scores"].keys() == {"text"}  # type: ignore[attr-defined]


def test_a_score_does_not_depend_on_the_limit(client: httpx.Client) -> None:
    client.post("/v1/memories/batch", json={"items": [{"content": fact} for fact in FACTS]})
    for mode in ("hybrid", "vector", "text"):
        [only] = search(client, "violin orchestra", mode=mode, limit=1)
        assert only["score"] == search(client, "violin orchestra", mode=mode)[0]["score"]


def test_what_answers_a_question_scores_high_and_what_does_not_low(client: httpx.Client) -> None:
    for fact in ("My dog is called Max", "I live in Porto", "I play chess on Fridays"):
        store(client, fact)
    answered = search(client, "What is the name of my dog?")[0]
    assert answered["score"] > 0.6  # type: ignore[operator]
    assert search(client, "How much is my rent?")[0]["score"] < 0.3  # type: ignore[operator]
    assert search(client, "How much is my rent?", min_score=0.3) == []


def test_a_focused_search_leaves_out_what_hardly_answers(client: httpx.Client) -> None:
    client.post("/v1/memories/batch", json={"items": [{"content": fact} for fact in FACTS]})
    store(client, "The billing service runs on Postgres")
    question = "Which database does the billing service use?"
    assert len(found(client, question)) == min(10, len(FACTS) + 1)
    assert found(client, question, focus=True) == ["The billing service runs on Postgres"]
    answer = client.get("/v1/search", params={"q": question, "focus": True}).json()
    assert len(answer["results"]) == 1


def test_words_that_many_facts_have_weigh_little(client: httpx.Client) -> None:
    for fact in ("User likes tea", "User has a dog", "User rides a bike", "Lives in Porto"):
        store(client, fact)
    assert found(client, "user Porto", mode="text")[0] == "Lives in Porto"


def test_of_two_that_rank_alike_the_one_known_later_comes_first(client: httpx.Client) -> None:
    one, other = "My desk is in room 204", "My desk is in room 208"
    for number, (first, second) in enumerate(((one, other), (other, one))):
        client.headers["X-Agent-Id"] = f"desk-{number}"
        for fact in (first, "Has two cats", second):
            store(client, fact, classify="off")
        assert found(client, "where is my desk?")[:2] == [second, first]


@pytest.mark.parametrize("mode", ["hybrid", "vector"])
def test_what_a_review_proposes_to_end_stands_behind_what_would_take_its_place(
    client: httpx.Client, mode: str
) -> None:
    old = store(client, "I was born in Porto")["memory"]["id"]
    newer = store(client, "I was born in a village near Lisbon, not in Porto")
    assert newer["review_id"]
    nearer = "I was born in Porto"
    found = [result["memory"]["id"] for result in search(client, nearer, mode=mode)]
    assert found == [newer["memory"]["id"], old]
    client.post(f"/v1/reviews/{newer['review_id']}/reject")
    found = [result["memory"]["id"] for result in search(client, nearer, mode=mode)]
    assert found == [old, newer["memory"]["id"]]


def test_what_higher_trust_protects_keeps_its_place(client: httpx.Client) -> None:
    old = store(client, "I live in Porto", trust=90)["memory"]["id"]
    newer = store(client, "I moved to Lisbon", trust=10)
    assert newer["review_id"]
    found = [result["memory"]["id"] for result in search(client, "I live in Porto")]
    assert found == [old, newer["memory"]["id"]]


def test_results_say_why_they_hold(client: httpx.Client) -> None:
    old = send(client, editor("Vim", valid_from="2020-01-01"))["memory"]["id"]
    send(client, editor("Emacs", valid_from="2024-01-01"))
    [result] = search(client, "editor")
    assert result["why"] == f"current: since 2024-01-01 00:00 UTC; replaced {old}"


@pytest.mark.parametrize(
    "query", ["the", "🦊", "' OR 1=1 --", "a & b | !c", ":*", "\\", "x" * 16000]
)
def test_any_text_can_be_searched_for(client: httpx.Client, query: str) -> None:
    store(client, "Has a dog")
    for mode in ("hybrid", "vector"):
        assert found(client, query, mode=mode) == ["Has a dog"]
    assert found(client, query, mode="text") == []


# --- the log -----------------------------------------------------------------------------------------------------------


def test_the_log_keeps_what_came_in_and_what_changed(client: httpx.Client) -> None:
    old = send(client, editor("Vim"))
    new = send(client, editor("Emacs", session_id="s9"))
    send(client, {"content": "uses EMACS as editor"})
    noop, update, add = client.get("/v1/log").json()["items"]
    assert [e["operation"] for e in (noop, update, add)] == ["NOOP", "UPDATE", "ADD"]
    assert noop["incoming"] == {"content": "uses EMACS as editor"}
    assert update["id"] == new["log_id"]
    assert (update["session_id"], update["decided_by"], update["relation"]) == (
        "s9",
        "rule",
        "UPDATE",
    )
    assert update["before_state"][0]["belief"]["valid_until"] is None
    after = {state["id"]: state for state in update["after_state"]}
    assert after[old["memory"]["id"]]["belief"]["superseded_by"] == new["memory"]["id"]
    assert update["request_id"]
    assert update["duration_ms"] > 0


def test_the_log_is_narrowed_and_paged(client: httpx.Client) -> None:
    first = send(client, editor("Vim"))
    second = send(client, editor("Emacs"))
    send(client, {"content": "Has a dog"})
    log = lambda **p: [e["operation"] for e in client.get("/v1/log", params=p).json()["items"]]  # noqa: E731
    assert log(operation="UPDATE") == ["UPDATE"]
    assert log(memory_id=first["memory"]["id"]) == ["UPDATE", "ADD"]
    assert log(since=second["known_at"]) == ["ADD", "UPDATE"]
    assert log(until=second["known_at"]) == ["ADD"]
    page = client.get("/v1/log", params={"limit": 2}).json()
    assert len(page["items"]) == 2
    rest = client.get("/v1/log", params={"limit": 2, "cursor": page["next_cursor"]}).json()
    assert [e["id"] for e in rest["items"]] == [first["log_id"]]
    assert rest["next_cursor"] is None
    problem(client.get("/v1/log/00000000-0000-0000-0000-000000000000"), 404)


def test_memories_are_listed_by_their_ids(client: httpx.Client) -> None:
    old = store(client, "Lives in Porto", key="city")["memory"]["id"]
    new = store(client, "Lives in Lisbon", key="city")["memory"]["id"]
    store(client, "Has a dog")
    asked = {"ids": [old, new, str(uuid4())]}
    items = client.get("/v1/memories", params=asked).json()["items"]
    assert [item["id"] for item in items] == [new]
    every = client.get("/v1/memories", params={**asked, "include_superseded": "1"}).json()["items"]
    assert {item["id"] for item in every} == {old, new}
    many = {"ids": [str(uuid4()) for _ in range(201)]}
    assert client.get("/v1/memories", params=many).status_code == 422


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ({}, ["Lisbon"]),
        ({"include_superseded": "1"}, ["Lisbon", "Porto"]),
        ({"include_superseded": "1", "sort": "strength"}, ["Lisbon", "Porto"]),
        ({"as_of": "2026-01-04"}, ["Porto"]),
        ({"as_of": "2026-01-06", "known_at": "before"}, ["Porto"]),
        ({"include_superseded": "1", "entity": "anna"}, []),
    ],
)
def test_ids_narrow_a_list_together_with_other_filters(
    client: httpx.Client, moved: tuple[str, str], others: dict[str, str], expected: list[str]
) -> None:
    listed = client.get("/v1/memories", params={"include_superseded": "1"}).json()["items"]
    ids = [memory["id"] for memory in listed]
    store(client, "Has a dog")
    if "known_at" in others:
        others = {**others, "known_at": moved[0]}
    items = client.get("/v1/memories", params={"ids": ids, **others}).json()["items"]
    assert sorted(item["value"] for item in items) == expected


def test_a_list_by_ids_has_pages(client: httpx.Client) -> None:
    ids = [store(client, f"Owns {thing}")["memory"]["id"] for thing in ("a dog", "a cat", "a cow")]
    wanted = {"ids": ids[:2], "limit": 1}
    first = client.get("/v1/memories", params=wanted).json()
    rest = client.get("/v1/memories", params={**wanted, "cursor": first["next_cursor"]}).json()
    assert [item["id"] for item in first["items"] + rest["items"]] == [ids[1], ids[0]]
    assert rest["next_cursor"] is None
