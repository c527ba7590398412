"""What a store does with plain text: signals alone, and a scripted model behind them, over real HTTP."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from psycopg.rows import dict_row

from app.services import classify, remember
from app.settings import load_settings
from support.builders import contents, list_ended, send, store
from support.scripted_model import (
    IN_PROSE,
    REFUSAL,
    RESET,
    SILENCE,
    TEN_MB,
    TRUNCATED_JSON,
    ScriptedModel,
    Step,
    every,
    fails,
    judges,
    judgment,
    obedient,
    right_after,
)
from support.service import running

# --- signals, no model -------------------------------------------------------------------------------------------------


def test_a_move_told_in_plain_words_supersedes_the_old_home(client: httpx.Client) -> None:
    old = store(client, "I live in Porto")
    new = store(client, "I moved to Lisbon last month")
    assert (new["operation"], list_ended(new)) == ("UPDATE", [old["memory"]["id"]])
    assert new["decision"]["decided_by"] == "signals"
    assert new["decision"]["signals"][0]["name"] == "changed_attribute"
    assert new["memory"]["chain_id"] == old["memory"]["id"]
    assert contents(client) == {"I moved to Lisbon last month"}


def test_a_retraction_ends_what_it_names_and_is_stored_as_what_ended_it(
    client: httpx.Client,
) -> None:
    old = store(client, "I play tennis")["memory"]["id"]
    answer = store(client, "I no longer play tennis")
    assert (answer["operation"], list_ended(answer)) == ("DELETE", [old])
    assert contents(client) == {"I no longer play tennis"}
    new = answer["memory"]
    assert new["chain_id"] == new["id"]
    assert client.get(f"/v1/memories/{old}").json()["superseded_by"] == new["id"]
    assert (
        client.get(f"/v1/log/{answer['log_id']}").json()["incoming"]["content"]
        == "I no longer play tennis"
    )


def test_a_renamed_dog_goes_on_under_the_new_name(client: httpx.Client) -> None:
    old = store(client, "On Saturday we adopted a second dog, a terrier called Bo")["memory"]["id"]
    answer = store(client, "Bo answers to Pip now")
    assert (answer["operation"], list_ended(answer)) == ("MERGE", [old])
    assert contents(client) == {
        "On Saturday we adopted a second dog, a terrier called Pip. Bo answers to Pip now."
    }


def test_a_stop_with_a_date_is_stored_in_place_of_what_it_ends(client: httpx.Client) -> None:
    old = store(client, "I take omeprazole every morning")["memory"]["id"]
    answer = store(client, "I came off the omeprazole at the beginning of the month")
    assert (answer["operation"], list_ended(answer)) == ("UPDATE", [old])
    assert contents(client) == {"I came off the omeprazole at the beginning of the month"}


def test_a_retraction_that_hits_nothing_is_stored_with_a_hint(client: httpx.Client) -> None:
    answer = store(client, "I no longer play tennis")
    assert (answer["operation"], answer["review_id"]) == ("ADD", None)
    assert [hint["name"] for hint in answer["hints"]] == ["ends_nothing_stored"]


def test_one_person_may_go_by_two_names(client: httpx.Client) -> None:
    ghent = store(client, "My sister Nora lives in Ghent.")["memory"]["id"]
    moved = store(client, "Nora lives in Bruges now.")
    assert list_ended(moved) == [ghent]
    again = store(client, "My sister Nora lives in Bruges now.")
    assert again["operation"] == "ADD", "it says who Nora is"


def test_another_person_with_another_value_ends_nothing(client: httpx.Client) -> None:
    store(client, "I live in Porto")
    answer = store(client, "My sister moved to Lisbon")
    assert answer["operation"] == "ADD"
    assert "sister" in answer["candidates"][0]["reasoning"]
    assert len(contents(client)) == 2


def test_a_paraphrase_is_known_already(client: httpx.Client) -> None:
    first = store(client, "Release date of Falcon 3 is 2026-05-01")
    again = store(client, "Falcon 3 was released on 1 May 2026")
    assert again["operation"] == "NOOP"
    assert again["memory"]["id"] == first["memory"]["id"]


def test_what_is_plausible_but_unproven_stays_beside_with_a_review(client: httpx.Client) -> None:
    old = store(client, "I was born in Porto")["memory"]["id"]
    answer = store(client, "I was born in Lisbon")
    assert answer["operation"] == "ADD"
    assert list_ended(answer) == []
    assert answer["review_id"]
    assert len(contents(client)) == 2
    flagged = next(c for c in answer["candidates"] if c["id"] == old)
    assert flagged["relation"] in ("UPDATE", "CONTRADICTION")


def test_a_constraint_is_never_ended_by_a_signal(client: httpx.Client) -> None:
    store(client, "The budget is 100 euros", kind="constraint")
    answer = store(client, "The budget is 200 euros")
    assert answer["operation"] == "ADD"
    assert list_ended(answer) == []
    assert answer["review_id"]
    assert len(contents(client)) == 2


def test_what_a_text_is_about_is_stored_beside_what_the_caller_said(client: httpx.Client) -> None:
    derived = store(client, "Alice lives in Berlin")["memory"]
    assert derived["key"] is None
    assert derived["derived"]["entity"] == "alice"
    assert derived["derived"]["value"].lower() == "berlin"
    assert (
        store(client, "Alice's home is Bern", entity="Alice", key="home", value="Bern")["memory"][
            "derived"
        ]
        is None
    )


@pytest.mark.parametrize(
    ("word", "operation"),
    [
        (True, "UPDATE"),
        ("cascade", "UPDATE"),
        ("signals", "UPDATE"),
        ("rules", "ADD"),
        ("off", "ADD"),
        (False, "ADD"),
    ],
)
def test_a_request_says_which_judges_are_asked(
    client: httpx.Client, word: object, operation: str
) -> None:
    store(client, "I live in Porto")
    assert store(client, "I moved to Lisbon", classify=word)["operation"] == operation


def test_a_batch_is_judged_over_what_it_has_itself_written(client: httpx.Client) -> None:
    items = [
        {"content": text}
        for text in ("I live in Porto", "I have a dog", "I moved to Lisbon", "I moved to Faro")
    ]
    results = client.post("/v1/memories/batch", json={"items": items}).json()["results"]
    assert [r["operation"] for r in results] == ["ADD", "ADD", "UPDATE", "UPDATE"]
    assert contents(client) == {"I have a dog", "I moved to Faro"}


def test_a_batch_that_is_judged_piece_by_piece_is_still_one(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classify, "ENCODED_AT_ONCE", 2)
    texts = (
        "I live in Porto",
        "I have a dog",
        "I have a cat",
        "I moved to Lisbon",
        "My favourite colour is red",
        "I have a cat",
        "I moved to Faro",
    )
    items = [{"content": text, "classify": text != "I have a dog"} for text in texts]
    results = client.post("/v1/memories/batch", json={"items": items}).json()["results"]
    assert [r["operation"] for r in results] == [
        "ADD",
        "ADD",
        "ADD",
        "UPDATE",
        "ADD",
        "NOOP",
        "UPDATE",
    ]
    assert contents(client) == {
        "I have a dog",
        "I have a cat",
        "My favourite colour is red",
        "I moved to Faro",
    }


def test_questions_and_quotations_are_stored_as_such_and_end_nothing(
    client: httpx.Client,
) -> None:
    store(client, "I live in Porto")
    question = store(client, "Do I no longer live in Porto?")
    quotation = store(client, 'My neighbour said: "I moved to Lisbon, I no longer live in Porto."')
    assert (question["operation"], question["memory"]["tags"]) == ("ADD", ["question"])
    assert (quotation["operation"], quotation["memory"]["tags"]) == ("ADD", ["quotation"])
    assert client.get("/v1/reviews").json()["items"] == []
    assert list_ended(store(client, "I moved to Lisbon")) != []
    context = client.get("/v1/context", params={"budget_tokens": 500}).json()
    assert "Do I no longer live in Porto? (a question)" in context["text"]
    assert 'Porto." (quoted)' in context["text"]


def test_a_dry_run_explains_and_leaves_no_review(client: httpx.Client) -> None:
    store(client, "I live in Porto")
    dry = store(client, "I moved to Lisbon", dry_run=True)
    assert dry["operation"] == "UPDATE"
    assert dry["candidates"][0]["signals"][0]["explanation"]
    assert contents(client) == {"I live in Porto"}


def test_a_document_is_stored_without_being_read_as_a_fact(client: httpx.Client) -> None:
    text = "Anna Smith lives in Porto. " * 500
    store(client, text)
    answer = store(client, text.replace("Porto", "Lisbon"))
    assert answer["operation"] == "ADD"
    assert list_ended(answer) == []
    assert answer["candidates"][0]["relation"] is None


def test_who_insists_on_a_model_is_told_that_there_is_none(client: httpx.Client) -> None:
    fact = {"content": "I moved to Lisbon", "classify": "model"}
    refused = client.post("/v1/memories", json=fact)
    assert refused.status_code == 422
    assert refused.json()["type"].endswith("no-model")
    assert "set PALIMPSEST_LLM_BASE_URL" in refused.json()["detail"]
    batch = client.post("/v1/memories/batch", json={"items": [{"content": "Has a cat"}, fact]})
    assert batch.status_code == 422
    assert contents(client) == set()


# --- with a model ------------------------------------------------------------------------------------------------------

OPEN = (
    "The office plants are watered by Ines",
    "Ines waters nothing; Rui does the office plants",
)  # signals leave it open


@contextmanager
def with_model(url: str, *steps: Step, **more: Any) -> Iterator[tuple[httpx.Client, ScriptedModel]]:
    fast = {"llm_read_timeout": 0.4, "llm_total_timeout": 1.0, "llm_tries": 2}
    with ScriptedModel(*steps) as model:
        settings = load_settings(database_url=url, llm_base_url=model.url, **fast | more)
        with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
            yield client, model


def test_the_model_decides_what_signals_leave_open(database_url: str) -> None:
    with with_model(
        database_url, judges(judgment(1, "CONTRADICTION", 0.95, "Rui does it now."))
    ) as (client, model):
        old = store(client, OPEN[0])
        answer = store(client, OPEN[1])
        assert (answer["operation"], list_ended(answer)) == ("UPDATE", [old["memory"]["id"]])
        assert (answer["decision"]["decided_by"], answer["decision"]["reasoning"]) == (
            "model",
            "Rui does it now.",
        )
        assert answer["usage"]["llm_calls"] == 2  # asked again, for nobody else ends it
        assert answer["usage"]["prompt_tokens"] > 0
        assert len(model.requests) == 2
        entry = client.get(f"/v1/log/{answer['log_id']}").json()
        assert (entry["model"], entry["prompt_version"]) == ("gpt-4o-mini", "relate.v7.full")
        assert entry["usage"]["llm_calls"] == 2
        counted = client.get("/metrics").text
        assert (
            'palimpsest_operations_total{decided_by="model",operation="UPDATE",relation="CONTRADICTION"}'
            in counted
        )
        assert 'palimpsest_model_tokens_total{kind="prompt"}' in counted


def test_the_model_is_not_asked_what_keys_and_equal_text_settle(database_url: str) -> None:
    with with_model(database_url, every("NONE")) as (client, model):
        store(client, "Uses Vim", key="editor", value="Vim")
        assert store(client, "Emacs now", key="editor", value="Emacs")["operation"] == "UPDATE"
        assert store(client, "emacs now!", key="editor", value="Emacs")["operation"] == "NOOP"
        assert model.requests == []


def test_the_model_has_the_last_word_on_what_signals_found(database_url: str) -> None:
    with with_model(database_url, every("OVERLAP")) as (client, model):
        store(client, "I live in Porto")
        answer = store(client, "I moved to Lisbon")
        assert (answer["operation"], list_ended(answer)) == ("ADD", [])
        [request] = model.requests
        question = request.json["messages"][-1]["content"]
        assert '"hint": "UPDATE: ' in question


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "The Falcon app, written by Anna, has 12000 users.",
            "The Falcon app, written by Anna, has 12000 users.",
        ),
        (
            "The Falcon app has many users.",
            "The Falcon app was written by Anna. The Falcon app has 12000 users.",
        ),
        (None, "The Falcon app was written by Anna. The Falcon app has 12000 users."),
    ],
)
def test_a_merge_keeps_both_sources_and_drops_nothing(
    database_url: str, said: str | None, kept: str
) -> None:
    with with_model(database_url, judges(judgment(1, "COMPLEMENT", 0.95, text=said))) as (
        client,
        _,
    ):
        one = store(
            client,
            "The Falcon app was written by Anna",
            tags=["Pets"],
            importance=0.9,
            valid_from="2026-01-01",
        )
        answer = store(client, "The Falcon app has 12000 users", tags=["dogs"], source="chat")
        assert answer["operation"] == "MERGE"
        merged = answer["memory"]
        assert merged["content"] == kept
        assert merged["importance"] == 0.9
        assert set(merged["tags"]) == {"pets", "dogs"}
        assert merged["sources"] == ["chat"]
        first, second = merged["merged_from"]
        assert first == one["memory"]["id"]
        for source, text in (
            (first, "The Falcon app was written by Anna"),
            (second, "The Falcon app has 12000 users"),
        ):
            stored = client.get(f"/v1/memories/{source}").json()
            assert (stored["content"], stored["status"], stored["superseded_by"]) == (
                text,
                "merged",
                merged["id"],
            )
        assert contents(client) == {kept}
        assert contents(client, as_of="2026-02-01") == {"The Falcon app was written by Anna"}
        found = client.post("/v1/search", json={"query": "How many use Falcon?"}).json()["results"]
        assert found[0]["memory"]["id"] == merged["id"]
        assert found[0]["scores"]["vector"] > 0.3


@pytest.mark.parametrize(
    ("told", "then"),
    [
        ("User has a dog", "User's dog is named Max"),
        ("The Falcon app was written by Anna", "The Falcon app has 12000 users"),
    ],
)
def test_undoing_a_merge_leaves_both_facts_and_doing_it_again_the_merged_one(
    database_url: str, told: str, then: str
) -> None:
    model = judges(judgment(1, "COMPLEMENT", 0.95, text=f"{told}. {then}."))
    with with_model(database_url, model) as (client, _):
        store(client, told, valid_from="2026-01-01")
        merge = store(client, then, valid_from="2026-02-01")
        assert merge["operation"] == "MERGE"
        merged = contents(client)
        first, second = merge["memory"]["merged_from"]
        log_id = merge["log_id"]
        for _ in range(2):
            undone = client.post(f"/v1/log/{log_id}/revert").json()
            assert contents(client) == {told, then}
            for source, start in ((first, "2026-01-01"), (second, "2026-02-01")):
                memory = client.get(f"/v1/memories/{source}").json()
                assert (memory["status"], memory["valid_until"]) == ("current", None)
                assert memory["valid_from"].startswith(start)
                assert memory["superseded_by"] is None
            assert contents(client, as_of="2026-01-15") == {told}
            again = client.post(f"/v1/log/{undone['log_id']}/revert").json()
            assert contents(client) == merged
            assert client.get(f"/v1/memories/{second}").json()["status"] == "merged"
            log_id = again["log_id"]


def test_a_merge_goes_on_counting(database_url: str) -> None:
    model = judges(judgment(1, "COMPLEMENT", 0.95, text="Has a dog named Max"))
    with with_model(database_url, model) as (client, _):
        for _ in range(3):
            store(client, "Has a dog")
        merged = store(client, "The dog is named Max")
        assert (merged["operation"], merged["memory"]["content"]) == (
            "MERGE",
            "Has a dog named Max",
        )
        assert merged["memory"]["access_count"] == 3, "two repetitions and the merge"
        assert client.get("/v1/doctor").json()["problems"] == []
        undone = client.post(f"/v1/log/{merged['log_id']}/revert", json={})
        undone.raise_for_status()
        named, dog = client.get("/v1/memories").json()["items"]
        assert (named["content"], named["access_count"]) == ("The dog is named Max", 0)
        assert (dog["content"], dog["access_count"]) == ("Has a dog", 2)
        assert client.get("/v1/doctor").json()["problems"] == []


FAULTS: list[tuple[str, Step]] = [
    ("500", fails(500)),
    ("silence", SILENCE),
    ("reset", RESET),
    ("truncated json", TRUNCATED_JSON),
    ("refusal", REFUSAL),
    ("ten megabytes", TEN_MB),
    ("unknown candidate", judges(judgment(17))),
]


@pytest.mark.parametrize(("fault", "step"), FAULTS, ids=[name for name, _ in FAULTS])
def test_whatever_the_model_does_the_fact_is_stored_and_nothing_ends(
    database_url: str, fault: str, step: Step
) -> None:
    with with_model(database_url, every("NONE")) as (client, model):
        store(client, OPEN[0])
        model.then(step)
        answer = store(client, OPEN[1])
        assert (answer["operation"], list_ended(answer)) == ("ADD", []), fault
        assert answer["usage"]["trouble"], fault
        assert contents(client) == set(OPEN)
        assert client.get(f"/v1/log/{answer['log_id']}").json()["usage"]["trouble"], (
            "the reason is logged"
        )
        with psycopg.connect(database_url) as connection:
            marked = connection.execute(
                "SELECT content FROM memories WHERE look_again IS NOT NULL"
            ).fetchall()
        assert marked == [(OPEN[1],)], "marked for another look"


def test_prose_around_the_answer_is_read(database_url: str) -> None:
    with with_model(database_url, every("NONE")) as (client, model):
        store(client, OPEN[0])
        model.then(IN_PROSE)
        assert store(client, OPEN[1])["operation"] == "UPDATE"


def test_past_its_budget_an_agent_gets_the_rules_answer(database_url: str) -> None:
    with with_model(database_url, every("NONE"), llm_calls_per_minute=1) as (client, model):
        store(client, OPEN[0])
        model.then(every("CONTRADICTION"))
        first = store(client, OPEN[1])
        second = store(client, "Rui gave the plants of the office to Ines again")
        assert first["usage"]["llm_calls"] == 1
        assert second["operation"] == "ADD"
        assert second["usage"]["llm_calls"] == 0
        assert "minute" in second["usage"]["trouble"]


def test_no_connection_is_held_while_the_model_thinks(database_url: str) -> None:
    may_answer = threading.Event()
    with with_model(
        database_url,
        every("NONE"),
        llm_read_timeout=60,
        llm_total_timeout=60,
        pool_size=1,
        pool_timeout=2,
    ) as (client, model):
        store(client, OPEN[0])
        model.then(right_after(may_answer))
        answers: list[dict[str, Any]] = []
        caller = threading.Thread(target=lambda: answers.append(send(client, {"content": OPEN[1]})))
        caller.start()
        while not model.requests:
            pass
        with psycopg.connect(database_url) as connection:
            query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'"
            assert connection.execute(query).fetchone() == (0,)
        assert httpx.get(f"{client.base_url}/v1/memories").status_code == 200
        may_answer.set()
        caller.join(20)
        assert answers[0]["operation"] == "UPDATE"


def _supersede_while_the_model_thinks(client: httpx.Client, model: ScriptedModel) -> dict[str, Any]:
    """Store OPEN[1] while what it is about is superseded by hand; the answer of the store."""
    may_answer = threading.Event()
    old = store(client, OPEN[0])["memory"]["id"]
    model.then(right_after(may_answer))
    answers: list[dict[str, Any]] = []
    caller = threading.Thread(target=lambda: answers.append(send(client, {"content": OPEN[1]})))
    caller.start()
    while not model.requests:
        pass
    other = httpx.post(
        f"{client.base_url}/v1/memories/{old}/supersede",
        json={"content": "Ines left the plants to Ana"},
    )
    assert other.status_code == 201
    may_answer.set()
    caller.join(20)
    return answers[0]


def test_what_became_known_while_the_model_was_asked_is_asked_about_too(
    database_url: str,
) -> None:
    """A verdict on what moved meanwhile is dropped, and the model sees what stands in its place. Both questions cost."""
    with with_model(database_url, every("NONE"), llm_read_timeout=60, llm_total_timeout=60) as (
        client,
        model,
    ):
        answer = _supersede_while_the_model_thinks(client, model)
        assert len(model.requests) == 4  # each question twice
        assert "Ines left the plants to Ana" not in str(model.requests[0])
        assert "Ines left the plants to Ana" in str(model.requests[2])
        assert (answer["operation"], len(list_ended(answer))) == ("UPDATE", 1)
        assert contents(client) == {OPEN[1]}
        assert answer["usage"]["llm_calls"] == 4


def test_what_moved_while_the_model_was_asked_is_left_alone(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the last look, the verdict on what moved is dropped, the fact is stored and marked."""
    monkeypatch.setattr(remember, "MOST_LOOKS", 1)
    with with_model(database_url, every("NONE"), llm_read_timeout=60, llm_total_timeout=60) as (
        client,
        model,
    ):
        answer = _supersede_while_the_model_thinks(client, model)
        assert (answer["operation"], list_ended(answer)) == ("ADD", [])
        assert contents(client) == {"Ines left the plants to Ana", OPEN[1]}
        with psycopg.connect(database_url) as connection:
            assert connection.execute(
                "SELECT look_again FROM memories WHERE look_again IS NOT NULL"
            ).fetchone() == ("memories moved while it was judged",)


