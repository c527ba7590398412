"""Graphiti and Zep: edges, which are facts with four times, and the nodes that they join."""

from collections.abc import Mapping
from datetime import datetime

from app.importers.documents import Document, Placed
from app.importers.facts import (
    Reading,
    SourceFact,
    check_interval,
    drop_empty,
    pick_fields,
    read_text,
    read_time,
    read_words,
)

NAME = "graphiti"

_LISTS = ("edges", "facts", "entity_edges")
_NODES = ("nodes", "entities", "entity_nodes")
_DETAILS = (
    "name",
    "source_node_uuid",
    "target_node_uuid",
    "episodes",
    "reference_time",
    "attributes",
    "group_id",
)


def matches(document: Document) -> bool:
    """Return True if the file looks like one of Graphiti."""
    return any(_is_edge(record) for record in document.list_records(*_LISTS))


def read(document: Document) -> Reading:
    """Return the facts of the edges. Nodes and episodes give names only."""
    reading = Reading()
    nodes: dict[str, str] = {}
    for node in document.list_records(*_NODES):
        if "uuid" in node and "fact" not in node and node.get("name"):
            nodes[str(node["uuid"])] = str(node["name"])
    undated = 0
    for record in document.list_records(*_LISTS):
        if not _is_edge(record):
            kind = "a node or an episode" if "name" in record else "no edge"
            reading.leave_out(record.line, f"{record.get('uuid') or 'a record'}: it is {kind}")
            continue
        with reading.leave_out_unreadable(record.line, f"edge {record.get('uuid')}"):
            reading.facts.append(_read_edge(record, nodes))
            undated += record.get("valid_at") is None
    if undated:
        reading.notes.append(
            f"{undated} edges have no valid_at: they hold from when Graphiti learned them."
        )
    return reading


def _is_edge(record: Placed) -> bool:
    return "uuid" in record and "fact" in record


def _read_edge(record: Placed, nodes: Mapping[str, str]) -> SourceFact:
    learned = read_time(record, "created_at")
    start, end, end_learned = _read_interval(record, learned)
    source = nodes.get(str(record.get("source_node_uuid")))
    target = nodes.get(str(record.get("target_node_uuid")))
    return SourceFact(
        line=record.line,
        origin=str(record["uuid"]),
        content=read_text(record, "fact"),
        learned_at=learned,
        valid_from=start,
        valid_until=end,
        end_learned_at=end_learned,
        said_at=read_time(record, "reference_time"),
        owner=str(record.get("group_id") or ""),
        words=drop_empty({"entity": source, "entities": read_words([source, target])}),
        details=pick_fields(record, _DETAILS),
    )


def _read_interval(
    record: Placed, learned: datetime | None
) -> tuple[datetime | None, datetime | None, datetime | None]:
    """Return from when to when the edge holds, and when Graphiti learned of the end.

    An edge that expired without an end in the world ends when it expired.
    """
    start = read_time(record, "valid_at")
    expired = read_time(record, "expired_at")
    end = read_time(record, "invalid_at") or expired
    check_interval(start or learned, end)
    is_later = expired is not None and learned is not None and expired > learned
    return start, end, expired if is_later else None
