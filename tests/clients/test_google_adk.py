"""Google ADK's memory service on the client, with a scripted model, against the real service."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import datetime
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from pydantic import Field

from palimpsest_client import AsyncClient
from support.examples import run_example

pytest.importorskip("google.adk.memory", reason="pip install google-adk")

from google.adk.events import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.sessions import Session
from google.genai.types import Content, Part

from palimpsest_google_adk import PalimpsestMemoryService

APP = "desk"


class ScriptedLlm(BaseLlm):
    """A model that always answers the same, and notes what it was sent."""

    requests: list[str] = Field(default_factory=list)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self.requests.append(repr(llm_request.contents))
        yield LlmResponse(content=Content(role="model", parts=[Part(text="I see.")]))


def run(service: str, program: Callable[[AsyncClient], Awaitable[Any]]) -> Any:
    async def use() -> Any:
        async with AsyncClient(service) as client:
            return await program(client)

    return asyncio.run(use())


def test_the_example_of_the_readme(service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = ScriptedLlm(model="scripted")
    run_example("google_adk", model, service, monkeypatch)
    first, _, last = model.requests
    assert "PAST_CONVERSATIONS" not in first
    assert "I moved to Lisbon" in last
    assert "Porto" not in last


def test_a_session_that_is_added_again_is_stored_once(service: str) -> None:
    user = f"Zoë@example.org/{uuid4().hex}"

    async def program(client: AsyncClient) -> Any:
        memory = PalimpsestMemoryService(client, agent=lambda app_name, user_id: user_id)
        said = Content(role="user", parts=[Part(text="I live in Porto.")])
        events = [Event(author="user", content=said), Event(author="desk")]
        session = Session(id="12", app_name=APP, user_id=user, events=events)
        for _ in range(2):
            await memory.add_session_to_memory(session)
        client = client.agent(quote(user, safe="/@"))
        facts = [one async for one in client.list_memories()]
        return events[0], facts, [one["total"] async for one in client.list_captures()]

    event, [fact], totals = run(service, program)
    assert (fact["content"], fact["session_id"]) == ("I live in Porto", "12")
    assert abs(datetime.fromisoformat(fact["said_at"]).timestamp() - event.timestamp) < 0.001
    assert sum(totals) == 1


def test_facts_are_added_found_and_deleted_by_their_ids(service: str) -> None:
    scope = {"app_name": APP, "user_id": uuid4().hex}

    async def program(client: AsyncClient) -> tuple[Any, Any]:
        memory = PalimpsestMemoryService(client)
        content = Content(role="user", parts=[Part(text="I play the cello")])
        entry = MemoryEntry(content=content, timestamp="2024-05-01", custom_metadata={"from": "x"})
        await memory.add_memory(**scope, memories=[entry])
        found = await memory.search_memory(**scope, query="Which instrument do I play?")
        await memory.delete_memory(**scope, memory_id=found.memories[0].id)
        return found, await memory.search_memory(**scope, query="Which instrument do I play?")

    found, after = run(service, program)
    [cello] = found.memories
    assert cello.content.parts[0].text == "I play the cello"
    assert cello.timestamp.startswith("2024-05-01")
    assert after.memories == []
