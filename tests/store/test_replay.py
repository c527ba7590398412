"""Replaying the log gives the tables (DESIGN §4, invariant 3)."""

import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import httpx
import psycopg
from builders import store
from conftest import running
from healthy import assert_healthy
from judges.scripted import ScriptedModel, every
from psycopg.rows import dict_row

from app.planning.audit.replay import ReplayedMemory, ReplayStep
from app.settings import load_settings
from app.store.columns import BELIEF_COLUMNS
from app.store.log.state import decode_memory_state

SAID = (
    "content",
    "kind",
    "entity",
    "category",
    "key",
    "value",
    "details",
    "importance",
    "confidence",
    "tags",
    "source",
    "session_id",
    "trust",
)


def random_writes(client: httpx.Client, pick: random.Random, times: int) -> None:
    """All kinds of writes, refused ones among them."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    for number in range(times):
        ids = [
            m["id"]
            for m in client.get(
                "/v1/memories", params={"include_superseded": True, "limit": 1000}
            ).json()["items"]
        ]
        date = (
            {"valid_from": (today + timedelta(days=pick.randrange(-50, 50))).isoformat()}
            if pick.random() < 0.5
            else {}
        )
        value = pick.choice("abc")
        fact: dict[str, Any] = {
            "content": f"fact {value}",
            "importance": pick.choice([0.1, 0.9]),
            "tags": [value],
            **date,
        }
        some = pick.choice(ids) if ids else None
        match pick.randrange(8):
            case 0 | 1 | 2:
                client.post(
                    "/v1/memories",
                    json={
                        **fact,
                        "key": pick.choice(["s", "t"]),
                        "value": value,
                        "tier": pick.choice(["core", "semantic"]),
                    },
                )
            case 3:
                client.post(
                    f"/v1/memories/{some}/supersede", json={**fact, "content": f"new {number}"}
                )
            case 4:
                client.post(
                    f"/v1/memories/{some}/retract", json=pick.choice([{}, {"never_true": True}])
                )
            case 5:
                client.patch(
                    f"/v1/memories/{some}",
                    json=pick.choice(
                        [{"importance": 0.3}, {"tags": ["patched"]}, date or {"trust": 3}]
                    ),
                )
            case 6:
                client.post(
                    f"/v1/memories/{some}/supersede", json={"by": pick.choice(ids) if ids else None}
                )
            case 7 if pick.random() < 0.4:
                client.delete(f"/v1/memories/{some}", params={"erase": True})


def replayed(log: list[dict[str, Any]]) -> dict[str, ReplayedMemory]:
    """Every memory as the log tells it: each operation's states are handed to the product's replay, memory by memory."""
    told: dict[str, ReplayedMemory] = defaultdict(ReplayedMemory)
    for entry in log:
        content = (entry["incoming"] or {}).get("content")
        step = partial(ReplayStep, entry["id"], entry["operation"], entry["created_at"])
        if entry["operation"] == "NOOP" and entry["relation"] == "DUPLICATE":
            told[str(entry["target_memory_id"])].add_step(step(confirmed=1))
        for name in ("before_state", "after_state"):
            for state in entry[name]:
                if "id" in state:  # the others are links and reviews, compared by their own test
                    known = decode_memory_state(state, content)
                    told[state["id"]].add_step(step(known, before=name == "before_state"))
    return told


def plain(value: Any) -> Any:
    """A value of the database as the log writes it."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    return (
        value
        if value is None or isinstance(value, bool | int | float | str | list | dict)
        else str(value)
    )


