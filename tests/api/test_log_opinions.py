"""What the log says of a store: what was seen, what was not done and why, and what ended."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import psycopg
import pytest

from app.settings import load_settings
from support.builders import mode, store
from support.doctor_check import assert_healthy
from support.scripted_model import ScriptedModel, Step, every, fails
from support.service import running
from support.stored_text import everything

SEEN = ("I live in Porto", "I moved to Lisbon last month")


@contextmanager
def serving(url: str, *steps: Step, **settings: Any) -> Iterator[httpx.Client]:
    with (
        ScriptedModel(*steps) as model,
        running(load_settings(database_url=url, llm_base_url=model.url, **settings)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        yield client


def log_of(client: httpx.Client, answer: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = client.get(f"/v1/log/{answer['log_id']}").json()
    return row


def not_done(row: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (each["memory_id"], each["not_done"]["relation"], each["not_done"]["reason"])
        for each in row["opinions"]
        if "not_done" in each
    ]


def test_a_change_that_the_model_does_not_see_waits_and_the_row_says_so(
    database_url: str,
) -> None:
    with serving(database_url, every("NONE", 0.95)) as client:
        old = store(client, SEEN[0])["memory"]["id"]
        answer = store(client, SEEN[1])
        row = log_of(client, answer)
        assert (answer["operation"], row["decided_by"], row["relation"]) == (
            "ADD",
            "fallback",
            "NONE",
        )
        assert not_done(row) == [(old, "UPDATE", "held")]
        assert "changed_attribute" in row["opinions"][0]["signals"]
        assert "the model sees no change" in row["reasoning"]
        assert row["reasoning"] == answer["decision"]["reasoning"]


def test_an_unsure_signal_that_the_model_denies_is_overruled_and_the_row_says_so(
    database_url: str,
) -> None:
    with serving(database_url, every("NONE", 0.95)) as client:
        old = store(client, "My cat is called Tom")["memory"]["id"]
        answer = store(client, "My cat is called Jerry")
        row = log_of(client, answer)
        assert (answer["operation"], row["decided_by"], row["relation"]) == ("ADD", "model", "NONE")
        assert row["confidence"] == 0.95
        assert not_done(row) == [(old, "UPDATE", "model_none")]
        assert "loose_attribute" in row["opinions"][0]["signals"]
        assert "saw none (.95)" in row["reasoning"]
        assert row["reasoning"] == answer["decision"]["reasoning"]
        events = client.get(f"/v1/memories/{old}/why").json()["events"]
        assert [event["kind"] for event in events] == ["ADD", "NOT_DONE"]
        [signal] = [
            each
            for each in client.get("/v1/insights").json()["signals"]
            if each["name"] == "loose_attribute"
        ]
        assert (signal["overruled"], signal["stand"], signal["error_rate"]) == (1, 0, None)


def test_a_model_that_fails_is_named(database_url: str) -> None:
    with serving(database_url, fails(500)) as client:
        old = store(client, "My cat is called Tom")["memory"]["id"]
        row = log_of(client, store(client, "My cat is called Jerry", classify="model"))
        assert "scripted failure" in row["usage"]["trouble"]
        assert not_done(row) == [(old, "UPDATE", "held")]


@pytest.mark.parametrize(
    ("setting", "stored", "told", "relation"),
    [
        ("enable_supersede", *SEEN, "UPDATE"),
        ("enable_delete", "I play tennis", "I no longer play tennis", "RETRACTION"),
    ],
)
def test_what_a_setting_forbids_is_in_the_row(
    database_url: str, setting: str, stored: str, told: str, relation: str
) -> None:
    with (
        running(load_settings(database_url=database_url, **{setting: False})) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        old = store(client, stored)["memory"]["id"]
        answer = store(client, told)
        row = log_of(client, answer)
        assert answer["operation"] == "ADD"
        reason = "held" if answer["review_id"] else "setting"
        assert not_done(row) == [(old, relation, reason)]
        assert row["reasoning"] != "Nothing stored says the same or holds in its place."


def test_shadow_mode_leaves_the_confidence_to_the_review(client: httpx.Client) -> None:
    old = store(client, SEEN[0])["memory"]["id"]
    mode(client, "shadow")
    answer = store(client, SEEN[1])
    row = log_of(client, answer)
    assert (row["relation"], row["decided_by"], row["confidence"]) == ("NONE", "fallback", 1.0)
    assert not_done(row) == [(old, "UPDATE", "held")]


def test_a_fact_like_nothing_adds_no_opinions(client: httpx.Client) -> None:
    store(client, "I play tennis")
    assert log_of(client, store(client, "The museum is open"))["opinions"] == []


def test_a_row_can_be_read_alone(client: httpx.Client) -> None:
    store(client, SEEN[0])
    moved = log_of(client, store(client, SEEN[1]))
    assert [state["content"] for state in moved["before_state"]] == [SEEN[0]]
    undone = client.post(f"/v1/log/{moved['id']}/revert").json()
    texts = {state["id"]: state.get("content") for state in log_of(client, undone)["before_state"]}
    assert texts == {moved["target_memory_id"]: SEEN[1], moved["before_state"][0]["id"]: None}


def test_erasing_what_ended_takes_its_text_out_of_the_row_and_the_chain_holds(
    database_url: str,
) -> None:
    with serving(database_url, every("NONE", 0.95)) as client:
        zebra = store(client, "I live in Zebra", key="home", category="city")["memory"]["id"]
        ended = log_of(client, store(client, "I live in Lisbon", key="home", category="city"))
        assert ended["before_state"][0]["content"] == "I live in Zebra"
        seen = store(client, "Anna lives in Quagga")["memory"]["id"]
        judged = log_of(client, store(client, "Anna moved to Lisbon last month"))
        assert [each["memory_id"] for each in judged["opinions"]] == [seen]
        for memory_id in (zebra, seen):
            assert client.delete(f"/v1/memories/{memory_id}?erase=true").status_code == 200
        assert log_of(client, {"log_id": judged["id"]})["opinions"] == []
        left = everything(database_url).casefold()
        assert "zebra" not in left
        assert "quagga" not in left
    assert_healthy(database_url)


def test_a_question_about_an_erased_memory_keeps_no_opinion_on_it(database_url: str) -> None:
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        old = store(client, "I live in Zebra")["memory"]["id"]
        client.patch("/v1/agents/default", json={"mode": "shadow"}).raise_for_status()
        store(client, "I moved to Lisbon last month")
        with psycopg.connect(database_url, autocommit=True) as connection:
            # As a judge that quotes would have left it.
            connection.execute(
                "UPDATE reviews SET judgments = jsonb_set(judgments, '{0,opinions}', "
                '\'[{"reasoning": "Zebra before", "decided_by": "signals"}]\')'
            )
        assert client.delete(f"/v1/memories/{old}?erase=true").status_code == 200
        assert "zebra" not in everything(database_url).casefold()


def test_operations_from_before_opinions_show_their_vetoes(unchecked_database_url: str) -> None:
    with (
        running(load_settings(database_url=unchecked_database_url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        one = store(client, "I play tennis")["memory"]["id"]
        told = store(client, "The museum is open")
        with psycopg.connect(unchecked_database_url, autocommit=True) as connection:
            connection.execute(
                "UPDATE consolidation_log SET vetoed = jsonb_build_array("
                "jsonb_build_object('memory_id', CAST(%s AS text), 'veto', 'other key')) "
                "WHERE id = %s",
                [one, told["log_id"]],
            )
        [judged] = log_of(client, told)["opinions"]
        assert (judged["memory_id"], judged["vetoes"]) == (one, ["other key"])
        kinds = [event["kind"] for event in client.get(f"/v1/memories/{one}/why").json()["events"]]
        assert kinds == ["ADD", "KEPT_APART"]
        assert client.delete(f"/v1/memories/{one}?erase=true").status_code == 200
        assert log_of(client, told)["opinions"] == []
