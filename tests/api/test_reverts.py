"""Undo: any operation of the log, one or many, without touching what was known before."""

from random import Random
from typing import Any
from uuid import uuid4

import httpx
import pytest

from support.builders import contents, editor, list_ended, problem, send, store


def revert(client: httpx.Client, log_id: str, **how: Any) -> dict[str, Any]:
    response = client.post(f"/v1/log/{log_id}/revert", json=how)
    assert response.is_success, response.text
    answer: dict[str, Any] = response.json()
    return answer


def picture(client: httpx.Client, known_at: str | None = None) -> list[tuple[Any, ...]]:
    """What holds or held, on valid time: every version with its interval and claims, withdrawn ones left out."""
    params = {"include_superseded": True, "limit": 1000} | (
        {"known_at": known_at} if known_at else {}
    )
    items = client.get("/v1/memories", params=params).json()["items"]
    names = (
        "content",
        "valid_from",
        "valid_until",
        "said_until",
        "retracted_at",
        "superseded_by",
        "tier",
        "importance",
        "tags",
    )
    return sorted([tuple(str(m[n]) for n in names) for m in items if m["status"] != "reverted"])


def test_an_add_is_undone_by_withdrawing_it(client: httpx.Client) -> None:
    stored = store(client, "Has a dog")
    answer = revert(client, stored["log_id"])
    assert (answer["operation"], answer["memory"]["status"], list_ended(answer)) == (
        "REVERT",
        "reverted",
        [stored["memory"]["id"]],
    )
    assert answer["reverted"] == [stored["log_id"]]
    assert contents(client) == set()
    assert (
        client.get("/v1/memories", params={"known_at": stored["known_at"]}).json()["items"][0][
            "content"
        ]
        == "Has a dog"
    )


def test_an_update_is_undone_and_what_it_ended_holds_again(client: httpx.Client) -> None:
    first = send(client, editor("Vim", tier="core"))
    before = picture(client)
    second = send(client, editor("Emacs"))
    answer = revert(client, second["log_id"])
    assert answer["memory"]["id"] == first["memory"]["id"]
    assert answer["memory"]["status"] == "current"
    assert picture(client) == before
    assert picture(client, second["known_at"]) != before


def test_a_revert_can_be_undone_too(client: httpx.Client) -> None:
    send(client, editor("Vim"))
    second = send(client, editor("Emacs"))
    after = picture(client)
    undone = revert(client, second["log_id"])
    again = revert(client, undone["log_id"])
    assert picture(client) == after
    assert again["memory"]["id"] in {
        m["id"]
        for m in client.get("/v1/memories", params={"include_superseded": True}).json()["items"]
    }
    assert revert(client, second["log_id"])["operation"] == "REVERT"


def test_a_review_goes_with_the_store_that_left_it_and_comes_back_with_it(
    client: httpx.Client,
) -> None:
    send(client, editor("Vim", trust=90))
    stored = send(client, editor("Emacs", trust=10))
    path = f"/v1/reviews/{stored['review_id']}"
    undone = revert(client, stored["log_id"])
    gone = client.get(path).json()
    assert (gone["status"], gone["decided_at"], gone["decision_log_id"]) == (
        "overtaken",
        undone["known_at"],
        undone["log_id"],
    )
    again = revert(client, undone["log_id"])
    waits = client.get(path).json()
    assert (waits["status"], waits["decided_at"], waits["decision_log_id"]) == (
        "pending",
        None,
        None,
    )
    revert(client, revert(client, again["log_id"])["log_id"])
    assert client.get(path).json()["status"] == "pending"
    client.post(f"{path}/accept")  # the fact was withdrawn and stands again: that is shown first
    assert client.post(f"{path}/accept").json()["operation"] == "SUPERSEDE"
    assert contents(client) == {"Uses Emacs as editor"}


def test_a_review_about_what_was_erased_does_not_wait_again(client: httpx.Client) -> None:
    old = send(client, editor("Vim", trust=90))["memory"]
    stored = send(client, editor("Emacs", trust=10))
    undone = revert(client, stored["log_id"])
    assert client.delete(f"/v1/memories/{old['id']}", params={"erase": True}).is_success
    revert(client, undone["log_id"])
    assert client.get(f"/v1/reviews/{stored['review_id']}").json()["status"] == "overtaken"


