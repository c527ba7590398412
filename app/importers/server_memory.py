"""The memory server of the Model Context Protocol: entities and relations, one a line."""

from collections.abc import Iterator

from app.importers.documents import Document, Placed
from app.importers.facts import (
    Reading,
    SourceFact,
    UnreadableRecord,
    check_text,
    drop_empty,
    list_values,
)

NAME = "server-memory"


def matches(document: Document) -> bool:
    """Return True if the file looks like one of the server, or like an answer of `read_graph`."""
    return any(_is_entity(one) or _is_relation(one) for one in _list_records(document))


def read(document: Document) -> Reading:
    """Return a fact for each observation and each relation."""
    reading = Reading()
    for record in _list_records(document):
        try:
            facts = list(_read_record(record))
        except UnreadableRecord as problem:
            reading.leave_out(record.line, f"{record.get('name', record.get('from'))}: {problem}")
            continue
        reading.facts += facts
    if reading.facts:
        reading.notes.append("The file has no dates: all of it holds from now on.")
    return reading


def _list_records(document: Document) -> list[Placed]:
    return document.list_records("entities", "relations")


def _is_entity(record: Placed) -> bool:
    return "name" in record and "entityType" in record and "observations" in record


def _is_relation(record: Placed) -> bool:
    return "relationType" in record and "from" in record and "to" in record


def _read_record(record: Placed) -> Iterator[SourceFact]:
    if _is_relation(record):
        yield _read_relation(record)
    elif not _is_entity(record):
        raise UnreadableRecord("it is neither an entity nor a relation")
    elif not (observations := list_values(record["observations"])):
        raise UnreadableRecord("it is an entity without observations")
    else:
        for observation in observations:
            yield _read_observation(record, str(observation).strip())


def _read_observation(record: Placed, observation: str) -> SourceFact:
    """Return the observation, led by the name of the entity if it does not say it."""
    name = str(record["name"])
    if not observation:
        raise UnreadableRecord("it has an observation without text")
    is_named = name.casefold() in observation.casefold()
    return SourceFact(
        line=record.line,
        origin=f"{name}/{observation}",
        content=check_text(observation if is_named else f"{name}: {observation}"),
        words={"entity": name, "entities": [name]},
        details=drop_empty({"entity_type": record["entityType"], "observation": observation}),
    )


def _read_relation(record: Placed) -> SourceFact:
    source, target = str(record["from"]), str(record["to"])
    kind = str(record["relationType"])
    return SourceFact(
        line=record.line,
        origin=f"{source}/{kind}/{target}",
        content=check_text(f"{source} {kind.replace('_', ' ')} {target}"),
        words={"entity": source, "entities": list(dict.fromkeys([source, target]))},
        details={"relation": {"from": source, "relation_type": kind, "to": target}},
    )
