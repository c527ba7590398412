"""Replaying the log gives the tables (DESIGN §4, invariant 3)."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import psycopg
from builders import store
from conftest import running
from psycopg.rows import dict_row

from app.settings import load_settings
from app.store.tables import BELIEF_COLUMNS

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
        ids = [m["id"] for m in client.get("/v1/memories", params={"include_superseded": True, "limit": 1000}).json()["items"]]
        date = {"valid_from": (today + timedelta(days=pick.randrange(-50, 50))).isoformat()} if pick.random() < 0.5 else {}
        value = pick.choice("abc")
        fact: dict[str, Any] = {"content": f"fact {value}", "importance": pick.choice([0.1, 0.9]), "tags": [value], **date}
        some = pick.choice(ids) if ids else None
        match pick.randrange(7):
            case 0 | 1 | 2:
                client.post(
                    "/v1/memories", json={**fact, "key": pick.choice(["s", "t"]), "value": value, "tier": pick.choice(["core", "semantic"])}
                )
            case 3:
                client.post(f"/v1/memories/{some}/supersede", json={**fact, "content": f"new {number}"})
            case 4:
                client.post(f"/v1/memories/{some}/retract", json=pick.choice([{}, {"never_true": True}]))
            case 5:
                client.patch(f"/v1/memories/{some}", json=pick.choice([{"importance": 0.3}, {"tags": ["patched"]}, date or {"trust": 3}]))
            case 6:
                client.post(f"/v1/memories/{some}/supersede", json={"by": pick.choice(ids) if ids else None})


def replayed(log: list[dict[str, Any]]) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]], dict[str, int]]:
    """Memories, past beliefs and reinforcements as the log tells them."""
    memories: dict[str, dict[str, Any]] = {}
    past: list[dict[str, Any]] = []
    counts: dict[str, int] = {}
    for entry in log:
        if entry["operation"] == "NOOP" and entry["relation"] == "DUPLICATE":
            counts[str(entry["target_memory_id"])] = counts.get(str(entry["target_memory_id"]), 0) + 1
        past += [{"id": state["id"], **state["belief"], "known_until": entry["created_at"]} for state in entry["before_state"]]
        for state in entry["after_state"]:
            if "metadata" in state:
                memories[state["id"]] |= state["metadata"]
                memories[state["id"]]["revision"] += 1
                continue
            known = memories.setdefault(state["id"], {"content": (entry["incoming"] or {}).get("content")})
            known |= {name: value for name, value in state.items() if name != "belief"} | state["belief"]
    return memories, past, counts


def plain(value: Any) -> Any:
    """A value of the database as the log writes it."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    return value if value is None or isinstance(value, bool | int | float | str | list | dict) else str(value)


def test_replaying_the_log_gives_the_tables(database_url: str) -> None:
    with running(load_settings(database_url=database_url)) as address:
        for seed in range(6):
            with httpx.Client(base_url=address, headers={"X-Agent-Id": f"agent-{seed}"}) as client:
                store(client, "The first fact")
                random_writes(client, random.Random(seed), 40)
    with psycopg.connect(database_url, row_factory=dict_row) as connection:
        for seed in range(6):
            agent = [f"agent-{seed}"]
            log = connection.execute("SELECT * FROM consolidation_log WHERE agent_id = %s ORDER BY created_at", agent).fetchall()
            assert len({entry["operation"] for entry in log}) >= 4
            memories, past, counts = replayed([{**entry, "created_at": plain(entry["created_at"])} for entry in log])
            for row in connection.execute("SELECT * FROM memories WHERE agent_id = %s", agent).fetchall():
                told = memories.pop(str(row["id"]))
                for name in (*BELIEF_COLUMNS, "chain_id", "revision", "created_at"):
                    assert told[name] == plain(row[name]), name
                for name in SAID:
                    assert plain(row[name]) in (told.get(name), told.get(name) or [], told.get(name) or {}, told.get(name) or ""), name
            assert not memories
            beliefs = connection.execute("SELECT * FROM memory_beliefs WHERE agent_id = %s", agent).fetchall()
            key = lambda b: (b["id"], b["known_from"])  # noqa: E731
            stored = [{"id": str(b["memory_id"]), **{n: plain(b[n]) for n in (*BELIEF_COLUMNS, "known_until")}} for b in beliefs]
            assert sorted(stored, key=key) == sorted(past, key=key)
            usage = connection.execute("SELECT * FROM memory_usage WHERE agent_id = %s", agent).fetchall()
            assert {str(u["memory_id"]): u["access_count"] for u in usage} == counts
