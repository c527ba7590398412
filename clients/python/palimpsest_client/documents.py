"""JSON documents as facts: what the adapters for frameworks share.

A document has a slot of its own (entity, category and key), so each write is a new version of it,
and never touches another. The functions speak to no service: each is a generator that yields calls
and is sent their answers, so that it serves `Client`, by `run`, and `AsyncClient`, by `run_async`.
"""

import json
import math
import re
import unicodedata
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes
from uuid import uuid4

from palimpsest_client.client import AsyncClient, Client
from palimpsest_client.errors import Conflict, NotFound, PalimpsestError

Result = TypeVar("Result")
Call = Callable[[Any], Any]
Steps = Generator[Call, Any, Result]

MAX_TEXT = 16_000  # characters of a text
MAX_ITEMS = 1_000  # of a batch, and of a page
_MAX_DEPTH = 8
_MAX_VALUES = 2_000
_MAX_TRIES = 10

# What `details` cannot hold as it is stands there as JSON text, in parts under this name.
_PARTS = "json_parts"
PACKED: dict[str, Any] = {_PARTS: []}  # what such `details` contain
_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")


class NotWritten(Exception):
    """The service wrote nothing: what was sent waits for a person."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """A JSON object to write. `content` is what searches find, and contexts show."""

    entity: str
    category: str
    key: str
    value: Mapping[str, Any]
    content: str
    tags: Sequence[str] = ()
    importance: float | None = None

    def build_item(self) -> dict[str, Any]:
        """Return the store request.

        Only the rule of the slot judges: no other fact ends by it. Its value is new each time:
        writing the same again is a version too.
        """
        item = {
            "content": self.content,
            "entity": self.entity,
            "category": self.category,
            "key": self.key,
            "value": uuid4().hex,
            "details": pack_value(self.value),
            "tags": list(self.tags),
            "importance": self.importance,
            "classify": "rules",
            "read_dates": False,
        }
        return {name: value for name, value in item.items() if value is not None}


# --- running ------------------------------------------------------------------------------------


def run(steps: Steps[Result], client: Client) -> Result:
    """Carry out the steps by a client and return their result."""
    try:
        call = next(steps)
        while True:
            try:
                answer = call(client)
            except PalimpsestError as problem:
                call = steps.throw(problem)
            else:
                call = steps.send(answer)
    except StopIteration as end:
        result: Result = end.value
        return result


async def run_async(steps: Steps[Result], client: AsyncClient) -> Result:
    """Carry out the steps by a client and return their result."""
    try:
        call = next(steps)
        while True:
            try:
                answer = await call(client)
            except PalimpsestError as problem:
                call = steps.throw(problem)
            else:
                call = steps.send(answer)
    except StopIteration as end:
        result: Result = end.value
        return result


# --- writing ------------------------------------------------------------------------------------


def write_documents(documents: Sequence[Document]) -> Steps[list[Any]]:
    """Write a version of each document, and return them as memories.

    Up to MAX_ITEMS are written together or not at all. Raise NotWritten if the agent is frozen.
    """
    memories: list[Any] = []
    for start in range(0, len(documents), MAX_ITEMS):
        answer = yield _store_call(documents[start : start + MAX_ITEMS])
        memories += [_get_memory(result) for result in answer["results"]]
    return memories


def _store_call(documents: Sequence[Document]) -> Call:
    items = [document.build_item() for document in documents]
    return lambda client: client.store_batch(items, atomic=True)


def _get_memory(result: Mapping[str, Any]) -> Any:
    memory = result.get("memory")
    if memory is None:
        raise NotWritten(
            "The agent is frozen: nothing was written, and the change waits as a review. "
            "Make it live again (PATCH /v1/agents/{agent_id}), or accept the review."
        )
    return memory


def retract_documents(**filters: Any) -> Steps[list[Any]]:
    """End all that holds and passes these filters, and return it. Its history stays."""
    ended: list[Any] = []
    for _ in range(_MAX_TRIES):
        memories = yield from collect_memories(filters, _take)
        if not memories:
            return ended
        for memory in memories:
            if (yield from _retract(memory["id"])):
                ended.append(memory)
    raise RuntimeError("Others write what is to be deleted all the time; delete it again.")


def _retract(memory_id: str) -> Steps[bool]:
    """Return False if the memory had changed: it has to be read again then."""
    try:
        yield lambda client: client.retract(memory_id)
    except (Conflict, NotFound):
        return False
    return True


# --- reading ------------------------------------------------------------------------------------


def collect_memories(
    filters: Mapping[str, Any],
    pick: Callable[[Any], Result | None],
    *,
    most: int | None = None,
) -> Steps[list[Result]]:
    """Return what `pick` makes of the memories that pass the filters, newest known first.

    Those of which it makes None are left out. All are read, unless `most` are enough.
    """
    size = MAX_ITEMS if most is None else min(MAX_ITEMS, max(most, 100))
    picked: list[Result] = []
    cursor = None
    while most is None or len(picked) < most:
        page = yield _list_page(filters, cursor, size)
        picked += [one for one in map(pick, page["items"]) if one is not None]
        cursor = page["next_cursor"]
        if not cursor:
            break
    return picked[:most]


def _take(memory: Any) -> Any:
    return memory


def _list_page(filters: Mapping[str, Any], cursor: str | None, size: int) -> Call:
    return lambda client: client.list_memories(**filters, limit=size, cursor=cursor).page()


def find_memory(*, entity: str, category: str, key: str) -> Steps[Any]:
    """Return the version that holds, or None. In shadow mode several may: then the newest."""
    slot = {"entity": entity, "category": category, "key": key}
    memories = yield from collect_memories(slot, _take, most=1)
    return memories[0] if memories else None


def list_versions(*, entity: str, category: str, key: str) -> Steps[list[Any]]:
    """Return every version, the oldest known first."""
    slot = {"entity": entity, "category": category, "key": key}
    versions = yield from collect_memories({**slot, "include_superseded": True}, _take)
    return versions[::-1]


# --- texts and values ---------------------------------------------------------------------------


def escape_word(word: str) -> str:
    """Return the word as one that is another for every other word, and decodes to it.

    The service compares words of a slot folded: "Ada" and "ada" would be one. Letters that fold to
    others, spaces and most marks become percent and the hex digits of their UTF-8.
    """
    escaped = "".join(c if _stays(c) else _escape(c) for c in word)
    if fold(escaped) == escaped:
        return escaped
    return "".join(c if _stays(c) and c.isascii() else _escape(c) for c in word)


def unescape_word(word: str) -> str:
    return unquote_to_bytes(word).decode("utf-8", "surrogatepass")


def _stays(character: str) -> bool:
    return character in "-_." or (character.isalnum() and fold(character) == character)


def _escape(character: str) -> str:
    return "".join(f"%{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))


def fold(text: str) -> str:
    """Return the text as the service compares words: with case and width folded."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", folded)


