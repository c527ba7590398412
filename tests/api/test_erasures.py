"""Erase: the bytes go everywhere, the place in time stays (DESIGN §4, invariant 5)."""

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from app.domain.text import fold, hash_text, hash_text_loosely
from app.planning.audit.checkpoint import seal_value
from app.settings import load_settings
from app.store.log.archive_files import Archives
from support.builders import list_ended, problem, store
from support.retention import retain
from support.scripted_model import ScriptedModel, every, quoting
from support.service import running
from support.stored_text import everything, in_files

SECRET = "My passport number is Q7-Zebra-4711 of Atlantis"


def assert_gone(
    url: str, *words: str, hashes_of: str | None = None, vector: str | None = None
) -> None:
    dump = everything(url).casefold()
    for word in words:
        assert word.casefold() not in dump, word
        for written in (
            word,
            word.casefold(),
            word.capitalize(),
        ):  # bytes are dumped in hexadecimal
            assert written.encode().hex() not in dump, word
    if hashes_of:
        for hashed in (
            hash_text(hashes_of),
            hash_text(fold(hashes_of)),
            hash_text_loosely(hashes_of),
        ):
            assert hashed.hex() not in dump
    if vector:
        assert vector not in dump


def vector_of(url: str, memory_id: str) -> str:
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT embedding::text FROM memories WHERE id = %s", [memory_id]
        ).fetchone()
    assert row
    return str(row[0])


@pytest.fixture
def own(database_url: str) -> Iterator[tuple[httpx.Client, str]]:
    """A client of a service over a database of the test's own, to be dumped."""
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        yield client, database_url


def erase(client: httpx.Client, memory_id: str, **params: Any) -> httpx.Response:
    return client.delete(f"/v1/memories/{memory_id}", params={"erase": True, **params})


def test_an_erased_memory_leaves_no_text_no_hash_and_no_vector_anywhere(
    own: tuple[httpx.Client, str],
) -> None:
    client, url = own
    told = {
        "tags": ["zebra-tag"],
        "details": {"note": "zebra-note"},
        "entities": ["Zebra Ent"],
        "sources": ["zebra-src"],
        "source": "zebra.md",
    }
    memory = store(
        client, SECRET, value="Q7-Zebra", key="passport", session_id="zebra-session", **told
    )["memory"]
    store(client, SECRET.upper(), key="passport", value="Q7-Zebra")  # a duplicate, kept in the log
    client.patch(f"/v1/memories/{memory['id']}", json={"tags": ["zebra-patched"]})
    store(client, "My passport is lost", key="passport", value="none")
    client.post("/v1/memories", json={"content": SECRET, "dry_run": True})
    vector = vector_of(url, memory["id"])
    assert "zebra" in everything(url).casefold()
    answer = erase(client, memory["id"])
    assert answer.status_code == 200, answer.text
    assert answer.json()["erased"] == [memory["id"]]
    assert_gone(url, "zebra", "q7-", "atlantis", hashes_of=SECRET, vector=vector)


@pytest.mark.parametrize("erased", [0, 1])
def test_vetoes_that_quote_it_go_and_the_decision_on_the_other_fact_stays(
    own: tuple[httpx.Client, str], erased: int
) -> None:
    client, url = own
    one = store(client, "The server runs Linux", entity="Zebra-11")
    other = store(client, "The server runs Windows", entity="Falcon", classify="signals")
    told = client.get(f"/v1/log/{other['log_id']}").json()
    [judged] = told["opinions"]
    assert judged["memory_id"] == one["memory"]["id"]
    assert judged["vetoes"] == ["entity Falcon is not entity Zebra-11"]
    erase(client, (one, other)[erased]["memory"]["id"])
    left = client.get(f"/v1/log/{other['log_id']}").json()
    assert left["opinions"] == []
    assert (left["reasoning"] == told["reasoning"]) is (erased == 0)
    assert_gone(url, "falcon" if erased else "zebra")


