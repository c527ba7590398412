"""What a history tells of itself, against figures worked out by hand and, over a random history, by a plain computation."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from statistics import mean, median
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from app.domain.insights import Section
from app.settings import load_settings
from support.ages import move_back
from support.builders import decide, editor, mode, problem, send, store
from support.changing_values import change_at_random, moves
from support.service import running
from support.transfers import NDJSON

Row = dict[str, Any]


def insights(client: httpx.Client, **asked: Any) -> Row:
    response = client.get("/v1/insights", params=asked)
    assert response.status_code == 200, response.text
    answer: Row = response.json()
    return answer


def section(client: httpx.Client, name: str, **asked: Any) -> Any:
    return insights(client, section=name, **asked)[name]


def ids(*answers: Row) -> list[str]:
    """The memories that these writes answered with."""
    return [answer["memory"]["id"] for answer in answers]


def withdraw(client: httpx.Client, answer: Row) -> None:
    assert client.post(
        f"/v1/memories/{answer['memory']['id']}/retract", json={"never_true": True}
    ).is_success


def undo(client: httpx.Client, answer: Row) -> None:
    assert client.post(f"/v1/log/{answer['log_id']}/revert").is_success


def imported(client: httpx.Client, *lines: Row) -> list[str]:
    """Ids of facts with their own known times."""
    answers = [
        client.post(
            "/v1/import", headers=NDJSON, content=httpx.Response(200, json=line).content
        ).json()
        for line in lines
    ]
    return [answer["id"] for answer in answers]


# --- values ------------------------------------------------------------------------------------------------------------


def test_churn_counts_the_changes_of_a_slot_and_not_what_was_withdrawn(
    client: httpx.Client,
) -> None:
    vim = send(client, editor("Vim", valid_from="2020-01-01"))
    emacs = send(client, editor("Emacs", valid_from="2022-01-01"))
    withdraw(client, send(client, editor("Nano", valid_from="2023-01-01")))
    helix = send(client, editor("Helix", valid_from="2024-01-01"))
    send(client, {"content": "Likes tea"})
    [entry] = section(client, "churn")
    assert entry["slot"] == {"entity": "user", "category": "tooling", "key": "editor"}
    assert (entry["kind"], entry["changes"], entry["versions"], entry["chain_id"]) == (
        "preference",
        2,
        3,
        None,
    )
    assert (entry["first_changed_at"], entry["last_changed_at"]) == (
        "2022-01-01T00:00:00.000000Z",
        "2024-01-01T00:00:00.000000Z",
    )
    assert entry["memory_ids"] == ids(helix, emacs, vim)
    assert (entry["current"], entry["content"]) == (ids(helix)[0], "Uses Helix as editor")


def test_what_has_no_key_is_counted_by_its_chain(client: httpx.Client) -> None:
    first = store(client, "The meeting room is green", classify=False)
    changed = client.post(
        f"/v1/memories/{ids(first)[0]}/supersede", json={"content": "The meeting room is blue"}
    ).json()
    [entry] = section(client, "churn")
    assert (entry["slot"], entry["chain_id"], entry["changes"]) == (
        None,
        first["memory"]["chain_id"],
        1,
    )
    assert entry["memory_ids"] == ids(changed, first)


def test_a_slot_of_many_values_is_counted_chain_by_chain(client: httpx.Client) -> None:
    pets = [
        store(client, f"Has a {pet}", key="pet", value=pet, single_valued=False, classify=False)
        for pet in ("dog", "cat")
    ]
    client.post(
        f"/v1/memories/{ids(*pets)[0]}/supersede", json={"content": "Has a bird", "value": "bird"}
    ).raise_for_status()
    [entry] = section(client, "churn")
    assert (entry["slot"]["key"], entry["chain_id"], entry["changes"]) == (
        "pet",
        pets[0]["memory"]["chain_id"],
        1,
    )


def test_changes_of_several_kinds_in_a_slot_have_an_entry_each(client: httpx.Client) -> None:
    for kind, value in (
        ("fact", "Vim"),
        ("preference", "Emacs"),
        ("preference", "Nano"),
        ("fact", "Helix"),
    ):
        send(client, editor(value, kind=kind))
    assert [(e["kind"], e["changes"]) for e in section(client, "churn")] == [
        ("preference", 2),
        ("fact", 1),
    ]


def test_the_same_value_again_is_no_change(client: httpx.Client) -> None:
    send(client, editor("Vim", valid_from="2020-01-01"))
    between = send(client, editor("Emacs", valid_from="2021-01-01"))
    send(client, editor("VIM ", valid_from="2022-01-01"))
    assert section(client, "churn")[0]["changes"] == 2
    assert section(client, "flip_flops")[0]["returns"] == 1
    withdraw(client, between)
    assert section(client, "churn") == section(client, "flip_flops") == []


def test_flip_flops_are_found_however_late_they_are_told(client: httpx.Client) -> None:
    emacs = send(client, editor("Emacs", valid_from="2022-01-01"))
    again = send(client, editor("Vim", valid_from="2024-01-01"))
    assert section(client, "flip_flops") == []
    first = send(client, editor("vim", valid_from="2020-01-01"))
    [entry] = section(client, "flip_flops")
    assert (entry["returns"], entry["kind"], entry["slot"]["key"], entry["current"]) == (
        1,
        "preference",
        "editor",
        ids(again)[0],
    )
    dates = ("2020-01-01", "2022-01-01", "2024-01-01")
    expected = [
        {"memory_id": i, "valid_from": f"{d}T00:00:00.000000Z"}
        for i, d in zip(ids(first, emacs, again), dates, strict=True)
    ]
    assert entry["latest"] == expected
    assert entry["memory_ids"] == ids(again)


def test_every_return_of_a_value_counts_and_the_most_restless_comes_first(
    client: httpx.Client,
) -> None:
    answers = [
        send(client, editor(v, valid_from=f"20{y}-01-01")) for y, v in enumerate("ABABCB", 10)
    ]
    other = [
        send(client, editor(v, category="other", valid_from=f"20{y}-01-01"))
        for y, v in enumerate("ABBA", 10)
    ]
    first, second = section(client, "flip_flops")
    assert (first["returns"], first["memory_ids"]) == (3, ids(answers[5], answers[3], answers[2]))
    assert [step["memory_id"] for step in first["latest"]] == ids(
        answers[3], answers[4], answers[5]
    )
    assert (second["returns"], [step["memory_id"] for step in second["latest"]]) == (
        1,
        ids(other[0], other[1], other[3]),
    )


def test_values_of_a_chain_without_a_key_flip_too(client: httpx.Client) -> None:
    first = store(client, "The lamp is on", classify=False)
    off = client.post(
        f"/v1/memories/{ids(first)[0]}/supersede", json={"content": "The lamp is off"}
    ).json()
    again = client.post(
        f"/v1/memories/{ids(off)[0]}/supersede", json={"content": "the lamp is ON"}
    ).json()
    [entry] = section(client, "flip_flops")
    assert [step["memory_id"] for step in entry["latest"]] == ids(first, off, again)
    assert entry["chain_id"] == first["memory"]["chain_id"]


def test_lifetimes_are_means_and_medians_of_what_has_ended(client: httpx.Client) -> None:
    first = send(client, editor("Vim", valid_from="2020-01-01"))
    second = send(client, editor("Emacs", valid_from="2020-01-11"))
    empty = send(client, editor("Ed", valid_from="2020-01-31"))
    third = send(client, editor("Helix", valid_from="2020-01-31"))
    assert (
        client.get(f"/v1/memories/{ids(empty)[0]}").json()["valid_until"]
        == "2020-01-31T00:00:00.000000Z"
    )
    send(client, editor("Nano", valid_from="2020-05-10"))
    send(client, editor("Zed", valid_from="2999-01-01"))
    trip = store(client, "In Rome", valid_from="2021-01-01", valid_until="2021-01-02")
    told = section(client, "lifetimes")
    [shortest, slot] = told["by_slot"]
    assert (slot["slot"]["key"], slot["ended"], slot["open"]) == ("editor", 3, 1)
    assert (slot["mean_days"], slot["median_days"]) == (43.3333, 20.0)
    assert slot["memory_ids"] == ids(third, second, first)
    assert (shortest["chain_id"], shortest["mean_days"], shortest["current"]) == (
        trip["memory"]["chain_id"],
        1.0,
        None,
    )
    kinds = {
        kind["kind"]: (kind["ended"], kind["open"], kind["mean_days"], kind["memory_ids"])
        for kind in told["by_kind"]
    }
    assert kinds == {
        "preference": (3, 1, 43.3333, ids(third, second, first)),
        "fact": (1, 0, 1.0, ids(trip)),
    }


def test_a_kind_in_which_nothing_has_ended_says_so(client: httpx.Client) -> None:
    store(client)
    told = section(client, "lifetimes")
    assert told["by_slot"] == []
    [kind] = told["by_kind"]
    assert (
        kind["ended"],
        kind["open"],
        kind["mean_days"],
        kind["median_days"],
        kind["memory_ids"],
    ) == (0, 1, None, None, [])


def test_chain_lengths_tell_how_many_and_which_are_longest(client: httpx.Client) -> None:
    editors = [send(client, editor(value)) for value in ("Vim", "Emacs", "Helix")]
    withdraw(client, send(client, editor("Nano")))
    lone = [store(client, text) for text in ("Has a dog", "Drinks tea")]
    told = section(client, "chain_lengths")
    assert told["histogram"] == [{"length": 1, "chains": 2}, {"length": 3, "chains": 1}]
    longest = told["longest"]
    assert [chain["length"] for chain in longest] == [3, 1, 1]
    assert (longest[0]["memory_ids"], longest[0]["slot"]["key"]) == (
        ids(*reversed(editors)),
        "editor",
    )
    assert (longest[0]["kind"], longest[0]["content"]) == ("preference", "Uses Helix as editor")
    assert {chain["chain_id"] for chain in longest[1:]} == {
        answer["memory"]["chain_id"] for answer in lone
    }


# --- judges ------------------------------------------------------------------------------------------------------------


def test_retire_rates_count_stores_by_judge_and_confidence(client: httpx.Client) -> None:
    send(client, editor("Vim"))
    changed = send(client, editor("Emacs"))
    undone = send(client, editor("Helix"))
    undo(client, undone)
    assert send(client, editor("Emacs"))["operation"] == "NOOP"
    by_signals = (
        store(client, "Alice moved to Lisbon") if store(client, "Alice lives in Porto") else {}
    )
    assert by_signals["decision"]["decided_by"] == "signals"
    other = store(client, "It rains in Paris")
    client.post(
        f"/v1/memories/{ids(other)[0]}/supersede", json={"content": "It snows in Paris"}
    ).raise_for_status()
    client.delete(f"/v1/memories/{ids(changed)[0]}").raise_for_status()
    rule, signals = section(client, "retire_rates")
    # By rule: Vim, Emacs, Helix, Emacs again, Porto, Paris.
    assert {name: rule[name] for name in rule if name != "log_ids"} == {
        "decided_by": "rule",
        "confidence_from": 0.9,
        "confidence_to": 1.0,
        "decided": 6,
        "retired": 2,
        "rate": 0.3333,
        "reverted": 1,
    }
    assert rule["log_ids"] == [undone["log_id"], changed["log_id"]]
    assert (
        signals["decided_by"],
        signals["confidence_from"],
        signals["decided"],
        signals["retired"],
    ) == ("signals", 0.9, 1, 1)
    assert signals["log_ids"] == [by_signals["log_id"]]


def test_a_band_begins_with_its_lower_end_and_only_the_last_has_its_upper_end(
    unchecked_database_url: str,
) -> None:
    with (
        running(load_settings(database_url=unchecked_database_url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        confidences = (0.0, 0.499, 0.5, 0.59, 0.6, 0.7, 0.8, 0.9, 1.0)
        answers = [
            store(client, f"Fact number {n}", classify=False) for n in range(len(confidences))
        ]
        with psycopg.connect(unchecked_database_url) as connection:
            for answer, confidence in zip(answers, confidences, strict=True):
                connection.execute(
                    "UPDATE consolidation_log SET confidence = %s WHERE id = %s",
                    [confidence, answer["log_id"]],
                )
        bands = {
            (e["confidence_from"], e["confidence_to"]): e["decided"]
            for e in section(client, "retire_rates")
        }
        assert bands == {
            (0.0, 0.5): 2,
            (0.5, 0.6): 2,
            (0.6, 0.7): 1,
            (0.7, 0.8): 1,
            (0.8, 0.9): 1,
            (0.9, 1.0): 2,
        }


def test_a_review_that_expired_is_nothing_that_a_rule_decided(database_url: str) -> None:
    with (
        running(load_settings(database_url=database_url, review_days=7)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        send(client, editor("Vim", trust=90))
        send(client, editor("Emacs", trust=10))
        before = section(client, "retire_rates")
        with psycopg.connect(database_url) as connection:
            connection.execute(f"UPDATE reviews SET {move_back('created_at', '8 days')}".encode())
        assert client.get("/v1/reviews").json()["items"][0]["status"] == "expired"
        assert section(client, "retire_rates") == before


def test_signals_are_told_by_how_what_they_led_to_fared(client: httpx.Client) -> None:
    live = moves(client, "Alice", "Bob", "Carol")
    [name] = {signal["name"] for answer in live for signal in answer["decision"]["signals"]}
    undo(client, live[1])
    mode(client, "shadow")
    proposed = moves(client, "Dave", "Erin", "Frank", "Grace")
    decide(client, proposed[0]["review_id"], "accept")
    decide(client, proposed[1]["review_id"], "reject")
    decide(client, proposed[2]["review_id"], "reject")
    [entry] = section(client, "signals")
    figures = {
        what: entry[what]
        for what in ("stand", "reverted", "accepted", "rejected", "expired", "pending")
    }
    assert figures == {
        "stand": 2,
        "reverted": 1,
        "accepted": 1,
        "rejected": 2,
        "expired": 0,
        "pending": 1,
    }
    assert (entry["name"], entry["error_rate"], entry["confidence_here"]) == (name, 0.5, 0.5)
    assert entry["confidence"] == live[0]["decision"]["confidence"]
    assert entry["log_ids"] == [live[1]["log_id"], live[2]["log_id"], live[0]["log_id"]]
    assert entry["review_ids"] == [proposed[place]["review_id"] for place in (2, 1, 3, 0)]


def test_a_signal_of_which_nothing_was_decided_has_no_error_rate(client: httpx.Client) -> None:
    mode(client, "shadow")
    moves(client, "Alice")
    [entry] = section(client, "signals")
    assert (entry["pending"], entry["error_rate"], entry["confidence_here"], entry["log_ids"]) == (
        1,
        None,
        None,
        [],
    )


def test_a_store_that_was_held_back_counts_once_it_was_made(client: httpx.Client) -> None:
    store(client, "Alice lives in Porto")
    mode(client, "frozen")
    held = [
        client.post("/v1/memories", json={"content": f"Alice moved to {city}"}).json()
        for city in ("Lisbon", "Faro")
    ]
    assert section(client, "signals") == []
    mode(client, "live")
    accepted = decide(client, held[0]["review_id"], "accept")
    decide(client, held[1]["review_id"], "reject")
    [entry] = section(client, "signals")
    assert (entry["stand"], entry["accepted"], entry["rejected"], entry["log_ids"]) == (
        1,
        0,
        0,
        [accepted["log_id"]],
    )


def test_who_errs_most_comes_first(client: httpx.Client) -> None:
    moves(client, "Alice")
    store(client, "Bob plays tennis")
    retracted = store(client, "Bob no longer plays tennis")
    assert retracted["operation"] == "DELETE"
    undo(client, retracted)
    first, second = section(client, "signals")
    assert (first["name"], first["error_rate"], second["error_rate"]) == ("retraction", 1.0, 0.0)


# --- constraints -------------------------------------------------------------------------------------------------------

RULE = {
    "content": "Never deploy on Fridays",
    "kind": "constraint",
    "valid_from": "2020-01-01",
    "created_at": "2020-01-01T00:00:00Z",
}


def test_a_constraint_that_nobody_affirms_grows_stale(client: httpx.Client) -> None:
    [old] = imported(client, RULE)
    store(client, "Never skip a review", kind="constraint")
    [entry] = section(client, "stale_constraints")
    days = (datetime.now(UTC) - datetime(2020, 1, 1, tzinfo=UTC)).days
    assert (entry["memory_id"], entry["days"], entry["last_affirmed_at"]) == (
        old,
        days,
        "2020-01-01T00:00:00.000000Z",
    )
    assert entry["reasons"] == [f"nobody has stored, confirmed or corrected it for {days:,} days"]
    assert section(client, "stale_constraints", stale_days=days + 1) == []
    link = {"type": "references", "target_id": store(client, "Works on Fridays")["memory"]["id"]}
    client.post(f"/v1/memories/{old}/relationships", json=link).raise_for_status()
    assert [e["memory_id"] for e in section(client, "stale_constraints")] == [old], (
        "a link says nothing of whether it is still meant"
    )
    confirmed = store(client, RULE["content"], kind="constraint")
    assert confirmed["operation"] == "NOOP"
    assert section(client, "stale_constraints") == []
    undo(client, confirmed)
    assert [e["memory_id"] for e in section(client, "stale_constraints")] == [old]


def test_a_correction_affirms_a_constraint_until_it_is_undone(client: httpx.Client) -> None:
    [old] = imported(client, RULE)
    corrected = client.patch(f"/v1/memories/{old}", json={"importance": 0.9}).json()
    assert section(client, "stale_constraints") == []
    undo(client, corrected)
    assert [e["memory_id"] for e in section(client, "stale_constraints")] == [old]


def test_what_ended_binds_nobody(client: httpx.Client) -> None:
    [old] = imported(client, RULE)
    client.delete(f"/v1/memories/{old}").raise_for_status()
    assert section(client, "stale_constraints") == []


def replace_by_another(client: httpx.Client, stored: dict[str, Any]) -> None:
    """End a fact, so that the next one does not; what it contradicted stays contradicted."""
    body = {"content": "Tulips are in bloom"}
    client.post(f"/v1/memories/{ids(stored)[0]}/supersede", json=body).raise_for_status()


def test_a_constraint_that_later_facts_contradict_is_told_with_them(client: httpx.Client) -> None:
    bound = store(client, "Alice lives in Porto", kind="constraint", key="home")
    against = []
    for city in ("Lisbon", "Faro", "Braga"):
        against.append(store(client, f"Alice moved to {city}"))
        replace_by_another(client, against[-1])
    withdraw(client, against[2])
    decide(client, against[0]["review_id"], "reject")
    [entry] = section(client, "stale_constraints")
    assert (entry["memory_id"], entry["slot"]["key"], entry["days"]) == (ids(bound)[0], "home", 0)
    assert (entry["contradictions"], entry["contradicted_by"]) == (2, ids(against[1], against[0]))
    open_or_rejected = [against[1]["review_id"], against[0]["review_id"]]
    assert (entry["pending"], entry["rejected"]) == (1, 1)
    assert entry["review_ids"] == open_or_rejected
    assert entry["reasons"] == [
        "contradicted by 2 later facts",
        "1 review that would end it: waiting",
        "1 review that would have ended it: rejected",
    ]
    problem(
        client.post(f"/v1/reviews/{against[1]['review_id']}/accept"), 409
    )  # its fact has ended since: that is shown first
    decide(client, against[1]["review_id"], "accept")
    assert section(client, "stale_constraints") == []


# --- what is asked -----------------------------------------------------------------------------------------------------


@pytest.fixture
def restless(client: httpx.Client) -> httpx.Client:
    """An agent of whom every section has something to tell."""
    for value in ("Vim", "Emacs", "Vim"):
        send(client, editor(value))
    moves(client, "Alice")
    store(client, "Bob lives in Porto", kind="constraint")
    store(client, "Bob moved to Lisbon")
    return client


def filled(answer: Row) -> set[str]:
    """The sections in which something is told."""
    inner = {name: told for name, told in answer.items() if name in set(Section) and told}
    return {
        name for name, told in inner.items() if not isinstance(told, dict) or any(told.values())
    }


def test_every_section_is_told_unless_some_are_asked_for(restless: httpx.Client) -> None:
    answer = insights(restless)
    assert filled(answer) == set(Section)
    some = insights(restless, section=["churn", "signals"])
    assert {name for name in Section if some[name] is None} == set(Section) - {"churn", "signals"}
    assert (some["churn"], some["signals"]) == (answer["churn"], answer["signals"])
    assert answer["known_at"] <= answer["as_of"]


def test_other_agents_and_those_who_know_nothing_are_told_nothing(restless: httpx.Client) -> None:
    answer = restless.get("/v1/insights", headers={"X-Agent-Id": f"other-{uuid4().hex}"}).json()
    assert filled(answer) == set()
    assert all(answer[name] is not None for name in Section)


def test_a_window_counts_what_became_known_in_it(client: httpx.Client) -> None:
    vim, emacs, again = (
        send(client, editor(value, valid_from=f"20{year}-01-01"))
        for year, value in ((20, "Vim"), (22, "Emacs"), (24, "Vim"))
    )

    def told(**window: str) -> tuple[int, int, int, int]:
        answer = insights(client, **window)
        lives = answer["lifetimes"]["by_kind"]
        return (
            sum(entry["changes"] for entry in answer["churn"]),
            sum(entry["returns"] for entry in answer["flip_flops"]),
            sum(kind["ended"] for kind in lives),
            sum(entry["decided"] for entry in answer["retire_rates"]),
        )

    assert told() == (2, 1, 2, 3)
    assert told(since=emacs["known_at"]) == (2, 1, 1, 2)
    assert told(since=again["known_at"]) == (1, 1, 0, 1)
    assert told(until=again["known_at"]) == (1, 0, 2, 2)
    assert told(since=emacs["known_at"], until=again["known_at"]) == (1, 0, 1, 1)
    assert told(until=vim["known_at"]) == (0, 0, 0, 0)


def test_a_window_narrows_what_speaks_against_constraints_and_what_became_of_signals(
    client: httpx.Client,
) -> None:
    store(client, "Alice lives in Porto", kind="constraint")
    first = store(client, "Alice moved to Lisbon")
    replace_by_another(client, first)
    second = store(client, "Alice moved to Faro")
    [entry] = section(client, "stale_constraints", since=second["known_at"])
    assert (entry["contradicted_by"], entry["review_ids"]) == (ids(second), [second["review_id"]])
    [signal] = section(client, "signals", until=second["known_at"])
    assert (signal["pending"], signal["review_ids"]) == (1, [first["review_id"]])
    assert section(client, "stale_constraints", until=first["known_at"]) == []


def test_a_limit_holds_for_each_section(client: httpx.Client) -> None:
    for entity in "abc":
        for value in ("Vim", "Emacs", "Vim"):
            send(client, editor(value, entity=entity))
    answer = insights(client, limit=2)
    lists = (
        answer["churn"],
        answer["flip_flops"],
        answer["lifetimes"]["by_slot"],
        answer["chain_lengths"]["longest"],
    )
    assert [len(told) for told in lists] == [2] * 4


def test_ids_are_bounded_and_the_count_is_not(client: httpx.Client) -> None:
    for number in range(25):
        send(client, editor(f"Editor {number % 2}", valid_from=f"20{number:02}-01-01"))
    answer = insights(client)
    [churn], [flips] = answer["churn"], answer["flip_flops"]
    assert (churn["changes"], churn["versions"], len(churn["memory_ids"])) == (24, 25, 20)
    assert (flips["returns"], len(flips["memory_ids"])) == (23, 20)
    assert (answer["retire_rates"][0]["retired"], len(answer["retire_rates"][0]["log_ids"])) == (
        24,
        20,
    )


def test_what_was_erased_leaves_ids_but_no_words(restless: httpx.Client) -> None:
    before = insights(restless)
    restless.post(
        "/v1/erasures", json={"agent_id": restless.headers["X-Agent-Id"]}
    ).raise_for_status()
    response = restless.get("/v1/insights")
    assert not [
        word
        for word in ("Vim", "Emacs", "editor", "tooling", "Alice", "Bob", "Lisbon", "Porto")
        if word in response.text
    ]
    after = response.json()
    [churn] = [entry for entry in after["churn"] if entry["changes"] == 2]
    assert (churn["slot"], churn["content"], churn["memory_ids"]) == (
        None,
        None,
        before["churn"][0]["memory_ids"],
    )
    assert after["flip_flops"] == []
    assert after["stale_constraints"][0]["content"] is None


def test_an_erased_value_is_like_no_other_and_the_words_of_the_slot_stay_with_the_rest(
    client: httpx.Client,
) -> None:
    vim, _, _ = (send(client, editor(value)) for value in ("Vim", "Emacs", "Vim"))
    client.delete(f"/v1/memories/{ids(vim)[0]}", params={"erase": True}).raise_for_status()
    answer = insights(client)
    assert answer["flip_flops"] == []
    assert (answer["churn"][0]["changes"], answer["churn"][0]["slot"]["key"]) == (2, "editor")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"section": "gossip"}, "churn"),
        ({"since": "2026-02-01", "until": "2026-01-01"}, "before until"),
        ({"since": "2026-01-01", "until": "2026-01-01"}, "before until"),
        ({"since": "someday"}, "RFC 3339"),
        ({"limit": 0}, "limit"),
        ({"limit": 1001}, "limit"),
        ({"stale_days": 0}, "stale_days"),
        ({"stale_days": 99_999}, "stale_days"),
        ({"known_at": "2026-01-01"}, "unknown field"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_to_do(
    client: httpx.Client, asked: Row, said: str
) -> None:
    assert said in problem(client.get("/v1/insights", params=asked), 422)["detail"]


# --- a random history --------------------------------------------------------------------------------------------------


def lines_of(memories: list[Row]) -> dict[tuple[Any, ...], list[Row]]:
    """The values of each slot that holds one at a time, else of each chain, in the order of valid time."""
    lines: defaultdict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for memory in sorted(memories, key=lambda m: m["valid_from"]):
        slot = (memory["entity"], memory["category"], memory["key"])
        lines[slot if memory["key"] else (memory["chain_id"],)].append(memory)
    return lines


def said(memory: Row) -> str:
    return str(memory["value"] or memory["content"]).casefold()


def changes_of(line: list[Row]) -> list[Row]:
    """The values that another one came before."""
    return [after for before, after in pairwise(line) if said(before) != said(after)]


def name_of(entry: Row) -> tuple[Any, ...]:
    return tuple(entry["slot"].values()) if entry["slot"] else (entry["chain_id"],)


def days_of(memory: Row) -> float:
    start, end = (datetime.fromisoformat(memory[name]) for name in ("valid_from", "valid_until"))
    return (end - start).total_seconds() / 86400


@pytest.mark.parametrize("seed", range(3))
def test_a_random_history_is_told_as_a_plain_computation_tells_it(
    client: httpx.Client, seed: int
) -> None:
    change_at_random(client, random.Random(seed))
    answer = insights(client, limit=1000)
    memories = client.get(
        "/v1/memories", params={"include_superseded": True, "limit": 1000}
    ).json()["items"]
    standing = [memory for memory in memories if memory["status"] != "reverted"]
    assert len({memory["valid_from"] for memory in standing}) == len(standing) < len(memories)
    lines = lines_of(standing)

    churn = {
        (*name, m["kind"]): n for name, line in lines.items() for m, n in _counted(changes_of(line))
    }
    assert {(*name_of(e), e["kind"]): e["changes"] for e in answer["churn"]} == churn
    assert sum(churn.values()) > 10

    runs = {name: line[:1] + changes_of(line) for name, line in lines.items()}
    flips = {
        name: [c for a, _, c in zip(run, run[1:], run[2:], strict=False) if said(a) == said(c)]
        for name, run in runs.items()
    }
    returns = {name: [m["id"] for m in reversed(back)][:20] for name, back in flips.items() if back}
    assert {name_of(e): e["memory_ids"] for e in answer["flip_flops"]} == returns
    assert returns

    ended = {
        name: [days_of(m) for m in line if m["valid_until"] and days_of(m) > 0]
        for name, line in lines.items()
    }
    lives = {
        name_of(e): (e["ended"], e["mean_days"], e["median_days"])
        for e in answer["lifetimes"]["by_slot"]
    }
    assert lives == {
        n: (len(d), pytest.approx(mean(d), abs=1e-3), pytest.approx(median(d), abs=1e-3))
        for n, d in ended.items()
        if d
    }

    lengths = Counter(Counter(memory["chain_id"] for memory in standing).values())
    assert {e["length"]: e["chains"] for e in answer["chain_lengths"]["histogram"]} == lengths
    _check_retire_rates(client, answer["retire_rates"])


def _counted(changes: list[Row]) -> Iterator[tuple[Row, int]]:
    """A change of each kind, with how many there are."""
    kinds = Counter(memory["kind"] for memory in changes)
    yield from (({"kind": kind}, number) for kind, number in kinds.items())


def _check_retire_rates(client: httpx.Client, told: list[Row]) -> None:
    log = client.get("/v1/log", params={"limit": 1000}).json()["items"]
    decided = [e for e in log if e["decided_by"] == "rule"]
    retired = [e for e in decided if e["operation"] in ("UPDATE", "DELETE", "SUPERSEDE")]
    undone = [e for e in retired if e["reverted_by"]]
    [entry] = told
    assert (entry["decided"], entry["retired"], entry["reverted"]) == (
        len(decided),
        len(retired),
        len(undone),
    )
    assert retired
    assert set(entry["log_ids"]) <= {e["id"] for e in retired}
