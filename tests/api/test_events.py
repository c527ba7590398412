"""The feed of events: all that happened to an agent, in its order, once, as it happens."""

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from app.api import events as events_api
from app.settings import load_settings
from support.builders import decide, editor, mode, problem, store
from support.cluster import needs_one_server
from support.keys import ROOT_KEY, calling, issue
from support.retention import retain
from support.service import running
from support.service_process import served
from support.urls import name_of
from support.writers import wait_until

STREAM = {"Accept": "text/event-stream"}
NOTHING = "00000000-0000-0000-0000-000000000000"


def read(client: httpx.Client, **params: Any) -> dict[str, Any]:
    response = client.get("/v1/events", params=params)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def list_log_ids(client: httpx.Client, agent: str | None = None) -> list[str]:
    """Return the operations of the log, oldest first."""
    headers = {"X-Agent-Id": agent} if agent else {}
    log = client.get("/v1/log", params={"limit": 1000}, headers=headers).json()["items"]
    return [operation["id"] for operation in reversed(log)]


@contextmanager
def following(address: str, agent: str, **headers: str) -> Iterator["Stream"]:
    with (
        httpx.Client(base_url=address, timeout=60) as client,
        client.stream(
            "GET",
            "/v1/events",
            params={"after": NOTHING},
            headers={**STREAM, "X-Agent-Id": agent, **headers},
        ) as response,
    ):
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        yield Stream(response)


