"""Memories and histories as mem0 answers them."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from app.mem0.owners import list_categories, list_id_values, list_ids, name_memory


def shape_memory(agent: str | None, memory: Mapping[str, Any]) -> dict[str, Any]:
    """Return a memory as mem0 answers it. Its id is that of its chain, so that it stays."""
    content = memory.get("content") or ""
    last_day = None
    if until := memory.get("said_until"):
        # The end is the end of that day.
        last_day = (datetime.fromisoformat(until) - timedelta(microseconds=1)).date().isoformat()
    return {
        "id": name_memory(agent, memory["chain_id"]),
        "memory": content,
        "hash": hashlib.md5(content.encode(), usedforsecurity=False).hexdigest(),
        **list_ids(agent, memory),
        "metadata": memory.get("details") or None,
        "categories": list_categories(memory) or None,
        "created_at": find_first_time(memory).isoformat().replace("+00:00", "Z"),
        "updated_at": memory.get("last_reinforced_at") or memory["created_at"],
        "expiration_date": last_day,
        "valid_from": memory["valid_from"],
        "valid_until": memory.get("valid_until"),
    }


def find_first_time(memory: Mapping[str, Any]) -> datetime:
    """Return when the first version was stored: its id, a UUIDv7, begins with the milliseconds."""
    milliseconds = UUID(memory["chain_id"]).int >> 80
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def describe_memory(agent: str | None, memory: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the values of each field that a filter may name."""
    details = {
        f"metadata.{name}": value if isinstance(value, list) else [value]
        for name, value in (memory.get("details") or {}).items()
    }
    updated = memory.get("last_reinforced_at") or memory["created_at"]
    return details | {
        **list_id_values(agent, memory),
        "memory_ids": [memory["chain_id"], name_memory(agent, memory["chain_id"])],
        "categories": list_categories(memory),
        "keywords": [memory.get("content") or ""],
        "created_at": [find_first_time(memory)],
        "updated_at": [datetime.fromisoformat(updated)],
    }


def shape_hit(agent: str | None, hit: Mapping[str, Any]) -> dict[str, Any]:
    """Return a hit with its score on mem0's scale."""
    return shape_memory(agent, hit["memory"]) | {"score": round(hit["score"] ** (1 / 3), 4)}


def find_least_chance(threshold: float) -> float:
    """Return the chance that a score of mem0 stands for.

    Tools of mem0 leave out what scores less than .3 or .4, which are cosines of other encoders. The
    cube root puts there what answers with a chance of .03 or .06 (docs/guide/mem0.md).
    """
    return float(threshold**3)


def shape_event(agent: str | None, answer: Mapping[str, Any], content: str) -> dict[str, Any]:
    """Return what became of an added text."""
    memory = answer.get("memory") or {}
    chain_id = memory.get("chain_id") or answer.get("memory_id")
    text = memory.get("content") or content
    events = {"ADD": "ADD", "UPDATE": "UPDATE", "AMEND": "UPDATE", "NOOP": "NONE", None: "PENDING"}
    # A text that only ends others is stored as one of its own; a command to forget is not.
    events["DELETE"] = "ADD" if memory else "DELETE"
    return {
        "id": name_memory(agent, chain_id) if chain_id else None,
        "memory": text,
        "data": {"memory": text},
        "event": events.get(answer.get("operation"), "UPDATE"),
    }


def shape_history(agent: str | None, versions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the versions as the events that led from one to the next, and to the end."""
    events: list[dict[str, Any]] = []
    ordered = sorted(versions, key=lambda version: str(version["created_at"]))
    text: str | None = None
    for version in ordered:
        old, text = text, version.get("content")
        event = "UPDATE" if events else "ADD"
        events.append(_shape_change(agent, version, old, text, event))
    if ordered and (ended := ordered[-1].get("retracted_at")):
        last = _shape_change(agent, ordered[-1], text, None, "DELETE")
        events.append(last | {"id": f"{last['id']}-end", "created_at": ended, "updated_at": ended})
    return events


def _shape_change(
    agent: str | None, version: Mapping[str, Any], old: str | None, new: str | None, event: str
) -> dict[str, Any]:
    return {
        "id": version["id"],
        "memory_id": name_memory(agent, version["chain_id"]),
        "input": None,
        "old_memory": old,
        "new_memory": new,
        "event": event,
        **list_ids(agent, version),
        "metadata": version.get("details") or None,
        "created_at": version["created_at"],
        "updated_at": version["created_at"],
        "is_deleted": event == "DELETE",
    }
