"""Hindsight: archives of documents, and answers of `memories/list`."""

from collections.abc import Iterator

from app.importers.documents import Document, Placed, list_objects
from app.importers.facts import (
    Reading,
    SourceFact,
    UnreadableRecord,
    drop_empty,
    pick_fields,
    read_text,
    read_time,
    read_words,
)

NAME = "hindsight"

_MANIFEST = "manifest.json"
_DETAILS = (
    "context",
    "fact_type",
    "metadata",
    "document_id",
    "chunk_id",
    "invalidation_reason",
    "invalidated_at",
)


def matches(document: Document) -> bool:
    """Return True if the file looks like one of Hindsight."""
    has_manifest = any(_MANIFEST in one for one in document.objects)
    return has_manifest or any(_is_fact(record) for record, _ in _list_records(document))


def read(document: Document) -> Reading:
    """Return the facts. Observations are made of facts, and Hindsight makes them anew."""
    reading = Reading()
    manifests = [one[_MANIFEST] for one in document.objects if _MANIFEST in one]
    owner = str(manifests[0].get("source_bank_id", "")) if manifests else ""
    for record, origin in _list_records(document):
        with reading.leave_out_unreadable(record.line, f"fact {origin}"):
            # An archive lists observations without a type, with their proofs.
            kind = "observation" if "proof_count" in record else None
            if record.get("fact_type", kind) == "observation":
                raise UnreadableRecord("it is an observation, which sums up other facts")
            if not _is_fact(record):
                raise UnreadableRecord("it has no text and fact_type")
            reading.facts.append(_read_fact(record, origin, owner))
    undated = sum(fact.learned_at is None for fact in reading.facts)
    if undated:
        reading.notes.append(f"{undated} facts do not say when Hindsight learned them.")
    return reading


def _list_records(document: Document) -> Iterator[tuple[Placed, str]]:
    """Yield each fact with its name: its id, or its place in its document."""
    for one in document.objects:
        if _MANIFEST not in one:
            continue
        for name, file in sorted(one.items()):
            if isinstance(file, Placed):
                for place, fact in enumerate(list_objects(file.get("facts"))):
                    yield fact, f"{file.get('id', name)}/{place}"
            elif name == "observations.json":
                for place, item in enumerate(list_objects(file)):
                    yield item, f"observation {place}"
    if not any(_MANIFEST in one for one in document.objects):
        for record in document.list_records("items"):
            yield record, str(record.get("id") or "")


def _is_fact(record: Placed) -> bool:
    return "text" in record and "fact_type" in record


def _read_fact(record: Placed, origin: str, owner: str) -> SourceFact:
    """Return the fact: it was said when it was mentioned, and holds while it occurred.

    A moment has no length, so what occurred at one holds from then on. What somebody invalidated
    ends then.
    """
    if not origin:
        raise UnreadableRecord("it has no id")
    start = read_time(record, "occurred_start")
    end = read_time(record, "occurred_end")
    occurred_until = end if start and end and end > start else None
    invalidated = read_time(record, "invalidated_at")
    return SourceFact(
        line=record.line,
        origin=origin,
        content=read_text(record, "text"),
        learned_at=read_time(record, "created_at"),
        valid_from=start,
        valid_until=occurred_until or invalidated,
        end_learned_at=None if occurred_until else invalidated,
        said_at=read_time(record, "mentioned_at", "date"),
        owner=owner,
        words=drop_empty({name: read_words(record.get(name)) for name in ("entities", "tags")}),
        details=pick_fields(record, _DETAILS),
    )
