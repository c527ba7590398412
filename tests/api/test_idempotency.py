"""A call under an Idempotency-Key is executed once, and answered the same every time."""

import asyncio
import hashlib
import json
import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from app.api import import_history
from app.services import idempotency
from app.settings import load_settings
from support.ages import move_back
from support.builders import contents, editor, problem, store
from support.connections import Waiting
from support.keys import ROOT_KEY
from support.scripted_model import Answer, Request, ScriptedModel, every
from support.service import running, serving
from support.service_process import serve_dying
from support.transfers import NDJSON


@dataclass(frozen=True)
class Call:
    """A call that writes, on a memory that is there; `other` is another body for the same route."""

    method: str
    path: str
    body: Any = None
    other: Any = None

    @property
    def content(self) -> bytes:
        return (
            self.body.encode()
            if isinstance(self.body, str)
            else b""
            if self.body is None
            else json.dumps(self.body).encode()
        )

    def send(
        self, client: httpx.Client, memory_id: str = "", key: str | None = None, **headers: str
    ) -> httpx.Response:
        sent = {
            "Content-Type": "application/x-ndjson"
            if self.path == "/v1/import"
            else "application/json",
            **({"Idempotency-Key": key} if key is not None else {}),
            **headers,
        }
        return client.request(
            self.method, self.path.format(id=memory_id), content=self.content, headers=sent
        )


CAT = {"content": "Has a cat"}
BIRD = {"content": "Has a bird"}
ITEMS = [CAT, {"content": ""}, {"content": "x", "supersedes": str(uuid4())}]

STORE = Call("POST", "/v1/memories", CAT, BIRD)
BATCH = Call("POST", "/v1/memories/batch", {"items": ITEMS}, {"items": ITEMS[:1]})
SUPERSEDE = Call("POST", "/v1/memories/{id}/supersede", CAT, BIRD)
PATCH = Call("PATCH", "/v1/memories/{id}", {"importance": 0.9}, {"importance": 0.1})
RETRACT = Call("POST", "/v1/memories/{id}/retract", {"reason": "Said so"}, {"reason": "Heard so"})
DELETE = Call("DELETE", "/v1/memories/{id}", None, {})
IMPORT = Call(
    "POST",
    "/v1/import",
    '{"content": "Has a cat", "client_ref": "a"}\n{"content": "Has a fish"}\n',
    "",
)

CALLS = [
    pytest.param(call, id=name) for name, call in list(globals().items()) if isinstance(call, Call)
]


def log_size(client: httpx.Client) -> int:
    return len(client.get("/v1/log", params={"limit": 1000}).json()["items"])


def replayed(answer: httpx.Response) -> bool:
    return answer.headers.get("idempotency-replayed") == "true"


def told(answer: httpx.Response) -> tuple[object, ...]:
    """What of an answer a retry must repeat."""
    return (
        answer.status_code,
        answer.content,
        answer.headers["content-type"],
        answer.headers.get("etag"),
    )


def assert_repeats(answer: httpx.Response, first: httpx.Response) -> None:
    assert (replayed(first), replayed(answer)) == (False, True)
    assert told(answer) == told(first)


# --- a retry -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", CALLS)
def test_a_retry_gets_the_first_answer_and_writes_nothing(client: httpx.Client, call: Call) -> None:
    memory_id, key = store(client)["memory"]["id"], uuid4().hex
    first = call.send(client, memory_id, key)
    assert first.is_success, first.text
    written = log_size(client)
    assert written > 1
    for _ in range(2):
        assert_repeats(call.send(client, memory_id, key), first)
    assert log_size(client) == written


@pytest.mark.parametrize("call", [STORE, IMPORT])
def test_without_a_key_every_call_is_executed(client: httpx.Client, call: Call) -> None:
    sizes = []
    for _ in range(3):
        assert not replayed(call.send(client, ""))
        sizes.append(log_size(client))
    assert all(earlier < later for earlier, later in pairwise(sizes))


@pytest.mark.parametrize("call", CALLS)
def test_a_key_with_another_body_is_refused(client: httpx.Client, call: Call) -> None:
    memory_id, key = store(client)["memory"]["id"], uuid4().hex
    assert call.send(client, memory_id, key).is_success
    written = log_size(client)
    refused = problem(replace(call, body=call.other).send(client, memory_id, key), 422)
    assert refused["type"].endswith(":key-reused")
    assert key in refused["detail"]
    assert log_size(client) == written


