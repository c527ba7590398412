"""The session of OpenAI Agents on a client."""

import asyncio
import json
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from agents.memory import SessionSettings
from agents.memory.session_settings import coerce_session_settings, resolve_session_limit

from palimpsest_client import AsyncClient, Client
from palimpsest_client.documents import (
    Document,
    Result,
    Steps,
    build_content,
    collect_memories,
    escape_word,
    retract_documents,
    run,
    run_async,
    unpack_value,
    write_documents,
)

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

CATEGORY = "openai-agents"


class PalimpsestSession:
    """The history of one conversation: each item is a fact with a slot of its own.

    Items that are popped or cleared are retracted: they end, and `at` still reads them.
    """

    def __init__(
        self,
        session_id: str,
        client: Client | AsyncClient,
        *,
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        """Choose the conversation, and the client: its agent holds the history.

        Give histories an agent of their own, so that no context of the user's facts shows them. An
        AsyncClient serves one event loop, a Client any: with `Runner.run_sync` it has to be that.
        """
        self.session_id = session_id
        self.session_settings: SessionSettings | None = coerce_session_settings(
            session_settings or SessionSettings()
        )
        self._client = client
        # No text names such an entity, so no fact of another source ends an item.
        self._slot = {"entity": f"{CATEGORY}:{escape_word(session_id)}", "category": CATEGORY}

    def at(self, **times: Any) -> Self:
        """Return a view of the session `as_of` a time, or as it was `known_at` one: to read."""
        return type(self)(
            self.session_id,
            self._client.at(**times),
            session_settings=self.session_settings,
        )

    async def get_items(self, limit: int | None = None) -> list["TResponseInputItem"]:
        """Return the newest items, all without a limit, the oldest of them first."""
        most = resolve_session_limit(limit, self.session_settings)
        if most is not None and most <= 0:
            return []
        items = await self._run(collect_memories(self._slot, _read_item, most=most))
        return items[::-1]

    async def add_items(self, items: list["TResponseInputItem"]) -> None:
        """Add items at the end: up to a thousand at once, or none of them."""
        await self._run(write_documents([self._build_document(item) for item in items]))

    def _build_document(self, item: Any) -> Document:
        return Document(
            **self._slot,
            key=uuid4().hex,
            value=item,
            content=build_content([_read_text(item)], otherwise="(nothing)"),
            importance=0.0,  # a context shows it last
        )

    async def pop_item(self) -> "TResponseInputItem | None":
        """Retract the newest item and return it; None if there is none."""
        while True:
            newest = await self._run(collect_memories(self._slot, lambda memory: memory, most=1))
            if not newest:
                return None
            # Another call may have popped it in the meantime: then the next one is the newest.
            slot = {**self._slot, "key": newest[0]["key"]}
            if await self._run(retract_documents(**slot)):
                popped: TResponseInputItem = _read_item(newest[0])
                return popped

    async def clear_session(self) -> None:
        """Retract every item."""
        await self._run(retract_documents(**self._slot))

    async def _run(self, steps: Steps[Result]) -> Result:
        if isinstance(self._client, AsyncClient):
            return await run_async(steps, self._client)
        return await asyncio.to_thread(run, steps, self._client)


def _read_item(memory: Any) -> Any:
    return unpack_value(memory["details"])


def _read_text(item: Any) -> str:
    """Return the words of a message; of other items, such as a tool's call, their JSON."""
    content = item.get("content")
    if isinstance(content, list):
        content = "\n".join(part["text"] for part in content if isinstance(part.get("text"), str))
    return content if isinstance(content, str) and content else json.dumps(item)
