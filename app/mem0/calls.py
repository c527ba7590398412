"""What each call of mem0 asks of the service."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from textwrap import shorten
from typing import Any, NamedTuple
from uuid import UUID

from app.api.message_forms import drop_marks
from app.api.schemas.fields import MAX_CONTENT
from app.domain.talk import SkipReason
from app.mem0.owners import MARK, Unsupported, find_ids, is_of_door, name_memory, name_session
from app.mem0.parameters import Addition, Filter
from app.mem0.schemas import Question, Update
from app.mem0.shapes import find_least_chance, shape_event, shape_history, shape_hit, shape_memory
from palimpsest_client import AsyncClient, Conflict, Gone, NotFound, PalimpsestError

# Of messages: longer calls are read later, when nobody can add metadata to their facts.
_MOST_MESSAGES = 40
_MOST_CHARACTERS = 20_000
_LARGEST_PAGE = 1_000
_DEFAULT_HITS = 10
_EVENTS_OF_AGENT = 20
# Characters. A lone message that is skipped for one of these reasons is kept as it is.
_LONGEST_SENTENCE = 500
_KEPT_REASONS = {
    SkipReason.EVENT,
    SkipReason.WISH,
    SkipReason.NOT_PERSONAL,
    SkipReason.UNCLEAR_PRONOUN,
    SkipReason.LANGUAGE_NOT_READ,
}
_LONGEST_SKIPPED = 200
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
    skipped: list[dict[str, Any]] = []
    fields = addition.fields | {"tags": [*addition.owner.tags, MARK], "classify": False}
    for message in addition.messages:
        content = drop_marks(message["content"])
        reason = "other_role" if message["role"] == "system" else None
        if len(content) > MAX_CONTENT:
            reason = f"longer than {MAX_CONTENT:,} characters"
        if reason or not content.strip():
            skipped.append(_describe_skipped(message["content"], reason or "left_out"))
            continue
        item = fields | {"content": content}
        if addition.owner.session_id:
            item["session_id"] = addition.owner.session_id
        if message.get("at"):
            item["said_at"] = message["at"]
        items.append(item)
    if not items:
        return _describe_addition([], skipped)
    batch = await client.store_batch(items, atomic=True)
    events = []
    for result, item in zip(batch["results"], items, strict=True):
        events.append(shape_event(addition.owner.agent, {**result}, item["content"]))
    return _describe_addition(events, skipped)


async def capture_messages(client: AsyncClient, addition: Addition) -> dict[str, Any]:
    """Store messages and the facts in them. A lone sentence without a fact is kept as it is."""
    agent, fields = addition.owner.agent, dict(addition.fields)
    characters = sum(len(message["content"]) for message in addition.messages)
    is_long = len(addition.messages) > _MOST_MESSAGES or characters > _MOST_CHARACTERS
    if fields and is_long:
        raise Unsupported(
            "With metadata, a second id or expiration_date, a call takes at most "
            f"{_MOST_MESSAGES} messages of {_MOST_CHARACTERS:,} characters, or infer=False."
        )
    if addition.owner.session_id:
        # The names of other sessions say that the memory came through here.
        fields["tags"] = [*addition.owner.tags, MARK]
    session = name_session(addition.owner)
    answer = await client.capture(session, addition.messages, wait=True)
    if content := _find_lone_sentence(addition, answer):
        sentence = {**addition.messages[0], "content": content}
        return await store_messages(client, replace(addition, messages=[sentence]))
    if fields:
        for message in answer["messages"]:
            for fact in message["facts"]:
                if fact["operation"] in ("ADD", "UPDATE"):
                    await _describe_fact(client, fields, fact)
    name = answer["capture_id"] and name_memory(agent, answer["capture_id"])
    return _describe_capture(agent, answer) | {"event_id": name}


def _find_lone_sentence(addition: Addition, answer: Mapping[str, Any]) -> str | None:
    """Return the only message if it states something that is read as no lasting fact.

    Who adds one sentence wants it to be kept. Questions, small talk, orders, code, secrets and
    others' words are not: nobody would look for them.
    """
    if len(addition.messages) != 1 or answer["state"] != "done":
        return None
    [message] = answer["messages"]
    content: str = message["content"] or ""
    reasons = {part["reason"] for part in message["skipped"]}
    if message["facts"] or message["role"] != "user" or len(content) > _LONGEST_SENTENCE:
        return None
    return content if reasons and reasons <= _KEPT_REASONS else None


async def _describe_fact(
    client: AsyncClient, fields: Mapping[str, Any], fact: Mapping[str, Any]
) -> None:
    """Give a captured memory what the call says of all its memories."""
    memory = (fact.get("answer") or {}).get("memory") or {}
    added = dict(fields)
    if "tags" in fields:
        added["tags"] = list(dict.fromkeys([*(memory.get("tags") or []), *fields["tags"]]))
    if "details" in fields:
        added["details"] = {**(memory.get("details") or {}), **fields["details"]}
    await client.amend(memory.get("id") or fact["memory_id"], **added)


_STATES = {"done": "SUCCEEDED", "pending": "PENDING", "failed": "FAILED"}


def _describe_capture(agent: str | None, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return what became of messages, and what of them became no fact and why."""
    events: list[dict[str, Any]] = []
    skipped: list[dict[str, Any]] = []
    for message in answer["messages"]:
        for fact in message["facts"]:
            names = ("memory_id", "operation")
            written = {**(fact.get("answer") or {}), **{name: fact[name] for name in names}}
            events.append(shape_event(agent, written, fact.get("content") or ""))
        for part in message["skipped"]:
            skipped.append(_describe_skipped(part["text"] or "", part["reason"]))
    return _describe_addition(events, skipped, answer["state"])