def assert_replay_gives_the_tables(database_url: str, agents: list[str]) -> None:
    with psycopg.connect(database_url, row_factory=dict_row) as connection:
        for agent in agents:
            log = connection.execute(
                "SELECT * FROM consolidation_log WHERE agent_id = %s ORDER BY created_at", [agent]
            ).fetchall()
            assert len({entry["operation"] for entry in log}) >= 4
            told = replayed(log)
            rows = connection.execute(
                "SELECT * FROM memories WHERE agent_id = %s", [agent]
            ).fetchall()
            assert {str(row["id"]) for row in rows} == told.keys()
            for row in rows:
                known = told[str(row["id"])].row
                for name in (*BELIEF_COLUMNS, "chain_id", "revision", "created_at"):
                    assert known[name] == plain(row[name]), name
                assert known.get("merged_from", []) == [str(i) for i in row["merged_from"]]
                for name in SAID:
                    assert plain(row[name]) in (
                        known.get(name),
                        known.get(name) or [],
                        known.get(name) or {},
                        known.get(name) or "",
                    ), name
            beliefs = connection.execute(
                "SELECT * FROM memory_beliefs WHERE agent_id = %s", [agent]
            ).fetchall()
            key = lambda b: (b["id"], b["known_from"])  # noqa: E731
            stored = [
                {
                    "id": str(b["memory_id"]),
                    **{n: plain(b[n]) for n in (*BELIEF_COLUMNS, "known_until")},
                }
                for b in beliefs
            ]
            past = [
                {"id": memory_id, **belief}
                for memory_id, memory in told.items()
                for belief in memory.past
            ]
            assert sorted(stored, key=key) == sorted(past, key=key)
            usage = connection.execute(
                "SELECT * FROM memory_usage WHERE agent_id = %s", [agent]
            ).fetchall()
            counts = {
                memory_id: memory.access_count
                for memory_id, memory in told.items()
                if memory.access_count
            }
            assert {str(u["memory_id"]): u["access_count"] for u in usage} == counts
    assert_healthy(database_url)


def test_replaying_the_log_gives_the_tables(database_url: str) -> None:
    agents = [f"agent-{seed}" for seed in range(6)]
    with running(load_settings(database_url=database_url)) as address:
        for seed, agent in enumerate(agents):
            with httpx.Client(base_url=address, headers={"X-Agent-Id": agent}) as client:
                store(client, "The first fact")
                random_writes(client, random.Random(seed), 40)
    assert_replay_gives_the_tables(database_url, agents)


TEXTS = [
    "I live in Porto",
    "I moved to Lisbon",
    "I play tennis",
    "I no longer play tennis",
    "I moved to Faro",
    "The Falcon app was written by Anna",
    "The Falcon app has 12000 users",
    "The Falcon app has a dark mode",
    "I moved to Faro",
]


def test_judged_operations_replay_too(database_url: str) -> None:
    """Updates, retractions and duplicates by signals; merges and contradictions by a model that says something else every time."""
    said = [every("COMPLEMENT"), every("CONTRADICTION"), every("OVERLAP"), every("COMPLEMENT", 0.6)]
    agents = [f"agent-{seed}" for seed in range(4)]
    with (
        ScriptedModel(every("NONE")) as model,
        running(load_settings(database_url=database_url, llm_base_url=model.url)) as address,
    ):
        for seed, agent in enumerate(agents):
            pick = random.Random(seed)
            with httpx.Client(
                base_url=address, headers={"X-Agent-Id": agent}, timeout=60
            ) as client:
                for text in TEXTS:
                    model.then(said[seed] if "Falcon" in text else every("NONE"))
                    store(
                        client,
                        text,
                        importance=pick.choice([0.2, 0.8]),
                        tags=[pick.choice("xyz")],
                        tier=pick.choice(["core", "semantic"]),
                    )
                random_writes(client, pick, 10)
    assert_replay_gives_the_tables(database_url, agents)
    with psycopg.connect(database_url) as connection:
        operations = {
            row[0] for row in connection.execute("SELECT DISTINCT operation FROM consolidation_log")
        }
        tied = {
            row[0] for row in connection.execute("SELECT DISTINCT type FROM memory_relationships")
        }
    assert {"ADD", "UPDATE", "DELETE", "NOOP", "MERGE"} <= operations
    assert {"merged_into", "related_to"} <= tied
