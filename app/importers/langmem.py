"""LangMem: items of a LangGraph store, as `Item.dict()` writes them."""

from collections.abc import Mapping
from typing import Any

from app.importers.documents import Document, Placed
from app.importers.facts import (
    Reading,
    SourceFact,
    UnreadableRecord,
    check_text,
    drop_empty,
    read_time,
)

NAME = "langmem"

_LISTS = ("items", "results", "memories")
_TEXTS = ("content", "memory", "text", "data")


def matches(document: Document) -> bool:
    """Return True if the file looks like items of a store."""
    return any(_is_item(record) for record in document.list_records(*_LISTS))


def read(document: Document) -> Reading:
    """Return a fact for each item."""
    reading = Reading()
    for record in document.list_records(*_LISTS):
        with reading.leave_out_unreadable(record.line, f"item {record.get('key')}"):
            if not _is_item(record):
                raise UnreadableRecord("it has no namespace, key and value")
            reading.facts.append(_read_item(record))
    changed = sum("created_at" in fact.details for fact in reading.facts)
    if changed:
        reading.notes.append(
            f"Changed after they were made: {changed} items. A store does not say what they "
            "said before."
        )
    return reading


def _is_item(record: Placed) -> bool:
    has_value = isinstance(record.get("value"), dict) and "key" in record
    return has_value and isinstance(record.get("namespace"), str | list)


def _read_item(record: Placed) -> SourceFact:
    """Return the item as it is now: that value was known from its last change on."""
    namespace = record["namespace"]
    place = namespace if isinstance(namespace, str) else "/".join(map(str, namespace))
    created = read_time(record, "created_at")
    learned = read_time(record, "updated_at", "created_at")
    is_changed = created is not None and learned is not None and learned > created
    details = {
        "namespace": namespace,
        "value": record["value"],
        "created_at": created.isoformat() if created and is_changed else None,
    }
    return SourceFact(
        line=record.line,
        origin=f"{place}/{record['key']}",
        content=check_text(_write_value(record["value"])),
        learned_at=learned,
        owner=place,
        details=drop_empty(details),
    )


def _write_value(value: Mapping[str, Any]) -> str:
    """Return the text of a value: its content, else its fields in a line.

    LangMem writes `{"kind": …, "content": {…}}`, where the inner content follows a schema.
    """
    inner = value.get("content") if "kind" in value else value
    if isinstance(inner, str):
        return _require_text(inner)
    fields = inner if isinstance(inner, dict) else value
    for name in _TEXTS:
        if isinstance(fields.get(name), str):
            return _require_text(fields[name])
    words = [f"{name}: {word}" for name, word in fields.items() if word not in (None, "")]
    return _require_text("; ".join(words))


def _require_text(text: str) -> str:
    if not text.strip():
        raise UnreadableRecord("its value has no text")
    return text.strip()
