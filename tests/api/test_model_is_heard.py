"""What a model says is done beside what the local judges see: in part, in one call for many facts, or asked about."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.settings import load_settings
from support.builders import store
from support.scripted_model import Answer, Request, ScriptedModel, Step, every, judges, judgment
from support.service import running

STACK = "The stack is TypeScript 5.3 and Express"
UPGRADE = "We upgraded TypeScript to 5.4"
NEW_STACK = "The stack is TypeScript 5.4 and Express"


@contextmanager
def asking(url: str, *steps: Step, **settings: Any) -> Iterator[tuple[httpx.Client, ScriptedModel]]:
    with (
        ScriptedModel(*steps) as model,
        running(
            load_settings(database_url=url, llm_base_url=model.url, local_judge=True, **settings)
        ) as address,
        httpx.Client(
            base_url=address, headers={"X-Agent-Id": uuid4().hex[:12]}, timeout=60
        ) as client,
    ):
        yield client, model


def contents(client: httpx.Client, **params: Any) -> set[str]:
    items = client.get("/v1/memories", params=params).json()["items"]
    return {item["content"] for item in items}


PARTS = [
    (STACK, UPGRADE, NEW_STACK),
    (
        "My kids are Ana, 7, and Rui, 4",
        "Rui turned five today",
        "My kids are Ana, 7, and Rui, five",
    ),
    (
        "I take metformin and lisinopril every morning",
        "The doctor took me off lisinopril",
        "I take metformin every morning",
    ),
    (
        "The audit is on 3 May with Nora and Tim",
        "The audit moved to 10 May",
        "The audit is on 10 May with Nora and Tim",
    ),
]


@pytest.mark.parametrize(("stored", "told", "reads"), PARTS)
def test_what_changes_in_part_keeps_the_rest(
    database_url: str, stored: str, told: str, reads: str
) -> None:
    with asking(database_url, judges(judgment(1, "PART", 0.95, text=reads))) as (client, _):
        old = store(client, stored, valid_from="2026-01-01")["memory"]
        answer = store(client, told, valid_from="2026-02-01")
        assert answer["operation"] == "UPDATE"
        assert answer["memory"]["content"] in (told, reads)
        assert contents(client) in ({told, reads}, {reads})
        assert contents(client, as_of="2026-01-15") == {stored}
        line = client.get(f"/v1/memories/{old['id']}/history").json()["versions"]
        assert (line[0]["content"], line[-1]["content"]) == (stored, reads)
        assert client.get("/v1/doctor").json()["problems"] == []
        client.post(f"/v1/log/{answer['log_id']}/revert", json={}).raise_for_status()
        assert stored in contents(client)
        assert reads not in contents(client)
        assert client.get("/v1/doctor").json()["problems"] == []


@pytest.mark.parametrize("confidence", [0.95, 0.5])
@pytest.mark.parametrize(
    ("told", "stays"),
    [("TypeScript is at 5.4 now", False), ("TypeScript 5.4 came with the new laptop", True)],
)
def test_what_the_new_text_tells_whole_does_not_stand_beside_it(
    database_url: str, told: str, stays: bool, confidence: float
) -> None:
    with asking(database_url, judges(judgment(1, "PART", confidence, text=NEW_STACK))) as (
        client,
        _,
    ):
        store(client, STACK)
        answer = store(client, told)
        if answer["review_id"]:
            client.post(f"/v1/reviews/{answer['review_id']}/accept", json={}).raise_for_status()
        else:
            assert answer["memory"]["content"] == (told if stays else NEW_STACK)
        assert contents(client) == ({told, NEW_STACK} if stays else {NEW_STACK})
        assert client.get("/v1/doctor").json()["problems"] == []


def test_a_change_in_part_that_is_not_sure_is_asked_about_with_its_text(database_url: str) -> None:
    with asking(database_url, judges(judgment(1, "PART", 0.5, text=NEW_STACK))) as (client, _):
        store(client, STACK)
        answer = store(client, UPGRADE)
        assert contents(client) == {STACK, UPGRADE}
        [review] = client.get("/v1/reviews").json()["items"]
        assert review["sentence"] == f"By “{UPGRADE}”, does “{STACK}” now read “{NEW_STACK}”?"
        accepted = client.post(f"/v1/reviews/{answer['review_id']}/accept", json={})
        accepted.raise_for_status()
        assert contents(client) == {NEW_STACK, UPGRADE}
        assert client.get("/v1/doctor").json()["problems"] == []


@pytest.mark.parametrize("text", [None, "The stack is TypeScript 5.4 and Nest", "TypeScript 5.4"])
def test_a_change_in_part_whose_text_invents_or_loses_is_asked_about(
    database_url: str, text: str | None
) -> None:
    with asking(database_url, judges(judgment(1, "PART", 0.95, text=text))) as (client, _):
        store(client, STACK)
        assert store(client, UPGRADE)["review_id"]
        assert contents(client) == {STACK, UPGRADE}


def test_the_new_text_goes_when_what_it_is_made_of_is_erased(database_url: str) -> None:
    with asking(database_url, judges(judgment(1, "PART", 0.95, text=NEW_STACK))) as (client, _):
        store(client, STACK)
        told = store(client, UPGRADE)["memory"]["id"]
        erased = client.delete(f"/v1/memories/{told}", params={"erase": True, "cascade": True})
        erased.raise_for_status()
        assert not any("5.4" in text for text in contents(client))
        assert client.get("/v1/doctor").json()["problems"] == []


def test_the_facts_of_a_batch_are_asked_about_in_one_call(database_url: str) -> None:
    def end_what_is_meant(request: Request) -> Answer:
        moved = [c["candidate"] for c in request.candidates if c["text"] == "I live in Porto"]
        return judges(*(judgment(number, "UPDATE", 0.95) for number in moved[:1]))

    with asking(database_url, end_what_is_meant) as (client, model):
        store(client, "I live in Porto")
        store(client, "My sister plays the cello in Porto")
        told = ("I live in Braga now", "My cello is from Porto", "Braga is a nice city")
        model.requests.clear()
        batch = {"items": [{"content": text} for text in told]}
        answer = client.post("/v1/memories/batch", json=batch).json()
        assert len(model.requests) == 1
        [request] = model.requests
        assert [asked["new"]["text"] for asked in request.data] == list(told)
        usage = [item["usage"]["llm_calls"] for item in answer["results"]]
        assert sum(usage) == 1
        assert "I live in Porto" not in contents(client)


LIFE = [
    "I live in Porto",
    "I work for Initech",
    "My sister plays the cello",
    "I am allergic to peanuts",
    "My car is a blue Fiesta",
    "The build takes twelve minutes",
    "My dentist is Dr. Weber",
    "I read a novel every month",
    "Standup is at ten",
    "My favourite colour is green",
    "I speak Croatian and German",
    "The invoice template is in the shared drive",
    "I collect old maps",
    "We pay the rent by standing order",
    "My cat is called Tom",
]


@pytest.mark.parametrize("share", [0.03, 0.1])
def test_a_model_that_errs_ends_hardly_anything(database_url: str, share: float) -> None:
    pick = random.Random(7)

    def err(request: Request) -> Answer:
        return judges(
            *(judgment(n, "UPDATE", 0.9) for n in request.numbers if pick.random() < share)
        )

    with asking(database_url, err, classify="model") as (client, _):
        ended = 0
        for text in [*LIFE, *(f"{text}, as ever" for text in LIFE)]:
            ended += len(store(client, text)["superseded"])
        assert ended <= 1


def test_what_is_found_without_a_model_is_found_or_asked_with_a_silent_one(
    database_url: str,
) -> None:
    with asking(database_url, judges(), classify="model") as (client, _):
        for stored, told in [
            ("I live in Porto", "I no longer live in Porto"),
            ("I work for Initech", "I now work for Hooli"),
            ("My boss is Anna", "My boss is Ben now"),
        ]:
            store(client, stored)
            assert store(client, told)["review_id"], told
        store(client, "I play the cello in the city orchestra")
        assert store(client, "I play the cello in the city orchestra.")["operation"] == "NOOP"


def test_a_repetition_counts_in_every_mode(database_url: str) -> None:
    with asking(database_url, every("DUPLICATE", 0.95), classify="model") as (client, _):
        store(client, "I live in Ghent")
        assert store(client, "Ghent is where I live")["operation"] == "NOOP"
        assert store(client, "I live in Ghent with 2 cats")["operation"] == "ADD"


def test_a_refused_text_of_a_merge_is_told(database_url: str) -> None:
    loses = judges(judgment(1, "COMPLEMENT", 0.95, "Its users.", "The Falcon app has users."))
    with asking(database_url, loses) as (client, _):
        store(client, "The Falcon app was written by Anna")
        answer = store(client, "The Falcon app has 12000 users")
        assert answer["operation"] == "MERGE"
        assert "The model's text is not used. It drops" in answer["decision"]["reasoning"]


def test_numbers_may_be_written_in_words(database_url: str) -> None:
    text = "The Falcon app has five users, and Anna wrote it"
    united = judges(judgment(1, "COMPLEMENT", 0.95, "Its users.", text))
    with asking(database_url, united) as (client, _):
        store(client, "Anna wrote the Falcon app")
        answer = store(client, "The Falcon app has 5 users")
        assert (answer["operation"], answer["memory"]["content"]) == ("MERGE", text)


def test_a_fact_replaces_one_and_ends_another(database_url: str) -> None:
    told = "I moved to Lyon and quit smoking"

    def quit(request: Request) -> Answer:
        if request.texts[0] != told:
            return judges()
        meant = {"I live in Nantes": "UPDATE", "I smoke": "RETRACTION"}
        return judges(
            *(
                judgment(c["candidate"], meant[c["text"]], 0.88 if "smoke" in c["text"] else 0.95)
                for c in request.candidates
                if c["text"] in meant
            )
        )

    with asking(database_url, quit) as (client, _):
        store(client, "I live in Nantes")
        store(client, "I smoke")
        answer = store(client, told)
        assert answer["operation"] == "UPDATE"
        assert contents(client) == {told}
        assert client.get("/v1/doctor").json()["problems"] == []


def test_what_reads_as_past_and_ends_something_by_the_model_is_asked_about(
    database_url: str,
) -> None:
    stored = "I get the bus to work"
    told = "I was driving to work for two months, the bus was hopeless"
    with asking(database_url, judges(judgment(1, "UPDATE", 0.98))) as (client, _):
        store(client, stored)
        answer = store(client, told)
        assert answer["review_id"]
        accepted = client.post(f"/v1/reviews/{answer['review_id']}/accept", json={})
        accepted.raise_for_status()
        assert contents(client) == {told}
        assert client.get("/v1/doctor").json()["problems"] == []


KIDS = "My kids are Ana, 7, and Rui, 4"
PARTY = "Ana turned eight today, and for that we closed the bakery for good"


def change_three(request: Request) -> Answer:
    """Two parts change, and a whole memory ends."""
    texts = {
        KIDS: ("PART", "My kids are Ana, eight, and Rui, 4"),
        "Ana is 7 and collects stamps": ("PART", "Ana is eight and collects stamps"),
        "We run a bakery": ("RETRACTION", None),
    }
    if request.texts[0] != PARTY:
        return judges()
    return judges(
        *(
            judgment(c["candidate"], texts[c["text"]][0], 0.95, text=texts[c["text"]][1])
            for c in request.candidates
            if c["text"] in texts
        )
    )


@pytest.mark.parametrize("whole", [True, False])
def test_several_memories_may_change_in_part_and_others_end(database_url: str, whole: bool) -> None:
    with asking(database_url, change_three) as (client, _):
        stored = [KIDS, "Ana is 7 and collects stamps", *(["We run a bakery"] if whole else [])]
        for text in stored:
            store(client, text)
        answer = store(client, PARTY)
        assert (answer["operation"], answer["review_id"]) == ("UPDATE", None)
        assert len(answer["superseded"]) == len(stored)
        reads = {"My kids are Ana, eight, and Rui, 4", "Ana is eight and collects stamps", PARTY}
        assert contents(client) == reads
        assert client.get("/v1/doctor").json()["problems"] == []
        client.post(f"/v1/log/{answer['log_id']}/revert", json={}).raise_for_status()
        assert contents(client) == set(stored)
        assert client.get("/v1/doctor").json()["problems"] == []


def test_of_parts_that_change_one_whose_text_is_refused_is_asked_about(database_url: str) -> None:
    def change_two(request: Request) -> Answer:
        if request.texts[0] != PARTY:
            return judges()
        return judges(
            *(
                judgment(c["candidate"], "PART", 0.95, text=c["text"].replace("7", "eight"))
                if c["text"] == KIDS
                else judgment(c["candidate"], "PART", 0.95, text="Ana lives in Rome")
                for c in request.candidates
            )
        )

    with asking(database_url, change_two) as (client, _):
        store(client, KIDS)
        store(client, "Ana is 7 and collects stamps")
        answer = store(client, PARTY)
        assert answer["review_id"]
        assert contents(client) == {
            "My kids are Ana, eight, and Rui, 4",
            "Ana is 7 and collects stamps",
            PARTY,
        }
        accepted = client.post(f"/v1/reviews/{answer['review_id']}/reject", json={})
        accepted.raise_for_status()
        assert client.get("/v1/doctor").json()["problems"] == []


def test_what_is_told_of_today_is_asked_about_though_the_rest_was_told_today_too(
    database_url: str,
) -> None:
    with asking(database_url, judges(judgment(1, "UPDATE", 0.5))) as (client, _):
        store(client, KIDS)
        answer = store(client, "Rui turned five today")
        accepted = client.post(f"/v1/reviews/{answer['review_id']}/accept", json={})
        accepted.raise_for_status()
        assert contents(client) == {"Rui turned five today"}
        assert client.get("/v1/doctor").json()["problems"] == []


def test_an_ending_in_a_text_that_names_a_past_span_is_asked_about(database_url: str) -> None:
    with asking(database_url, judges(judgment(1, "UPDATE", 0.95))) as (client, _):
        gym = "The gym membership is 20 euros a month"
        store(client, gym)
        told = "I was at the gym for two years, cancelled it"
        answer = store(client, told)
        assert answer["review_id"]
        accepted = client.post(f"/v1/reviews/{answer['review_id']}/accept", json={})
        accepted.raise_for_status()
        assert gym not in contents(client)
        assert client.get("/v1/doctor").json()["problems"] == []
