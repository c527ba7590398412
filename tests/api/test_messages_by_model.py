"""POST /v1/messages with a model: what it is asked, what counts of its answer, and what it costs."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import psycopg
import pytest

from app.jobs.worker import run_worker
from app.settings import InvalidSettings, load_settings
from support.builders import problem
from support.messages import Answer, capture, list_contents, list_facts, talk
from support.scripted_model import Request, ScriptedModel, Step, fails, says
from support.service import running


@contextmanager
def serve_with_model(
    database_url: str, *steps: Step, **settings: Any
) -> Iterator[tuple[httpx.Client, ScriptedModel]]:
    """A service whose model answers with these steps, and whose facts no model judges."""
    with ScriptedModel(*steps) as model:
        chosen = {"classify": "signals", "llm_tries": 1, "capture_quiet_seconds": 0} | settings
        loaded = load_settings(database_url=database_url, llm_base_url=model.url, **chosen)
        with running(loaded) as address, httpx.Client(base_url=address, timeout=60) as client:
            yield client, model


def answer_with(*facts: tuple[int, str, str], **more: Any) -> Step:
    """Return the answer of a model that read these facts: the turn, the quote and the words."""
    entries = []
    for turn, quote, fact in facts:
        entries.append({"turn": turn, "quote": quote, "fact": fact} | more)
    return says(json.dumps({"facts": entries}))


def list_skipped(answer: Answer) -> list[tuple[str, str]]:
    parts = [part for message in answer["messages"] for part in message["skipped"]]
    return [(part["text"], part["reason"]) for part in parts]


def count_characters(model: ScriptedModel) -> int:
    """Return the characters of all messages that the model was sent."""
    texts = [
        message["content"] for request in model.requests for message in request.json["messages"]
    ]
    return sum(map(len, texts))


# --- who reads ------------------------------------------------------------------------------------


def test_a_model_that_is_set_reads_messages_and_a_call_may_choose_the_rules(
    database_url: str,
) -> None:
    text = "I live in Lisbon"
    with serve_with_model(database_url, answer_with((1, text, text))) as (client, model):
        by_network = capture(client, text, extract="network", dry_run=True)
        assert (by_network["extractor"], len(model.requests)) == ("network", 0)
        answer = capture(client, text)
        assert (answer["extract"], answer["extractor"]) == ("model", "model")
        assert (answer["trouble"], len(model.requests)) == (None, 1)


def test_the_settings_may_leave_messages_to_the_rules_although_a_model_is_set(
    database_url: str,
) -> None:
    text = "I live in Lisbon"
    answers = answer_with((1, text, text))
    with serve_with_model(database_url, answers, extract="network") as (client, model):
        assert capture(client, text, dry_run=True)["extractor"] == "network"
        assert capture(client, text, extract="model")["extractor"] == "model"
        assert len(model.requests) == 1


def test_a_model_that_is_not_set_cannot_be_chosen(client: httpx.Client) -> None:
    assert capture(client, "I live in Lisbon.", dry_run=True)["extractor"] == "network"
    messages = talk("I live in Lisbon.")
    body = {"session_id": "chat", "messages": messages, "extract": "model"}
    refused = problem(client.post("/v1/messages", json=body), 422)
    assert refused["type"].endswith("no-model")
    assert "PALIMPSEST_LLM_BASE_URL" in refused["detail"]
    assert not capture(client, messages)["messages"][0]["repeated"]
    with pytest.raises(InvalidSettings, match="PALIMPSEST_EXTRACT: model needs"):
        load_settings(extract="model")


def test_a_model_that_fails_is_replaced_by_the_rules_and_the_answer_says_so(
    database_url: str,
) -> None:
    with serve_with_model(database_url, fails(500)) as (client, _):
        answer = capture(client, "I live in Lisbon.")
    assert answer["extractor"] == "network"
    assert answer["trouble"]
    assert len(list_facts(answer)) == 1


# --- what the model is asked ----------------------------------------------------------------------


def test_a_question_is_about_the_new_turns_and_begins_like_every_other(database_url: str) -> None:
    with serve_with_model(database_url, answer_with()) as (client, model):
        capture(client, "My brother Tom has a dog.")
        capture(client, talk("So he lives in York?", role="assistant", ids=False))
        model.then(answer_with((1, "Yes, exactly", "Tom lives in York"), proposal="lives in York"))
        answer = capture(client, "Yes, exactly.")
        [question] = model.requests
    assert [turn["text"] for turn in question.data["turns"]] == ["Yes, exactly."]
    earlier = [turn["text"] for turn in question.data["earlier"]]
    assert earlier == ["My brother Tom has a dog.", "So he lives in York?"]
    assert "Tom" not in question.json["messages"][0]["content"].split("Example:")[0]
    [fact] = list_facts(answer)
    assert [quote["text"] for quote in fact["quotes"]] == ["Yes, exactly", "lives in York"]


def test_a_model_does_not_see_the_context_and_repeats_nothing_of_it(database_url: str) -> None:
    text = "I live in Lisbon"
    with serve_with_model(database_url, answer_with((1, text, text))) as (client, model):
        capture(client, text)
        context = client.get("/v1/context").json()["text"]
        model.then(answer_with((1, text, text)))
        messages = talk(f"{context}\nMy dog is called Rex.", role="user")
        messages += talk(f"You said: {text}", role="assistant", ids=False)
        answer = capture(client, messages, session="two")
        [question] = model.requests
        assert text not in json.dumps(question.json)
    assert list_facts(answer) == []
    assert "repeated_context" in {reason for _, reason in list_skipped(answer)}


def test_a_model_sees_no_secret_and_can_make_no_fact_of_one(database_url: str) -> None:
    taken = answer_with(
        (1, "My PIN is", "My PIN is 4471"), (1, "I live in Porto", "I live in Porto")
    )
    with serve_with_model(database_url, taken) as (client, model):
        answer = capture(client, "I live in Porto. My PIN is 4471. My token is ghp_" + "a1B2c3" * 6)
        [question] = model.requests
        assert [turn["text"].split() for turn in question.data["turns"]] == [
            ["I", "live", "in", "Porto."]
        ]
        assert list_contents(client) == ["I live in Porto"]
    assert answer["redacted"] == 2
    assert ("My PIN is [redacted: pin].", "redacted") in list_skipped(answer)


@pytest.mark.parametrize(
    ("text", "reason"), [("Thanks!", "small_talk"), ("What can I cook?", "question")]
)
def test_no_model_is_asked_about_small_talk(database_url: str, text: str, reason: str) -> None:
    with serve_with_model(database_url, answer_with()) as (client, model):
        answer = capture(client, text)
        assert model.requests == []
    assert (answer["extractor"], list_skipped(answer)) == ("model", [(text, reason)])


@pytest.mark.parametrize(
    "text",
    [
        "Forget about the trip to Rome.",
        "Always answer in German.",
        "Can you suggest a wine for my vegan wife?",
        "私は看護師です",
        "Moro em Lisboa.",
    ],
)
def test_a_model_is_asked_about_all_that_may_state_something(database_url: str, text: str) -> None:
    with serve_with_model(database_url, answer_with()) as (client, model):
        capture(client, text)
        assert len(model.requests) == 1


# --- what counts of its answer --------------------------------------------------------------------


def test_a_model_reads_the_facts_in_one_question(database_url: str) -> None:
    reading = answer_with((2, "im a nurse", "I'm a nurse"), (2, "in Oslo", "I live in Oslo"))
    with serve_with_model(database_url, reading) as (client, model):
        messages = talk("What do you do?", role="assistant")
        messages.append({"role": "user", "content": "im a nurse, in Lisbon these days"})
        answer = capture(client, messages)
        assert len(model.requests) == 1
    contents = {fact["content"]: fact["quotes"][0]["text"] for fact in list_facts(answer)}
    assert contents == {"I'm a nurse": "im a nurse"}, "nobody said the other"
    assert answer["messages"][1]["skipped"][0]["reason"] == "unsupported"


def test_what_a_model_says_ended_ends(database_url: str) -> None:
    told = "I am allergic to latex"
    ended = "I am no longer allergic to latex"
    with serve_with_model(database_url, answer_with((1, told, told))) as (client, model):
        [first] = list_facts(capture(client, told))
        model.then(answer_with((1, "im not allergic to latex after all", ended)))
        [fact] = list_facts(capture(client, "im not allergic to latex after all, btw"))
        memory = client.get(f"/v1/memories/{first['memory_id']}").json()
    assert fact["content"] == ended
    assert memory["status"] != "live"


def test_a_fact_of_a_model_stays_whole(database_url: str) -> None:
    text = "I work in Leeds, but my wife works in York"
    with serve_with_model(database_url, answer_with((1, text, text))) as (client, _):
        assert len(list_facts(capture(client, text, extract="network", dry_run=True))) == 2
        assert [fact["content"] for fact in list_facts(capture(client, text))] == [text]


@pytest.mark.parametrize("text", ["Moro em Lisboa", "私は看護師です"])
def test_what_is_only_unlikely_to_be_about_the_user_stays(database_url: str, text: str) -> None:
    with serve_with_model(database_url, answer_with((1, text, text))) as (client, _):
        assert [fact["content"] for fact in list_facts(capture(client, text))] == [text]


def test_a_standing_instruction_becomes_a_preference(database_url: str) -> None:
    text = "Always answer in German"
    told = answer_with((1, text, text), kind="preference")
    with serve_with_model(database_url, told) as (client, _):
        [fact] = list_facts(capture(client, text + "."))
    assert fact["answer"]["memory"]["kind"] == "preference"


def test_what_is_surely_not_about_the_user_is_skipped_with_its_reason(database_url: str) -> None:
    facts = ("The film was great", "I hate Mondays", "My sister is a vet")
    text = f'{facts[0]}. In it she says "{facts[1]}". {facts[2]}.'
    reading = answer_with(*((1, fact, fact) for fact in facts))
    with serve_with_model(database_url, reading) as (client, _):
        answer = capture(client, text)
    assert [fact["content"] for fact in list_facts(answer)] == [facts[2]]
    skipped = list_skipped(answer)
    assert (facts[0], "not_personal") in skipped
    assert (facts[1], "quotation") in skipped


# --- what it costs --------------------------------------------------------------------------------

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_TALK = (
    "On {day} I visit my aunt in Porto and bring her the groceries, because she cannot drive.",
    "Thanks!",
    "What can I cook when it is hot outside?",
    "Oh, and my son has his swimming lessons on {day} now, at the pool near the station.",
    "Can you make that list shorter and sort it by price, please?",
)


def build_session() -> list[Answer]:
    """Return 60 turns: a user's and an answer of the assistant in turn."""
    messages: list[Answer] = []
    for number in range(30):
        text = _TALK[number % 5].format(day=_DAYS[number % 6])
        messages += talk(text, ids=False)
        messages += talk(f"Here is what I found about point {number}.", role="assistant", ids=False)
    return messages