def test_a_veto_about_another_memory_goes_where_it_quotes_an_erased_text(
    own: tuple[httpx.Client, str],
) -> None:
    client, _ = own
    secret = store(client, "Zebra-11")["memory"]["id"]
    store(client, "The server runs Linux", entity="Zebra-11")
    other = store(client, "The server runs Windows", entity="Falcon")
    assert len(client.get(f"/v1/log/{other['log_id']}").json()["opinions"]) == 1
    erase(client, secret)
    assert client.get(f"/v1/log/{other['log_id']}").json()["opinions"] == []


def test_the_receipt_proves_the_text_to_whoever_kept_it_and_its_key_is_not_stored(
    own: tuple[httpx.Client, str],
) -> None:
    client, url = own
    memory = store(client, SECRET)["memory"]
    receipt = erase(client, memory["id"]).json()["receipt"]
    assert receipt["digests"] == {
        memory["id"]: hmac.new(
            bytes.fromhex(receipt["key"]), SECRET.encode(), hashlib.sha256
        ).hexdigest()
    }
    assert receipt["key"] not in everything(url)
    assert receipt["digests"][memory["id"]] in everything(url)


def test_reads_over_the_hole_say_erased_and_the_chain_keeps_its_shape(client: httpx.Client) -> None:
    first = store(client, "Lives in Porto", key="home", value="Porto", valid_from="2020-01-01")[
        "memory"
    ]
    second = store(client, "Lives in Lisbon", key="home", value="Lisbon", valid_from="2022-01-01")[
        "memory"
    ]
    third = store(client, "Lives in Faro", key="home", value="Faro", valid_from="2024-01-01")[
        "memory"
    ]
    before = {
        m["id"]: (m["valid_from"], m["valid_until"])
        for m in client.get(f"/v1/memories/{first['id']}/history").json()["versions"]
    }
    known_before = third["created_at"]
    assert erase(client, second["id"]).status_code == 200
    history = client.get(f"/v1/memories/{first['id']}/history").json()
    assert {m["id"]: (m["valid_from"], m["valid_until"]) for m in history["versions"]} == before
    for params in ({"as_of": "2023-01-01"}, {"as_of": "2023-01-01", "known_at": known_before}):
        [hole] = client.get("/v1/memories", params=params).json()["items"]
        assert (hole["id"], hole["status"], hole["content"], hole["value"]) == (
            second["id"],
            "erased",
            None,
            None,
        )
        assert (
            client.get(f"/v1/memories/{second['id']}", params=params).json()["status"] == "erased"
        )
    assert [m["content"] for m in client.get("/v1/memories").json()["items"]] == ["Lives in Faro"]
    assert [
        m["content"]
        for m in client.get("/v1/memories", params={"as_of": "2021-01-01"}).json()["items"]
    ] == ["Lives in Porto"]


def test_what_was_erased_is_in_no_list_of_what_holds(client: httpx.Client) -> None:
    ids = [store(client, f"Secret {n}", classify="off")["memory"]["id"] for n in range(4)]
    slot = store(client, "Lives in Porto", key="home", value="Porto")["memory"]["id"]
    for erased in (*ids[1:3], slot):
        erase(client, erased).raise_for_status()
    left = [ids[3], ids[0]]
    for params in ({}, {"limit": 1}, {"sort": "strength", "limit": 1}):
        assert sorted(list_pages(client, **params)) == sorted(left), params
    problem(client.get("/v1/preferences/home"), 404)
    everything = list_pages(client, include_superseded=True, limit=2)
    assert set(everything) == {*ids, slot}
    moment = {"as_of": client.get("/v1/memories").json()["as_of"]}
    assert set(list_pages(client, **moment, limit=2)) == {*ids, slot}
    history = client.get(f"/v1/memories/{ids[1]}/history").json()
    assert (history["current"], [m["status"] for m in history["versions"]]) == (None, ["erased"])


def list_pages(client: httpx.Client, **params: Any) -> list[str]:
    """Return the ids of all pages of a list."""
    ids: list[str] = []
    while True:
        page = client.get("/v1/memories", params=params).json()
        ids += [memory["id"] for memory in page["items"]]
        if page["next_cursor"] is None:
            return ids
        params = params | {"cursor": page["next_cursor"]}


