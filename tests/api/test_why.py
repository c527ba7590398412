"""GET /v1/memories/{id}/why: the story of a memory over histories of every kind."""

import json
import random
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from app.settings import load_settings
from support.ages import move_back
from support.builders import editor, problem, send, store
from support.random_history import random_writes
from support.scripted_model import ScriptedModel, every
from support.service import running

Client = httpx.Client
OPERATIONS = {"ADD", "UPDATE", "DELETE", "MERGE", "SUPERSEDE", "NOOP", "AMEND", "REVERT", "ERASE"}


def why(client: Client, memory_id: str, **params: Any) -> dict[str, Any]:
    response = client.get(f"/v1/memories/{memory_id}/why", params=params)
    assert response.is_success, response.text
    answer: dict[str, Any] = response.json()
    return answer


def kinds(answer: dict[str, Any]) -> list[str]:
    return [event["kind"] for event in answer["events"]]


def sentences(answer: dict[str, Any]) -> list[str]:
    return [event["sentence"] for event in answer["events"]]


def day(time: str) -> str:
    return f"{time[:10]} {time[11:16]} UTC"


def test_a_fact_alone_says_since_when_it_holds_and_is_known(client: Client) -> None:
    stored = store(client, "Has a dog", valid_from="2020-03-01")
    answer = why(client, stored["memory"]["id"])
    known = day(stored["known_at"])
    assert answer["summary"] == f"Holds since 2020-03-01, known since {known}."
    [event] = answer["events"]
    assert event["sentence"].startswith(
        f"“Has a dog” was stored, true from 2020-03-01, known since {known}. Decided by rule: "
    )
    assert (event["at"], event["valid"]) == (stored["known_at"], "2020-03-01T00:00:00.000000Z")
    assert (event["log_id"], event["memory_ids"]) == (stored["log_id"], [stored["memory"]["id"]])
    assert answer["memory"]["id"] == stored["memory"]["id"]


def test_a_change_is_told_from_both_sides_with_who_decided(client: Client) -> None:
    old = store(client, "I live in Porto", valid_from="2020-01-01")["memory"]["id"]
    new = store(client, "I moved to Lisbon", valid_from="2026-01-05")
    before, after = why(client, old), why(client, new["memory"]["id"])
    assert after["summary"].startswith("Holds since 2026-01-05, known since ")
    assert "; replaced “I live in Porto” on " in after["summary"]
    assert after["summary"].endswith(
        f"decided by signals (changed_attribute, {new['decision']['confidence']:.2f})."
    )
    assert before["summary"].startswith("Held from 2020-01-01 to 2026-01-05, known since ")
    assert "; replaced by “I moved to Lisbon” on " in before["summary"]
    assert before["events"] == after["events"]
    event = after["events"][-1]
    assert event["sentence"].startswith(
        "“I moved to Lisbon” replaced “I live in Porto”, true from 2026-01-05"
    )
    assert event["sentence"].count(new["decision"]["reasoning"].rstrip(".")) == 1
    assert (event["kind"], event["relation"], event["decided_by"]) == (
        "UPDATE",
        new["decision"]["relation"],
        "signals",
    )
    assert event["signals"] == new["decision"]["signals"]
    assert event["valid"].startswith("2026-01-05")


def test_what_was_known_later_is_not_told_earlier(client: Client) -> None:
    first = send(client, editor("Vim", valid_from="2020-01-01"))
    second = send(client, editor("Emacs", valid_from="2024-01-01"))
    late = send(client, editor("Nano", valid_from="2022-01-01"))
    memory_id = first["memory"]["id"]
    assert sentences(why(client, memory_id))[-1].startswith(
        f"“Uses Nano as editor” was stored, true from 2022-01-01, known since {day(late['known_at'])};"
        " “Uses Vim as editor” ends at 2022-01-01 instead of 2024-01-01."
    )
    assert why(client, memory_id)["summary"].startswith("Held from 2020-01-01 to 2022-01-01")
    then = why(client, memory_id, known_at=second["known_at"])
    assert kinds(then) == ["ADD", "UPDATE"]
    assert then["summary"].startswith("Held from 2020-01-01 to 2024-01-01")
    assert "Nano" not in json.dumps(then)
    assert why(client, memory_id, known_at=first["known_at"])["summary"].startswith(
        "Holds since 2020-01-01, "
    )
    assert why(client, memory_id, as_of="2021-06-01")["summary"].startswith(
        "Holds since 2020-01-01 until 2022-01-01"
    )
    problem(
        client.get(
            f"/v1/memories/{late['memory']['id']}/why", params={"known_at": second["known_at"]}
        ),
        404,
    )


