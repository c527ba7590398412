"""F7, F10: what callers may spend on a model, and what a model that errs or obeys may do."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import httpx
import pytest

from app.services import agent_write
from app.settings import load_settings
from support.builders import contents, decide, editor, list_ended, send, store
from support.keys import ROOT_KEY, calling, issue
from support.scripted_model import ScriptedModel, Step, every
from support.service import running
from support.sweeps import Place

# Neither a word nor a sign of these is of interest to signals.
OPEN = ["Rui looks after the plants of the office", "The plants of the office are with Ines"]


@contextmanager
def obeyed(
    database_url: str, step: Step, **settings: Any
) -> Iterator[tuple[httpx.Client, ScriptedModel]]:
    """A service whose model answers each question by this step."""
    with ScriptedModel(step) as model:
        chosen = load_settings(database_url=database_url, llm_base_url=model.url, **settings)
        with running(chosen) as address, httpx.Client(base_url=address, timeout=60) as client:
            yield client, model


def test_fresh_agents_get_no_fresh_budget(database_url: str) -> None:
    with obeyed(
        database_url,
        every("NONE"),
        llm_calls_per_minute=2,
        llm_calls_per_minute_per_key=3,
    ) as (client, model):
        for number in range(10):
            client.headers["X-Agent-Id"] = f"agent-{number}"
            store(client, OPEN[0])
            answer = store(client, OPEN[1])
        assert len(model.requests) == 3
        assert answer["operation"] == "ADD"
        assert "The key's budget of 3 questions" in answer["usage"]["trouble"]


@pytest.mark.parametrize("classify", ["cascade", "model"])
def test_a_model_hides_no_fact_by_calling_it_known(database_url: str, classify: str) -> None:
    with obeyed(database_url, every("DUPLICATE"), classify=classify) as (client, model):
        store(client, "The budget of the office is 300 euros")
        answer = store(client, "Ines has the key to the safe")
        assert model.requests
        assert answer["operation"] == "ADD"
        assert "no other judge" in answer["candidates"][0]["reasoning"]
        for question in ("Ines has the key to the safe", "Who has the key?"):
            found = client.post("/v1/search", json={"query": question}).json()["results"]
            assert "Ines has the key to the safe" in [hit["memory"]["content"] for hit in found]


FACTS = [f"Note about the {word} of the garden" for word in ("rose", "oak", "fern", "lily", "ivy")]
UNKEYED = [{"content": fact, "classify": False} for fact in FACTS]


def hold_facts(client: httpx.Client) -> None:
    client.post("/v1/memories/batch", json={"items": UNKEYED}).raise_for_status()


def test_an_obedient_model_ends_no_more_within_an_hour_than_the_cap(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_write, "CLOSURE_SHARE", 0)  # as if all were stored earlier
    with obeyed(
        database_url,
        every("CONTRADICTION"),
        max_closures_per_hour=2,
        max_closures_per_store=1,
    ) as (client, _):
        hold_facts(client)
        answers = [store(client, f"The garden is over, as of day {number}") for number in range(4)]
        assert [len(list_ended(answer)) for answer in answers] == [1, 1, 0, 0]
        assert len(contents(client) & set(FACTS)) >= 3
        last = answers[-1]
        assert last["operation"] == "ADD"
        assert "as many memories within this hour" in last["decision"]["reasoning"]
        review = client.get(f"/v1/reviews/{last['review_id']}").json()
        assert review["source"] == "cap"
        assert list_ended(decide(client, last["review_id"], "accept"))


def test_the_items_of_one_batch_count_together(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_write, "CLOSURE_SHARE", 0)
    with obeyed(
        database_url,
        every("CONTRADICTION"),
        max_closures_per_hour=2,
        max_closures_per_store=1,
    ) as (client, _):
        hold_facts(client)
        answer = forget_in_batch(client, 4)
        assert sum(len(list_ended(result)) for result in answer["results"]) == 2


@pytest.mark.parametrize(("stored", "ended"), [(5, 2), (10, 5), (20, 10)])
def test_who_stores_much_within_an_hour_may_see_half_of_it_end(
    database_url: str, stored: int, ended: int
) -> None:
    """The facts before the last one that is ended count as stored, those of the batch included."""
    with obeyed(
        database_url,
        every("CONTRADICTION"),
        max_closures_per_hour=2,
        max_closures_per_store=1,
    ) as (client, _):
        items = [{"content": f"Note {n} of the garden", "classify": False} for n in range(stored)]
        client.post("/v1/memories/batch", json={"items": items}).raise_for_status()
        allowed = 0
        for number in range(12):
            answer = store(client, f"The garden is over, as of day {number}")
            allowed += len(list_ended(answer))
            assert allowed <= max(2, (stored + number) / 2)
            if not list_ended(answer):
                break
        assert allowed >= ended


@pytest.mark.parametrize(
    ("live", "settings", "ended"),
    [(38, {"max_closures_per_hour": 10}, 10), (100, {"max_closures_per_hour": 2}, 5)],
)
def test_a_model_ends_ten_memories_of_an_agent_within_an_hour_or_a_twentieth(
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
    live: int,
    settings: dict[str, int],
    ended: int,
) -> None:
    monkeypatch.setattr(agent_write, "CLOSURE_SHARE", 0)  # as if all were stored earlier
    with obeyed(database_url, every("CONTRADICTION"), **settings) as (client, _):
        items = [{"content": f"Note {n} of the garden", "classify": False} for n in range(live)]
        client.post("/v1/memories/batch", json={"items": items}).raise_for_status()
        answers = [store(client, f"The garden is over, as of day {n}") for n in range(7)]
        assert ended - 3 < sum(len(list_ended(answer)) for answer in answers) <= ended
        metrics = client.get("/metrics").text
        [held_back] = re.findall(r"^palimpsest_capped_closures_total (.+)$", metrics, re.MULTILINE)
        assert float(held_back) > 0


def forget_in_batch(client: httpx.Client, count: int, **asked: Any) -> dict[str, Any]:
    items = [{"content": f"The garden is over, as of day {number}"} for number in range(count)]
    response = client.post("/v1/memories/batch", json={"items": items, **asked})
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def test_a_batch_says_at_its_top_how_many_changes_wait_and_why(database_url: str) -> None:
    with obeyed(
        database_url,
        every("CONTRADICTION"),
        max_closures_per_hour=2,
        max_closures_per_store=1,
    ) as (client, _):
        hold_facts(client)
        answer = forget_in_batch(client, 4)
        assert next(iter(answer)) == "waiting"
        reviews = client.get("/v1/reviews").json()["items"]
        assert answer["waiting"] == Counter(review["source"] for review in reviews)
        assert answer["waiting"]["cap"] >= 2
        brief = client.post(
            "/v1/memories/batch?view=brief",
            json={"items": [{"content": "Forget the whole garden"}, {"content": " "}]},
        ).json()
        assert brief["waiting"] == {"cap": 1}


def test_a_batch_after_which_nothing_waits_says_so(database_url: str) -> None:
    with obeyed(database_url, every("NONE")) as (client, _):
        items = {"items": UNKEYED}
        assert client.post("/v1/memories/batch", json=items).json()["waiting"] == {}
        brief = client.post("/v1/memories/batch?view=brief", json=items).json()
        assert "waiting" not in brief


def test_what_waits_in_shadow_and_in_a_frozen_agent_is_counted_too(database_url: str) -> None:
    with obeyed(database_url, every("CONTRADICTION"), max_closures_per_store=1) as (client, _):
        hold_facts(client)
        for mode in ("shadow", "frozen"):
            client.patch("/v1/agents/default", json={"mode": mode}).raise_for_status()
            assert forget_in_batch(client, 2)["waiting"][mode] == 2


def test_a_history_that_its_caller_vouches_for_is_not_capped(database_url: str) -> None:
    """What it ends does not count afterwards either: the next hour begins with nothing ended."""
    with obeyed(
        database_url,
        every("CONTRADICTION"),
        max_closures_per_hour=1,
        max_closures_per_store=20,
    ) as (client, _):
        hold_facts(client)
        answer = forget_in_batch(client, 5, history=True)
        assert all(list_ended(result) for result in answer["results"])
        assert answer["waiting"] == {}
        assert list_ended(store(client, "The garden is over for good"))
        assert not list_ended(store(client, "The garden is over for ever"))


def test_a_key_without_the_whole_trust_loads_no_history(database_url: str) -> None:
    with obeyed(
        database_url, every("CONTRADICTION"), api_key=ROOT_KEY, max_closures_per_hour=1
    ) as (client, _):
        with calling(str(client.base_url), ROOT_KEY) as root:
            key = issue(root, trust_ceiling=99)["key"]
        with calling(str(client.base_url), key) as caller:
            body = {"items": UNKEYED, "history": True}
            refusal = caller.post("/v1/memories/batch", json=body)
            assert refusal.status_code == 403, refusal.text
            assert "at most 99" in refusal.json()["detail"]
            assert caller.get("/v1/memories").json()["items"] == []


def test_judges_may_go_on_when_the_hour_is_over(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with obeyed(
        database_url, every("CONTRADICTION"), max_closures_per_hour=1, max_closures_per_store=1
    ) as (client, _):
        store(client, OPEN[0])
        assert store(client, OPEN[1])["operation"] == "UPDATE"
        assert store(client, OPEN[0] + " again")["operation"] == "ADD"
        monkeypatch.setattr(agent_write, "CLOSURE_WINDOW", timedelta(0))
        assert store(client, OPEN[0] + " once more")["operation"] == "UPDATE"


def test_what_callers_end_themselves_counts_for_nothing(database_url: str) -> None:
    with obeyed(
        database_url, every("CONTRADICTION"), max_closures_per_hour=1, max_closures_per_store=1
    ) as (client, _):
        for number in range(4):
            answer = send(client, editor(f"Vim {number}"))
            assert answer["operation"] == ("UPDATE" if number else "ADD")
        store(client, OPEN[0], classify=False)
        assert store(client, OPEN[1])["operation"] == "UPDATE"


def test_a_sweep_ends_no_more_than_the_cap(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_write, "CLOSURE_SHARE", 1 / 3)
    people = ("Ana", "Ben", "Cleo", "Dora")
    for city in ("Porto", "Lisbon"):
        for person in people:
            place.store(f"{person} lives in {city}")
    slots = [place.editor(value) for value in ("Vim", "Emacs", "Nano")]
    started = place.client.post("/v1/sweeps", json={}).json()
    place.work(max_closures_per_hour=2)
    sweep = place.client.get(f"/v1/sweeps/{started['id']}").json()
    by_judges = [finding for finding in sweep["findings"] if finding["signals"]]
    ended = [finding for finding in by_judges if not finding["review"]]
    assert (len(by_judges), len(ended)) == (4, 3)
    assert place.standing(*slots) == ["superseded", "superseded", "current"]
    [question] = place.client.get("/v1/reviews").json()["items"]
    entry = place.client.get(f"/v1/log/{question['log_id']}").json()
    assert "as many memories within this hour" in entry["reasoning"]