def test_a_context_never_tells_of_what_was_erased(client: httpx.Client) -> None:
    memory = store(client, SECRET)["memory"]
    store(client, "The weather is fine")
    erase(client, memory["id"])
    context = client.get("/v1/context", params={"query": SECRET}).json()
    assert "fine" in context["text"]
    assert memory["id"] not in json.dumps(context)
    assert context["left_out"] == 0


@pytest.mark.parametrize("mode", ["hybrid", "vector", "text"])
def test_a_search_never_finds_what_was_erased(client: httpx.Client, mode: str) -> None:
    memory = store(client, SECRET)["memory"]
    other = store(client, "The weather is fine")["memory"]
    erase(client, memory["id"])
    for everywhere in (True, False):
        asked = {"query": SECRET, "mode": mode, "include_superseded": everywhere}
        found = client.post("/v1/search", json=asked).json()["results"]
        # By words, only what shares one with the secret would be found.
        left = [] if mode == "text" else [other["id"]]
        assert [r["memory"]["id"] for r in found] == left


def test_the_slot_goes_on_after_an_erased_value(client: httpx.Client) -> None:
    first = store(client, "Lives in Porto", key="home", value="Porto")["memory"]
    second = store(client, "Lives in Lisbon", key="home", value="Lisbon")["memory"]
    erase(client, second["id"])
    answer = store(client, "Lives in Lisbon", key="home", value="Lisbon")
    assert (answer["operation"], list_ended(answer)) == ("UPDATE", [second["id"]])
    assert answer["memory"]["chain_id"] == first["id"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PATCH", "", {"tags": ["back"]}),
        ("POST", "/retract", {}),
        ("POST", "/supersede", {"content": "new"}),
        ("DELETE", "?erase=true", None),
        ("DELETE", "", None),
    ],
)
def test_nothing_can_be_done_to_an_erased_memory(
    client: httpx.Client, method: str, path: str, body: dict[str, Any] | None
) -> None:
    memory = store(client, SECRET)["memory"]
    erase(client, memory["id"])
    answer = client.request(method, f"/v1/memories/{memory['id']}{path}", json=body)
    assert (answer.status_code, answer.json()["type"]) == (410, "urn:palimpsest:problem:erased")


def test_a_memory_that_is_unknown_or_anothers_cannot_be_erased(client: httpx.Client) -> None:
    memory = store(client, SECRET)["memory"]
    unknown = erase(client, str(uuid4()))
    foreign = client.delete(
        f"/v1/memories/{memory['id']}",
        params={"erase": True},
        headers={"X-Agent-Id": "someone-else"},
    )
    assert (unknown.status_code, foreign.status_code) == (404, 404)
    assert client.get(f"/v1/memories/{memory['id']}").json()["content"] == SECRET


def test_an_erase_decided_on_another_version_is_refused(client: httpx.Client) -> None:
    memory = store(client, SECRET)["memory"]
    client.patch(f"/v1/memories/{memory['id']}", json={"importance": 0.9})
    answer = client.delete(
        f"/v1/memories/{memory['id']}", params={"erase": True}, headers={"If-Match": memory["etag"]}
    )
    assert answer.status_code == 412
    assert client.get(f"/v1/memories/{memory['id']}").json()["content"] == SECRET


def test_a_chain_is_erased_with_every_version_and_the_words_of_its_slot(
    own: tuple[httpx.Client, str],
) -> None:
    client, url = own
    store(
        client,
        "Zebra lives in Porto",
        entity="Zebra",
        category="zebra-places",
        key="zebra-home",
        value="Porto",
    )
    member = store(
        client,
        "Zebra lives in Lisbon",
        entity="Zebra",
        category="zebra-places",
        key="zebra-home",
        value="Lisbon",
    )["memory"]
    client.post(f"/v1/memories/{member['id']}/retract", json={"reason": "zebra said so"})
    store(client, "Something else")
    answer = client.post("/v1/erasures", json={"chain_id": member["id"]})
    assert len(answer.json()["erased"]) == 2
    assert_gone(url, "zebra", "porto", "lisbon", hashes_of="Zebra lives in Porto")
    assert client.post("/v1/erasures", json={"chain_id": member["id"]}).status_code == 410
    assert len(client.get(f"/v1/memories/{member['id']}/history").json()["versions"]) == 2