def test_a_key_with_another_route_query_or_etag_is_refused(client: httpx.Client) -> None:
    first, key = store(client)["memory"], uuid4().hex
    other = store(client, "Has a fish")["memory"]
    assert PATCH.send(client, first["id"], key, **{"If-Match": first["etag"]}).status_code == 200
    assert replayed(PATCH.send(client, first["id"], key, **{"If-Match": first["etag"]})), (
        "although that ETag is stale by now"
    )
    tries = [
        PATCH.send(client, first["id"], key),
        PATCH.send(client, other["id"], key, **{"If-Match": first["etag"]}),
        replace(PATCH, path="/v1/memories/{id}?a=b").send(
            client, first["id"], key, **{"If-Match": first["etag"]}
        ),
        DELETE.send(client, first["id"], key, **{"If-Match": first["etag"]}),
        IMPORT.send(client, "", key, **{"If-Match": first["etag"]}),
    ]
    assert [problem(answer, 422)["type"] for answer in tries] == [
        "urn:palimpsest:problem:key-reused"
    ] * 5


def test_the_same_key_of_another_agent_is_another_key(client: httpx.Client) -> None:
    key, other = uuid4().hex, f"other-{uuid4().hex}"
    mine = STORE.send(client, "", key)
    theirs = STORE.send(client, "", key, **{"X-Agent-Id": other})
    assert (mine.status_code, theirs.status_code, replayed(theirs)) == (201, 201, False)
    assert mine.json()["memory"]["id"] != theirs.json()["memory"]["id"]
    assert STORE.send(client, "", key, **{"X-Agent-Id": other}).content == theirs.content


def test_quotes_around_a_key_are_not_part_of_it(client: httpx.Client) -> None:
    key = uuid4().hex
    first = STORE.send(client, "", key)
    assert_repeats(STORE.send(client, "", f'"{key}"'), first)


@pytest.mark.parametrize("key", ["", "x" * 256, "ä", "a\tb"])
@pytest.mark.parametrize("call", [STORE, IMPORT])
def test_a_key_is_1_to_255_printable_characters(client: httpx.Client, call: Call, key: str) -> None:
    refused = problem(call.send(client, "", key.encode()), 422)  # type: ignore[arg-type]
    assert refused["detail"].startswith("Idempotency-Key: give 1 to 255 printable ASCII characters")
    assert contents(client) == set()


def test_the_longest_key_is_taken(client: httpx.Client) -> None:
    key = "~ " * 127 + "~"
    first = STORE.send(client, "", key)
    assert_repeats(STORE.send(client, "", key), first)


# --- what is not kept --------------------------------------------------------------------------------------------------


def test_a_refused_call_leaves_its_key_free_and_may_succeed_later(client: httpx.Client) -> None:
    memory_id, key = store(client, valid_from="2024-01-01")["memory"]["id"], uuid4().hex
    early = replace(RETRACT, body={"at": "2022-01-01"})
    assert problem(early.send(client, memory_id, key), 409)["type"].endswith(":does-not-hold")
    assert (
        client.patch(f"/v1/memories/{memory_id}", json={"valid_from": "2020-01-01"}).status_code
        == 200
    )
    done = early.send(client, memory_id, key)
    assert (done.status_code, replayed(done)) == (200, False)
    assert_repeats(early.send(client, memory_id, key), done)


def test_a_fact_that_cannot_be_planned_leaves_its_key_free(client: httpx.Client) -> None:
    key = uuid4().hex
    problem(
        replace(STORE, body={"content": "x", "supersedes": str(uuid4())}).send(client, "", key), 404
    )
    assert STORE.send(client, "", key).status_code == 201


def test_an_import_with_a_bad_line_leaves_its_key_free(client: httpx.Client) -> None:
    key = uuid4().hex
    problem(replace(IMPORT, body='{"content": "Has a cat"}\n{').send(client, "", key), 422)
    done = IMPORT.send(client, "", key)
    assert_repeats(IMPORT.send(client, "", key), done)
    assert len(client.get("/v1/memories").json()["items"]) == 2


