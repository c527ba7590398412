"""Known time under a database clock that goes back, stands still or leaps: `clock_timestamp()` is put in front of the real one."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import psycopg
import pytest

from app.settings import load_settings
from app.store import engine
from app.store.installation import SEARCH_PATH
from support.builders import contents, editor, send, store
from support.cluster import CITUS_URL, node_urls
from support.service import running
from support.transfers import NDJSON

MICROSECOND = timedelta(microseconds=1)
HOUR = timedelta(hours=1)


class Clock:
    """The clock of one database, on a cluster of that of every node, which a test may move or stop."""

    def __init__(self, nodes: Sequence[psycopg.Connection[Any]]) -> None:
        self._nodes = nodes

    def move(self, by: timedelta) -> None:
        self._execute("UPDATE fake.clock SET shift = shift + %s", by)

    def stop(self) -> datetime:
        """Stands still from now on, at the time answered."""
        now = self.now()
        self._execute("UPDATE fake.clock SET stopped = %s", now)
        return now

    def now(self) -> datetime:
        row = self._nodes[0].execute("SELECT clock_timestamp()").fetchone()
        assert row
        moment: datetime = row[0]
        return moment.astimezone(UTC)

    def _execute(self, statement: str, value: datetime | timedelta) -> None:
        for node in self._nodes:
            node.execute(statement.encode(), [value])


@pytest.fixture
def clock(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    """Sessions opened from here on find the test's clock under the name of the real one."""
    path = b"'fake, pg_catalog, public, pg_temp'"
    session = engine._READ_SESSION.replace(SEARCH_PATH.encode(), path)
    monkeypatch.setattr(engine, "_READ_SESSION", session)
    urls = node_urls(database_url) if CITUS_URL else [database_url]
    for url in urls:
        with psycopg.connect(url, autocommit=True) as setup:
            _put_clock(setup)
    with ExitStack() as stack:
        yield Clock([stack.enter_context(psycopg.connect(url, autocommit=True)) for url in urls])


def _put_clock(setup: psycopg.Connection[Any]) -> None:
    setup.execute("SET citus.enable_ddl_propagation = off")  # each node is asked itself
    setup.execute("CREATE SCHEMA fake")
    setup.execute("CREATE TABLE fake.clock (shift interval NOT NULL, stopped timestamptz)")
    setup.execute("INSERT INTO fake.clock VALUES ('0', NULL)")
    setup.execute("""
        CREATE FUNCTION fake.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
        AS 'SELECT coalesce(stopped, pg_catalog.clock_timestamp() + shift) FROM fake.clock'
    """)
    setup.execute("GRANT USAGE ON SCHEMA fake TO PUBLIC")
    setup.execute("GRANT SELECT ON fake.clock TO PUBLIC")
    setup.execute(f"ALTER DATABASE {setup.info.dbname} SET search_path = fake, pg_catalog, public")


@pytest.fixture
def client(database_url: str, clock: Clock) -> Iterator[httpx.Client]:
    """A client of a service that reads that clock."""
    with (
        running(load_settings(database_url=database_url)) as service,
        httpx.Client(base_url=service, timeout=60) as client,
    ):
        yield client


