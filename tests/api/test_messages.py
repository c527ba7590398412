"""POST /v1/messages: messages become rows, and what users state in them becomes memories."""

import httpx
import pytest

from app.settings import load_settings
from support.builders import problem
from support.messages import capture, list_contents, list_facts, talk
from support.service import running


def test_a_statement_of_a_user_becomes_a_memory(client: httpx.Client) -> None:
    answer = capture(client, talk("I live in Lisbon. How are you?"))
    [message] = answer["messages"]
    [fact] = message["facts"]
    assert answer["state"] == "done"
    assert fact["operation"] == "ADD"
    assert fact["answer"]["memory"]["id"] == fact["memory_id"]
    assert fact["answer"]["memory"]["trust"] == 40
    [quote] = fact["quotes"]
    assert message["content"][quote["start"] : quote["end"]] == quote["text"]
    assert quote["text"].startswith("I live in Lisbon")
    [skipped] = message["skipped"]
    assert (skipped["text"], skipped["reason"]) == ("How are you?", "small_talk")
    assert len(list_contents(client)) == 1


def test_a_message_that_is_sent_again_changes_nothing(client: httpx.Client) -> None:
    first = capture(client, talk("I live in Lisbon."))
    log = client.get("/v1/log").json()["items"]
    second = capture(client, talk("I live in Lisbon.", "My dog is called Rex."))
    again, new = second["messages"]
    assert (again["repeated"], new["repeated"]) == (True, False)
    assert again["capture_id"] == first["capture_id"]
    assert [f["memory_id"] for f in again["facts"]] == [f["memory_id"] for f in list_facts(first)]
    assert (second["total"], second["repeated"]) == (1, 1)
    assert len(client.get("/v1/log").json()["items"]) == len(log) + 1


def test_the_same_id_in_another_session_is_another_message(client: httpx.Client) -> None:
    capture(client, talk("I live in Lisbon."), session="one")
    answer = capture(client, talk("I live in Lisbon."), session="two")
    [fact] = list_facts(answer)
    assert fact["operation"] == "NOOP"
    assert not answer["messages"][0]["repeated"]


def test_a_dry_run_writes_nothing(client: httpx.Client) -> None:
    answer = capture(client, talk("I live in Lisbon."), dry_run=True)
    [fact] = list_facts(answer)
    assert (answer["capture_id"], answer["dry_run"], answer["state"]) == (None, True, "done")
    assert (fact["operation"], fact["memory_id"], fact["log_id"]) == ("ADD", None, None)
    assert list_contents(client) == []
    assert not capture(client, talk("I live in Lisbon."))["messages"][0]["repeated"]


def test_an_idempotency_key_gives_the_same_answer_again(client: httpx.Client) -> None:
    key = {"Idempotency-Key": "one"}
    first = capture(client, "I live in Lisbon.", headers=key)
    assert capture(client, "I live in Lisbon.", headers=key) == first


def test_messages_alone_are_stored_if_nothing_is_to_be_read(client: httpx.Client) -> None:
    answer = capture(client, talk("I live in Lisbon."), extract="off")
    assert (answer["state"], answer["extractor"], list_facts(answer)) == ("done", "off", [])
    assert list_contents(client) == []


@pytest.mark.parametrize("dry_run", [False, True])
def test_nothing_reads_messages_that_are_all_known(client: httpx.Client, *, dry_run: bool) -> None:
    capture(client, talk("I live in Lisbon."))
    again = capture(client, talk("I live in Lisbon."), extract="network", dry_run=dry_run)
    assert (again["extract"], again["extractor"], again["state"]) == ("network", "off", "done")


def test_secrets_are_taken_out_before_anything_is_stored(client: httpx.Client) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    answer = capture(client, talk(f"My deploy token is {secret}."))
    assert answer["redacted"] == 1
    assert secret not in str(answer)
    assert list_facts(answer) == []
    [skipped] = answer["messages"][0]["skipped"]
    assert (skipped["reason"], skipped["text"]) == (
        "redacted",
        "My deploy token is [redacted: github_token].",
    )


