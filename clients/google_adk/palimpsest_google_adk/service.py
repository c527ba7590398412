"""The memory service of Google ADK on a client."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import quote

from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.genai.types import Content, Part

from palimpsest_client import AsyncClient
from palimpsest_client.models import MessageRequest, StoreRequest

if TYPE_CHECKING:
    from google.adk.events.event import Event
    from google.adk.sessions.session import Session

_PLAIN = ";,/?:@&=+$!*'()#"  # stand in the name of an agent as they are
MAX_MESSAGES, MAX_CHARACTERS = 200, 100_000  # of one call


def name_agent(app_name: str, user_id: str) -> str:
    """Return the agent that holds the memory of a user of an app, as ADK keeps users apart."""
    return f"{app_name}/{user_id}"


class PalimpsestMemoryService(BaseMemoryService):
    """What users state in sessions becomes facts, and a search answers those that hold.

    `preload_memory` and `load_memory` of ADK read it.
    """

    def __init__(
        self,
        client: AsyncClient,
        *,
        agent: Callable[[str, str], str] = name_agent,
        budget_tokens: int = 1_000,
    ) -> None:
        """Choose the client, and how app and user name the agent that holds the memory.

        `lambda app_name, user_id: user_id` gives all apps one memory of a user. A search answers
        facts of at most `budget_tokens`.
        """
        self._client = client
        self._name_agent = agent
        self._budget_tokens = budget_tokens

    def _see(self, app_name: str, user_id: str) -> AsyncClient:
        return self._client.agent(quote(self._name_agent(app_name, user_id), safe=_PLAIN))

    async def add_session_to_memory(self, session: "Session") -> None:
        """Store the messages of a session. Those that are stored already stay as they are."""
        await self.add_events_to_memory(
            app_name=session.app_name,
            user_id=session.user_id,
            events=session.events,
            session_id=session.id,
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: "Sequence[Event]",
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store the messages of events, and the facts that the user stated in them."""
        client = self._see(app_name, user_id)
        for messages in _split_calls(events):
            await client.capture(session_id or app_name, messages)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store facts as they are, all of them or none."""
        items: list[StoreRequest] = [
            {"content": text, "said_at": entry.timestamp, "details": entry.custom_metadata}
            for entry in memories
            if (text := _read_text(entry.content))
        ]
        if items:
            await self._see(app_name, user_id).store_batch(items, atomic=True)

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Return the facts that hold now and help with the query, most useful first."""
        answer = await self._see(app_name, user_id).context(
            query=query or None, budget_tokens=self._budget_tokens
        )
        memories = [item["memory"] for items in answer["items"].values() for item in items]
        return SearchMemoryResponse(
            memories=[
                MemoryEntry(
                    id=memory["id"],
                    content=Content(role="user", parts=[Part(text=memory["content"])]),
                    timestamp=memory["valid_from"],
                )
                for memory in memories
            ]
        )

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Retract a fact: it is not answered any more, and its history stays."""
        if memory_id is None:
            raise ValueError("memory_id: give the id of a memory, as `search_memory` answers it")
        await self._see(app_name, user_id).retract(memory_id)


def _split_calls(events: "Sequence[Event]") -> Iterator[list[MessageRequest]]:
    """Yield the messages of the events in parts that one call takes."""
    part: list[MessageRequest] = []
    size = 0
    for event in events:
        text = _read_text(event.content)
        if not text or event.partial:
            continue
        if part and (len(part) == MAX_MESSAGES or size + len(text) > MAX_CHARACTERS):
            yield part
            part, size = [], 0
        role = "user" if event.author == "user" else "assistant"
        at = datetime.fromtimestamp(event.timestamp, UTC)
        part.append({"id": event.id, "role": role, "content": text, "at": at})
        size += len(text)
    if part:
        yield part


def _read_text(content: Content | None) -> str:
    """Return the text of a content, without the thoughts of the model."""
    parts = (content.parts if content else None) or []
    return "\n".join(part.text for part in parts if part.text and not part.thought).strip()