def test_repetitions_corrections_and_retractions_are_told(client: Client) -> None:
    stored = store(client, "I play tennis", importance=0.2, valid_from="2020-01-01")
    path = f"/v1/memories/{stored['memory']['id']}"
    store(client, "I play tennis")
    store(client, "I play tennis!")
    client.patch(path, json={"importance": 0.9, "tags": ["sport"], "valid_from": "2021-01-01"})
    client.post(f"{path}/retract", json={"at": "2025-01-01", "reason": "Said so"})
    answer = why(client, stored["memory"]["id"])
    assert kinds(answer) == ["ADD", "NOOP", "NOOP", "AMEND", "DELETE"]
    told = sentences(answer)
    assert told[1].startswith("“I play tennis” was said again.")
    assert told[2].startswith("“I play tennis!” was said, which “I play tennis” says already.")
    assert "importance 0.9 instead of 0.2" in told[3]
    assert "tags sport instead of nothing" in told[3]
    assert "is true from 2021-01-01 instead of 2020-01-01" in told[3]
    assert told[4] == "“I play tennis” ends at 2025-01-01. Decided by the caller: Said so."
    assert answer["events"][4]["valid"].startswith("2025-01-01")
    assert answer["summary"].startswith("Held from 2021-01-01 to 2025-01-01, known since ")
    assert "; retracted on " in answer["summary"]


def test_a_retraction_in_plain_words_is_quoted(client: Client) -> None:
    stored = store(client, "I play tennis")
    ended = store(client, "I no longer play tennis")
    [_, event] = why(client, stored["memory"]["id"])["events"]
    assert event["sentence"].startswith(
        "“I no longer play tennis” was said; “I play tennis” ends at "
    )
    assert event["log_id"] == ended["log_id"]


def test_a_revert_says_what_it_undid_and_what_stands_again(client: Client) -> None:
    vim, emacs = send(client, editor("Vim")), send(client, editor("Emacs"))
    client.post(f"/v1/log/{emacs['log_id']}/revert").raise_for_status()
    answer = why(client, vim["memory"]["id"])
    assert kinds(answer) == ["ADD", "UPDATE", "REVERT"]
    assert sentences(answer)[2].startswith(f"The UPDATE of {day(emacs['known_at'])} was undone; ")
    assert "“Uses Vim as editor” holds on without an end" in sentences(answer)[2]
    assert "“Uses Emacs as editor” was withdrawn" in sentences(answer)[2]
    assert answer["summary"].startswith("Holds since ")
    assert why(client, emacs["memory"]["id"])["summary"].startswith("Was withdrawn on ")


def test_explicit_verbs_are_told_across_chains(client: Client) -> None:
    dog, stamps = (
        store(client, "Has a dog")["memory"]["id"],
        store(client, "Collects stamps")["memory"]["id"],
    )
    client.post(f"/v1/memories/{dog}/supersede", json={"by": stamps}).raise_for_status()
    for memory_id in (dog, stamps):
        assert sentences(why(client, memory_id))[-1].startswith(
            "“Collects stamps” was declared the successor of “Has a dog”; "
        )
    assert "; replaced by “Collects stamps” on " in why(client, dog)["summary"]
    coins = client.post(
        f"/v1/memories/{stamps}/supersede", json={"content": "Collects coins"}
    ).json()["memory"]["id"]
    client.post(f"/v1/memories/{coins}/retract", json={"never_true": True}).raise_for_status()
    answer = why(client, coins)
    assert sentences(answer)[-1].startswith(
        "“Collects coins” was withdrawn; “Collects stamps” holds on without an end."
    )
    assert answer["summary"].startswith("Was withdrawn on ")


def test_what_a_fact_was_kept_apart_from_is_told_on_both_sides(client: Client) -> None:
    old = store(client, "Node 20 is pinned")
    new = store(client, "Node 22 is pinned")
    store(client, "The Falcon app has a dark mode")
    for memory_id in (old["memory"]["id"], new["memory"]["id"]):
        answer = why(client, memory_id)
        assert kinds(answer) == ["ADD", "KEPT_APART"], "what has nothing in common is not told"
        [event] = [event for event in answer["events"] if event["kind"] == "KEPT_APART"]
        veto = new["candidates"][0]["vetoes"][0]
        assert (
            event["sentence"]
            == f"“Node 22 is pinned” was kept apart from “Node 20 is pinned” ({veto})."
        )
        assert (event["log_id"], event["at"]) == (new["log_id"], new["known_at"])
        assert set(event["memory_ids"]) == {old["memory"]["id"], new["memory"]["id"]}
    [judged] = client.get(f"/v1/log/{new['log_id']}").json()["opinions"]
    assert (judged["memory_id"], judged["vetoes"]) == (old["memory"]["id"], [veto])
    assert kinds(why(client, old["memory"]["id"], known_at=old["known_at"])) == ["ADD"]


# --- with a database of its own ----------------------------------------------------------------------------------------


