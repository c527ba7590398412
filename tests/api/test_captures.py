"""Captures: long ones go through a worker; each can be read, undone, erased and brought along."""

import asyncio
import signal
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from app.domain.agent import AgentId
from app.jobs.worker import run_worker
from app.services import captures as service
from app.services.capture_reading import Batch, TurnReader
from app.services.retention import Retention, RetentionReport
from app.settings import load_settings
from support.ages import move_back
from support.builders import list_ended, problem, store
from support.doctor_check import assert_healthy
from support.messages import capture, list_contents, list_facts, talk
from support.races import Crowd, Race
from support.retention import AT_ONCE, with_retention
from support.scripted_model import ScriptedModel, fails
from support.scripted_vectors import embeds
from support.service import running, serving
from support.service_process import run_dying_worker, serve_dying
from support.sweeps import Place
from support.transfers import brought_back, exported, other

LONG = [f"My friend number {number} is called Anna{number}." for number in range(60)]
FACTS = (
    *("I live in Leeds.", "I work as a nurse.", "My sister is called Anna.", "I have two cats."),
    *("I am allergic to nuts.", "My car is a Skoda.", "I play the cello.", "My boss is Ben."),
    *("I speak Polish.", "I don't drink coffee.", "My son is four.", "I rent a flat."),
    "Our office is in York.",
)


