"""Whose memory a call of mem0 is about, and the names of memories in its answers."""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote
from uuid import uuid4

IDS = ("user_id", "agent_id", "app_id", "run_id")
TYPES = ("user", "agent", "app", "run")

_PREFIXES = {"agent_id": "agent/", "app_id": "app/", "run_id": "run/"}
_TAG = "mem0:"
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


def read_id(name: str, value: Any) -> str:
    """Return the only id that a parameter or a filter names. Raises Unsupported."""
    if isinstance(value, dict) and len(value) == 1:
        [(operator, value)] = value.items()
        if operator not in ("eq", "in"):
            raise Unsupported(f"{operator} of {name} is not supported: name one {name}.")
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str | int) or value in ("*", ""):
        raise Unsupported(f"A call is about one {name}: name it, and send a call for each.")
    return str(value)


def find_owner(ids: Mapping[str, str]) -> Owner:
    """Return the owner: the user, else the agent, the app or the run. Raises Unsupported.

    The other ids become tags, and the run is the session.
    """
    chief = next((name for name in IDS if ids.get(name)), None)
    if chief is None:
        raise Unsupported("Say whose memory it is: user_id, agent_id, app_id or run_id.")
    if chief == "user_id" and ids[chief].startswith(tuple(_PREFIXES.values())):
        raise Unsupported("A user_id may not begin with agent/, app/ or run/.")
    others = [name for name in ("agent_id", "app_id") if ids.get(name) and name != chief]
    return Owner(
        agent=_PREFIXES.get(chief, "") + quote(ids[chief], safe=_PLAIN),
        tags=tuple(f"{_TAG}{name}={ids[name]}" for name in others),
        session_id=ids.get("run_id"),
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
    ids: dict[str, str | None] = {**dict.fromkeys(IDS), "run_id": run_id}
    for tag in memory.get("tags") or []:
        name, _, value = tag.removeprefix(_TAG).partition("=")
        if tag.startswith(_TAG) and name in IDS:
            ids[name] = value
    return ids | find_ids(agent)


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