@pytest.fixture
def own(database_url: str) -> Iterator[tuple[Client, str]]:
    with (
        running(load_settings(database_url=database_url)) as address,
        Client(base_url=address, timeout=60) as client,
    ):
        yield client, database_url


def decide(client: Client, review_id: str, decision: str) -> dict[str, Any]:
    response = client.post(f"/v1/reviews/{review_id}/{decision}", json={"note": "Asked her"})
    assert response.is_success, response.text
    answer: dict[str, Any] = response.json()
    return answer


def test_a_review_is_told_as_it_stood(own: tuple[Client, str]) -> None:
    client, _ = own
    porto = store(client, "I was born in Porto")
    lisbon = store(client, "I was born in Lisbon")
    waiting = " A review about it waits for a person."
    for memory_id in (porto["memory"]["id"], lisbon["memory"]["id"]):
        answer = why(client, memory_id)
        assert answer["summary"].endswith(waiting)
        [event] = [event for event in answer["events"] if event["kind"] == "PROPOSED"]
        assert event["sentence"].startswith(
            "Whether “I was born in Lisbon” replaces “I was born in Porto” was left to a person"
        )
        assert (event["review_id"], event["log_id"]) == (lisbon["review_id"], lisbon["log_id"])
        assert event["confidence"] is not None
    decided_at = decide(client, lisbon["review_id"], "reject")["known_at"]
    answer = why(client, porto["memory"]["id"])
    assert not answer["summary"].endswith(waiting)
    assert kinds(answer) == ["ADD", "PROPOSED", "DECIDED"]
    assert (
        sentences(answer)[2] == "The review about “I was born in Porto” was rejected (“Asked her”)."
    )
    assert answer["events"][2]["at"] == decided_at
    then = why(client, porto["memory"]["id"], known_at=lisbon["known_at"])
    assert kinds(then) == ["ADD", "PROPOSED"]
    assert then["summary"].endswith(waiting)
    assert "Asked her" not in json.dumps(then)


def test_how_a_review_ended_is_told_with_who_ended_it(own: tuple[Client, str]) -> None:
    client, url = own
    porto = store(client, "I was born in Porto")["memory"]["id"]
    rejected, undone, expired = (
        store(client, f"I was born in {town}") for town in ("Lisbon", "Faro", "Braga")
    )
    client.post(f"/v1/reviews/{rejected['review_id']}/reject").raise_for_status()
    client.post(f"/v1/log/{undone['log_id']}/revert").raise_for_status()
    with psycopg.connect(url) as connection:
        connection.execute(
            f"UPDATE reviews SET {move_back('created_at', '99 days')} WHERE id = %s".encode(),
            [expired["review_id"]],
        )
    client.get("/v1/reviews").raise_for_status()
    decided = {
        event["review_id"]: event["decided_by"]
        for event in why(client, porto)["events"]
        if event["kind"] == "DECIDED"
    }
    assert decided == {
        rejected["review_id"]: "reviewer",
        undone["review_id"]: "caller",
        expired["review_id"]: "rule",
    }


def test_an_accepted_review_is_told_once_with_the_operation_that_decided_it(
    own: tuple[Client, str],
) -> None:
    client, _ = own
    porto = store(client, "I was born in Porto")["memory"]["id"]
    lisbon = store(client, "I was born in Lisbon")
    decide(client, lisbon["review_id"], "accept")
    answer = why(client, porto)
    assert kinds(answer) == ["ADD", "PROPOSED", "SUPERSEDE"]
    assert "Decided by a reviewer: " in sentences(answer)[2]
    assert sentences(answer)[2].endswith("It decided the review: accepted (“Asked her”).")
    assert answer["events"][2]["review_id"] == lisbon["review_id"]
    client.delete(
        f"/v1/memories/{lisbon['memory']['id']}", params={"erase": True}
    ).raise_for_status()
    assert "Asked her" not in json.dumps(why(client, porto)), "a note may quote what was erased"


def test_a_merge_is_told_of_all_three(database_url: str) -> None:
    with (
        ScriptedModel(every("NONE")) as model,
        running(load_settings(database_url=database_url, llm_base_url=model.url)) as address,
        Client(base_url=address, timeout=60) as client,
    ):
        first = store(client, "The Falcon app was written by Anna")["memory"]["id"]
        model.then(every("COMPLEMENT"))
        united = store(client, "The Falcon app has 12000 users")
        whole = united["memory"]["id"]
        second = next(i for i in united["memory"]["merged_from"] if i != first)
        for memory_id in (first, second, whole):
            event = why(client, memory_id)["events"][-1]
            assert (event["kind"], event["decided_by"]) == ("MERGE", "model")
            assert set(event["memory_ids"]) == {first, second, whole}
            assert (
                " became one: “The Falcon app was written by Anna. The Falcon app has 12000 users.”"
                in event["sentence"]
            )
        assert "; unites “" in why(client, whole)["summary"]
        for memory_id in (first, second):
            assert (
                "; became part of “The Falcon app was written by Anna. "
                in why(client, memory_id)["summary"]
            )