def read_capture(client: httpx.Client, capture_id: str) -> dict[str, Any]:
    answer = client.get(f"/v1/captures/{capture_id}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


# --- reading --------------------------------------------------------------------------------------


def test_a_capture_can_be_read_again_with_what_became_of_each_fact(client: httpx.Client) -> None:
    answer = capture(client, talk("I live in Lisbon. How are you?"))
    again = read_capture(client, answer["capture_id"])
    for fact in list_facts(answer):
        assert fact.pop("answer")["log_id"] == fact["log_id"]
    for fact in list_facts(again):
        assert fact.pop("answer") is None
    assert again == answer


def test_an_unknown_capture_is_a_problem(client: httpx.Client) -> None:
    unknown = "00000000-0000-7000-8000-000000000000"
    assert problem(client.get(f"/v1/captures/{unknown}"), 404)["type"].endswith("unknown-capture")
    undo = client.post(f"/v1/captures/{unknown}/undo")
    assert problem(undo, 404)["type"].endswith("unknown-capture")


def test_captures_are_listed_newest_first_and_page_by_page(place: Place) -> None:
    first = capture(place.client, talk("I live in Lisbon."), session="one")
    second = capture(place.client, talk(*LONG), session="two", status=202)
    third = capture(place.client, talk("I live in Lisbon.", "How are you?"), session="one")
    named = [answer["capture_id"] for answer in (third, second, first)]

    def list_ids(**params: Any) -> list[str]:
        answer = place.client.get("/v1/captures", params=params).json()
        assert answer["next_cursor"] is None
        return [item["capture_id"] for item in answer["items"]]

    assert list_ids() == named
    assert list_ids(session_id="one") == [named[0], named[2]]
    assert list_ids(state="pending") == [named[1]]
    assert list_ids(state="failed") == list_ids(session_id="three") == []
    pages, cursor = [], None
    while cursor is not None or not pages:
        params = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        answer = place.client.get("/v1/captures", params=params).json()
        pages.append([item["capture_id"] for item in answer["items"]])
        cursor = answer["next_cursor"]
    assert pages == [named[:2], named[2:]]
    items = place.client.get("/v1/captures").json()["items"]
    whole = [read_capture(place.client, item["capture_id"]) for item in items]
    assert items == [{name: capture[name] for name in items[0]} for capture in whole]
    assert [(i["done"], i["total"], i["repeated"]) for i in items] == [
        (1, 1, 1),
        (0, 60, 0),
        (1, 1, 0),
    ]


@pytest.mark.parametrize("params", [{"state": "open"}, {"limit": 0}, {"cursor": "x"}])
def test_a_bad_list_of_captures_is_refused(client: httpx.Client, params: dict[str, Any]) -> None:
    problem(client.get("/v1/captures", params=params), 422)


def test_the_story_of_a_memory_leads_to_the_message_that_it_was_read_from(
    client: httpx.Client,
) -> None:
    first = capture(client, talk("I live in Lisbon."), session="one")
    capture(client, talk("I live in Lisbon."), session="two")
    [fact] = list_facts(first)
    why = client.get(f"/v1/memories/{fact['memory_id']}/why").json()
    read_from, repeated_in = why["quotes"]
    assert read_from == fact["quotes"][0]
    assert repeated_in["text"] == read_from["text"]
    assert repeated_in["capture_id"] != first["capture_id"]
    known_at = fact["answer"]["known_at"]
    earlier = client.get(f"/v1/memories/{fact['memory_id']}/why", params={"known_at": known_at})
    assert earlier.json()["quotes"] == [read_from]


# --- long captures --------------------------------------------------------------------------------


def test_a_long_call_is_stored_at_once_and_read_by_a_worker(place: Place) -> None:
    answer = capture(place.client, talk(*LONG), status=202)
    assert (answer["state"], answer["total"], answer["done"]) == ("pending", 60, 0)
    assert [message["content"] for message in answer["messages"]] == LONG
    place.work()
    done = read_capture(place.client, answer["capture_id"])
    assert (done["state"], done["done"], done["extractor"]) == ("done", 60, "network")
    assert len(list_facts(done)) == 60
    assert len(list_contents(place.client)) == 60
    repeated = capture(place.client, talk(*LONG), status=200)
    assert (repeated["total"], repeated["repeated"]) == (0, 60)
    assert len(place.log(limit=1000)) == 60


def test_a_long_call_under_a_key_is_stored_once(place: Place) -> None:
    key = {"Idempotency-Key": "long"}
    messages = talk(*LONG, ids=False)
    first = capture(place.client, messages, status=202, headers=key)
    assert capture(place.client, messages, status=202, headers=key) == first
    place.work()
    assert len(list_contents(place.client)) == 60


def test_more_facts_than_one_transaction_stores_are_stored_in_several(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And after a crash between two of them, those that are stored are not stored again."""
    monkeypatch.setattr(service, "MOST_FACTS", 4)
    monkeypatch.setattr(service, "INLINE_FACTS", 4)
    texts = [" ".join(FACTS[:10]), FACTS[10], " ".join(FACTS[11:13])]
    answer = capture(place.client, talk(*texts), status=202)
    save_batch, saved = service._save_batch, []

    async def save_and_fail(*arguments: Any) -> None:
        saved.append(len(arguments[-1]))
        if len(saved) == 2:
            raise ValueError
        await save_batch(*arguments)

    monkeypatch.setattr(service, "_save_batch", save_and_fail)
    place.work()
    assert saved == [4, 4, 4, 4, 1]
    done = read_capture(place.client, answer["capture_id"])
    assert (done["state"], done["done"]) == ("done", 3)
    facts = [[fact["quotes"][0]["text"] for fact in m["facts"]] for m in done["messages"]]
    assert [len(texts) for texts in facts] == [10, 1, 2]
    assert [text.rstrip(".") for texts in facts for text in texts] == [
        text.rstrip(".") for text in FACTS[:13]
    ]
    assert len(list_contents(place.client)) == 13


def test_a_short_call_of_more_facts_than_one_transaction_stores_is_finished_by_a_worker(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MOST_FACTS", 3)
    monkeypatch.setattr(service, "INLINE_FACTS", 3)
    answer = capture(place.client, talk(*LONG[:4]), status=202)
    assert (answer["state"], answer["done"]) == ("pending", 0)
    place.work()
    done = read_capture(place.client, answer["capture_id"])
    assert (done["state"], done["error"], len(list_facts(done))) == ("done", None, 4)


def test_a_dry_run_of_more_facts_than_one_transaction_stores_is_refused(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MOST_FACTS", 3)
    monkeypatch.setattr(service, "INLINE_FACTS", 3)
    assert len(list_facts(capture(client, talk(*LONG[:3]), dry_run=True))) == 3
    body = {"session_id": "chat", "messages": talk(*LONG[:4]), "dry_run": True}
    refused = problem(client.post("/v1/messages", json=body), 422)
    assert "4 facts" in refused["detail"]
    assert "fewer messages" in refused["detail"]


def test_a_dry_run_of_many_messages_reads_them_as_a_worker_does(client: httpx.Client) -> None:
    talked = talk(*LONG[:39]) + talk("So you are allergic to penicillin?", role="assistant")
    talked = [message | {"id": str(place)} for place, message in enumerate(talked)]
    talked.append({"id": "yes", "role": "user", "content": "Yes, exactly."})
    facts = list_facts(capture(client, talked, dry_run=True))
    assert len(facts) == 40
    assert facts[-1]["content"] == "I am allergic to penicillin"


def test_a_pending_capture_cannot_be_undone(place: Place) -> None:
    answer = capture(place.client, talk(*LONG), status=202)
    undo = place.client.post(f"/v1/captures/{answer['capture_id']}/undo")
    assert problem(undo, 409)["type"].endswith("capture-unfinished")


def test_a_long_capture_that_is_erased_before_it_is_read_stores_nothing(place: Place) -> None:
    answer = capture(place.client, talk(*LONG), status=202)
    place.client.post("/v1/erasures", json={"session_id": "chat"}).raise_for_status()
    place.work()
    erased = read_capture(place.client, answer["capture_id"])
    assert (erased["state"], list_facts(erased)) == ("done", [])
    assert {message["content"] for message in erased["messages"]} == {None}
    assert list_contents(place.client) == []


def test_without_the_encoder_messages_are_stored_and_their_facts_follow(database_url: str) -> None:
    with ScriptedModel(embeds(8)) as encoder:
        settings = load_settings(
            database_url=database_url,
            pool_size=1,
            embedding_base_url=encoder.url,
            embedding_dimensions=8,
            embedding_tries=1,
        )
        with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
            encoder.then(fails(500))
            waiting = capture(client, talk("I live in Lisbon."), status=202)
            assert (waiting["state"], waiting["done"]) == ("pending", 0)
            again = capture(client, talk("I live in Lisbon."))
            assert not again["messages"][0]["done"], "the first call has the message"
            assert read_capture(client, waiting["capture_id"])["error"] == "EmbedderUnavailable"
            encoder.then(embeds(8))
            expire_leases(database_url)
            asyncio.run(run_worker(settings, until_idle=True))
            done = read_capture(client, waiting["capture_id"])
            assert (done["state"], done["error"]) == ("done", None)
            assert list_contents(client) == [list_facts(done)[0]["content"]]


# --- captures that failed -------------------------------------------------------------------------


def fail_captures(database_url: str) -> None:
    """Let every capture that is not finished have failed as often as it is tried."""
    with psycopg.connect(database_url) as connection:
        connection.execute(
            "UPDATE captures SET state = 'failed', failures = 5, error = 'KeyError', "
            "alive_at = NULL, finished_at = %s WHERE state = 'pending'",
            [datetime.now(UTC)],
        )


def test_a_failed_capture_goes_on_when_its_messages_are_sent_again(place: Place) -> None:
    failed = capture(place.client, talk(*LONG), status=202)
    fail_captures(place.url)
    place.work()
    assert read_capture(place.client, failed["capture_id"])["state"] == "failed"
    again = capture(place.client, talk(*LONG[:2]))
    assert [m["capture_id"] for m in again["messages"]] == [failed["capture_id"]] * 2
    assert [m["done"] for m in again["messages"]] == [False, False]
    reopened = read_capture(place.client, failed["capture_id"])
    assert (reopened["state"], reopened["finished_at"]) == ("pending", None)
    place.work()
    done = read_capture(place.client, failed["capture_id"])
    assert (done["state"], done["error"], len(list_facts(done))) == ("done", None, 60)
    assert len(list_contents(place.client)) == 60


def test_a_retry_under_its_key_goes_on_with_a_failed_capture(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages, key = talk("I live in Lisbon.", ids=False), {"Idempotency-Key": "one"}

    async def fail(*_: object) -> None:
        raise ValueError

    with monkeypatch.context() as broken:
        broken.setattr(TurnReader, "read_stored_turns", fail)
        failed = capture(place.client, messages, status=202, headers=key)
    fail_captures(place.url)
    done = capture(place.client, messages, headers=key)
    assert (done["capture_id"], done["state"]) == (failed["capture_id"], "done")
    assert len(list_contents(place.client)) == 1


def test_what_fails_once_is_tried_again_by_the_worker(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = capture(place.client, talk(*LONG), status=202)
    read_stored_turns, failures = TurnReader.read_stored_turns, [ValueError(), KeyError()]

    async def fail_twice(*arguments: Any) -> Batch:
        if failures:
            raise failures.pop()
        return await read_stored_turns(*arguments)

    monkeypatch.setattr(TurnReader, "read_stored_turns", fail_twice)
    place.work()
    done = read_capture(place.client, answer["capture_id"])
    assert (done["state"], len(list_facts(done))) == ("done", 60)


# --- kill -9 --------------------------------------------------------------------------------------

MARK = "Die while this is read."  # see tests/support/dying_service.py


def expire_leases(database_url: str) -> None:
    """Let the runner of every capture be dead for long."""
    with psycopg.connect(database_url) as connection:
        connection.execute(f"UPDATE captures SET {move_back('alive_at', '1 hour')}".encode())


def work(database_url: str) -> None:
    asyncio.run(run_worker(load_settings(database_url=database_url), until_idle=True))


@pytest.mark.slow
@pytest.mark.parametrize("key", [{}, {"Idempotency-Key": "one"}], ids=["ids", "key"])
def test_killed_between_messages_and_facts_nothing_is_lost_or_doubled(
    database_url: str, tmp_path: Path, key: dict[str, str]
) -> None:
    """A worker goes on, and the caller sends the messages once more."""
    messages = talk("I live in Lisbon.", MARK, "My sister is called Anna.", ids=not key)
    with serve_dying(database_url, tmp_path) as (process, client):
        with pytest.raises(httpx.TransportError):
            capture(client, messages, headers=key)
        assert process.wait(20) == -signal.SIGKILL
    expire_leases(database_url)
    work(database_url)
    with serving(database_url) as client:
        answer = capture(client, messages, headers=key)
        assert len(list_facts(answer)) == 2
        assert len(list_contents(client)) == 2
        assert len(client.get("/v1/log").json()["items"]) == 2


@pytest.mark.slow
def test_killed_between_messages_and_facts_a_retry_goes_on_with_them(
    database_url: str, tmp_path: Path
) -> None:
    """The caller is back before any worker, and sends the call under its key once more."""
    messages, key = talk("I live in Lisbon.", MARK, ids=False), {"Idempotency-Key": "one"}
    with serve_dying(database_url, tmp_path) as (_, client), pytest.raises(httpx.TransportError):
        capture(client, messages, headers=key)
    settings = load_settings(database_url=database_url)
    with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        waiting = capture(client, messages, headers=key, status=202)
        expire_leases(database_url)
        done = capture(client, messages, headers=key)
        assert done["capture_id"] == waiting["capture_id"]
        assert capture(client, messages, headers=key) == done
        assert len(list_contents(client)) == 1


@pytest.mark.slow
def test_killed_before_the_reply_a_retry_changes_nothing(database_url: str, tmp_path: Path) -> None:
    messages = talk("I live in Lisbon.")
    with serve_dying(database_url, tmp_path) as (_, client), pytest.raises(httpx.TransportError):
        capture(client, messages, headers={"X-Die": "yes"})
    with serving(database_url) as client:
        answer = capture(client, messages)
        assert (answer["repeated"], len(list_facts(answer))) == (1, 1)
        assert len(client.get("/v1/log").json()["items"]) == 1


@pytest.mark.slow
def test_a_worker_that_is_killed_is_followed_by_another(database_url: str) -> None:
    texts = [*LONG[:45], MARK, *LONG[45:]]
    settings = load_settings(database_url=database_url)
    with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        answer = capture(client, talk(*texts), status=202)
        assert run_dying_worker(database_url) == -signal.SIGKILL
        halfway = read_capture(client, answer["capture_id"])
        assert (halfway["state"], halfway["done"]) == ("pending", 40)
        expire_leases(database_url)
        work(database_url)
        done = read_capture(client, answer["capture_id"])
        assert (done["state"], done["done"]) == ("done", 61)
        assert len(list_facts(done)) == len(list_contents(client)) == 60
        assert len(client.get("/v1/log", params={"limit": 1000}).json()["items"]) == 60


# --- undoing --------------------------------------------------------------------------------------


def test_undoing_a_capture_undoes_all_of_it_and_nothing_else(client: httpx.Client) -> None:
    store(client, "Has a dog called Rex")
    before = list_contents(client)
    answer = capture(client, talk("I live in Lisbon.", "My sister is called Anna."))
    undo = f"/v1/captures/{answer['capture_id']}/undo"
    preview = client.post(undo, json={"dry_run": True}).json()
    assert list_contents(client) != before
    undone = client.post(undo).json()
    assert undone["reverted"] == preview["reverted"]
    assert set(undone["reverted"]) == {fact["log_id"] for fact in list_facts(answer)}
    assert list_contents(client) == before
    assert client.post(undo).json()["reverted"] == []


def test_undoing_gives_back_what_a_capture_ended(client: httpx.Client) -> None:
    capture(client, talk("I live in Lisbon."), session="one")
    before = list_contents(client)
    answer = capture(client, talk("I no longer live in Lisbon. I live in Porto now."))
    assert list_contents(client) != before
    client.post(f"/v1/captures/{answer['capture_id']}/undo").raise_for_status()
    assert list_contents(client) == before


# --- trust ----------------------------------------------------------------------------------------


def test_what_a_message_would_end_of_higher_trust_waits_as_a_review(client: httpx.Client) -> None:
    store(client, "I live in Lisbon", trust=60)
    answer = capture(client, talk("I no longer live in Lisbon."))
    [fact] = list_facts(answer)
    assert list_ended(fact["answer"]) == []
    assert fact["review_id"] is not None
    assert "I live in Lisbon" in list_contents(client)


def test_what_is_very_sure_ends_what_was_stated_with_ordinary_trust(client: httpx.Client) -> None:
    stated = store(client, "I live in Lisbon")["memory"]["id"]
    [fact] = list_facts(capture(client, talk("I no longer live in Lisbon.")))
    assert list_ended(fact["answer"]) == [stated]
    assert fact["review_id"] is None


def test_a_frozen_agent_keeps_the_facts_of_messages_as_reviews(client: httpx.Client) -> None:
    agent = client.headers["X-Agent-Id"]
    client.patch(f"/v1/agents/{agent}", json={"mode": "frozen"}).raise_for_status()
    answer = capture(client, talk("I live in Lisbon."))
    [fact] = list_facts(answer)
    assert (fact["operation"], fact["memory_id"]) == (None, None)
    assert client.get(f"/v1/log/{fact['log_id']}").json()["review"] == "frozen"
    assert fact["review_id"] == client.get("/v1/reviews").json()["items"][0]["id"]
    client.patch(f"/v1/agents/{agent}", json={"mode": "live"}).raise_for_status()
    client.post(f"/v1/reviews/{fact['review_id']}/accept").raise_for_status()
    assert list_contents(client) == [fact["content"]]


def test_in_shadow_mode_changes_become_reviews(client: httpx.Client) -> None:
    capture(client, talk("I live in Lisbon."), session="one")
    agent = client.headers["X-Agent-Id"]
    client.patch(f"/v1/agents/{agent}", json={"mode": "shadow"}).raise_for_status()
    [fact] = list_facts(capture(client, talk("I no longer live in Lisbon.")))
    assert fact["review_id"] is not None
    assert any("Lisbon" in content for content in list_contents(client))


# --- erasing --------------------------------------------------------------------------------------


def test_erasing_a_memory_empties_the_messages_that_say_it(client: httpx.Client) -> None:
    answer = capture(client, talk("I live in Lisbon.", "My sister is called Anna."))
    [home, sister] = list_facts(answer)
    client.delete(f"/v1/memories/{home['memory_id']}", params={"erase": True}).raise_for_status()
    first, second = read_capture(client, answer["capture_id"])["messages"]
    assert first["content"] is None
    assert first["facts"][0]["content"] is None
    assert first["facts"][0]["quotes"][0]["text"] is None
    assert second["content"] == "My sister is called Anna."
    assert second["facts"][0]["memory_id"] == sister["memory_id"]


def erase(client: httpx.Client, memory_id: str) -> None:
    client.delete(f"/v1/memories/{memory_id}", params={"erase": True}).raise_for_status()


def list_words(client: httpx.Client, capture_id: str) -> list[str | None]:
    """Return the contents of the messages of a capture, with single spaces."""
    messages = read_capture(client, capture_id)["messages"]
    return [m["content"] and " ".join(m["content"].split()) for m in messages]


@pytest.mark.parametrize("text", ["I", "ok", "vet", "live in"])
def test_erasing_a_short_text_leaves_unrelated_messages_as_they_are(
    client: httpx.Client, text: str
) -> None:
    memory = store(client, text)["memory"]["id"]
    answer = capture(client, talk("I live in Lisbon. ok?", "My sister is a vet."))
    erase(client, memory)
    assert read_capture(client, answer["capture_id"])["messages"] == [
        message | {"facts": [fact | {"answer": None} for fact in message["facts"]]}
        for message in answer["messages"]
    ]


def test_erasing_a_memory_takes_what_it_quotes_and_leaves_the_other_words(
    client: httpx.Client, database_url: str
) -> None:
    key = {"Idempotency-Key": "talk"}
    messages = talk("How are you? I live in Lisbon. My sister is called Anna.")
    answer = capture(client, messages, headers=key)
    home, sister = list_facts(answer)
    erase(client, home["memory_id"])
    assert list_words(client, answer["capture_id"]) == ["How are you? . My sister is called Anna."]
    [left] = read_capture(client, answer["capture_id"])["messages"]
    assert [fact["content"] for fact in left["facts"]] == [None, sister["content"]]
    assert left["facts"][0]["quotes"][0]["text"] is None
    assert left["facts"][1]["quotes"] == sister["quotes"]
    assert left["skipped"] == answer["messages"][0]["skipped"]
    body = {"session_id": "chat", "messages": messages}
    assert client.post("/v1/messages", json=body, headers=key).status_code == 410
    assert_healthy(database_url)


def test_erasing_takes_the_same_words_from_messages_of_which_they_became_no_fact(
    client: httpx.Client,
) -> None:
    answer = capture(client, talk("I live in Lisbon."))
    echo = capture(
        client,
        [
            {"role": "assistant", "content": "You told me: i live in LISBON. Is it warm?"},
            {"role": "user", "content": "Do you remember that I live in Lisbon, dear?"},
            {"role": "tool", "content": "I live in Lisbonne"},
        ],
        session="other",
    )
    erase(client, list_facts(answer)[0]["memory_id"])
    assert list_words(client, echo["capture_id"]) == [
        "You told me: . Is it warm?",
        "Do you remember that , dear?",
        "I live in Lisbonne",
    ]


def test_erasing_takes_the_proposal_and_the_yes(client: httpx.Client) -> None:
    proposal = talk("Nice. So you are allergic to penicillin?", role="assistant")
    answer = capture(client, [*proposal, *talk("Yes, exactly. And you?", ids=False)])
    other = capture(client, talk("Yes, exactly."), session="other")
    erase(client, list_facts(answer)[0]["memory_id"])
    assert list_words(client, answer["capture_id"]) == ["Nice.", "And you?"]
    assert list_words(client, other["capture_id"]) == ["Yes, exactly."]


def test_erasing_takes_what_retired_the_memory_too(client: httpx.Client) -> None:
    home = store(client, "I live in Lisbon", trust=40)["memory"]["id"]
    answer = capture(client, talk("I no longer live in Lisbon. How are you?"))
    assert list_facts(answer) != []
    erase(client, home)
    for fact in list_facts(answer):
        if fact["memory_id"]:
            erase(client, fact["memory_id"])
    assert "Lisbon" not in client.get(f"/v1/captures/{answer['capture_id']}").text


def test_what_is_erased_while_it_is_read_is_not_stored(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = store(place.client, "My friend number 7 is called Anna7")["memory"]["id"]
    answer = capture(place.client, talk(*LONG), status=202)
    read_stored_turns, readings = TurnReader.read_stored_turns, []

    async def read_and_erase(*arguments: Any) -> Batch:
        batch = await read_stored_turns(*arguments)
        readings.append(len(batch.drafts))
        if len(readings) == 1:
            await asyncio.to_thread(erase, place.client, memory)
        return batch

    monkeypatch.setattr(TurnReader, "read_stored_turns", read_and_erase)
    place.work()
    done = read_capture(place.client, answer["capture_id"])
    assert readings == [40, 40, 19]
    assert (done["state"], len(list_facts(done))) == ("done", 59)
    assert "Anna7" not in place.client.get("/v1/memories", params={"limit": 1000}).text


def test_a_message_of_an_erased_memory_does_not_come_back_when_it_is_sent_again(
    client: httpx.Client,
) -> None:
    [fact] = list_facts(capture(client, talk("I live in Lisbon.")))
    client.delete(f"/v1/memories/{fact['memory_id']}", params={"erase": True}).raise_for_status()
    [message] = capture(client, talk("I live in Lisbon."))["messages"]
    assert (message["repeated"], message["content"]) == (True, None)
    assert client.get("/v1/memories").json()["items"] == []
    erased = {"include_superseded": True}
    [memory] = client.get("/v1/memories", params=erased).json()["items"]
    assert memory["content"] is None


def test_erasing_a_session_takes_the_names_of_its_messages_too(client: httpx.Client) -> None:
    answer = capture(client, talk("I live in Lisbon."))
    client.post("/v1/erasures", json={"session_id": "chat"}).raise_for_status()
    erased = read_capture(client, answer["capture_id"])
    assert erased["session_id"] is None
    assert erased["messages"][0]["id"] is None
    [message] = capture(client, talk("I live in Lisbon."))["messages"]
    assert not message["repeated"], "a session that is erased is forgotten"


def test_a_session_of_which_nothing_was_remembered_can_be_erased(client: httpx.Client) -> None:
    answer = capture(client, talk("How are you?"))
    assert list_facts(answer) == []
    client.post("/v1/erasures", json={"session_id": "chat"}).raise_for_status()
    [message] = read_capture(client, answer["capture_id"])["messages"]
    assert (message["content"], message["skipped"]) == (None, [])


def test_a_kept_answer_goes_with_its_messages(client: httpx.Client) -> None:
    key = {"Idempotency-Key": "question"}
    capture(client, talk("How are you, Zebra?"), headers=key)
    client.post("/v1/erasures", json={"session_id": "chat"}).raise_for_status()
    body = {"session_id": "chat", "messages": talk("How are you, Zebra?")}
    retry = client.post("/v1/messages", json=body, headers=key)
    assert problem(retry, 410)["type"].endswith("erased")


# --- retention ------------------------------------------------------------------------------------


def test_old_messages_are_emptied_and_still_known(place: Place, tmp_path: Path) -> None:
    answer = capture(place.client, talk("I live in Lisbon. How are you?"))
    pending = capture(place.client, talk(*LONG), session="long", status=202)

    async def retain(retention: Retention) -> tuple[RetentionReport, RetentionReport]:
        preview = await retention.preview_retention(AgentId("default"))
        return preview, await retention.retain_agent(AgentId("default"))

    preview, report = with_retention(
        place.url, tmp_path, retain, message_retention_days=AT_ONCE, cold_after_days=0
    )
    assert preview.emptied_turns == report.emptied_turns == 61
    [message] = read_capture(place.client, answer["capture_id"])["messages"]
    assert (message["content"], message["skipped"]) == (None, [])
    assert message["facts"][0]["content"] is None
    assert message["facts"][0]["memory_id"] == list_facts(answer)[0]["memory_id"]
    assert capture(place.client, talk("I live in Lisbon. How are you?"))["repeated"] == 1
    assert list_contents(place.client) == [list_facts(answer)[0]["content"]]
    place.work()
    unread = read_capture(place.client, pending["capture_id"])
    assert (unread["state"], list_facts(unread)) == ("done", [])
    assert {message["content"] for message in unread["messages"]} == {None}


@pytest.mark.parametrize("state", ["pending", "done", "failed"])
def test_old_messages_are_emptied_whatever_became_of_their_capture(
    place: Place, tmp_path: Path, state: str
) -> None:
    answer = capture(place.client, talk(*LONG), status=202)
    if state == "done":
        place.work()
    if state == "failed":
        fail_captures(place.url)

    async def retain(retention: Retention) -> RetentionReport:
        return await retention.retain_agent(AgentId("default"))

    with_retention(place.url, tmp_path, retain, message_retention_days=AT_ONCE, cold_after_days=0)
    emptied = read_capture(place.client, answer["capture_id"])
    assert emptied["state"] == state
    assert {message["content"] for message in emptied["messages"]} == {None}


# --- export and import ----------------------------------------------------------------------------


def test_captures_go_with_their_agent(client: httpx.Client) -> None:
    answer = capture(client, talk("I live in Lisbon. How are you?"))
    export = exported(client)
    with other(client) as copy:
        brought_back(copy, export)
        assert exported(copy) == export
        assert read_capture(copy, answer["capture_id"])["messages"][0]["facts"] != []
        assert capture(copy, talk("I live in Lisbon. How are you?"))["repeated"] == 1


def test_an_imported_capture_that_was_not_finished_is_finished(place: Place) -> None:
    answer = capture(place.client, talk(*LONG), status=202)
    export = exported(place.client)
    with other(place.client) as copy:
        brought_back(copy, export)
        place.work()
        assert read_capture(copy, answer["capture_id"])["state"] == "done"
        assert len(list_contents(copy)) == 60


# --- agents and keys ------------------------------------------------------------------------------


def test_another_agent_sees_nothing_of_a_capture(client: httpx.Client) -> None:
    answer = capture(client, talk("I live in Lisbon."))
    with other(client) as stranger:
        assert stranger.get(f"/v1/captures/{answer['capture_id']}").status_code == 404
        assert stranger.get("/v1/captures").json()["items"] == []
        again = capture(stranger, talk("I live in Lisbon."))
        assert not again["messages"][0]["repeated"]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"session_id": ""}, "session_id"),
        ({"messages": []}, "messages"),
        ({"messages": talk(*["Hello."] * 201)}, "messages"),
        ({"messages": talk(*["a" * 15_000] * 7)}, "105,000"),
        ({"messages": talk("One.") + talk("Two.")}, "same id"),
        ({"messages": [{"role": "narrator", "content": "x"}]}, "messages.0.role"),
        ({"messages": [{"role": "user", "content": "x", "at": "soon"}]}, "messages.0.at"),
        ({"extract": "guess"}, "extract"),
        ({"split": "yes"}, "split"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_bad_input_is_named(client: httpx.Client, change: dict[str, Any], named: str) -> None:
    body = {"session_id": "chat", "messages": talk("I live in Lisbon.")} | change
    assert named in problem(client.post("/v1/messages", json=body), 422)["detail"]


# --- races ----------------------------------------------------------------------------------------


def test_of_calls_with_the_same_messages_at_once_one_stores_them(race: Race) -> None:
    async def run(crowd: Crowd) -> None:
        body = {"session_id": "chat", "messages": talk("I live in Lisbon.", "My cat is Tom.")}
        calls = [crowd.post("/v1/messages", body) for _ in range(6)]
        answers = [answer.json() for answer in await asyncio.gather(*calls)]
        assert sorted(answer["total"] for answer in answers) == [0] * 5 + [2]
        assert len(await crowd.log()) == 2

    race(run)


def test_a_message_of_the_future_is_refused_and_may_be_sent_again(client: httpx.Client) -> None:
    message = {"id": "m1", "role": "user", "content": "I live in Lisbon."}
    body = {"session_id": "future", "messages": [message | {"at": "2999-01-01T00:00:00Z"}]}
    refused = client.post("/v1/messages", json=body)
    assert refused.status_code == 422
    assert "messages[0].at" in refused.json()["detail"]
    answer = client.post("/v1/messages", json=body | {"messages": [message]}).json()
    assert [fact["content"] for fact in list_facts(answer)] == ["I live in Lisbon"]


def test_what_has_ended_may_be_confirmed_again(client: httpx.Client) -> None:
    ended = store(client, "I live in Porto")["memory"]["id"]
    client.post(f"/v1/memories/{ended}/retract", json={}).raise_for_status()
    proposal = talk("So you live in Porto?", role="assistant", ids=False)
    answer = capture(client, [*proposal, *talk("Yes, exactly.", ids=False)])
    assert list_contents(client) == [fact["content"] for fact in list_facts(answer)]
    assert len(list_contents(client)) == 1