def test_a_session_is_erased_with_what_was_only_said_in_it(own: tuple[httpx.Client, str]) -> None:
    client, url = own
    kept = store(client, "I play tennis")["memory"]
    store(client, "I like zebras", session_id="zebra-1")
    store(client, "I no longer play tennis, zebra", session_id="zebra-1")
    store(client, "I like zebras", session_id="zebra-1")
    answer = client.post("/v1/erasures", json={"session_id": "zebra-1"})
    assert answer.status_code == 200, answer.text
    assert_gone(url, "zebra")
    assert client.get(f"/v1/memories/{kept['id']}").json()["content"] == "I play tennis"
    assert client.post("/v1/erasures", json={"session_id": "zebra-1"}).status_code == 404


def test_a_whole_agent_is_erased_only_when_its_id_is_repeated(
    own: tuple[httpx.Client, str],
) -> None:
    client, url = own
    for text in (
        "I live in Zebraville",
        "I moved to Zebratown",
        "I no longer live in Zebratown",
        "I like zebra cheese",
        "I hate zebra cheese",
    ):
        store(client, text, session_id="zebra")
    client.post(
        "/v1/memories",
        json={"content": "Another agent keeps this"},
        headers={"X-Agent-Id": "other"},
    )
    assert client.post("/v1/erasures", json={"agent_id": "defualt"}).status_code == 422
    assert client.post("/v1/erasures", json={"agent_id": "default"}).status_code == 200
    assert_gone(url, "zebra")
    assert "Another agent keeps this" in everything(url)
    assert {
        m["status"]
        for m in client.get("/v1/memories", params={"include_superseded": True}).json()["items"]
    } == {"erased"}


def test_answers_kept_for_retries_lose_what_was_erased_and_a_retried_erase_does_not_tell_the_key_again(
    own: tuple[httpx.Client, str],
) -> None:
    client, url = own
    key = {"Idempotency-Key": "store-zebra"}
    memory = client.post("/v1/memories", json={"content": "I like zebras"}, headers=key).json()[
        "memory"
    ]
    client.post(
        "/v1/memories", json={"content": "I like horses"}, headers={"Idempotency-Key": "other"}
    )  # names the zebras as a candidate
    first, again = (
        client.delete(
            f"/v1/memories/{memory['id']}",
            params={"erase": True},
            headers={"Idempotency-Key": "erase"},
        )
        for _ in range(2)
    )
    assert_gone(url, "zebras", first.json()["receipt"]["key"])
    assert again.json() == first.json() | {"receipt": first.json()["receipt"] | {"key": None}}
    assert (
        client.post("/v1/memories", json={"content": "I like zebras"}, headers=key).status_code
        == 410
    )


@pytest.mark.parametrize(
    ("mode", "said", "told"),
    [
        ("live", "I PLAY tennis!", {"operation": "NOOP"}),
        ("live", "I no longer play tennis", {"operation": "DELETE"}),
        ("frozen", "I like zebras", {"operation": None}),
    ],
)
def test_answers_to_what_left_no_memory_in_an_erased_session_go_with_the_hash_of_what_was_sent(
    own: tuple[httpx.Client, str], mode: str, said: str, told: dict[str, Any]
) -> None:
    client, url = own
    store(client, "I play tennis")
    client.patch("/v1/agents/default", json={"mode": mode})
    body, key = {"content": said, "session_id": "one"}, {"Idempotency-Key": "said"}
    answer = client.post("/v1/memories", json=body, headers=key).json()
    assert answer.items() >= told.items()
    assert client.post("/v1/erasures", json={"session_id": "one"}).status_code == 200
    with psycopg.connect(url) as connection:
        assert connection.execute(
            "SELECT fingerprint, answer FROM idempotency_keys"
        ).fetchall() == [(None, None)]
    assert client.post("/v1/memories", json=body, headers=key).status_code == 410


