"""The memory server of the Model Context Protocol: entities and relations, one a line."""

from typing import Any

from app.importers.documents import Document, Placed
from app.importers.facts import (
    Reading,
    SourceFact,
    UnreadableRecord,
    check_text,
    drop_empty,
    list_values,
    read_text,
    read_time,
)

NAME = "server-memory"

# Of an observation that is an object.
_TEXTS = ("text", "content", "observation")
_TIMES = ("timestamp", "created_at", "createdAt")


def matches(document: Document) -> bool:
    """Return True if the file looks like one of the server, or like an answer of `read_graph`."""
    return any(_is_entity(one) or _find_relation(one) for one in _list_records(document))


def read(document: Document) -> Reading:
    """Return a fact for each observation and each relation."""
    reading = Reading()
    for record in _list_records(document):
        for one in _list_parts(record):
            name = record.get("name") or record.get("from") or record.get("from_entity")
            with reading.leave_out_unreadable(record.line, f"{name}"):
                reading.facts.append(_read_part(record, one))
    if any(fact.learned_at is None for fact in reading.facts):
        reading.notes.append("What has no date in the file holds from now on.")
    return reading


def _list_records(document: Document) -> list[Placed]:
    return document.list_records("entities", "relations")


def _is_entity(record: Placed) -> bool:
    return "name" in record and "entityType" in record and "observations" in record


def _find_relation(record: Placed) -> tuple[str, str, str] | None:
    """Return the source, the kind and the target; some servers name them otherwise."""
    kind = record.get("relationType") or record.get("relation_type")
    source = record.get("from") or record.get("from_entity")
    target = record.get("to") or record.get("to_entity")
    return (str(source), str(kind), str(target)) if kind and source and target else None


def _list_parts(record: Placed) -> list[Any]:
    """Return the observations of an entity, one part of a relation, and none of anything else."""
    parts = list_values(record.get("observations")) if _is_entity(record) else []
    return parts or [None]


def _read_part(record: Placed, observation: Any) -> SourceFact:
    if relation := _find_relation(record):
        return _read_relation(record, *relation)
    if not _is_entity(record):
        raise UnreadableRecord("it is neither an entity nor a relation")
    if not list_values(record["observations"]):
        raise UnreadableRecord("it is an entity without observations")
    if isinstance(observation, str):
        return _read_observation(record, Placed(text=observation))
    if isinstance(observation, Placed):
        return _read_observation(record, observation)
    raise UnreadableRecord(f"it has an observation without text: {observation!r}")


def _read_observation(record: Placed, observation: Placed) -> SourceFact:
    """Return the observation, led by the name of the entity if it does not say it.

    Some servers write objects, with a text and a time.
    """
    name, text = str(record["name"]), read_text(observation, *_TEXTS)
    is_named = name.casefold() in text.casefold()
    others = {key: value for key, value in observation.items() if key not in (*_TEXTS, *_TIMES)}
    return SourceFact(
        line=record.line,
        origin=f"{name}/{text}",
        content=check_text(text if is_named else f"{name}: {text}"),
        learned_at=read_time(observation, *_TIMES),
        words={"entity": name, "entities": [name]},
        details=drop_empty({"entity_type": record["entityType"], "observation": text, **others}),
    )


def _read_relation(record: Placed, source: str, kind: str, target: str) -> SourceFact:
    return SourceFact(
        line=record.line,
        origin=f"{source}/{kind}/{target}",
        content=check_text(f"{source} {kind.replace('_', ' ')} {target}"),
        words={"entity": source, "entities": list(dict.fromkeys([source, target]))},
        details={"relation": {"from": source, "relation_type": kind, "to": target}},
    )
