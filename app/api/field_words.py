"""Descriptions of fields and parameters that stand in several places: one word, one description.

They are for fields whose own declaration gives none. A field means the same wherever its name
stands.
"""

from collections.abc import Iterator
from typing import Any

from app.api.schemas.fields import OTHER_NAMES
from app.api.times import TIME_FORMAT

_SLOT = "part of the slot (entity, category, key), which holds one value at a time"

WORDS = {
    "agent_id": "Whose memories these are: the value of X-Agent-Id.",
    "as_of": "The valid time that the answer describes: what was true then.",
    "atomic": "true: one bad item refuses the whole batch. Default: a bad item fails alone.",
    "by_kind": "By the kind of memory.",
    "category": f"The area of the key, such as `tooling`; {_SLOT}. Empty: none.",
    "chain_id": "The chain of successive versions of one fact; all of them have the same.",
    "confidence": "How sure it is, 0 to 1.",
    "content": "The fact in words.",
    "created_at": "When it became known to the service.",
    "cursor": "`next_cursor` of the page before.",
    "decided_by": "Who decided: caller, rule, signals, judge, model, fallback, sweep or reviewer.",
    "dry_run": "Whether nothing was written, because the call asked only what would happen.",
    "end": "Where it ends: characters from 0, the end excluded.",
    "entities": "Names that the fact mentions.",
    "entity": f"Who or what it is about, such as `user`; {_SLOT}.",
    "erased_at": "When it was erased; null: it was not.",
    "expired": "How many were never decided, because what they were about changed.",
    "expires_at": "When it ends; null: never.",
    "finished_at": "When it ended; null: not yet.",
    "id": "Its id.",
    "importance": "How much it matters, 0 to 1.",
    "items": "The entries of this page.",
    "key": f"Which attribute, such as `editor`; {_SLOT}.",
    "kind": "What sort of statement: fact, preference, decision or constraint.",
    "known_at": "The known time that the answer describes: as far as was known then.",
    "length": "How many versions the chain has.",
    "lifespan": "Whether it ends with its session, with its project, or with neither.",
    "limit": "How many entries at most.",
    "line": "The line of the text that stands for it.",
    "log_id": "The operation in the log; null where none was written.",
    "memory": "The memory concerned; null where there is none to show.",
    "memory_id": "The memory concerned.",
    "memory_ids": "The memories concerned.",
    "min_confidence": "Only those whose judge was at least so sure, 0 to 1.",
    "min_importance": "Only memories of at least this importance, 0 to 1.",
    "min_score": "Leave out results that score lower, 0 to 1.",
    "mode": "How to search: by meaning (`vector`), by words (`text`), or by both.",
    "name": "Its name.",
    "next_cursor": "Send it as `cursor` for the next page; null: this page is the last.",
    "note": "A reason, for people.",
    "operation": "What was done: ADD, UPDATE, NOOP and so on.",
    "pending": "How many reviews wait.",
    "project": "The project it belongs to, by name.",
    "query": "What to search for, in words.",
    "reason": "Why, for people and for the log.",
    "reasoning": "The reasons in words.",
    "received_at": "When it arrived.",
    "relation": "How the incoming fact stands to the stored one.",
    "result": "What came of it: the answer to the write, or a problem.",
    "results": "One result for each entry, in order.",
    "retracted_at": "When it was retracted; null: it was not.",
    "review_id": "The review; null where there is none.",
    "role": "Who spoke.",
    "said_at": "When it was said.",
    "scopes": "The kinds of calls that the key allows.",
    "score": "The chance that it answers the question, 0 to 1, beside the others that may.",
    "sentence": "It in words, for people.",
    "session_id": "The session (conversation) in which it was said.",
    "signals": "The reasons that rules found, each with a confidence.",
    "single_valued": "Whether its slot holds one value at a time; null: as the key says.",
    "slot": "The entity, category and key it is about; null: no key was named.",
    "source": "Where it comes from, such as a file or a tool.",
    "sources": "All that it rests on: documents, addresses, ids of your own.",
    "state": "How it stands.",
    "status": "How it stands at the moment of the answer.",
    "superseded_by": "The memory that replaced it; null: none has.",
    "tags": "Words of your own, to filter by.",
    "tags_all": "Only memories with all of these tags.",
    "tags_any": "Only memories with at least one of these tags.",
    "target_memory_id": "The memory that it made or changed.",
    "text": "The words.",
    "tier": "`core` keeps a floor under its strength; `semantic` fades.",
    "trust": "How far its source is trusted, 0 to 100. Less trust ends nothing stated with more.",
    "trust_ceiling": "The highest trust that calls with this key may give, 0 to 100.",
    "usage": "What the judges cost.",
    "valid_from": "When it became true in the world.",
    "valid_until": "When it stopped being true, or will; null: it holds until further notice.",
    "value": "The value of the key, such as `Helix`, apart from the sentence.",
    "versions": "The versions, oldest first.",
    "why": "Since when it holds and what it replaced, in a sentence.",
    # Where a name means something else: by the schema, or by the id of the operation.
    "Health.status": "`ok` or `ready`.",
    "LogEntryOut.confidence": "How sure the judge was, 0 to 1; null: nobody was asked.",
    "SearchAnswer.results": "The memories found, best first.",
    "list_log.decided_by": "Only operations that this judge decided.",
    "list_log.operation": "Only operations of this kind.",
    "list_log.since": "Only operations known from then on.",
    "list_log.until": "Only operations known before then.",
    "list_log.session_id": "Only operations of this session.",
    "report.since": "Only proposals from then on.",
}


def describe_fields(document: dict[str, Any]) -> None:
    """Give each field and parameter without a description that of its name."""
    for schema_name, schema in document["components"]["schemas"].items():
        for name, field in schema.get("properties", {}).items():
            _describe(field, schema_name, name)
    for route in iterate_routes(document):
        for parameter in route.get("parameters", []):
            _describe(parameter, route["operationId"], parameter["name"])


def _describe(described: dict[str, Any], place: str, name: str) -> None:
    words = WORDS.get(f"{place}.{name}") or WORDS.get(name)
    if words and not described.get("description"):
        described["description"] = words


def note_other_names(document: dict[str, Any]) -> None:
    """Say of each field of a request under which other name it is taken."""
    inputs = [
        (parameter["name"], parameter)
        for route in iterate_routes(document)
        for parameter in route.get("parameters", [])
        if parameter["in"] == "query"
    ]
    for schema_name, schema in document["components"]["schemas"].items():
        for name, field in schema.get("properties", {}).items():
            if schema_name.endswith("Request") or field.get("format") == TIME_FORMAT:
                inputs.append((name, field))
    others = {name: other for other, name in OTHER_NAMES.items()}
    for name, described in inputs:
        if name in others:
            described["description"] += f" Also taken as `{others[name]}`."


def iterate_routes(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for methods in document["paths"].values():
        yield from methods.values()