@pytest.mark.parametrize("times", [2, 3, 4, 5])
def test_undoing_the_undoing_goes_on_as_long_as_one_likes(client: httpx.Client, times: int) -> None:
    """What stands and what is undone alternate down the whole line, and so does the count of a duplicate."""
    memory = store(client, "Has a dog")["memory"]["id"]
    line = [store(client, "Has a dog")["log_id"]]
    for _ in range(times):
        line.append(revert(client, line[-1])["log_id"])
    undone = [client.get(f"/v1/log/{log_id}").json()["reverted_by"] for log_id in line]
    assert undone[::-1] == [
        None if place % 2 == 0 else line[::-1][place - 1] for place in range(times + 1)
    ]
    assert client.get(f"/v1/memories/{memory}").json()["access_count"] == (times + 1) % 2


def test_what_was_undone_otherwise_meanwhile_is_not_undone_once_more(client: httpx.Client) -> None:
    store(client, "Has a dog")
    known = store(client, "Has a dog")["log_id"]
    restored = revert(client, revert(client, known)["log_id"])["log_id"]
    again = revert(client, known)["log_id"]
    refused = problem(client.post(f"/v1/log/{restored}/revert"), 409)
    assert (known in refused["detail"], refused["log_ids"]) == (True, [again])


def undo_in_turn(client: httpx.Client, first: str, picks: str) -> list[str]:
    """Undo an operation by its place in the line of all done so far, as often as there are picks."""
    line = [first]
    for pick in picks:
        line.append(revert(client, line[int(pick)])["log_id"])
    return line


def test_a_refusal_names_the_later_revert_and_not_the_one_that_stands_again_by_it(
    client: httpx.Client,
) -> None:
    """The first revert stands again by the last: it undid what undid the first."""
    line = undo_in_turn(client, store(client, "Has a dog")["log_id"], "01032")
    refused = problem(client.post(f"/v1/log/{line[4]}/revert"), 409)
    assert refused["log_ids"] == [line[5]]
    revert(client, line[5])
    assert contents(client) == {"Has a dog"}
    revert(client, line[4])
    assert contents(client) == set()
    assert client.get(f"/v1/log/{line[0]}").json()["reverted_by"] == line[3]


def test_a_span_is_undone_in_which_an_earlier_revert_stands_again(client: httpx.Client) -> None:
    line = undo_in_turn(client, store(client, "Has a dog")["log_id"], "01032")
    since = client.get(f"/v1/log/{line[4]}").json()["created_at"]
    undone = client.post("/v1/reverts", json={"since": since}).json()
    assert undone["reverted"] == [line[5], line[4]]
    assert contents(client) == set()


def test_a_duplicate_is_not_taken_back_twice_down_a_long_line(client: httpx.Client) -> None:
    memory = store(client, "Has a dog")["memory"]["id"]
    line = undo_in_turn(client, store(client, "Has a dog")["log_id"], "01230")
    refused = problem(client.post(f"/v1/log/{line[4]}/revert"), 409)
    assert (line[0] in refused["detail"], refused["log_ids"]) == (True, [line[5]])
    assert client.get(f"/v1/memories/{memory}").json()["access_count"] == 0
    revert(client, line[5])
    revert(client, line[4])
    assert client.get(f"/v1/memories/{memory}").json()["access_count"] == 0


def test_a_refusal_leaves_out_what_was_undone_and_done_again_meanwhile(
    client: httpx.Client,
) -> None:
    """What the added fact went through since cancels out but for the last of it."""
    stored = store(client, "Has a dog")
    ended = client.post(f"/v1/memories/{stored['memory']['id']}/retract").json()
    undone = revert(client, ended["log_id"])["log_id"]
    line = undo_in_turn(client, stored["log_id"], "01032")
    refused = problem(client.post(f"/v1/log/{undone}/revert"), 409)
    assert refused["log_ids"] == [line[5]]
    revert(client, line[5])
    revert(client, undone)
    assert contents(client) == set()


@pytest.mark.parametrize("seed", range(5))
def test_what_a_refusal_lists_is_later_and_stands_and_once_undone_lets_the_call_through(
    client: httpx.Client,
    seed: int,
) -> None:
    draw = Random(seed)
    memory = store(client, "Has a dog")["memory"]["id"]
    path = f"/v1/memories/{memory}"
    for step in range(16):
        log = client.get("/v1/log", params={"limit": 1000}).json()["items"]
        match draw.choice(["say", "end", "weigh", *["undo"] * 5]):
            case "say":
                store(client, "Has a dog")
            case "end":
                client.patch(path, json={"valid_until": f"2999-01-{step + 1:02}"})
            case "weigh":
                client.patch(path, json={"importance": step / 100})
            case _:
                chosen = draw.choice([entry for entry in log if not entry["reverted_by"]])
                undo_first(client, chosen["id"])