def known(answer: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(answer["known_at"])


def current_editor(client: httpx.Client, **point: Any) -> str:
    response = client.get("/v1/preferences/tooling/editor", params=point)
    assert response.status_code == 200, response.text
    value: str = response.json()["value"]
    return value


def test_known_time_is_the_clock_of_the_database(client: httpx.Client, clock: Clock) -> None:
    clock.move(10 * HOUR)
    before = clock.now()
    answer = store(client)
    assert before < known(answer) < clock.now()
    assert answer["memory"]["valid_from"] == answer["memory"]["created_at"] == answer["known_at"]


def test_known_time_goes_on_by_a_microsecond_a_write_while_the_clock_is_behind(
    client: httpx.Client, clock: Clock
) -> None:
    last = known(send(client, editor("Vim")))
    clock.move(-HOUR)
    stored = send(client, editor("Emacs"))
    superseded = client.post(
        f"/v1/memories/{stored['memory']['id']}/supersede",
        json={"content": "Uses Zed", "value": "Zed"},
    ).json()
    amended = client.patch(
        f"/v1/memories/{superseded['memory']['id']}", json={"importance": 0.9}
    ).json()
    repeated = send(client, editor("Zed"))
    retracted = client.post(f"/v1/memories/{superseded['memory']['id']}/retract").json()
    answers = [stored, superseded, amended, repeated, retracted]
    assert [a["operation"] for a in answers] == ["UPDATE", "UPDATE", "AMEND", "NOOP", "DELETE"]
    assert [known(a) for a in answers] == [last + number * MICROSECOND for number in range(1, 6)]


def test_every_write_is_visible_to_the_next_read_while_the_clock_is_behind(
    client: httpx.Client, clock: Clock
) -> None:
    send(client, editor("Vim"))
    clock.move(-HOUR)
    emacs = send(client, editor("Emacs"))
    assert current_editor(client) == "Emacs"
    assert contents(client) == {"Uses Emacs as editor"}
    page = client.get("/v1/memories").json()
    assert page["as_of"] == page["known_at"] == emacs["known_at"], (
        "a read is never behind the last write"
    )
    assert emacs["memory"]["status"] == "current"
    client.post(
        f"/v1/memories/{emacs['memory']['id']}/supersede",
        json={"content": "Uses Zed", "value": "Zed"},
    )
    assert current_editor(client) == "Zed"
    [found] = client.post("/v1/search", json={"query": "editor"}).json()["results"]
    assert found["memory"]["value"] == "Zed"
    client.delete(f"/v1/memories/{found['memory']['id']}")
    assert contents(client) == set()
    history = client.get(f"/v1/memories/{found['memory']['id']}/history").json()
    assert [v["status"] for v in history["versions"]] == ["superseded", "superseded", "retracted"]
    assert history["current"] is None


def test_the_past_stays_as_it_was_known_when_the_clock_goes_back(
    client: httpx.Client, clock: Clock
) -> None:
    first = send(client, editor("Vim"))
    second = send(client, editor("Emacs"))
    clock.move(-HOUR)
    third = send(client, editor("Zed"))
    client.post(f"/v1/memories/{third['memory']['id']}/retract", json={"never_true": True})
    assert current_editor(client) == "Emacs"
    for answer, value in [(first, "Vim"), (second, "Emacs"), (third, "Zed")]:
        assert (
            current_editor(client, as_of=answer["known_at"], known_at=answer["known_at"]) == value
        )
    just_before = (known(third) - MICROSECOND).isoformat()
    assert current_editor(client, as_of=third["known_at"], known_at=just_before) == "Emacs"


def test_known_time_follows_the_clock_again_once_it_has_caught_up(
    client: httpx.Client, clock: Clock
) -> None:
    store(client, "Has a cat")
    clock.move(-HOUR)
    behind = known(store(client, "Has a dog"))
    assert behind > clock.now()
    clock.move(2 * HOUR)
    before = clock.now()
    assert before < known(store(client, "Has a horse"))


def test_writes_within_one_microsecond_are_told_apart(client: httpx.Client, clock: Clock) -> None:
    stopped = clock.stop()
    singles = [known(send(client, editor(value))) for value in ("Vim", "Emacs", "Zed")]
    items = [{"content": f"Has {number} cats"} for number in range(3)]
    batch = [
        known(result)
        for result in client.post("/v1/memories/batch", json={"items": items}).json()["results"]
    ]
    lines = client.post(
        "/v1/import", headers=NDJSON, content='{"content": "Has a dog"}\n{"content": "Has a horse"}'
    ).text.splitlines()
    imported = [known(json.loads(line)) for line in lines]
    assert [*singles, *batch, *imported] == [stopped + number * MICROSECOND for number in range(8)]
    assert current_editor(client) == "Zed"
    for number, value in enumerate(["Vim", "Emacs", "Zed"]):
        moment = (stopped + number * MICROSECOND).isoformat()
        assert current_editor(client, as_of=moment, known_at=moment) == value


def test_another_agent_starts_at_the_clock_however_far_ahead_the_first_one_is(
    client: httpx.Client, clock: Clock
) -> None:
    ahead = known(store(client))
    clock.move(-HOUR)
    before = clock.now()
    other = client.post(
        "/v1/memories", json={"content": "Has a dog"}, headers={"X-Agent-Id": "other"}
    ).json()
    assert before < known(other) < ahead
