"""Replaying the log gives the tables (DESIGN §4, invariant 3)."""

import random
from collections import defaultdict
from datetime import UTC, datetime
from functools import partial
from typing import Any

import httpx
import psycopg
from psycopg.rows import dict_row

from app.planning.audit.replay import ReplayedMemory, ReplayStep
from app.settings import load_settings
from app.store.columns import BELIEF_COLUMNS
from app.store.log.state import decode_memory_state
from support.builders import store
from support.depth import DEEP
from support.doctor_check import assert_healthy
from support.random_history import TEXTS, random_writes
from support.scripted_model import ScriptedModel, every
from support.service import running

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
    if isinstance(value, list):
        return [plain(item) for item in value]
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
    agents = [f"agent-{seed}" for seed in range(6 if DEEP else 3)]
    with running(load_settings(database_url=database_url)) as address:
        for seed, agent in enumerate(agents):
            with httpx.Client(base_url=address, headers={"X-Agent-Id": agent}) as client:
                store(client, "The first fact")
                random_writes(client, random.Random(seed), 40)
    assert_replay_gives_the_tables(database_url, agents)


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