CIRCLE = 30


def undo_first(client: httpx.Client, log_id: str) -> None:
    """Undo a standing operation after whatever its refusals list."""
    for _ in range(CIRCLE):
        response = client.post(f"/v1/log/{log_id}/revert")
        if response.status_code == 200:
            return
        log = {e["id"]: e for e in client.get("/v1/log", params={"limit": 1000}).json()["items"]}
        listed = [log[other] for other in problem(response, 409)["log_ids"]]
        assert listed
        assert all(entry["created_at"] > log[log_id]["created_at"] for entry in listed)
        assert not any(entry["reverted_by"] for entry in listed)
        undo_first(client, listed[0]["id"])
    pytest.fail("the refusals lead round in a circle")


def test_a_retraction_is_undone_and_its_text_stored_where_asked(client: httpx.Client) -> None:
    store(client, "I play tennis")
    before = picture(client)
    ended = store(client, "I no longer play tennis")
    assert ended["operation"] == "DELETE"
    answer = revert(client, ended["log_id"], store=True)
    assert contents(client) == {"I play tennis", "I no longer play tennis"}
    assert answer["memory"]["content"] == "I no longer play tennis"
    assert answer["memory"]["id"] == ended["memory"]["id"]
    revert(client, answer["log_id"])
    assert contents(client) == {"I no longer play tennis"}
    revert(client, client.get("/v1/log").json()["items"][0]["id"], cascade=True)
    assert before != []


def test_a_duplicate_is_undone_and_its_text_stored_where_asked(client: httpx.Client) -> None:
    memory = store(client, "Has a dog")["memory"]
    known = store(client, "Has a dog")
    assert client.get(f"/v1/memories/{memory['id']}").json()["access_count"] == 1
    answer = revert(client, known["log_id"], store=True)
    assert client.get(f"/v1/memories/{memory['id']}").json()["access_count"] == 0
    assert answer["memory"]["id"] != memory["id"]
    assert len(client.get("/v1/memories").json()["items"]) == 2


def test_storing_too_is_for_what_said_something_and_stored_nothing(client: httpx.Client) -> None:
    stored = store(client, "Has a dog")
    problem(client.post(f"/v1/log/{stored['log_id']}/revert", json={"store": True}), 422)


def test_a_correction_is_undone_with_its_metadata(client: httpx.Client) -> None:
    memory = store(client, "Has a dog", importance=0.2, tags=["pets"], valid_from="2020-01-01")[
        "memory"
    ]
    before = picture(client)
    path = f"/v1/memories/{memory['id']}"
    amended = [
        client.patch(path, json=body).json()
        for body in (
            {"importance": 0.9, "tags": ["x"]},
            {"valid_from": "2021-01-01", "valid_until": "2022-01-01", "importance": 0.7},
        )
    ]
    assert picture(client) != before
    for answer in reversed(amended):
        revert(client, answer["log_id"])
    assert picture(client) == before


def test_a_correction_and_what_came_before_it_are_undone_together(client: httpx.Client) -> None:
    stored = store(client, "Has a dog", importance=0.2)
    path = f"/v1/memories/{stored['memory']['id']}"
    client.post(f"{path}/retract", json={})
    client.patch(path, json={"importance": 0.9})
    undone = client.post("/v1/reverts", json={"since": stored["known_at"]}).json()
    assert len(undone["reverted"]) == 3
    final = client.get(path).json()
    assert (final["importance"], final["status"], final["etag"]) == (0.2, "reverted", '"6"')


def test_a_correction_that_was_accepted_is_undone_on_the_memory_it_corrected(
    client: httpx.Client,
) -> None:
    memory = store(client, "Has a dog", lifespan="session", session_id="monday")["memory"]["id"]
    client.patch(f"/v1/agents/{client.headers['X-Agent-Id']}", json={"mode": "shadow"})
    beside = store(client, "Has a dog", lifespan="session", session_id="tuesday")
    accepted = client.post(f"/v1/reviews/{beside['review_id']}/accept").json()

    def session(memory_id: str) -> str:
        return str(client.get(f"/v1/memories/{memory_id}").json()["session_id"])

    assert (accepted["operation"], session(memory)) == ("AMEND", "tuesday")
    undone = revert(client, accepted["log_id"])
    assert (session(memory), session(beside["memory"]["id"])) == ("monday", "tuesday")
    assert undone["memory"]["id"] == memory
    revert(client, undone["log_id"])
    assert (session(memory), session(beside["memory"]["id"])) == ("tuesday", "tuesday")