def test_secrets_are_refused_where_the_settings_say_so(database_url: str) -> None:
    settings = load_settings(database_url=database_url, secrets="refuse")
    with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        messages = talk("I live in Lisbon.", "My token is ghp_" + "a1B2c3D4e5F6" * 3)
        body = {"session_id": "chat", "messages": messages}
        refused = problem(client.post("/v1/messages", json=body), 422)
        assert refused["type"].endswith("secrets")
        assert "1" in refused["detail"]
        assert "ghp_" not in refused["detail"]
        assert not capture(client, messages[:1])["messages"][0]["repeated"]


# --- no feedback ----------------------------------------------------------------------------------


def build_round(client: httpx.Client, number: int) -> list[dict[str, str]]:
    """Return what an agent sends after a turn: a prompt with the context, an echo, and a yes."""
    context = client.get("/v1/context").json()["text"]
    lines = [line for line in context.splitlines() if line.startswith("- ")]
    bare = [line.removeprefix("- ").partition(" (")[0] for line in lines]
    return [
        {"role": "user", "content": f"{context}\nWhat do you know about me? {number}"},
        {"role": "assistant", "content": "\n".join(["I remember this:", *lines])},
        {"role": "user", "content": "Thanks!"},
        {"role": "assistant", "content": f"You said: {bare[number % len(bare)]}"},
        {"role": "user", "content": "Yes, exactly."},
        {"role": "user", "content": "\n".join(lines)},
    ]


def test_fifty_rounds_of_context_answer_and_capture_give_no_new_fact(client: httpx.Client) -> None:
    capture(
        client,
        talk("I live in Lisbon.", "My sister is called Anna.", "I am allergic to penicillin."),
    )
    before = list_contents(client)
    assert len(before) == 3
    log = client.get("/v1/log", params={"limit": 1000}).json()["items"]
    for number in range(50):
        answer = capture(client, build_round(client, number))
        assert list_facts(answer) == []
    assert list_contents(client) == before
    assert client.get("/v1/log", params={"limit": 1000}).json()["items"] == log


def test_a_user_who_repeats_a_fact_confirms_it(client: httpx.Client) -> None:
    [first] = list_facts(capture(client, "I live in Lisbon."))
    [again] = list_facts(capture(client, "I live in Lisbon!"))
    assert (again["operation"], again["memory_id"]) == ("NOOP", first["memory_id"])
    assert again["answer"]["memory"]["access_count"] == 1


# --- confirmed proposals --------------------------------------------------------------------------


def test_what_the_assistant_proposes_becomes_a_fact_when_the_user_confirms_it(
    client: httpx.Client,
) -> None:
    proposal = talk("So you are allergic to penicillin?", role="assistant")
    assert list_facts(capture(client, proposal)) == []
    answer = capture(client, [{"id": "yes", "role": "user", "content": "Yes, exactly."}])
    [fact] = list_facts(answer)
    assert fact["content"] == "I am allergic to penicillin"
    own, proposed = fact["quotes"]
    assert (own["role"], own["message_id"]) == ("user", "yes")
    assert (proposed["role"], proposed["message_id"]) == ("assistant", "m0")
    assert "allergic to penicillin" in proposed["text"]


# --- facts of one sentence ------------------------------------------------------------------------


def test_facts_of_one_sentence_quote_the_same_words(client: httpx.Client) -> None:
    text = "I live in Lisbon and my sister is called Anna."
    facts = list_facts(capture(client, text))
    assert len(facts) == 2
    assert facts[0]["quotes"] == facts[1]["quotes"]
    assert len(list_facts(capture(client, text, session="two", split="off"))) == 1


def test_a_fact_holds_since_it_was_said(client: httpx.Client) -> None:
    message = {"role": "user", "content": "I live in Lisbon.", "at": "2026-01-05T10:00:00Z"}
    [fact] = list_facts(capture(client, [message]))
    assert fact["answer"]["memory"]["valid_from"] == "2026-01-05T10:00:00.000000Z"
