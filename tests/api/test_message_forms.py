"""Messages as SDKs write them: the dumps were made by openai 3.57, anthropic 2.14, google-genai 3.6, langchain-core 1.8
and pydantic-ai 2.68, and by hand after Vercel's AI SDK."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.api.message_forms import MAX_MESSAGE, MAX_MESSAGES, read_message
from app.api.secrets import SecretRemover
from support.messages import Answer, capture, list_contents, list_facts, talk

DUMPS: dict[str, list[Answer]] = json.loads(
    Path(__file__).with_name("message_dumps.json").read_text()
)
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}


@pytest.mark.parametrize("sdk", DUMPS)
def test_the_messages_of_an_sdk_are_taken_as_they_are(client: httpx.Client, sdk: str) -> None:
    """Each talk has an image, a tool's call and result that speak in the first person, and a confirmed proposal."""
    answer = client.post("/v1/messages", json={"messages": DUMPS[sdk]})
    assert answer.status_code == 200, answer.text
    assert list_contents(client) == ["I am vegetarian", "I live in Braga"]
    users = [each for each in answer.json()["messages"] if each["role"] == "user"]
    assert users[-1]["content"] == "Yes, exactly."
    left_out = {part["reason"] for part in users[0]["skipped"]}
    assert left_out == {"left_out"}
    for message in answer.json()["messages"]:
        assert message["facts"] or message["skipped"], message


@pytest.mark.parametrize(
    ("message", "role", "content"),
    [
        ({"role": "developer", "content": "a"}, "system", "a"),
        ({"role": "function", "content": "a"}, "tool", "a"),
        ({"role": "human", "content": "a"}, "user", "a"),
        ({"role": "ai", "content": "a"}, "assistant", "a"),
        ({"role": "User", "content": "a"}, "user", "a"),
        ({"role": "model", "parts": None}, "assistant", ""),
        ({"parts": [{"text": "a"}]}, "user", "a"),
        ({"role": "assistant", "content": None}, "assistant", ""),
        ({"role": "assistant", "tool_calls": [{"id": "1"}]}, "assistant", "[left out: tool calls]"),
        ({"role": "assistant", "content": "", "audio": {"id": "1"}}, "assistant", "[left out: audio]"),
        ({"role": "assistant", "refusal": "No."}, "assistant", "No."),
        ({"type": "HumanMessageChunk", "content": "a"}, "user", "a"),
        ({"type": "ToolMessageChunk", "content": "a"}, "tool", "a"),
        ({"type": "remove", "content": ""}, "assistant", "[left out: remove]"),
        ({"role": "user", "content": [IMAGE, "a", {"text": "b"}]}, "user", "a\nb\n[left out: image url]"),
        ({"role": "user", "content": IMAGE}, "user", "[left out: image url]"),
        ({"role": "user", "content": [{"type": "text", "text": {"value": "a"}}]}, "user", "a"),
        ({"role": "user", "content": [1, {"type": ["x"]}, {}]}, "user", "\n".join(["[left out: unknown part]"] * 3)),
        ({"type": "computer_call_output", "output": "a"}, "tool", "[left out: computer call output]"),
        ({"role": "user", "content": "a\0b\ud800c\ud83d\ude00"}, "user", "a\ufffdb\ufffdc😀"),
    ],
)  # fmt: skip
def test_a_form_has_one_plain_message(message: Answer, role: str, content: str) -> None:
    assert read_message(message) == {"role": role, "content": content}


def test_a_deep_nest_of_parts_is_one_unknown_part() -> None:
    nest: Any = "I live in Braga."
    for _ in range(300):
        nest = [nest]
    plain = read_message({"role": "user", "content": nest})
    assert plain["content"] == "[left out: unknown part]"


def test_what_is_left_out_is_no_answer_to_a_search(client: httpx.Client) -> None:
    called = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
    capture(client, [{"role": "user", "content": "Call the tools, please."}, called])
    found = client.get("/v1/search", params={"q": "tool calls left out", "include": "turns"}).json()
    assert [turn["content"] for turn in found["turns"]] == ["Call the tools, please."]


def test_unknown_fields_are_dropped_unless_they_seem_to_mean_one_of_ours() -> None:
    plain = {"role": "user", "content": "a", "id": "7", "name": "Ada"}
    sent = {"role": "user", "content": "a", "id": 7, "name": "Ada", "refusal": None, "zebra": 1}
    assert read_message(sent) == plain
    assert read_message(sent | {"created_at": 1}) == plain | {"created_at": 1}