def build_content(texts: Iterable[str], otherwise: str) -> str:
    """Return the texts as one that the service takes: `otherwise` if nothing of it can be seen."""
    joined = _NOT_STORABLE.sub("\ufffd", "\n".join(texts)).strip()[:MAX_TEXT]
    is_visible = any(unicodedata.category(c)[0] in "LNPS" for c in joined)
    return joined if is_visible else otherwise


def pack_value(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value as `details`: as it is, or as parts of its JSON if `details` cannot hold it.

    Raise TypeError if it is no JSON.
    """
    text = json.dumps(value)
    plain: dict[str, Any] = json.loads(text)
    if _PARTS not in plain and is_storable(plain):
        return plain
    return {_PARTS: [text[at : at + MAX_TEXT] for at in range(0, len(text), MAX_TEXT)]}


def is_storable(value: dict[str, Any]) -> bool:
    """Return True if `details` can hold the value as it is."""
    return _count_values(value) < _MAX_VALUES and _fits(value, 1)


def unpack_value(details: Mapping[str, Any]) -> dict[str, Any]:
    value: dict[str, Any] = dict(details)
    return json.loads("".join(value[_PARTS])) if _PARTS in value else value


def _count_values(value: Any) -> int:
    inner = _list_inner_values(value)
    return len(inner) + sum(map(_count_values, inner))


def _fits(value: Any, depth: int) -> bool:
    """Return True if the service takes the value in `details` at this depth."""
    if depth > _MAX_DEPTH:
        return False
    match value:
        case str():
            return len(value) <= MAX_TEXT and not _NOT_STORABLE.search(value)
        case int():
            return abs(value) < 10**30
        case float():
            return math.isfinite(value)
        case dict() if not all(_fits(name, depth) for name in value):
            return False
    return all(_fits(inner, depth + 1) for inner in _list_inner_values(value))


def _list_inner_values(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
