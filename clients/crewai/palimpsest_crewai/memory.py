"""CrewAI's memory on a client."""

import re
from typing import Any, Literal

from crewai.memory.types import MemoryMatch, MemoryRecord
from crewai.memory.unified_memory import Memory
from crewai.memory.utils import join_scope_paths

from palimpsest_client import Client
from palimpsest_crewai.storage import PalimpsestStorage

# How CrewAI writes what an agent was asked to do, before what came of it.
_ASKED = re.compile(r"\A(?:Task|Input): (.*?)\nAgent: ", re.DOTALL)


class PalimpsestMemory(Memory):
    """CrewAI's Memory whose facts are stored and recalled by the service, without a model.

    Facts in what the agents are asked are read by the service. With `llm`, that model reads them,
    and those in results too, as in CrewAI's own memory.
    """

    def __init__(self, client: Client, **options: Any) -> None:
        """Choose the client, whose agent holds the memory, and CrewAI's options of a memory."""
        super().__init__(storage=PalimpsestStorage(client), **options)

    @property
    def _palimpsest(self) -> PalimpsestStorage:
        assert isinstance(self._storage, PalimpsestStorage)
        return self._storage

    def extract_memories(self, content: str) -> list[str]:
        """Return the facts of a text. Nothing is stored."""
        if "llm" in self.model_fields_set:
            return super().extract_memories(content)
        asked = _ASKED.match(content)
        answer = self._palimpsest.client.capture(
            "crewai",
            [{"role": "user", "content": asked[1] if asked else content}],
            dry_run=True,
        )
        facts = [fact for message in answer["messages"] for fact in message["facts"]]
        return [fact["content"] for fact in facts if fact["content"]]

    def remember(
        self,
        content: str,
        scope: str | None = None,
        categories: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        importance: float | None = None,
        source: str | None = None,
        private: bool = False,
        agent_role: str | None = None,
        root_scope: str | None = None,
    ) -> MemoryRecord | None:
        """Store a fact, and return its record; None if this memory only reads."""
        fields = (scope, categories, metadata, importance, source, private, agent_role, root_scope)
        return next(iter(self.remember_many([content], *fields)), None)

    def remember_many(
        self,
        contents: list[str],
        scope: str | None = None,
        categories: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        importance: float | None = None,
        source: str | None = None,
        private: bool = False,
        agent_role: str | None = None,
        root_scope: str | None = None,
    ) -> list[MemoryRecord]:
        """Store facts, all or none, and return their records."""
        if self.read_only:
            return []
        root = self.root_scope if root_scope is None else root_scope
        records = [
            MemoryRecord(
                content=content,
                scope=join_scope_paths(root, scope) if root else scope or "/",
                categories=categories or [],
                metadata=metadata or {},
                importance=self.default_importance if importance is None else importance,
                source=source,
                private=private,
            )
            for content in contents
        ]
        return self._palimpsest.store(records)

    def recall(
        self,
        query: str,
        scope: str | None = None,
        categories: list[str] | None = None,
        limit: int = 10,
        depth: Literal["shallow", "deep"] = "deep",
        source: str | None = None,
        include_private: bool = False,
    ) -> list[MemoryMatch]:
        """Return the facts that hold now and answer the query, best first; `depth` changes
        nothing."""
        path = join_scope_paths(self.root_scope, scope) if self.root_scope else scope
        hits = self._palimpsest.search_text(query, path, categories, limit)
        return [
            MemoryMatch(record=record, score=score, match_reasons=["semantic"])
            for record, score in hits
            if include_private or not record.private or record.source == source
        ]

    def update(
        self,
        record_id: str,
        content: str | None = None,
        scope: str | None = None,
        categories: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        importance: float | None = None,
    ) -> MemoryRecord:
        """Put new values in the place of a record, whose history stays.

        The result has an id of its own. Raises ValueError if there is no such record.
        """
        record = self._palimpsest.get_record(record_id)
        if record is None:
            raise ValueError(f"Record not found: {record_id}")
        if self.read_only:
            return record
        values = {
            "content": content,
            "scope": scope,
            "categories": categories,
            "metadata": metadata,
            "importance": importance,
        }
        changes = {name: value for name, value in values.items() if value is not None}
        return self._palimpsest.replace(record.model_copy(update=changes))
