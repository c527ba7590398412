"""What each call of mem0 asks of the service."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from app.mem0.owners import Unsupported, find_ids, name_memory, name_session
from app.mem0.parameters import Addition, Filter
from app.mem0.schemas import Question, Update
from app.mem0.shapes import shape_event, shape_history, shape_hit, shape_memory
from palimpsest_client import AsyncClient, Conflict, Gone, NotFound, PalimpsestError

# Of messages: longer calls are read later, when nobody can add metadata to their facts.
_MOST_MESSAGES = 40
_MOST_CHARACTERS = 20_000
_LARGEST_PAGE = 1_000
_DEFAULT_HITS = 10
# What a call meets if another one has changed the memory since it was read.
_CHANGED = (Conflict, Gone, NotFound)


class Room:
    """The bytes that the items of one answer may take. One item always fits."""

    def __init__(self, most: int, advice: str) -> None:
        self._left = most
        self._advice = advice
        self._is_empty = True

    def take(self, item: dict[str, Any]) -> dict[str, Any]:
        """Return the item. Raises Unsupported if there is no room for it."""
        self._left -= len(json.dumps(item))
        if self._left < 0 and not self._is_empty:
            raise Unsupported(f"This is too much for one answer: {self._advice}")
        self._is_empty = False
        return item


async def store_messages(client: AsyncClient, addition: Addition) -> dict[str, Any]:
    """Store each message as it is."""
    items: list[Any] = []
    for message in addition.messages:
        if message["role"] == "system":
            continue
        item = addition.fields | {"content": message["content"], "classify": False}
        if addition.owner.session_id:
            item["session_id"] = addition.owner.session_id
        if message.get("at"):
            item["said_at"] = message["at"]
        items.append(item)
    if not items:
        return _describe_addition([], None, "done", "Only system messages came.")
    batch = await client.store_batch(items, atomic=True)
    events = []
    for result, item in zip(batch["results"], items, strict=True):
        events.append(shape_event(addition.owner.agent, {**result}, item["content"]))
    return _describe_addition(events, None, "done", "Memories stored successfully")


async def capture_messages(client: AsyncClient, addition: Addition) -> dict[str, Any]:
    """Store messages and the facts in them."""
    agent = addition.owner.agent
    characters = sum(len(message["content"]) for message in addition.messages)
    is_long = len(addition.messages) > _MOST_MESSAGES or characters > _MOST_CHARACTERS
    if addition.fields and is_long:
        raise Unsupported(
            "With metadata, a second id or expiration_date, a call takes at most "
            f"{_MOST_MESSAGES} messages of {_MOST_CHARACTERS:,} characters, or infer=False."
        )
    session = name_session(addition.owner)
    answer = await client.capture(session, addition.messages, wait=True)  # type: ignore[arg-type]
    events = []
    for message in answer["messages"]:
        for fact in message["facts"]:
            written: Mapping[str, Any] = fact.get("answer") or {}
            written = {
                **written,
                "memory_id": fact["memory_id"],
                "operation": fact["operation"],
            }
            events.append(shape_event(agent, written, fact.get("content") or ""))
            if addition.fields and fact["operation"] in ("ADD", "UPDATE"):
                await _describe_fact(client, addition, written)
    name = answer["capture_id"] and name_memory(agent, answer["capture_id"])
    words = "Messages stored" if answer["state"] == "done" else "Messages stored; facts follow"
    if answer["state"] != "done" and addition.fields:
        words += " without metadata and further ids"
    return _describe_addition(events, name, answer["state"], words)


async def _describe_fact(
    client: AsyncClient, addition: Addition, written: Mapping[str, Any]
) -> None:
    """Give a captured memory what the call says of all its memories."""
    memory = written.get("memory") or {}
    fields = dict(addition.fields)
    if "tags" in fields:
        fields["tags"] = list(dict.fromkeys([*(memory.get("tags") or []), *fields["tags"]]))
    if "details" in fields:
        fields["details"] = {**(memory.get("details") or {}), **fields["details"]}
    await client.amend(memory.get("id") or written["memory_id"], **fields)


_STATES = {"done": "SUCCEEDED", "pending": "PENDING", "failed": "FAILED"}


def _describe_addition(
    events: list[dict[str, Any]], event_id: str | None, state: str, message: str
) -> dict[str, Any]:
    status = _STATES.get(state, "PENDING")
    return {"message": message, "status": status, "event_id": event_id, "results": events}


async def get_event(client: AsyncClient, agent: str | None, capture_id: str) -> dict[str, Any]:
    """Return how far an addition is."""
    answer = await client.get_capture(_read_uuid(capture_id))
    events = []
    for message in answer["messages"]:
        for fact in message["facts"]:
            events.append(shape_event(agent, {**fact}, fact.get("content") or ""))
    name = name_memory(agent, capture_id)
    return _describe_addition(events, name, answer["state"], "") | {"id": name}


# --- reading -------------------------------------------------------------------------------------


async def search(client: AsyncClient, wanted: Filter, question: Question) -> list[dict[str, Any]]:
    limit = question.top_k or question.limit or _DEFAULT_HITS
    fields: dict[str, Any] = wanted.list_fields() | {"limit": limit}
    if wanted.metadata:
        fields["details"] = wanted.metadata
    if question.reference_date:
        fields["as_of"] = question.reference_date
    if question.threshold:
        fields["mode"] = "vector"
    answer = await client.search(question.query, **fields)
    hits = []
    for result in answer["results"]:
        hit = shape_hit(wanted.owner.agent, {**result})
        if hit["score"] < (question.threshold or -1):
            continue
        if question.fields:
            hit = {name: hit.get(name) for name in ("id", *question.fields)}
        hits.append(hit)
    return hits


class Page(NamedTuple):
    """A page of a list: `cursor` leads to the next one, None if there is none.

    `skipped` memories stand before it.
    """

    memories: list[dict[str, Any]]
    cursor: str | None
    skipped: int


async def list_page(
    client: AsyncClient,
    wanted: Filter,
    room: Room,
    *,
    size: int,
    skip: int = 0,
    cursor: str | None = None,
) -> Page:
    """Return the memories that are meant, newest first: `size` of them, after `skip` others.

    They begin where a page before ended, if its cursor is there. Raises Unsupported.
    """
    skipped = 0
    while skipped < skip:
        before, cursor = await _read_on(client, wanted, skip - skipped, cursor)
        skipped += len(before)
        if cursor is None:
            return Page([], None, skipped)
    memories: list[dict[str, Any]] = []
    while True:
        read, cursor = await _read_on(client, wanted, size - len(memories), cursor)
        memories += [room.take(shape_memory(wanted.owner.agent, memory)) for memory in read]
        if cursor is None or len(memories) == size:
            return Page(memories, cursor, skipped)


async def _read_on(
    client: AsyncClient, wanted: Filter, most: int, cursor: str | None
) -> tuple[Sequence[Mapping[str, Any]], str | None]:
    """Return the next memories, `most` of them at most, and the cursor for those after them."""
    limit = min(most, _LARGEST_PAGE)
    page = await client.list_memories(limit=limit, cursor=cursor, **_list_fields(wanted)).page()
    return page["items"], page["next_cursor"]


def _list_fields(wanted: Filter) -> dict[str, Any]:
    fields = wanted.list_fields()
    if wanted.metadata:
        fields["details"] = json.dumps(wanted.metadata)
    return fields


async def get_current(client: AsyncClient, memory_id: str) -> Mapping[str, Any]:
    """Return the version of a chain that holds now. Raises NotFound if none does."""
    page = await client.history(_read_uuid(memory_id)).page()
    current = await client.get_memory(UUID(page["current"])) if page["current"] else None
    # A memory of mem0 is a chain. What took its place in another chain is another memory.
    if current is None or current["chain_id"] != page["chain_id"]:
        raise NotFound("No version of the memory holds now: its history shows why.", status=404)
    return {**current}


async def show_history(
    client: AsyncClient, agent: str | None, memory_id: str, room: Room
) -> list[dict[str, Any]]:
    versions: dict[str, Mapping[str, Any]] = {}
    async for page in client.history(_read_uuid(memory_id)).pages():
        for version in page["versions"]:
            if version["chain_id"] == page["chain_id"]:
                versions[version["id"]] = room.take({**version})
    return shape_history(agent, [*versions.values()])


async def list_entities(client: AsyncClient, room: Room) -> list[dict[str, Any]]:
    """Return the agents of the key as the users, agents, apps and runs that they stand for."""
    entities = []
    async for agent in client.list_agents():
        [(name, value)] = find_ids(agent["agent_id"]).items()
        entity = {
            "id": value,
            "name": value,
            "type": name.removesuffix("_id"),
            "total_memories": agent["memories"],
            "created_at": agent["created_at"],
            "updated_at": agent["last_known_at"],
        }
        entities.append(room.take(entity))
    return entities


# --- changing ------------------------------------------------------------------------------------


async def update(
    client: AsyncClient, agent: str | None, memory_id: str, parameters: Update
) -> dict[str, Any]:
    """Put another text in the place of a memory, or correct its metadata or its end."""
    memory = await get_current(client, memory_id)
    text, said_at = parameters.text or parameters.data, parameters.timestamp
    changes: dict[str, Any] = {}
    if parameters.metadata:
        changes["details"] = {**(memory.get("details") or {}), **parameters.metadata}
    if "expiration_date" in parameters.model_fields_set:
        changes["valid_until"] = parameters.expiration_date
    if text and text != memory.get("content"):
        fields = {name: memory.get(name) for name in ("details", "tags", "session_id")}
        fields |= {"said_at": said_at, **changes}
        fields = {name: value for name, value in fields.items() if value}
        answer = await client.supersede(UUID(memory["id"]), content=text, **fields)
    elif said_at is not None:
        raise Unsupported("timestamp goes with a new text: it says when that was said.")
    elif changes:
        answer = await client.amend(UUID(memory["id"]), **changes)
    else:
        raise Unsupported("An update needs a text, metadata or expiration_date.")
    return shape_memory(agent, {**(answer["memory"] or memory)})


async def delete(client: AsyncClient, memory_id: str) -> None:
    """Retract a memory: it ends now, and its history stays."""
    memory = await get_current(client, memory_id)
    await client.retract(UUID(memory["id"]), reason="Deleted over mem0.")


async def delete_all(client: AsyncClient, wanted: Filter) -> int:
    """Retract all memories that are meant, and return how many.

    Each is retracted by itself; a problem says how many were before it. What somebody else changed
    in the meantime is read again.
    """
    deleted = 0
    for is_last in (False, False, True):
        memories = client.list_memories(limit=_LARGEST_PAGE, **_list_fields(wanted))
        ids = [UUID(memory["id"]) async for memory in memories]
        for done, memory_id in enumerate(ids):
            try:
                await client.retract(memory_id, reason="Deleted over mem0.")
                deleted += 1
            except PalimpsestError as problem:
                if is_last or not isinstance(problem, _CHANGED):
                    _add_progress(problem, deleted, left=len(ids) - done)
                    raise
        if not ids:
            break
    return deleted


def _add_progress(problem: PalimpsestError, deleted: int, left: int) -> None:
    """Let the problem say how far a deletion came."""
    problem.detail += (
        f" {deleted} memories were deleted before that and stay so; at most {left} are left. "
        "The same call again deletes them."
    )
    if problem.problem:
        problem.problem |= {"detail": problem.detail, "deleted": deleted}


def _read_uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NotFound(f"There is no memory {text}.", status=404) from None
