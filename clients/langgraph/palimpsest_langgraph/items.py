"""Items of the store as memories of the service, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from langgraph.store.base import (
    Item,
    PutOp,
    SearchItem,
    get_text_at_path,
)

from palimpsest_client.documents import (
    Document,
    build_content,
    escape_word,
    unescape_word,
    unpack_value,
)

CATEGORY = "langgraph"
# No text names such an entity, and the service lets a fact end only facts of its own entity or of
# one that its text names.
_ROOT = "langgraph:"
INDEXED = "langgraph#indexed"
_TTL = "langgraph#ttl="


@dataclass(frozen=True)
class ItemVersion:
    """One version of an item: its value, when that held, and since when it was known.

    `valid_until` is None while it holds. `status` is the service's word: `current`, `superseded`,
    `retracted`, `expired` and others. `value` is None if the version was erased.
    """

    id: str
    value: dict[str, Any] | None
    valid_from: datetime
    valid_until: datetime | None
    known_at: datetime
    status: str


def name_entity(namespace: Sequence[str]) -> str:
    """Return the entity of a namespace. It is also the tag of everything in or below it."""
    return _ROOT + "/".join(map(escape_word, namespace))


def build_slot(namespace: Sequence[str], key: str) -> dict[str, Any]:
    return {"entity": name_entity(namespace), "category": CATEGORY, "key": escape_word(key)}


def build_document(op: PutOp, fields: Sequence[str]) -> Document:
    """Return the item as a document, found by the texts in the fields that the put names."""
    value = dict(op.value or {})
    slot = build_slot(op.namespace, op.key)
    texts = (
        [] if op.index is False else _list_texts(value, fields if op.index is None else op.index)
    )
    path = f"{slot['entity']}/{slot['key']}"
    content = build_content(texts, otherwise=path)
    tags = [name_entity(op.namespace[:end]) for end in range(1, len(op.namespace) + 1)]
    if content != path:
        tags.append(INDEXED)
    if op.ttl is not None:
        tags.append(f"{_TTL}{op.ttl}")
    return Document(**slot, value=value, content=content, tags=tags)


def _list_texts(value: dict[str, Any], fields: Sequence[str]) -> list[str]:
    texts: list[str] = []
    for field in fields:
        texts += get_text_at_path(value, field)
    return texts


def filter_prefix(namespace: Sequence[str]) -> dict[str, Any]:
    """Return the service's filters for everything in or below a namespace."""
    within = {"tags_all": [name_entity(namespace)]} if namespace else {}
    return {"category": CATEGORY, **within}


def build_item(memory: Mapping[str, Any]) -> Item:
    return Item(**_list_fields(memory))


def build_search_item(memory: Mapping[str, Any], score: float | None = None) -> SearchItem:
    return SearchItem(**_list_fields(memory), score=score)


def build_version(memory: Mapping[str, Any]) -> ItemVersion:
    until = memory["valid_until"]
    return ItemVersion(
        id=memory["id"],
        value=None if memory["content"] is None else unpack_value(memory["details"]),
        valid_from=read_time(memory["valid_from"]),
        valid_until=None if until is None else read_time(until),
        known_at=read_time(memory["created_at"]),
        status=memory["status"],
    )


def _list_fields(memory: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "value": unpack_value(memory["details"]),
        "key": unescape_word(memory["key"]),
        "namespace": read_namespace(memory),
        "created_at": _read_first_time(memory),
        "updated_at": read_time(memory["created_at"]),
    }


def read_namespace(memory: Mapping[str, Any]) -> tuple[str, ...]:
    words = memory["entity"].removeprefix(_ROOT).split("/")
    return tuple(map(unescape_word, words))


def read_ttl(memory: Mapping[str, Any]) -> float | None:
    """Return for how many minutes the item lives from its last use, None if for ever."""
    for tag in memory["tags"]:
        if tag.startswith(_TTL):
            return float(tag.removeprefix(_TTL))
    return None


def read_time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _read_first_time(memory: Mapping[str, Any]) -> datetime:
    """Return when the first version was written: its id, a UUIDv7, begins with that time."""
    milliseconds = UUID(memory["chain_id"]).int >> 80
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
