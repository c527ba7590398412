"""What nothing but an explicit call may end: constraints, what is trusted more, what is said of somebody else."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from app.settings import load_settings
from support.builders import contents, editor, problem, send, store
from support.scripted_model import ScriptedModel, every
from support.service import running

SOON = (datetime.now(UTC) + timedelta(days=1)).isoformat()
SOONER = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
NEVER = "Never deploy on Fridays"


def test_a_constraint_gets_no_end_from_a_text_that_repeats_it(client: httpx.Client) -> None:
    kept = store(client, NEVER, kind="constraint")["memory"]["id"]
    answer = store(client, "never deploy on fridays.", trust=0, valid_until=SOON)
    assert answer["review_id"]
    assert client.get(f"/v1/memories/{kept}").json()["valid_until"] is None


def test_a_constraint_in_a_slots_chain_is_not_ended_by_the_slots_next_value(
    client: httpx.Client,
) -> None:
    vim = send(client, editor("Vim"))["memory"]["id"]
    only = client.post(
        f"/v1/memories/{vim}/supersede",
        json={"content": "Only Emacs is allowed", "kind": "constraint"},
    ).json()["memory"]["id"]
    answer = send(client, editor("Nano"))
    assert answer["superseded"] == []
    assert answer["review_id"]
    assert client.get(f"/v1/memories/{only}").json()["status"] == "current"


def test_lower_trust_neither_shortens_nor_brings_a_change_forward(client: httpx.Client) -> None:
    vim = send(client, editor("Vim", trust=90))["memory"]["id"]
    send(client, editor("Emacs", trust=90, valid_from=SOON))
    answer = send(client, editor("Emacs", trust=0))
    assert answer["review_id"]
    assert client.get(f"/v1/memories/{vim}").json()["status"] == "current"
    ended = send(client, editor("Vim", trust=0, valid_until=SOONER))
    assert ended["review_id"]
    assert client.get("/v1/preferences/tooling/editor").json()["value"] == "Vim"


def test_a_less_trusted_value_does_not_pile_up_or_answer_for_the_slot(client: httpx.Client) -> None:
    send(client, editor("Vim", trust=90))
    operations = [send(client, editor("Nano", trust=10))["operation"] for _ in range(3)]
    assert operations == ["ADD", "NOOP", "NOOP"]
    assert client.get("/v1/preferences/tooling/editor").json()["value"] == "Vim"


@pytest.mark.parametrize(("first", "second"), [("bob", None), (None, "bob"), ("bob", "ana")])
def test_what_is_said_of_one_ends_nothing_of_another(
    client: httpx.Client, first: str | None, second: str | None
) -> None:
    store(client, "I live in Porto", **({"entity": first} if first else {}))
    answer = store(client, "I live in Lisbon", **({"entity": second} if second else {}))
    assert (answer["operation"], answer["superseded"]) == ("ADD", [])
    assert len(contents(client)) == 2


def test_somebody_named_in_the_text_is_met_by_the_entity(client: httpx.Client) -> None:
    store(client, "Bob lives in Porto", entity="Bob")
    answer = store(client, "Bob moved to Lisbon")
    assert answer["operation"] == "UPDATE"
    assert answer["memory"]["entity"] == "Bob"


@pytest.fixture
def merging(database_url: str) -> Iterator[httpx.Client]:
    """A client of a service whose model takes everything for a complement."""
    with ScriptedModel(every("COMPLEMENT")) as model:
        settings = load_settings(database_url=database_url, llm_base_url=model.url)
        with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
            yield client


def test_a_constraint_is_never_merged_away(merging: httpx.Client) -> None:
    store(merging, "Bob does the deploys on Fridays")
    answer = store(merging, NEVER, kind="constraint")
    assert answer["operation"] != "MERGE"
    assert contents(merging, kind="constraint") == {NEVER}


def test_a_withdrawn_merge_gives_both_its_sources_back(merging: httpx.Client) -> None:
    client = merging
    texts = ["The Falcon app was written by Anna", "The Falcon app has 12000 users"]
    store(client, texts[0])
    merged = store(client, texts[1])
    assert merged["operation"] == "MERGE"
    for source in merged["memory"]["merged_from"]:
        operations = client.get(f"/v1/memories/{source}/history").json()["operations"]
        assert "MERGE" in {o["operation"] for o in operations}
    withdrawn = client.post(
        f"/v1/memories/{merged['memory']['id']}/retract", json={"never_true": True}
    )
    assert withdrawn.status_code == 200
    assert contents(client) == set(texts)


def test_a_fact_with_a_stated_end_is_not_merged_into_one_without(merging: httpx.Client) -> None:
    store(merging, "The Falcon app was written by Anna", valid_until=SOON)
    assert store(merging, "The Falcon app has 12000 users")["operation"] == "ADD"


def test_the_log_keeps_what_metadata_said_before(client: httpx.Client) -> None:
    memory_id = store(client, importance=0.2, tags=["a"])["memory"]["id"]
    answer = client.patch(
        f"/v1/memories/{memory_id}", json={"importance": 0.9, "tags": ["b"]}
    ).json()
    entry = client.get(f"/v1/log/{answer['log_id']}").json()
    assert {"id": memory_id, "metadata": {"importance": 0.2, "tags": ["a"]}} in entry[
        "before_state"
    ]


def test_a_decisions_details_are_typed_however_they_come(client: httpx.Client) -> None:
    memory_id = store(client, "We use tabs", kind="decision")["memory"]["id"]
    bad = {"alternatives": 5}
    problem(client.patch(f"/v1/memories/{memory_id}", json={"details": bad}), 422)
    problem(
        client.post(
            f"/v1/memories/{memory_id}/supersede", json={"content": "We use spaces", "details": bad}
        ),
        422,
    )
    assert contents(client) == {"We use tabs"}


@pytest.mark.parametrize(
    "path",
    ["/v1/search?q=%00", "/v1/search?q=%20", "/v1/memories?as_of=2020-01-01&asOf=2021-01-01"],
)
def test_odd_queries_are_refused_in_words(client: httpx.Client, path: str) -> None:
    problem(client.get(path), 422)


def test_a_cursor_of_brackets_is_a_broken_cursor(client: httpx.Client) -> None:
    import base64

    cursor = base64.urlsafe_b64encode(b"[" * 30_000).decode()
    problem(client.get("/v1/memories", params={"cursor": cursor}), 422)