@pytest.mark.slow
def test_a_session_by_tens_costs_at_most_twice_the_session_at_once(database_url: str) -> None:
    messages = build_session()
    costs: dict[int, int] = {}
    with serve_with_model(database_url, answer_with()) as (client, model):
        for size in (1, 10, 40):
            model.then(answer_with())
            for start in range(0, 60, size):
                capture(client, messages[start : start + size], session=f"by {size}")
            costs[size] = count_characters(model)
            if size == 1:
                assert len(model.requests) == 18, "small talk is not asked about"
                assert max(map(count_turns, model.requests)) == 4
    assert costs[10] <= 2 * costs[40]
    assert costs[1] <= 5 * costs[40]


def count_turns(request: Request) -> int:
    return len(request.data["turns"]) + len(request.data.get("earlier", ()))


# --- messages that wait for others ----------------------------------------------------------------


def quote_every_turn(request: Request) -> Answer:
    turns = [turn for turn in request.data["turns"] if turn["role"] == "user"]
    return answer_with(*((turn["turn"], turn["text"], turn["text"]) for turn in turns))


@contextmanager
def collecting(database_url: str, **settings: Any) -> Iterator[tuple[httpx.Client, ScriptedModel]]:
    chosen = {"capture_quiet_seconds": 3600} | settings
    with serve_with_model(database_url, quote_every_turn, **chosen) as opened:
        yield opened


