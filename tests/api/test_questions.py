"""Questions that name several memories: each is chosen on its own, and what is settled closes."""

from collections.abc import Iterator, Sequence
from typing import Any

import httpx
import psycopg
import pytest

from support.builders import contents, decide, list_ended, problem, remembered, store
from support.questions import CARS, MOVED, ask, open_agent, open_unsure, read_review


@pytest.fixture(scope="module")
def unsure(server_url: str, template_url: str) -> Iterator[tuple[str, str]]:
    with open_unsure(server_url, template_url) as service:
        yield service


@pytest.fixture
def asking(unsure: tuple[str, str]) -> Iterator[httpx.Client]:
    with open_agent(unsure[1]) as client:
        yield client


def accept(client: httpx.Client, review_id: str, memories: Sequence[str] | None) -> httpx.Response:
    body = {} if memories is None else {"memories": list(memories)}
    return client.post(f"/v1/reviews/{review_id}/accept", json=body)


def name_candidates(review: dict[str, Any]) -> dict[str, str]:
    return {each["content"]: each["letter"] for each in review["candidates"]}


# --- choosing ------------------------------------------------------------------------------------


def test_a_question_shows_the_texts_of_all_that_it_may_concern(asking: httpx.Client) -> None:
    ids, found = ask(asking, *CARS)
    assert (found["source"], found["content"]) == ("low_confidence", MOVED)
    assert {each["memory_id"] for each in found["candidates"]} == set(ids)
    letters = name_candidates(found)
    assert sorted(letters.values()) == ["a", "b", "c"]
    assert found["sentence"].startswith(f"Which of these does “{MOVED}” end: (a) “")
    for text, letter in letters.items():
        assert f"({letter}) “{text}”" in found["sentence"]
    [listed] = asking.get("/v1/reviews", params={"view": "brief"}).json()["items"]
    assert listed["sentence"] == found["sentence"]
    assert not any(memory_id in found["sentence"] for memory_id in ids)


def test_accepting_a_choice_needs_to_say_which(asking: httpx.Client) -> None:
    ids, found = ask(asking, *CARS[:2])
    refused = problem(accept(asking, found["id"], None), 422)
    assert refused["type"] == "urn:palimpsest:problem:choice-needed"
    assert {c["id"]: c["content"] for c in refused["candidates"]} == dict(
        zip(ids, CARS, strict=False)
    )
    assert "memories" in refused["detail"]
    assert read_review(asking, found["id"])["status"] == "pending"


@pytest.mark.parametrize("places", [(0,), (1, 2), (0, 1, 2)])
def test_only_what_is_chosen_ends(asking: httpx.Client, places: tuple[int, ...]) -> None:
    ids, found = ask(asking, *CARS)
    response = accept(asking, found["id"], [ids[place] for place in places])
    assert response.is_success, response.text
    assert set(list_ended(response.json())) == {ids[place] for place in places}
    spared = {text for place, text in enumerate(CARS) if place not in places}
    assert contents(asking) == spared | {MOVED}


def test_none_of_these_ends_nothing(asking: httpx.Client) -> None:
    _, found = ask(asking, *CARS)
    assert decide(asking, found["id"], "reject")["operation"] == "NOOP"
    assert contents(asking) == {*CARS, MOVED}


def test_the_same_choice_again_is_the_same_as_once_and_another_is_refused(
    asking: httpx.Client,
) -> None:
    ids, found = ask(asking, *CARS)
    first, again = (accept(asking, found["id"], [ids[0], ids[2]]).json() for _ in range(2))
    assert (again["log_id"], list_ended(again)) == (first["log_id"], list_ended(first))
    assert accept(asking, found["id"], [ids[2], ids[0]]).json()["log_id"] == first["log_id"]
    for other in ([ids[0]], [ids[1]], ids):
        refused = problem(accept(asking, found["id"], other), 409)
        assert refused["type"] == "urn:palimpsest:problem:already-decided"
    problem(asking.post(f"/v1/reviews/{found['id']}/reject"), 409)


