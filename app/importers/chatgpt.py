"""ChatGPT: its data export, with memories saved in conversations, and its list of memories."""

from collections.abc import Iterator
from typing import Any

from app.importers.documents import Document, Placed
from app.importers.facts import (
    Reading,
    SourceFact,
    Talk,
    UnreadableRecord,
    check_text,
    get_object,
    list_values,
    pick_fields,
    read_text,
    read_time,
)
from app.importers.markdown import Statement, build_fact, read_lines

NAME = "chatgpt"
FILES = ("conversations*.json", "memories*.json")

_INSTRUCTIONS = {"about_user_message": "fact", "about_model_message": "preference"}


def matches(document: Document) -> bool:
    """Return True if the file holds conversations or saved memories of ChatGPT."""
    return bool(_list_conversations(document) or _list_memories(document) or _list_lines(document))


def read(document: Document) -> Reading:
    """Return saved memories and custom instructions as facts, and conversations as talks."""
    reading = Reading()
    for record in _list_memories(document):
        with reading.leave_out_unreadable(record.line, f"memory {record['id']}"):
            reading.facts.append(_read_memory(record))
    for statement in _list_lines(document):
        try:
            reading.facts.append(build_fact(statement, "saved memory"))
        except UnreadableRecord as problem:
            reading.leave_out(statement.line, str(problem))
    for record in _list_damaged(document):
        name = record.get("title") or record.get("id")
        reading.leave_out(record.line, f"conversation {name}: it has no mapping")
    instructions: dict[str | None, str] = {}
    for conversation in sorted(_list_conversations(document), key=_find_start):
        messages: list[dict[str, Any]] = []
        for message in _list_messages(conversation):
            with reading.leave_out_unreadable(message.line, f"message {message['id']}"):
                messages += _read_message(message, conversation)
                for fact in list(_read_saved(message, conversation)):
                    # Each conversation repeats the custom instructions.
                    if fact.chain is None or instructions.get(fact.chain) != fact.content:
                        reading.facts.append(fact)
                        instructions[fact.chain] = fact.content
        name = conversation.get("conversation_id") or conversation.get("id")
        reading.add_talk(Talk(conversation.line, f"{NAME}:{name}", messages))
    return reading


def _list_conversations(document: Document) -> list[Placed]:
    return [one for one in _list_records(document) if isinstance(one.get("mapping"), dict)]


def _list_records(document: Document) -> list[Placed]:
    return document.list_file_objects("conversations*.json") or document.objects


def _list_damaged(document: Document) -> Iterator[Placed]:
    """Yield the objects among conversations that are none."""
    for one in _list_records(document) if _list_conversations(document) else ():
        if not isinstance(one.get("mapping"), dict) and "memories" not in one:
            yield one


def _find_start(conversation: Placed) -> float:
    start = conversation.get("create_time")
    return start if isinstance(start, int | float) else 0


def _list_memories(document: Document) -> list[Placed]:
    lists = [*document.objects, *document.list_file_objects("memories*.json")]
    records = [record for one in lists for record in list_values(one.get("memories"))]
    names = {"id", "content", "conversation_id"}
    return [one for one in records if isinstance(one, Placed) and names <= one.keys()]


def _list_lines(document: Document) -> list[Statement]:
    """Return the lines of a list of memories that somebody copied from ChatGPT into a text file."""
    texts = [text for name, text in document.texts.items() if name.endswith(".txt")]
    return [statement for text in texts for statement in read_lines(text)]


def _list_messages(conversation: Placed) -> list[Placed]:
    """Return the messages of the branch that the user saw last, in their order.

    An export without a current node gives all messages in the order of the file.
    """
    left = dict(conversation["mapping"])
    branch = []
    node_id = conversation.get("current_node")
    while isinstance(node := left.pop(str(node_id), None), dict):
        branch.append(node)
        node_id = node.get("parent")
    nodes = branch[::-1] or [node for node in left.values() if isinstance(node, dict)]
    messages = []
    for node in nodes:
        if isinstance(message := node.get("message"), Placed):
            message.setdefault("id", node.get("id"))
            messages.append(message)
    return [one for one in messages if one["id"]]


def _read_memory(record: Placed) -> SourceFact:
    return SourceFact(
        line=record.line,
        origin=str(record["id"]),
        content=read_text(record, "content"),
        learned_at=read_time(record, "updated_at", "last_updated", "created_timestamp"),
        details=pick_fields(record, ("conversation_id", "status")),
    )


def _read_saved(message: Placed, conversation: Placed) -> Iterator[SourceFact]:
    """Yield what a message saves as a memory, and the custom instructions that it carries.

    Those of all conversations make a chain for each kind.
    """
    texts: list[tuple[str | None, Any]] = []
    if message.get("recipient") == "bio":
        texts.append((None, _read_content(message)))
    context = get_object(get_object(message, "metadata"), "user_context_message_data")
    texts += [(name, context.get(name)) for name in _INSTRUCTIONS]
    at = read_time(message, "create_time") or read_time(conversation, "create_time")
    for name, text in texts:
        if isinstance(text, str) and text.strip():
            yield SourceFact(
                line=message.line,
                origin=f"{name or 'memory'}/{message['id']}",
                content=check_text(text.strip()),
                learned_at=at,
                chain=name,
                words={"kind": _INSTRUCTIONS.get(name or "", "fact")},
            )


def _read_message(message: Placed, conversation: Placed) -> Iterator[dict[str, Any]]:
    """Yield the message if a person or the assistant says it to the other."""
    role = get_object(message, "author").get("role")
    is_hidden = get_object(message, "metadata").get("is_visually_hidden_from_conversation")
    is_said = role in ("user", "assistant") and message.get("recipient", "all") == "all"
    if is_said and not is_hidden:
        at = read_time(message, "create_time") or read_time(conversation, "create_time")
        text = _read_content(message)
        yield {"id": str(message["id"]), "role": role, "content": text, "at": at}


def _read_content(message: Placed) -> str:
    """Return the words of a message, without images, thoughts and code that it ran."""
    content = get_object(message, "content")
    if content.get("content_type") not in ("text", "multimodal_text"):
        return ""
    parts = list_values(content.get("parts"))
    return "\n".join(part for part in parts if isinstance(part, str)).strip()
