"""The records of CrewAI's memory as facts of a client."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any, Self

from crewai.memory.types import MemoryRecord, ScopeInfo

from palimpsest_client import Client, NotFound
from palimpsest_client.models import MemoryOut, StoreRequest

TAG = "crewai"
_OWN = "crewai"  # the part of the details that says what CrewAI says of a record


class PalimpsestStorage:
    """CrewAI's storage of records: each is a fact, and a scope is a tag for each part of its path.

    It searches by text, not by vectors of CrewAI's embedder: `PalimpsestMemory` asks it so.
    """

    def __init__(self, client: Client) -> None:
        """Choose the client; its agent holds the memory."""
        self.client = client

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # crews are copied with their memory, and connections cannot be

    def store(self, records: list[MemoryRecord]) -> list[MemoryRecord]:
        """Store records, all or none, and return them with their ids here.

        One that says what has changed ends the fact that it changes.
        """
        if not records:
            return []
        items = [build_item(record) for record in records]
        results: list[Any] = self.client.store_batch(items, atomic=True)["results"]
        return [build_record(one["memory"]) for one in results if one["memory"]]

    def replace(self, record: MemoryRecord) -> MemoryRecord:
        """Put a record in the place of the fact with its id, and return it with a new one."""
        fields: dict[str, Any] = {**build_item(record)}
        memory = self.client.supersede(record.id, **fields)["memory"]
        assert memory, "a successor is a memory"
        return build_record(memory)

    def search_text(
        self, query: str, scope_prefix: str | None, categories: list[str] | None, limit: int
    ) -> list[tuple[MemoryRecord, float]]:
        """Return the facts that hold now and answer the query, best first, with scores 0 to 1."""
        tags = [] if scope_prefix in (None, "/") else _list_tags(scope_prefix)[-1:]
        answer = self.client.search(query, tags_all=tags, tags_any=categories, limit=limit)
        return [(build_record(hit["memory"]), hit["score"]) for hit in answer["results"]]

    def search(
        self, query_embedding: list[float], *_: Any, **__: Any
    ) -> list[tuple[MemoryRecord, float]]:
        """Refuse a search by a vector of another encoder."""
        raise NotImplementedError("Palimpsest searches by text: use PalimpsestMemory.recall")

    def save(self, records: list[MemoryRecord]) -> None:
        """Store records."""
        self.store(records)

    def update(self, record: MemoryRecord) -> None:
        """Put a record in the place of the fact with its id."""
        self.replace(record)

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Retract the records, and return how many. Without ids, those that CrewAI saved."""
        chosen = [
            record.id
            for record in self._list(scope_prefix, categories, record_ids)
            if (older_than is None or record.created_at < older_than)
            and (metadata_filter or {}).items() <= record.metadata.items()
        ]
        for record_id in chosen:
            self.client.retract(record_id)
        return len(chosen)

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """Return a record, None if there is none."""
        try:
            return build_record(self.client.get_memory(record_id))
        except NotFound:
            return None

    def list_records(
        self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        """Return the records of a scope, newest first."""
        return list(islice(self._list(scope_prefix), offset, offset + limit))

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Return what a scope and those below it hold."""
        records = list(self._list(scope))
        times = [record.created_at for record in records]
        return ScopeInfo(
            path=scope,
            record_count=len(records),
            categories=sorted({name for record in records for name in record.categories}),
            oldest_record=min(times, default=None),
            newest_record=max(times, default=None),
            child_scopes=self.list_scopes(scope),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """Return the paths one part below the parent."""
        start = parent.rstrip("/") + "/"
        below = [one.scope for one in self._list(parent) if one.scope.startswith(start)]
        names = {scope.removeprefix(start).partition("/")[0] for scope in below} - {""}
        return sorted(start + name for name in names)

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """Return how many records of a scope each category has."""
        return dict(Counter(name for one in self._list(scope_prefix) for name in one.categories))

    def count(self, scope_prefix: str | None = None) -> int:
        """Return how many records a scope holds."""
        return sum(1 for _ in self._list(scope_prefix))

    def reset(self, scope_prefix: str | None = None) -> None:
        """Retract what CrewAI saved in a scope. Facts of other sources stay."""
        self.delete(scope_prefix)

    async def asave(self, records: list[MemoryRecord]) -> None:
        """Do what `save` does, in a thread."""
        await asyncio.to_thread(self.save, records)

    async def asearch(
        self, query_embedding: list[float], *_: Any, **__: Any
    ) -> list[tuple[MemoryRecord, float]]:
        """Refuse a search by a vector of another encoder."""
        return self.search(query_embedding)

    async def adelete(self, *words: Any, **choice: Any) -> int:
        """Do what `delete` does, in a thread."""
        return await asyncio.to_thread(lambda: self.delete(*words, **choice))

    def _list(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
    ) -> Iterator[MemoryRecord]:
        tags = [*([] if record_ids else [TAG]), *_list_tags(scope_prefix or "/")[-1:]]
        pages = self.client.list_memories(tags_all=tags, tags_any=categories, ids=record_ids)
        return (build_record(memory) for memory in pages)


def build_item(record: MemoryRecord) -> StoreRequest:
    """Return the fact of a record."""
    own = record.model_dump(include={"scope", "categories", "metadata", "private"}, mode="json")
    return {
        "content": record.content,
        "importance": record.importance,
        "source": record.source,
        "tags": [TAG, *_list_tags(record.scope), *record.categories],
        "details": {_OWN: own},
    }


def build_record(memory: MemoryOut) -> MemoryRecord:
    """Return the record of a fact, which another source may have stored."""
    own: dict[str, Any] = memory["details"].get(_OWN, {})
    return MemoryRecord(
        id=memory["id"],
        content=memory["content"] or "",
        importance=memory["importance"],
        source=memory["source"],
        created_at=datetime.fromisoformat(memory["created_at"]),
        **own,
    )


def _list_tags(scope: str) -> list[str]:
    """Return a tag for each part of a path: of `/a/b`, those of `/a` and `/a/b`."""
    parts = [part for part in scope.split("/") if part]
    return ["/".join([f"{TAG}:", *parts[: place + 1]]) for place in range(len(parts))]