def test_what_a_question_does_not_name_cannot_be_chosen(asking: httpx.Client) -> None:
    ids, found = ask(asking, *CARS[:2])
    [foreign] = remembered(asking, "Has a dog")
    for chosen in ([foreign], [ids[0], foreign], [found["memory_id"]]):
        refused = problem(accept(asking, found["id"], chosen), 422)
        assert refused["type"] == "urn:palimpsest:problem:no-candidate"
    assert accept(asking, found["id"], []).status_code == 422


def test_many_decisions_at_once_take_a_choice_each(asking: httpx.Client) -> None:
    ids, found = ask(asking, *CARS[:2])
    call = {"decision": "accept", "ids": [found["id"]]}
    [without] = asking.post("/v1/reviews/decide", json=call).json()["results"]
    assert without["result"]["status"] == 422
    assert len(without["result"]["candidates"]) == 2
    chosen = call | {"memories": {found["id"]: [ids[1]]}}
    [decided] = asking.post("/v1/reviews/decide", json=chosen).json()["results"]
    assert list_ended(decided["result"]) == [ids[1]]


def test_a_choice_is_undone_and_made_again_in_another_way(asking: httpx.Client) -> None:
    ids, found = ask(asking, *CARS[:2])
    accepted = accept(asking, found["id"], [ids[0]]).json()
    assert asking.post(f"/v1/log/{accepted['log_id']}/revert").is_success
    assert read_review(asking, found["id"])["status"] == "pending"
    assert list_ended(accept(asking, found["id"], [ids[1]]).json()) == [ids[1]]


# --- what another decision has settled ------------------------------------------------------------


def retract(client: httpx.Client, memory_id: str, **said: Any) -> dict[str, Any]:
    response = client.post(f"/v1/memories/{memory_id}/retract", json=said)
    assert response.is_success, response.text
    answer: dict[str, Any] = response.json()
    return answer


def erase(client: httpx.Client, memory_id: str) -> None:
    response = client.delete(f"/v1/memories/{memory_id}", params={"erase": True})
    assert response.is_success, response.text


def supersede(client: httpx.Client, memory_id: str) -> None:
    response = client.post(f"/v1/memories/{memory_id}/supersede", json={"content": "It was sold"})
    assert response.is_success, response.text


ENDS = {
    "retract": retract,
    "withdraw": lambda client, memory_id: retract(client, memory_id, never_true=True),
    "erase": erase,
    "supersede": supersede,
}


@pytest.mark.parametrize("end", ENDS)
def test_a_question_whose_candidates_have_all_ended_is_overtaken(
    asking: httpx.Client, end: str
) -> None:
    ids, found = ask(asking, *CARS[:2])
    ENDS[end](asking, ids[0])
    left = read_review(asking, found["id"])
    assert left["status"] == "pending"
    assert name_candidates(left) == {CARS[1]: name_candidates(found)[CARS[1]]}
    assert CARS[0] not in str(left["sentence"])
    ENDS[end](asking, ids[1])
    assert read_review(asking, found["id"])["status"] == "overtaken"
    assert asking.get("/v1/reviews", params={"status": "pending"}).json()["items"] == []


@pytest.mark.parametrize("end", ["withdraw", "retract", "erase"])
def test_a_question_whose_fact_was_taken_back_is_overtaken(asking: httpx.Client, end: str) -> None:
    _, found = ask(asking, *CARS[:2])
    ENDS[end](asking, found["memory_id"])
    assert read_review(asking, found["id"])["status"] == "overtaken"


def test_a_fact_that_was_replaced_may_still_have_ended_something(asking: httpx.Client) -> None:
    ids, found = ask(asking, *CARS[:2])
    supersede(asking, found["memory_id"])
    assert read_review(asking, found["id"])["status"] == "pending"
    moved = problem(accept(asking, found["id"], [ids[0]]), 409)
    assert moved["type"] == "urn:palimpsest:problem:moved"
    assert list_ended(accept(asking, found["id"], [ids[0]]).json()) == [ids[0]]


def test_a_fact_with_a_stated_start_may_have_ended_it_earlier(asking: httpx.Client) -> None:
    begun = {"valid_from": "2026-01-01", "classify": "off"}
    car = store(asking, CARS[0], **begun)["memory"]["id"]
    asked = store(asking, MOVED, valid_from="2026-02-01", classify="model")
    retract(asking, car, at="2026-03-01")
    assert read_review(asking, asked["review_id"])["status"] == "pending"
    problem(accept(asking, asked["review_id"], [car]), 409)
    assert accept(asking, asked["review_id"], [car]).is_success
    until = asking.get(f"/v1/memories/{car}").json()["valid_until"]
    assert until == "2026-02-01T00:00:00.000000Z"