def wake_worker(database_url: str, model: ScriptedModel) -> None:
    """Let a worker do what is due."""
    settings = load_settings(
        database_url=database_url, llm_base_url=model.url, classify="signals", llm_tries=1
    )
    asyncio.run(run_worker(settings, until_idle=True))


def pass_time(database_url: str) -> None:
    """Let the sessions have been silent for long."""
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE captures SET due_at = now() WHERE due_at IS NOT NULL")


HOME, WORK, PET = "I live in Lisbon", "I work at Acme", "I have a cat named Pixel"


def test_the_messages_of_a_session_are_read_in_one_question_once_it_is_silent(
    database_url: str,
) -> None:
    with collecting(database_url) as (client, model):
        answers = [capture(client, text, status=202) for text in (HOME, WORK, PET)]
        assert len({answer["capture_id"] for answer in answers}) == 1
        assert [len(answer["messages"]) for answer in answers] == [1, 2, 3]
        wake_worker(database_url, model)
        assert (model.requests, list_contents(client)) == ([], [])  # it is not due
        pass_time(database_url)
        wake_worker(database_url, model)
        assert len(model.requests) == 1
        assert list_contents(client) == sorted([HOME, WORK, PET])
        capture_id = answers[0]["capture_id"]
        read = client.get(f"/v1/captures/{capture_id}").json()
        assert (read["state"], len(list_facts(read))) == ("done", 3)
        # What comes later is another capture, and its messages are known.
        later = capture(client, talk("I moved to Porto"), status=202)
        assert later["capture_id"] != capture_id


