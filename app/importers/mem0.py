"""mem0: answers of `get_all` and `history`, and the Markdown that its plugin exports."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from app.importers.documents import Document, Placed, list_objects
from app.importers.facts import (
    Reading,
    SourceFact,
    UnreadableRecord,
    check_interval,
    drop_empty,
    read_day_after,
    read_text,
    read_time,
    read_words,
)

NAME = "mem0"

_TEXTS = ("memory", "text", "data", "content")
_LISTS = ("results", "memories", "history")
_OWNERS = ("user_id", "agent_id", "app_id", "run_id")


def matches(document: Document) -> bool:
    """Return True if the file looks like one of mem0."""
    return any(map(_is_memory, _list_records(document))) or bool(_list_events(document))


def read(document: Document) -> Reading:
    """Return the memories of the file, each with its history, if that is there too."""
    reading = Reading()
    events: dict[str, list[Placed]] = defaultdict(list)
    for event in _list_events(document):
        events[str(event["memory_id"])].append(event)
    changed = 0
    for record in _list_records(document):
        memory_id = str(record.get("id") or "")
        versions = events.pop(memory_id, [])
        with reading.leave_out_unreadable(record.line, f"memory {memory_id or '(no id)'}"):
            if versions:
                reading.facts += _read_versions(versions, record, reading)
            else:
                reading.facts.append(_read_memory(record))
                changed += _is_changed(record)
    for memory_id, versions in events.items():
        with reading.leave_out_unreadable(versions[0].line, f"history of {memory_id}"):
            reading.facts += _read_versions(versions, Placed(), reading)
    # Of what was deleted only the history is left: it is of the only owner of the file.
    owners = {fact.owner for fact in reading.facts} - {""}
    if len(owners) == 1:
        [owner] = owners
        reading.facts = [replace(fact, owner=owner) for fact in reading.facts]
    if changed:
        reading.notes.append(
            f"Changed after they were made: {changed} memories. The file does not say what "
            "they said before: add `history` of each (docs/guide/importing.md)."
        )
    return reading


def _list_records(document: Document) -> list[Placed]:
    """Return the memories: what is no event of a history."""
    records = []
    for record in document.list_records("results", "memories"):
        has_list = any(isinstance(record.get(name), list | dict) for name in _LISTS)
        if not has_list and not _is_event(record):
            records.append(record)
    return records


def _list_events(document: Document) -> list[Placed]:
    """Return the events of histories, of their own list or among the memories."""
    records = [*document.list_records(*_LISTS)]
    for one in document.objects:
        histories = one.get("history")
        if isinstance(histories, dict):
            for events in histories.values():
                records += list_objects(events)
    return [record for record in records if _is_event(record)]


def _is_event(record: Placed) -> bool:
    return "memory_id" in record and ("new_memory" in record or "old_memory" in record)


def _is_memory(record: Placed) -> bool:
    """Return True for a memory of an answer, and for a block of the plugin's Markdown."""
    is_block = "confidence" in record and "branch" in record
    return "id" in record and (isinstance(record.get("memory"), str) or is_block)


def _is_changed(record: Placed) -> bool:
    created, updated = read_time(record, "created_at"), read_time(record, "updated_at")
    return bool(created and updated and (updated - created).total_seconds() > 1)


def _read_memory(record: Placed) -> SourceFact:
    """Return the memory as it is now: that text was known from its last change on."""
    if not record.get("id"):
        raise UnreadableRecord("it has no id")
    created = read_time(record, "created_at")
    learned = read_time(record, "updated_at", "created_at")
    end = read_day_after(record, "expiration_date")
    check_interval(learned, end)
    return SourceFact(
        line=record.line,
        origin=str(record["id"]),
        content=read_text(record, *_TEXTS),
        learned_at=learned,
        valid_until=end,
        owner=_find_owner(record),
        words=_read_words(record),
        details=_read_details(record, created),
    )


def _read_versions(events: Sequence[Placed], record: Placed, reading: Reading) -> list[SourceFact]:
    """Return a fact for each text that the history shows, which make a chain.

    A deletion ends the last one. The text of the memory itself comes last.
    """
    versions: list[SourceFact] = []
    for event in sorted(events, key=_get_time):
        if event.get("event") == "DELETE" or event.get("is_deleted"):
            at = _get_time(event)
            if versions and versions[-1].learned_at and versions[-1].learned_at < at:
                versions[-1] = replace(versions[-1], valid_until=at, end_learned_at=at)
        elif versions and versions[-1].content == str(event.get("new_memory")).strip():
            reading.leave_out(event.line, f"event {event.get('id')}: it changes no text")
        else:
            versions.append(_read_version(event, record))
    if not versions:
        raise UnreadableRecord("its history shows no text")
    if record and read_text(record, *_TEXTS) != versions[-1].content:
        versions.append(replace(_read_memory(record), chain=versions[-1].chain))
    return versions


def _read_version(event: Placed, record: Placed) -> SourceFact:
    memory_id, learned = str(event["memory_id"]), _get_time(event)
    source = record or event
    return SourceFact(
        line=event.line,
        origin=f"{memory_id}/{event.get('id') or learned.isoformat()}",
        content=read_text(event, "new_memory"),
        learned_at=learned,
        chain=memory_id,
        owner=_find_owner(source),
        words=_read_words(source),
        details=_read_details(record, None) | drop_empty({"actor_id": event.get("actor_id")}),
    )


def _get_time(event: Placed) -> datetime:
    """Return when an event was: mem0 writes the time of the first one as `created_at` of all."""
    time = read_time(event, "updated_at", "created_at")
    if time is None:
        raise UnreadableRecord(f"event {event.get('id')} has no created_at")
    return time


def _find_owner(record: Mapping[str, Any]) -> str:
    return next((str(record[name]) for name in _OWNERS if record.get(name)), "")


def _read_words(record: Mapping[str, Any]) -> dict[str, Any]:
    run = record.get("run_id")
    session_id = str(run) if run else None
    return drop_empty({"tags": read_words(record.get("categories")), "session_id": session_id})


_OWN_FIELDS = {*_TEXTS, "id", "hash", "score", "categories", "created_at", "updated_at"}


def _read_details(record: Mapping[str, Any], created: datetime | None) -> dict[str, Any]:
    """Return everything that has no field of its own here."""
    others = {name: value for name, value in record.items() if name not in _OWN_FIELDS}
    return drop_empty(others | {"created_at": created.isoformat() if created else None})