def test_an_accepted_question_overtakes_the_others_until_it_is_undone(asking: httpx.Client) -> None:
    [car], first = ask(asking, CARS[0])
    second_text = "The car is parked at Hill Street, Station Road"
    second = read_review(asking, store(asking, second_text, classify="model")["review_id"])
    assert {each["memory_id"] for each in second["candidates"]} == {car, first["memory_id"]}
    both = [each["memory_id"] for each in second["candidates"]]
    accepted = accept(asking, second["id"], both).json()
    closed = read_review(asking, first["id"])
    assert closed["status"] == "overtaken"
    entry = asking.get(f"/v1/log/{closed['decision_log_id']}").json()
    assert (entry["operation"], entry["decided_by"]) == ("NOOP", "rule")
    assert entry["reasoning"] == "Another decision has settled what the review asks."
    assert asking.post(f"/v1/log/{accepted['log_id']}/revert").is_success
    assert {read_review(asking, each["id"])["status"] for each in (first, second)} == {"pending"}
    assert asking.get("/v1/doctor").json()["problems"] == []


def test_the_store_of_an_overtaken_question_can_be_undone(asking: httpx.Client) -> None:
    ids = remembered(asking, CARS[0])
    answer = store(asking, MOVED, classify="model")
    retract(asking, ids[0])
    assert read_review(asking, answer["review_id"])["status"] == "overtaken"
    assert asking.post(f"/v1/log/{answer['log_id']}/revert").is_success


# --- what is in question --------------------------------------------------------------------------


def find_in_question(client: httpx.Client, **params: Any) -> dict[str, list[str]]:
    """Return the reviews by the texts that a search shows in question."""
    found = client.get("/v1/search", params={"q": "the car", **params}).json()["results"]
    asked = {
        result.get("memory", result)["content"]: result.get("in_question", []) for result in found
    }
    return {content: reviews for content, reviews in asked.items() if reviews}


def read_marked_lines(client: httpx.Client, **params: Any) -> str:
    text: str = client.get("/v1/context", params=params).json()["text"]
    return "".join(line for line in text.splitlines() if "(in question" in line)


def test_searches_and_contexts_mark_what_is_in_question(asking: httpx.Client) -> None:
    ids, found = ask(asking, *CARS[:2])
    remembered(asking, "The car needs oil")
    known_at = asking.get("/v1/log").json()["items"][0]["created_at"]
    asked = {text: [found["id"]] for text in (*CARS[:2], MOVED)}
    assert find_in_question(asking) == find_in_question(asking, view="brief") == asked
    for params in ({}, {"query": "where is the car?"}):
        marked = read_marked_lines(asking, **params)
        assert all(text in marked for text in asked)
        assert "oil" not in marked
    assert find_in_question(asking, known_at=known_at) == {}
    assert read_marked_lines(asking, known_at=known_at) == ""
    assert accept(asking, found["id"], [ids[0]]).is_success
    assert find_in_question(asking) == {}
    assert read_marked_lines(asking) == ""


# --- erased texts ---------------------------------------------------------------------------------


def test_erased_texts_leave_the_questions(asking: httpx.Client, unsure: tuple[str, str]) -> None:
    secret = "The car stands in Zanzibar Road"
    ids, found = ask(asking, CARS[0], secret)
    erase(asking, ids[1])
    for shown in (read_review(asking, found["id"]), asking.get("/v1/reviews").json()):
        assert "Zanzibar" not in str(shown)
    agent = asking.headers["X-Agent-Id"]
    with psycopg.connect(unsure[0]) as connection:
        [kept] = connection.execute(
            "SELECT count(*) FROM reviews WHERE agent_id = %s AND reviews::text LIKE %s",
            (agent, "%Zanzibar%"),
        ).fetchall()
    assert kept == (0,)
    assert list_ended(accept(asking, found["id"], [ids[0]]).json()) == [ids[0]]
