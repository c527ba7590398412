"""The memory and the memory block of LlamaIndex on a client."""

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field
from llama_index.core.memory import BaseMemoryBlock, Memory

from palimpsest_client import Client
from palimpsest_client.models import MessageRequest

ROLES = ("user", "assistant")


class PalimpsestMemoryBlock(BaseMemoryBlock[str]):
    """What the memory holds for the user's latest words, as text of a prompt.

    The client is the synchronous one, because LlamaIndex reads and writes from several event loops;
    its calls run in threads.
    """

    client: Client = Field(exclude=True, description="Its agent is whose memory it is.")
    budget_tokens: int = Field(default=1_000, description="The most tokens of the text.")
    name: str = "palimpsest"
    # PalimpsestMemory stores messages when they are said, not when the history overflows.
    accept_short_term_memory: bool = False

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        """Return the facts that hold now and help with the latest words of the user."""
        spoken = [message for message in messages or [] if message.role == "user"]
        query = spoken[-1].content if spoken else None
        answer = await asyncio.to_thread(
            self.client.context, query=query or None, budget_tokens=self.budget_tokens
        )
        return answer["text"]

    async def _aput(self, messages: list[ChatMessage]) -> None:
        for message in messages:
            session_id = message.additional_kwargs.get("session_id")
            await self.capture(str(session_id or self.name), [message])

    async def capture(self, session_id: str, messages: Sequence[ChatMessage]) -> None:
        """Store what the user and the assistant said, and the facts that the user stated."""
        spoken: list[MessageRequest] = [
            {"role": str(message.role.value), "content": message.content}
            for message in messages
            if message.role in ROLES and message.content and message.content.strip()
        ]
        if spoken:
            await asyncio.to_thread(self.client.capture, session_id, spoken)


class PalimpsestMemory(Memory):
    """LlamaIndex's Memory that stores each message with its Palimpsest blocks as it is put.

    LlamaIndex's own hands messages to blocks only once the history overflows, so what a short
    session said would be lost. Messages that `set` restores are not stored again.
    """

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex serializes the class."""
        return "PalimpsestMemory"

    async def aput(self, message: ChatMessage) -> None:
        """Add a message to the history, and store it."""
        await super().aput(message)
        await self._capture([message])

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        """Add messages to the history, and store them."""
        await super().aput_messages(messages)
        await self._capture(messages)

    async def _capture(self, messages: Sequence[ChatMessage]) -> None:
        for block in self.memory_blocks:
            if isinstance(block, PalimpsestMemoryBlock):
                await block.capture(self.session_id, messages)
