"""OpenAI Agents' session on the client, against the real service."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from palimpsest_client import AsyncClient, Client

pytest.importorskip("agents.memory", reason="pip install openai-agents")

from agents.memory import Session

from palimpsest_openai_agents import PalimpsestSession


def say(text: str, role: str = "user") -> Any:
    return {"role": role, "content": text}


@pytest.fixture
def memory(service: str) -> Iterator[Client]:
    """A client of the shared service, as an agent nobody else is."""
    with Client(service, agent=f"openai-{uuid4().hex}") as client:
        yield client


def test_a_history_grows_shrinks_and_is_read_as_it_was(memory: Client) -> None:
    async def use() -> None:
        session = PalimpsestSession("Monday", memory)
        assert isinstance(session, Session)
        items = [say("hi"), say("hi"), say("hello", "assistant"), {"type": "x", "n": [1, None]}]
        await session.add_items(items)
        assert await session.get_items() == items
        assert await session.get_items(2) == items[2:]
        assert await session.get_items(0) == []
        before = datetime.now(UTC)
        assert await session.pop_item() == items[3]
        await session.add_items([say("more")])
        assert await session.get_items() == [*items[:3], say("more")]
        assert await PalimpsestSession("monday", memory).get_items() == []
        await session.clear_session()
        assert await session.get_items() == []
        assert await session.pop_item() is None
        assert await session.at(known_at=before).get_items() == items

    asyncio.run(use())


def test_no_turn_ends_another(memory: Client) -> None:
    async def use() -> Any:
        session = PalimpsestSession("Monday", memory, session_settings={"limit": 2})
        turns = [say("I live in Porto."), say("I moved to Lisbon."), say("I left Porto.")]
        await session.add_items(turns)
        memory.store("I moved to Lisbon, I do not live in Porto.")
        return await session.get_items(), await session.get_items(9)

    shown, everything = asyncio.run(use())
    assert [len(shown), len(everything)] == [2, 3]


def test_an_asynchronous_client_carries_it_too(service: str) -> None:
    async def use() -> Any:
        async with AsyncClient(service, agent=f"openai-{uuid4().hex}") as client:
            session = PalimpsestSession("Monday", client)
            await session.add_items([say("hi")])
            return await asyncio.gather(session.pop_item(), session.pop_item())

    popped = asyncio.run(use())
    assert sorted(popped, key=str) == [None, say("hi")]