def test_explicit_verbs_are_undone(client: httpx.Client) -> None:
    one, other = store(client, "Has a dog")["memory"], store(client, "Collects stamps")["memory"]
    before = picture(client)
    for path, body in (
        ("supersede", {"by": other["id"]}),
        ("supersede", {"content": "Has a cat"}),
        ("retract", {}),
        ("retract", {"never_true": True}),
    ):
        answer = client.post(f"/v1/memories/{one['id']}/{path}", json=body).json()
        assert picture(client) != before
        revert(client, answer["log_id"])
        assert picture(client) == before


def test_what_later_operations_built_on_is_undone_only_with_them(client: httpx.Client) -> None:
    first = send(client, editor("Vim"))
    second = send(client, editor("Emacs"))
    third = send(client, editor("Helix"))
    refused = problem(client.post(f"/v1/log/{first['log_id']}/revert"), 409)
    assert refused["log_ids"] == [third["log_id"], second["log_id"]]
    answer = revert(client, first["log_id"], cascade=True)
    assert answer["reverted"] == [third["log_id"], second["log_id"], first["log_id"]]
    assert contents(client) == set()


def test_undoing_twice_names_the_first_time(client: httpx.Client) -> None:
    stored = store(client, "Has a dog")
    undone = revert(client, stored["log_id"])
    refused = problem(client.post(f"/v1/log/{stored['log_id']}/revert"), 409)
    assert refused["log_ids"] == [undone["log_id"]]
    assert client.get(f"/v1/log/{stored['log_id']}").json()["reverted_by"] == undone["log_id"]
    assert client.get(f"/v1/log/{undone['log_id']}").json()["reverts"] == stored["log_id"]


def test_nothing_is_undone_across_an_erase(client: httpx.Client) -> None:
    stored = store(client, "Has a dog")
    erased = client.delete(f"/v1/memories/{stored['memory']['id']}", params={"erase": True}).json()
    assert client.post(f"/v1/log/{stored['log_id']}/revert").status_code == 410
    assert client.post(f"/v1/log/{erased['log_id']}/revert").status_code == 410


def test_an_unknown_or_foreign_operation_cannot_be_undone(client: httpx.Client) -> None:
    stored = store(client, "Has a dog")
    problem(client.post(f"/v1/log/{uuid4()}/revert"), 404)
    foreign = client.post(
        f"/v1/log/{stored['log_id']}/revert", headers={"X-Agent-Id": f"other-{uuid4().hex}"}
    )
    problem(foreign, 404)
    assert contents(client) == {"Has a dog"}


def test_a_batch_is_undone_at_once_and_shown_before(client: httpx.Client) -> None:
    send(client, editor("Vim"))
    before = picture(client)
    items = [editor("Emacs"), {"content": "Has a dog"}, {"content": "Has a dog"}, editor("Helix")]
    batch = client.post("/v1/memories/batch", json={"items": items})
    call = {"request_id": batch.headers["X-Request-Id"]}
    after = picture(client)
    shown = client.post("/v1/reverts", json={**call, "dry_run": True}).json()
    assert (shown["dry_run"], len(shown["reverted"]), {r["log_id"] for r in shown["results"]}) == (
        True,
        4,
        {None},
    )
    assert picture(client) == after
    undone = client.post("/v1/reverts", json=call).json()
    assert undone["reverted"] == [r["log_id"] for r in reversed(batch.json()["results"])]
    assert picture(client) == before
    assert client.post("/v1/reverts", json=call).json()["reverted"] == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"dry_run": True},
        {"request_id": ""},
        {"decided_by": "nobody"},
        {"since": None, "sweep_id": None},
    ],
)
def test_undoing_many_needs_a_criterion(client: httpx.Client, body: dict[str, Any]) -> None:
    assert client.post("/v1/reverts", json=body).status_code == 422


def test_many_are_undone_by_session_source_judge_and_time(client: httpx.Client) -> None:
    kept = store(client, "Has a dog")
    for criterion, fact in (
        ({"session_id": "monday"}, {"session_id": "monday"}),
        ({"source": "notes.md"}, {"source": "notes.md"}),
        (
            {
                "since": kept["known_at"],
                "operation": "ADD",
                "until": "2999-01-01",
                "decided_by": "rule",
            },
            {},
        ),
    ):
        stored = store(client, f"Something about {criterion}", classify=False, **fact)
        assert stored["log_id"] in client.post("/v1/reverts", json=criterion).json()["reverted"]
    assert client.get(f"/v1/memories/{stored['memory']['id']}").json()["status"] == "reverted"


