"""Supermemory: lists of memories, and of documents with the memories read from them."""

from collections.abc import Iterator

from app.importers.documents import Document, Placed, list_objects
from app.importers.facts import (
    Reading,
    SourceFact,
    UnreadableRecord,
    check_interval,
    pick_fields,
    read_text,
    read_time,
)

NAME = "supermemory"

_MARKS = {"isLatest", "isForgotten", "isStatic", "spaceId", "version"}
_DETAILS = ("documentId", "forgetReason", "isInference", "metadata", "sourceCount")


def matches(document: Document) -> bool:
    """Return True if the file looks like one of Supermemory."""
    return any(_is_memory(record) for record, _ in _list_records(document))


def read(document: Document) -> Reading:
    """Return the memories, each with its versions. Documents are left out."""
    reading, origins = Reading(), set()
    for record, owner in _list_records(document):
        with reading.leave_out_unreadable(record.line, f"memory {record.get('id')}"):
            if not _is_memory(record):
                raise UnreadableRecord("it is no memory, but a document or a part of one")
            for fact in _read_versions(record, owner):
                # A memory stands below each document that it was read from.
                if fact.origin not in origins:
                    origins.add(fact.origin)
                    reading.facts.append(fact)
    return reading


def _list_records(document: Document) -> Iterator[tuple[Placed, str]]:
    """Yield each memory with the space that it is in, and each other record."""
    for one in document.list_records("memoryEntries", "documents", "memories", "results"):
        if "memoryEntries" not in one:
            yield one, _find_owner(one)
        for memory in list_objects(one.get("memoryEntries")):
            yield memory, _find_owner(memory) or _find_owner(one)


def _find_owner(record: Placed) -> str:
    tags = record.get("containerTags")
    tag = tags[0] if isinstance(tags, list) and tags else None
    return str(record.get("spaceContainerTag") or record.get("containerTag") or tag or "")


def _is_memory(record: Placed) -> bool:
    return isinstance(record.get("memory"), str) and bool(_MARKS & record.keys())


def _read_versions(record: Placed, owner: str) -> Iterator[SourceFact]:
    """Yield the memory and the versions before it, which make a chain."""
    if not record.get("id"):
        raise UnreadableRecord("it has no id")
    history = list_objects(record.get("history"))
    earlier = [one for one in history if one.get("id") not in (None, record["id"])]
    is_chained = bool(earlier or record.get("rootMemoryId") or record.get("isLatest") is False)
    roots = (record.get("rootMemoryId"), *(one["id"] for one in earlier[:1]), record["id"])
    chain = str(next(root for root in roots if root)) if is_chained else None
    for one in (*earlier, record):
        yield _read_memory(one, chain, owner, is_static=bool(record.get("isStatic")))


def _read_memory(record: Placed, chain: str | None, owner: str, *, is_static: bool) -> SourceFact:
    """Return a version: a forgotten one ends when it was changed last."""
    learned, updated = read_time(record, "createdAt"), read_time(record, "updatedAt")
    is_forgotten = bool(record.get("isForgotten"))
    end = updated if is_forgotten else read_time(record, "forgetAfter")
    check_interval(learned, end)
    return SourceFact(
        line=record.line,
        origin=str(record["id"]),
        content=read_text(record, "memory"),
        learned_at=learned or updated,
        valid_until=end,
        end_learned_at=end if is_forgotten else None,
        chain=chain,
        owner=owner,
        words={"tier": "core"} if is_static else {},
        details=pick_fields(record, _DETAILS),
    )
