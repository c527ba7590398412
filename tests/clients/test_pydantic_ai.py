"""Pydantic AI's capability on the client, with a scripted model, against the real service."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

import pytest

from palimpsest_client import AsyncClient
from support.examples import run_example

pytest.importorskip("pydantic_ai.capabilities", reason="pip install pydantic-ai-slim")

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from palimpsest_pydantic_ai import PalimpsestMemory

Program = Callable[[AsyncClient], Awaitable[Any]]


class Script:
    """A model that answers a line a request, and notes what it was sent."""

    def __init__(self, *answers: TextPart | ToolCallPart) -> None:
        self.answers = list(answers)
        self.requests: list[str] = []
        self.tools: list[str] = []

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.requests.append(repr(messages))
        self.tools = [tool.name for tool in info.function_tools]
        return ModelResponse(parts=[self.answers.pop(0) if self.answers else TextPart("I see.")])


def run(service: str, program: Program) -> Any:
    async def use() -> Any:
        async with AsyncClient(service, agent=f"pydantic-{uuid4().hex}") as client:
            return await program(client)

    return asyncio.run(use())


def test_the_example_of_the_readme(service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script()
    run_example("pydantic_ai", FunctionModel(script), service, monkeypatch)
    first, _, last = script.requests
    assert "memory context" not in first
    assert "I moved to Lisbon" in last
    assert "Porto" not in last


def test_a_conversation_is_a_session_and_its_history_lacks_the_memory(service: str) -> None:
    async def program(client: AsyncClient) -> Any:
        await client.store("I live in Porto")
        agent = Agent(FunctionModel(Script()), capabilities=[PalimpsestMemory(client)])
        first = await agent.run("Where do I live?", conversation_id="chat 12")
        second = await agent.run("And since when?", message_history=first.all_messages())
        captures = [one async for one in client.list_captures()]
        return second.all_messages(), [(one["session_id"], one["total"]) for one in captures]

    history, captures = run(service, program)
    assert "Porto" not in repr(history)
    assert captures == [("chat 12", 2)] * 2


def test_the_model_searches_the_memory_as_of_a_day(service: str) -> None:
    call = ToolCallPart("search_memory", {"question": "Where do I live?", "as_of": "2021-06-01"})
    script = Script(call)

    async def program(client: AsyncClient) -> None:
        await client.store("I live in Porto", key="home", value="Porto", valid_from="2020-01-01")
        await client.store("I live in Oslo", key="home", value="Oslo", valid_from="2026-01-05")
        agent = Agent(FunctionModel(script), capabilities=[PalimpsestMemory(client)])
        await agent.run("Where did I live in 2021?")

    run(service, program)
    assert script.tools == ["search_memory"]
    question, answer = script.requests
    assert "I live in Oslo" in question
    assert "I live in Porto" not in question
    assert "['I live in Porto']" in answer


def test_each_user_has_a_memory(service: str) -> None:
    script = Script()

    async def program(client: AsyncClient) -> None:
        memory = PalimpsestMemory[str](client, user=lambda ctx: f"{uuid}/{ctx.deps}")
        agent = Agent(FunctionModel(script), deps_type=str, capabilities=[memory])
        await agent.run("I live in Porto.", deps="Zoë Ada")
        await asyncio.gather(
            agent.run("Where do I live?", deps="Zoë Ada"),
            agent.run("Where do I live, then?", deps="bob"),
        )

    uuid = uuid4().hex
    run(service, program)
    zoe, bob = sorted(script.requests[1:], key=lambda one: "then" in one)
    assert "I live in Porto" in zoe
    assert "Porto" not in bob
