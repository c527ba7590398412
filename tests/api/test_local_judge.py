"""The local judge over HTTP: it ends what it reads to be over, says so, and can be turned off."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from app.settings import load_settings
from support.builders import contents, list_ended, store
from support.service import running
from support.sweeps import Place

OLD = "I drive an old blue Fiesta."
NEW = "I traded the Fiesta in for a Yaris."


@contextmanager
def service(database_url: str, *, local_judge: bool) -> Iterator[httpx.Client]:
    settings = load_settings(database_url=database_url, local_judge=local_judge)
    with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def test_what_it_reads_to_be_over_ends_and_the_answer_says_who_decided(database_url: str) -> None:
    with service(database_url, local_judge=True) as client:
        old = store(client, OLD)["memory"]["id"]
        answer = store(client, NEW)
        assert (answer["operation"], list_ended(answer)) == ("UPDATE", [old])
        decision = answer["decision"]
        assert decision["decided_by"] == "judge"
        assert decision["reasoning"].startswith('local_judge: "')
        assert contents(client) == {NEW}
        entry = client.get(f"/v1/log/{answer['log_id']}").json()
        assert entry["decided_by"] == "judge"
        why = client.get(f"/v1/memories/{answer['memory']['id']}/why").json()
        assert "by the local judge" in why["events"][-1]["sentence"]


def test_it_can_be_turned_off(database_url: str) -> None:
    with service(database_url, local_judge=False) as client:
        store(client, OLD)
        answer = store(client, NEW)
        assert answer["operation"] == "ADD"
        assert contents(client) == {OLD, NEW}


@pytest.mark.parametrize("classify", ["off", "rules"])
def test_a_call_may_do_without_it(database_url: str, classify: str) -> None:
    with service(database_url, local_judge=True) as client:
        store(client, OLD)
        assert store(client, NEW, classify=classify)["operation"] == "ADD"


def test_a_batch_is_read_over_what_it_has_itself_written(database_url: str) -> None:
    with service(database_url, local_judge=True) as client:
        items = [{"content": text} for text in (OLD, "My sister plays the cello.", NEW)]
        results = client.post("/v1/memories/batch", json={"items": items}).json()["results"]
        assert [result["operation"] for result in results] == ["ADD", "ADD", "UPDATE"]
        assert list_ended(results[2]) == [results[0]["memory"]["id"]]


def test_a_sweep_reads_what_was_stored_without_judges(database_url: str) -> None:
    with service(database_url, local_judge=True) as client:
        place = Place(database_url, client)
        old, new = place.store(OLD), place.store(NEW)
        started = client.post("/v1/sweeps", json={}).json()
        place.work(local_judge=True)
        swept = client.get(f"/v1/sweeps/{started['id']}").json()
        assert place.standing(old, new) == ["superseded", "current"]
        assert swept["findings"][0]["signals"] == ["local_judge"]


@pytest.mark.parametrize("local_judge", [True, False])
def test_a_hint_says_that_nothing_ended_only_if_the_judge_read_nothing(
    database_url: str, *, local_judge: bool
) -> None:
    with service(database_url, local_judge=local_judge) as client:
        store(client, OLD)
        answer = store(client, "I no longer have that Ford, it went to the scrapyard.")
        hints = [hint["name"] for hint in answer["hints"]]
        if local_judge:
            assert list_ended(answer) or answer["review_id"]
            assert hints == []
        else:
            assert answer["operation"] == "ADD"
            assert hints == ["ends_nothing_stored"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ich wohne in Berlin.", "Ich bin nach Hamburg gezogen."),
        ("Vivo en Madrid.", "Ahora vivo en Sevilla."),
        ("我住在北京。", "我搬到上海了。"),
    ],
)
def test_a_fact_in_a_language_that_no_judge_reads_says_so(
    database_url: str, old: str, new: str
) -> None:
    with service(database_url, local_judge=True) as client:
        store(client, old)
        [hint] = store(client, new)["hints"]
        assert hint["name"] == "language_not_read"
        assert "set a model, or give entity and key" in hint["sentence"]
        assert contents(client) == {old, new}
        again = store(client, f"{new} ")
        assert (again["operation"], again["hints"]) == ("NOOP", [])
        # A key decides by itself, whatever the language.
        first = store(client, "Miete: 700", entity="user", key="rent", value="700")
        second = store(client, "Die Miete ist jetzt 750", entity="user", key="rent", value="750")
        assert first["hints"] == second["hints"] == []
        assert second["operation"] == "UPDATE"


def test_english_is_read_without_a_hint(database_url: str) -> None:
    with service(database_url, local_judge=True) as client:
        store(client, OLD)
        assert store(client, NEW)["hints"] == []