def _describe_addition(
    events: list[dict[str, Any]], skipped: list[dict[str, Any]], state: str = "done"
) -> dict[str, Any]:
    changed = any(event["event"] != "NONE" for event in events)
    words = "Memories stored." if changed else "Nothing changed."
    if not events:
        words = "Nothing was stored: `skipped` says why."
    return {
        "message": words if state == "done" else "Messages stored; facts follow.",
        "status": _STATES.get(state, "PENDING"),
        "event_id": None,
        "results": events,
        "skipped": skipped,
    }


def _describe_skipped(text: str, reason: str) -> dict[str, Any]:
    return {"text": shorten(text, _LONGEST_SKIPPED, placeholder=" …"), "reason": reason}


async def get_event(client: AsyncClient, agent: str | None, capture_id: str) -> dict[str, Any]:
    """Return how far an addition is."""
    answer = await client.get_capture(_read_uuid(capture_id))
    return _describe_capture(agent, answer) | _name_event(agent, answer)


async def list_events(client: AsyncClient, agent: str | None) -> list[dict[str, Any]]:
    """Return the last additions to the memory of an agent, newest first."""
    page = await client.list_captures(limit=_EVENTS_OF_AGENT).page()
    return [_name_event(agent, capture) for capture in page["items"]]


def _name_event(agent: str | None, capture: Mapping[str, Any]) -> dict[str, Any]:
    name = name_memory(agent, capture["capture_id"])
    return {
        "id": name,
        "event_id": name,
        "event_type": "ADD",
        "status": _STATES.get(capture["state"], "PENDING"),
        "created_at": capture["received_at"],
        "updated_at": capture["finished_at"] or capture["received_at"],
    }


# --- reading -------------------------------------------------------------------------------------


async def search(client: AsyncClient, wanted: Filter, question: Question) -> list[dict[str, Any]]:
    """Return the hits, best first. Raises Unsupported if there may be others than were read."""
    limit = question.top_k or question.limit or _DEFAULT_HITS
    fields: dict[str, Any] = wanted.list_fields()
    if question.reference_date:
        fields["as_of"] = question.reference_date
    if question.threshold:
        fields["min_score"] = find_least_chance(question.threshold)
    read = limit if wanted.is_exact else _LARGEST_PAGE
    results = (await client.search(question.query, limit=read, **fields))["results"]
    meant = [result for result in results if wanted.means({**result["memory"]})][:limit]
    if len(meant) < limit and len(results) == read > limit:
        raise Unsupported(
            f"These filters look at the best {read:,} hits only, and few of them pass: ask for "
            "fewer (top_k), or filter by ids, categories or equal metadata."
        )
    hits = [shape_hit(wanted.owner.agent, {**result}) for result in meant]
    if question.fields:
        return [{name: hit.get(name) for name in ("id", *question.fields)} for hit in hits]
    return hits