def test_a_call_that_waits_reads_what_waited_before_it(database_url: str) -> None:
    with collecting(database_url) as (client, model):
        capture(client, HOME, status=202)
        answer = capture(client, WORK, wait=True)
        assert [fact["content"] for fact in list_facts(answer)] == [HOME, WORK]
        assert (answer["state"], len(model.requests)) == ("done", 1)


def test_twenty_turns_are_read_without_waiting_longer(database_url: str) -> None:
    with collecting(database_url) as (client, model):
        for number in range(20):
            capture(client, f"I own the book number {number}", status=202)
        wake_worker(database_url, model)
        assert (len(model.requests), len(list_contents(client))) == (1, 20)


def test_sessions_and_choices_are_not_read_together(database_url: str) -> None:
    with collecting(database_url) as (client, _):
        first = capture(client, HOME, status=202)["capture_id"]
        others = [
            capture(client, WORK, session="other", status=202),
            capture(client, WORK, split="off", status=202),
            capture(client, WORK, extract="network", wait=False, status=202),
        ]
        assert first not in {answer["capture_id"] for answer in others}
        assert (
            capture(client, WORK, extract="network")["state"] == "done"
        )  # the network does not wait


def test_a_message_that_is_sent_again_joins_nothing(database_url: str) -> None:
    with collecting(database_url) as (client, model):
        capture(client, talk(HOME, WORK), status=202)
        again = capture(client, [*talk(HOME, WORK), {"role": "user", "content": PET}], status=202)
        assert [message["repeated"] for message in again["messages"]].count(True) == 2
        pass_time(database_url)
        wake_worker(database_url, model)
        assert list_contents(client) == sorted([HOME, WORK, PET])


def test_a_dry_run_of_a_model_answers_with_the_facts(database_url: str) -> None:
    with collecting(database_url) as (client, _):
        answer = capture(client, HOME, dry_run=True)
        assert [fact["content"] for fact in list_facts(answer)] == [HOME]