def test_what_was_erased_is_told_and_not_quoted(client: Client) -> None:
    porto = store(client, "I live in Porto-Zebra", valid_from="2020-01-01")["memory"]["id"]
    lisbon = store(client, "I moved to Lisbon", valid_from="2024-01-01")["memory"]["id"]
    sister = store(client, "My sister moved to Porto-Zebra")["memory"]["id"]
    erased = client.delete(f"/v1/memories/{porto}", params={"erase": True}).json()
    gone = why(client, porto)
    assert kinds(gone)[-1] == "ERASE"
    assert sentences(gone)[-1] == "Its text was erased."
    assert gone["events"][-1]["log_id"] == erased["log_id"]
    assert (
        gone["summary"]
        == "Its text was erased; its place in time, from 2020-01-01 to 2024-01-01, is kept."
    )
    left = why(client, lisbon)
    assert "; replaced an erased memory on " in left["summary"]
    assert sentences(left)[-1] == "The text of another memory was erased."
    assert "An erased memory was stored, true from 2020-01-01" in sentences(left)[0]
    for memory_id in (porto, lisbon):
        mine = [s for s in sentences(why(client, memory_id)) if "My sister" not in s]
        assert "Zebra" not in json.dumps([*mine, why(client, memory_id)["summary"]])
    assert "I live" not in json.dumps(why(client, sister))


def test_an_unknown_or_foreign_memory_has_no_story(client: Client) -> None:
    stored = store(client, "Has a dog")["memory"]["id"]
    problem(client.get(f"/v1/memories/{uuid4()}/why"), 404)
    problem(
        client.get(f"/v1/memories/{stored}/why", headers={"X-Agent-Id": f"other-{uuid4().hex}"}),
        404,
    )
    problem(client.get(f"/v1/memories/{stored}/why", params={"known_at": "2001-01-01"}), 404)
    problem(client.get(f"/v1/memories/{stored}/why", params={"nonsense": "1"}), 422)


@pytest.mark.slow
def test_the_operations_of_a_story_are_those_of_the_log_on_its_chain_as_known_then(
    own: tuple[Client, str],
) -> None:
    """Over random histories with every kind of write: not one more, not one less, in their order, at any known time."""
    client, url = own
    pick = random.Random(7)
    for seed in range(4):
        client.headers["X-Agent-Id"] = f"agent-{seed}"
        random_writes(client, random.Random(seed), 40)
        undo(client, pick)
        with psycopg.connect(url) as connection:
            chains = connection.execute(
                "SELECT id, chain_id, created_at FROM memories WHERE agent_id = %s",
                [f"agent-{seed}"],
            ).fetchall()
            log = connection.execute(
                "SELECT id, operation, created_at, array_append(source_memory_ids, target_memory_id) FROM consolidation_log"
                " WHERE agent_id = %s ORDER BY created_at",
                [f"agent-{seed}"],
            ).fetchall()
        assert len({row[1] for row in log}) >= 6
        for memory_id, chain_id, created_at in chains:
            known = pick.choice([row[2] for row in log if row[2] >= created_at])
            members = {i for i, chain, since in chains if chain == chain_id and since <= known}
            expected = [
                (str(row[0]), row[1])
                for row in log
                if row[2] <= known and members.intersection(row[3])
            ]
            answer = why(client, str(memory_id), known_at=known.isoformat())
            events = answer["events"]
            assert [(e["log_id"], e["kind"]) for e in events if e["kind"] in OPERATIONS] == expected
            assert [e["at"] for e in events] == sorted(e["at"] for e in events)
            assert all(e["sentence"].strip() and e["sentence"].endswith(".") for e in events)
            assert answer["summary"].endswith(".")


def undo(client: Client, pick: random.Random) -> None:
    """Some of the latest operations, with what was built on them."""
    for entry in pick.sample(client.get("/v1/log").json()["items"][:20], 6):
        client.post(f"/v1/log/{entry['id']}/revert", json={"cascade": True})


def test_a_story_takes_eight_statements_whatever_its_length(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg as driver

    for number in range(30):
        last = send(client, editor(str(number)))["memory"]["id"]
    ran: list[str] = []
    execute = driver.AsyncCursor.execute

    async def counted(self: Any, query: Any, *given: Any, **named: Any) -> Any:
        ran.append(str(query))
        return await execute(self, query, *given, **named)

    monkeypatch.setattr(driver.AsyncCursor, "execute", counted)
    assert len(why(client, last)["events"]) == 30
    reads = [query for query in ran if "SELECT" in query and "set_config" not in query]
    assert len(reads) == 8