class Stream:
    """A stream of server-sent events, read line by line."""

    def __init__(self, response: httpx.Response) -> None:
        self._lines = response.iter_lines()
        self.comments: list[str] = []

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the events. The last line of a block is empty."""
        block: dict[str, str] = {}
        for line in self._lines:
            name, _, value = line.partition(": ")
            if line and not name:
                self.comments.append(value)
            elif line:
                block[name] = value
            elif "data" in block:
                event = json.loads(block["data"])
                assert block["id"] == event["id"]
                block = {}
                yield event

    def read(self, count: int) -> list[dict[str, Any]]:
        events = iter(self)
        return [next(events) for _ in range(count)]


# --- pages ----------------------------------------------------------------------------------------


def test_events_tell_in_ids_what_happened_oldest_first(client: httpx.Client) -> None:
    vim = store(client, **editor("Vim"))
    emacs = store(client, **editor("Emacs"))
    undone = client.post(f"/v1/log/{emacs['log_id']}/revert", json={}).json()
    page = read(client)
    assert [event["id"] for event in page["items"]] == list_log_ids(client)
    first, second, third = page["items"]
    assert (first["operation"], first["superseded"]) == ("ADD", [])
    assert first["memory_id"] == vim["memory"]["id"]
    assert second["superseded"] == [vim["memory"]["id"]]
    assert second["memory_id"] == emacs["memory"]["id"]
    assert (third["operation"], third["reverts"]) == ("REVERT", emacs["log_id"])
    assert third["id"] == undone["log_id"]
    assert page["after"] == third["id"]
    assert "editor" not in json.dumps(page)


def test_a_reader_goes_on_after_the_last_event(client: httpx.Client) -> None:
    for number in range(5):
        store(client, f"Has fact number {number}", classify=False)
    ids: list[str] = []
    lengths: list[int] = []
    page = read(client, limit=2)
    while page["items"]:
        ids += [event["id"] for event in page["items"]]
        lengths.append(len(page["items"]))
        page = read(client, limit=2, after=page["after"])
    assert lengths == [2, 2, 1]
    assert ids == list_log_ids(client)
    assert read(client, after=page["after"])["after"] == page["after"]


def test_only_some_operations_can_be_followed(client: httpx.Client) -> None:
    store(client, **editor("Vim"))
    store(client, **editor("Emacs"))
    last = store(client, **editor("Emacs"))
    page = read(client, operation=["UPDATE", "SUPERSEDE"])
    assert [event["operation"] for event in page["items"]] == ["UPDATE"]
    assert page["after"] == last["log_id"], "what was passed over is not read again"
    problem(client.get("/v1/events", params={"operation": "EVERYTHING"}), 422)


def test_a_review_that_is_left_and_decided_is_named(client: httpx.Client) -> None:
    mode(client, "shadow")
    store(client, **editor("Vim"))
    left = store(client, **editor("Emacs"))
    decide(client, left["review_id"], "reject")
    *_, leaves, decides = read(client)["items"]
    assert (leaves["review_id"], leaves["decided_review_id"]) == (left["review_id"], None)
    assert (decides["review_id"], decides["decided_review_id"]) == (None, left["review_id"])


def test_an_unknown_place_is_a_problem(client: httpx.Client) -> None:
    unknown = problem(client.get("/v1/events", params={"after": str(uuid4())}), 404)
    assert unknown["type"].endswith("unknown-operation")
    problem(client.get("/v1/events", params={"after": "yesterday"}), 422)
    problem(client.get("/v1/events", params={"wait": 31}), 422)


def test_what_was_erased_leaves_its_events(client: httpx.Client) -> None:
    dog = store(client, "Has a dog called Rex")["memory"]["id"]
    before = read(client)
    client.delete(f"/v1/memories/{dog}", params={"erase": "true"}).raise_for_status()
    [event] = read(client, after=before["after"])["items"]
    assert (event["operation"], event["memory_ids"]) == ("ERASE", [dog])
    assert read(client)["items"][:1] == before["items"]


def test_whoever_comes_after_the_archive_is_told_where_the_events_begin(
    database_url: str, tmp_path: Path
) -> None:
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        first, second = (store(client, **editor(name))["log_id"] for name in ("Vim", "Emacs"))
        assert read(client)["archived_until"] is None
        assert retain(database_url, tmp_path, "default").archived == 2
        gone = problem(client.get("/v1/events", params={"after": first}), 410)
        assert gone["resume_after"] == second
        assert problem(client.get("/v1/events", params={"after": NOTHING}, headers=STREAM), 410)
        assert read(client, after=second)["items"] == []
        assert read(client, after="latest")["after"] == second
        third = store(client, **editor("Nano"))["log_id"]
        for page in (read(client), read(client, after=gone["resume_after"])):
            assert [event["id"] for event in page["items"]] == [third]
        assert read(client)["archived_until"] == gone["archived_until"]


# --- waiting --------------------------------------------------------------------------------------


def test_a_reader_may_wait_for_the_next_event(client: httpx.Client) -> None:
    place = read(client, after="latest")
    assert (place["items"], place["after"]) == ([], NOTHING)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(read, client, after=place["after"], wait=30)
        stored = store(client)
        assert [event["id"] for event in waiting.result()["items"]] == [stored["log_id"]]
        # A review that a frozen agent leaves is a write, and no operation.
        passed_over = pool.submit(read, client, after=stored["log_id"], wait=30, operation="UPDATE")
        store(client, **editor("Vim"))
        update = store(client, **editor("Emacs"))
        assert [event["id"] for event in passed_over.result()["items"]] == [update["log_id"]]
    empty = read(client, after=update["log_id"], wait=0.1)
    assert (empty["items"], empty["after"]) == ([], update["log_id"])


def test_many_who_wait_hold_no_connection(database_url: str) -> None:
    with (
        running(load_settings(database_url=database_url, pool_size=2)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
        ThreadPoolExecutor(20) as pool,
    ):
        waiting = [pool.submit(read, client, after=NOTHING, wait=30) for _ in range(20)]
        until_waiting(client, 20)
        # A look at all agents takes one, now and then.
        wait_until(lambda: metric(client, "palimpsest_pool_checked_out") == 0)
        stored = store(client)["log_id"]
        for one in waiting:
            assert [event["id"] for event in one.result()["items"]] == [stored]


def until_waiting(client: httpx.Client, count: int) -> None:
    while metric(client, 'palimpsest_in_flight{kind="events"}') < count:
        time.sleep(0.02)


def metric(client: httpx.Client, name: str) -> float:
    for line in client.get("/metrics").text.splitlines():
        if line.startswith(f"{name} "):
            return float(line.rpartition(" ")[2])
    return 0.0


def test_too_many_readers_are_refused_and_keep_nobody_else_out(database_url: str) -> None:
    settings = load_settings(database_url=database_url, max_event_readers=1, max_reads=1)
    with (
        running(settings) as address,
        httpx.Client(base_url=address, timeout=60) as client,
        following(address, "default") as stream,
    ):
        refused = problem(client.get("/v1/events"), 429)
        assert refused["type"].endswith("over-share")
        assert client.get("/v1/memories").status_code == 200
        assert client.get("/readyz").status_code == 200
        stored = store(client)
        assert [event["id"] for event in stream.read(1)] == [stored["log_id"]]
        assert metric(client, 'palimpsest_queued{kind="events"}') == 0
        left = 'palimpsest_request_seconds_count{route="/v1/events"}'
        assert metric(client, left) == 0, "how long readers wait says nothing about the service"


def test_a_reader_who_leaves_gives_the_place_back(database_url: str) -> None:
    settings = load_settings(database_url=database_url, max_event_readers=1)
    with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        with pytest.raises(httpx.ReadTimeout):
            httpx.get(f"{address}/v1/events", params={"wait": 30}, timeout=0.2)
        while client.get("/v1/events").status_code != 200:
            time.sleep(0.02)
        with following(address, "default"):
            problem(client.get("/v1/events"), 429)
        while client.get("/v1/events").status_code != 200:
            time.sleep(0.02)


# --- streams --------------------------------------------------------------------------------------


def test_a_stream_goes_on_after_the_last_event_id(service: str, client: httpx.Client) -> None:
    agent = client.headers["X-Agent-Id"]
    for number in range(3):
        store(client, f"Has fact number {number}", classify=False)
    with following(service, agent) as stream:
        first, second = stream.read(2)
    store(client, "Has a dog", classify=False)
    with following(service, agent, **{"Last-Event-ID": second["id"]}) as stream:
        rest = stream.read(2)
        stored = store(client, "Has a cat", classify=False)
        rest += stream.read(1)
    ids = [event["id"] for event in (first, second, *rest)]
    assert ids == list_log_ids(client)
    assert ids[-1] == stored["log_id"]
    [page] = [read(client)["items"]]
    assert [first, second, *rest] == page, "the same events by either way"


def test_a_quiet_stream_shows_that_it_lives(
    service: str, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events_api, "HEARTBEAT", 0.05)
    with (
        following(service, client.headers["X-Agent-Id"]) as stream,
        closing(iter(stream)) as events,
    ):
        timer = threading.Timer(1, lambda: store(client))
        timer.start()
        next(events)
        assert len(stream.comments) > 3
        timer.join()


def test_the_stream_of_a_revoked_key_ends(database_url: str) -> None:
    settings = load_settings(database_url=database_url, api_key=ROOT_KEY)
    with running(settings) as address, calling(address, ROOT_KEY, x_agent_id="ann") as root:
        store(root)
        issued = issue(root, scopes=["read"], agents=["ann"])
        with following(address, "ann", **{"X-API-Key": issued["key"]}) as stream:
            assert len(stream.read(1)) == 1
            root.delete(f"/v1/keys/{issued['id']}").raise_for_status()
            time.sleep(1.1)  # for so long a key is believed
            store(root, "Has a secret")
            assert list(stream) == []
        foreign = {"X-API-Key": issue(root, scopes=["read"], agents=["ben"])["key"]}
        problem(httpx.get(f"{address}/v1/events", headers={"X-Agent-Id": "ann", **foreign}), 403)


@pytest.mark.slow
def test_a_process_that_ends_ends_its_streams_first(tmp_path: Path, database_url: str) -> None:
    environment = {"PALIMPSEST_DATABASE_URL": database_url}
    with served(tmp_path, **environment) as service, ThreadPoolExecutor(1) as pool:
        with httpx.Client(base_url=service.address, timeout=60) as client:
            stored = store(client)["log_id"]
            waiting = pool.submit(read, client, after=stored, wait=30)
            with following(service.address, "default") as stream:
                assert [event["id"] for event in stream.read(1)] == [stored]
                until_waiting(client, 2)
                service.process.terminate()
                assert list(stream) == [], "it ends as it should, and is not cut"
            assert waiting.result()["items"] == []
        assert service.process.wait(60) == 0
        assert "exception" not in service.log.read_text()


def test_a_standby_serves_events_too(database_url: str) -> None:
    name = name_of(database_url)
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
        psycopg.connect(database_url, autocommit=True) as connection,
    ):
        stored = store(client)["log_id"]
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")  # type: ignore[arg-type]  # a name of our own
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        try:
            problem(client.post("/v1/memories", json={"content": "Has a cat"}), 503)
            assert [event["id"] for event in read(client)["items"]] == [stored]
            assert read(client, after=stored, wait=1)["items"] == []
        finally:
            connection.execute("SET default_transaction_read_only = off")
            connection.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")  # type: ignore[arg-type]


# --- nothing is missed ----------------------------------------------------------------------------

AGENTS = ("ann", "ben", "cid")


@pytest.mark.slow
@pytest.mark.parametrize("by_stream", [True, False])
def test_readers_among_writers_of_several_agents_miss_and_repeat_nothing(
    database_url: str, by_stream: bool
) -> None:
    """Two services write over one database, and the readers read from both."""
    settings = load_settings(database_url=database_url, queue_timeout=60, lock_timeout=60)
    with running(settings) as one, running(settings) as other, ThreadPoolExecutor(16) as pool:
        follow = follow_stream if by_stream else follow_pages
        readers = {
            (agent, address): pool.submit(follow, address, agent)
            for agent in AGENTS
            for address in (one, other)
        }
        writers = [
            pool.submit(write, address, agent, number)
            for agent in AGENTS
            for number, address in enumerate((one, other, one))
        ]
        for writer in writers:
            writer.result()
        with httpx.Client(base_url=one, timeout=60) as client:
            for agent in AGENTS:
                store_last(client, agent)
            for (agent, _), reader in readers.items():
                assert reader.result() == list_log_ids(client, agent)


def write(address: str, agent: str, number: int) -> None:
    """Store facts one by one and in batches; the slots of all writers are the same."""
    with httpx.Client(base_url=address, headers={"X-Agent-Id": agent}, timeout=60) as client:
        for turn in range(8):
            store(client, **editor(f"Editor{number}{turn}"))
            items = [editor(f"Batch{number}{turn}{place}") for place in range(3)]
            client.post("/v1/memories/batch", json={"items": items}).raise_for_status()


def store_last(client: httpx.Client, agent: str) -> None:
    body = {"content": "The end", "classify": False, "importance": 1, "session_id": "last"}
    headers = {"X-Agent-Id": agent}
    memory = client.post("/v1/memories", json=body, headers=headers).json()["memory"]
    reason = {"reason": "The end"}
    client.post(f"/v1/memories/{memory['id']}/retract", json=reason, headers=headers)


def is_last(event: dict[str, Any]) -> bool:
    return bool(event["operation"] == "DELETE")


def follow_stream(address: str, agent: str) -> list[str]:
    """Read a stream that is cut after every tenth event, and taken up again."""
    ids: list[str] = []
    while True:
        place = {"Last-Event-ID": ids[-1]} if ids else {}
        with following(address, agent, **place) as stream:
            for number, event in enumerate(stream, 1):
                ids.append(event["id"])
                if is_last(event):
                    return ids
                if number == 10:
                    break


def follow_pages(address: str, agent: str) -> list[str]:
    ids: list[str] = []
    after = NOTHING
    with httpx.Client(base_url=address, headers={"X-Agent-Id": agent}, timeout=60) as client:
        while True:
            page = read(client, after=after, wait=30, limit=7)
            after = page["after"]
            ids += [event["id"] for event in page["items"]]
            if any(map(is_last, page["items"])):
                return ids


# The commit of whatever the session `slow` stores takes two seconds.
SLOW_COMMIT = """
    CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_sleep(2); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER dawdle AFTER INSERT ON consolidation_log
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.session_id = 'slow') EXECUTE FUNCTION dawdle();
"""


@needs_one_server  # a distributed table has no triggers
def test_what_commits_late_is_never_behind_the_reader(database_url: str) -> None:
    """The earlier known time commits later only in another agent: within one, writes wait."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(SLOW_COMMIT)
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
        ThreadPoolExecutor(4) as pool,
    ):
        store(client, "Has a dog", classify=False)
        reader = pool.submit(follow_stream, address, "default")
        slow = pool.submit(store, client, "Has a bird", session_id="slow", classify=False)
        until_locked(database_url)
        other = {"X-Agent-Id": "other"}
        body = {"content": "Has a cow", "classify": False}
        elsewhere = client.post("/v1/memories", json=body, headers=other).json()
        assert not slow.done()
        quick = store(client, "Has a fox", classify=False)
        assert not is_dawdling(database_url), "the second write had to wait for the first"
        store_last(client, "default")
        ids = reader.result()
        assert ids == list_log_ids(client)
        assert ids[1:3] == [slow.result()["log_id"], quick["log_id"]]
        assert elsewhere["log_id"] not in ids


def is_dawdling(database_url: str) -> bool:
    sleeping = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    with psycopg.connect(database_url, autocommit=True) as connection:
        return connection.execute(sleeping).fetchone() != (0,)


def until_locked(database_url: str) -> None:
    """Return once a commit dawdles."""
    while not is_dawdling(database_url):
        time.sleep(0.02)
