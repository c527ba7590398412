"""A slot or a chain of thousands of versions costs a write no more than a short one."""

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from app.services import remember
from app.settings import load_settings
from app.store import chains as store_chains
from support.builders import list_ended
from support.service import running

T0 = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def address(database_url: str) -> Iterator[str]:
    with running(load_settings(database_url=database_url)) as address:
        yield address


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=120) as client:
        yield client


def build_lines(count: int, *, order: str = "up", stated: bool = False) -> list[str]:
    """Build versions of one slot, an hour each; `stated` ones say when they became known."""
    numbers = list(range(count))
    if order == "down":
        numbers.reverse()
    if order == "random":
        random.Random(3).shuffle(numbers)
    lines: list[str] = []
    for place, number in enumerate(numbers):
        start = T0 + timedelta(hours=number // 2)  # two versions start together
        line = {"content": f"Level {number}", "key": "level", "value": str(number)}
        if number % 7:
            line["valid_from"] = start.isoformat()
        if number % 11 == 0:
            line["valid_until"] = "2026-01-01T00:00:00Z"
        if number % 5 == 0:
            line["valid_until"] = (start + timedelta(hours=number % 4 + 1)).isoformat()
            line["valid_from"] = start.isoformat()
            line["temporary"] = True
        if stated:
            line["created_at"] = (T0 + timedelta(seconds=place // 3)).isoformat()
        lines.append(json.dumps(line))
    return lines


def send_lines(client: httpx.Client, agent: str, lines: list[str]) -> None:
    headers = {"X-Agent-Id": agent, "Content-Type": "application/x-ndjson"}
    response = client.post("/v1/import", content="\n".join(lines), headers=headers)
    assert response.status_code == 200, response.text


def read_beliefs(database_url: str, agent: str) -> list[tuple[Any, ...]]:
    """Read every belief ever held, with contents for ids and places for known times."""
    statement = """
        WITH believed AS (
            SELECT id, known_from, NULL::timestamptz AS known_until, valid_from, valid_until,
                   said_until, superseded_by, asserted_at, covered
            FROM memories WHERE agent_id = %(agent)s
            UNION ALL
            SELECT memory_id, known_from, known_until, valid_from, valid_until,
                   said_until, superseded_by, asserted_at, covered
            FROM memory_beliefs WHERE agent_id = %(agent)s
        )
        SELECT m.content, o.content,
               dense_rank() OVER (ORDER BY b.known_from),
               CASE WHEN m.content ~ '[0-9]*[1-9]$' THEN b.valid_until IS NULL END,
               CASE WHEN b.valid_from < '2025-01-01' THEN b.valid_from END,
               CASE WHEN b.valid_until < '2025-01-01' THEN b.valid_until END,
               b.said_until, b.known_until IS NULL, b.covered
        FROM believed b
        JOIN memories m ON m.agent_id = %(agent)s AND m.id = b.id
        LEFT JOIN memories o ON o.agent_id = %(agent)s AND o.id = b.superseded_by
        ORDER BY 3, 1, 2
    """
    with psycopg.connect(database_url) as connection:
        return connection.execute(statement, {"agent": agent}).fetchall()


@pytest.mark.parametrize("order", ["up", "down", "random"])
def test_chains_read_in_part_become_what_whole_chains_become(
    client: httpx.Client,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
    order: str,
) -> None:
    """One import reads whole chains; the other one, in four calls, reads the least."""
    lines = build_lines(60, order=order, stated=True)
    whole, part = f"whole-{uuid4().hex}", f"part-{uuid4().hex}"
    send_lines(client, whole, lines)
    monkeypatch.setattr(store_chains, "LONGEST_WHOLE", 0)
    for first in range(0, len(lines), 15):
        send_lines(client, part, lines[first : first + 15])
    assert read_beliefs(database_url, part) == read_beliefs(database_url, whole)


def crowd_slot(client: httpx.Client, agent: str, count: int, *, trust: int = 50) -> list[str]:
    """Store values of one slot that nobody classified: each is a chain of its own."""
    facts: list[dict[str, Any]] = []
    for number in range(count):
        fact = {"content": f"Level {number}", "key": "level", "value": str(number), "trust": trust}
        facts.append(fact | {"classify": False})
    answer = client.post(
        "/v1/memories/batch", json={"items": facts}, headers={"X-Agent-Id": agent}
    ).json()
    return [result["memory"]["id"] for result in answer["results"]]


def test_a_store_reads_few_chains_of_a_crowded_slot_and_joins_the_oldest(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remember, "MOST_CHAINS", 10)
    crowd = crowd_slot(client, "crowded", 250)
    read: list[Any] = []
    build = store_chains.version_from_row
    monkeypatch.setattr(
        store_chains, "version_from_row", lambda row: (read.append(row), build(row))[1]
    )
    fact = {"content": "Level new", "key": "level", "value": "new"}
    answer = client.post("/v1/memories", json=fact, headers={"X-Agent-Id": "crowded"}).json()
    assert answer["operation"] == "UPDATE"
    assert answer["memory"]["chain_id"] == crowd[0]
    assert list_ended(answer) == crowd[:3]  # as many as one store may end
    assert 10 <= len(read) < 40


def test_a_repeated_value_is_found_anywhere_in_a_crowded_slot(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remember, "MOST_CHAINS", 10)
    monkeypatch.setattr(store_chains, "LONGEST_WHOLE", 20)
    crowd = crowd_slot(client, "protected", 40, trust=90)
    fact = {"content": "The level is 30", "key": "level", "value": "30"}
    answer = client.post("/v1/memories", json=fact, headers={"X-Agent-Id": "protected"}).json()
    assert (answer["operation"], answer["memory"]["id"]) == ("NOOP", crowd[30])


def test_constraints_of_a_crowded_slot_hide_no_value(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remember, "MOST_CHAINS", 10)
    monkeypatch.setattr(store_chains, "LONGEST_WHOLE", 20)
    headers = {"X-Agent-Id": "walled"}
    level = {"key": "level", "classify": False}
    trusted = {"content": "Level x", "value": "x", "trust": 90, "valid_from": "2025-01-01", **level}
    stored = client.post("/v1/memories", json=trusted, headers=headers).json()
    for value, month in (("w", "03"), ("v", "04")):
        other = {"content": f"Level {value}", "value": value, "trust": 10, **level}
        other["valid_from"] = f"2025-{month}-01"
        client.post("/v1/memories", json=other, headers=headers)
    wall = [{"content": f"Never above {n}", "kind": "constraint", **level} for n in range(40)]
    client.post("/v1/memories/batch", json={"items": wall}, headers=headers)
    fact = {"content": "Level y", "key": "level", "value": "y", "trust": 50}
    answer = client.post("/v1/memories", json=fact, headers=headers).json()
    assert (answer["operation"], list_ended(answer)) == ("ADD", [])
    kept = client.get(f"/v1/memories/{stored['memory']['id']}", headers=headers).json()
    assert kept["valid_until"] is None


VALUES = ("low", "high", "low", "low", "middle", "high", "low", "high", "low", "middle")


def build_facts(*, seed: int) -> list[dict[str, Any]]:
    """Build values at random places of one slot."""
    chance = random.Random(seed)
    facts: list[dict[str, Any]] = []
    for number in range(40):
        value = chance.choice(VALUES)
        fact: dict[str, Any] = {"content": f"Level {value} {number}", "key": "level"}
        fact["value"] = value
        if chance.random() < 0.6:
            start = datetime.now(UTC) - timedelta(days=chance.randint(1, 20))
            fact["valid_from"] = start.replace(hour=0, minute=0, second=0, microsecond=0)
            if chance.random() < 0.3:
                fact["valid_until"] = (
                    fact["valid_from"] + timedelta(days=chance.randint(1, 5))
                ).isoformat()
            fact["valid_from"] = fact["valid_from"].isoformat()
        if chance.random() < 0.15:
            fact["classify"] = False
        if chance.random() < 0.1:
            fact["trust"] = chance.choice([20, 90])
        facts.append(fact)
    return facts


def store_one_by_one(client: httpx.Client, agent: str, *, seed: int) -> list[Any]:
    answers: list[Any] = []
    for fact in build_facts(seed=seed):
        answers.append(client.post("/v1/memories", json=fact, headers={"X-Agent-Id": agent}).json())
    return answers


def store_batch(client: httpx.Client, agent: str, *, seed: int) -> list[Any]:
    body = {"items": build_facts(seed=seed)}
    answer = client.post("/v1/memories/batch", json=body, headers={"X-Agent-Id": agent}).json()
    results: list[Any] = answer["results"]
    return results


def describe_stores(answers: list[Any]) -> list[dict[str, Any]]:
    """Describe what each store did, by contents."""
    contents: dict[str, str] = {}
    told: list[dict[str, Any]] = []
    for answer in answers:
        if answer["memory"]:
            contents.setdefault(answer["memory"]["id"], answer["memory"]["content"])
        told.append(
            {
                "operation": answer["operation"],
                "memory": answer["memory"] and contents[answer["memory"]["id"]],
                "superseded": sorted(contents[i] for i in list_ended(answer)),
                "adjusted": sorted(contents[i] for i in answer["adjusted"]),
                "hints": [
                    (hint["name"], [contents[i] for i in hint["memory_ids"]])
                    for hint in answer["hints"]
                ],
            }
        )
    return told


@pytest.mark.parametrize("seed", range(6))
def test_stores_that_read_in_part_do_what_stores_that_read_whole_do(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    whole = describe_stores(store_one_by_one(client, f"whole-{uuid4().hex}", seed=seed))
    monkeypatch.setattr(store_chains, "LONGEST_WHOLE", 0)
    part = describe_stores(store_one_by_one(client, f"part-{uuid4().hex}", seed=seed))
    assert part == whole


@pytest.mark.parametrize("seed", range(6))
def test_a_batch_does_what_its_stores_do_one_by_one(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Hints of a batch are about what all of it left behind, so they are not compared."""
    monkeypatch.setattr(store_chains, "LONGEST_WHOLE", 0)
    part = describe_stores(store_one_by_one(client, f"part-{uuid4().hex}", seed=seed))
    batch = describe_stores(store_batch(client, f"batch-{uuid4().hex}", seed=seed))
    for store in (*part, *batch):
        del store["hints"]
    assert batch == part