def test_a_dry_run_leaves_its_key_free(client: httpx.Client) -> None:
    key = uuid4().hex
    for _ in range(2):
        tried = replace(STORE, body={"content": "Has a cat", "dry_run": True}).send(client, "", key)
        assert (tried.status_code, replayed(tried)) == (200, False)
    done = STORE.send(client, "", key)
    assert (done.status_code, replayed(done)) == (201, False)


def test_reads_take_no_key(client: httpx.Client) -> None:
    store(client)
    for _ in range(2):
        answer = client.post("/v1/search", json={"query": "pets"}, headers={"Idempotency-Key": ""})
        assert (answer.status_code, replayed(answer)) == (200, False)


# --- imports -----------------------------------------------------------------------------------------------------------


def test_an_import_that_arrives_in_pieces_is_recognised(client: httpx.Client) -> None:
    headers = NDJSON | {"Idempotency-Key": uuid4().hex}
    first = client.post(
        "/v1/import", content=iter([IMPORT.content[:30], IMPORT.content[30:]]), headers=headers
    )
    assert_repeats(client.post("/v1/import", content=IMPORT.content, headers=headers), first)
    assert [json.loads(line)["client_ref"] for line in first.text.splitlines()] == ["a", None]


def test_an_import_whose_answer_is_too_large_says_that_it_was_executed(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_history, "MAX_KEPT_BYTES", 200)
    key = uuid4().hex
    first = IMPORT.send(client, "", key)
    assert len(first.text.splitlines()) == 2, "the first answer is whole"
    again = IMPORT.send(client, "", key)
    told = problem(again, 410)
    assert told["type"].endswith(":answer-not-kept")
    assert replayed(again)
    where = re.search(r"GET (/v1/log\S+)", told["detail"])
    assert where
    assert len(client.get(where[1]).json()["items"]) == 2
    assert contents(client) == {"Has a cat", "Has a fish"}
    problem(replace(IMPORT, body=IMPORT.body + "\n").send(client, "", key), 422)


# --- how long, and what is left of it ----------------------------------------------------------------------------------


