"""The command line for what a person decides."""

import json
from uuid import uuid4

import pytest

from support.questions import CARS, ask, open_agent, open_unsure
from support.service_process import palimpsest


@pytest.fixture
def words(service: str) -> tuple[str, ...]:
    return ("--url", service, "--agent", f"cli-{uuid4().hex}")


def test_reviews_are_listed_shown_accepted_and_undone(words: tuple[str, ...]) -> None:
    assert "shadow" in palimpsest("mode", "shadow", *words).stdout
    palimpsest("store", "I live in Porto", *words)
    stored = palimpsest("store", "I moved to Lisbon", *words)
    assert "waits for a person: review" in stored.stdout
    [waiting] = json.loads(palimpsest("reviews", "list", "--json", *words).stdout)["items"]
    listed = palimpsest("reviews", "list", *words).stdout
    assert waiting["id"] in listed
    assert "Does “I moved to Lisbon” end “I live in Porto”?" in listed
    shown = palimpsest("reviews", "show", waiting["id"], *words).stdout
    assert shown.index("before") < shown.index("after")
    assert "UPDATE" in shown
    accepted = palimpsest(
        "reviews", "accept", waiting["id"], "--note", "Yes, moved", "--json", *words
    )
    assert json.loads(accepted.stdout)["operation"] == "SUPERSEDE"
    assert "accepted" in palimpsest("reviews", "list", "--status", "all", *words).stdout
    undone = palimpsest("revert", json.loads(accepted.stdout)["log_id"], *words)
    assert "REVERT" in undone.stdout
    rejected = palimpsest("reviews", "reject", waiting["id"], *words)
    assert "NOOP" in rejected.stdout


def test_what_ended_is_named_by_its_letter(server_url: str, template_url: str) -> None:
    with open_unsure(server_url, template_url) as (_, address), open_agent(address) as client:
        agent = client.headers["X-Agent-Id"]
        words = ("--url", address, "--agent", agent)
        ids, found = ask(client, *CARS)
        letters = {each["memory_id"]: each["letter"] for each in found["candidates"]}
        shown = palimpsest("reviews", "show", found["id"], *words).stdout
        assert f"({letters[ids[1]]}) {CARS[1]}" in shown
        without = palimpsest("reviews", "accept", found["id"], *words)
        assert without.returncode == 1
        accepted = palimpsest(
            "reviews", "accept", found["id"], letters[ids[0]], ids[2], "--json", *words
        )
        assert {each["id"] for each in json.loads(accepted.stdout)["superseded"]} == {
            ids[0],
            ids[2],
        }


def test_an_open_question_is_answered_by_its_letter(server_url: str, template_url: str) -> None:
    with open_unsure(server_url, template_url) as (_, address), open_agent(address) as client:
        words = ("--url", address, "--agent", client.headers["X-Agent-Id"])
        ids, found = ask(client, *CARS)
        letters = {each["memory_id"]: each["letter"] for each in found["candidates"]}
        handle = found["id"][-6:]
        assert f"Q {handle}: " in palimpsest("context", *words).stdout
        wrong = palimpsest("answer", handle, "z", *words)
        assert (wrong.returncode, "no (z)" in wrong.stderr) == (1, True)
        chosen = [letters[memory_id] for memory_id in ids[:2]]
        answered = palimpsest("answer", handle, *chosen, "--json", *words)
        result = json.loads(answered.stdout)["result"]
        assert {each["id"] for each in result["superseded"]} == set(ids[:2])
        assert handle not in palimpsest("context", *words).stdout
        palimpsest("revert", result["log_id"], *words)
        assert "NOOP" in palimpsest("answer", handle, "none", *words).stdout


def test_a_frozen_agent_says_what_it_keeps_back(words: tuple[str, ...]) -> None:
    assert "frozen" in palimpsest("mode", "frozen", *words).stdout
    assert "held back as review" in palimpsest("store", "I live in Porto", *words).stdout
    assert "as the settings say" in palimpsest("mode", "default", *words).stdout


def test_forgetting_asks_first_and_prints_the_receipt_with_its_key(words: tuple[str, ...]) -> None:
    stored = json.loads(palimpsest("store", "I live in Porto", "--json", *words).stdout)
    memory_id = stored["memory"]["id"]
    asked = palimpsest("erase", memory_id, *words)
    assert asked.returncode == 1
    assert "(erased)" not in palimpsest("history", memory_id, *words).stdout
    receipt = palimpsest("erase", memory_id, "--yes", *words)
    assert "key" in receipt.stdout
    assert "(erased)" in palimpsest("history", memory_id, *words).stdout
    palimpsest("store", "I play tennis", *words)
    assert "ERASE" in palimpsest("erase", "--everything", "--yes", *words).stdout


@pytest.mark.parametrize("given", [(), ("--session", "a", "--everything")])
def test_forgetting_needs_exactly_one_scope(words: tuple[str, ...], given: tuple[str, ...]) -> None:
    refused = palimpsest("erase", *given, "--yes", *words)
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1


ID = "00000000-0000-7000-8000-000000000000"
OTHER_ID = "00000000-0000-7000-8000-000000000001"


@pytest.mark.parametrize(
    "given",
    [
        (),
        (ID, "--sweep", OTHER_ID),
        ("--sweep", ID, "--store"),
        (ID, "--actor", "b"),
        ("--sweep", ID, "--actor", "b"),
        ("--sweep", ID, "--since", "2026-01-01"),
        ("--since", "2026-01-01"),
        (ID, "--dry-run"),
    ],
)
def test_undoing_needs_an_operation_a_sweep_or_an_actor(
    words: tuple[str, ...], given: tuple[str, ...]
) -> None:
    refused = palimpsest("revert", *given, *words)
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert "--sweep" in refused.stderr


def test_all_that_an_actor_wrote_is_undone(words: tuple[str, ...]) -> None:
    palimpsest("store", "I play tennis", *words)
    assert "anonymous" in palimpsest("log", "--actor", "anonymous", *words).stdout
    undo = ("revert", "--actor", "anonymous", "--since", "2026-01-01", *words)
    tried = palimpsest(*undo, "--dry-run")
    assert "(dry run)" in tried.stdout, tried
    assert "REVERT" in palimpsest(*undo).stdout
    assert "nothing" in palimpsest(*undo, "--dry-run").stdout
