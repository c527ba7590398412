"""Whose memory a call of mem0 is about, and the names of memories in its answers."""

import base64
import binascii
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote
from uuid import uuid4

IDS = ("user_id", "agent_id", "app_id", "run_id")
TYPES = ("user", "agent", "app", "run")

_PREFIXES = {"agent_id": "agent/", "app_id": "app/", "run_id": "run/"}
_TAG = "mem0:"
# Marks what this door wrote in a session of the caller's, or in none.
MARK = "mem0:added"
_CALL = re.compile("mem0-[0-9a-f]{32}")
# An agent's name is of printable ASCII characters; others, and the sign itself, are escaped.
_PLAIN = "".join(map(chr, range(0x21, 0x7F))).replace("%", "")


class Unsupported(Exception):
    """The call asks for something that this service does not do; the message says what."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The agent that the ids of a call name, and what else its memories have."""

    agent: str
    tags: tuple[str, ...]
    session_id: str | None


def find_owner(ids: Mapping[str, Collection[str]]) -> Owner:
    """Return the owner: the user, else the agent, the app or the run. Raises Unsupported.

    The other ids become tags, and the run is the session. `ids` may name several of those.
    """
    chief = next((name for name in IDS if name in ids), None)
    if chief is None:
        raise Unsupported(
            "Say whose memory it is: user_id, agent_id, app_id or run_id, in each part of an OR."
        )
    if len(ids[chief]) != 1 or "" in ids[chief]:
        raise Unsupported(f"A call is about one {chief}: name it, and send a call for each.")
    [owner] = ids[chief]
    if chief == "user_id" and owner.startswith(tuple(_PREFIXES.values())):
        raise Unsupported("A user_id may not begin with agent/, app/ or run/.")
    others = {name: next(iter(values)) for name, values in ids.items() if len(values) == 1}
    tags = [name for name in ("agent_id", "app_id") if name in others and name != chief]
    return Owner(
        agent=_PREFIXES.get(chief, "") + quote(owner, safe=_PLAIN),
        tags=tuple(f"{_TAG}{name}={others[name]}" for name in tags),
        session_id=others.get("run_id"),
    )


def name_session(owner: Owner) -> str:
    """Return the session of messages: their run, or one of their own."""
    return owner.session_id or f"mem0-{uuid4().hex}"


def find_ids(agent: str | None) -> dict[str, str | None]:
    """Return the id that an agent's name stands for; none if the caller's key chose the agent."""
    if agent is None:
        return {"user_id": None}
    for name, prefix in _PREFIXES.items():
        if agent.startswith(prefix):
            return {name: unquote(agent.removeprefix(prefix))}
    return {"user_id": unquote(agent)}


def list_ids(agent: str | None, memory: Mapping[str, Any]) -> dict[str, str | None]:
    """Return all ids of a memory."""
    session_id = memory.get("session_id") or ""
    run_id = None if _CALL.fullmatch(session_id) else session_id or None
    return {**dict.fromkeys(IDS), "run_id": run_id, **dict(_list_tags(memory)), **find_ids(agent)}


def list_id_values(agent: str | None, memory: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return all values of the ids of a memory: several agents may have told it."""
    values = {name: [value] for name, value in list_ids(agent, memory).items() if value}
    for name, value in _list_tags(memory):
        if value not in values.setdefault(name, []):
            values[name].append(value)
    return values


def _list_tags(memory: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the ids in the tags of a memory, each with its name."""
    named = []
    for tag in memory.get("tags") or []:
        name, _, value = tag.removeprefix(_TAG).partition("=")
        if tag.startswith(_TAG) and name in IDS:
            named.append((name, value))
    return named


def is_of_door(memory: Mapping[str, Any]) -> bool:
    """Return True if the memory was written through mem0's routes."""
    if _CALL.fullmatch(memory.get("session_id") or ""):
        return True
    return any(tag.startswith(_TAG) for tag in memory.get("tags") or [])


def list_categories(memory: Mapping[str, Any]) -> list[str]:
    return [tag for tag in memory.get("tags") or [] if not tag.startswith(_TAG)]


def name_memory(agent: str | None, memory_id: str) -> str:
    """Return the id of a memory with its agent: calls of mem0 that have an id name no user."""
    if agent is None:
        return memory_id
    return f"{memory_id}.{base64.urlsafe_b64encode(agent.encode()).decode().rstrip('=')}"


def read_name(name: str) -> tuple[str | None, str]:
    """Return the agent and the id of a named memory; an id alone names no agent."""
    memory_id, _, encoded = name.partition(".")
    try:
        padded = encoded + "=" * (-len(encoded) % 4)
        agent = base64.urlsafe_b64decode(padded).decode("ascii")
    except (binascii.Error, ValueError):
        raise Unsupported(f"There is no memory {name}: its id ends with no agent.") from None
    return agent or None, memory_id