@pytest.mark.parametrize("said", ["I PLAY ZEBRA!", "I no longer play zebra"])
def test_the_text_goes_from_the_call_that_an_undoing_stored_it_from(
    own: tuple[httpx.Client, str], said: str
) -> None:
    client, url = own
    store(client, "I play zebra")
    told = client.post(
        "/v1/memories", json={"content": said}, headers={"Idempotency-Key": "said"}
    ).json()
    undone = client.post(f"/v1/log/{told['log_id']}/revert", json={"store": True}).json()
    assert undone["memory"]["content"] == said
    erase(client, undone["memory"]["id"])
    assert said not in everything(url)
    assert client.get(f"/v1/log/{told['log_id']}").json()["incoming"] is None
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT fingerprint FROM idempotency_keys").fetchall() == [
            (None,)
        ]


def test_the_text_goes_from_a_store_that_was_held_back_and_rejected(
    own: tuple[httpx.Client, str],
) -> None:
    client, url = own
    client.patch("/v1/agents/default", json={"mode": "frozen"})
    held = client.post("/v1/memories", json={"content": SECRET}).json()
    client.post(f"/v1/reviews/{held['review_id']}/reject")
    client.patch("/v1/agents/default", json={"mode": "live"})
    erase(client, store(client, SECRET)["memory"]["id"])
    assert_gone(url, "zebra", hashes_of=SECRET)


@pytest.mark.parametrize(
    "body", [{}, {"chain_id": str(uuid4()), "session_id": "a"}, {"everything": True}]
)
def test_an_erasure_names_exactly_one_scope(client: httpx.Client, body: dict[str, Any]) -> None:
    assert client.post("/v1/erasures", json=body).status_code == 422