@contextmanager
def of_its_own(database_url: str, **settings: Any) -> Iterator[httpx.Client]:
    with (
        running(load_settings(database_url=database_url, **settings)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        yield client


def hash_key(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


def key_hashes(database_url: str) -> set[bytes]:
    with psycopg.connect(database_url) as connection:
        return {row[0] for row in connection.execute("SELECT key_hash FROM idempotency_keys")}


def test_after_24_hours_the_key_is_free_and_what_it_kept_is_gone(database_url: str) -> None:
    with of_its_own(database_url) as client:
        for key in ("a", "b", "c"):
            assert STORE.send(client, "", key).is_success
        with psycopg.connect(database_url) as connection:
            for key, by in (("a", "24 hours"), ("b", "24 hours"), ("c", "23 hours 59 minutes")):
                age = (
                    f"UPDATE idempotency_keys SET {move_back('created_at', by)} WHERE key_hash = %s"
                )
                connection.execute(age.encode(), [hash_key(key)])
        assert replayed(STORE.send(client, "", "c")), "one minute left"
        assert key_hashes(database_url) == set(map(hash_key, "abc"))
        again = STORE.send(client, "", "a")
        assert (again.json()["operation"], replayed(again)) == ("NOOP", False), (
            "executed again, over what the first one stored"
        )
        assert key_hashes(database_url) == set(map(hash_key, "ac"))
        assert_repeats(STORE.send(client, "", "a"), again)


def test_a_retry_of_what_was_erased_says_so_and_is_not_executed(database_url: str) -> None:
    with of_its_own(database_url) as client:
        first = STORE.send(client, "", "a").json()
        second = replace(STORE, body={"content": "Has a kitten"}).send(client, "", "b").json()
        assert first["memory"]["id"] in [c["id"] for c in second["candidates"]], (
            "its answer repeats the text of the first"
        )
        DELETE.send(client, second["memory"]["id"], "c")
        with psycopg.connect(database_url) as connection:
            forget = "UPDATE idempotency_keys SET answer = NULL, fingerprint = NULL WHERE mentioned_ids @> ARRAY[CAST(%s AS uuid)] RETURNING key_hash"
            assert {
                row[0] for row in connection.execute(forget, [first["memory"]["id"]]).fetchall()
            } == {hash_key("a"), hash_key("b")}
        written = log_size(client)
        assert problem(STORE.send(client, "", "a"), 410)["type"] == "urn:palimpsest:problem:erased"
        assert log_size(client) == written
        assert replayed(DELETE.send(client, second["memory"]["id"], "c"))


def test_an_answer_is_found_by_every_id_in_it(database_url: str) -> None:
    with of_its_own(database_url) as client:
        old = client.post("/v1/memories", json=editor("Vim")).json()["memory"]["id"]
        for call in (replace(STORE, body=editor("Emacs")), IMPORT):
            key = uuid4().hex
            answer = call.send(client, "", key).text
            with psycopg.connect(database_url) as connection:
                row = connection.execute(
                    "SELECT mentioned_ids FROM idempotency_keys WHERE key_hash = %s",
                    [hash_key(key)],
                ).fetchone()
            assert row is not None
            told = set(re.findall(r'"([0-9a-f]{8}-[0-9a-f-]{27})"', answer))
            assert {str(i) for i in row[0]} == told
            assert (old in told) == (call is not IMPORT)


@pytest.mark.parametrize("call", CALLS)
def test_a_write_whose_answer_cannot_be_kept_is_not_made(database_url: str, call: Call) -> None:
    """Both are one transaction: here the answer breaks a rule of its table."""
    with psycopg.connect(database_url) as connection:
        connection.execute(
            "ALTER TABLE idempotency_keys ADD CONSTRAINT not_this CHECK (key_hash <> sha256('this'))"
        )
    with of_its_own(database_url) as client:
        memory = store(client)["memory"]
        assert "not_this" in problem(call.send(client, memory["id"], "this"), 409)["detail"]
        assert log_size(client) == 1
        assert client.get("/v1/memories", params={"include_superseded": True}).json()["items"] == [
            memory
        ]
        assert call.send(client, memory["id"], "that").is_success


def test_without_a_key_no_statement_asks_for_one(unchecked_database_url: str) -> None:
    with psycopg.connect(unchecked_database_url) as connection:
        connection.execute("DROP TABLE idempotency_keys")
    with of_its_own(unchecked_database_url) as client:
        for param in CALLS:
            [call] = param.values
            memory_id = store(client, f"Has a dog called {uuid4().hex}")["memory"]["id"]
            assert call.send(client, memory_id).is_success  # type: ignore[attr-defined]


def test_a_stored_answer_is_not_shown_without_the_services_key(database_url: str) -> None:
    with of_its_own(database_url, api_key=ROOT_KEY) as client:
        assert STORE.send(client, "", "a", **{"X-API-Key": ROOT_KEY}).status_code == 201
        problem(STORE.send(client, "", "a"), 401)
        assert replayed(STORE.send(client, "", "a", **{"X-API-Key": ROOT_KEY}))


# --- at once -----------------------------------------------------------------------------------------------------------


async def crowd(address: str, call: Call, times: int) -> list[httpx.Response]:
    """The same call so many times at once, under one key."""
    headers = {"Idempotency-Key": "crowd", "Content-Type": "application/json"}
    async with httpx.AsyncClient(
        base_url=address, headers=headers, timeout=60, limits=httpx.Limits(max_connections=None)
    ) as client:
        return await asyncio.gather(
            *(client.request(call.method, call.path, content=call.content) for _ in range(times))
        )


def test_of_50_identical_stores_at_once_one_is_executed_and_the_model_is_asked_once(
    database_url: str,
) -> None:
    def slowly(request: Request) -> Answer:
        return replace(every("OVERLAP")(request), delay=0.3)

    with (
        ScriptedModel(slowly) as model,
        of_its_own(database_url, llm_base_url=model.url, pool_size=2) as client,
    ):
        store(client, "The Falcon app was written by Anna")
        model.then(slowly)
        call = replace(STORE, body={"content": "The Falcon app has 12000 users"})
        answers = asyncio.run(crowd(str(client.base_url), call, 50))
        assert Counter((answer.status_code, replayed(answer)) for answer in answers) == {
            (201, False): 1,
            (201, True): 49,
        }
        assert len({answer.content for answer in answers}) == 1
        assert len(model.requests) == 1
        assert log_size(client) == 2
        assert len(client.get("/v1/memories").json()["items"]) == 2


def test_of_refused_calls_at_once_each_is_told_and_the_key_stays_free(database_url: str) -> None:
    with of_its_own(database_url) as client:
        call = replace(STORE, body={"content": "x", "supersedes": str(uuid4())})
        assert {
            answer.status_code for answer in asyncio.run(crowd(str(client.base_url), call, 10))
        } == {404}
        assert key_hashes(database_url) == set()


@pytest.mark.parametrize(
    "call", [STORE, BATCH, SUPERSEDE, IMPORT], ids=["store", "batch", "supersede", "import"]
)
def test_of_two_processes_that_are_both_at_it_one_writes(database_url: str, call: Call) -> None:
    """Each is past its first look when the other one begins: the second look, under the agent's lock, decides."""
    one, other = Waiting(), Waiting()
    one.go_on.set()
    settings = load_settings(database_url=database_url)
    with running(settings, one) as first, running(settings, other) as second:
        clients = [httpx.Client(base_url=address, timeout=60) for address in (first, second)]
        memory_id = store(clients[0])["memory"]["id"]
        one.entered.clear()
        one.go_on.clear()
        answers: list[httpx.Response] = []
        callers = [
            threading.Thread(target=lambda c=client: answers.append(call.send(c, memory_id, "k")))
            for client in clients
        ]
        for caller, encoder in zip(callers, (one, other), strict=True):
            caller.start()
            assert encoder.entered.wait(20)
        for encoder in (one, other):
            encoder.go_on.set()
        for caller in callers:
            caller.join(30)
        assert [answer.is_success for answer in answers] == [True, True], [
            answer.text for answer in answers
        ]
        assert sorted(map(replayed, answers)) == [False, True]
        assert answers[0].content == answers[1].content
        assert log_size(clients[0]) == 1 + (2 if call is IMPORT else 1)
        for client in clients:
            client.close()


def test_a_body_that_stops_arriving_does_not_hold_up_the_retry(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency, "PATIENCE", 0.1)
    halfway, go_on = threading.Event(), threading.Event()

    def stalling() -> Iterator[bytes]:
        yield IMPORT.content[:30]
        halfway.set()
        go_on.wait(60)
        yield IMPORT.content[30:]

    with of_its_own(database_url) as client:
        stalled: list[httpx.Response] = []
        headers = NDJSON | {"Idempotency-Key": "k"}
        first = threading.Thread(
            target=lambda: stalled.append(
                httpx.post(f"{client.base_url}/v1/import", content=stalling(), headers=headers)
            )
        )
        first.start()
        assert halfway.wait(20)
        time.sleep(0.3)  # the service takes its turn meanwhile
        retry = IMPORT.send(client, "", "k")
        assert (retry.status_code, replayed(retry)) == (200, False)
        go_on.set()
        first.join(30)
        assert_repeats(stalled[0], retry)
        assert log_size(client) == 2


# --- killed between commit and reply -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("call", "facts"), [(STORE, 1), (IMPORT, 2)], ids=["store", "import"])
def test_killed_between_commit_and_reply_a_retry_finds_its_answer_and_one_fact(
    database_url: str, tmp_path: Path, call: Call, facts: int
) -> None:
    with serve_dying(database_url, tmp_path) as (process, client):
        with pytest.raises(httpx.TransportError):
            call.send(client, "", "k", **{"X-Die": "yes"})
        assert process.wait(20) == -signal.SIGKILL
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT count(*) FROM memories").fetchone() == (facts,), (
            "it was committed"
        )
    with serving(database_url) as client:
        answer = call.send(client, "", "k")
        assert (answer.status_code, replayed(answer)) == (201 if call is STORE else 200, True)
        assert call.send(client, "", "k").content == answer.content
        stored = {memory["id"] for memory in client.get("/v1/memories").json()["items"]}
        told = [json.loads(line) for line in answer.text.splitlines()]
        assert stored == {row.get("id") or row["memory"]["id"] for row in told}
        assert log_size(client) == len(stored) == facts