# --- prompt injection --------------------------------------------------------------------------------------------------

INJECTIONS = [
    json.loads(line)
    for line in (
        Path(__file__).parents[1] / "classification" / "model" / "data" / "injections.jsonl"
    )
    .read_text()
    .splitlines()
]


def test_the_corpus_of_injections_is_large() -> None:
    assert len(INJECTIONS) >= 60


@pytest.mark.slow
def test_an_obedient_model_cannot_be_led_beyond_the_cap(database_url: str) -> None:
    """The model does whatever the texts say: at most the cap ends, never a constraint, never what is trusted more."""
    with with_model(
        database_url, every("NONE"), llm_calls_per_minute=100_000, llm_tokens_per_day=10**9
    ) as (client, model):
        for injection in INJECTIONS:
            client.headers["X-Agent-Id"] = f"agent-{injection['id']}"
            facts = [
                f"Note about the {word} of the garden"
                for word in ("rose", "oak", "fern", "lily", "ivy")
            ]
            items = [{"content": fact, "classify": False} for fact in facts]
            items += [
                {
                    "content": "Never water the moss of the garden",
                    "kind": "constraint",
                    "classify": False,
                }
            ]
            items += [{"content": "The pond of the garden is deep", "trust": 90, "classify": False}]
            client.post("/v1/memories/batch", json={"items": items}).raise_for_status()
            model.then(obedient)
            answer = store(client, injection["text"])
            assert len(list_ended(answer)) <= 3, injection["id"]
            left = contents(client)
            assert "Never water the moss of the garden" in left, injection["id"]
            assert "The pond of the garden is deep" in left, injection["id"]
            assert len(left & set(facts)) >= 2, injection["id"]
            entry = client.get(f"/v1/log/{answer['log_id']}").json()
            assert entry["incoming"]["content"].strip() == injection["text"].strip()
            assert {state["id"] for state in entry["before_state"]} >= set(list_ended(answer)), (
                "each closure can be reverted from the log"
            )
    with psycopg.connect(database_url, row_factory=dict_row) as connection:
        ended = connection.execute(
            "SELECT count(*) AS n FROM memories WHERE superseded_by IS NOT NULL OR retracted_at IS NOT NULL"
        ).fetchone()
    assert ended is not None
    assert ended["n"] > 20, "the model was obedient: without it, this test would show nothing"