@pytest.mark.parametrize("name", ["timestamp", "created_at", "reference_time"])
def test_a_time_under_another_name_leads_to_the_right_one(client: httpx.Client, name: str) -> None:
    message = {"role": "user", "content": "Hello", name: "2026-01-05"}
    answer = client.post("/v1/messages", json={"session_id": "a", "messages": [message]})
    assert answer.status_code == 422
    assert answer.json()["detail"] == f"messages.0.{name}: unknown field; did you mean `at`?"


def test_a_text_beside_a_large_image_is_taken(client: httpx.Client) -> None:
    picture = {"url": "data:image/png;base64," + "QUJD" * 250_000}
    parts = [{"type": "image_url", "image_url": picture}, {"type": "text", "text": "I live in Rome"}]  # fmt: skip
    answer = capture(client, [{"role": "user", "content": parts}])
    [fact] = list_facts(answer)
    assert fact["content"] == "I live in Rome"


def test_the_end_of_a_very_long_message_is_left_out(client: httpx.Client) -> None:
    line = "2026-03-01 10:00:00 INFO all is well\n"
    sent = "I live in Braga.\n" + line * 2_000
    answer = capture(client, [{"role": "user", "content": sent}], status=202)
    [message] = client.get(f"/v1/captures/{answer['capture_id']}").json()["messages"]
    assert len(message["content"]) <= MAX_MESSAGE
    left = len(sent) - message["content"].rindex("\n[left out: ")
    assert message["content"].endswith(f"\n[left out: {left} more characters]")


def test_a_sentence_without_an_end_takes_no_time(client: httpx.Client) -> None:
    """The network took half a minute for such a message."""
    sent = "I live in Braga. " + '"q" ' * 4_000 + "."
    answer = capture(client, [{"role": "user", "content": sent}], dry_run=True)
    assert [fact["content"] for fact in list_facts(answer)] == ["I live in Braga"]
    assert {part["reason"] for part in answer["messages"][0]["skipped"]} == {"no_statement"}


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("Don't remember that I like jazz.", {"I live in Utrecht"}),
        ("I own a boat. Please forget that I like jazz.", {"I live in Utrecht", "I own a boat"}),
        ('My aunt said "forget that I like jazz".', {"I live in Utrecht", "I like jazz"}),
        ("Forget Oslo, I live in Rome.", {"I live in Rome", "I like jazz"}),
    ],
)
def test_a_command_to_forget_ends_what_it_names(
    client: httpx.Client, said: str, left: set[str]
) -> None:
    """A part of it says the contrary, and was stored."""
    capture(client, talk("I live in Utrecht.", "I like jazz.", ids=False))
    capture(client, said)
    assert set(list_contents(client)) == left


def test_messages_that_no_call_takes_are_not_searched_for_secrets(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(SecretRemover, "_remove_from_field", search)
    for messages, words in (
        ([{"role": "user", "content": "x"}] * (MAX_MESSAGES + 1), "201 are too many"),
        (["x" * 60_000] * 2, "120,000 characters"),
    ):
        refused = client.post("/v1/messages", json={"session_id": "s", "messages": messages})
        assert refused.status_code == 422
        assert words in refused.json()["detail"]


def test_a_mark_holds_the_name_of_a_part_and_nothing_else() -> None:
    token = "ghp" + "_" + "a1B2c3D4e5F6" * 3
    for part in (
        {"type": token},
        {token: 1},
        {"type": {"password": "hunter2"}},
        {"type": "x" * 99},
    ):
        message = read_message({"role": "user", "content": [part]})
        assert message["content"] == "[left out: unknown part]"


def test_secrets_in_parts_are_taken_out(client: httpx.Client) -> None:
    key = "sk-proj-" + "Ab1" * 16
    parts = [{"type": "text", "text": f"My key is {key}."}]
    answer = capture(client, [{"role": "user", "content": parts}])
    assert answer["redacted"] == 1
    assert key not in answer["messages"][0]["content"]


def test_messages_without_a_session_make_one_of_their_own(client: httpx.Client) -> None:
    message = {"role": "user", "content": "I live in Braga.", "id": "m1"}
    key = {"Idempotency-Key": "once"}
    first, again = (
        client.post("/v1/messages", json={"messages": [message]}, headers=key).json()
        for _ in range(2)
    )
    other = client.post("/v1/messages", json={"messages": [message]}).json()
    assert first["session_id"] == f"capture-{first['capture_id']}" == again["session_id"]
    assert other["session_id"] not in (first["session_id"], None)
    assert list_contents(client) == ["I live in Braga"]
    found = client.get("/v1/memories", params={"session_id": first["session_id"]}).json()
    assert len(found["items"]) == 1
