"""LlamaIndex's memory on the client, with a scripted model, against the real service."""

import asyncio
import gc
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from palimpsest_client import Client
from support.examples import run_example

pytest.importorskip("llama_index.core.memory", reason="pip install llama-index-core")

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM

from palimpsest_llamaindex import PalimpsestMemory, PalimpsestMemoryBlock


class ScriptedLLM(MockLLM):
    """A model that always answers the same, and notes what it was sent."""

    requests: list[str] = Field(default_factory=list)

    def chat(self, messages: Any, **options: Any) -> Any:
        self.requests.append(repr(messages))
        return super().chat([ChatMessage(role="user", content="I see.")], **options)

    async def achat(self, messages: Any, **options: Any) -> Any:
        return self.chat(messages, **options)


# LlamaIndex closes neither its chat stores nor its event loops, which say so when collected.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Collect what LlamaIndex left open where its warnings are expected."""
    yield
    gc.collect()


@pytest.fixture
def client(service: str) -> Iterator[Client]:
    """A client of the shared service, as an agent nobody else is."""
    with Client(service, agent=f"llama-{uuid4().hex}") as client:
        yield client


def open_memory(client: Client) -> PalimpsestMemory:
    block = PalimpsestMemoryBlock(client=client)
    memory = PalimpsestMemory.from_defaults(
        session_id=f"chat {uuid4().hex}",
        memory_blocks=[block],
        tokenizer_fn=str.split,  # the default one is downloaded
    )
    assert isinstance(memory, PalimpsestMemory)
    return memory


def test_the_example_of_the_readme(service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    llm = ScriptedLLM()
    agent = run_example("llamaindex", llm, service, monkeypatch)
    *_, last = llm.requests
    assert "moved to Lisbon" in last
    assert "Porto" not in last
    with Client(service, agent=agent) as client:
        sessions = [capture["session_id"] for capture in client.list_captures()]
    assert set(sessions) == {"I live in Porto.", "I moved to Lisbon.", "Where do I live?"}
    assert len(sessions) == 6  # each message is stored when it is put


def test_asynchronous_chats_share_a_memory(client: Client) -> None:
    llm = ScriptedLLM()

    async def use() -> None:
        engine = SimpleChatEngine.from_defaults(llm=llm, memory=open_memory(client))
        await engine.achat("I live in Porto.")

    for _ in range(2):
        asyncio.run(use())
    assert "I live in Porto" in llm.requests[1].partition("user")[0]


def test_a_history_that_is_restored_is_not_stored_again(client: Client) -> None:
    memory = open_memory(client)
    memory.set([ChatMessage(role="user", content="I live in Porto.")])
    assert list(client.list_captures()) == []
    asyncio.run(memory.memory_blocks[0].aput([ChatMessage(role="user", content="I like tea.")]))
    [capture] = client.list_captures()
    assert capture["session_id"] == "palimpsest"
