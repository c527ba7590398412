"""Letta: agent files (`.af`) with their blocks, and lists of archival passages."""

from collections.abc import Iterator, Mapping
from typing import Any

from app.importers.documents import Document, Placed, list_objects
from app.importers.facts import (
    Reading,
    SourceFact,
    UnreadableRecord,
    drop_empty,
    list_values,
    pick_fields,
    read_text,
    read_time,
    read_words,
)

NAME = "letta"

_BLOCK_LISTS = ("blocks", "core_memory", "memory_blocks")
_PASSAGE_LISTS = ("passages", "archival", "archival_memory")


def matches(document: Document) -> bool:
    """Return True if the file looks like one of Letta."""
    if any("agents" in one or _list_blocks(one) for one in document.objects):
        return True
    for record in document.list_records(*_PASSAGE_LISTS):
        if str(record.get("id", "")).startswith("passage-") and "text" in record:
            return True
    return False


def read(document: Document) -> Reading:
    """Return the blocks and the passages. Messages, tools and settings are left out."""
    reading, messages = Reading(), 0
    for record, owner in _list_records(document):
        with reading.leave_out_unreadable(
            record.line, f"{record.get('label') or record.get('id')}"
        ):
            read_record = _read_block if "label" in record else _read_passage
            reading.facts.append(read_record(record, owner))
    for agent in _list_agents(document):
        messages += len(list_objects(agent.get("messages")))
    if messages:
        reading.notes.append(
            f"{messages} messages are not imported: facts in them are read by "
            "`palimpsest capture` (docs/guide/messages.md)."
        )
    return reading


def _list_agents(document: Document) -> list[Placed]:
    agents: list[Placed] = []
    for one in document.objects:
        agents += list_objects(one.get("agents"))
    return agents or [one for one in document.objects if _list_blocks(one)]


def _list_blocks(holder: Mapping[str, Any]) -> list[Placed]:
    blocks = []
    for name in _BLOCK_LISTS:
        for block in list_objects(holder.get(name)):
            if "label" in block and "value" in block:
                blocks.append(block)
    return blocks


def _list_records(document: Document) -> Iterator[tuple[Placed, str]]:
    """Yield each block and passage with the agent that has it.

    The file lists the blocks of all agents together, and each agent names its own.
    """
    agents = _list_agents(document)
    owners = {}
    for agent in agents:
        for block_id in list_values(agent.get("block_ids")):
            owners[str(block_id)] = str(agent.get("name") or agent.get("id") or "")
    for holder in document.objects:
        for block in _list_blocks(holder):
            yield block, owners.get(str(block.get("id")), str(holder.get("name") or ""))
    for agent in agents:
        name = str(agent.get("name") or agent.get("id") or "")
        if agent not in document.objects:
            for block in _list_blocks(agent):
                yield block, name
        for place in _PASSAGE_LISTS:
            for passage in list_objects(agent.get(place)):
                yield passage, name
    if not agents:
        for passage in document.list_records(*_PASSAGE_LISTS):
            yield passage, ""


def _read_block(record: Placed, owner: str) -> SourceFact:
    """Return a block as a core memory: its label is a key with one value at a time."""
    label = str(record["label"])
    names = ("description", "limit", "read_only", "metadata")
    return SourceFact(
        line=record.line,
        origin=f"{owner}/{record.get('id') or label}",
        content=read_text(record, "value"),
        learned_at=read_time(record, "updated_at", "created_at"),
        owner=owner,
        words={"tier": "core", "category": "letta block", "key": label},
        details=pick_fields({**record, "agent": owner}, (*names, "agent")),
    )


def _read_passage(record: Placed, owner: str) -> SourceFact:
    if not record.get("id"):
        raise UnreadableRecord("it has no id")
    return SourceFact(
        line=record.line,
        origin=str(record["id"]),
        content=read_text(record, "text"),
        learned_at=read_time(record, "created_at"),
        owner=owner,
        words=drop_empty({"tags": read_words(record.get("tags"))}),
        details=drop_empty({"metadata": record.get("metadata"), "agent": owner}),
    )