class Page(NamedTuple):
    """A page of a list; `skipped` memories stand before it.

    If it `has_more` behind it, `cursor` leads there, unless only a number can.
    """

    memories: list[dict[str, Any]]
    cursor: str | None
    skipped: int
    has_more: bool


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
    if not wanted.is_exact:
        return await _list_meant(client, wanted, room, size=size, skip=skip)
    skipped = 0
    while skipped < skip:
        before, cursor = await _read_on(client, wanted, skip - skipped, cursor)
        skipped += len(before)
        if cursor is None:
            return Page([], None, skipped, has_more=False)
    memories: list[dict[str, Any]] = []
    while True:
        read, cursor = await _read_on(client, wanted, size - len(memories), cursor)
        memories += [room.take(shape_memory(wanted.owner.agent, memory)) for memory in read]
        if cursor is None or len(memories) == size:
            return Page(memories, cursor, skipped, has_more=cursor is not None)


async def _list_meant(
    client: AsyncClient, wanted: Filter, room: Room, *, size: int, skip: int
) -> Page:
    """Return a page of the memories that pass a filter which the service does not know."""
    skipped = 0
    memories: list[dict[str, Any]] = []
    async for memory in client.list_memories(limit=_LARGEST_PAGE, **_list_fields(wanted)):
        if not wanted.means({**memory}):
            continue
        if skipped < skip:
            skipped += 1
        elif len(memories) == size:
            return Page(memories, None, skipped, has_more=True)
        else:
            memories.append(room.take(shape_memory(wanted.owner.agent, memory)))
    return Page(memories, None, skipped, has_more=False)


async def _read_on(
    client: AsyncClient, wanted: Filter, most: int, cursor: str | None
) -> tuple[Sequence[Mapping[str, Any]], str | None]:
    """Return the next memories, `most` of them at most, and the cursor for those after them."""
    limit = min(most, _LARGEST_PAGE)
    page = await client.list_memories(limit=limit, cursor=cursor, **_list_fields(wanted)).page()
    return page["items"], page["next_cursor"]


def _list_fields(wanted: Filter) -> dict[str, Any]:
    fields = wanted.list_fields()
    if "details" in fields:
        fields["details"] = json.dumps(fields["details"])
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


async def update(client: AsyncClient, memory_id: str, parameters: Update) -> Mapping[str, Any]:
    """Put another text in the place of a memory, or correct its metadata or its end.

    Return the answer to the write, with the memory as it is then.
    """
    memory = await get_current(client, memory_id)
    text, said_at = parameters.text or parameters.data, parameters.timestamp
    changes: dict[str, Any] = {}
    if parameters.metadata:
        changes["details"] = {**(memory.get("details") or {}), **parameters.metadata}
    if "expiration_date" in parameters.model_fields_set:
        end = changes["valid_until"] = parameters.expiration_date
        if end and end <= datetime.fromisoformat(memory["valid_from"]):
            raise Unsupported(
                "expiration_date is over before the memory begins: delete ends a memory now."
            )
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
    return {**answer, "memory": answer["memory"] or memory}


async def delete(client: AsyncClient, memory_id: str) -> Mapping[str, Any]:
    """Retract a memory: it ends now, and its history stays. Return the answer to the write."""
    memory = await get_current(client, memory_id)
    return {**await client.retract(UUID(memory["id"]), reason="Deleted over mem0.")}


async def delete_all(client: AsyncClient, wanted: Filter, *, of_door: bool = False) -> int:
    """Retract all memories that are meant, and return how many.

    With `of_door`, those that came by another way than mem0's routes stay. Each is retracted by
    itself; a problem says how many were before it. What somebody else changed in the meantime is
    read again.
    """
    deleted = 0
    for is_last in (False, False, True):
        ids: list[UUID] = []
        async for memory in client.list_memories(limit=_LARGEST_PAGE, **_list_fields(wanted)):
            if wanted.means({**memory}) and (not of_door or is_of_door(memory)):
                ids.append(UUID(memory["id"]))
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