def test_undoing_a_span_of_time_brings_back_what_was_undone_in_it(client: httpx.Client) -> None:
    first, second = send(client, editor("Vim")), send(client, editor("Emacs"))
    undone = revert(client, second["log_id"])
    earlier = picture(client)
    again = revert(client, undone["log_id"])
    before = picture(client)
    third = send(client, editor("Helix"))
    revert(client, first["log_id"], cascade=True)
    store(client, "Has a dog")
    answer = client.post("/v1/reverts", json={"since": third["known_at"]})
    assert third["log_id"] not in answer.json()["reverted"], "it was undone in that time"
    assert picture(client) == before
    client.post("/v1/reverts", json={"request_id": answer.headers["X-Request-Id"]})
    client.post("/v1/reverts", json={"since": again["known_at"]})
    assert picture(client) == earlier
    client.post("/v1/reverts", json={"since": first["known_at"]})
    assert contents(client) == set()


@pytest.mark.parametrize("times", [1, 2, 3, 4])
def test_undoing_many_can_itself_be_undone(client: httpx.Client, times: int) -> None:
    stored = [store(client, text)["log_id"] for text in ("Has a dog", "Has a cat")]
    call: dict[str, Any] = {"operation": "ADD"}
    for time in range(times):
        answer = client.post("/v1/reverts", json=call)
        assert len(answer.json()["reverted"]) == len(stored)
        assert contents(client) == (set() if time % 2 == 0 else {"Has a dog", "Has a cat"})
        call = {"request_id": answer.headers["X-Request-Id"]}
    assert client.post("/v1/reverts", json={"operation": "REVERT"}).is_success
    assert contents(client) == {"Has a dog", "Has a cat"}


def test_a_text_stored_by_a_revert_is_undone_with_the_rest(client: httpx.Client) -> None:
    memory = store(client, "Has a dog")["memory"]
    twice = store(client, "Has a dog")
    revert(client, twice["log_id"], store=True)
    undone = client.post("/v1/reverts", json={"since": memory["created_at"]}).json()["reverted"]
    assert len(undone) == 3
    assert contents(client) == set()
    assert client.get(f"/v1/memories/{memory['id']}").json()["access_count"] == 0


def test_what_people_undid_is_no_decision_of_a_judge(client: httpx.Client) -> None:
    first = send(client, editor("Vim"))
    revert(client, first["log_id"])
    assert client.post("/v1/reverts", json={"decided_by": "caller"}).json()["reverted"] == []


def test_named_operations_are_undone_together(client: httpx.Client) -> None:
    stored = [store(client, f"Owns item {number}", classify=False) for number in range(3)]
    named = {"log_ids": [stored[0]["log_id"], stored[2]["log_id"]]}
    dry = client.post("/v1/reverts", json={**named, "dry_run": True}).json()
    contents = {memory["content"] for memory in client.get("/v1/memories").json()["items"]}
    assert contents == {"Owns item 0", "Owns item 1", "Owns item 2"}
    done = client.post("/v1/reverts", json=named).json()
    assert done["reverted"] == dry["reverted"] == [stored[2]["log_id"], stored[0]["log_id"]]
    contents = {memory["content"] for memory in client.get("/v1/memories").json()["items"]}
    assert contents == {"Owns item 1"}
    assert client.post("/v1/reverts", json=named).json()["reverted"] == []


def test_an_operation_that_nobody_knows_undoes_none(client: httpx.Client) -> None:
    stored = store(client, "Has a dog")
    named = {"log_ids": [stored["log_id"], str(uuid4())]}
    problem(client.post("/v1/reverts", json=named), 404)
    assert client.get(f"/v1/memories/{stored['memory']['id']}").json()["status"] == "current"


def test_named_operations_name_what_was_built_on_them(client: httpx.Client) -> None:
    first, second = send(client, editor("Vim")), send(client, editor("Emacs"))
    refused = client.post("/v1/reverts", json={"log_ids": [first["log_id"]]})
    assert problem(refused, 409)["log_ids"] == [second["log_id"]]
    done = client.post("/v1/reverts", json={"log_ids": [first["log_id"]], "cascade": True}).json()
    assert done["reverted"] == [second["log_id"], first["log_id"]]
