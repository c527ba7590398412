"""Claude: its data export, with conversations, projects and what it remembers."""

from collections.abc import Iterator
from typing import Any

from app.importers.documents import Document, Placed, list_objects
from app.importers.facts import (
    Reading,
    SourceFact,
    Talk,
    UnreadableRecord,
    check_text,
    get_object,
    list_values,
    read_time,
)
from app.importers.markdown import build_fact, read_statements

NAME = "claude"
FILES = (
    *("conversations*.json", "memories*.json", "memories/*.json"),
    *("projects*.json", "projects/*.json"),
)

_FILES = ("docs", "memory_files", "attachments", "files")
_ROLES = {"human": "user", "assistant": "assistant"}


def matches(document: Document) -> bool:
    """Return True if the file holds conversations, memories or projects of Claude."""
    return any(True for _ in _list_records(document))


def read(document: Document) -> Reading:
    """Return memories and instructions of projects as facts, and conversations as talks."""
    reading, names, others = Reading(), {}, 0
    records = list(_list_records(document))
    for record in records:
        if "prompt_template" in record:
            names[str(record.get("uuid"))] = str(record.get("name") or "")
        for holder in (record, *list_objects(record.get("chat_messages"))):
            others += sum(len(list_values(holder.get(name))) for name in _FILES)
    for record in records:
        name = record.get("name") or record.get("uuid")
        with reading.leave_out_unreadable(record.line, f"{name}"):
            if "chat_messages" in record:
                _read_conversation(record, reading)
            elif "prompt_template" in record:
                reading.facts += _read_project(record)
            else:
                _read_memories(record, names, reading)
    if others:
        reading.notes.append(f"{others} files of projects, memories and messages are not imported.")
    return reading


def _list_records(document: Document) -> Iterator[Placed]:
    files = [one for pattern in FILES for one in document.list_file_objects(pattern)]
    for record in files or document.objects:
        if {"chat_messages", "conversations_memory", "prompt_template"} & record.keys():
            yield record


def _read_conversation(record: Placed, reading: Reading) -> None:
    messages: list[dict[str, Any]] = []
    for message in list_objects(record["chat_messages"]):
        message_id = str(message.get("uuid"))
        with reading.leave_out_unreadable(message.line, f"message {message_id}"):
            role = _ROLES.get(str(message.get("sender")))
            if role is None:
                raise UnreadableRecord("it has no sender")
            at, text = read_time(message, "created_at"), _read_words(message)
            messages.append({"id": message_id, "role": role, "content": text, "at": at})
    reading.add_talk(Talk(record.line, f"{NAME}:{record.get('uuid')}", messages))


def _read_words(message: Placed) -> str:
    """Return what a message says, without thoughts, tools and attachments."""
    parts = [part for part in list_objects(message.get("content")) if part.get("type") == "text"]
    texts = [part.get("text") for part in parts] or [message.get("text")]
    return "\n".join(text for text in texts if isinstance(text, str)).strip()


def _read_project(record: Placed) -> Iterator[SourceFact]:
    """Yield the instructions of a project."""
    text = record["prompt_template"]
    if isinstance(text, str) and text.strip():
        yield SourceFact(
            line=record.line,
            origin=f"project {record.get('uuid')}",
            content=check_text(text.strip()),
            learned_at=read_time(record, "updated_at", "created_at"),
            words={"kind": "constraint", "project": str(record.get("name") or "")[:500]},
        )


def _read_memories(record: Placed, names: dict[str, str], reading: Reading) -> None:
    """Read what Claude remembers, which is Markdown for all conversations and for each project."""
    texts = [("memory", "", record["conversations_memory"])]
    for uuid, text in get_object(record, "project_memories").items():
        texts.append((f"project memory {uuid}", names.get(uuid) or uuid, text))
    for place, project, text in texts:
        for statement in read_statements(text) if isinstance(text, str) else ():
            with reading.leave_out_unreadable(record.line, f"{place}, line {statement.line}"):
                reading.facts.append(build_fact(statement, place, project))