@pytest.fixture
def judged(database_url: str) -> Iterator[tuple[httpx.Client, ScriptedModel]]:
    """A client of a service with a scripted model, over a database of the test's own."""
    with (
        ScriptedModel(every("NONE")) as model,
        running(load_settings(database_url=database_url, llm_base_url=model.url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        yield client, model


def test_what_was_merged_elsewhere_is_erased_there_only_with_cascade(
    judged: tuple[httpx.Client, ScriptedModel], database_url: str
) -> None:
    client, model = judged
    first = store(client, "The Falcon app was written by Zebra")["memory"]
    model.then(every("COMPLEMENT"))
    united = store(client, "The Falcon app has 12000 users")["memory"]
    assert "Zebra" in united["content"]
    refused = erase(client, first["id"])
    assert (refused.status_code, refused.json()["memory_ids"]) == (409, [united["id"]])
    assert client.get(f"/v1/memories/{first['id']}").json()["content"] == first["content"]
    assert set(erase(client, first["id"], cascade=True).json()["erased"]) == {
        first["id"],
        united["id"],
    }
    everyone = client.get("/v1/memories", params={"include_superseded": True}).json()["items"]
    assert [m["content"] for m in everyone if m["content"]] == ["The Falcon app has 12000 users"]
    assert_gone(database_url, "zebra")


def test_what_judges_said_of_it_goes_too(
    judged: tuple[httpx.Client, ScriptedModel], database_url: str
) -> None:
    """Reviews, reasons that quote it, and a model's unusable words."""
    client, model = judged
    memory = store(client, "The Falcon app was written by Zebra")["memory"]
    model.then(quoting("CONTRADICTION", 0.5))
    assert store(client, "The Falcon app was written by Anna")["review_id"]
    model.then(every("zebra-relation"))
    store(client, "The Falcon app was written in Rust")
    assert "zebra-relation" in everything(database_url)
    assert erase(client, memory["id"]).status_code == 200
    assert_gone(database_url, "zebra")


def test_an_erase_during_the_models_call_leaves_nothing_of_it_in_the_answer_or_the_tables(
    judged: tuple[httpx.Client, ScriptedModel], database_url: str
) -> None:
    client, model = judged
    memory = store(client, "The Falcon app was written by Zebra", classify=False)["memory"]
    model.then(quoting("CONTRADICTION", 0.95, delay=1.5))
    asked_before = len(model.requests)
    answers: list[dict[str, Any]] = []
    storing = threading.Thread(
        target=lambda: answers.append(store(client, "The Falcon app was written by Anna"))
    )
    storing.start()
    while len(model.requests) == asked_before:
        time.sleep(0.01)
    assert erase(client, memory["id"]).status_code == 200
    storing.join()
    [answer] = answers
    assert (answer["operation"], list_ended(answer), answer["candidates"]) == ("ADD", [], [])
    assert "zebra" not in json.dumps(answer).casefold()
    assert_gone(database_url, "zebra")
    with psycopg.connect(database_url) as connection:
        marks = connection.execute("SELECT look_again FROM memories WHERE content <> ''").fetchall()
    assert marks == [("memories were erased while it was judged",)]


# --- archives --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def kept(database_url: str, tmp_path: Path) -> Iterator[tuple[httpx.Client, str, Path]]:
    """A client of a service with an archive folder, its database, and the folder."""
    folder = tmp_path / "archives"
    folder.mkdir()
    with (
        running(load_settings(database_url=database_url, archive_dir=folder)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        yield client, database_url, folder


def assert_gone_everywhere(
    url: str, folder: Path, *words: str, hashes_of: str | None = None, vector: str | None = None
) -> None:
    assert_gone(url, *words, hashes_of=hashes_of, vector=vector)
    for word in words:
        assert word.casefold() not in in_files(folder).casefold(), word
        assert seal_value(word) not in everything(url)


def examined(client: httpx.Client) -> list[Any]:
    problems: list[Any] = client.get("/v1/doctor").json()["problems"]
    return problems


def test_archives_lose_what_was_erased_and_keep_the_rest(
    kept: tuple[httpx.Client, str, Path],
) -> None:
    client, url, folder = kept
    told = {
        "tags": ["zebra-tag"],
        "details": {"note": "zebra-note"},
        "entities": ["Zebra Ent"],
        "source": "zebra.md",
    }
    memory = store(
        client, SECRET, value="Q7-Zebra", key="passport", session_id="zebra-session", **told
    )["memory"]
    store(client, SECRET.upper(), key="passport", value="Q7-Zebra")
    client.patch(f"/v1/memories/{memory['id']}", json={"tags": ["zebra-patched"]})
    horse = store(client, "I like horses")
    vector = vector_of(url, memory["id"])
    assert retain(url, folder, "default").archived == 4
    store(client, "My passport is lost", key="passport", value="none")
    retain(url, folder, "default")
    assert seal_value(SECRET) in everything(url)
    assert "zebra" in in_files(folder).casefold()
    before = {path.name: path.read_bytes() for path in folder.rglob("*.ndjson")}
    answer = erase(client, memory["id"])
    assert answer.status_code == 200, answer.text
    assert answer.json()["archives_pending"] == []
    assert_gone_everywhere(
        url, folder, "zebra", "q7-", "atlantis", SECRET, "Q7-Zebra", hashes_of=SECRET, vector=vector
    )
    assert len(list(folder.rglob("*.ndjson"))) == len(before)
    assert not before.keys() & {path.name for path in folder.rglob("*")}, (
        "both told of it: by its key's successor too"
    )
    lines = [json.loads(line) for line in in_files(folder).splitlines()]
    assert "I like horses" in str(next(line for line in lines if line.get("id") == horse["log_id"]))
    assert examined(client) == []
    retain(url, folder, "default")
    assert_gone_everywhere(url, folder, "zebra", "q7-", "atlantis", hashes_of=SECRET)
    assert examined(client) == []


def test_a_session_that_only_archives_tell_of_is_erased_from_them(
    kept: tuple[httpx.Client, str, Path],
) -> None:
    client, url, folder = kept
    tennis = store(client, "I play tennis")["memory"]
    client.post(f"/v1/memories/{tennis['id']}/retract", json={})
    store(client, "I play tennis")
    store(client, "I no longer play tennis, zebra", session_id="zebra-1")
    retain(url, folder, "default")
    files = {path.name for path in folder.rglob("*.ndjson")}
    assert client.post("/v1/erasures", json={"session_id": "unknown"}).status_code == 404
    assert {path.name for path in folder.rglob("*.ndjson")} == files
    assert client.post("/v1/erasures", json={"session_id": "zebra-1"}).status_code == 200
    assert_gone_everywhere(url, folder, "zebra")
    assert "I play tennis" in in_files(folder)
    assert client.post("/v1/erasures", json={"session_id": "zebra-1"}).status_code == 404


def test_with_a_whole_agent_its_archives_go(kept: tuple[httpx.Client, str, Path]) -> None:
    client, url, folder = kept
    stored = store(client, "I like zebra cheese")
    client.post(
        "/v1/memories",
        json={"content": "Another agent keeps this"},
        headers={"X-Agent-Id": "other"},
    )
    for agent in ("default", "other"):
        retain(url, folder, agent)
    assert client.post("/v1/erasures", json={"agent_id": "default"}).status_code == 200
    assert_gone_everywhere(url, folder, "zebra")
    assert "Another agent keeps this" in in_files(folder)
    assert len(list(folder.iterdir())) == 1
    gone = client.get(f"/v1/log/{stored['log_id']}")
    assert (gone.status_code, gone.json()["archive"]) == (410, None)
    assert examined(client) == []


@pytest.mark.parametrize("trouble", ["gone", "another", "no folder"])
def test_where_an_archive_cannot_be_reached_nothing_is_erased(
    kept: tuple[httpx.Client, str, Path], trouble: str
) -> None:
    client, url, folder = kept
    memory = store(client, SECRET)["memory"]
    retain(url, folder, "default")
    [file] = folder.rglob("*.ndjson")
    content = file.read_bytes()
    if trouble == "another":
        file.write_bytes(content + b"{}")
    elif trouble == "gone":
        file.unlink()
    else:
        folder.rename(folder.with_name("away"))
    refused = erase(client, memory["id"])
    assert (refused.status_code, refused.json()["type"]) == (
        503,
        "urn:palimpsest:problem:archives-unavailable",
    )
    assert str(folder) not in refused.text
    assert client.get(f"/v1/memories/{memory['id']}").json()["content"] == SECRET
    if trouble == "no folder":
        folder.with_name("away").rename(folder)
    file.write_bytes(content)
    assert erase(client, memory["id"]).status_code == 200
    assert_gone_everywhere(url, folder, "zebra", hashes_of=SECRET)


@pytest.mark.parametrize("heal", ["erase", "retain"])
def test_a_file_that_outlived_its_erasure_goes_with_the_next_run(
    kept: tuple[httpx.Client, str, Path], heal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, url, folder = kept
    memory, other = store(client, SECRET)["memory"], store(client, "I like horses")["memory"]
    retain(url, folder, "default")
    with monkeypatch.context() as stuck:  # as if the process had died after its commit
        stuck.setattr(Archives, "remove", lambda _self, names: list(names))
        answer = erase(client, memory["id"]).json()
    assert len(answer["archives_pending"]) == 1
    assert "zebra" in in_files(folder).casefold()
    if heal == "erase":
        assert erase(client, other["id"]).status_code == 200
    else:
        assert retain(url, folder, "default").removed_files == 1
    assert_gone_everywhere(url, folder, "zebra", hashes_of=SECRET)
    assert examined(client) == []


def test_the_words_of_a_slot_go_from_the_sweeps_of_it_too(own: tuple[httpx.Client, str]) -> None:
    client, url = own
    said = {
        "content": SECRET,
        "entity": "Atlantis",
        "category": "papers",
        "key": "passport zebra",
        "value": "Q7-Zebra-4711",
    }
    memory = client.post("/v1/memories", json=said).json()["memory"]
    asked = {"slot": {"entity": "Atlantis", "category": "papers", "key": "passport zebra"}}
    sweep = client.post("/v1/sweeps", json=asked, headers={"Idempotency-Key": "one"}).json()
    client.delete(f"/v1/memories/{memory['id']}", params={"erase": True}).raise_for_status()
    assert_gone(url, "zebra", "atlantis", hashes_of=SECRET)
    swept = client.get(f"/v1/sweeps/{sweep['id']}").json()
    assert (swept["status"], swept["slot"]) == ("cancelled", None)
