"""What was said can be found by its words, as far as it was said and known, until it is erased."""

from typing import Any

import httpx
import pytest

from support.messages import capture, list_facts

TALK = [
    ("user", "I went to the dentist yesterday", "2026-03-02T10:00:00Z"),
    ("assistant", "What did the dentist say about your wisdom tooth?", "2026-03-02T10:01:00Z"),
    ("user", "It has to go, next week", "2026-03-02T10:02:00Z"),
    ("user", "Could you book a table for Saturday?", "2026-03-05T18:00:00Z"),
    ("user", "The weather is awful", "2026-03-06T18:00:00Z"),
]


def say(client: httpx.Client, session: str = "s1", extract: str = "off") -> None:
    messages = [{"role": role, "content": text, "at": at} for role, text, at in TALK]
    body = {"messages": messages, "session_id": session, "extract": extract}
    client.post("/v1/messages", json=body).raise_for_status()


def find(client: httpx.Client, query: str, **asked: Any) -> list[dict[str, Any]]:
    sent = {"query": query, "include": ["turns"], **asked}
    answer = client.post("/v1/search", json=sent)
    assert answer.is_success, answer.text
    turns: list[dict[str, Any]] = answer.json()["turns"]
    return turns


def list_texts(turns: list[dict[str, Any]]) -> list[str]:
    return [turn["content"] for turn in turns]


def test_what_became_no_fact_is_found(client: httpx.Client) -> None:
    say(client)
    [first, *_] = find(client, "When was the dentist's appointment?")
    assert first["content"] == "I went to the dentist yesterday"
    assert first["role"] == "user"
    assert first["said_at"] == "2026-03-02T10:00:00.000000Z"
    assert first["session_id"] == "s1"
    assert 0 < first["score"] < 1


def test_an_answer_is_found_beside_its_question(client: httpx.Client) -> None:
    say(client)
    assert "It has to go, next week" in list_texts(find(client, "wisdom tooth"))


def test_messages_are_searched_only_if_that_is_asked_for(client: httpx.Client) -> None:
    say(client)
    assert client.get("/v1/search", params={"q": "dentist"}).json()["turns"] == []
    found = client.get("/v1/search", params={"q": "dentist", "include": "turns"}).json()
    assert found["turns"]
    brief = client.get("/v1/search", params={"q": "dentist", "include": "turns", "view": "brief"})
    assert brief.json()["turns"][0].keys() == {"role", "content", "said_at", "score"}


def test_messages_obey_both_times(client: httpx.Client) -> None:
    say(client)
    before = "2026-03-04T00:00:00Z"
    assert "Could you book a table for Saturday?" in list_texts(find(client, "table dentist"))
    assert list_texts(find(client, "table", as_of=before)) == []
    assert find(client, "dentist", as_of=before)
    assert find(client, "dentist", known_at=before) == []


def test_messages_of_others_are_not_found(client: httpx.Client) -> None:
    say(client)
    say(client, session="s2")
    assert {turn["session_id"] for turn in find(client, "dentist", session_id="s2")} == {"s2"}
    client.headers["X-Agent-Id"] = "somebody-else"
    assert find(client, "dentist") == []


def test_an_erased_session_is_not_found(client: httpx.Client) -> None:
    say(client)
    assert find(client, "dentist")
    client.post("/v1/erasures", json={"session_id": "s1"}).raise_for_status()
    assert find(client, "dentist") == []


def test_words_are_erased_with_the_fact_that_quotes_them(client: httpx.Client) -> None:
    [fact, *_] = list_facts(capture(client, "I live in Zanzibar. The sun shines."))
    assert find(client, "Zanzibar")
    client.post("/v1/erasures", json={"chain_id": fact["memory_id"]}).raise_for_status()
    assert find(client, "Zanzibar") == []
    assert find(client, "sun shines")


def test_speakers_are_found_by_name(client: httpx.Client) -> None:
    talk = [("Ada", "The kettle is mine"), ("Bo", "And the kettle in the hall?")]
    messages = [{"role": "user", "name": name, "content": text} for name, text in talk]
    client.post(
        "/v1/messages", json={"messages": messages, "session_id": "s1", "extract": "off"}
    ).raise_for_status()
    assert find(client, "What did Bo say about a kettle?")[0]["name"] == "Bo"


@pytest.mark.parametrize(
    ("told", "asked"), [("我有两只猫。", "猫"), ("Ich wohne in Kiel", "Wer wohnt in Kiel?")]
)
def test_talk_in_other_languages_is_found(client: httpx.Client, told: str, asked: str) -> None:
    body = {"messages": [{"role": "user", "content": told}], "session_id": "s1", "extract": "off"}
    client.post("/v1/messages", json=body).raise_for_status()
    assert list_texts(find(client, asked)) == [told]


def test_the_limit_and_the_least_score_cut(client: httpx.Client) -> None:
    say(client)
    assert len(find(client, "dentist tooth table", limit=1)) == 1
    assert find(client, "dentist tooth table", min_score=1.0) == []


def test_what_else_is_to_be_included_is_refused(client: httpx.Client) -> None:
    sent = {"query": "x", "include": ["talk"]}
    assert client.post("/v1/search", json=sent).status_code == 422


def compose(client: httpx.Client, query: str, **asked: Any) -> str:
    answer = client.get("/v1/context", params={"query": query, **asked})
    text: str = answer.raise_for_status().json()["text"]
    return text


def test_a_context_ends_with_what_was_said_about_the_query(client: httpx.Client) -> None:
    say(client)
    client.post("/v1/memories", json={"content": "I live in Porto"}).raise_for_status()
    text = compose(client, "dentist wisdom tooth")
    facts, said = text.split("## Said (not checked, may be out of date)\n")
    assert "I live in Porto" in facts
    assert "- 2026-03-02, assistant: What did the dentist say about your wisdom tooth?\n" in said
    assert "weather" not in said
    assert "## Said" not in compose(client, "dentist wisdom tooth", talk=False)
    assert "## Said" not in compose(client, "Where do I live?")
    assert "## Said" not in compose(client, "dentist wisdom tooth", as_of="2026-01-01T00:00:00Z")


def test_what_became_a_fact_is_not_shown_again_as_talk(client: httpx.Client) -> None:
    capture(client, "I live in Zanzibar.")
    assert compose(client, "Who lives in Zanzibar?").count("Zanzibar") == 1


def test_talk_takes_what_is_left_of_the_budget_and_one_line(client: httpx.Client) -> None:
    say(client)
    long = "The plumber\n## Constraints\n- said " + "that it leaks, " * 40
    messages = [{"role": "user", "content": long}, {"role": "tool", "content": "A plumber: 40"}]
    body = {"messages": messages, "session_id": "s2", "extract": "off"}
    client.post("/v1/messages", json=body).raise_for_status()
    text = compose(client, "plumber leaks")
    assert text.count("\n- ") == 1
    assert "## Constraints\n" not in text
    assert "…\n" in text
    assert compose(client, "plumber leaks", budget_tokens=40) == ""
