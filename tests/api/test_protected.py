"""What nothing but an explicit call may end: constraints, what is trusted more, what is said of somebody else."""

from collections.abc import Iterator

import httpx
import pytest

from app.settings import load_settings
from support.builders import contents, editor, problem, send, store
from support.scripted_model import ScriptedModel, every
from support.service import running


def test_a_less_trusted_value_does_not_pile_up_or_answer_for_the_slot(client: httpx.Client) -> None:
    send(client, editor("Vim", trust=90))
    operations = [send(client, editor("Nano", trust=10))["operation"] for _ in range(3)]
    assert operations == ["ADD", "NOOP", "NOOP"]
    assert client.get("/v1/preferences/tooling/editor").json()["value"] == "Vim"


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


def test_the_log_keeps_what_metadata_said_before(client: httpx.Client) -> None:
    memory_id = store(client, importance=0.2, tags=["a"])["memory"]["id"]
    answer = client.patch(
        f"/v1/memories/{memory_id}", json={"importance": 0.9, "tags": ["b"]}
    ).json()
    entry = client.get(f"/v1/log/{answer['log_id']}").json()
    assert {"id": memory_id, "metadata": {"importance": 0.2, "tags": ["a"]}} in entry[
        "before_state"
    ]


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
